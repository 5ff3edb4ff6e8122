"""Images in other sizes: along each axis a product with a sparse matrix of weights."""
import functools
import math

import numpy as np

import gradus as tf

from .. import _core
from .._strings import numbers_of
from ._shape import as_images, like, pad_to_bounding_box, sizes_of


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
    x = np.abs(x)
    near = (12 - 9 * b - 6 * c) * x ** 3 + (-18 + 12 * b + 6 * c) * x ** 2 + 6 - 2 * b
    far = (-b - 6 * c) * x ** 3 + (6 * b + 30 * c) * x ** 2 + (-12 * b - 48 * c) * x + 8 * b + 24 * c
    return np.where(x < 1, near, np.where(x < 2, far, 0)) / 6


def _lanczos(radius):
    return lambda x: np.where(np.abs(x) > radius, 0.0, np.sinc(x) * np.sinc(x / radius))


_KERNELS = {  # radius and weight at a distance
    "bilinear": (1.0, lambda x: np.maximum(0, 1 - np.abs(x))),
    "bicubic": (2.0, lambda x: _cubic(x, 0, 0.5)),
    "mitchellcubic": (2.0, lambda x: _cubic(x, 1 / 3, 1 / 3)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, lambda x: np.where(np.abs(x) >= 1.5, 0.0, np.exp(-2.0 * x * x))),
}


def _spread(size, target, method, antialias):
    """Weights of a kernel at the centre of each new pixel, wider by the scale if antialias: (rows, columns, weights)."""
    radius, kernel = _KERNELS[method]
    scale = size / target
    width = max(scale, 1.0) if antialias else 1.0
    rows, columns, weights = [], [], []
    for i in range(target):
        centre = (i + 0.5) * scale
        first = max(0, math.ceil(centre - radius * width - 0.5))
        last = min(size - 1, math.floor(centre + radius * width - 0.5))
        places = np.arange(first, last + 1)
        values = kernel((places + 0.5 - centre) / width)
        total = values.sum()
        rows.append(np.full(len(places), i))
        columns.append(places)
        weights.append(values / total if total else values)
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(weights)


def _linear(size, target):
    at = (np.arange(target, dtype=np.float32) + np.float32(0.5)) * np.float32(size / target) - np.float32(0.5)
    low = np.floor(at)
    part = (at - low).astype(np.float64)
    columns = np.stack([np.maximum(low, 0), np.minimum(np.ceil(at), size - 1)], 1).astype(np.int64)
    return np.repeat(np.arange(target), 2), columns.reshape(-1), np.stack([1 - part, part], 1).reshape(-1)


def _cubic_steps(size, target):
    """Keys's cubic at distances in steps of 1/1024, as TensorFlow's table has them."""
    at = (np.arange(target, dtype=np.float32) + np.float32(0.5)) * np.float32(size / target) - np.float32(0.5)
    low = np.floor(at).astype(np.int64)
    part = np.rint((at - low) * 1024) / 1024
    columns = low[:, None] + np.arange(-1, 3)
    weights = _cubic(part[:, None] - np.arange(-1, 3), 0, 0.5)
    weights = np.where((columns >= 0) & (columns < size), weights, 0)
    weights = weights / weights.sum(1, keepdims=True)
    return (np.repeat(np.arange(target), 4), np.clip(columns, 0, size - 1).reshape(-1), weights.reshape(-1))


def _area(size, target):
    """How much of each old pixel is in a new one."""
    scale = size / target
    rows, columns, weights = [], [], []
    for i in range(target):
        first, last = i * scale, (i + 1) * scale
        places = np.arange(math.floor(first), min(math.ceil(last - 1e-9), size))
        covered = np.minimum(places + 1, last) - np.maximum(places, first)
        rows.append(np.full(len(places), i))
        columns.append(places)
        weights.append(covered / scale)
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(weights)


@functools.lru_cache(maxsize=256)
def _matrix(size, target, method, antialias):
    """Coordinates and weights of the matrix that makes an axis of `size` pixels one of `target` pixels."""
    if method == "area":
        found = _area(size, target)
    elif antialias or method not in ("bilinear", "bicubic"):
        found = _spread(size, target, method, antialias)
    else:
        found = _linear(size, target) if method == "bilinear" else _cubic_steps(size, target)
    return np.stack(found[:2], 1).astype(np.int64), found[2].astype(np.float32)


def _along(x, size, target, method, antialias):
    """Matrices [..., size, n] with the axis before the last in another size."""
    coordinates, weights = _matrix(size, target, method, antialias)
    return _core._sparse_matmul(tf.constant(weights), tf.constant(coordinates), x, target, False)


def _nearest(size, target):
    places = np.floor((np.arange(target, dtype=np.float32) + np.float32(0.5)) * np.float32(size / target))
    return np.minimum(places, size - 1).astype(np.int64)


def _target(size, height, width, preserve_aspect_ratio):
    if isinstance(size, (list, tuple)):
        size = [int(numbers_of(s)) for s in size]
    else:
        size = [int(s) for s in numbers_of(size).reshape(-1)]
    if len(size) != 2:
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if preserve_aspect_ratio:
        factor = min(size[0] / height, size[1] / width)
        size = [int(round(factor * height)), int(round(factor * width))]
    return size


def resize(images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False, name=None):
    """Images in another size, float32 unless the method is "nearest".

    Pixels have their centres at halves, as in TensorFlow 2.
    """
    method = str(getattr(method, "value", method)).lower()
    if method not in _KERNELS and method not in ("nearest", "area"):
        raise ValueError(f"Resize method is not implemented: {method}")
    batch, single = as_images(images)
    height, width = sizes_of(batch)
    if height < 1 or width < 1:
        raise tf.errors.InvalidArgumentError(None, None, f"input image must be of non-zero size, got {height} x {width}")
    rows, columns = _target(size, height, width, preserve_aspect_ratio)
    if rows < 1 or columns < 1:
        raise tf.errors.InvalidArgumentError(None, None, f"output dimensions must be positive, got {rows} x {columns}")
    if (rows, columns) == (height, width):
        return like(batch if method == "nearest" else tf.cast(batch, tf.float32), single)
    if method == "nearest":
        batch = tf.gather(tf.gather(batch, _nearest(height, rows), axis=1), _nearest(width, columns), axis=2)
        return like(batch, single)
    channels = batch.shape[3]
    batch = tf.cast(batch, tf.float32)
    batch = _along(tf.reshape(batch, [-1, height, width * channels]), height, rows, method, antialias)
    batch = _along(tf.reshape(batch, [-1, width, channels]), width, columns, method, antialias)
    batch = tf.reshape(batch, [-1, rows, columns, channels])
    return like(batch, single)


def resize_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False):
    """As large as fits, in the middle of zeros."""
    batch, single = as_images(image)
    height, width = sizes_of(batch)
    rows, columns = int(numbers_of(target_height)), int(numbers_of(target_width))
    if rows <= 0 or columns <= 0:
        raise ValueError("target_height and target_width must be > 0.")
    ratio = max(width / columns, height / rows)
    inner = math.floor(height / ratio), math.floor(width / ratio)
    above = max(0, math.floor((rows - height / ratio) / 2)), max(0, math.floor((columns - width / ratio) / 2))
    resized = resize(batch, inner, method, antialias=antialias)
    return like(pad_to_bounding_box(resized, *above, rows, columns), single)
