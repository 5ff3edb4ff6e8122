// Hurwitz's zeta function, the sum of (q + k)^-s over k >= 0. Derivatives in s of any order are
// functions of their own, computed one number at a time (zeta.h).
#include <bit>

#include "base/check.h"
#include "expr/assist.h"
#include "expr/math_parts.h"
#include "expr/zeta.h"

namespace gradus::expr {
namespace {

Expr zeta_value(const Expr* in) {
  const Expr s = in[0], q = in[1];
  Expr sum = constant(s, 0);
  for (int k = kZetaTerms - 1; k >= 0; --k) sum = sum + pow(q + k, -s);
  const Expr a = q + kZetaTerms, power = pow(a, -s), inverse = 1 / a;
  Expr term = s * power * inverse, tail = 0.5 * power;
  for (int j = 0; j < 9; ++j) {
    tail = fma(term, kZetaBernoulli[j], tail);
    term = term * (s + (2 * j + 1)) * (s + (2 * j + 2)) * (inverse * inverse);
  }
  const Expr y = sum + (tail + a * power / (s - 1)), pole = s == 1 || (s > 1 && q == 0);
  const Expr defined = select(s > 1 && q > 0, y, select(pole, kInf, constant(s, kNan)));
  return assist(Assistant::zeta, defined, s, q);
}

int order_of(Expr order) {
  const Instr& i = order.builder().instr(order.id());
  GRADUS_ASSERT(i.code == Code::constant && is_float(i.type));
  return static_cast<int>(i.type == Type::f64
                              ? std::bit_cast<double>(i.bits)
                              : std::bit_cast<float>(static_cast<std::uint32_t>(i.bits)));
}

Expr zeta_slope(int order, Expr s, Expr q);

// zeta(s, q) differentiated n times in s, where n is a constant. In q: from d zeta / dq = -s
// zeta(s + 1, q), by Leibniz's rule.
const Fn zeta_slope_fn = {"zeta_slope",
                          3,
                          [](const Expr* in) {
                            const auto f = static_cast<int>(Assistant::zeta) + order_of(in[0]);
                            return assist(static_cast<Assistant>(f), constant(in[1], kNan), in[1],
                                          in[2]);
                          },
                          {nullptr,
                           [](Expr g, const Expr* in, Expr) {
                             return scaled(g, zeta_slope(order_of(in[0]) + 1, in[1], in[2]));
                           },
                           [](Expr g, const Expr* in, Expr) {
                             const int n = order_of(in[0]);
                             const Expr same = zeta_slope(n, in[1] + 1, in[2]);
                             const Expr lower = zeta_slope(n - 1, in[1] + 1, in[2]);
                             return -scaled(g, in[1] * same + n * lower);
                           }}};

Expr zeta_slope(int order, Expr s, Expr q) {
  if (order == 0) return zeta(s, q);
  if (order > kMostZetaOrders)
    fail<UnimplementedError>("[zeta] got a derivative of order ", order, " in x; there are ",
                             kMostZetaOrders);
  return call(zeta_slope_fn, constant(s, order), s, q);
}

}  // namespace

const Fn zeta_fn = {
    "zeta",
    2,
    zeta_value,
    {[](Expr g, const Expr* in, Expr) { return scaled(g, zeta_slope(1, in[0], in[1])); },
     [](Expr g, const Expr* in, Expr) { return -scaled(g, in[0] * zeta(in[0] + 1, in[1])); }}};

Expr zeta(Expr s, Expr q) { return call(zeta_fn, s, q); }

}  // namespace gradus::expr
