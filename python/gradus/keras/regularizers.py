"""Regularizers: functions from a weight (or an output) to a number that is added to the loss."""
import math

import gradus as tf

from ._registry import Registry


class Regularizer:
    """Called with a tensor."""

    def __call__(self, x):
        return 0.0

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def get_config(self):
        raise NotImplementedError(f"{self} does not implement get_config()")


_registry = Registry("regularizer")
get, deserialize = _registry.get, _registry.deserialize


def serialize(regularizer):
    """The dict (or, of a plain function, the name) from which `deserialize` makes the object again."""
    return _registry.serialize(regularizer)


def _checked(x, name):
    if not isinstance(x, (float, int)) or isinstance(x, bool) or not math.isfinite(x) or x < 0:
        raise ValueError(f"Invalid value for argument {name}: expected a non-negative float. Received: {name}={x}")
    return x


@_registry.add("l1_l2", "l1l2")
class L1L2(Regularizer):
    """l1 * sum(|x|) + l2 * sum(x^2)."""

    def __init__(self, l1=0.0, l2=0.0):
        self.l1, self.l2 = _checked(0.0 if l1 is None else l1, "l1"), _checked(0.0 if l2 is None else l2, "l2")

    def __call__(self, x):
        total = None
        if self.l1:
            total = self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            squares = self.l2 * tf.reduce_sum(tf.square(x))
            total = squares if total is None else total + squares
        return tf.constant(0.0, dtype=x.dtype) if total is None else total

    def get_config(self):
        return {"l1": self.l1, "l2": self.l2}


@_registry.add("l1")
class L1(Regularizer):
    """l1 * sum(|x|)."""

    def __init__(self, l1=0.01):
        self.l1 = _checked(0.01 if l1 is None else l1, "l1")

    def __call__(self, x):
        return self.l1 * tf.reduce_sum(tf.abs(x))

    def get_config(self):
        return {"l1": self.l1}


@_registry.add("l2")
class L2(Regularizer):
    """l2 * sum(x^2)."""

    def __init__(self, l2=0.01):
        self.l2 = _checked(0.01 if l2 is None else l2, "l2")

    def __call__(self, x):
        return self.l2 * tf.reduce_sum(tf.square(x))

    def get_config(self):
        return {"l2": self.l2}


@_registry.add("orthogonal_regularizer")
class OrthogonalRegularizer(Regularizer):
    """How far the rows (or columns) of a matrix are from being orthogonal: the mean |cosine| of its pairs."""

    def __init__(self, factor=0.01, mode="rows"):
        if mode not in {"rows", "columns"}:
            raise ValueError(f"Invalid value for argument `mode`. Expected one of {{\"rows\", \"columns\"}}. "
                             f"Received: mode={mode}")
        self.factor, self.mode = factor, mode

    def __call__(self, x):
        if len(x.shape) != 2:
            raise ValueError("Inputs to OrthogonalRegularizer must have rank 2. Received: inputs.shape="
                             f"{tuple(x.shape)}")
        axis = 1 if self.mode == "rows" else 0
        unit = tf.math.l2_normalize(x, axis)
        product = tf.matmul(unit, unit, transpose_b=True) if axis else tf.matmul(unit, unit, transpose_a=True)
        size = product.shape[0]
        apart = product * (1.0 - tf.eye(size, dtype=product.dtype))
        pairs = max(size * (size - 1) / 2.0, 1.0)
        return self.factor * 0.5 * tf.reduce_sum(tf.abs(apart)) / pairs

    def get_config(self):
        return {"factor": self.factor, "mode": self.mode}


l1, l2, l1_l2, orthogonal_regularizer = L1, L2, L1L2, OrthogonalRegularizer
