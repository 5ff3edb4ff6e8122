"""Functions of NumPy that programs rarely use."""
import math

import gradus as tf

from .._state import floatx as _floatx
from . import _creation, _elementwise, _reductions, _shapes
from ._op import floating as _floating
from ._op import op as _op
from ._op import tensor as _tensor
from ._op import together as _together


@_op
def fabs(x):
    """|x| of floats."""
    return tf.abs(_floating(x))


@_op
def cbrt(x):
    """The cube root."""
    x = _floating(x)
    return tf.sign(x) * tf.pow(tf.abs(x), 1.0 / 3.0)


def _but_nan(function, x1, x2):
    x1, x2 = map(_tensor, _together(x1, x2))
    if not x1.dtype.is_floating:
        return function(x1, x2)
    return tf.where(tf.math.is_nan(x1), x2, tf.where(tf.math.is_nan(x2), x1, function(x1, x2)))


@_op
def fmax(x1, x2):
    """The larger one, and the other where one is NaN."""
    return _but_nan(tf.maximum, x1, x2)


@_op
def fmin(x1, x2):
    """The smaller one, and the other where one is NaN."""
    return _but_nan(tf.minimum, x1, x2)


@_op
def heaviside(x1, x2):
    """0 below 0, 1 above, x2 at 0."""
    x1, x2 = map(_floating, _together(x1, x2))
    return tf.where(tf.equal(x1, 0.0), x2, tf.cast(x1 > 0, x1.dtype))


@_op
def logaddexp2(x1, x2):
    """log2(2^x1 + 2^x2)."""
    two = math.log(2)
    x1, x2 = map(_floating, _together(x1, x2))
    return _elementwise.logaddexp(x1 * two, x2 * two) / two


@_op
def sinc(x):
    """sin(pi x) / (pi x), and 1 at 0."""
    x = _floating(x) * math.pi
    safe = tf.where(tf.equal(x, 0.0), tf.ones_like(x), x)
    return tf.where(tf.equal(x, 0.0), tf.ones_like(x), tf.sin(safe) / safe)


@_op
def isposinf(x):
    """Whether elements are infinite and positive."""
    x = _floating(x)
    return tf.logical_and(tf.math.is_inf(x), x > 0)


@_op
def isneginf(x):
    """Whether elements are infinite and negative."""
    x = _floating(x)
    return tf.logical_and(tf.math.is_inf(x), x < 0)


@_op
def isin(x1, x2, assume_unique=False, invert=False):
    """Whether elements are among others."""
    x1, x2 = _together(x1, x2)
    found = tf.reduce_any(tf.equal(tf.expand_dims(x1, -1), tf.reshape(x2, [-1])), -1)
    return tf.logical_not(found) if invert else found


@_op
def bitwise_not(x):
    """All bits turned."""
    return tf.bitwise.invert(_tensor(x))


bitwise_invert = bitwise_not


@_op
def ptp(x, axis=None, keepdims=False):
    """The largest minus the smallest element."""
    return _reductions.max(x, axis, keepdims) - _reductions.min(x, axis, keepdims)


@_op
def percentile(x, q, axis=None, method="linear", keepdims=False):
    """The element below which q percent lie."""
    q = [v / 100.0 for v in q] if isinstance(q, (list, tuple)) else q / 100.0
    return _reductions.quantile(x, q, axis, method, keepdims)


def _without_nan(x, value):
    x = _tensor(x)
    return tf.where(tf.math.is_nan(x), tf.cast(value, x.dtype), x) if x.dtype.is_floating else x


def _counted(x, axis, keepdims):
    x = _floating(x)
    return tf.reduce_sum(tf.cast(tf.logical_not(tf.math.is_nan(x)), x.dtype), axis, keepdims=keepdims)


@_op
def nansum(x, axis=None, keepdims=False):
    """The sum without NaN."""
    return _reductions.sum(_without_nan(x, 0), axis, keepdims)


@_op
def nanprod(x, axis=None, keepdims=False):
    """The product without NaN."""
    return _reductions.prod(_without_nan(x, 1), axis, keepdims)


@_op
def nanmax(x, axis=None, keepdims=False):
    """The largest without NaN."""
    return _reductions.max(_without_nan(x, -math.inf), axis, keepdims)


@_op
def nanmin(x, axis=None, keepdims=False):
    """The smallest without NaN."""
    return _reductions.min(_without_nan(x, math.inf), axis, keepdims)


@_op
def nanmean(x, axis=None, keepdims=False):
    """The mean without NaN."""
    return _reductions.sum(_floating(_without_nan(x, 0)), axis, keepdims) / _counted(x, axis, keepdims)


@_op
def nanvar(x, axis=None, keepdims=False):
    """The variance without NaN."""
    x = _floating(x)
    apart = _without_nan(x - nanmean(x, axis, True), 0)
    return tf.reduce_sum(tf.square(apart), axis, keepdims=keepdims) / _counted(x, axis, keepdims)


@_op
def nanstd(x, axis=None, keepdims=False):
    """The deviation without NaN."""
    return tf.sqrt(nanvar(x, axis, keepdims))


@_op
def fliplr(x):
    """The second axis backwards."""
    return tf.reverse(_tensor(x), [1])


@_op
def flipud(x):
    """The first axis backwards."""
    return tf.reverse(_tensor(x), [0])


@_op
def rot90(array, k=1, axes=(0, 1)):
    """Quarter turns in the plane of two axes."""
    x, (a, b) = _tensor(array), axes
    if k % 4 == 2:
        return tf.reverse(x, [a % len(x.shape), b % len(x.shape)])
    if k % 4 == 1:
        return tf.reverse(_shapes.swapaxes(x, a, b), [a % len(x.shape)])
    return x if k % 4 == 0 else tf.reverse(_shapes.swapaxes(x, a, b), [b % len(x.shape)])


@_op
def array_split(x, indices_or_sections, axis=0):
    """Parts along an axis, nearly equal ones."""
    if not isinstance(indices_or_sections, int):
        return _shapes.split(x, indices_or_sections, axis)
    size, parts = x.shape[axis], indices_or_sections
    return tf.split(_tensor(x), [size // parts + (i < size % parts) for i in range(parts)], axis)


@_op
def hsplit(x, indices_or_sections):
    """Parts along the second axis."""
    return _shapes.split(x, indices_or_sections, 0 if len(x.shape) == 1 else 1)


@_op
def vsplit(x, indices_or_sections):
    """Parts along the first axis."""
    return _shapes.split(x, indices_or_sections, 0)


@_op
def dstack(xs):
    """Tensors behind each other along the third axis."""
    return tf.concat([tf.reshape(x, [1, -1, 1]) if len(x.shape) < 2 else x[..., None] if len(x.shape) == 2 else x
                      for x in _together(*xs)], 2)


@_op
def diagflat(x, k=0):
    """A matrix with these elements on a diagonal."""
    return tf.linalg.diag(tf.reshape(_tensor(x), [-1]), k=k)


@_op
def kron(x1, x2):
    """The Kronecker product of matrices."""
    x1, x2 = _together(x1, x2)
    (a, b), (c, d) = x1.shape, x2.shape
    return tf.reshape(x1[:, None, :, None] * x2[None, :, None, :], [a * c, b * d])


@_op
def vander(x, N=None, increasing=False):  # noqa: N803
    """Powers of the elements as columns."""
    x = _tensor(x)
    powers = tf.range(x.shape[0] if N is None else N, dtype=x.dtype)
    out = tf.pow(x[:, None], powers[None, :])
    return out if increasing else tf.reverse(out, [1])


@_op
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral by the trapezoidal rule."""
    y = _shapes.moveaxis(_floating(y), axis, -1)
    width = dx if x is None else _reductions.diff(_floating(x))
    return tf.reduce_sum(width * (y[..., 1:] + y[..., :-1]) / 2, -1)


@_op
def select(condlist, choicelist, default=0):
    """The first choice whose condition holds."""
    out = _together(choicelist[0], default)[1]
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        out = _shapes.where(condition, choice, out)
    return out


def logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0):
    """Powers of a base whose exponents are evenly spaced."""
    exponents = _creation.linspace(start, stop, num, endpoint, axis=axis)
    values = tf.pow(tf.cast(base, exponents.dtype), exponents)
    return values if dtype is None else tf.cast(values, dtype)


def _window(x, *terms):
    n = int(x)
    if n < 2:
        return tf.ones([max(n, 0)], _floatx())
    angle = tf.range(n, dtype=_floatx()) * (2 * math.pi / (n - 1))
    return sum((a * tf.cos(i * angle) for i, a in enumerate(terms)), tf.zeros([n], _floatx()))


def hanning(x):
    """The Hann window."""
    return _window(x, 0.5, -0.5)


def hamming(x):
    """The Hamming window."""
    return _window(x, 0.54, -0.46)


def blackman(x):
    """The Blackman window."""
    return _window(x, 0.42, -0.5, 0.08)


def bartlett(x):
    """The triangular window."""
    n = int(x)
    if n < 2:
        return tf.ones([max(n, 0)], _floatx())
    return 1 - tf.abs(tf.range(n, dtype=_floatx()) * (2 / (n - 1)) - 1)


@_op
def psnr(x1, x2, max_val):
    """The ratio of peak to noise, in decibels."""
    x1, x2 = map(_floating, _together(x1, x2))
    return 20 * _elementwise.log10(tf.cast(max_val, x1.dtype)) - 10 * _elementwise.log10(tf.reduce_mean(tf.square(x1 - x2)))


@_op
def cdist(x, y):
    """Distances between all rows of two matrices."""
    x, y = map(_floating, _together(x, y))
    return tf.math.reduce_euclidean_norm(x[..., :, None, :] - y[..., None, :, :], -1)


def unravel_index(indices, shape):
    """Flat positions as coordinates."""
    indices, out = _tensor(indices), []
    for n in reversed(shape):
        out.append(tf.math.floormod(indices, n))
        indices = tf.math.floordiv(indices, n)
    return tuple(reversed(out))


def jvp(fun, primals, tangents, has_aux=False):
    """Values and directional derivatives of a function; has_aux: it gives (values, what is handed through)."""
    if not has_aux:
        return tf.jvp(fun, primals, tangents)
    aux = []

    def main(*args):
        values, extra = fun(*args)
        aux.append(extra)
        return values
    return (*tf.jvp(main, primals, tangents), tf.nest.map_structure(tf.stop_gradient, aux[0]))


# ------------------------------------------------------------------ without NaN, continued


@_op
def nancumsum(x, axis=None, dtype=None):
    """Sums of the elements so far, NaN being 0."""
    return _reductions.cumsum(_without_nan(x, 0), axis, dtype)


@_op
def nancumprod(x, axis=None, dtype=None):
    """Products of the elements so far, NaN being 1."""
    return _reductions.cumprod(_without_nan(x, 1), axis, dtype)


def _place_without_nan(place, filling, x, axis, keepdims):
    found = place(_without_nan(x, filling), axis, keepdims)
    alone = _reductions.all(tf.math.is_nan(_floating(x)), axis, keepdims)
    return tf.where(alone, -1, found)


@_op
def nanargmax(x, axis=None, keepdims=False):
    """Where the largest element is, and -1 where all are NaN."""
    return _place_without_nan(_reductions.argmax, -math.inf, x, axis, keepdims)


@_op
def nanargmin(x, axis=None, keepdims=False):
    """Where the smallest element is, and -1 where all are NaN."""
    return _place_without_nan(_reductions.argmin, math.inf, x, axis, keepdims)


@_op
def nanquantile(x, q, axis=None, method="linear", keepdims=False):
    """The element below which a part q lies, of those that are not NaN."""
    x = _floating(x)
    rank = len(x.shape)
    axes = list(range(rank)) if axis is None else [a % rank for a in ([axis] if isinstance(axis, int) else axis)]
    others = [i for i in range(rank) if i not in axes]
    y = tf.reshape(tf.transpose(x, others + axes), [*(x.shape[i] for i in others), -1])
    y = tf.sort(_without_nan(y, math.inf))
    last = _counted(tf.where(tf.math.is_inf(y), math.nan, y), -1, False) - 1.0
    parts, is_one = _reductions.parts_of(q)
    results = []
    for part in parts:
        at = tf.cast(part, last.dtype) * last if tf.is_tensor(part) else part * last
        low, high, upper = _reductions.between(at, tf.math.floor(at), tf.math.ceil(at), method)
        ends = tf.cast(tf.maximum(tf.stack([low, high], -1), 0.0), "int32")
        pair = tf.gather(y, ends, axis=-1, batch_dims=len(others))
        value = tf.where(high > low, pair[..., 0] * (1.0 - upper) + pair[..., 1] * upper, pair[..., 0])
        value = tf.where(last < 0.0, math.nan, value)
        results.append(tf.reshape(value, [1 if i in axes else x.shape[i] for i in range(rank)]) if keepdims else value)
    return results[0] if is_one else tf.stack(results)


@_op
def nanpercentile(x, q, axis=None, method="linear", keepdims=False):
    """The element below which q percent lie, of those that are not NaN."""
    q = [v / 100.0 for v in q] if isinstance(q, (list, tuple)) else q / 100.0
    return nanquantile(x, q, axis, method, keepdims)


@_op
def nanmedian(x, axis=None, keepdims=False):
    """The middle element of those that are not NaN."""
    return nanquantile(x, 0.5, axis, keepdims=keepdims)


# ------------------------------------------------------------------ numbers and bits


@_op
def gcd(x1, x2):
    """The greatest common divisor."""
    a, b = (tf.abs(x) for x in _together(x1, x2))
    shape = tf.broadcast_dynamic_shape(tf.shape(a), tf.shape(b))
    return tf.while_loop(lambda a, b: tf.reduce_any(b != 0),
                         lambda a, b: (tf.where(b == 0, a, b), tf.where(b == 0, b, a % tf.where(b == 0, 1, b))),
                         (tf.broadcast_to(a, shape), tf.broadcast_to(b, shape)))[0]


@_op
def lcm(x1, x2):
    """The least common multiple."""
    x1, x2 = _together(x1, x2)
    common = gcd(x1, x2)
    return tf.where(common == 0, 0, tf.abs(x1 // tf.where(common == 0, 1, common) * x2))


@_op
def ldexp(x1, x2):
    """x1 2^x2."""
    x1 = _floating(x1)
    return x1 * tf.pow(tf.cast(2.0, x1.dtype), tf.cast(x2, x1.dtype))


@_op
def signbit(x):
    """Whether the sign is minus, also of -0."""
    x = _tensor(x)
    if not x.dtype.is_floating:
        return x < 0 if x.dtype.is_integer else tf.zeros_like(x, "bool")
    bits = tf.bitcast(tf.cast(x, "float32") if x.dtype != "float64" else x, "int64" if x.dtype == "float64" else "int32")
    return bits < 0


@_op
def nextafter(x1, x2):
    """The next number after x1 on the way to x2."""
    x1, x2 = map(_floating, _together(x1, x2))
    bits = tf.bitcast(x1, "int64" if x1.dtype == "float64" else "int32")
    away = tf.equal(x2 > x1, x1 > 0)
    moved = tf.bitcast(tf.where(away, bits + 1, bits - 1), x1.dtype)
    least = tf.bitcast(tf.ones_like(bits), x1.dtype)
    moved = tf.where(x1 == 0, tf.where(x2 > 0, least, -least), moved)
    return tf.where(tf.math.is_nan(x1) | tf.math.is_nan(x2), math.nan, tf.where(x1 == x2, x2, moved))


@_op
def isreal(x):
    """Whether elements have no imaginary part."""
    x = _tensor(x)
    return tf.equal(tf.math.imag(x), 0.0) if x.dtype.is_complex else tf.ones_like(x, "bool")


@_op
def polar(abs_, angle):
    """Complex numbers of these lengths and angles."""
    size, angle = map(_floating, _together(abs_, angle))
    return tf.complex(size * tf.cos(angle), size * tf.sin(angle))


@_op
def view_as_complex(x):
    """Pairs along the last axis as complex numbers."""
    x = _tensor(x)
    return tf.complex(x[..., 0], x[..., 1])


@_op
def view_as_real(x):
    """Complex numbers as pairs along a new last axis."""
    x = _tensor(x)
    return tf.stack([tf.math.real(x), tf.math.imag(x)], -1)


@_op
def i0(x):
    """The modified Bessel function of order 0."""
    x = tf.abs(_floating(x))
    small, large = tf.square(tf.minimum(x, 3.75) / 3.75), 3.75 / tf.maximum(x, 3.75)
    below = _polynomial((1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813), small)
    above = _polynomial((0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633,
                         0.00392377), large)
    return tf.where(x < 3.75, below, tf.exp(x) / tf.sqrt(tf.maximum(x, 3.75)) * above)


def _polynomial(coefficients, x):
    total = tf.zeros_like(x) + coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total


@_op
def kaiser(x, beta):
    """Kaiser's window of x points."""
    return tf.signal.kaiser_window(int(x), beta, _floatx())


# ------------------------------------------------------------------ parts, orders, counts


@_op
def dsplit(x, indices_or_sections):
    """Parts along the third axis."""
    return _shapes.split(x, indices_or_sections, 2)


@_op
def argpartition(x, kth, axis=-1):
    """An order in which the k smallest come first."""
    x = _tensor(x)
    return tf.cast(tf.argsort(x, axis=axis, stable=True), "int32")


@_op
def unique(x, sorted=True, return_index=False, return_inverse=False, return_counts=False, axis=None, size=None,  # noqa: A002
           fill_value=None):
    """The different elements in order; with the place of the first of each, the number of each element, and counts."""
    x = _tensor(x)
    lines = tf.reshape(x, [-1]) if axis is None else _shapes.moveaxis(x, axis, 0)
    rows = tf.reshape(lines, [lines.shape[0], -1])
    order = tf.range(rows.shape[0])
    for column in reversed(range(rows.shape[1])):  # by the first element, then the second, ...
        order = tf.gather(order, tf.argsort(tf.gather(rows[:, column], order), stable=True))
    ordered = tf.gather(rows, order)
    is_new = tf.concat([[True], tf.reduce_any(ordered[1:] != ordered[:-1], 1)], 0)[:rows.shape[0]]
    numbers = tf.cumsum(tf.cast(is_new, "int32")) - 1
    starts = tf.reshape(tf.where(is_new), [-1])
    first = tf.cast(tf.gather(order, starts), "int32")
    counts = tf.math.unsorted_segment_sum(tf.ones_like(numbers), numbers, starts.shape[0])
    inverse = tf.gather(numbers, tf.argsort(order, stable=True))
    if not sorted:  # as they come
        come = tf.argsort(first, stable=True)
        first, counts, inverse = tf.gather(first, come), tf.gather(counts, come), tf.gather(tf.argsort(come), inverse)
    values = tf.gather(lines, first)
    inverse = tf.reshape(inverse, tf.shape(x)) if axis is None else inverse
    if size is not None:
        missing = max(0, size - values.shape[0])
        filling = values[:1] if fill_value is None else tf.fill([1, *values.shape[1:]], tf.cast(fill_value, values.dtype))
        values = tf.concat([values[:size], tf.repeat(filling, missing, axis=0)], 0)
        first, counts = tf.pad(first[:size], [[0, missing]]), tf.pad(counts[:size], [[0, missing]])
    values = values if axis is None else _shapes.moveaxis(values, 0, axis)
    results = [values] + [part for part, wanted in ((first, return_index), (inverse, return_inverse),
                                                    (counts, return_counts)) if wanted]
    return results[0] if len(results) == 1 else tuple(results)


@_op
def histogram(x, bins=10, range=None):  # noqa: A002
    """(counts, edges) of equal bins."""
    x = _floating(x)
    low, high = (tf.reduce_min(x), tf.reduce_max(x)) if range is None else (tf.cast(v, x.dtype) for v in range)
    low, high = tf.where(low == high, low - 0.5, low), tf.where(low == high, high + 0.5, high)
    edges = low + (high - low) * tf.cast(tf.range(bins + 1), x.dtype) / bins
    flat = tf.reshape(x, [-1])
    at = tf.clip_by_value(tf.searchsorted(edges, flat, side="right") - 1, 0, bins - 1)
    inside = tf.cast((flat >= low) & (flat <= high), x.dtype)
    return tf.math.unsorted_segment_sum(inside, at, bins), edges


@_op
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers between two with a constant ratio."""
    start, stop = map(_floating, _together(start, stop))
    made = tf.exp(_creation.linspace(tf.math.log(tf.abs(start)), tf.math.log(tf.abs(stop)), num, endpoint, axis=axis))
    made = tf.sign(start) * made
    return made if dtype is None else tf.cast(made, dtype)


@_op
def corrcoef(x):
    """The correlations of rows."""
    x = _floating(x)
    x = tf.expand_dims(x, 0) if len(x.shape) == 1 else x
    apart = x - tf.reduce_mean(x, -1, keepdims=True)
    together = tf.matmul(apart, apart, transpose_b=True)
    length = tf.sqrt(tf.linalg.diag_part(together))
    return tf.squeeze(together / (length[:, None] * length[None, :]))


@_op
def correlate(x1, x2, mode="valid"):
    """Sums of products of two sequences, one moved along the other."""
    x1, x2 = map(_floating, _together(x1, x2))
    n, m = x1.shape[0], x2.shape[0]
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"mode must be 'valid', 'same' or 'full'. Received: mode={mode}")
    full = tf.stack([tf.reduce_sum(tf.pad(x1, [[m - 1, m - 1]])[i:i + m] * x2) for i in range(n + m - 1)])
    if mode == "full":
        return full
    size = max(n, m) if mode == "same" else max(n, m) - min(n, m) + 1
    first = (n + m - 1 - size) // 2 if mode == "same" else min(n, m) - 1
    return full[first:first + size]


def vectorize(pyfunc, *, excluded=None, signature=None):
    """The function of single elements as one of tensors."""
    if excluded or signature:
        raise NotImplementedError("vectorize with excluded or signature is not covered: use keras.ops.vectorized_map")

    def run(*args):
        args = _together(*map(_tensor, args))
        shape = tf.shape(sum(tf.zeros_like(a) for a in args))
        flat = [tf.reshape(tf.broadcast_to(a, shape), [-1]) for a in args]
        return tf.reshape(tf.vectorized_map(lambda each: pyfunc(*each), tuple(flat)), shape)
    return run


@_op
def view(x, dtype=None):
    """The same bytes as elements of another dtype."""
    x = _tensor(x)
    if dtype is None:
        return x
    old, new = x.dtype.size, tf.as_dtype(dtype).size
    if old == new:
        return tf.bitcast(x, dtype)
    *outer, last = x.shape
    if last * old % new:
        raise ValueError(f"Cannot view {tuple(x.shape)} of {x.dtype.name} as {dtype}: the last axis has {last * old} bytes")
    if new > old:
        x = tf.reshape(x, [*outer, last * old // new, new // old])
    return tf.reshape(tf.bitcast(x, dtype), [*outer, last * old // new])
