"""Initial values of variables, as nodes."""
import math

import gradus as tf

from ._functions import in_graph

_uniform, _normal = in_graph(tf.random.uniform, "random_uniform"), in_graph(tf.random.normal, "random_normal")
_truncated, _constant = in_graph(tf.random.truncated_normal, "truncated_normal"), in_graph(tf.constant, "Const")
_zeros, _ones, _eye = in_graph(tf.zeros, "zeros"), in_graph(tf.ones, "ones"), in_graph(tf.eye, "eye")


class Initializer:
    """A function of a shape and a dtype."""

    def __call__(self, shape, dtype=None, partition_info=None):
        raise NotImplementedError

    def get_config(self):
        return {k.lstrip("_"): v for k, v in vars(self).items()}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class _Typed(Initializer):
    def __init__(self, dtype=tf.float32):
        self.dtype = tf.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return self._make(shape, tf.as_dtype(dtype or self.dtype))


class zeros_initializer(_Typed):  # noqa: N801
    """Zeros."""

    def _make(self, shape, dtype):
        return _zeros(shape, dtype)


class ones_initializer(_Typed):  # noqa: N801
    """Ones."""

    def _make(self, shape, dtype):
        return _ones(shape, dtype)


class constant_initializer(_Typed):  # noqa: N801
    """One value, or given values."""

    def __init__(self, value=0, dtype=None, verify_shape=False):
        self.value, self.dtype, self._verifies = value, dtype, verify_shape

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None):
        import numpy as np
        value = np.asarray(self.value)
        if (self._verifies if verify_shape is None else verify_shape) and list(value.shape) != list(shape):
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {value.shape}.")
        wanted = dtype or self.dtype or ("float32" if value.dtype == "float64" else None)
        if value.size > 1 and value.shape != tuple(shape):
            value = value.reshape(shape)
        return _constant(value if value.size > 1 else self.value if value.ndim == 0 else value.reshape(()),
                         dtype=wanted, shape=shape)


class random_uniform_initializer(_Typed):  # noqa: N801
    """Uniformly distributed numbers."""

    def __init__(self, minval=0.0, maxval=None, seed=None, dtype=tf.float32):
        self.minval, self.maxval, self.seed, self.dtype = minval, 1.0 if maxval is None else maxval, seed, dtype

    def _make(self, shape, dtype):
        return _uniform(shape, self.minval, self.maxval, dtype, self.seed)


class random_normal_initializer(_Typed):  # noqa: N801
    """Normally distributed numbers."""

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=tf.float32):
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, dtype

    def _make(self, shape, dtype):
        return _normal(shape, self.mean, self.stddev, dtype, self.seed)


class truncated_normal_initializer(random_normal_initializer):  # noqa: N801
    """Normally distributed numbers within two standard deviations."""

    def _make(self, shape, dtype):
        return _truncated(shape, self.mean, self.stddev, dtype, self.seed)


class variance_scaling_initializer(_Typed):  # noqa: N801
    """Random numbers whose variance follows from the size of the layer."""

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, dtype=tf.float32):
        if scale <= 0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode}")
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(f"Unknown distribution {distribution!r}")
        self.scale, self.mode, self.distribution, self.seed, self.dtype = scale, mode, distribution, seed, dtype

    def _make(self, shape, dtype):
        fan_in, fan_out = _fans([int(s) for s in shape])
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        scale = self.scale / max(1.0, n)
        if self.distribution in ("normal", "truncated_normal"):
            return _truncated(shape, 0.0, math.sqrt(scale) / .87962566103423978, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return _normal(shape, 0.0, math.sqrt(scale), dtype, self.seed)
        limit = math.sqrt(3.0 * scale)
        return _uniform(shape, -limit, limit, dtype, self.seed)


def _fans(shape):
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def _scaled(scale, mode, distribution, doc):
    class Scaled(variance_scaling_initializer):
        __doc__ = doc

        def __init__(self, seed=None, dtype=tf.float32):
            super().__init__(scale, mode, distribution, seed, dtype)
    return Scaled


glorot_uniform_initializer = _scaled(1.0, "fan_avg", "uniform", "Glorot's uniform initializer.")
glorot_normal_initializer = _scaled(1.0, "fan_avg", "truncated_normal", "Glorot's normal initializer.")
he_uniform = _scaled(2.0, "fan_in", "uniform", "He's uniform initializer.")
he_normal = _scaled(2.0, "fan_in", "truncated_normal", "He's normal initializer.")
lecun_uniform = _scaled(1.0, "fan_in", "uniform", "LeCun's uniform initializer.")
lecun_normal = _scaled(1.0, "fan_in", "truncated_normal", "LeCun's normal initializer.")


class uniform_unit_scaling_initializer(_Typed):  # noqa: N801
    """Uniform numbers that keep the scale of a layer's input."""

    def __init__(self, factor=1.0, seed=None, dtype=tf.float32):
        self.factor, self.seed, self.dtype = factor, seed, dtype

    def _make(self, shape, dtype):
        size = math.prod(float(s) for s in shape[:-1]) or 1.0
        limit = math.sqrt(3 / max(size, 1.0)) * self.factor
        return _uniform(shape, -limit, limit, dtype, self.seed)


class orthogonal_initializer(_Typed):  # noqa: N801
    """An orthogonal matrix."""

    def __init__(self, gain=1.0, seed=None, dtype=tf.float32):
        self.gain, self.seed, self.dtype = gain, seed, dtype

    def _make(self, shape, dtype):
        rows = math.prod(shape[:-1])
        flat = (max(rows, shape[-1]), min(rows, shape[-1]))

        def make():
            q, r = tf.linalg.qr(tf.random.normal(flat, dtype=dtype, seed=self.seed))
            q = q * tf.sign(tf.linalg.diag_part(r))
            return self.gain * tf.reshape(tf.transpose(q) if rows < shape[-1] else q, shape)
        return in_graph(make, "orthogonal")()


class identity_initializer(_Typed):  # noqa: N801
    """The identity matrix."""

    def __init__(self, gain=1.0, dtype=tf.float32):
        self.gain, self.dtype = gain, dtype

    def _make(self, shape, dtype):
        return in_graph(lambda: self.gain * tf.eye(shape[0], shape[1], dtype=dtype), "eye")()
