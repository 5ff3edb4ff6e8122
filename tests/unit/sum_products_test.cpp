// Sums of products that become one product.
#include <gtest/gtest.h>

#include "gradus/gradus.h"

namespace gradus {
namespace {

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
