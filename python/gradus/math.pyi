# Made by tools/api_pages.py; do not edit.
from typing import Any as _Any, Sequence as _Sequence, Union as _Union

_Axis = _Union[int, _Sequence[int], _Any]
_DTypeLike = _Any

from . import *
from . import DType, Tensor

def abs(x: _Any, name: str | None = None) -> Tensor:
    """The absolute value."""
def accumulate_n(inputs: _Any, shape: _Any = ..., tensor_dtype: _Any = ..., name: _Any = ...) -> _Any:
    """The sum of tensors of one shape."""
def acos(x: _Any, name: str | None = None) -> Tensor:
    """The inverse cosine."""
def acosh(x: _Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic cosine."""
def add(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x + y."""
def add_n(inputs: _Any, name: str | None = None) -> Tensor:
    """The sum of a list of tensors."""
def angle(input: _Any, name: str | None = None) -> Tensor:
    """The angle of a complex number."""
def argmax(input: _Any, axis: _Axis | None = None, output_type: _DTypeLike | None = 'int64', name: str | None = None) -> Tensor:
    """The position of the largest element along an axis."""
def argmin(input: _Any, axis: _Axis | None = None, output_type: _DTypeLike | None = 'int64', name: str | None = None) -> Tensor:
    """The position of the smallest element along an axis."""
def asin(x: _Any, name: str | None = None) -> Tensor:
    """The inverse sine."""
def asinh(x: _Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic sine."""
def atan(x: _Any, name: str | None = None) -> Tensor:
    """The inverse tangent."""
def atan2(y: _Any, x: _Any, name: str | None = None) -> Tensor:
    """The angle of the point (x, y)."""
def atanh(x: _Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic tangent."""
def bessel_i0(x: _Any, name: str | None = None) -> Tensor:
    """The modified Bessel function I0."""
def bessel_i0e(x: _Any, name: str | None = None) -> Tensor:
    """e^-|x| I0(x)."""
def bessel_i1(x: _Any, name: str | None = None) -> Tensor:
    """The modified Bessel function I1."""
def bessel_i1e(x: _Any, name: str | None = None) -> Tensor:
    """e^-|x| I1(x)."""
def betainc(a: _Any, b: _Any, x: _Any, name: str | None = None) -> Tensor:
    """The incomplete beta function, between 0 and 1."""
def bincount(arr: _Any, weights: _Any = None, minlength: _Any = None, maxlength: _Any = None, dtype: _DTypeLike | None = 'int32', name: str | None = None, axis: _Axis | None = None, binary_output: bool = False) -> Tensor:
    """How often each number occurs."""
def ceil(x: _Any, name: str | None = None) -> Tensor:
    """The smallest integer not below x."""
def confusion_matrix(labels: _Any, predictions: _Any, num_classes: _Any = None, weights: _Any = None, dtype: _DTypeLike | None = 'int32', name: str | None = None) -> Tensor:
    """How often each label was predicted as which."""
def conj(x: _Any, name: str | None = None) -> Tensor:
    """The complex conjugate."""
def cos(x: _Any, name: str | None = None) -> Tensor:
    """The cosine."""
def cosh(x: _Any, name: str | None = None) -> Tensor:
    """The hyperbolic cosine."""
def count_nonzero(input: _Any, axis: _Axis | None = None, keepdims: bool | None = None, dtype: _DTypeLike | None = 'int64', name: str | None = None) -> Tensor:
    """How many elements are not 0."""
def cumprod(x: _Any, axis: _Axis | None = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running products along an axis."""
def cumsum(x: _Any, axis: _Axis | None = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running sums along an axis."""
def cumulative_logsumexp(x: _Any, axis: _Axis | None = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running log-sum-exp along an axis."""
def digamma(x: _Any, name: str | None = None) -> Tensor:
    """The derivative of lgamma."""
def divide(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x / y, as Python 3 divides."""
def divide_no_nan(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where y is 0."""
def equal(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x == y, elementwise."""
def erf(x: _Any, name: str | None = None) -> Tensor:
    """The error function."""
def erfc(x: _Any, name: str | None = None) -> Tensor:
    """1 - erf(x)."""
def erfcinv(x: _Any, name: str | None = None) -> Tensor:
    """The inverse of erfc."""
def erfinv(x: _Any, name: str | None = None) -> Tensor:
    """The inverse of erf."""
def exp(x: _Any, name: str | None = None) -> Tensor:
    """e to the power x."""
def expm1(x: _Any, name: str | None = None) -> Tensor:
    """exp(x) - 1, exact for small x."""
def floor(x: _Any, name: str | None = None) -> Tensor:
    """The largest integer not above x."""
def floordiv(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x // y, rounded down."""
def floormod(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x % y, with the sign of y."""
def greater(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x > y, elementwise."""
def greater_equal(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x >= y, elementwise."""
def igamma(a: _Any, x: _Any, name: str | None = None) -> Tensor:
    """The lower incomplete gamma function over Gamma(a)."""
def igammac(a: _Any, x: _Any, name: str | None = None) -> Tensor:
    """The upper incomplete gamma function over Gamma(a)."""
def imag(input: _Any, name: str | None = None) -> Tensor:
    """The imaginary part."""
def in_top_k(targets: _Any, predictions: _Any, k: _Any, name: str | None = None) -> Tensor:
    """Whether the target is among the k largest predictions."""
def invert_permutation(x: _Any, name: _Any = ...) -> _Any:
    """The permutation that undoes x."""
def is_finite(x: _Any, name: str | None = None) -> Tensor:
    """Where x is neither infinite nor NaN."""
def is_inf(x: _Any, name: str | None = None) -> Tensor:
    """Where x is infinite."""
def is_nan(x: _Any, name: str | None = None) -> Tensor:
    """Where x is not a number."""
def is_non_decreasing(x: _Any, name: _Any = ...) -> _Any:
    """Whether no element is below the one before it."""
def is_strictly_increasing(x: _Any, name: _Any = ...) -> _Any:
    """Whether every element is above the one before it."""
def l2_normalize(x: _Any, axis: _Axis | None = None, epsilon: _Any = 1e-12, name: str | None = None, dim: _Any = None) -> Tensor:
    """x divided by its norm."""
def lbeta(x: _Any, name: _Any = ...) -> _Any:
    """The logarithm of the beta function of the numbers along the last axis."""
def less(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x < y, elementwise."""
def less_equal(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x <= y, elementwise."""
def lgamma(x: _Any, name: str | None = None) -> Tensor:
    """log|Gamma(x)|."""
def log(x: _Any, name: str | None = None) -> Tensor:
    """The natural logarithm."""
def log1p(x: _Any, name: str | None = None) -> Tensor:
    """log(1 + x), exact for small x."""
def log_sigmoid(x: _Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x))."""
def log_softmax(logits: _Any, axis: _Axis | None = None, name: str | None = None) -> Tensor:
    """log(softmax(x))."""
def logical_and(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """Both, elementwise."""
def logical_not(x: _Any, name: str | None = None) -> Tensor:
    """Not x."""
def logical_or(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """Either, elementwise."""
def logical_xor(x: _Any, y: _Any, name: str | None = 'LogicalXor') -> Tensor:
    """One but not both."""
def maximum(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """The larger one, elementwise."""
def minimum(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """The smaller one, elementwise."""
def mod(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x % y, with the sign of y."""
def multiply(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x * y."""
def multiply_no_nan(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x * y, and 0 where y is 0."""
def ndtri(x: _Any, name: str | None = None) -> Tensor:
    """The inverse of the normal distribution function."""
def negative(x: _Any, name: str | None = None) -> Tensor:
    """-x."""
def nextafter(x1: _Any, x2: _Any, name: _Any = ...) -> _Any:
    """The number next to x1 on the way to x2."""
def not_equal(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x != y, elementwise."""
def polygamma(a: _Any, x: _Any, name: str | None = None) -> Tensor:
    """The a-th derivative of digamma."""
def polyval(coeffs: _Any, x: _Any, name: _Any = ...) -> _Any:
    """The polynomial with these coefficients, the highest first, at x."""
def pow(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x to the power y."""
def real(input: _Any, name: str | None = None) -> Tensor:
    """The real part."""
def reciprocal(x: _Any, name: str | None = None) -> Tensor:
    """1 / x."""
def reciprocal_no_nan(x: _Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0."""
def reduce_all(input_tensor: _Any, axis: _Axis | None = None, keepdims: bool | None = False, name: str | None = None) -> Tensor:
    """Whether all are true."""
def reduce_any(input_tensor: _Any, axis: _Axis | None = None, keepdims: bool | None = False, name: str | None = None) -> Tensor:
    """Whether any is true."""
def reduce_euclidean_norm(input_tensor: _Any, axis: _Axis | None = None, keepdims: bool | None = False, name: str | None = None) -> Tensor:
    """The root of the sum of squares."""
def reduce_logsumexp(input_tensor: _Any, axis: _Axis | None = None, keepdims: bool | None = False, name: str | None = None) -> Tensor:
    """log(sum(exp(x))), safe at any scale."""
def reduce_max(input_tensor: _Any, axis: _Axis | None = None, keepdims: bool | None = False, name: str | None = None) -> Tensor:
    """The maximum over axes."""
def reduce_mean(input_tensor: _Any, axis: _Axis | None = None, keepdims: bool | None = False, name: str | None = None) -> Tensor:
    """The mean over axes."""
def reduce_min(input_tensor: _Any, axis: _Axis | None = None, keepdims: bool | None = False, name: str | None = None) -> Tensor:
    """The minimum over axes."""
def reduce_prod(input_tensor: _Any, axis: _Axis | None = None, keepdims: bool | None = False, name: str | None = None) -> Tensor:
    """The product over axes."""
def reduce_std(input_tensor: _Any, axis: _Axis | None = None, keepdims: bool | None = False, name: str | None = None) -> Tensor:
    """The root of the variance."""
def reduce_sum(input_tensor: _Any, axis: _Axis | None = None, keepdims: bool | None = False, name: str | None = None) -> Tensor:
    """The sum over axes."""
def reduce_variance(input_tensor: _Any, axis: _Axis | None = None, keepdims: bool | None = False, name: str | None = None) -> Tensor:
    """The mean squared distance from the mean."""
def rint(x: _Any, name: str | None = None) -> Tensor:
    """The nearest integer, ties to even."""
def round(x: _Any, name: str | None = None) -> Tensor:
    """The nearest integer, ties to even."""
def rsqrt(x: _Any, name: str | None = None) -> Tensor:
    """1 / sqrt(x)."""
def scalar_mul(scalar: _Any, x: _Any, name: _Any = ...) -> _Any:
    """A number times a tensor or IndexedSlices."""
def segment_max(data: _Any, segment_ids: _Any, name: str | None = None) -> Tensor:
    """Maxima of groups of rows."""
def segment_mean(data: _Any, segment_ids: _Any, name: str | None = None) -> Tensor:
    """Means of groups of rows."""
def segment_min(data: _Any, segment_ids: _Any, name: str | None = None) -> Tensor:
    """Minima of groups of rows."""
def segment_prod(data: _Any, segment_ids: _Any, name: str | None = None) -> Tensor:
    """Products of groups of rows."""
def segment_sum(data: _Any, segment_ids: _Any, name: str | None = None) -> Tensor:
    """Sums of groups of rows."""
def sigmoid(x: _Any, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x))."""
def sign(x: _Any, name: str | None = None) -> Tensor:
    """-1, 0 or 1."""
def sin(x: _Any, name: str | None = None) -> Tensor:
    """The sine."""
def sinh(x: _Any, name: str | None = None) -> Tensor:
    """The hyperbolic sine."""
def softmax(logits: _Any, axis: _Axis | None = None, name: str | None = None) -> Tensor:
    """exp(x) / sum(exp(x))."""
def softplus(features: _Any, name: str | None = None) -> Tensor:
    """log(1 + exp(x))."""
def softsign(features: _Any, name: str | None = None) -> Tensor:
    """x / (1 + |x|)."""
def sqrt(x: _Any, name: str | None = None) -> Tensor:
    """The square root."""
def square(x: _Any, name: str | None = None) -> Tensor:
    """x * x."""
def squared_difference(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """(x - y)^2."""
def subtract(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x - y."""
def tan(x: _Any, name: str | None = None) -> Tensor:
    """The tangent."""
def tanh(x: _Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent."""
def top_k(input: _Any, k: _Any = 1, sorted: bool = True, index_type: _DTypeLike | None = 'int32', name: str | None = None) -> _Any:
    """The k largest elements along the last axis and their positions."""
def truediv(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x / y, as Python 3 divides."""
def unsorted_segment_max(data: _Any, segment_ids: _Any, num_segments: _Any, name: str | None = None) -> Tensor:
    """Maxima of groups of rows."""
def unsorted_segment_mean(data: _Any, segment_ids: _Any, num_segments: _Any, name: str | None = None) -> Tensor:
    """Means of groups of rows."""
def unsorted_segment_min(data: _Any, segment_ids: _Any, num_segments: _Any, name: str | None = None) -> Tensor:
    """Minima of groups of rows."""
def unsorted_segment_prod(data: _Any, segment_ids: _Any, num_segments: _Any, name: str | None = None) -> Tensor:
    """Products of groups of rows."""
def unsorted_segment_sqrt_n(data: _Any, segment_ids: _Any, num_segments: _Any, name: str | None = None) -> Tensor:
    """Sums divided by the root of the number of rows."""
def unsorted_segment_sum(data: _Any, segment_ids: _Any, num_segments: _Any, name: str | None = None) -> Tensor:
    """Sums of groups of rows."""
def xdivy(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where x is 0."""
def xlog1py(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x * log(1 + y), and 0 where x is 0."""
def xlogy(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x * log(y), and 0 where x is 0."""
def zero_fraction(value: _Any, name: _Any = ...) -> _Any:
    """Which part of the elements is zero."""
def zeta(x: _Any, q: _Any, name: str | None = None) -> Tensor:
    """The sum of (q + k)^-x over k >= 0."""
