// What the definitions of the scalar functions share: polynomials with one set of coefficients per
// precision, exact sums and products as unevaluated pairs, and the cores of exp and log.
#pragma once
#include <initializer_list>
#include <limits>

#include "expr/fn.h"
#include "expr/math.h"

namespace gradus::expr {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Coefficients = std::initializer_list<double>;  // lowest order first

inline bool is_double(Expr x) { return x.type() == Type::f64; }
inline double pick(Expr x, double f32, double f64) { return is_double(x) ? f64 : f32; }

// c0 + c1 x + c2 x^2 + ... with fused multiply-adds; long ones in two interleaved halves, so that
// the chain of dependent operations stays short.
Expr poly(Expr x, Coefficients c);
inline Expr poly(Expr x, Coefficients f32, Coefficients f64) {
  return poly(x, is_double(x) ? f64 : f32);
}

// hi + lo, where hi is the rounded sum.
struct Pair {
  Expr hi, lo;
};
Pair two_sum(Expr a, Expr b);
Pair fast_two_sum(Expr a, Expr b);  // |a| >= |b|
Pair two_product(Expr a, Expr b);
inline Pair square_exactly(Expr x) { return two_product(x, x); }

// x where x is a zero (so that -0 stays -0), otherwise y.
inline Expr keep_zero(Expr x, Expr y) { return select(x == 0, x, y); }

// |x| apart from its sign bit, for odd functions.
struct SignMagnitude {
  Expr sign, magnitude;
  Expr restore(Expr y) const { return bit_or(y, sign); }  // y >= 0
};
SignMagnitude split_sign(Expr x);

// x * p for a factor p that decays to 0 faster than x grows, so that inf * 0 means 0: towards both
// infinities, or towards -inf only.
inline Expr times_decaying(Expr x, Expr p) { return select(p == 0, p, x * p); }
inline Expr times_gate(Expr x, Expr p) { return max(x, pick(x, -0x1p127, -0x1p1023)) * p; }

inline Type bits_type(Expr x) { return is_double(x) ? Type::i64 : Type::i32; }
inline int mantissa_bits(Expr x) { return is_double(x) ? 52 : 23; }
inline Expr raw_bits(Expr x) { return bitcast(x, bits_type(x)); }
inline Expr from_bits(Expr bits) {
  return bitcast(bits, bits.type() == Type::i64 ? Type::f64 : Type::f32);
}

// e^(x + lo) = (1 + m) * 2^n with m in [-0.30, 0.42] (not cancelled: m keeps its relative accuracy)
// for x within a few hundred (float32) or thousand (float64). `steps` is an integer whose low bits
// are n, made for the two functions below.
struct ExpParts {
  Expr m, n, steps;
};
ExpParts exp_parts(Expr x, Expr lo = {});
Expr scale_by_power(Expr p, Expr steps);  // p * 2^n for all n that exp needs, p near 1
Expr power_of_two(Expr like, Expr steps, int offset = 0);  // 2^(n + offset), a normal number or 0

// e^(x + lo) where x <= 0, in two thirds of the steps of exp: nothing overflows, and what is
// smaller than the normal numbers is 0.
Expr exp_of_nonpositive(Expr x, Expr lo = {});

// x = 2^e * (1 + f) with f in [sqrt(1/2) - 1, sqrt(2) - 1], for positive finite x.
struct LogParts {
  Expr e, f;
};
LogParts log_parts(Expr x);
Expr log1p_reduced(Expr f);           // log(1 + f) for such an f
Expr log_from_parts(LogParts parts);  // log(x)
// Replaces y = f(x) where log has no finite value: -inf at 0, NaN below, x at inf and NaN.
Expr finish_log(Expr x, Expr y);

}  // namespace gradus::expr
