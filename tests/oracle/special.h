// Special functions over the oracle's numbers: textbook series, run as they are, so that
// derivatives in every argument come out.
#pragma once
#include "oracle/nilpotent.h"

namespace oracle {

Nil lgamma(Nil x);              // x > 0
Nil digamma(Nil x);             // x > 0
Nil zeta(const Nil& s, Nil q);  // Hurwitz, s > 1, q > 0
Nil polygamma(int n, const Nil& x);
Nil erfinv(const Nil& x);
Nil bessel_i0(const Nil& x);
Nil bessel_i1(const Nil& x);
Nil igamma(const Nil& a, const Nil& x);                 // regularised, lower
Nil betainc(const Nil& a, const Nil& b, const Nil& x);  // regularised
inline Nil ndtr(const Nil& x) { return (erf(x * std::sqrt(0.5L)) + Nil(1)) * Nil(0.5L); }

}  // namespace oracle
