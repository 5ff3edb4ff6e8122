"""The base of metrics, and those that are a sum or a mean.

A metric keeps its state in variables, so that it can be updated inside a compiled step.
"""
import gradus as tf

from ...autograph._convert import while_traced
from .. import _scopes, _state, dtype_policies
from .._variable import Variable
from ..losses._loss import apply_mask, as_dtype, same_rank


class Metric:
    """Something that is measured over many batches.

    One of one's own makes variables in `__init__` with `add_weight`, changes them in `update_state`, and computes from
    them in `result`.
    """

    def __init__(self, dtype=None, name=None):
        self.name = name or _state.auto_name(type(self).__name__)
        self._dtype_policy = dtype_policies.get(dtype if dtype is not None else _state.floatx())
        self._dtype = self._dtype_policy.compute_dtype
        self._variables, self._metrics = [], []

    def __setattr__(self, name, value):
        if "_metrics" in self.__dict__:
            if isinstance(value, Variable):
                if not any(own is value for own in self._variables):
                    self._variables.append(value)
            elif isinstance(value, Metric) and not any(own is value for own in self._metrics):
                self._metrics.append(value)
        object.__setattr__(self, name, value)

    @property
    def dtype(self):
        """The dtype of the state."""
        return self._dtype

    @property
    def variables(self):
        """The state, with that of metrics within this one."""
        found = list(self._variables)
        for metric in self._metrics:
            found.extend(metric.variables)
        return found

    def add_variable(self, shape, initializer, dtype=None, aggregation="sum", layout=None, name=None):
        """Makes a variable of the metric."""
        if "_variables" not in self.__dict__:
            raise AttributeError("In your metric's `__init__()`, call `super().__init__()` before anything else.")
        kind = dtype or self._dtype
        with tf.init_scope(), _scopes.name_scope(self.name, caller=self):
            if initializer in ("zeros", None):
                value = tf.zeros(shape, kind)
            else:
                from .. import initializers
                value = initializers.get(initializer)(shape, dtype=kind)
            variable = Variable(value, dtype=kind, trainable=False, name=name)
        self._variables.append(variable)
        return variable

    def add_weight(self, shape=(), initializer=None, dtype=None, name=None, aggregation="sum"):
        """Makes a variable of the metric."""
        if isinstance(shape, str):  # add_weight("total"), as Keras 2 wrote it
            shape, name = (), shape
        return self.add_variable(() if shape is None else shape, initializer or "zeros", dtype, aggregation, name=name)

    def reset_state(self):
        """Makes the state zero: the start of an epoch."""
        for v in self.variables:
            v.assign(tf.zeros(v.shape, v.dtype))

    def reset_states(self):
        """As reset_state, by its older name."""
        self.reset_state()

    def update_state(self, *args, **kwargs):
        """Takes in a batch."""
        raise NotImplementedError("A metric needs a method update_state")

    def result(self):
        """The value now."""
        raise NotImplementedError("A metric needs a method result")

    def __call__(self, *args, **kwargs):
        """Takes in a batch and gives the value now."""
        self.update_state(*args, **kwargs)
        return self.result()

    def _with_values(self, values, run):
        kept = [tf.identity(v) for v in self.variables]
        for variable, value in zip(self.variables, values):
            variable.assign(value)
        result = run()
        after = [tf.identity(v) for v in self.variables]
        for variable, value in zip(self.variables, kept):
            variable.assign(value)
        return result, after

    def stateless_update_state(self, metric_variables, *args, **kwargs):
        """update_state on values instead of variables: their new values."""
        return self._with_values(metric_variables, lambda: self.update_state(*args, **kwargs))[1]

    def stateless_result(self, metric_variables):
        """result() of values instead of variables."""
        return self._with_values(metric_variables, self.result)[0]

    def stateless_reset_state(self):
        """The values of a state that was reset."""
        return [tf.zeros(v.shape, v.dtype) for v in self.variables]

    def get_config(self):
        """What from_config needs to make a metric like this one."""
        return {"name": self.name, "dtype": self._dtype_policy.name}

    @classmethod
    def from_config(cls, config):
        """A metric like the one that gave the config."""
        return cls(**config)

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"

    __str__ = __repr__


def samplewise(values, sample_weight, dtype, reduce=tf.reduce_mean):
    """One value and one weight per sample: parts of samples are averaged (or summed)."""
    values = as_dtype(values, dtype)
    rank = len(values.shape)
    if sample_weight is None:
        return (reduce(values, list(range(1, rank))) if rank > 1 else values), None
    weight = as_dtype(sample_weight, dtype)
    values, weight = same_rank(values, weight)
    rank, own = len(values.shape), len(weight.shape)
    if rank > own:
        values = reduce(values, list(range(own, rank)))
    values = values * weight
    if own > 1:
        weight = tf.broadcast_to(weight, tf.shape(values))
        axes = list(range(1, own))
        values, weight = reduce(values, axes), reduce(weight, axes)
    return values, weight


class Sum(Metric):
    """The sum of all values."""

    def __init__(self, name="sum", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_variable((), "zeros", name="total")

    def update_state(self, values, sample_weight=None):
        values, _ = samplewise(values, sample_weight, self._dtype, tf.reduce_sum)
        self.total.assign_add(tf.reduce_sum(values))

    def result(self):
        return tf.convert_to_tensor(self.total)

    def reset_state(self):
        self.total.assign(0)


class Mean(Metric):
    """The mean of all values, weighted if weights are given."""

    def __init__(self, name="mean", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_variable((), "zeros", name="total")
        self.count = self.add_variable((), "zeros", name="count")

    def update_state(self, values, sample_weight=None):
        values, weight = samplewise(values, sample_weight, self._dtype)
        if len(values.shape) == 0:
            self.total.assign_add(values)
            self.count.assign_add(1.0 if weight is None else tf.reshape(weight, []))
            return
        self.total.assign_add(tf.reduce_sum(values))
        if weight is None:
            size = values.shape[0]
            self.count.assign_add(float(size) if type(size) is int else tf.cast(tf.size(values), self._dtype))
        else:
            self.count.assign_add(tf.reduce_sum(weight))

    def result(self):
        return tf.math.divide_no_nan(self.total, self.count)

    def reset_state(self):
        self.total.assign(0)
        self.count.assign(0)


class MeanMetricWrapper(Mean):
    """The mean of a function of targets and predictions."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name=name or _state.auto_name(type(self).__name__), dtype=dtype)
        self._fn, self._fn_kwargs = fn, kwargs
        if self._fn.__name__ in _BETTER_HIGH:
            self._direction = "up"

    def update_state(self, y_true, y_pred, sample_weight=None):
        mask = _state.get_mask(y_pred)
        values = while_traced(self._fn)(y_true, y_pred, **self._fn_kwargs)
        if mask is not None:
            sample_weight = apply_mask(sample_weight, mask, self._dtype, "sum")
        super().update_state(values, sample_weight)

    def get_config(self):
        from . import serialize
        config = super().get_config()
        if type(self) is MeanMetricWrapper:
            config["fn"] = serialize(self._fn)
        return {**config, **self._fn_kwargs}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        if "fn" in config:
            from . import deserialize
            config["fn"] = deserialize(config["fn"])
        return cls(**config)


_BETTER_HIGH = ("binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy", "top_k_categorical_accuracy",
                "sparse_top_k_categorical_accuracy", "accuracy", "cosine_similarity")
