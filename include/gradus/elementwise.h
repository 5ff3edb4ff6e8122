// Elementwise ops. Shapes broadcast as in NumPy; all tensors must have one dtype, and plain numbers
// take it. Names and conventions are TensorFlow's; docs/ops.md lists what happens at kinks and
// poles.
#pragma once
#include <vector>

#include "gradus/in.h"

namespace gradus {

// Arithmetic.
Tensor add(In x, In y);
Tensor add_n(const std::vector<Tensor>& inputs);  // of equal shapes
Tensor subtract(In x, In y);
Tensor multiply(In x, In y);
Tensor divide(In x, In y);  // of integers, towards zero
// Quotients and remainders: floormod has the sign of y (Python's %), truncatemod that of x (C's).
// An integer divided by zero is an error, here as everywhere.
Tensor floordiv(In x, In y);
Tensor floormod(In x, In y);
Tensor truncatediv(In x, In y);
Tensor truncatemod(In x, In y);
Tensor negative(In x);
Tensor abs(In x);  // of complex numbers, their length
Tensor square(In x);
Tensor sqrt(In x);
Tensor maximum(In x, In y);
Tensor minimum(In x, In y);
Tensor sign(In x);
Tensor reciprocal(In x);
Tensor rsqrt(In x);
Tensor pow(In x, In y);  // integers wrap, and have no negative powers
Tensor squared_difference(In x, In y);
Tensor clip_by_value(In x, In low, In high);
Tensor floor(In x);
Tensor ceil(In x);
Tensor round(In x);                  // ties to even
Tensor div_no_nan(In x, In y);       // 0 where y is 0
Tensor multiply_no_nan(In x, In y);  // 0 where y is 0
Tensor xlogy(In x, In y);            // 0 where x is 0
Tensor xdivy(In x, In y);            // 0 where x is 0
Tensor xlog1py(In x, In y);          // 0 where x is 0
Tensor reciprocal_no_nan(In x);      // 0 where x is 0
Tensor trunc(In x);
Tensor cbrt(In x);
Tensor hypot(In x, In y);

// Functions, about one unit in the last place.
Tensor exp(In x);
Tensor expm1(In x);
Tensor log(In x);
Tensor log1p(In x);
Tensor exp2(In x);
Tensor log2(In x);
Tensor log10(In x);
Tensor logaddexp(In x, In y);
Tensor sin(In x);
Tensor cos(In x);
Tensor tan(In x);
Tensor asin(In x);
Tensor acos(In x);
Tensor atan(In x);
Tensor atan2(In y, In x);
Tensor sinh(In x);
Tensor cosh(In x);
Tensor tanh(In x);
Tensor asinh(In x);
Tensor acosh(In x);
Tensor atanh(In x);
Tensor sigmoid(In x);
Tensor softplus(In x);
Tensor log_sigmoid(In x);
Tensor erf(In x);
Tensor erfc(In x);
Tensor erfinv(In x);
Tensor lgamma(In x);
Tensor digamma(In x);
Tensor ndtr(In x);

// Comparisons and logic: the result is bool.
Tensor equal(In x, In y);
Tensor not_equal(In x, In y);
Tensor less(In x, In y);
Tensor less_equal(In x, In y);
Tensor greater(In x, In y);
Tensor greater_equal(In x, In y);
Tensor logical_and(In x, In y);
Tensor logical_or(In x, In y);
Tensor logical_xor(In x, In y);
Tensor logical_not(In x);
Tensor is_nan(In x);
Tensor is_inf(In x);
Tensor is_finite(In x);

// Complex numbers and their parts; a real number is its own real part.
Tensor complex(In real, In imag);
Tensor real(In x);
Tensor imag(In x);
Tensor conj(In x);
Tensor angle(In x);

// x where the condition holds, else y. The branch not taken contributes nothing to gradients.
Tensor where(In condition, In x, In y);

// The value with another dtype, converted as C++ does; float to integer truncates.
Tensor cast(In x, DType dtype);
Tensor identity(In x);
// The value itself; gradients stop here.
Tensor stop_gradient(In x);

inline Tensor operator+(In x, In y) { return add(x, y); }
inline Tensor operator-(In x, In y) { return subtract(x, y); }
inline Tensor operator*(In x, In y) { return multiply(x, y); }
inline Tensor operator/(In x, In y) { return divide(x, y); }
inline Tensor operator-(In x) { return negative(x); }
inline Tensor operator<(In x, In y) { return less(x, y); }
inline Tensor operator<=(In x, In y) { return less_equal(x, y); }
inline Tensor operator>(In x, In y) { return greater(x, y); }
inline Tensor operator>=(In x, In y) { return greater_equal(x, y); }

}  // namespace gradus
