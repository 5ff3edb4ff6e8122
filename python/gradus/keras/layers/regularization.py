"""Noise in training: dropout in its forms, Gaussian noise; and penalties on activities."""
import math

from ... import _core
from .. import random as _random
from .. import regularizers as _regularizers
from ._common import Layer, data_format_of, tf


class _Noise(Layer):
    """A layer that does something only in training, with a seed generator."""

    def __init__(self, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.seed, self.supports_masking = seed, True
        self._with_seed = False

    def _prepare(self, needed):
        if needed:
            self.seed_generator = _random.SeedGenerator(self.seed)
        self._with_seed = needed
        self.built = True

    def _check_rate(self, rate):
        if not 0 <= rate <= 1:
            raise ValueError(f"Invalid value received for argument `rate`. Expected a float value between 0 and 1. "
                             f"Received: rate={rate}")
        self.rate = rate

    def compute_output_shape(self, input_shape):
        return input_shape


class Dropout(_Noise):
    """Zero with probability `rate`, else inputs / (1 - rate)."""

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(seed, **kwargs)
        self._check_rate(rate)
        self.noise_shape = noise_shape
        self._axes = () if noise_shape is None else tuple(i for i, n in enumerate(noise_shape) if n == 1)
        self._prepare(rate > 0)

    def call(self, inputs, training=None):
        if not (training and self._with_seed):
            return inputs
        return _core._dropout(inputs, self.rate, self.seed_generator.state, self._axes)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate, "seed": self.seed, "noise_shape": self.noise_shape}


class _SpatialDropout(Dropout):
    def __init__(self, rate, seed=None, name=None, dtype=None, **kwargs):
        super().__init__(rate, seed=seed, name=name, dtype=dtype, **kwargs)

    def get_config(self):
        config = super().get_config()
        return {"rate": config["rate"], "seed": config["seed"], "name": self.name, "dtype": self.dtype}


class SpatialDropout1D(_SpatialDropout):
    """Dropout of whole channels of sequences."""

    def __init__(self, rate, seed=None, name=None, dtype=None):
        super().__init__(rate, seed, name, dtype)
        self._axes = (1,)


class _SpatialDropoutND(_SpatialDropout):
    def __init__(self, rate, data_format=None, seed=None, name=None, dtype=None):
        super().__init__(rate, seed, name, dtype)
        self.data_format = data_format_of(data_format)
        first = 1 if self.data_format == "channels_last" else 2
        self._axes = tuple(range(first, first + self.rank))

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


class SpatialDropout2D(_SpatialDropoutND):
    """Dropout of whole channels of images."""
    rank = 2


class SpatialDropout3D(_SpatialDropoutND):
    """Dropout of whole channels of volumes."""
    rank = 3


class GaussianNoise(_Noise):
    """Adds normally distributed noise."""

    def __init__(self, stddev, seed=None, **kwargs):
        super().__init__(seed, **kwargs)
        if not 0 <= stddev <= 1:
            raise ValueError("Invalid value received for argument `stddev`. Expected a float value between 0 and 1. "
                             f"Received: stddev={stddev}")
        self.stddev = stddev
        self._prepare(stddev > 0)

    def call(self, inputs, training=None):
        if not (training and self._with_seed):
            return inputs
        return inputs + _core._noise_like(inputs, self.seed_generator.next(), "normal", 0.0, self.stddev)

    def get_config(self):
        return {**super().get_config(), "stddev": self.stddev, "seed": self.seed}


class GaussianDropout(_Noise):
    """Multiplies with normally distributed noise around 1."""

    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(seed, **kwargs)
        self._check_rate(rate)
        self._prepare(rate > 0)

    def call(self, inputs, training=None):
        if not (training and self._with_seed):
            return inputs
        deviation = math.sqrt(self.rate / (1.0 - self.rate))
        return inputs * _core._noise_like(inputs, self.seed_generator.next(), "normal", 1.0, deviation)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate, "seed": self.seed}


class AlphaDropout(_Noise):
    """Dropout that keeps mean and variance of self-normalising networks (selu)."""

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(seed, **kwargs)
        self._check_rate(rate)
        self.noise_shape = noise_shape
        self._prepare(rate > 0)

    def call(self, inputs, training=None):
        if not (training and self._with_seed):
            return inputs
        lowest = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946
        axes = () if self.noise_shape is None else tuple(i for i, n in enumerate(self.noise_shape) if n == 1)
        drawn = _core._noise_like(inputs, self.seed_generator.next(), "uniform", 0.0, 1.0, axes)
        kept = tf.cast(drawn >= self.rate, inputs.dtype)
        a = 1.0 / math.sqrt((1.0 - self.rate) * (1.0 + self.rate * lowest ** 2))
        return a * (inputs * kept + lowest * (1 - kept)) - a * lowest * self.rate

    def get_config(self):
        return {**super().get_config(), "rate": self.rate, "seed": self.seed, "noise_shape": self.noise_shape}


class ActivityRegularization(Layer):
    """The input itself, with a penalty on it that is added to the loss."""

    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        super().__init__(activity_regularizer=_regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1, self.l2 = l1, l2
        self.built = True

    def call(self, inputs):
        return inputs

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        config = super().get_config()
        config.pop("activity_regularizer", None)
        return {**config, "l1": self.l1, "l2": self.l2}
