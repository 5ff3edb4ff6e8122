"""Random changes of images in training: rotation, zoom, translation, crop, contrast, brightness."""
import math

import numpy as np

from ... import _core
from .. import random as _random
from ._common import Layer, data_format_of, tf
from .convolution import to_channels_first, to_channels_last


def affine_transform(images, transform, interpolation="bilinear", fill_mode="constant", fill_value=0.0):
    """Each pixel (x, y) of images [n, h, w, c] from ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with
    k = c0 x + c1 y + 1, for rows (a0, a1, a2, b0, b1, b2, c0, c1) of transform."""
    h, w, c = images.shape[1:]
    y, x = (tf.constant(v.reshape(1, -1), images.dtype) for v in np.mgrid[0:h, 0:w].astype("float64"))
    a0, a1, a2, b0, b1, b2, c0, c1 = tf.split(tf.cast(transform, images.dtype), 8, 1)
    k = c0 * x + c1 * y + 1.0
    at_x, at_y = (a0 * x + a1 * y + a2) / k, (b0 * x + b1 * y + b2) / k
    flat = tf.reshape(images, [-1, h * w, c])

    def pixels(rows, columns):
        inside = tf.logical_and(tf.logical_and(rows >= 0, rows <= h - 1), tf.logical_and(columns >= 0,
                                                                                         columns <= w - 1))
        rows, columns = tf.clip_by_value(rows, 0, h - 1), tf.clip_by_value(columns, 0, w - 1)
        found = tf.gather(flat, rows * w + columns, axis=1, batch_dims=1)
        if fill_mode != "constant":
            return found
        return tf.where(tf.expand_dims(inside, -1), found, tf.cast(fill_value, found.dtype))

    at_x, at_y = _folded(at_x, w, fill_mode), _folded(at_y, h, fill_mode)
    if interpolation == "nearest":
        out = pixels(_nearest(at_y), _nearest(at_x))
        return tf.reshape(out, [-1, h, w, c])
    low_x, low_y = tf.floor(at_x), tf.floor(at_y)
    right, down = tf.expand_dims(at_x - low_x, -1), tf.expand_dims(at_y - low_y, -1)
    x0, y0 = tf.cast(low_x, "int32"), tf.cast(low_y, "int32")
    x1, y1 = x0 + 1, y0 + 1
    above = pixels(y0, x0) * (1 - right) + pixels(y0, x1) * right
    below = pixels(y1, x0) * (1 - right) + pixels(y1, x1) * right
    return tf.reshape(above * (1 - down) + below * down, [-1, h, w, c])


def _nearest(at):
    """The nearest integer, halves away from 0."""
    return tf.cast(tf.sign(at) * tf.floor(tf.abs(at) + 0.5), "int32")


def _folded(at, size, mode):
    """Positions outside brought inside by the fill mode; 'constant' leaves them."""
    if mode == "nearest":
        return tf.clip_by_value(at, 0.0, float(size - 1))
    if mode == "wrap":
        span = float(max(size - 1, 1))
        below, above = at + size * (tf.floor(-at / span) + 1.0), at - size * tf.floor(at / span)
        at = tf.where(at < 0.0, below, tf.where(at > span, above, at))
        return tf.clip_by_value(at, 0.0, float(size - 1))
    if mode == "reflect":  # edges count twice: d c b a | a b c d | d c b a
        at = tf.math.floormod(at, 2.0 * size)
        return tf.clip_by_value(tf.where(at >= size, 2.0 * size - 1.0 - at, at), 0.0, float(size - 1))
    return at


class _Augmentation(Layer):
    """A layer that changes each image of a batch in training."""

    def __init__(self, seed=None, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.seed, self.data_format = seed, data_format_of(data_format)
        self.seed_generator = _random.SeedGenerator(seed)

    def call(self, inputs, training=True):
        x = tf.cast(inputs, self.compute_dtype)
        if not training:
            return self._untrained(x)
        alone, first = len(x.shape) == 3, self.data_format == "channels_first"
        x = tf.expand_dims(x, 0) if alone else x
        x = to_channels_last(x) if first else x
        x = self._changed(x)
        x = to_channels_first(x) if first else x
        return tf.squeeze(x, 0) if alone else x

    def _untrained(self, x):
        return x

    def _drawn(self, x, low, high):
        column = tf.cast(x[:, 0, 0, :1], "float32")  # one number for each image
        return _core._noise_like(column, self.seed_generator.next(), "uniform", low, high)

    def compute_output_shape(self, input_shape):
        return input_shape

    def _geometry_config(self):
        return {"data_format": self.data_format, "fill_mode": self.fill_mode, "fill_value": self.fill_value,
                "interpolation": self.interpolation, "seed": self.seed}


def _bounds(factor, name, low=-1.0):
    """(lower, upper) of one number or two."""
    if isinstance(factor, (tuple, list)):
        lower, upper = factor
    else:
        lower, upper = (-factor, factor) if low < 0 else (0, factor)
    if upper < lower:
        raise ValueError(f"`{name}` should have its lower bound first. Received: {name}={factor}")
    return [lower, upper]


def _rows(*columns):
    """Columns [n, 1] as the rows of a transform."""
    zero = tf.zeros_like(next(c for c in columns if not isinstance(c, (int, float))))
    return tf.concat([c if not isinstance(c, (int, float)) else zero + float(c) for c in columns], 1)


class RandomRotation(_Augmentation):
    """Rotation by a part of a full turn between two factors."""

    def __init__(self, factor, fill_mode="reflect", interpolation="bilinear", seed=None, fill_value=0.0,
                 data_format=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        self.factor = _bounds(factor, "factor")
        self.fill_mode, self.interpolation, self.fill_value = fill_mode, interpolation, fill_value

    def _changed(self, x):
        angle = self._drawn(x, self.factor[0] * 2 * math.pi, self.factor[1] * 2 * math.pi)
        cos, sin = tf.cos(angle), tf.sin(angle)
        w, h = float(x.shape[2] - 1), float(x.shape[1] - 1)
        across, along = (w - (cos * w - sin * h)) / 2, (h - (sin * w + cos * h)) / 2
        return affine_transform(x, _rows(cos, -sin, across, sin, cos, along, 0, 0), self.interpolation, self.fill_mode,
                                self.fill_value)

    def get_config(self):
        return {**super().get_config(), "factor": self.factor, **self._geometry_config()}


class RandomZoom(_Augmentation):
    """Zoom by random factors: negative ones make things larger."""

    def __init__(self, height_factor, width_factor=None, fill_mode="reflect", interpolation="bilinear", seed=None,
                 fill_value=0.0, data_format=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        self._along = _bounds(height_factor, "height_factor")
        self._across = None if width_factor is None else _bounds(width_factor, "width_factor")
        self.fill_mode, self.interpolation, self.fill_value = fill_mode, interpolation, fill_value

    def _changed(self, x):
        along = self._drawn(x, 1 + self._along[0], 1 + self._along[1])
        across = along if self._across is None else self._drawn(x, 1 + self._across[0], 1 + self._across[1])
        w, h = float(x.shape[2] - 1), float(x.shape[1] - 1)
        return affine_transform(x, _rows(across, 0, (1 - across) * w / 2, 0, along, (1 - along) * h / 2, 0, 0),
                                self.interpolation, self.fill_mode, self.fill_value)

    def get_config(self):
        return {**super().get_config(), "height_factor": self.height_factor, "width_factor": self.width_factor,
                **self._geometry_config()}


class RandomTranslation(_Augmentation):
    """Translation by parts of height and width."""

    def __init__(self, height_factor, width_factor, fill_mode="reflect", interpolation="bilinear", seed=None,
                 fill_value=0.0, data_format=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        self._along, self._across = _bounds(height_factor, "height_factor"), _bounds(width_factor, "width_factor")
        self.fill_mode, self.interpolation, self.fill_value = fill_mode, interpolation, fill_value

    def _changed(self, x):
        along, across = self._drawn(x, *self._along), self._drawn(x, *self._across)
        return affine_transform(x, _rows(1, 0, -across * float(x.shape[2]), 0, 1, -along * float(x.shape[1]), 0, 0),
                                self.interpolation, self.fill_mode, self.fill_value)

    def get_config(self):
        return {**super().get_config(), "height_factor": self.height_factor, "width_factor": self.width_factor,
                **self._geometry_config()}


class RandomContrast(_Augmentation):
    """(x - mean) * factor + mean for each channel, with factors around 1."""

    def __init__(self, factor, value_range=(0, 255), seed=None, data_format=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        self.factor = _bounds(factor, "factor", 0)
        self.value_range = value_range

    def _changed(self, x):
        factor = tf.cast(tf.reshape(self._drawn(x, 1 - self.factor[0], 1 + self.factor[1]), [-1, 1, 1, 1]), x.dtype)
        mean = tf.reduce_mean(x, [1, 2], keepdims=True)
        return tf.clip_by_value((x - mean) * factor + mean, float(self.value_range[0]), float(self.value_range[1]))

    def get_config(self):
        return {**super().get_config(), "factor": self.factor, "value_range": self.value_range, "seed": self.seed,
                "data_format": self.data_format}


class RandomBrightness(_Augmentation):
    """Adds a random part of the value range."""

    def __init__(self, factor, value_range=(0, 255), seed=None, data_format=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        self.factor, self.value_range = _bounds(factor, "factor"), value_range

    def _changed(self, x):
        low, high = (float(v) for v in self.value_range)
        delta = tf.reshape(self._drawn(x, *self.factor), [-1, 1, 1, 1]) * (high - low)
        return tf.clip_by_value(x + tf.cast(delta, x.dtype), low, high)

    def get_config(self):
        return {**super().get_config(), "factor": self.factor, "value_range": self.value_range, "seed": self.seed,
                "data_format": self.data_format}


class RandomCrop(_Augmentation):
    """A random part of images in training, the middle otherwise."""

    def __init__(self, height, width, seed=None, data_format=None, name=None, **kwargs):
        super().__init__(seed, data_format, name=name, **kwargs)
        self.height, self.width = height, width
        if seed is None:  # what the config says is not the seed that is used
            self.seed = self.seed_generator._initial_seed
            self.seed_generator = _random.SeedGenerator()

    def _changed(self, x):
        h, w = x.shape[1:3]
        if h < self.height or w < self.width:
            raise NotImplementedError("RandomCrop of images that are smaller than the crop is not covered")
        top, left = (tf.cast(_random.uniform((), 0, have - size + 1, seed=self.seed_generator), "int32")
                     for have, size in ((h, self.height), (w, self.width)))
        rows, columns = tf.range(self.height) + top, tf.range(self.width) + left
        return tf.gather(tf.gather(x, rows, axis=1), columns, axis=2)

    def _untrained(self, x):
        from .preprocessing import CenterCrop
        return CenterCrop(self.height, self.width, self.data_format, dtype=self.compute_dtype).call(x)

    def compute_output_shape(self, input_shape):
        shape = list(input_shape)
        first = len(shape) - 3 if self.data_format == "channels_last" else len(shape) - 2
        shape[first:first + 2] = self.height, self.width
        return tuple(shape)

    def get_config(self):
        return {**super().get_config(), "height": self.height, "width": self.width, "seed": self.seed,
                "data_format": self.data_format}
