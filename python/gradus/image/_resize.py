"""Images in other sizes: along each axis a product with a sparse matrix of weights.

Its weights are a constant where the sizes are known; otherwise the program computes them.
"""
import functools
import math

import gradus as tf

from .. import _core
from .._effects import check
from .._kinds import size_of
from ._shape import as_images, largest, like, number, pad_to_bounding_box, require, sizes_of, smallest


class ResizeMethod:
    """Names of methods."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _cubic(x, b, c):
    """The cubics of Mitchell and Netravali; b = 0, c = 1/2 is Keys's."""
    x = tf.abs(x)
    near = (12 - 9 * b - 6 * c) * x ** 3 + (-18 + 12 * b + 6 * c) * x ** 2 + 6 - 2 * b
    far = (-b - 6 * c) * x ** 3 + (6 * b + 30 * c) * x ** 2 + (-12 * b - 48 * c) * x + 8 * b + 24 * c
    return tf.where(x < 1, near, tf.where(x < 2, far, 0)) / 6


def _sinc(x):
    angle = math.pi * tf.where(tf.equal(x, 0), 1e-20, x)
    return tf.sin(angle) / angle


def _lanczos(radius):
    return lambda x: tf.where(tf.abs(x) > radius, 0, _sinc(x) * _sinc(x / radius))


_KERNELS = {  # radius and weight at a distance
    "bilinear": (1.0, lambda x: tf.maximum(1 - tf.abs(x), 0)),
    "bicubic": (2.0, lambda x: _cubic(x, 0, 0.5)),
    "mitchellcubic": (2.0, lambda x: _cubic(x, 1 / 3, 1 / 3)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, lambda x: tf.where(tf.abs(x) >= 1.5, 0, tf.exp(-2 * x * x))),
}


# Of each new pixel, the old ones that it is made of and their weights, [target, n] each; some may be 0.

def _scale(size, target):
    return tf.cast(size, tf.float64) / tf.cast(target, tf.float64)


def _steps(count):
    return tf.range(tf.cast(count, tf.float64))


def _inside(places, size, weights):
    """Without what is outside of the image."""
    last = tf.cast(size, places.dtype) - 1
    return tf.clip_by_value(places, 0, last), tf.where((places >= 0) & (places <= last), weights, 0)


def _normed(weights):
    total = tf.reduce_sum(weights, 1, keepdims=True)
    return weights / tf.where(tf.equal(total, 0), 1, total)


def _spread(size, target, method, antialias):
    """Weights of a kernel at the centre of each new pixel, wider by the scale if antialias."""
    radius, kernel = _KERNELS[method]
    scale = _scale(size, target)
    width = tf.maximum(scale, 1) if antialias else tf.ones_like(scale)
    centres = (_steps(target)[:, tf.newaxis] + 0.5) * scale
    places = tf.math.ceil(centres - radius * width - 0.5) + _steps(tf.floor(2 * radius * width) + 1)
    weights = tf.where(places <= tf.floor(centres + radius * width - 0.5), kernel((places + 0.5 - centres) / width), 0)
    places, weights = _inside(places, size, weights)
    return places, _normed(weights)


def _centres(size, target):
    """Where the centres of new pixels lie among those of old ones, in the precision of TensorFlow's kernels."""
    return (tf.range(tf.cast(target, tf.float32)) + 0.5) * tf.cast(_scale(size, target), tf.float32) - 0.5


def _linear(size, target):
    at = _centres(size, target)
    part = tf.cast(at - tf.floor(at), tf.float64)
    places = tf.stack([tf.maximum(tf.floor(at), 0), tf.minimum(tf.math.ceil(at), tf.cast(size, tf.float32) - 1)], 1)
    return places, tf.stack([1 - part, part], 1)


def _cubic_steps(size, target):
    """Keys's cubic at distances in steps of 1/1024, as TensorFlow's table has them."""
    at = _centres(size, target)[:, tf.newaxis]
    around = tf.constant([-1., 0., 1., 2.], tf.float64)
    low = tf.cast(tf.floor(at), tf.float64)
    part = tf.round(tf.cast(at - tf.floor(at), tf.float64) * 1024) / 1024
    places, weights = _inside(low + around, size, _cubic(part - around, 0, 0.5))
    return places, _normed(weights)


def _area(size, target):
    """How much of each old pixel is in a new one."""
    scale = _scale(size, target)
    first = _steps(target)[:, tf.newaxis] * scale
    last = (_steps(target)[:, tf.newaxis] + 1) * scale
    places = tf.floor(first) + _steps(tf.floor(scale) + 2)
    covered = tf.minimum(places + 1, last) - tf.maximum(places, first)
    places, weights = _inside(places, size, tf.where(places < tf.math.ceil(last - 1e-9), covered / scale, 0))
    return places, weights


def _taps(size, target, method, antialias):
    if method == "area":
        found = _area(size, target)
    elif antialias or method not in ("bilinear", "bicubic"):
        found = _spread(size, target, method, antialias)
    else:
        found = _linear(size, target) if method == "bilinear" else _cubic_steps(size, target)
    return tf.cast(found[0], tf.int64), tf.cast(found[1], tf.float32)


@functools.lru_cache(maxsize=256)
def _matrix(size, target, method, antialias):
    """Coordinates and weights of the matrix that makes an axis of `size` pixels one of `target` pixels."""
    with tf.init_scope():
        places, weights = _taps(size, target, method, antialias)
        kept = tf.where(tf.not_equal(weights, 0))
        return tf.stack([kept[:, 0], tf.gather_nd(places, kept)], 1), tf.gather_nd(weights, kept)


def _along(x, size, target, method, antialias):
    """Matrices [n, size, m] with the axis in the middle in another size."""
    if _is_known(size) and _is_known(target):
        coordinates, weights = _matrix(size, target, method, antialias)
        return _core._sparse_matmul(weights, coordinates, x, target, False)
    places, weights = _taps(size, target, method, antialias)
    return tf.reduce_sum(tf.gather(x, places, axis=1) * weights[..., tf.newaxis], 2)


def _is_known(size):
    return isinstance(size, int)


def _nearest(size, target):
    places = tf.floor((tf.range(tf.cast(target, tf.float32)) + 0.5) * tf.cast(_scale(size, target), tf.float32))
    return tf.minimum(tf.cast(places, tf.int64), tf.cast(size, tf.int64) - 1)


def pair(size):
    """The two numbers of a size."""
    if not isinstance(size, (list, tuple)):
        size = tf.reshape(tf.convert_to_tensor(size.as_list() if isinstance(size, tf.TensorShape) else size), [-1])
        size = tf.unstack(size)
    if len(size) != 2:
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return [number(s) for s in size]


def _real(size):
    return float(size) if _is_known(size) else tf.cast(size, tf.float64)


def _floor(x):
    return tf.cast(tf.floor(x), tf.int32) if tf.is_tensor(x) else math.floor(x)


def _round(x):
    return tf.cast(tf.round(x), tf.int32) if tf.is_tensor(x) else round(x)


def _target(size, height, width, preserve_aspect_ratio):
    rows, columns = pair(size)
    if preserve_aspect_ratio:
        factor = smallest(_real(rows) / _real(height), _real(columns) / _real(width))
        rows, columns = _round(factor * _real(height)), _round(factor * _real(width))
    return rows, columns


def positive(first, second, what):
    """Complains of sizes that are not, now or in the run that will know them."""
    def fail(*sizes):
        sizes = " x ".join(str(int(s)) for s in sizes)
        raise tf.errors.InvalidArgumentError(None, None, f"{what}, got {sizes}")
    if _is_known(first) and _is_known(second):
        if first < 1 or second < 1:
            fail(first, second)
    else:
        check((first >= 1) & (second >= 1), fail, [first, second])


def resize(images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False, name=None):
    """Images in another size, float32 unless the method is "nearest".

    Pixels have their centres at halves, as in TensorFlow 2.
    """
    method = str(getattr(method, "value", method)).lower()
    if method not in _KERNELS and method not in ("nearest", "area"):
        raise ValueError(f"Resize method is not implemented: {method}")
    batch, single = as_images(images)
    height, width = sizes_of(batch)
    if _is_known(height) and _is_known(width):  # of others a gather complains
        positive(height, width, "input image must be of non-zero size")
    rows, columns = _target(size, height, width, preserve_aspect_ratio)
    positive(rows, columns, "output dimensions must be positive")
    if method != "nearest":
        batch = tf.cast(batch, tf.float32)
    if all(_is_known(n) for n in (rows, columns, height, width)) and (rows, columns) == (height, width):
        return like(batch, single)
    if method == "nearest":
        batch = tf.gather(tf.gather(batch, _nearest(height, rows), axis=1), _nearest(width, columns), axis=2)
        return like(batch, single)
    count, channels = size_of(batch, 0), size_of(batch, 3)
    batch = _along(tf.reshape(batch, [count, height, width * channels]), height, rows, method, antialias)
    batch = _along(tf.reshape(batch, [count * rows, width, channels]), width, columns, method, antialias)
    return like(tf.reshape(batch, [count, rows, columns, channels]), single)


def resize_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False):
    """As large as fits, in the middle of zeros."""
    batch, single = as_images(image)
    target = number(target_height), number(target_width)
    require(target[0] > 0, "target_height must be > 0.")
    require(target[1] > 0, "target_width must be > 0.")
    ratio = largest(*(_real(size) / _real(to) for size, to in zip(sizes_of(batch), target)))
    inner = [_real(size) / ratio for size in sizes_of(batch)]
    above = [largest(_floor((_real(to) - size) / 2), 0) for size, to in zip(inner, target)]
    resized = resize(batch, [_floor(size) for size in inner], method, antialias=antialias)
    return like(pad_to_bounding_box(resized, *above, *target), single)
