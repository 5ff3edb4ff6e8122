// The functions of expr/math.h as ops. Values and derivatives are defined there; here an op gets
// its name, its dtypes and the range in which the registry tests try it.
#include "expr/math.h"

#include "gradus/elementwise.h"
#include "gradus/nn.h"
#include "ops/records.h"

namespace gradus {
namespace {

constexpr DTypes kAnalytic = kFloating | kComplex;

OpInfo info(const char* name, const char* doc, double low, double high, DTypes dtypes = kFloating) {
  return {.name = name, .doc = doc, .dtypes = dtypes, .low = low, .high = high, .like = name};
}

// An op that is one function of expr/math.h.
Op function(const OpInfo& op, const expr::Fn& fn) {
  auto rule = std::make_unique<ElementwiseRule>();
  rule->arity = fn.arity;
  rule->value = [&fn](ElementwiseRule::Exprs in) { return call(fn, in); };
  return make_elementwise(op, std::move(rule));
}

}  // namespace

const Op exp_op = function(info("exp", "e to the power x.", -3, 3, kAnalytic), expr::exp_fn);
const Op expm1_op =
    function(info("expm1", "exp(x) - 1, exact for small x.", -3, 3, kAnalytic), expr::expm1_fn);
const Op log_op = function(info("log", "The natural logarithm.", 0.1, 4, kAnalytic), expr::log_fn);
const Op log1p_op =
    function(info("log1p", "log(1 + x), exact for small x.", -0.9, 4, kAnalytic), expr::log1p_fn);
const Op sin_op = function(info("sin", "The sine.", -4, 4, kAnalytic), expr::sin_fn);
const Op cos_op = function(info("cos", "The cosine.", -4, 4, kAnalytic), expr::cos_fn);
const Op tan_op = function(info("tan", "The tangent.", -1.2, 1.2, kAnalytic), expr::tan_fn);
const Op asin_op = function(info("asin", "The inverse sine.", -0.9, 0.9, kAnalytic), expr::asin_fn);
const Op acos_op =
    function(info("acos", "The inverse cosine.", -0.9, 0.9, kAnalytic), expr::acos_fn);
const Op atan_op = function(info("atan", "The inverse tangent.", -4, 4, kAnalytic), expr::atan_fn);
const Op atan2_op = function(info("atan2", "The angle of the point (x, y), given y and x.", 0.2, 2),
                             expr::atan2_fn);
const Op sinh_op = function(info("sinh", "The hyperbolic sine.", -3, 3, kAnalytic), expr::sinh_fn);
const Op cosh_op =
    function(info("cosh", "The hyperbolic cosine.", -3, 3, kAnalytic), expr::cosh_fn);
const Op tanh_op =
    function(info("tanh", "The hyperbolic tangent.", -3, 3, kAnalytic), expr::tanh_fn);
const Op asinh_op =
    function(info("asinh", "The inverse hyperbolic sine.", -3, 3, kAnalytic), expr::asinh_fn);
const Op acosh_op =
    function(info("acosh", "The inverse hyperbolic cosine.", 1.2, 4, kAnalytic), expr::acosh_fn);
const Op atanh_op = function(info("atanh", "The inverse hyperbolic tangent.", -0.9, 0.9, kAnalytic),
                             expr::atanh_fn);
const Op sigmoid_op =
    function(info("sigmoid", "1 / (1 + exp(-x)).", -4, 4, kAnalytic), expr::sigmoid_fn);
const Op softplus_op =
    function(info("softplus", "log(1 + exp(x)), safe at any scale.", -4, 4), expr::softplus_fn);
const Op log_sigmoid_op = function(
    info("log_sigmoid", "log(sigmoid(x)), safe at any scale.", -4, 4), expr::log_sigmoid_fn);
const Op erf_op = function(info("erf", "The error function.", -2, 2), expr::erf_fn);
const Op erfc_op = function(info("erfc", "1 - erf(x), exact in the tail.", -2, 2), expr::erfc_fn);
const Op erfinv_op = function(info("erfinv", "The inverse of erf.", -0.9, 0.9), expr::erfinv_fn);
const Op lgamma_op = function(info("lgamma", "log|Gamma(x)|.", 0.3, 4), expr::lgamma_fn);
const Op digamma_op =
    function(info("digamma", "The derivative of lgamma.", 0.5, 4), expr::digamma_fn);
const Op pow_op = function(
    info("pow", "x to the power y, with all special cases of IEEE 754.", 0.3, 2, kAnalytic),
    expr::pow_fn);
const Op rsqrt_op = function(info("rsqrt", "1 / sqrt(x).", 0.2, 4, kAnalytic), expr::rsqrt_fn);
const Op reciprocal_op =
    function(info("reciprocal", "1 / x.", 0.3, 3, kAnalytic), expr::reciprocal_fn);
const Op sign_op = elementwise(info("sign", "-1, 0 or 1; NaN stays.", -2, 2, kReal), [](Expr x) {
  if (expr::is_float(x.type())) return expr::sign(x);
  return select(x > 0, constant(x, 1), select(x < 0, constant(x, -1), constant(x, 0)));
});
const Op floor_op =
    function(info("floor", "The largest integer not above x.", -3, 3), expr::floor_fn);
const Op ceil_op =
    function(info("ceil", "The smallest integer not below x.", -3, 3), expr::ceil_fn);
const Op round_op =
    function(info("round", "The nearest integer, ties to even.", -3, 3), expr::round_fn);
const Op squared_difference_op =
    function(info("squared_difference", "(x - y)^2.", -2, 2, kReal), expr::squared_difference_fn);
const Op xlogy_op =
    function(info("xlogy", "x * log(y), and 0 where x is 0.", 0.3, 2), expr::xlogy_fn);
const Op xdivy_op = function(info("xdivy", "x / y, and 0 where x is 0.", 0.3, 2), expr::xdivy_fn);
const Op div_no_nan_op =
    function(info("div_no_nan", "x / y, and 0 where y is 0.", 0.3, 2), expr::div_no_nan_fn);
const Op multiply_no_nan_op =
    function(info("multiply_no_nan", "x * y, and 0 where y is 0.", 0.3, 2), expr::mul_no_nan_fn);
const Op clip_op =
    elementwise(info("clip_by_value", "x between low and high.", -2, 2, kReal),
                [](Expr x, Expr low, Expr high) { return expr::clip_by_value(x, low, high); });

const Op exp2_op = function(info("exp2", "2 to the power x.", -3, 3), expr::exp2_fn);
const Op log2_op = function(info("log2", "The logarithm to base 2.", 0.1, 4), expr::log2_fn);
const Op log10_op = function(info("log10", "The logarithm to base 10.", 0.1, 4), expr::log10_fn);
const Op logaddexp_op = function(
    info("logaddexp", "log(exp(x) + exp(y)), safe at any scale.", -3, 3), expr::logaddexp_fn);
const Op hypot_op =
    function(info("hypot", "sqrt(x^2 + y^2), safe at any scale; the derivative at 0 is 0.", 0.2, 3),
             expr::hypot_fn);
const Op cbrt_op = function(info("cbrt", "The cube root.", 0.2, 3), expr::cbrt_fn);
const Op trunc_op = function(info("trunc", "x without its fraction.", -3, 3), expr::trunc_fn);
const Op xlog1py_op =
    function(info("xlog1py", "x * log(1 + y), and 0 where x is 0.", 0.3, 2), expr::xlog1py_fn);
const Op reciprocal_no_nan_op = function(
    info("reciprocal_no_nan", "1 / x, and 0 where x is 0.", 0.3, 3), expr::reciprocal_no_nan_fn);
const Op ndtr_op = function(
    info("ndtr", "The distribution function of the normal distribution.", -3, 3), expr::ndtr_fn);

const Op relu_op =
    function(info("relu", "max(x, 0); the derivative at 0 is 0.", -2, 2), expr::relu_fn);
const Op relu6_op = function(info("relu6", "min(max(x, 0), 6).", -2, 8), expr::relu6_fn);
const Op leaky_relu_op =
    function(info("leaky_relu", "x above 0, alpha * x below.", 0.1, 2), expr::leaky_relu_fn);
const Op elu_op = function(info("elu", "x above 0, exp(x) - 1 below.", -2, 2), expr::elu_fn);
const Op selu_op =
    function(info("selu", "The self-normalising exponential linear unit.", -2, 2), expr::selu_fn);
const Op gelu_op =
    function(info("gelu", "x times the normal distribution function of x.", -3, 3), expr::gelu_fn);
const Op gelu_tanh_op =
    function(info("gelu_tanh", "gelu by the tanh approximation.", -3, 3), expr::gelu_tanh_fn);
const Op silu_op =
    function(info("silu", "x * sigmoid(x), also called swish.", -4, 4), expr::silu_fn);
const Op mish_op = function(info("mish", "x * tanh(softplus(x)).", -4, 4), expr::mish_fn);
const Op softsign_op = function(info("softsign", "x / (1 + |x|).", 0.1, 3), expr::softsign_fn);
const Op hard_sigmoid_op =
    function(info("hard_sigmoid", "relu6(x + 3) / 6.", -2.5, 2.5), expr::hard_sigmoid_fn);

Tensor exp(In x) { return exp_op(x); }
Tensor expm1(In x) { return expm1_op(x); }
Tensor log(In x) { return log_op(x); }
Tensor log1p(In x) { return log1p_op(x); }
Tensor sin(In x) { return sin_op(x); }
Tensor cos(In x) { return cos_op(x); }
Tensor tan(In x) { return tan_op(x); }
Tensor asin(In x) { return asin_op(x); }
Tensor acos(In x) { return acos_op(x); }
Tensor atan(In x) { return atan_op(x); }
Tensor atan2(In y, In x) { return atan2_op(y, x); }
Tensor sinh(In x) { return sinh_op(x); }
Tensor cosh(In x) { return cosh_op(x); }
Tensor tanh(In x) { return tanh_op(x); }
Tensor asinh(In x) { return asinh_op(x); }
Tensor acosh(In x) { return acosh_op(x); }
Tensor atanh(In x) { return atanh_op(x); }
Tensor sigmoid(In x) { return sigmoid_op(x); }
Tensor softplus(In x) { return softplus_op(x); }
Tensor log_sigmoid(In x) { return log_sigmoid_op(x); }
Tensor erf(In x) { return erf_op(x); }
Tensor erfc(In x) { return erfc_op(x); }
Tensor erfinv(In x) { return erfinv_op(x); }
Tensor lgamma(In x) { return lgamma_op(x); }
Tensor digamma(In x) { return digamma_op(x); }
Tensor rsqrt(In x) { return rsqrt_op(x); }
Tensor reciprocal(In x) { return reciprocal_op(x); }
Tensor sign(In x) { return sign_op(x); }
Tensor floor(In x) { return floor_op(x); }
Tensor ceil(In x) { return ceil_op(x); }
Tensor round(In x) { return round_op(x); }
Tensor squared_difference(In x, In y) { return squared_difference_op(x, y); }
Tensor xlogy(In x, In y) { return xlogy_op(x, y); }
Tensor xdivy(In x, In y) { return xdivy_op(x, y); }
Tensor div_no_nan(In x, In y) { return div_no_nan_op(x, y); }
Tensor multiply_no_nan(In x, In y) { return multiply_no_nan_op(x, y); }
Tensor exp2(In x) { return exp2_op(x); }
Tensor log2(In x) { return log2_op(x); }
Tensor log10(In x) { return log10_op(x); }
Tensor logaddexp(In x, In y) { return logaddexp_op(x, y); }
Tensor hypot(In x, In y) { return hypot_op(x, y); }
Tensor cbrt(In x) { return cbrt_op(x); }
Tensor trunc(In x) { return trunc_op(x); }
Tensor xlog1py(In x, In y) { return xlog1py_op(x, y); }
Tensor reciprocal_no_nan(In x) { return reciprocal_no_nan_op(x); }
Tensor ndtr(In x) { return ndtr_op(x); }
Tensor clip_by_value(In x, In low, In high) { return clip_op(x, low, high); }

namespace nn {

Tensor relu(In x) { return relu_op(x); }
Tensor relu6(In x) { return relu6_op(x); }
Tensor leaky_relu(In x, double alpha) { return leaky_relu_op(x, cast(alpha, x->dtype())); }
Tensor elu(In x) { return elu_op(x); }
Tensor selu(In x) { return selu_op(x); }
Tensor gelu(In x, bool approximate) { return approximate ? gelu_tanh_op(x) : gelu_op(x); }
Tensor silu(In x) { return silu_op(x); }
Tensor mish(In x) { return mish_op(x); }
Tensor softsign(In x) { return softsign_op(x); }
Tensor hard_sigmoid(In x) { return hard_sigmoid_op(x); }

}  // namespace nn
}  // namespace gradus
