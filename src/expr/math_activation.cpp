// Activation functions of neural networks.
#include "expr/math_parts.h"

namespace gradus::expr {
namespace {

constexpr double kSeluAlpha = 1.6732632423543772848, kSeluScale = 1.0507009873554804934;
constexpr double kRootTwoOverPi = 0x1.9884533d43651p-1, kGeluCubic = 0.044715;

Expr elu_of(Expr x) { return select(x < 0, expm1(x), x); }

// gelu(x) ~ x sigmoid(u) with u = 2 sqrt(2 / pi) (x + 0.044715 x^3), which is x (1 + tanh(u / 2)) /
// 2 without its cancellation.
Expr gelu_argument(Expr x) {
  return x * fma(x * x, 2 * kRootTwoOverPi * kGeluCubic, 2 * kRootTwoOverPi);
}
Expr gelu_argument_slope(Expr x) {
  return fma(x * x, 6 * kRootTwoOverPi * kGeluCubic, 2 * kRootTwoOverPi);
}

// tanh(softplus(x)) = n / (n + 2) with n = w (w + 2), w = e^x; for x > 0 in terms of e^-x.
Expr mish_gate_value(const Expr* in) {
  const Expr negative = in[0] < 0, e = exp_of_nonpositive(-abs(in[0]));
  const Expr n = select(negative, e * (e + 2), fma(e, 2, 1));
  return n / (n + select(negative, 2, 2 * (e * e)));
}

const Fn mish_gate_fn = {"mish_gate", 1, mish_gate_value, {[](Expr g, const Expr* in, Expr) {
                           return scaled(g, sech_squared(softplus(in[0])) * sigmoid(in[0]));
                         }}};

// 1 / (1 + |x|)^2, the derivative of softsign.
Expr softsign_slope(Expr x) {
  const Expr inverse = 1 / (abs(x) + 1);
  return inverse * inverse;
}

}  // namespace

const Fn relu_fn = {"relu",
                    1,
                    [](const Expr* in) { return max(in[0], 0); },
                    // By the value, which others keep anyway: the argument need not exist then.
                    {[](Expr g, const Expr*, Expr out) { return select(out > 0, g, 0); }}};
const Fn relu6_fn = {
    "relu6",
    1,
    [](const Expr* in) { return min(max(in[0], 0), 6); },
    {[](Expr g, const Expr* in, Expr) { return select(in[0] > 0 && in[0] < 6, g, 0); }}};
const Fn leaky_relu_fn = {
    "leaky_relu",
    2,
    [](const Expr* in) { return select(in[0] > 0, in[0], in[1] * in[0]); },
    {[](Expr g, const Expr* in, Expr) { return select(in[0] > 0, g, scaled(g, in[1])); },
     [](Expr g, const Expr* in, Expr) { return select(in[0] > 0, 0, scaled(g, in[0])); }}};
const Fn elu_fn = {
    "elu", 1, [](const Expr* in) { return elu_of(in[0]); }, {[](Expr g, const Expr* in, Expr) {
      return select(in[0] < 0, scaled(g, exp(in[0])), g);
    }}};
const Fn selu_fn = {
    "selu",
    1,
    [](const Expr* in) {
      return select(in[0] < 0, kSeluScale * kSeluAlpha * expm1(in[0]), kSeluScale * in[0]);
    },
    {[](Expr g, const Expr* in, Expr) {
      return select(in[0] < 0, scaled(g, kSeluScale * kSeluAlpha * exp(in[0])), kSeluScale * g);
    }}};
const Fn gelu_fn = {"gelu",
                    1,
                    [](const Expr* in) { return times_gate(in[0], ndtr(in[0])); },
                    {[](Expr g, const Expr* in, Expr) {
                      return scaled(g, ndtr(in[0]) + times_decaying(in[0], normal_pdf(in[0])));
                    }}};
const Fn gelu_tanh_fn = {
    "gelu_tanh",
    1,
    [](const Expr* in) { return times_gate(in[0], sigmoid(gelu_argument(in[0]))); },
    {[](Expr g, const Expr* in, Expr) {
      const Expr u = gelu_argument(in[0]);
      return scaled(
          g, sigmoid(u) + times_decaying(in[0] * gelu_argument_slope(in[0]), sigmoid_slope(u)));
    }}};
const Fn silu_fn = {"silu",
                    1,
                    [](const Expr* in) { return times_gate(in[0], sigmoid(in[0])); },
                    {[](Expr g, const Expr* in, Expr) {
                      return scaled(g,
                                    sigmoid(in[0]) + times_decaying(in[0], sigmoid_slope(in[0])));
                    }}};
const Fn mish_fn = {"mish",
                    1,
                    [](const Expr* in) { return times_gate(in[0], call(mish_gate_fn, in[0])); },
                    {[](Expr g, const Expr* in, Expr) {
                      const Expr slope = sech_squared(softplus(in[0])) * sigmoid(in[0]);
                      return scaled(g, call(mish_gate_fn, in[0]) + times_decaying(in[0], slope));
                    }}};
const Fn softsign_fn = {
    "softsign",
    1,
    [](const Expr* in) {
      const Expr a = abs(in[0]);
      return select(a == kInf, copy_sign(constant(a, 1), in[0]), in[0] / (a + 1));
    },
    {[](Expr g, const Expr* in, Expr) { return scaled(g, softsign_slope(in[0])); }}};
const Fn hard_sigmoid_fn = {"hard_sigmoid",
                            1,
                            [](const Expr* in) { return min(max(in[0] + 3, 0), 6) * (1.0 / 6); },
                            {[](Expr g, const Expr* in, Expr) {
                              return select(in[0] > -3 && in[0] < 3, g * (1.0 / 6), 0);
                            }}};

Expr relu(Expr x) { return call(relu_fn, x); }
Expr relu6(Expr x) { return call(relu6_fn, x); }
Expr leaky_relu(Expr x, Expr alpha) { return call(leaky_relu_fn, x, alpha); }
Expr elu(Expr x) { return call(elu_fn, x); }
Expr selu(Expr x) { return call(selu_fn, x); }
Expr gelu(Expr x) { return call(gelu_fn, x); }
Expr gelu_tanh(Expr x) { return call(gelu_tanh_fn, x); }
Expr silu(Expr x) { return call(silu_fn, x); }
Expr mish(Expr x) { return call(mish_fn, x); }
Expr softsign(Expr x) { return call(softsign_fn, x); }
Expr hard_sigmoid(Expr x) { return call(hard_sigmoid_fn, x); }

}  // namespace gradus::expr
