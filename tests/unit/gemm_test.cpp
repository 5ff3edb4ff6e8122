#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "gradus/threads.h"
#include "kernels/gemm_emit.h"
#include "kernels/gemm_tile.h"

namespace gradus::kernels {
namespace {

using std::int64_t;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<Isa> instruction_sets() {
  std::vector<Isa> sets;
  for (const Isa i : {Isa::baseline, Isa::avx2, Isa::avx512})
    if (i <= isa()) sets.push_back(i);
  return sets;
}

// A matrix inside a larger buffer: every element outside it is NaN and must stay exactly so. The
// elements start one element off any alignment.
template <class T>
struct Matrix {
  static constexpr int64_t kGuard = 33;
  int64_t rows, cols, stride;
  std::vector<T> buffer;

  Matrix(int64_t rows, int64_t cols, int64_t gap)
      : rows(rows),
        cols(cols),
        stride(cols + gap),
        buffer(2 * kGuard + std::max<int64_t>(0, rows * stride), T(kNan)) {}
  T* data() { return buffer.data() + kGuard; }
  T& at(int64_t i, int64_t j) { return buffer[kGuard + i * stride + j]; }

  void fill(std::mt19937& random) {
    std::uniform_int_distribution<int> small(-4, 4);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) at(i, j) = static_cast<T>(small(random));
  }
  bool same_bits(const Matrix& other) const {
    return std::memcmp(buffer.data(), other.buffer.data(), buffer.size() * sizeof(T)) == 0;
  }
};

struct Case {
  int64_t m, n, k;
  bool trans_a = false, trans_b = false, accumulate = false, bias = false, relu = false,
       gate = false;
  int64_t gap = 0;  // between rows

  Case with_flags(int bits) const {
    Case c = *this;
    c.trans_a = bits & 1, c.trans_b = bits & 2, c.accumulate = bits & 4;
    c.bias = bits & 8, c.relu = bits & 16, c.gate = bits & 32;
    return c;
  }
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.m << "x" << c.n << "x" << c.k << (c.trans_a ? " A^T" : "")
             << (c.trans_b ? " B^T" : "") << (c.accumulate ? " accumulate" : "")
             << (c.bias ? " bias" : "") << (c.relu ? " relu" : "") << (c.gate ? " gate" : "")
             << " gap " << c.gap;
}

template <class T>
struct Problem {
  Case what;
  Matrix<T> a, b, c, bias, gate, wanted;

  // Small whole numbers: every order of summation gives the same exact result.
  Problem(const Case& w, int seed = 1)
      : what(w),
        a(w.trans_a ? w.k : w.m, w.trans_a ? w.m : w.k, w.gap),
        b(w.trans_b ? w.n : w.k, w.trans_b ? w.k : w.n, w.gap),
        c(w.m, w.n, w.gap),
        bias(1, w.n, 0),
        gate(w.m, w.n, w.gap),
        wanted(c) {
    std::mt19937 random(seed);
    for (Matrix<T>* matrix : {&a, &b, &c, &bias, &gate}) matrix->fill(random);
    wanted = c;
  }

  void compute_wanted() {
    wanted = c;
    for (int64_t i = 0; i < what.m; ++i)
      for (int64_t j = 0; j < what.n; ++j) {
        double sum = what.accumulate ? static_cast<double>(c.at(i, j)) : 0;
        for (int64_t l = 0; l < what.k; ++l)
          sum += static_cast<double>(what.trans_a ? a.at(l, i) : a.at(i, l)) *
                 static_cast<double>(what.trans_b ? b.at(j, l) : b.at(l, j));
        if (what.bias) sum += bias.at(0, j);
        if (what.relu && sum < 0) sum = 0;
        if (what.gate && !(gate.at(i, j) > 0)) sum = 0;
        wanted.at(i, j) = static_cast<T>(sum);
      }
  }

  GemmArgs args() {
    GemmArgs g;
    g.dtype = dtype_v<T>;
    g.trans_a = what.trans_a, g.trans_b = what.trans_b, g.accumulate = what.accumulate;
    g.m = what.m, g.n = what.n, g.k = what.k;
    g.a = a.data(), g.lda = a.stride;
    g.b = b.data(), g.ldb = b.stride;
    g.c = c.data(), g.ldc = c.stride;
    if (what.bias) g.bias = bias.data();
    g.relu = what.relu;
    if (what.gate) g.gate = gate.data(), g.ld_gate = gate.stride;
    return g;
  }

  // -0 and 0 count as equal; NaN as equal to NaN; everything around C must be untouched.
  bool ok() {
    for (std::size_t i = 0; i < c.buffer.size(); ++i) {
      const T x = c.buffer[i], y = wanted.buffer[i];
      if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
    }
    return true;
  }
};

template <class T>
void expect_right(const Case& what, Isa isa) {
  Problem<T> problem(what);
  problem.compute_wanted();
  gemm(problem.args(), isa);
  EXPECT_TRUE(problem.ok()) << what << " " << name_of(isa);
}

TEST(Gemm, EverySmallSizeAndTranspose) {
  for (const Isa isa : instruction_sets())
    for (const int64_t m : {0, 1, 2, 3, 4, 5, 6, 7, 13, 17})
      for (const int64_t n : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 17, 33})
        for (const int64_t k : {0, 1, 2, 3, 4, 5, 8, 11, 17, 40})
          for (int flags = 0; flags < 8; ++flags) {
            Case what = Case{m, n, k}.with_flags(flags);
            what.gap = (m + n + k) % 3;
            expect_right<float>(what, isa);
            expect_right<double>(what, isa);
          }
}

TEST(Gemm, EveryEpilogue) {
  for (const Isa isa : instruction_sets())
    for (const Case& size : {Case{1, 37, 9}, Case{9, 11, 50}, Case{6, 16, 4}, Case{14, 21, 0},
                             Case{2, 3, 300}, Case{33, 7, 600}})
      for (int flags = 0; flags < 64; ++flags) {
        Case what = size.with_flags(flags);
        what.gap = 2;
        expect_right<float>(what, isa);
        expect_right<double>(what, isa);
      }
}

// Large enough for packing, several blocks of k, panels and chunks of every kind.
TEST(Gemm, LargeSizes) {
  for (const Case& size :
       {Case{70, 100, 530}, Case{300, 40, 70}, Case{33, 600, 65}, Case{130, 130, 300},
        Case{1, 1100, 700}, Case{3, 1030, 270}, Case{500, 1, 260}, Case{7, 5, 3000}})
    for (int flags = 0; flags < 8; ++flags)
      for (const int64_t gap : {0, 5}) {
        Case what = size.with_flags(flags);
        what.gap = gap;
        expect_right<float>(what, isa());
        expect_right<double>(what, isa());
      }
}

// Vectors stored as columns of wider matrices.
TEST(Gemm, VectorsWithStrides) {
  for (const Case& size : {Case{1, 50, 70}, Case{60, 1, 70}, Case{1, 1, 90}, Case{40, 1, 1}})
    for (int flags = 0; flags < 64; ++flags)
      for (const int64_t gap : {0, 1}) {
        Case what = size.with_flags(flags);
        what.gap = gap;
        expect_right<float>(what, isa());
      }
}

TEST(Gemm, NanAndInfinityPropagate) {
  for (const Case& size : {Case{5, 9, 3}, Case{3, 5, 40}, Case{1, 20, 30}, Case{40, 30, 300}})
    for (int flags = 0; flags < 4; ++flags) {
      const Case what = size.with_flags(flags);
      Problem<float> problem(what);
      const auto a = [&](int64_t i, int64_t l) -> float& {
        return what.trans_a ? problem.a.at(l, i) : problem.a.at(i, l);
      };
      const auto b = [&](int64_t l, int64_t j) -> float& {
        return what.trans_b ? problem.b.at(j, l) : problem.b.at(l, j);
      };
      a(0, 0) = static_cast<float>(kNan);  // times 0 is still NaN
      b(0, 1) = 0;
      b(what.k - 1, 2) = static_cast<float>(kInf);  // times 0 is NaN, times -1 is -inf
      a(0, what.k - 1) = 0;
      if (what.m > 1) a(1, what.k - 1) = -1;
      problem.compute_wanted();
      gemm(problem.args());
      EXPECT_TRUE(problem.ok()) << what;
      EXPECT_TRUE(std::isnan(problem.c.at(0, 1)));
      EXPECT_TRUE(std::isnan(problem.c.at(0, 2)));
      if (what.m > 1) {
        EXPECT_EQ(problem.c.at(1, 2), -static_cast<float>(kInf));
      }
    }
}

TEST(Gemm, OldValuesOfCAreNotReadWithoutAccumulate) {
  for (const Case& what : {Case{5, 9, 3}, Case{40, 30, 300}, Case{3, 3, 0}}) {
    Problem<double> problem(what);
    problem.compute_wanted();
    for (int64_t i = 0; i < what.m; ++i)
      for (int64_t j = 0; j < what.n; ++j) problem.c.at(i, j) = kNan;
    gemm(problem.args());
    EXPECT_TRUE(problem.ok()) << what;
  }
}

TEST(Gemm, ReluKeepsNanAndGateDropsIt) {
  Problem<float> problem(Case{.m = 1, .n = 3, .k = 1, .relu = true});
  problem.a.at(0, 0) = 1;
  for (int64_t j = 0; j < 3; ++j) problem.b.at(0, j) = static_cast<float>(kNan);
  gemm(problem.args());
  for (int64_t j = 0; j < 3; ++j) EXPECT_TRUE(std::isnan(problem.c.at(0, j)));

  GemmArgs g = problem.args();
  g.relu = false;
  g.gate = problem.gate.data();
  g.ld_gate = problem.gate.stride;
  problem.gate.at(0, 0) = 1;
  problem.gate.at(0, 1) = -0.0f;
  problem.gate.at(0, 2) = static_cast<float>(kNan);
  gemm(g);
  EXPECT_TRUE(std::isnan(problem.c.at(0, 0)));
  EXPECT_EQ(problem.c.at(0, 1), 0);
  EXPECT_EQ(problem.c.at(0, 2), 0);
}

TEST(Gemm, TenMillionOnesSumToTenMillion) {
  constexpr int64_t kOnes = 10'000'000;
  std::vector<float> ones(kOnes, 1.0f);
  for (const bool dot : {false, true}) {
    float sum = 0;
    GemmArgs g;
    g.m = g.n = 1;
    g.k = kOnes;
    g.a = g.b = ones.data();
    g.lda = kOnes;
    g.trans_b = dot;
    g.ldb = dot ? kOnes : 1;
    g.c = &sum;
    g.ldc = 1;
    gemm(g);
    EXPECT_EQ(sum, static_cast<float>(kOnes));
  }
}

TEST(Gemm, ThreadsDoNotChangeBits) {
  const int before = thread_count();
  for (const Case& size : {Case{200, 300, 500}, Case{32, 128, 784}, Case{1, 4000, 600}})
    for (int flags = 0; flags < 4; ++flags) {
      Problem<float> problem(size.with_flags(flags));
      std::mt19937 random(3);
      std::normal_distribution<float> normal;
      for (auto* matrix : {&problem.a, &problem.b})
        for (float& x : matrix->buffer) x = normal(random);
      set_thread_count(1);
      gemm(problem.args());
      const Matrix<float> alone = problem.c;
      for (const int threads : {2, 5}) {  // which cut C in other places
        set_thread_count(threads);
        gemm(problem.args());
        EXPECT_TRUE(problem.c.same_bits(alone)) << problem.what << ", threads " << threads;
      }
    }
  set_thread_count(before);
}

// Whoever takes blocks gets every element once, with the bits that it has in a whole C.
template <class T>
void expect_blocks_like_whole(const Case& what) {
  Problem<T> problem(what);
  gemm(problem.args());
  std::vector<int> taken(what.m * what.n, 0);
  const auto take = [&](const Block& block, ComputeBlock compute) {
    const int64_t stride = block.cols + 3;
    std::vector<T> values(block.rows * stride, T(7.0f));
    compute(values.data(), stride * static_cast<int64_t>(sizeof(T)));
    for (int64_t i = 0; i < block.rows; ++i) {
      for (int64_t j = 0; j < stride; ++j) {
        const T x = values[i * stride + j];
        const T wanted = j < block.cols ? problem.c.at(block.row + i, block.col + j) : T(7.0f);
        if (std::memcmp(&x, &wanted, sizeof x) != 0) FAIL() << what << " at " << i << ", " << j;
      }
      for (int64_t j = 0; j < block.cols; ++j) ++taken[(block.row + i) * what.n + block.col + j];
    }
  };
  const BlockTaker taker = take;
  GemmArgs g = problem.args();
  g.taker = &taker;
  g.c = nullptr;
  gemm(g);
  for (const int times : taken) ASSERT_EQ(times, 1) << what;
}
TEST(Gemm, BlocksAreLikeAWholeC) {
  const int before = thread_count();
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    for (const Case& size : {Case{1, 9, 5}, Case{9, 3, 70}, Case{40, 33, 20}, Case{300, 130, 70}})
      for (int flags = 0; flags < 4; ++flags) {
        expect_blocks_like_whole<float>(size.with_flags(flags));
        expect_blocks_like_whole<half>(size.with_flags(flags));
        expect_blocks_like_whole<bfloat>(size.with_flags(flags));
      }
  }
  set_thread_count(before);
}

TEST(Gemm, ConcurrentCallers) {
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([t] {
      for (int64_t size = 1; size < 40; ++size) {
        Problem<double> problem(Case{size, 41 - size, 2 * size}.with_flags(t), t);
        problem.compute_wanted();
        gemm(problem.args());
        EXPECT_TRUE(problem.ok()) << problem.what;
      }
    });
  for (std::thread& caller : callers) caller.join();
}

struct BatchCase {
  Case what;
  int64_t count;
  bool share_a, share_b, share_c;
};

template <class T>
void expect_batch_right(const BatchCase& batch) {
  const Case& what = batch.what;
  const auto tall = [&](int64_t rows, bool shared) { return shared ? rows : rows * batch.count; };
  std::mt19937 random(7);
  Matrix<T> a(tall(what.trans_a ? what.k : what.m, batch.share_a), what.trans_a ? what.m : what.k,
              1);
  Matrix<T> b(tall(what.trans_b ? what.n : what.k, batch.share_b), what.trans_b ? what.k : what.n,
              2);
  Matrix<T> c(tall(what.m, batch.share_c), what.n, 3), gate = c, bias(1, what.n, 0);
  for (auto* matrix : {&a, &b, &c, &gate, &bias}) matrix->fill(random);
  Matrix<T> wanted = c;
  const int64_t a_rows = what.trans_a ? what.k : what.m, b_rows = what.trans_b ? what.n : what.k;
  for (int64_t item = 0; item < batch.count; ++item) {
    const int64_t a0 = batch.share_a ? 0 : item * a_rows, b0 = batch.share_b ? 0 : item * b_rows,
                  c0 = batch.share_c ? 0 : item * what.m;
    const bool first = item == 0 || !batch.share_c,
               last = item + 1 == batch.count || !batch.share_c;
    for (int64_t i = 0; i < what.m; ++i)
      for (int64_t j = 0; j < what.n; ++j) {
        double sum = what.accumulate || !first ? double(wanted.at(c0 + i, j)) : 0;
        for (int64_t l = 0; l < what.k; ++l)
          sum += double(what.trans_a ? a.at(a0 + l, i) : a.at(a0 + i, l)) *
                 double(what.trans_b ? b.at(b0 + j, l) : b.at(b0 + l, j));
        if (last && what.bias) sum += bias.at(0, j);
        if (last && what.relu && sum < 0) sum = 0;
        if (last && what.gate && !(gate.at(c0 + i, j) > 0)) sum = 0;
        wanted.at(c0 + i, j) = static_cast<T>(sum);
      }
  }
  GemmArgs g;
  g.dtype = dtype_v<T>;
  g.trans_a = what.trans_a, g.trans_b = what.trans_b, g.accumulate = what.accumulate;
  g.m = what.m, g.n = what.n, g.k = what.k;
  g.a = a.data(), g.lda = a.stride;
  g.b = b.data(), g.ldb = b.stride;
  g.c = c.data(), g.ldc = c.stride;
  if (what.bias) g.bias = bias.data();
  g.relu = what.relu;
  if (what.gate) g.gate = gate.data(), g.ld_gate = gate.stride;
  gemm_batch(g, batch.count,
             {.a = batch.share_a ? 0 : a_rows * a.stride,
              .b = batch.share_b ? 0 : b_rows * b.stride,
              .c = batch.share_c ? 0 : what.m * c.stride,
              .gate = batch.share_c ? 0 : what.m * gate.stride});
  for (std::size_t i = 0; i < c.buffer.size(); ++i)
    EXPECT_TRUE(c.buffer[i] == wanted.buffer[i] ||
                (std::isnan(c.buffer[i]) && std::isnan(wanted.buffer[i])))
        << what << " count " << batch.count << " shared " << batch.share_a << batch.share_b
        << batch.share_c;
}

TEST(GemmBatch, SharedAndSeparateOperands) {
  for (const Case& size : {Case{3, 5, 7}, Case{1, 9, 20}, Case{8, 1, 33}, Case{40, 30, 50}})
    for (const int64_t count : {0, 1, 2, 40})
      for (int shared = 0; shared < 8; ++shared)
        for (const int flags : {0, 1, 2, 3, 4, 5 + 56, 6 + 56}) {
          if (count > 1 && (shared & 4) && (shared & 3) == 3) continue;
          expect_batch_right<float>({size.with_flags(flags), count, (shared & 1) != 0,
                                     (shared & 2) != 0, (shared & 4) != 0});
        }
}

TEST(GemmBatch, ThreadsDoNotChangeBits) {
  const int before = thread_count();
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  constexpr int64_t kCount = 30, kSize = 50;
  std::vector<float> a(kCount * kSize * kSize), b(a.size()), c(a.size()), alone;
  for (auto* values : {&a, &b})
    for (float& x : *values) x = normal(random);
  GemmArgs g;
  g.m = g.n = g.k = g.lda = g.ldb = g.ldc = kSize;
  g.a = a.data(), g.b = b.data(), g.c = c.data();
  const GemmStrides strides{.a = kSize * kSize, .b = kSize * kSize, .c = kSize * kSize};
  set_thread_count(1);
  gemm_batch(g, kCount, strides);
  alone = c;
  set_thread_count(2);
  gemm_batch(g, kCount, strides);
  EXPECT_EQ(std::memcmp(alone.data(), c.data(), c.size() * sizeof(float)), 0);
  set_thread_count(before);
}

template <class T>
void expect_half_right(const Case& what, Isa isa) {
  Problem<float> exact(what);
  exact.compute_wanted();
  const auto halves = [](const Matrix<float>& from) {
    std::vector<T> to;
    for (const float x : from.buffer) to.push_back(T(x));
    return to;
  };
  std::vector<T> a = halves(exact.a), b = halves(exact.b), c = halves(exact.c),
                 bias = halves(exact.bias), gate = halves(exact.gate);
  constexpr int64_t kGuard = Matrix<float>::kGuard;
  GemmArgs g = exact.args();
  g.dtype = dtype_v<T>;
  g.a = a.data() + kGuard, g.b = b.data() + kGuard, g.c = c.data() + kGuard;
  if (g.bias) g.bias = bias.data() + kGuard;
  if (g.gate) g.gate = gate.data() + kGuard;
  gemm(g, isa);
  for (std::size_t i = 0; i < c.size(); ++i) {
    const float x = c[i], y = T(exact.wanted.buffer[i]);
    ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << what << " " << x << " " << y;
  }
}

// Sums in float32 and rounds once: 2049 is not a float16, 2050 is. The sizes meet every way to pack
// and several blocks of k.
template <class T>
void expect_halves_right() {
  for (const Isa isa : instruction_sets()) {
    for (const Case& size : {Case{1, 1, 1}, Case{5, 9, 20}, Case{1, 40, 70}, Case{33, 17, 65},
                             Case{14, 21, 0}, Case{7, 3, 90}, Case{20, 16, 3}})
      for (int flags = 0; flags < 64; ++flags) {
        Case what = size.with_flags(flags);
        what.gap = flags % 3;
        expect_half_right<T>(what, isa);
      }
    for (const Case& size : {Case{70, 100, 530}, Case{300, 40, 70}, Case{2, 200, 300},
                             Case{1, 12, 1100}, Case{500, 1, 260}, Case{12, 5, 1100}})
      for (int flags = 0; flags < 8; ++flags) expect_half_right<T>(size.with_flags(flags), isa);
  }
  std::vector<T> ones(2050, T(1.0f));
  T sum(0.0f);
  GemmArgs g;
  g.dtype = dtype_v<T>;
  g.m = g.n = g.ldc = 1;
  g.k = g.lda = 2050;
  g.ldb = 1;
  g.a = g.b = ones.data(), g.c = &sum;
  gemm(g);
  EXPECT_EQ(float(sum), float(T(2050.0f)));
}
TEST(GemmHalf, Float16) { expect_halves_right<half>(); }
TEST(GemmHalf, Bfloat16) { expect_halves_right<bfloat>(); }

TEST(GemmHalf, NanAndInfinityPropagate) {
  for (int flags = 0; flags < 4; ++flags) {
    Problem<bfloat> problem(Case{13, 18, 9}.with_flags(flags));
    for (auto* matrix : {&problem.a, &problem.b})
      for (int64_t i = 0; i < matrix->rows; ++i)
        for (int64_t j = 0; j < matrix->cols; ++j) matrix->at(i, j) = bfloat(1.0f);
    (flags & 1 ? problem.a.at(2, 4) : problem.a.at(4, 2)) = bfloat(float(kNan));
    (flags & 2 ? problem.b.at(7, 3) : problem.b.at(3, 7)) = bfloat(float(kInf));
    gemm(problem.args());
    for (int64_t i = 0; i < 13; ++i)
      for (int64_t j = 0; j < 18; ++j) {
        const float x = problem.c.at(i, j);
        if (i == 4)
          EXPECT_TRUE(std::isnan(x)) << i << ", " << j;
        else
          EXPECT_EQ(x, j == 7 ? float(kInf) : 9.0f) << i << ", " << j;
      }
  }
}

// The sum of several products at offsets, which convolutions use.
TEST(GemmTile, SumsProducts) {
  for (const Isa isa : instruction_sets())
    for (const TileForm form : {TileForm::rows, TileForm::columns, TileForm::dot})
      for (const int64_t k : {1, 3, 4, 9, 21}) {
        constexpr int64_t kRows = 2, kTiles = 3, kCols = 3, kProducts = 4;
        std::vector<float> a(2000), b(2000), c(kRows * kTiles * kCols, 1);
        for (std::size_t i = 0; i < a.size(); ++i) {
          a[i] = static_cast<float>(i * 7 % 5) - 2;
          b[i] = static_cast<float>(i * 11 % 7) - 3;
        }
        const TileOffsets offsets[kProducts] = {{0, 40}, {400, 0}, {36, 80}, {4, 4}};
        TileSpec spec;
        spec.isa = isa;
        spec.form = form;
        spec.rows = kRows;
        spec.cols = kCols;
        spec.accumulate = true;
        TileArgs args{};
        const int64_t a_stride = form == TileForm::columns ? 8 : 30;
        const int64_t b_stride = form == TileForm::dot ? 25 : 5;
        args.a = a.data(), args.b = b.data(), args.c = c.data();
        args.k = k;
        args.a_stride = 4 * a_stride, args.b_stride = 4 * b_stride, args.c_stride = 4 * kCols;
        args.tiles = kTiles, args.a_step = 4 * 50;
        args.offsets = offsets, args.products = kProducts;
        tile_kernel(spec)(args);
        for (int64_t i = 0; i < kRows * kTiles; ++i)
          for (int64_t j = 0; j < kCols; ++j) {
            float sum = 1;
            for (const TileOffsets& o : offsets)
              for (int64_t l = 0; l < k; ++l) {
                const int64_t r = i % kRows, at = o.a / 4 + i / kRows * 50;
                const int64_t ai = form == TileForm::columns ? l * a_stride + r : r * a_stride + l;
                const int64_t bi = form == TileForm::dot ? j * b_stride + l : l * b_stride + j;
                sum += a[at + ai] * b[o.b / 4 + bi];
              }
            EXPECT_EQ(c[i * kCols + j], sum) << name_of(isa) << " k " << k;
          }
      }
}

// Code can be generated for processors that this one is not.
TEST(GemmTile, EmitsEveryTileForAvx2AndAvx512) {
  for (const Isa isa : {Isa::avx2, Isa::avx512})
    for (const bool float64 : {false, true})
      for (const TileForm form : {TileForm::rows, TileForm::columns, TileForm::dot}) {
        const int most_cols = form == TileForm::dot ? 8 : 12 * lanes(isa, float64);
        for (int cols = 1; cols <= most_cols; cols += cols < 40 ? 1 : 7)
          for (const int rows : {1, 2, 5, max_rows(isa, float64, form, cols)}) {
            if (rows > max_rows(isa, float64, form, cols)) continue;
            TileSpec spec;
            spec.isa = isa;
            spec.float64 = float64;
            spec.form = form;
            spec.rows = static_cast<std::uint8_t>(rows);
            spec.cols = static_cast<std::uint8_t>(cols);
            spec.accumulate = spec.bias = spec.relu = spec.gate = cols % 2;
            EXPECT_NE(emit_tile(spec), nullptr);
          }
      }
}

TEST(GemmTile, TheLargestTilesUseTheRegisters) {
  EXPECT_EQ(max_rows(Isa::avx2, false, TileForm::rows, 16), 6);
  EXPECT_EQ(max_rows(Isa::avx2, true, TileForm::columns, 8), 6);
  EXPECT_EQ(max_rows(Isa::avx2, false, TileForm::dot, 4), 3);
  EXPECT_EQ(max_rows(Isa::avx512, false, TileForm::rows, 32), 14);
  EXPECT_EQ(max_rows(Isa::avx512, true, TileForm::rows, 10), 14);
  EXPECT_EQ(max_rows(Isa::avx512, false, TileForm::dot, 4), 6);
}

}  // namespace
}  // namespace gradus::kernels
