// Products that read and write transposed arrays where they lie.
#include "compile/passes/absorb.h"

#include <gtest/gtest.h>

#include "gradus/gradus.h"
#include "graph_text_util.h"

namespace gradus {
namespace {

std::shared_ptr<Graph> absorbed(const std::shared_ptr<Graph>& g) { return absorb(*g); }

// transpose(l transpose(x)) with the sizes of l's rows, of x and the permutation of the result.
std::string moved_product(const std::string& rows, const std::string& n, const std::string& dtype) {
  const std::string product = "(3, " + rows + ", " + n + ")",
                    result = "(" + n + ", 3, " + rows + ")";
  return "%0 = input : " + dtype + " (3, " + rows + ", 4)\n" +  //
         "%1 = input : " + dtype + " (" + n + ", 3, 4)\n" +     //
         "%2 = transpose(%1, permutation=(1, 2, 0)) : " + dtype + " (3, 4, " + n + ")\n" +
         "%3 = matmul(%0, %2, transpose_a=False, transpose_b=False) : " + dtype + " " + product +
         "\n%4 = transpose(%3, permutation=(2, 0, 1)) : " + dtype + " " + result + "\nreturn %4\n";
}

TEST(AbsorbPass, ProductsReadAndWriteTransposedArraysWhereTheyLie) {
  for (const char* n : {"40", "s0"}) {
    const std::string size = n;
    EXPECT_EQ(renamed(to_text(*absorb(*from_text(moved_product("5", n, "float32"))))),
              "%0 = input : float32 (3, 5, 4)\n"
              "%1 = input : float32 (" +
                  size +
                  ", 3, 4)\n"
                  "%2 = permuted_matmul(%0, %1, order_a=(0, 1, 2), order_b=(1, 2, 0), "
                  "order_out=(2, 0, 1), transpose_a=False, transpose_b=False) : float32 (" +
                  size +
                  ", 3, 5)\n"
                  "return %2\n");
  }
}

TEST(AbsorbPass, AnOperandIsCopiedIfEachElementIsUsedOften) {
  EXPECT_EQ(renamed(to_text(*absorb(*from_text(moved_product("33", "40", "float32"))))),
            "%0 = input : float32 (3, 33, 4)\n"
            "%1 = input : float32 (40, 3, 4)\n"
            "%2 = transpose(%1, permutation=(1, 2, 0)) : float32 (3, 4, 40)\n"
            "%3 = permuted_matmul(%0, %2, order_a=(0, 1, 2), order_b=(0, 1, 2), "
            "order_out=(2, 0, 1), transpose_a=False, transpose_b=False) : float32 (40, 3, 33)\n"
            "return %3\n");
}

TEST(AbsorbPass, ATransposeThatOthersReadStaysForThem) {
  EXPECT_EQ(renamed(to_text(*absorb(*from_text(R"(
                %0 = input : float64 (6, 3, 4)
                %1 = input : float64 (3, 4, 2)
                %2 = transpose(%0, permutation=(1, 0, 2)) : float64 (3, 6, 4)
                %3 = matmul(%2, %1, transpose_a=False, transpose_b=False) : float64 (3, 6, 2)
                %4 = exp(%2) : float64 (3, 6, 4)
                return %3, %4)")))),
            "%0 = input : float64 (6, 3, 4)\n"
            "%1 = input : float64 (3, 4, 2)\n"
            "%2 = transpose(%0, permutation=(1, 0, 2)) : float64 (3, 6, 4)\n"
            "%3 = permuted_matmul(%0, %1, order_a=(1, 0, 2), order_b=(0, 1, 2), "
            "order_out=(0, 1, 2), transpose_a=False, transpose_b=False) : float64 (3, 6, 2)\n"
            "%4 = exp(%2) : float64 (3, 6, 4)\n"
            "return %3, %4\n");
}

TEST(AbsorbPass, WhereItDoesNotAct) {
  const std::string cases[] = {moved_product("5", "40", "float16"),
                               moved_product("5", "40", "int32"),
                               // One matrix: all rows are one product.
                               R"(%0 = input : float32 (4, 3)
         %1 = input : float32 (4, 2)
         %2 = transpose(%0, permutation=(1, 0)) : float32 (3, 4)
         %3 = matmul(%2, %1, transpose_a=False, transpose_b=False) : float32 (3, 2)
         return %3)",
                               // Neither rows nor columns of the matrices lie in one piece.
                               R"(%0 = input : float32 (2, 4, 5)
         %1 = input : float32 (5, 2, 3)
         %2 = transpose(%0, permutation=(2, 1, 0)) : float32 (5, 4, 2)
         %3 = matmul(%2, %1, transpose_a=False, transpose_b=False) : float32 (5, 4, 3)
         return %3)",
                               // Somebody else reads the product.
                               R"(%0 = input : float32 (5, 4, 2)
         %1 = input : float32 (5, 2, 3)
         %2 = matmul(%0, %1, transpose_a=False, transpose_b=False) : float32 (5, 4, 3)
         %3 = transpose(%2, permutation=(1, 0, 2)) : float32 (4, 5, 3)
         return %2, %3)",
                               // How often an element is used is not known.
                               R"(%0 = input : float32 (6, 3, 4)
         %1 = input : float32 (3, 4, s0)
         %2 = transpose(%0, permutation=(1, 0, 2)) : float32 (3, 6, 4)
         %3 = matmul(%2, %1, transpose_a=False, transpose_b=False) : float32 (3, 6, s0)
         return %3)"};
  for (const std::string& text : cases) expect_pass(absorbed, text, text);
}

using Body = std::function<Tensor(const Tensor&, const Tensor&)>;

Tensor random_array(const Shape& shape, DType dtype) {
  return random::uniform(shape, {.minval = -1, .dtype = dtype});
}

// Runs f as a program and op by op; the program's text.
std::string checked(const Body& f, const Tensor& a, const Tensor& b) {
  const auto program = function([&](const Tensor& x, const Tensor& y) { return f(x, y); });
  const Tensor got = program(a, b), expected = f(a, b);
  EXPECT_EQ(got.shape(), expected.shape());
  const double error = cast(reduce_max(abs(got - expected)), float64).item<double>();
  EXPECT_LT(error, a.dtype() == float64 ? 1e-13 : 1e-5);
  return program.text(true);
}

bool has(const std::string& text, const char* what) { return text.find(what) != text.npos; }

TEST(Absorb, SmallMatricesInTheMiddleOfAnArray) {
  random::set_seed(1);
  for (const DType dtype : {float32, float64}) {
    const Tensor l = random_array({3, 5, 4}, dtype), x = random_array({40, 3, 4}, dtype);
    const auto forward = [](const Tensor& u, const Tensor& v) {
      return einsum("kij,nkj->nki", {u, v});
    };
    const std::string text = checked(forward, l, x);
    EXPECT_TRUE(has(text, "permuted_matmul")) << text;
    EXPECT_FALSE(has(text, "transpose(")) << text;
    const auto loss = [&](const Tensor& u, const Tensor& v) {
      GradientTape tape;
      tape.watch(u);
      tape.watch(v);
      const auto g = tape.gradient({reduce_sum(square(forward(u, v)))}, {u, v});
      return concat({reshape(g[0].tensor(), {-1}), reshape(g[1].tensor(), {-1})}, 0);
    };
    EXPECT_FALSE(has(checked(loss, l, x), "transpose("));
  }
}

TEST(Absorb, EveryOrderOfOperandsAndResults) {
  random::set_seed(2);
  const Shape orders[] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const auto stored = [](const Shape& shape, const Shape& order) {  // transpose(it, order): shape
    Shape result = shape;
    for (int i = 0; i < 3; ++i) result[static_cast<int>(order[i])] = shape[i];
    return result;
  };
  for (const Shape& of_a : orders) {
    for (const Shape& of_b : orders) {
      for (const Shape& of_out : orders) {
        for (const bool flip : {false, true}) {
          const Tensor a =
              random_array(stored(flip ? Shape{2, 7, 5} : Shape{2, 5, 7}, of_a), float64);
          const Tensor b =
              random_array(stored(flip ? Shape{2, 3, 7} : Shape{2, 7, 3}, of_b), float64);
          checked(
              [&](const Tensor& x, const Tensor& y) {
                return transpose(matmul(transpose(x, of_a), transpose(y, of_b), {flip, flip}),
                                 of_out);
              },
              a, b);
        }
      }
    }
  }
}

TEST(Absorb, SeveralLeadingAxesThatBroadcast) {
  random::set_seed(3);
  const Tensor a = random_array({2, 6, 3, 4}, float32);  // -> (2, 3, 6, 4)
  for (const Shape& shape :
       {Shape{2, 3, 4, 5}, Shape{1, 3, 4, 5}, Shape{3, 4, 5}, Shape{1, 4, 5}}) {
    const std::string text = checked(
        [](const Tensor& x, const Tensor& y) {
          return transpose(matmul(transpose(x, {0, 2, 1, 3}), y), {0, 2, 1, 3});
        },
        a, random_array(shape, float32));
    EXPECT_FALSE(has(text, "transpose(")) << text;
  }
}

TEST(Absorb, ResultsThatOthersReadTooStayWhereTheyAre) {
  random::set_seed(4);
  const Tensor a = random_array({4, 3, 5}, float64), b = random_array({4, 5, 3}, float64);
  checked(
      [](const Tensor& x, const Tensor& y) {  // the transposed product is multiplied again
        const Tensor moved = transpose(matmul(x, y), {0, 2, 1});
        return matmul(moved, matmul(moved, x));
      },
      a, b);
  checked(
      [](const Tensor& x, const Tensor& y) {
        const Tensor p = matmul(x, y), moved = transpose(p, {1, 0, 2});
        return reduce_sum(p) + moved;
      },
      a, b);
}

TEST(Absorb, NotWhereTheCopyIsNothing) {
  random::set_seed(5);
  const Tensor q = random_array({2, 64, 2, 40}, float32), k = random_array({2, 64, 2, 40}, float32);
  const std::string text = checked(
      [](const Tensor& x, const Tensor& y) {
        return matmul(transpose(x, {0, 2, 1, 3}), transpose(y, {0, 2, 1, 3}), {false, true});
      },
      q, k);
  EXPECT_TRUE(has(text, "transpose("));
}

TEST(Absorb, EffectsBeforeAProductStayWhatTheyAre) {
  random::set_seed(7);
  const Tensor l = random_array({3, 5, 4}, float64), x = random_array({6, 3, 4}, float64);
  int calls = 0;
  checked(
      [&](const Tensor& u, const Tensor& v) {
        const Tensor moved = transpose(v, {1, 2, 0});
        HostFunction count;  // has no result: what it would be called is the product's name
        count.name = "count";
        count.run = [&calls](const std::vector<Tensor>&) { return ++calls, std::vector<Tensor>(); };
        host_call(count, {u}, {});
        return matmul(u, moved) + matmul(u, moved * 2.0);
      },
      l, x);
  EXPECT_EQ(calls, 2);  // in the program and op by op
}

TEST(Absorb, EmptyArraysAndSizesThatChange) {
  const auto f = function([](const Tensor& l, const Tensor& x) {
    return einsum("kij,nkj->nki", {l, x});
  });
  random::set_seed(6);
  const Tensor l = random_array({3, 5, 4}, float64);
  for (const std::int64_t n : {7, 9, 0, 1}) {
    const Tensor x = random_array({n, 3, 4}, float64), y = f(l, x);
    EXPECT_EQ(y.shape(), Shape({n, 3, 5}));
    if (n == 0) continue;
    const Tensor error = reduce_max(abs(y - einsum("kij,nkj->nki", {l, x})));
    EXPECT_LT(error.item<double>(), 1e-13);
  }
}

}  // namespace
}  // namespace gradus
