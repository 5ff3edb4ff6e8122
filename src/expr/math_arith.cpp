// Arithmetic with a convention: signs, rounding, remainders, extrema, and products and quotients in
// which a zero wins over infinity and NaN.
#include "expr/math_parts.h"

namespace gradus::expr {
namespace {

Expr sign_value(const Expr* in) {
  return select(abs(in[0]) > 0, copy_sign(constant(in[0], 1), in[0]), in[0] + 0);
}

// The sign of the divisor, as Python's %.
Expr floormod_value(const Expr* in) {
  const Expr r = rem(in[0], in[1]);
  return select(r != 0 && ((r < 0) ^ (in[1] < 0)), r + in[1], r);
}

// x f where x != 0; 0 where x == 0, whatever f is.
Expr zero_wins(Expr x, Expr product) { return select(x == 0, 0, product); }

// A product that is 0 where a factor is; its derivatives are those of every product.
extern const Fn kProductNoNan;
const Fn kProductNoNan = {
    "product_no_nan",
    2,
    [](const Expr* in) { return zero_wins(in[0], zero_wins(in[1], in[0] * in[1])); },
    {[](Expr g, const Expr* in, Expr) { return call(kProductNoNan, g, in[1]); },
     [](Expr g, const Expr* in, Expr) { return call(kProductNoNan, g, in[0]); }}};

}  // namespace

const Fn abs_fn = {"abs",
                   1,
                   [](const Expr* in) { return abs(in[0]); },
                   {[](Expr g, const Expr* in, Expr) { return scaled(g, sign(in[0])); }}};
const Fn sign_fn = {"sign", 1, sign_value, {nullptr}};
const Fn floor_fn = {"floor", 1, [](const Expr* in) { return floor(in[0]); }, {nullptr}};
const Fn ceil_fn = {"ceil", 1, [](const Expr* in) { return ceil(in[0]); }, {nullptr}};
const Fn round_fn = {"round", 1, [](const Expr* in) { return round(in[0]); }, {nullptr}};
const Fn trunc_fn = {"trunc", 1, [](const Expr* in) { return trunc(in[0]); }, {nullptr}};

const Fn maximum_fn = {"maximum",
                       2,
                       [](const Expr* in) { return max(in[0], in[1]); },
                       {[](Expr g, const Expr* in, Expr) { return select(in[0] >= in[1], g, 0); },
                        [](Expr g, const Expr* in, Expr) { return select(in[0] >= in[1], 0, g); }}};
const Fn minimum_fn = {"minimum",
                       2,
                       [](const Expr* in) { return min(in[0], in[1]); },
                       {[](Expr g, const Expr* in, Expr) { return select(in[0] <= in[1], g, 0); },
                        [](Expr g, const Expr* in, Expr) { return select(in[0] <= in[1], 0, g); }}};
// The smaller of x and the upper bound, then the larger of that and the lower bound.
const Fn clip_fn = {
    "clip_by_value",
    3,
    [](const Expr* in) { return max(min(in[0], in[2]), in[1]); },
    {[](Expr g, const Expr* in, Expr) {
       return select(in[0] <= in[2] && min(in[0], in[2]) >= in[1], g, 0);
     },
     [](Expr g, const Expr* in, Expr) { return select(min(in[0], in[2]) >= in[1], 0, g); },
     [](Expr g, const Expr* in, Expr) {
       return select(!(in[0] <= in[2]) && min(in[0], in[2]) >= in[1], g, 0);
     }}};
const Fn squared_difference_fn = {
    "squared_difference",
    2,
    [](const Expr* in) { return (in[0] - in[1]) * (in[0] - in[1]); },
    {[](Expr g, const Expr* in, Expr) { return scaled(g, 2 * (in[0] - in[1])); },
     [](Expr g, const Expr* in, Expr) { return -scaled(g, 2 * (in[0] - in[1])); }}};

const Fn floormod_fn = {
    "floormod",
    2,
    floormod_value,
    {[](Expr g, const Expr*, Expr) { return g; },
     [](Expr g, const Expr* in, Expr) { return -scaled(g, floor(in[0] / in[1])); }}};
const Fn truncatemod_fn = {
    "truncatemod",
    2,
    [](const Expr* in) { return rem(in[0], in[1]); },
    {[](Expr g, const Expr*, Expr) { return g; },
     [](Expr g, const Expr* in, Expr) { return -scaled(g, trunc(in[0] / in[1])); }}};
const Fn floordiv_fn = {
    "floordiv", 2, [](const Expr* in) { return floor(in[0] / in[1]); }, {nullptr, nullptr}};
const Fn truncatediv_fn = {
    "truncatediv", 2, [](const Expr* in) { return trunc(in[0] / in[1]); }, {nullptr, nullptr}};

const Fn xlogy_fn = {
    "xlogy",
    2,
    [](const Expr* in) { return zero_wins(in[0], in[0] * log(in[1])); },
    {[](Expr g, const Expr* in, Expr) { return zero_wins(in[0], scaled(g, log(in[1]))); },
     [](Expr g, const Expr* in, Expr) { return scaled(g, xdivy(in[0], in[1])); }}};
const Fn xlog1py_fn = {
    "xlog1py",
    2,
    [](const Expr* in) { return zero_wins(in[0], in[0] * log1p(in[1])); },
    {[](Expr g, const Expr* in, Expr) { return zero_wins(in[0], scaled(g, log1p(in[1]))); },
     [](Expr g, const Expr* in, Expr) { return scaled(g, xdivy(in[0], in[1] + 1)); }}};
const Fn xdivy_fn = {
    "xdivy",
    2,
    [](const Expr* in) { return zero_wins(in[0], in[0] / in[1]); },
    {[](Expr g, const Expr* in, Expr) { return zero_wins(in[0], ratio(g, in[1])); },
     [](Expr g, const Expr* in, Expr y) { return -scaled(g, zero_wins(in[0], y / in[1])); }}};
const Fn reciprocal_no_nan_fn = {"reciprocal_no_nan",
                                 1,
                                 [](const Expr* in) { return zero_wins(in[0], 1 / in[0]); },
                                 {[](Expr g, const Expr*, Expr y) { return -scaled(g, y * y); }}};
const Fn div_no_nan_fn = {
    "div_no_nan",
    2,
    [](const Expr* in) { return zero_wins(in[1], in[0] / in[1]); },
    {[](Expr g, const Expr* in, Expr) { return zero_wins(in[1], ratio(g, in[1])); },
     [](Expr g, const Expr* in, Expr y) { return -scaled(g, zero_wins(in[1], y / in[1])); }}};
const Fn mul_no_nan_fn = {
    "mul_no_nan",
    2,
    [](const Expr* in) { return zero_wins(in[1], in[0] * in[1]); },
    {[](Expr g, const Expr* in, Expr) { return call(kProductNoNan, g, in[1]); },
     [](Expr g, const Expr* in, Expr) { return scaled(g, in[0]); }}};

Expr sign(Expr x) { return call(sign_fn, x); }
Expr maximum(Expr x, Expr y) { return call(maximum_fn, x, y); }
Expr minimum(Expr x, Expr y) { return call(minimum_fn, x, y); }
Expr clip_by_value(Expr x, Expr low, Expr high) { return call(clip_fn, x, low, high); }
Expr squared_difference(Expr x, Expr y) { return call(squared_difference_fn, x, y); }
Expr floormod(Expr x, Expr y) { return call(floormod_fn, x, y); }
Expr truncatemod(Expr x, Expr y) { return call(truncatemod_fn, x, y); }
Expr floordiv(Expr x, Expr y) { return call(floordiv_fn, x, y); }
Expr truncatediv(Expr x, Expr y) { return call(truncatediv_fn, x, y); }
Expr xlogy(Expr x, Expr y) { return call(xlogy_fn, x, y); }
Expr xlog1py(Expr x, Expr y) { return call(xlog1py_fn, x, y); }
Expr xdivy(Expr x, Expr y) { return call(xdivy_fn, x, y); }
Expr reciprocal_no_nan(Expr x) { return call(reciprocal_no_nan_fn, x); }
Expr div_no_nan(Expr x, Expr y) { return call(div_no_nan_fn, x, y); }
Expr mul_no_nan(Expr x, Expr y) { return call(mul_no_nan_fn, x, y); }

}  // namespace gradus::expr
