// Products that take the loops behind them: the same bits as op by op, and nothing is reordered
// that may not be.
#include "compile/passes/epilogue.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "compile/passes/fuse.h"
#include "gradus/gradus.h"
#include "gradus/nn.h"
#include "gradus/threads.h"
#include "gradus/updates.h"
#include "graph_text_util.h"
#include "ops_util.h"

namespace gradus {
namespace {

// What the pass makes of a program after `fuse`, without its inputs: x = %0, w = %1 and three more.
std::string joined(const std::string& lines, const std::string& z = "float32 (8, 6)") {
  const std::string text = renamed(to_text(
      *epilogue(*fuse(*from_text("%0 = input : float32 (8, 4)\n%1 = input : float32 (4, 6)\n"
                                 "%2 = input : " +
                                 z +
                                 "\n%3 = input : float32 (8, 6)\n"
                                 "%4 = input : float32 (8, 6)\n" +
                                 lines)))));
  return text.substr(text.find("\n%5") + 1);
}
const std::string kProduct =
    "%5 = matmul(%0, %1, transpose_a=False, transpose_b=False) : float32 (8, 6)\n";

TEST(EpiloguePass, AProductTakesTheLoopBehindIt) {
  EXPECT_EQ(joined(kProduct + R"(%6 = add(%5, %2) : float32 (8, 6)
                                 %7 = relu(%6) : float32 (8, 6)
                                 return %7)",
                   "float32 (6,)"),
            "%5 = blocked(%0, %1, %2, blocks=[matmul, add, relu]) : float32 (8, 6)\n"
            "return %5\n");
}

TEST(EpiloguePass, WhatOthersReadIsAResultToo) {
  EXPECT_EQ(joined(kProduct + R"(%6 = add(%5, %2) : float32 (8, 6)
                                 %7 = relu(%6) : float32 (8, 6)
                                 %8 = transpose(%5, permutation=(1, 0)) : float32 (6, 8)
                                 return %7, %8)"),
            "%5, %6 = blocked(%0, %1, %2, blocks=[matmul, add, relu]) : float32 (8, 6), "
            "float32 (8, 6)\n"
            "%7 = transpose(%6, permutation=(1, 0)) : float32 (6, 8)\n"
            "return %5, %7\n");
}

TEST(EpiloguePass, OfTwoProductsTheLaterOneTakesTheLoop) {
  EXPECT_EQ(joined(kProduct +
                       R"(%6 = matmul(%2, %1, transpose_a=False, transpose_b=False) : float32 (8, 6)
                                 %7 = multiply(%5, %6) : float32 (8, 6)
                                 return %7)",
                   "float32 (8, 4)"),
            "%5 = matmul(%0, %1, transpose_a=False, transpose_b=False) : float32 (8, 6)\n"
            "%6 = blocked(%2, %1, %5, blocks=[matmul, multiply]) : float32 (8, 6)\n"
            "return %6\n");
}

TEST(EpiloguePass, WhereItDoesNotAct) {
  const std::pair<std::string, const char*> cases[] = {
      // A row reduction.
      {"%6 = exp(%5) : float32 (8, 6)\n"
       "%7 = reduce_sum(%6, axes=(1,), keepdims=False) : float32 (8,)\nreturn %7",
       "float32 (6,)"},
      // More arrays of the product's size than two.
      {"%6 = add(%5, %2) : float32 (8, 6)\n%7 = add(%6, %3) : float32 (8, 6)\n"
       "%8 = multiply(%7, %4) : float32 (8, 6)\nreturn %8",
       "float32 (8, 6)"},
      // The loop is larger than the product.
      {"%6 = add(%5, %2) : float32 (5, 8, 6)\nreturn %6", "float32 (5, 8, 6)"},
      // Somebody needs the product as a whole before the loop can run.
      {"%6 = reduce_sum(%5, axes=(0, 1), keepdims=False) : float32 ()\n"
       "%7 = multiply(%5, %6) : float32 (8, 6)\nreturn %7",
       "float32 (6,)"}};
  for (const auto& [lines, z] : cases)
    EXPECT_EQ(joined(kProduct + lines, z).find("blocked"), std::string::npos)
        << joined(kProduct + lines, z);
  // An op that makes its result as a whole.
  EXPECT_EQ(joined("%5 = transpose(%2, permutation=(1, 0)) : float32 (6, 8)\n"
                   "%6 = exp(%5) : float32 (6, 8)\nreturn %6")
                .find("blocked"),
            std::string::npos);
}

using List = std::vector<Tensor>;
const FunctionOptions kWithout{.skip_passes = {"epilogue"}};

::testing::AssertionResult same_bits(const Tensor& got, const Tensor& want) {
  if (got.dtype() != want.dtype() || !(got.shape() == want.shape()))
    return ::testing::AssertionFailure() << "another shape or dtype";
  const std::size_t bytes = static_cast<std::size_t>(got.num_elements()) * size_of(got.dtype());
  if (bytes > 0 && std::memcmp(got.raw_data(), want.raw_data(), bytes) != 0)
    return ::testing::AssertionFailure() << got << "\nexpected\n" << want;
  return ::testing::AssertionSuccess();
}

// f eagerly, compiled, and compiled without the pass.
template <class F>
void expect_same_bits(const F& f, const List& in, const std::string& what = {}, bool joins = true) {
  const auto with = function(f), without = function(f, kWithout);
  const List eager = f(in), got = with(in), plain = without(in);
  EXPECT_TRUE(!joins || with.text().find("blocked(") != std::string::npos) << what << with.text();
  EXPECT_EQ(without.text().find("blocked("), std::string::npos) << what;
  for (std::size_t i = 0; i < eager.size(); ++i) {
    EXPECT_TRUE(same_bits(got[i], eager[i])) << what << " result " << i;
    EXPECT_TRUE(same_bits(plain[i], eager[i])) << what << " result " << i << " without";
  }
}

Tensor numbers(const Shape& shape, unsigned seed, DType dtype = float32) {
  return cast(random_tensor(shape, seed), dtype);
}

TEST(Epilogue, EveryRoleOfAnOperandInEverySize) {
  struct Size {
    std::int64_t m, n, k;
  };
  for (const DType dtype : {float32, float64, float16, bfloat16, int32}) {
    for (const Size s : {Size{1, 1, 2},
                         {1, 9, 4},
                         {7, 1, 3},
                         {5, 3, 70},
                         {33, 17, 0},
                         {13, 37, 5},
                         {300, 530, 9},
                         {700, 20, 33}}) {
      const auto f = [](const List& in) {
        const Tensor y = matmul(in[0], in[1]);
        return List{maximum(y + in[2], 0) * in[3] - in[4] * in[5]};
      };
      expect_same_bits(
          f,
          {numbers({s.m, s.k}, 1, dtype), numbers({s.k, s.n}, 2, dtype), numbers({s.n}, 3, dtype),
           numbers({s.m, 1}, 4, dtype), numbers({s.m, s.n}, 5, dtype), numbers({1, 1}, 6, dtype)},
          std::string(name_of(dtype)) + " " + std::to_string(s.m),
          s.n > 1);  // with one column every operand is an array
    }
  }
}

TEST(Epilogue, TransposesAndBatches) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const Shape& batch : {Shape{}, Shape{3}, Shape{2, 5}}) {
        const auto f = [&](const List& in) {
          return List{tanh(matmul(in[0], in[1], {.transpose_a = ta, .transpose_b = tb})) + in[2]};
        };
        Shape a = batch, b = batch;
        for (const std::int64_t size : {ta ? 6 : 11, ta ? 11 : 6}) a.push_back(size);
        for (const std::int64_t size : {tb ? 13 : 6, tb ? 6 : 13}) b.push_back(size);
        expect_same_bits(f, {numbers(a, 1), numbers(b, 2), numbers({13}, 3)});
      }
  // Leading axes that broadcast both ways, and one matrix for all.
  const auto f = [](const List& in) { return List{sigmoid(matmul(in[0], in[1])) * in[2]}; };
  expect_same_bits(f, {numbers({4, 1, 5, 3}, 1), numbers({2, 3, 7}, 2), numbers({7}, 3)});
  expect_same_bits(f, {numbers({4, 5, 3}, 1), numbers({3, 7}, 2), numbers({7}, 3)});
}

TEST(Epilogue, InfinitiesAndNaN) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const Tensor a = {{inf, 0.f}, {nan, 1.f}, {-0.f, -1.f}}, b = {{1.f, 0.f}, {2.f, -3.f}};
  const auto f = [](const List& in) { return List{nn::relu(matmul(in[0], in[1]) + in[2])}; };
  expect_same_bits(f, {a, b, Tensor{-inf, 0.f}});
}

TEST(Epilogue, WhatOthersReadIsWritten) {
  const auto f = [](const List& in) {
    const Tensor y = matmul(in[0], in[1]), z = nn::relu(y + in[2]);
    return List{z, y, reduce_sum(y, {0}), matmul(z, y, {.transpose_b = true}) * 2};
  };
  expect_same_bits(f, {numbers({19, 6}, 1), numbers({6, 300}, 2), numbers({300}, 3)});
}

TEST(Epilogue, ALoopWithTwoProducts) {
  const auto f = [](const List& in) {
    const Tensor y = matmul(in[0], in[1]), z = matmul(in[1], in[0]);
    return List{y * z - 1};
  };
  expect_same_bits(f, {numbers({40, 40}, 1), numbers({40, 40}, 2)});
}

// The reader of a reader: the loop cannot move up past what it needs.
TEST(Epilogue, OtherOperandsMayDependOnTheProduct) {
  const auto f = function([](const Tensor& x) {
    const Tensor y = matmul(x, x);
    return y * reduce_sum(y) + transpose(y);
  });
  const Tensor x = numbers({9, 9}, 1), y = matmul(x, x);
  EXPECT_TRUE(same_bits(f(x), y * reduce_sum(y) + transpose(y)));
}

TEST(Epilogue, Convolutions) {
  struct Case {
    Shape images, filter;
    nn::ConvOptions options;
  };
  const Case cases[] = {{{2, 9, 8, 3}, {3, 3, 3, 5}, {}},
                        {{2, 9, 8, 3}, {1, 1, 3, 7}, {}},
                        {{1, 12, 11, 4}, {3, 2, 4, 6}, {.strides = {2, 1}, .padding = "SAME"}},
                        {{3, 6, 6, 4}, {3, 3, 1, 4}, {}},
                        {{3, 6, 6, 4}, {2, 2, 2, 6}, {}},
                        {{0, 6, 6, 4}, {2, 2, 4, 6}, {}},
                        {{8, 26, 26, 8}, {3, 3, 8, 32}, {}}};
  for (const Case& c : cases) {
    const auto f = [&](const List& in) {
      return List{nn::relu(nn::conv2d(in[0], in[1], c.options) + in[2])};
    };
    expect_same_bits(f, {numbers(c.images, 1), numbers(c.filter, 2), numbers({c.filter[3]}, 3)});
  }
}

// What comes back through pooling and convolutions meets the mask of an activation.
TEST(Epilogue, GradientsOfImages) {
  for (const bool average : {false, true})
    for (const std::int64_t stride : {1, 2})
      for (const DType dtype : {float32, float64}) {
        const auto f = [&](const List& in) {
          GradientTape tape;
          tape.watch(in[0]);
          const Tensor h = nn::relu(in[0] * 2);
          const Tensor k = nn::relu(nn::conv2d(h, in[1], {.strides = {stride, stride}}));
          const Tensor y = average ? nn::avg_pool2d(k) : nn::max_pool2d(k);
          return List{tape.gradient(reduce_sum(y * y), in[0]).tensor()};
        };
        expect_same_bits(f, {numbers({3, 13, 12, 4}, 1, dtype), numbers({3, 3, 4, 8}, 2, dtype)});
      }
}

// Two layers and their optimizer: a weight is read by two products, and its update, which is
// written over it, must not come before the second.
TEST(Epilogue, UpdatesInPlace) {
  const Tensor x = numbers({24, 30}, 1), target = numbers({24, 30}, 2);
  const auto train = [&](int how) {
    const Variable u(numbers({30, 30}, 4) * 0.1f), w(numbers({30, 30}, 3) * 0.1f);
    const auto step = [&](const Tensor& input) {
      GradientTape tape;
      const Tensor h = tanh(matmul(input, u));
      const Tensor loss = reduce_mean(square(matmul(h, w) - target));
      const auto [du, dw] = tape.gradient(loss, u, w);
      sgd_update(u, du, 0.1);
      sgd_update(w, dw, 0.1);
      return loss;
    };
    if (how == 0) {
      for (int i = 0; i < 4; ++i) step(x);
    } else {
      const auto compiled = function(step, how == 1 ? FunctionOptions{} : kWithout);
      for (int i = 0; i < 4; ++i) compiled(x);
      EXPECT_EQ(compiled.text().find("matmul, update]") != std::string::npos, how == 1);
    }
    return List{u.value(), w.value()};
  };
  const List eager = train(0), with = train(1), without = train(2);
  for (std::size_t i = 0; i < eager.size(); ++i) {
    EXPECT_TRUE(same_bits(with[i], without[i]));
    EXPECT_TRUE(near(with[i], values_of(eager[i]), 1e-5));
  }
}

TEST(Epilogue, OneProgramForAllSizesAndThreads) {
  const auto body = [](const Tensor& x, const Tensor& w, const Tensor& b) {
    return nn::relu(matmul(x, w) + b);
  };
  const auto f = function(body);
  const Tensor w = numbers({50, 400}, 2), b = numbers({400}, 3);
  const int before = thread_count();
  for (const std::int64_t rows : {8, 640, 1, 77, 0}) {
    const Tensor x = numbers({rows, 50}, 1);
    const Tensor want = body(x, w, b);
    for (const int threads : {1, 2, 4}) {
      set_thread_count(threads);
      EXPECT_TRUE(same_bits(f(x, w, b), want)) << rows << " rows, " << threads << " threads";
    }
  }
  set_thread_count(before);
  EXPECT_LE(f.trace_count(), 3);
}

// Random programs over square matrices.
TEST(Epilogue, RandomPrograms) {
  constexpr std::int64_t kSize = 21;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const auto f = [seed](const List& in) {
      std::mt19937 random(seed);
      List values = in;
      const auto any = [&] { return values[random() % values.size()]; };
      for (int line = 0; line < 14; ++line) {
        const Tensor a = any(), b = any();
        switch (random() % 8) {
          case 0:
          case 1:
          case 2:
            values.push_back(matmul(a, b, {.transpose_a = random() % 2 == 0}) * 0.1f);
            break;
          case 3:
            values.push_back(nn::relu(a + slice(b, {0, 0}, {1, kSize})));
            break;
          case 4:
            values.push_back(matmul(a, b));
            break;
          case 5:
            values.push_back(tanh(a) - b);
            break;
          case 6:
            values.push_back(transpose(a) * slice(b, {0, 3}, {kSize, 1}));
            break;
          default:
            values.push_back(a - reduce_max(b, {1}, true));
        }
      }
      return List{values.back(), any(), any()};
    };
    const List in = {numbers({kSize, kSize}, seed), numbers({kSize, kSize}, seed + 100)};
    const List eager = f(in), with = function(f)(in), without = function(f, kWithout)(in);
    for (std::size_t i = 0; i < eager.size(); ++i) {
      EXPECT_TRUE(same_bits(with[i], eager[i])) << "seed " << seed;
      EXPECT_TRUE(same_bits(without[i], eager[i])) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace gradus
