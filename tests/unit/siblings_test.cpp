// Narrow products with one left operand are computed together, with the same bits.
#include "compile/passes/siblings.h"

#include <gtest/gtest.h>

#include <cstring>

#include "gradus/gradus.h"
#include "gradus/nn.h"
#include "gradus/threads.h"
#include "graph_text_util.h"
#include "kernels/gemm_siblings.h"
#include "ops_util.h"

namespace gradus {
namespace {

std::shared_ptr<Graph> united(const std::shared_ptr<Graph>& g) { return siblings(*g); }

// x = %0 (rows, 128), weights %1, %2 and %3 of so many columns, then `lines`.
std::string heads(const std::string& lines, const char* columns = "10", const char* rows = "512",
                  const char* dtype = "float32") {
  const std::string w = std::string(" = input : ") + dtype + " (128, " + columns + ")\n";
  return std::string("%0 = input : ") + dtype + " (" + rows + ", 128)\n%1" + w + "%2" + w + "%3" +
         w + lines;
}
// %to = x %w, of the same sizes.
std::string product(int to, int w, const char* columns = "10", const char* rows = "512",
                    const char* dtype = "float32") {
  return "%" + std::to_string(to) + " = matmul(%0, %" + std::to_string(w) +
         ", transpose_a=False, transpose_b=False) : " + dtype + " (" + rows + ", " + columns +
         ")\n";
}
std::string three(const char* columns, const char* rows, const char* dtype) {
  return heads(product(4, 1, columns, rows, dtype) + product(5, 2, columns, rows, dtype) +
                   product(6, 3, columns, rows, dtype) + "return %4, %5, %6",
               columns, rows, dtype);
}
std::string text_after(const std::string& before) {
  return renamed(to_text(*siblings(*from_text(before))));
}
bool acts(const std::string& before) {
  return text_after(before).find("sibling_matmuls") != std::string::npos;
}

TEST(SiblingsPass, NarrowProductsOfOneArrayAreOne) {
  for (const char* rows : {"512", "s0"}) {
    const std::string size = rows, out = "float32 (" + size + ", 10)";
    EXPECT_EQ(text_after(three("10", rows, "float32")),
              "%0 = input : float32 (" + size +
                  ", 128)\n"
                  "%1 = input : float32 (128, 10)\n"
                  "%2 = input : float32 (128, 10)\n"
                  "%3 = input : float32 (128, 10)\n"
                  "%4, %5, %6 = sibling_matmuls(%0, %1, %2, %3, transpose_a=False, "
                  "transpose_b=False) : " +
                  out + ", " + out + ", " + out + "\nreturn %4, %5, %6\n");
  }
}

TEST(SiblingsPass, WhereWeightsAreReadyAtTheFirstOneItsReadersNeedNotWait) {
  EXPECT_EQ(text_after(heads(product(4, 1) + "%5 = exp(%4) : float32 (512, 10)\n" + product(6, 2) +
                             product(7, 3) + "return %5, %6, %7")),
            "%0 = input : float32 (512, 128)\n"
            "%1 = input : float32 (128, 10)\n"
            "%2 = input : float32 (128, 10)\n"
            "%3 = input : float32 (128, 10)\n"
            "%4, %5, %6 = sibling_matmuls(%0, %1, %2, %3, transpose_a=False, transpose_b=False) : "
            "float32 (512, 10), float32 (512, 10), float32 (512, 10)\n"
            "%7 = exp(%4) : float32 (512, 10)\n"
            "return %7, %5, %6\n");
}

// As gradients of weights come: their right operands are made one after the other.
TEST(SiblingsPass, WhereNobodyReadsThemBeforeTheyAreComputedAtTheLastOne) {
  EXPECT_EQ(text_after(heads(product(4, 1) + "%5 = exp(%2) : float32 (128, 10)\n" + product(6, 5) +
                             "%7 = exp(%3) : float32 (128, 10)\n" + product(8, 7) +
                             "%9 = exp(%4) : float32 (512, 10)\nreturn %9, %6, %8")),
            "%0 = input : float32 (512, 128)\n"
            "%1 = input : float32 (128, 10)\n"
            "%2 = input : float32 (128, 10)\n"
            "%3 = input : float32 (128, 10)\n"
            "%4 = exp(%2) : float32 (128, 10)\n"
            "%5 = exp(%3) : float32 (128, 10)\n"
            "%6, %7, %8 = sibling_matmuls(%0, %1, %4, %5, transpose_a=False, transpose_b=False) : "
            "float32 (512, 10), float32 (512, 10), float32 (512, 10)\n"
            "%9 = exp(%6) : float32 (512, 10)\n"
            "return %9, %7, %8\n");
}

TEST(SiblingsPass, WhereItDoesNotAct) {
  EXPECT_TRUE(acts(three("10", "512", "float32")));
  EXPECT_FALSE(acts(three("10", "8", "float32")));    // the copies cost more
  EXPECT_FALSE(acts(three("10", "512", "float16")));  // has a kernel of its own
  EXPECT_FALSE(acts(three("10", "512", "int32")));
  EXPECT_FALSE(acts(three("16", "512", "float32")));  // they are as good alone
  EXPECT_FALSE(acts(three("256", "512", "float32")));
  EXPECT_FALSE(acts(three("4", "512", "float32")));  // added up in another order
  EXPECT_FALSE(acts(three("s1", "512", "float32")));
  // One needs another, which stands between.
  const std::string chain =
      heads(product(4, 1) + R"(%5 = slice(%4, begin=(0, 0), size=(128, 10)) : float32 (128, 10)
                                                     )" +
            product(6, 5) + "return %6");
  expect_pass(united, chain, chain);
  // Different left operands, or one of them transposed.
  const std::string other = heads(product(4, 1) +
                                  R"(%5 = exp(%0) : float32 (512, 128)
                                     %6 = matmul(%5, %2, transpose_a=False, transpose_b=False) : float32 (512, 10)
                                     return %4, %6)");
  expect_pass(united, other, other);
}

// Two families, one of which reads the other: wherever they are put, operands come first.
TEST(SiblingsPass, FamiliesThatReadEachOther) {
  const auto f = [](const Tensor& x, const Tensor& a, const Tensor& b, const Tensor& c) {
    const Tensor p = matmul(x, a), y = exp(x), q = matmul(y, a);
    const Tensor r = matmul(x, b), t = matmul(x, c);
    const Tensor u = matmul(y, slice(p, {0, 0}, {128, 10})), v = matmul(y, b);
    return reduce_sum(q + r + t + u + v, {0});
  };
  const Tensor x = random_tensor({512, 128}, 1) * 0.1, a = random_tensor({128, 10}, 2),
               b = random_tensor({128, 10}, 3), c = random_tensor({128, 10}, 4);
  const auto with = function(f), without = function(f, {.skip_passes = {"siblings"}});
  EXPECT_EQ(to_string(with(x, a, b, c)), to_string(without(x, a, b, c)));
  EXPECT_NE(with.text(true).find("sibling_matmuls"), std::string::npos);
}

// Heads with their gradients: the bits of the program without the pass, at any number of rows.
TEST(Siblings, AStepHasTheSameBits) {
  using List = std::vector<Tensor>;
  const auto step = [](const List& in) {
    GradientTape tape;
    for (const Tensor& t : in) tape.watch(t);
    Tensor loss = zeros({}, in[0].dtype());
    for (std::size_t i = 1; i < in.size(); ++i)
      loss = loss + reduce_sum(square(nn::relu(matmul(tanh(in[0]), in[i]))));
    List out{loss};
    for (const Gradient& g : tape.gradient({loss}, {in.begin() + 1, in.end()}))
      out.push_back(g.tensor());
    return out;
  };
  for (const DType dtype : {float32, float64}) {
    const auto with = function(step), without = function(step, {.skip_passes = {"siblings"}});
    for (const std::int64_t rows : {512, 300, 2, 1, 0}) {
      List in{cast(random_tensor({rows, 100}, 1), dtype)};
      for (const std::int64_t columns : {10, 9, 5, 21})
        in.push_back(cast(random_tensor({100, columns}, 2), dtype));
      const List got = with(in), expected = without(in);
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_EQ(0, std::memcmp(got[i].raw_data(), expected[i].raw_data(), got[i].num_bytes()))
            << rows << " rows, result " << i;
    }
    EXPECT_NE(with.text(true).find("sibling_matmuls"), std::string::npos) << with.text(true);
  }
}

TEST(Siblings, TheKernelJoinsOnlyWhatHasTheSameBits) {
  using kernels::GemmArgs;
  using kernels::Sibling;
  struct Sizes {
    std::int64_t m, k;
    std::vector<std::int64_t> n;
  };
  bool any = false;
  for (const Sizes& s : {Sizes{512, 128, {10, 10, 10}},
                         {700, 300, {10, 12}},   // one by one as a whole, together in parts of k
                         {700, 900, {9, 9, 9}},  // in parts of k both ways
                         {300, 200, {17, 5, 40}},
                         {2000, 64, {3, 5, 5}},
                         {1, 128, {10, 10}},
                         {600, 0, {10, 10, 10}},
                         {300, 250, {600, 10, 9}}}) {
    for (const bool transposed : {false, true}) {
      const Tensor a = random_tensor(transposed ? Shape{s.k, s.m} : Shape{s.m, s.k}, 1);
      GemmArgs g;
      g.dtype = a.dtype();
      g.trans_a = transposed;
      g.m = s.m;
      g.k = s.k;
      g.a = a.raw_data();
      g.lda = transposed ? s.m : s.k;
      std::vector<Tensor> b;
      std::vector<std::vector<double>> together, alone;
      std::vector<Sibling> siblings;
      for (const std::int64_t n : s.n) {
        b.push_back(random_tensor({s.k, n}, static_cast<unsigned>(n)));
        together.emplace_back(static_cast<std::size_t>(s.m * n), -1.0);
        alone.emplace_back(static_cast<std::size_t>(s.m * n), -2.0);
      }
      ASSERT_EQ(a.dtype(), float64);
      for (std::size_t i = 0; i < b.size(); ++i) {
        siblings.push_back({b[i].raw_data(), together[i].data(), s.n[i]});
        GemmArgs one = g;
        one.n = one.ldb = one.ldc = s.n[i];
        one.b = b[i].raw_data();
        one.c = alone[i].data();
        kernels::gemm(one);
      }
      any = any || kernels::are_joined(g, siblings);
      kernels::gemm_siblings(g, siblings);
      EXPECT_EQ(together, alone) << s.m << " " << s.k << (transposed ? " transposed" : "");
    }
  }
  EXPECT_TRUE(any);
}

}  // namespace
}  // namespace gradus
