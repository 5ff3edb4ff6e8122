"""Initializers: functions from a shape to the first values of a weight.

Random ones are functions of their seed alone (drawn from Python's generator if it is not given) and have the numbers of
Keras 3 on TensorFlow.
"""
import math

import gradus as tf

from . import random as _random
from ._registry import Registry
from ._state import floatx as _floatx


class Initializer:
    """Called with a shape and a dtype; subclasses say what comes out."""

    def __call__(self, shape, dtype=None):
        raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def clone(self):
        return self.__class__.from_config(self.get_config())


_registry = Registry("initializer")
get, deserialize = _registry.get, _registry.deserialize


def serialize(initializer):
    """The dict (or, of a plain function, the name) from which `deserialize` makes the object again."""
    return _registry.serialize(initializer)


@_registry.add("zeros")
class Zeros(Initializer):
    """Zeros."""

    def __call__(self, shape, dtype=None):
        return tf.zeros(shape, dtype or _floatx())


@_registry.add("ones")
class Ones(Initializer):
    """Ones."""

    def __call__(self, shape, dtype=None):
        return tf.ones(shape, dtype or _floatx())


@_registry.add("constant")
class Constant(Initializer):
    """One value everywhere, or an array."""

    def __init__(self, value=0.0):
        self.value = value

    def __call__(self, shape, dtype=None):
        return tf.broadcast_to(tf.cast(self.value, dtype or _floatx()), shape)

    def get_config(self):
        return {"value": self.value}


@_registry.add("IdentityInitializer", "identity")
class Identity(Initializer):
    """The identity matrix, times a gain."""

    def __init__(self, gain=1.0):
        self.gain = gain

    def __call__(self, shape, dtype=None):
        if len(shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices. "
                             f"Received: shape={shape} of rank {len(shape)}.")
        return self.gain * tf.eye(*shape, dtype=dtype or _floatx())

    def get_config(self):
        return {} if self.gain == 1.0 else {"gain": self.gain}


class RandomInitializer(Initializer):
    """With a seed: an integer, or a SeedGenerator for other numbers at each call."""

    def __init__(self, seed=None):
        self._given = seed
        if seed is None:
            seed = _random.make_default_seed()
        elif isinstance(seed, dict):
            seed = self._given = _random.SeedGenerator.from_config(seed.get("config", seed))
        elif not isinstance(seed, (int, _random.SeedGenerator)):
            raise ValueError("`seed` argument should be an instance of `keras.random.SeedGenerator()` or an integer. "
                             f"Received: seed={seed}")
        self.seed = seed

    def get_config(self):
        seed = self._given
        if isinstance(seed, _random.SeedGenerator):
            seed = {"module": "keras.random", "class_name": "SeedGenerator", "config": seed.get_config(),
                    "registered_name": None}
        return {"seed": seed}


@_registry.add("random_normal", "normal")
class RandomNormal(RandomInitializer):
    """Normally distributed numbers."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev = mean, stddev
        super().__init__(seed)

    def __call__(self, shape, dtype=None):
        return _random.normal(shape, self.mean, self.stddev, dtype, self.seed)

    def get_config(self):
        return {**super().get_config(), "mean": self.mean, "stddev": self.stddev}


@_registry.add("truncated_normal")
class TruncatedNormal(RandomNormal):
    """Normally distributed numbers within two standard deviations."""

    def __call__(self, shape, dtype=None):
        return _random.truncated_normal(shape, self.mean, self.stddev, dtype, self.seed)


@_registry.add("random_uniform", "uniform")
class RandomUniform(RandomInitializer):
    """Numbers between minval and maxval."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval, self.maxval = minval, maxval
        super().__init__(seed)

    def __call__(self, shape, dtype=None):
        return _random.uniform(shape, self.minval, self.maxval, dtype, self.seed)

    def get_config(self):
        return {**super().get_config(), "minval": self.minval, "maxval": self.maxval}


def compute_fans(shape, input_axes=None, output_axes=None):
    """How many inputs and outputs a unit of a kernel of this shape has."""
    shape = tuple(shape)
    if input_axes is not None and output_axes is not None:
        return tuple(math.prod(shape[a] for a in _axes(axes)) for axes in (input_axes, output_axes))
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def _axes(axes):
    return (axes,) if isinstance(axes, int) else tuple(axes)


@_registry.add("variance_scaling")
class VarianceScaling(RandomInitializer):
    """Random numbers whose variance is scale / fan."""

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, input_axes=None,
                 output_axes=None):
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be positive float. Received: scale={scale}")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError(f"Invalid `mode` argument: {mode}. Please use one of 'fan_in', 'fan_out', 'fan_avg'.")
        distribution = "truncated_normal" if str(distribution).lower() == "normal" else str(distribution).lower()
        if distribution not in {"uniform", "truncated_normal", "untruncated_normal"}:
            raise ValueError(f"Invalid `distribution` argument: {distribution}. Please use one of 'uniform', "
                             "'truncated_normal', 'untruncated_normal'.")
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.input_axes, self.output_axes = input_axes, output_axes
        super().__init__(seed)

    def __call__(self, shape, dtype=None):
        fan_in, fan_out = compute_fans(shape, self.input_axes, self.output_axes)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        scale = self.scale / max(1.0, fan)
        if self.distribution == "truncated_normal":  # the deviation is that of what is left after truncation
            return _random.truncated_normal(shape, 0.0, math.sqrt(scale) / 0.87962566103423978, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return _random.normal(shape, 0.0, math.sqrt(scale), dtype, self.seed)
        limit = math.sqrt(3.0 * scale)
        return _random.uniform(shape, -limit, limit, dtype, self.seed)

    def get_config(self):
        return {**super().get_config(), "scale": self.scale, "mode": self.mode, "distribution": self.distribution,
                "input_axes": self.input_axes, "output_axes": self.output_axes}


class _Scaled(VarianceScaling):
    """VarianceScaling with fixed settings; the config is the seed and the axes."""

    def __init__(self, seed=None, input_axes=None, output_axes=None):
        super().__init__(*self._settings, seed=seed, input_axes=input_axes, output_axes=output_axes)

    def get_config(self):
        config = super().get_config()
        return {name: config[name] for name in ("seed", "input_axes", "output_axes")}


def _scaled(name, alias, doc, *settings):
    cls = type(name, (_Scaled,), {"__doc__": doc, "__module__": __name__, "_settings": settings})
    return _registry.add(alias)(cls)


GlorotUniform = _scaled("GlorotUniform", "glorot_uniform", "Uniform with limit sqrt(6 / (fan_in + fan_out)).",
                        1.0, "fan_avg", "uniform")
GlorotNormal = _scaled("GlorotNormal", "glorot_normal", "Truncated normal with variance 2 / (fan_in + fan_out).",
                       1.0, "fan_avg", "truncated_normal")
LecunUniform = _scaled("LecunUniform", "lecun_uniform", "Uniform with limit sqrt(3 / fan_in).", 1.0, "fan_in",
                       "uniform")
LecunNormal = _scaled("LecunNormal", "lecun_normal", "Truncated normal with variance 1 / fan_in.",
                      1.0, "fan_in", "truncated_normal")
HeUniform = _scaled("HeUniform", "he_uniform", "Uniform with limit sqrt(6 / fan_in).", 2.0, "fan_in", "uniform")
HeNormal = _scaled("HeNormal", "he_normal", "Truncated normal with variance 2 / fan_in.",
                   2.0, "fan_in", "truncated_normal")


@_registry.add("OrthogonalInitializer", "orthogonal")
class Orthogonal(RandomInitializer):
    """A matrix with orthonormal rows or columns, times a gain; further axes are rows."""

    def __init__(self, gain=1.0, seed=None):
        self.gain = gain
        super().__init__(seed)

    def __call__(self, shape, dtype=None):
        if len(shape) < 2:
            raise ValueError(f"The tensor to initialize must be at least two-dimensional. Received: shape={shape} of "
                             f"rank {len(shape)}.")
        dtype = dtype or _floatx()
        rows, columns = math.prod(shape[:-1]), shape[-1]
        flat = (max(rows, columns), min(rows, columns))
        narrow = dtype in ("float16", "bfloat16")
        q, r = tf.linalg.qr(_random.normal(flat, dtype="float32" if narrow else dtype, seed=self.seed))
        q = q * tf.sign(tf.linalg.diag_part(r))
        if rows < columns:
            q = tf.transpose(q)
        return tf.cast(self.gain * tf.reshape(q, shape), dtype)

    def get_config(self):
        return {**super().get_config(), "gain": self.gain}


IdentityInitializer, OrthogonalInitializer = Identity, Orthogonal
zeros, ones, constant, identity, orthogonal = Zeros, Ones, Constant, Identity, Orthogonal
random_normal, random_uniform, truncated_normal, variance_scaling = (RandomNormal, RandomUniform, TruncatedNormal,
                                                                    VarianceScaling)
glorot_uniform, glorot_normal, he_uniform, he_normal = GlorotUniform, GlorotNormal, HeUniform, HeNormal
lecun_uniform, lecun_normal = LecunUniform, LecunNormal
