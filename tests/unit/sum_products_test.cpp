// Sums of products that become one product.
#include "compile/passes/sum_products.h"

#include <gtest/gtest.h>

#include "compile/passes/clean.h"
#include "gradus/gradus.h"
#include "graph_text_util.h"

namespace gradus {
namespace {

std::shared_ptr<Graph> summed(const std::shared_ptr<Graph>& g) { return clean(*sum_products(*g)); }

TEST(SumProductsPass, RowsThatFollowEachOtherAreTheArrayTheyComeFrom) {
  expect_pass(summed, R"(%0 = input : float32 (6, 20)
                         %1 = input : float32 (2, 3, 10)
                         %2, %3 = split(%0, axis=0, parts=2, sizes=()) : float32 (3, 20), float32 (3, 20)
                         %4 = slice(%1, begin=(0, 0, 0), size=(1, 3, 10)) : float32 (1, 3, 10)
                         %5 = reshape(%4, shape=(3, 10)) : float32 (3, 10)
                         %6 = slice(%1, begin=(1, 0, 0), size=(1, 3, 10)) : float32 (1, 3, 10)
                         %7 = reshape(%6, shape=(3, 10)) : float32 (3, 10)
                         %8 = matmul(%2, %5, transpose_a=True, transpose_b=False) : float32 (20, 10)
                         %9 = matmul(%3, %7, transpose_a=True, transpose_b=False) : float32 (20, 10)
                         %10 = add(%8, %9) : float32 (20, 10)
                         return %10)",
              R"(%0 = input : float32 (6, 20)
                 %1 = input : float32 (2, 3, 10)
                 %2 = reshape(%1, shape=(6, 10)) : float32 (6, 10)
                 %3 = matmul(%0, %2, transpose_a=True, transpose_b=False) : float32 (20, 10)
                 return %3)");
}

TEST(SumProductsPass, SomeOfTheRowsAreOneSlice) {
  expect_pass(summed, R"(%0 = input : float32 (9, 20)
                         %1 = input : float32 (6, 10)
                         %2, %3, %4 = split(%0, axis=0, parts=3, sizes=()) : float32 (3, 20), float32 (3, 20), float32 (3, 20)
                         %5, %6 = split(%1, axis=0, parts=2, sizes=()) : float32 (3, 10), float32 (3, 10)
                         %7 = matmul(%3, %5, transpose_a=True, transpose_b=False) : float32 (20, 10)
                         %8 = matmul(%4, %6, transpose_a=True, transpose_b=False) : float32 (20, 10)
                         %9 = add(%7, %8) : float32 (20, 10)
                         return %9)",
              R"(%0 = input : float32 (9, 20)
                 %1 = input : float32 (6, 10)
                 %2 = reshape(%0, shape=(180,)) : float32 (180,)
                 %3 = slice(%2, begin=(60,), size=(120,)) : float32 (120,)
                 %4 = reshape(%3, shape=(6, 20)) : float32 (6, 20)
                 %5 = matmul(%4, %1, transpose_a=True, transpose_b=False) : float32 (20, 10)
                 return %5)");
}

TEST(SumProductsPass, GradientsOfOneArgumentOfSeveralLayers) {
  expect_pass(summed, R"(%0 = input : float32 (50, 2)
                         %1 = input : float32 (50, 3)
                         %2 = input : float32 (20, 2)
                         %3 = input : float32 (20, 3)
                         %4 = input : float32 (50, 20)
                         %5 = matmul(%0, %2, transpose_a=False, transpose_b=True) : float32 (50, 20)
                         %6 = matmul(%1, %3, transpose_a=False, transpose_b=True) : float32 (50, 20)
                         %7 = add(%5, %4) : float32 (50, 20)
                         %8 = add(%7, %6) : float32 (50, 20)
                         return %8)",
              R"(%0 = input : float32 (50, 2)
                 %1 = input : float32 (50, 3)
                 %2 = input : float32 (20, 2)
                 %3 = input : float32 (20, 3)
                 %4 = input : float32 (50, 20)
                 %5 = concat(%0, %1, axis=1) : float32 (50, 5)
                 %6 = concat(%2, %3, axis=1) : float32 (20, 5)
                 %7 = matmul(%5, %6, transpose_a=False, transpose_b=True) : float32 (50, 20)
                 %8 = add(%7, %4) : float32 (50, 20)
                 return %8)");
}

// x^T y + z^T w with what stands between the products and the sum.
std::string two_products(
    const std::string& rows, const std::string& dtype,
    const std::string& sum = "%6 = add(%4, %5) : float32 (20, 10)\nreturn %6") {
  const std::string x = " = input : " + dtype + " (" + rows + ", ", p = dtype + " (20, 10)\n";
  return "%0" + x + "20)\n%1" + x + "10)\n%2" + x + "20)\n%3" + x + "10)\n" +
         "%4 = matmul(%0, %1, transpose_a=True, transpose_b=False) : " + p +
         "%5 = matmul(%2, %3, transpose_a=True, transpose_b=False) : " + p + sum;
}

TEST(SumProductsPass, WhereItDoesNotAct) {
  const std::string cases[] = {
      two_products("4", "int32", "%6 = add(%4, %5) : int32 (20, 10)\nreturn %6"),
      two_products("4", "float16", "%6 = add(%4, %5) : float16 (20, 10)\nreturn %6"),
      two_products("7", "float32"),   // as much is copied as is saved
      two_products("s0", "float32"),  // or that is not known
      two_products("3", "float32", "%6 = subtract(%4, %5) : float32 (20, 10)\nreturn %6"),
      two_products("3", "float32", "%6 = add(%4, %5) : float32 (20, 10)\nreturn %6, %4"),
      two_products("3", "float32",
                   "%6 = reshape(%5, shape=(1, 20, 10)) : float32 (1, 20, 10)\n"
                   "%7 = add(%4, %6) : float32 (1, 20, 10)\nreturn %7"),
      // Products of different kinds.
      R"(%0 = input : float32 (3, 20)
         %1 = input : float32 (3, 10)
         %2 = input : float32 (20, 3)
         %3 = input : float32 (3, 10)
         %4 = matmul(%0, %1, transpose_a=True, transpose_b=False) : float32 (20, 10)
         %5 = matmul(%2, %3, transpose_a=False, transpose_b=False) : float32 (20, 10)
         %6 = add(%4, %5) : float32 (20, 10)
         return %6)"};
  for (const std::string& text : cases) expect_pass(summed, text, text);
}

Tensor random_array(const Shape& shape) {
  return random::uniform(shape, {.minval = -1, .dtype = float64});
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

// Runs f as a program and op by op; the program's text.
std::string checked(const std::function<Tensor(const Tensor&, const Tensor&)>& f, const Tensor& x,
                    const Tensor& y) {
  const auto program = function([&](const Tensor& a, const Tensor& b) { return f(a, b); });
  const Tensor got = program(x, y), expected = f(x, y);
  EXPECT_EQ(got.shape(), expected.shape());
  EXPECT_LT(reduce_max(abs(got - expected)).item<double>(), 1e-12);
  return program.text(true);
}

Tensor part(const Tensor& x, std::int64_t i) {
  return reshape(slice(x, {i, 0, 0}, {1, x.shape()[1], x.shape()[2]}),
                 {x.shape()[1], x.shape()[2]});
}

TEST(SumProducts, OverThePartsOfABatch) {
  random::set_seed(1);
  const Tensor x = random_array({4, 3, 20}), y = random_array({4, 3, 10});
  const std::string text = checked(
      [](const Tensor& a, const Tensor& b) {
        Tensor sum = matmul(part(a, 0), part(b, 0), {.transpose_a = true});
        for (int i = 1; i < 4; ++i)
          sum = sum + matmul(part(a, i), part(b, i), {.transpose_a = true});
        return sum / 4.0;
      },
      x, y);
  EXPECT_EQ(count(text, "matmul"), 1) << text;
  EXPECT_EQ(count(text, "slice(") + count(text, "concat("), 0) << text;  // all of x and y
}

TEST(SumProducts, PartsElsewhereAndOtherTerms) {
  random::set_seed(2);
  const Tensor x = random_array({4, 3, 20}), y = random_array({4, 3, 10});
  const auto product = [](const Tensor& a, const Tensor& b, int i, int j) {
    return matmul(part(a, i), tanh(part(b, j)), {.transpose_a = true});
  };
  const std::string text = checked(
      [&](const Tensor& a, const Tensor& b) {
        const Tensor other = matmul(part(a, 2), part(b, 1), {.transpose_a = true});
        return (product(a, b, 3, 0) + exp(other)) + (other + (product(a, b, 1, 2) - 1.0)) +
               product(a, b, 2, 3);
      },
      x, y);
  EXPECT_EQ(count(text, "matmul"), 3) << text;  // the other, the one in a difference, the joined
  EXPECT_EQ(count(text, "concat("), 2) << text;
}

TEST(SumProducts, NotIfMoreIsCopiedThanSaved) {
  random::set_seed(3);
  const Tensor x = random_array({2, 50, 4}), y = random_array({2, 50, 5});
  const std::string text = checked(
      [](const Tensor& a, const Tensor& b) {
        return matmul(exp(part(a, 0)), exp(part(b, 0)), {.transpose_a = true}) +
               matmul(exp(part(a, 1)), exp(part(b, 1)), {.transpose_a = true});
      },
      x, y);
  EXPECT_EQ(count(text, "concat("), 0) << text;
}

TEST(SumProducts, ProductsAndSumsThatAreReadTwiceStay) {
  random::set_seed(4);
  const Tensor x = random_array({2, 3, 20}), y = random_array({2, 3, 10});
  checked(
      [](const Tensor& a, const Tensor& b) {
        const Tensor p = matmul(part(a, 0), part(b, 0), {.transpose_a = true});
        const Tensor q = matmul(part(a, 1), part(b, 1), {.transpose_a = true});
        const Tensor sum = p + q;
        return concat(
            {sum + p, sum * q, matmul(part(a, 1), part(b, 0), {.transpose_a = true}) + sum}, 0);
      },
      x, y);
}

}  // namespace
}  // namespace gradus
