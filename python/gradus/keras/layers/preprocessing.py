"""Layers that prepare data: statistics of features, images, classes."""
import numpy as np

from ... import _core
from .. import random as _random
from ._common import Layer, data_format_of, tf
from .convolution import to_channels_first, to_channels_last


class Rescaling(Layer):
    """inputs * scale + offset."""

    def __init__(self, scale, offset=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset
        self.supports_masking = True

    def call(self, inputs):
        return _core._rescaling(inputs, self.scale, self.offset, self._compute)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "scale": self.scale, "offset": self.offset}


class Normalization(Layer):
    """Features with mean 0 and variance 1: of given statistics, or of data shown to `adapt`."""

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **kwargs):
        super().__init__(**kwargs)
        self.axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        if (mean is None) != (variance is None):
            raise ValueError("When setting values directly, both `mean` and `variance` must be set. Received: "
                             f"mean={mean} and variance={variance}")
        self.input_mean, self.input_variance, self.invert = mean, variance, invert
        self.supports_masking = True
        self.mean = self.variance = None

    def build(self, input_shape):
        if input_shape is None:
            return
        rank = len(input_shape)
        self._kept = tuple(sorted(a % rank for a in self.axis))
        if any(a < -rank or a >= rank for a in self.axis):
            raise ValueError(f"All `axis` values must be in the range [-ndim, ndim). Received inputs with ndim={rank}, "
                             f"while axis={self.axis}")
        self._shape = tuple(input_shape[a] for a in self._kept)
        if any(n is None for n in self._shape):
            raise ValueError(f"All `axis` values to be kept must have a known shape. Received axis={self.axis}, "
                             f"inputs.shape={input_shape}")
        self._broadcast = [input_shape[i] if i in self._kept else 1 for i in range(rank)]
        if self.input_mean is None:
            self.adapt_mean = self.add_weight(name="mean", shape=self._shape, initializer="zeros", trainable=False)
            self.adapt_variance = self.add_weight(name="variance", shape=self._shape, initializer="ones",
                                                  trainable=False)
            self.count = self.add_weight(name="count", shape=(), dtype="int64", initializer="zeros", trainable=False)
        self.built = True
        self.finalize_state()

    def adapt(self, data):
        """Takes the statistics of an array, or of a dataset of batches."""
        if hasattr(data, "shape"):
            batches = [np.asarray(data, dtype="float64")]
        else:
            batches = [np.asarray(b[0] if isinstance(b, (tuple, list)) else b, dtype="float64") for b in data]
        shape = batches[0].shape
        if not self.built:
            self.build((None, *shape[1:]))
        else:
            for a in self._kept:
                if shape[a] != self._broadcast[a]:
                    raise ValueError("The layer was built with a different input shape than that of the data: "
                                     f"{self._broadcast} and {shape}")
        axes = tuple(i for i in range(len(shape)) if i not in self._kept)
        count = sum(np.prod([b.shape[a] for a in axes]) for b in batches)
        mean = sum(b.sum(axes) for b in batches) / count
        centred = np.expand_dims(mean, axes) if axes else mean
        variance = sum(np.square(b - centred).sum(axes) for b in batches) / count
        self.adapt_mean.assign(np.asarray(mean, "float32"))
        self.adapt_variance.assign(np.asarray(variance, "float32"))
        self.finalize_state()

    def finalize_state(self):
        """Makes what `call` uses from the statistics."""
        if self.input_mean is not None:
            mean, variance = (tf.broadcast_to(tf.cast(v, "float32"), self._shape)
                              for v in (self.input_mean, self.input_variance))
        elif self.built:
            mean, variance = tf.convert_to_tensor(self.adapt_mean), tf.convert_to_tensor(self.adapt_variance)
        else:
            return
        self.mean = tf.cast(tf.reshape(mean, self._broadcast), self.compute_dtype)
        self.variance = tf.cast(tf.reshape(variance, self._broadcast), self.compute_dtype)
        self._quick = None

    def call(self, inputs):
        if self.mean is None:
            raise ValueError("You must call `.build(input_shape)` on the layer before using it.")
        return _core._normalization(inputs, self.mean, self.variance, self.invert, self._compute)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        listed = [None if v is None else np.asarray(v).tolist() for v in (self.input_mean, self.input_variance)]
        return {**super().get_config(), "axis": self.axis, "invert": self.invert, "mean": listed[0],
                "variance": listed[1]}

    def load_own_variables(self, store):
        super().load_own_variables(store)
        self.finalize_state()


def _positions(size, new):
    """Where the centres of new pixels lie among the old ones."""
    return (np.arange(new) + 0.5) * (size / new) - 0.5


def _interpolation(size, new):
    """A matrix [new, size] that interpolates linearly."""
    at = np.clip(_positions(size, new), 0, size - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, size - 1)
    matrix = np.zeros((new, size))
    np.add.at(matrix, (np.arange(new), low), 1 - (at - low))
    np.add.at(matrix, (np.arange(new), high), at - low)
    return matrix


def resize(images, height, width, interpolation="bilinear"):
    """Images [n, h, w, c] (or [h, w, c]) with another size."""
    rank = len(images.shape)
    h_axis, w_axis = rank - 3, rank - 2
    h, w = images.shape[h_axis], images.shape[w_axis]
    if interpolation == "nearest":
        rows, columns = (np.minimum(np.floor((np.arange(new) + 0.5) * (size / new)).astype("int32"), size - 1)
                         for size, new in ((h, height), (w, width)))
        return tf.gather(tf.gather(images, rows, axis=h_axis), columns, axis=w_axis)
    if interpolation != "bilinear":
        return tf.image.resize(images, (height, width), interpolation)
    dtype = images.dtype
    x = images if dtype.is_floating else tf.cast(images, "float32")
    rows, columns = (tf.constant(_interpolation(size, new), x.dtype) for size, new in ((h, height), (w, width)))
    x = tf.einsum("ph,...hwc->...pwc", rows, x) if h != height else x
    return tf.einsum("qw,...pwc->...pqc", columns, x) if w != width else x


_INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic")


def resized(images, size, interpolation="bilinear", antialias=False, crop_to_aspect_ratio=False,
            pad_to_aspect_ratio=False, fill_mode="constant", fill_value=0.0):
    """Images [n, h, w, c] (or [h, w, c]) with another size; before that they may be cut, or get a margin, to its shape."""
    if interpolation not in _INTERPOLATIONS:
        raise ValueError(f"Invalid value for argument `interpolation`. Expected of one {_INTERPOLATIONS}. Received: "
                         f"interpolation={interpolation}")
    if fill_mode != "constant":
        raise ValueError("Invalid value for argument `fill_mode`. Only `'constant'` is supported. Received: "
                         f"fill_mode={fill_mode}")
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.")
    if crop_to_aspect_ratio or pad_to_aspect_ratio:
        (h, w), (height, width) = images.shape[-3:-1], size
        rows, columns = int(np.float32(w * height) / np.float32(width)), int(np.float32(h * width) / np.float32(height))
    if crop_to_aspect_ratio:
        rows, columns = max(min(h, rows), 1), max(min(w, columns), 1)
        top, left = (h - rows) // 2, (w - columns) // 2
        images = images[..., top:top + rows, left:left + columns, :]
    elif pad_to_aspect_ratio:
        top, left = (max(h, rows) - h) // 2, (max(w, columns) - w) // 2
        around = [[0, 0]] * (len(images.shape) - 3) + [[top, top], [left, left], [0, 0]]
        images = tf.pad(images, around, constant_values=fill_value)
    if antialias and interpolation != "nearest":
        return tf.image.resize(images, size, interpolation, antialias=True)
    return resize(images, *size, interpolation)


class Resizing(Layer):
    """Images with another size."""

    def __init__(self, height, width, interpolation="bilinear", crop_to_aspect_ratio=False, pad_to_aspect_ratio=False,
                 fill_mode="constant", fill_value=0.0, antialias=False, data_format=None, **kwargs):
        super().__init__(**kwargs)
        if interpolation not in _INTERPOLATIONS:
            raise ValueError(f"Invalid value for argument `interpolation`. Expected of one {_INTERPOLATIONS}. Received: "
                             f"interpolation={interpolation}")
        self.crop_to_aspect_ratio, self.pad_to_aspect_ratio = crop_to_aspect_ratio, pad_to_aspect_ratio
        self.antialias = antialias
        self.height, self.width, self.interpolation = height, width, interpolation
        self.fill_mode, self.fill_value = fill_mode, fill_value
        self.data_format = data_format_of(data_format)

    def call(self, inputs):
        inputs = tf.cast(inputs, self.compute_dtype)
        first = self.data_format == "channels_first"
        made = resized(to_channels_last(inputs) if first else inputs, (self.height, self.width), self.interpolation,
                       self.antialias, self.crop_to_aspect_ratio, self.pad_to_aspect_ratio, self.fill_mode,
                       self.fill_value)
        return to_channels_first(made) if first else made

    def compute_output_shape(self, input_shape):
        shape = list(input_shape)
        first = len(shape) - 3 if self.data_format == "channels_last" else len(shape) - 2
        shape[first:first + 2] = self.height, self.width
        return tuple(shape)

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format, "height": self.height, "width": self.width,
                "interpolation": self.interpolation, "crop_to_aspect_ratio": self.crop_to_aspect_ratio,
                "pad_to_aspect_ratio": self.pad_to_aspect_ratio, "fill_mode": self.fill_mode,
                "fill_value": self.fill_value, "antialias": self.antialias}


class CenterCrop(Layer):
    """The middle of images."""

    def __init__(self, height, width, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.height, self.width, self.data_format = height, width, data_format_of(data_format)

    def _axes(self, rank):
        first = rank - 3 if self.data_format == "channels_last" else rank - 2
        return first, first + 1

    def call(self, inputs):
        inputs = tf.cast(inputs, self.compute_dtype)
        cut = [slice(None)] * len(inputs.shape)
        for axis, size in zip(self._axes(len(inputs.shape)), (self.height, self.width)):
            have = inputs.shape[axis]
            if have < size:  # pulled to the size, what stands over cut off
                from ..utils._images import smart_resize
                return smart_resize(inputs, (self.height, self.width), data_format=self.data_format)
            start = (have - size) // 2
            cut[axis] = slice(start, start + size)
        return inputs[tuple(cut)]

    def compute_output_shape(self, input_shape):
        shape = list(input_shape)
        for axis, size in zip(self._axes(len(shape)), (self.height, self.width)):
            shape[axis] = size
        return tuple(shape)

    def get_config(self):
        return {**super().get_config(), "height": self.height, "width": self.width, "data_format": self.data_format}


class RandomFlip(Layer):
    """In training, each image mirrored or not."""

    def __init__(self, mode="horizontal_and_vertical", seed=None, data_format=None, **kwargs):
        super().__init__(**kwargs)
        if mode not in ("horizontal", "vertical", "horizontal_and_vertical"):
            raise ValueError(f"Unknown `mode` value for `RandomFlip` layer: {mode}")
        self.mode, self.seed, self.data_format = mode, seed, data_format_of(data_format)
        self.seed_generator = _random.SeedGenerator(seed)
        self.supports_masking = True

    def call(self, inputs, training=True):
        x = tf.cast(inputs, self.compute_dtype)
        if not training:
            return x
        alone = len(x.shape) == 3
        x = tf.expand_dims(x, 0) if alone else x
        first = 1 if self.data_format == "channels_last" else 2
        one = tf.cast(x[:, :1, :1, :1], "float32")  # of each image
        flips = _core._noise_like(one, self.seed_generator.next(), "uniform", 0.0, 1.0) <= 0.5
        for kind, axis in (("horizontal", first + 1), ("vertical", first)):
            if kind in self.mode:
                x = tf.where(flips, tf.reverse(x, [axis]), x)
        return tf.squeeze(x, 0) if alone else x

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format, "seed": self.seed, "mode": self.mode}


class CategoryEncoding(Layer):
    """Class numbers as vectors: one_hot, multi_hot or counts."""

    def __init__(self, num_tokens=None, output_mode="multi_hot", sparse=False, **kwargs):
        super().__init__(**kwargs)
        if output_mode == "binary":
            output_mode = "multi_hot"
        if output_mode not in ("count", "one_hot", "multi_hot"):
            raise ValueError(f"Unknown argument for output_mode: {output_mode}")
        if num_tokens is None or num_tokens < 1:
            raise ValueError("num_tokens must be set to use this layer, to a number of at least 1. Received: "
                             f"num_tokens={num_tokens}.")
        self.num_tokens, self.output_mode, self.sparse = num_tokens, output_mode, sparse
        self._allow_non_tensor_positional_args = True
        self._convert_input_args = False

    def call(self, inputs, count_weights=None):
        x = tf.convert_to_tensor(inputs)
        x = x if x.dtype.is_integer else tf.cast(x, "int32")
        return encode(x, self.output_mode, self.num_tokens, count_weights, self.compute_dtype, self.sparse)

    def compute_output_shape(self, input_shape, count_weights_shape=None):
        if self.output_mode == "one_hot":
            shape = tuple(input_shape)
            return (*(shape[:-1] if shape and shape[-1] == 1 else shape), self.num_tokens)
        return (*tuple(input_shape)[:-1], self.num_tokens)

    def get_config(self):
        return {**super().get_config(), "num_tokens": self.num_tokens, "output_mode": self.output_mode}


def encode(x, mode, depth, weights=None, dtype="float32", sparse=False):
    """Integers as vectors over their last axis (one_hot: each by itself)."""
    if sparse:
        return tf.sparse.from_dense(encode(x, mode, depth, weights, dtype))
    if mode == "one_hot":
        if len(x.shape) and x.shape[-1] == 1:
            x = tf.squeeze(x, -1)
        return tf.one_hot(x, depth, dtype=dtype)
    hot = tf.one_hot(x, depth, dtype=dtype)
    if mode == "multi_hot":
        return tf.minimum(tf.reduce_sum(hot, -2), 1) if len(x.shape) else hot
    if weights is not None:
        hot = hot * tf.expand_dims(tf.cast(weights, dtype), -1)
    return tf.reduce_sum(hot, -2) if len(x.shape) else hot


def _quantiles(values, bins, epsilon):
    """The boundaries of bins with equally many of the sorted values, of which every so many are looked at."""
    step = max(len(values) * epsilon, 1)
    summary = np.stack([values[int(step - 1)::int(step)], np.full(len(values[int(step - 1)::int(step)]), step)])
    for accuracy in (epsilon, 1.0 / bins):
        summary = _compressed(summary.astype("float32"), accuracy)
    return summary[0, :-1].tolist()


def _compressed(summary, accuracy):
    """(values, weights) at equal parts of the weights."""
    if summary.shape[1] * accuracy < 1:
        return summary
    shares = accuracy + np.arange(0.0, 1.0, accuracy)
    total = summary[1].cumsum()
    at = np.interp(shares, total / total[-1], total)
    return np.stack([np.interp(shares, total / total[-1], summary[0]), np.diff(at, prepend=0)]).astype("float32")


class Discretization(Layer):
    """Numbers as the number of their bin."""

    def __init__(self, bin_boundaries=None, num_bins=None, epsilon=0.01, output_mode="int", sparse=False, dtype=None,
                 name=None, **kwargs):
        super().__init__(name=name, dtype=dtype, **kwargs)
        if (bin_boundaries is None) == (num_bins is None):
            raise ValueError("Both or none of `num_bins` and `bin_boundaries` are set: exactly one is expected. "
                             f"Received: num_bins={num_bins}, bin_boundaries={bin_boundaries}")
        if output_mode not in ("int", "one_hot", "multi_hot", "count"):
            raise ValueError(f"Invalid argument for output_mode: {output_mode}")
        self.input_bin_boundaries = bin_boundaries
        self.bin_boundaries = list(bin_boundaries) if bin_boundaries is not None else []
        self.num_bins, self.epsilon, self.output_mode, self.sparse = num_bins, epsilon, output_mode, sparse
        self.autocast = False
        self._convert_input_args, self._allow_non_tensor_positional_args = False, True

    def adapt(self, data):
        """Takes quantiles of the data as boundaries."""
        if self.num_bins is None:
            raise ValueError("Cannot adapt a Discretization layer that has been initialized with `bin_boundaries`, use "
                             "`num_bins` instead.")
        parts = [np.asarray(data)] if hasattr(data, "shape") else [np.asarray(b) for b in data]
        values = np.concatenate([p.reshape(-1) for p in parts]).astype("float32")
        self.bin_boundaries = _quantiles(np.sort(values), self.num_bins, self.epsilon)

    def call(self, inputs):
        x = tf.convert_to_tensor(inputs)
        x = x if x.dtype.is_floating else tf.cast(x, "float32")
        bounds = tf.constant(self.bin_boundaries, x.dtype)
        found = tf.searchsorted(bounds, tf.reshape(x, [-1]), side="right")
        found = tf.reshape(found, tf.shape(x) if None in tuple(x.shape)[1:] else [-1, *tuple(x.shape)[1:]])
        if self.output_mode == "int":
            return tf.cast(found, "int32")
        return encode(found, self.output_mode, len(self.bin_boundaries) + 1, dtype=self.compute_dtype, sparse=self.sparse)

    def compute_output_shape(self, input_shape):
        if self.output_mode == "int":
            return input_shape
        shape, depth = tuple(input_shape), len(self.bin_boundaries) + 1
        return (*(shape if self.output_mode == "one_hot" and shape[-1] != 1 else shape[:-1]), depth)

    def get_config(self):
        return {"bin_boundaries": self.bin_boundaries, "num_bins": self.num_bins, "epsilon": self.epsilon,
                "output_mode": self.output_mode, "sparse": self.sparse, "name": self.name, "dtype": self.dtype}
