// Arithmetic, comparisons and logic.
#include "expr/expr.h"
#include "gradus/elementwise.h"
#include "graph/symbols.h"
#include "ops/records.h"

namespace gradus {

using expr::max;
using expr::min;
using expr::scaled;
using expr::select;

const Op add_op = elementwise({.name = "add",
                               .doc = "x + y.",
                               .dtypes = kNumeric,
                               .on_sizes = [](Size x, Size y) { return x + y; },
                               .like = "numpy.add",
                               .commutative = true},
                              [](Expr x, Expr y) { return x + y; });

const Op subtract_op = elementwise({.name = "subtract",
                                    .doc = "x - y.",
                                    .dtypes = kNumeric,
                                    .on_sizes = [](Size x, Size y) { return x - y; },
                                    .like = "numpy.subtract"},
                                   [](Expr x, Expr y) { return x - y; });

const Op multiply_op = elementwise({.name = "multiply",
                                    .doc = "x * y.",
                                    .dtypes = kNumeric,
                                    .on_sizes = [](Size x, Size y) { return x * y; },
                                    .like = "numpy.multiply",
                                    .commutative = true},
                                   [](Expr x, Expr y) { return x * y; });

const Op divide_op = elementwise(
    {.name = "divide",
     .doc = "x / y; of integers, truncated towards zero.",
     .dtypes = kNumeric,
     .low = 0.5,
     .high = 3,
     .like = "numpy.divide"},
    [](Expr x, Expr y) { return x / y; }, [](Expr g, Expr, Expr y, Expr) { return g / y; },
    [](Expr g, Expr, Expr y, Expr q) { return scaled(g, -(q / y)); });

const Op negative_op = elementwise({.name = "negative",
                                    .doc = "-x, with the sign of zero as well.",
                                    .dtypes = kNumeric,
                                    .like = "numpy.negative"},
                                   [](Expr x) { return -x; });

const Op abs_op = elementwise(
    {.name = "abs", .doc = "|x|; the derivative at 0 is 0.", .dtypes = kReal, .like = "numpy.abs"},
    [](Expr x) { return expr::abs(x); });

const Op square_op =
    elementwise({.name = "square", .doc = "x * x.", .dtypes = kNumeric, .like = "numpy.square"},
                [](Expr x) { return x * x; });

const Op sqrt_op = elementwise(
    {.name = "sqrt",
     .doc = "The square root; NaN below zero.",
     .dtypes = kFloating | kComplex,
     .low = 0.1,
     .high = 4,
     .like = "numpy.sqrt"},
    [](Expr x) { return expr::sqrt(x); }, [](Expr g, Expr, Expr y) { return scaled(g, 0.5 / y); });

const Op maximum_op = elementwise(
    {.name = "maximum",
     .doc = "The larger one; NaN if either is. At a tie the gradient goes to x.",
     .dtypes = kReal,
     .like = "numpy.maximum"},
    [](Expr x, Expr y) { return max(x, y); },
    [](Expr g, Expr x, Expr y, Expr) { return select(x >= y, g, 0); },
    [](Expr g, Expr x, Expr y, Expr) { return select(x >= y, 0, g); });

const Op minimum_op = elementwise(
    {.name = "minimum",
     .doc = "The smaller one; NaN if either is. At a tie the gradient goes to x.",
     .dtypes = kReal,
     .like = "numpy.minimum"},
    [](Expr x, Expr y) { return min(x, y); },
    [](Expr g, Expr x, Expr y, Expr) { return select(x <= y, g, 0); },
    [](Expr g, Expr x, Expr y, Expr) { return select(x <= y, 0, g); });

constexpr DTypes kOrdered = kReal | kBools;
const Op equal_op =
    predicate({.name = "equal", .doc = "x == y.", .dtypes = kAnyDType, .like = "numpy.equal"},
              [](Expr x, Expr y) { return x == y; });
const Op not_equal_op = predicate(
    {.name = "not_equal", .doc = "x != y.", .dtypes = kAnyDType, .like = "numpy.not_equal"},
    [](Expr x, Expr y) { return x != y; });
const Op less_op =
    predicate({.name = "less", .doc = "x < y.", .dtypes = kReal, .like = "numpy.less"},
              [](Expr x, Expr y) { return x < y; });
const Op less_equal_op =
    predicate({.name = "less_equal", .doc = "x <= y.", .dtypes = kReal, .like = "numpy.less_equal"},
              [](Expr x, Expr y) { return x <= y; });
const Op greater_op =
    predicate({.name = "greater", .doc = "x > y.", .dtypes = kReal, .like = "numpy.greater"},
              [](Expr x, Expr y) { return x > y; });
const Op greater_equal_op = predicate(
    {.name = "greater_equal", .doc = "x >= y.", .dtypes = kReal, .like = "numpy.greater_equal"},
    [](Expr x, Expr y) { return x >= y; });
const Op logical_and_op = predicate(
    {.name = "logical_and", .doc = "Both.", .dtypes = kBools, .like = "numpy.logical_and"},
    [](Expr x, Expr y) { return x && y; });
const Op logical_or_op = predicate(
    {.name = "logical_or", .doc = "Either.", .dtypes = kBools, .like = "numpy.logical_or"},
    [](Expr x, Expr y) { return x || y; });
const Op logical_xor_op = predicate(
    {.name = "logical_xor", .doc = "One of both.", .dtypes = kBools, .like = "numpy.logical_xor"},
    [](Expr x, Expr y) { return x ^ y; });
const Op logical_not_op = predicate(
    {.name = "logical_not", .doc = "Not x.", .dtypes = kBools, .like = "numpy.logical_not"},
    [](Expr x) { return !x; });

const Op is_nan_op =
    predicate({.name = "is_nan", .doc = "Whether x is not a number.", .like = "numpy.isnan"},
              [](Expr x) { return expr::is_nan(x); });
const Op is_inf_op =
    predicate({.name = "is_inf", .doc = "Whether x is infinite.", .like = "numpy.isinf"},
              [](Expr x) { return expr::is_inf(x); });
const Op is_finite_op =
    predicate({.name = "is_finite", .doc = "Neither infinite nor NaN.", .like = "numpy.isfinite"},
              [](Expr x) { return expr::is_finite(x); });

namespace {

std::unique_ptr<ElementwiseRule> where_rule() {
  auto rule = elementwise_rule([](Expr c, Expr x, Expr y) { return select(c, x, y); }, nullptr,
                               [](Expr g, Expr c, Expr, Expr, Expr) { return select(c, g, 0); },
                               [](Expr g, Expr c, Expr, Expr, Expr) { return select(c, 0, g); });
  rule->bool_inputs = 1;
  return rule;
}

}  // namespace

const Op where_op = make_elementwise({.name = "where",
                                      .doc = "x where the condition holds, else y.",
                                      .dtypes = kAnyDType,
                                      .differentiable = 6,
                                      .like = "numpy.where"},
                                     where_rule());

Tensor add(In x, In y) { return add_op(x, y); }
Tensor subtract(In x, In y) { return subtract_op(x, y); }
Tensor multiply(In x, In y) { return multiply_op(x, y); }
Tensor negative(In x) { return negative_op(x); }
Tensor square(In x) { return square_op(x); }
Tensor sqrt(In x) { return sqrt_op(x); }
Tensor maximum(In x, In y) { return maximum_op(x, y); }
Tensor minimum(In x, In y) { return minimum_op(x, y); }
Tensor equal(In x, In y) { return equal_op(x, y); }
Tensor not_equal(In x, In y) { return not_equal_op(x, y); }
Tensor less(In x, In y) { return less_op(x, y); }
Tensor less_equal(In x, In y) { return less_equal_op(x, y); }
Tensor greater(In x, In y) { return greater_op(x, y); }
Tensor greater_equal(In x, In y) { return greater_equal_op(x, y); }
Tensor logical_and(In x, In y) { return logical_and_op(x, y); }
Tensor logical_or(In x, In y) { return logical_or_op(x, y); }
Tensor logical_xor(In x, In y) { return logical_xor_op(x, y); }
Tensor is_nan(In x) { return is_nan_op(x); }
Tensor is_inf(In x) { return is_inf_op(x); }
Tensor is_finite(In x) { return is_finite_op(x); }
Tensor logical_not(In x) { return logical_not_op(x); }
Tensor where(In condition, In x, In y) { return where_op(condition, x, y); }

}  // namespace gradus
