"""The base of losses: how one value per sample becomes one number."""
import gradus as tf

from ... import _core
from ...autograph._convert import while_traced
from .. import _state
from .._variable import standardize_dtype

_Tensor = _core.Tensor
_REDUCTIONS = (None, "none", "sum", "sum_over_batch_size", "mean", "mean_with_sample_weight")


class Reduction:
    """Names of reductions, as older programs write them."""
    NONE, SUM, SUM_OVER_BATCH_SIZE, AUTO = "none", "sum", "sum_over_batch_size", "sum_over_batch_size"


class Loss:
    """A function of targets and predictions that training makes small.

    A loss of one's own has `call(y_true, y_pred)`, which gives one value per sample; calling the loss weights and
    reduces them.
    """

    _casts_targets = True  # class numbers are not cast to floats and back

    def __init__(self, name=None, reduction="sum_over_batch_size", dtype=None):
        self.name = name or _state.auto_name(type(self).__name__)
        if reduction not in _REDUCTIONS:
            raise ValueError(f"Invalid value for argument `reduction`. Expected one of {set(_REDUCTIONS)}. Received: "
                             f"reduction={reduction}")
        self.reduction = reduction
        self._dtype_policy = _policy(dtype)
        self._dtype = self._dtype_policy.compute_dtype
        self._kind = tf.as_dtype(self._dtype)

    @property
    def dtype(self):
        """The dtype to which targets and predictions are cast."""
        return self._dtype

    @property
    def dtype_policy(self):
        return self._dtype_policy

    def __call__(self, y_true, y_pred, sample_weight=None):
        """The loss of a batch."""
        mask = _state.get_mask(y_pred)
        kind = self._kind
        if self._casts_targets and (type(y_true) is not _Tensor or y_true.dtype is not kind):
            y_true = _as(y_true, kind)
        if type(y_pred) is not _Tensor or y_pred.dtype is not kind:
            y_pred = _as(y_pred, kind)
        values = while_traced(self.call)(y_true, y_pred)
        own_mask = _state.get_mask(values)
        if own_mask is not None:
            mask = own_mask if mask is None else tf.logical_and(mask, own_mask)
        if sample_weight is None and mask is None:
            return reduce_values(values, self.reduction)
        return reduce_weighted_values(values, sample_weight, mask, self.reduction, self._dtype)

    def call(self, y_true, y_pred):
        raise NotImplementedError("A loss needs a method call(y_true, y_pred)")

    def get_config(self):
        """What from_config needs to make a loss like this one."""
        config = {"name": self.name, "reduction": self.reduction}
        if self._dtype != _state.floatx():
            config["dtype"] = self._dtype
        return config

    @classmethod
    def from_config(cls, config):
        """A loss like the one that gave the config."""
        return cls(**config)


class FunctionLoss(Loss):
    """A function of one value per sample as a loss. Its settings are arguments of the function."""

    _function = None

    def __init__(self, name, reduction, dtype, **settings):
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        self._settings = settings

    def call(self, y_true, y_pred):
        return self._function(y_true, y_pred, **self._settings)

    def get_config(self):
        return {**super().get_config(), **self._settings}

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"


class LossFunctionWrapper(Loss):
    """Any function as a loss: what compile() makes of a function."""

    def __init__(self, fn, reduction="sum_over_batch_size", name=None, dtype=None, **kwargs):
        super().__init__(name=name or getattr(fn, "__name__", None), reduction=reduction, dtype=dtype)
        self.fn, self._fn_kwargs = fn, kwargs
        self._casts_targets = getattr(fn, "_casts_targets", True)

    def call(self, y_true, y_pred):
        y_true = tf.convert_to_tensor(y_true) if not self._casts_targets else y_true
        y_true, y_pred = same_rank(y_true, y_pred)
        return while_traced(self.fn)(y_true, y_pred, **self._fn_kwargs)

    def get_config(self):
        from . import serialize
        return {**super().get_config(), "fn": serialize(self.fn), **self._fn_kwargs}

    @classmethod
    def from_config(cls, config):
        from . import deserialize
        config = dict(config)
        config["fn"] = deserialize(config["fn"])
        return cls(**config)

    def __repr__(self):
        return f"<LossFunctionWrapper({self.fn}, kwargs={self._fn_kwargs})>"


def _policy(dtype):
    from .. import dtype_policies
    return dtype_policies.get(_state.floatx() if dtype is None else dtype)


def _as(value, dtype):
    """A tensor of that dtype; a structure of tensors stays one."""
    if isinstance(value, (dict, list, tuple)) and any(tf.is_tensor(v) for v in tf.nest.flatten(value)):
        return tf.nest.map_structure(lambda v: _as(v, dtype), value)
    return tf.cast(value, dtype)


def as_dtype(value, dtype):
    """A tensor of that dtype, the same object if it is one already."""
    if tf.is_tensor(value) and value.dtype == dtype:
        return value
    return tf.cast(value, standardize_dtype(dtype))


def same_rank(a, b, expand_rank_1=True):
    """Two tensors, of which one may have a last axis of size 1 more than the other, with the same rank."""
    rank_a, rank_b = a.ndim, b.ndim
    if rank_a == rank_b:
        return a, b
    if rank_a == rank_b + 1 and a.shape[-1] == 1:
        return (a, tf.expand_dims(b, -1)) if rank_b == 1 and expand_rank_1 else (tf.squeeze(a, [-1]), b)
    if rank_b == rank_a + 1 and b.shape[-1] == 1:
        return (tf.expand_dims(a, -1), b) if rank_a == 1 and expand_rank_1 else (a, tf.squeeze(b, [-1]))
    return a, b


def reduce_values(values, reduction, weights=None):
    """One number of a tensor of values."""
    if reduction == "sum_over_batch_size" or reduction == "mean":
        return _core._batch_mean(values)
    if reduction is None or reduction == "none" or len(values.shape) == 0:
        return values
    if reduction == "sum":
        return tf.reduce_sum(values)
    if reduction == "mean_with_sample_weight" and weights is not None:
        return tf.math.divide_no_nan(tf.reduce_sum(values), tf.reduce_sum(tf.cast(weights, values.dtype)))
    return _core._batch_mean(values)


def apply_mask(sample_weight, mask, dtype, reduction):
    """The weights with a mask; for means, elements that are masked out do not count."""
    mask = tf.cast(mask, dtype)
    if reduction in ("mean", "sum_over_batch_size"):
        mask = mask * (tf.cast(tf.size(mask), dtype) / (tf.reduce_sum(mask) + _state.epsilon()))
    if sample_weight is None:
        return mask
    sample_weight, mask = same_rank(as_dtype(sample_weight, dtype), mask)
    if len(sample_weight.shape) < len(mask.shape):  # one weight per sample, a mask of its parts
        sample_weight = tf.reshape(sample_weight, list(sample_weight.shape) + [1] * (len(mask.shape)
                                                                                    - len(sample_weight.shape)))
    return sample_weight * mask


def reduce_weighted_values(values, sample_weight, mask, reduction, dtype):
    """The same with weights, which may be fewer than the values, and a mask."""
    values = as_dtype(values, dtype)
    if mask is not None:
        sample_weight = apply_mask(sample_weight, mask, dtype, reduction)
    weights = as_dtype(sample_weight, dtype)
    values, weights = same_rank(values, weights)
    missing = len(values.shape) - len(weights.shape)
    if missing > 0 and len(weights.shape) > 0:  # one weight per sample, several values in each
        weights = tf.reshape(weights, list(weights.shape) + [1] * missing)
    return reduce_values(values * weights, reduction, weights)
