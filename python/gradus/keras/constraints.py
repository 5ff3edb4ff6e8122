"""Constraints: what is done to a weight after an optimizer has changed it."""
import gradus as tf

from ._registry import Registry
from ._state import epsilon as _epsilon


class Constraint:
    """Called with a weight; returns what it becomes."""

    def __call__(self, w):
        raise NotImplementedError("Constraint subclasses must implement the `__call__()` method.")

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


_registry = Registry("constraint")
get, deserialize = _registry.get, _registry.deserialize


def serialize(constraint):
    """The dict (or, of a plain function, the name) from which `deserialize` makes the object again."""
    return _registry.serialize(constraint)


def _norms(w, axis):
    return tf.sqrt(tf.reduce_sum(tf.square(w), axis, keepdims=True))


@_registry.add("max_norm")
class MaxNorm(Constraint):
    """Vectors along an axis that are at most max_value long."""

    def __init__(self, max_value=2, axis=0):
        self.max_value, self.axis = max_value, axis

    def __call__(self, w):
        norms = _norms(w, self.axis)
        return w * (tf.clip_by_value(norms, 0.0, float(self.max_value)) / (_epsilon() + norms))

    def get_config(self):
        return {"max_value": self.max_value, "axis": self.axis}


@_registry.add("non_neg")
class NonNeg(Constraint):
    """What is negative becomes 0."""

    def __call__(self, w):
        w = tf.convert_to_tensor(w)
        return w * tf.cast(w >= 0.0, w.dtype)


@_registry.add("unit_norm")
class UnitNorm(Constraint):
    """Vectors along an axis of length 1."""

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        return w / (_epsilon() + _norms(w, self.axis))

    def get_config(self):
        return {"axis": self.axis}


@_registry.add("min_max_norm")
class MinMaxNorm(Constraint):
    """Vectors along an axis whose length is brought between two values, by a rate."""

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w):
        norms = _norms(w, self.axis)
        wanted = self.rate * tf.clip_by_value(norms, float(self.min_value), float(self.max_value))
        return w * ((wanted + (1 - self.rate) * norms) / (_epsilon() + norms))

    def get_config(self):
        return {"min_value": self.min_value, "max_value": self.max_value, "rate": self.rate, "axis": self.axis}


max_norm, non_neg, unit_norm, min_max_norm = MaxNorm, NonNeg, UnitNorm, MinMaxNorm
