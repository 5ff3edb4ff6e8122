// Special functions that are scalar expressions; their values and derivatives are in expr/.
#include "gradus/special.h"

#include <limits>

#include "expr/math.h"
#include "expr/math_special.h"
#include "gradus/elementwise.h"
#include "graph/elementwise.h"
#include "ops/numeric_records.h"

namespace gradus {
namespace {

OpInfo info(const char* name, const char* doc, double low, double high) {
  return {.name = name, .doc = doc, .low = low, .high = high, .like = name};
}

}  // namespace

const Op ndtri_op =
    elementwise(info("ndtri", "The inverse of the normal distribution function.", 0.05, 0.95),
                [](Expr p) { return expr::ndtri(p); });
const Op bessel_i0_op = elementwise(info("bessel_i0", "The modified Bessel function I0.", 0.1, 4),
                                    [](Expr x) { return expr::bessel_i0(x); });
const Op bessel_i0e_op =
    elementwise(info("bessel_i0e", "e^-|x| I0(x), safe at any scale.", 0.1, 12),
                [](Expr x) { return expr::bessel_i0e(x); });
const Op bessel_i1_op = elementwise(info("bessel_i1", "The modified Bessel function I1.", 0.1, 4),
                                    [](Expr x) { return expr::bessel_i1(x); });
const Op bessel_i1e_op =
    elementwise(info("bessel_i1e", "e^-|x| I1(x), safe at any scale.", 0.1, 12),
                [](Expr x) { return expr::bessel_i1e(x); });
const Op zeta_op = elementwise({.name = "zeta",
                                .doc = "Hurwitz: the sum of (q + k)^-x over k >= 0.",
                                .low = 1.5,
                                .high = 4,
                                .like = "scipy.special.zeta"},
                               [](Expr x, Expr q) { return expr::zeta(x, q); });
// The order is rounded, so that every number is one; the public function says what is none.
const Op polygamma_op =
    elementwise({.name = "polygamma",
                 .doc = "The a-th derivative of digamma, for whole a; no gradient in a.",
                 .differentiable = 2,
                 .low = 0.5,
                 .high = 4,
                 .like = "scipy.special.polygamma"},
                [](Expr a, Expr x) { return expr::polygamma(expr::round(a), x); });

Tensor ndtri(In p) { return ndtri_op(p); }
Tensor erfcinv(In x) { return multiply(ndtri(multiply(x, 0.5)), -0x1.6a09e667f3bcdp-1); }
Tensor bessel_i0(In x) { return bessel_i0_op(x); }
Tensor bessel_i0e(In x) { return bessel_i0e_op(x); }
Tensor bessel_i1(In x) { return bessel_i1_op(x); }
Tensor bessel_i1e(In x) { return bessel_i1e_op(x); }
Tensor zeta(In x, In q) { return zeta_op(x, q); }
Tensor polygamma(In a, In x) {
  const Tensor& order = a;
  // As a factor, so that the derivative is NaN too.
  const Tensor y = polygamma_op(order, x);
  return y * where(equal(order, round(order)), cast(1, y.dtype()),
                   std::numeric_limits<double>::quiet_NaN());
}

}  // namespace gradus
