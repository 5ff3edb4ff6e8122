"""The base of metrics, and those that are a sum or a mean.

A metric keeps its state in variables, so that it can be updated inside a compiled step. What a batch adds to them,
and what they say, is computed by a class of the engine (gradus/metrics.h).
"""
import gradus as tf

from ... import _core
from ..._kinds import Kind
from ...autograph._convert import while_traced
from .. import _scopes, _state, dtype_policies
from .._variable import Variable
from ..losses._loss import apply_mask

_Tensor = _core.Tensor


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
        _core._set_zero(self.variables)

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


class NativeMetric(Metric):
    """A metric that a class of the engine computes. Here are its name, its variables and its config."""

    _state_names = ()  # attributes that hold the variables, in the order of the engine
    _native = None     # made when it is first needed, and again after an attribute was set

    def __setattr__(self, name, value):
        self.__dict__.pop("_native", None)
        super().__setattr__(name, value)

    def __getstate__(self):
        state = dict(self.__dict__)
        state.pop("_native", None)
        return state

    def _make(self, maker, *settings):
        """The metric of the engine that `maker` makes, with the variables of this one."""
        return maker(self._dtype, [getattr(self, name) for name in self._state_names], *settings)

    def _make_native(self):
        raise NotImplementedError

    def _computing(self):
        native = self._native
        if native is None:
            native = self.__dict__["_native"] = self._make_native()
        return native

    def update_state(self, y_true, y_pred, sample_weight=None):
        _core._metric_update(self._native or self._computing(), y_true, y_pred, sample_weight)

    def result(self):
        return _core._metric_result(self._native or self._computing())


class Sum(NativeMetric):
    """The sum of all values."""

    _state_names = ("total",)

    def __init__(self, name="sum", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_variable((), "zeros", name="total")

    def _make_native(self):
        return self._make(_core._metric_sum)

    def update_state(self, values, sample_weight=None):
        _core._metric_add_to_sum(self._native or self._computing(), values, sample_weight)

    def reset_state(self):
        _core._set_zero((self.total,))


class Mean(NativeMetric):
    """The mean of all values, weighted if weights are given."""

    _state_names = ("total", "count")

    def __init__(self, name="mean", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_variable((), "zeros", name="total")
        self.count = self.add_variable((), "zeros", name="count")

    def _make_native(self):
        return self._make(_core._metric_mean)

    def update_state(self, values, sample_weight=None):
        _core._metric_add_to_mean(self._native or self._computing(), values, sample_weight)

    def reset_state(self):
        _core._set_zero((self.total, self.count))


def in_engine(**settings):
    """Marks a function of targets and predictions that the engine has under the same name, with these settings."""
    def marked(function):
        function._in_engine = settings
        return function
    return marked


class MeanMetricWrapper(Mean):
    """The mean of a function of targets and predictions."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name=name or _state.auto_name(type(self).__name__), dtype=dtype)
        self._fn, self._fn_kwargs = fn, kwargs
        if self._fn.__name__ in _BETTER_HIGH:
            self._direction = "up"
        settings = getattr(fn, "_in_engine", None)
        self._is_in_engine = settings is not None and settings.keys() >= kwargs.keys()

    def _make_native(self):
        if not self._is_in_engine:
            return super()._make_native()
        settings = {**self._fn._in_engine, **self._fn_kwargs}
        return self._make(_core._metric_mean_of, self._fn.__name__, _state.floatx(), _state.epsilon(), *settings.values())

    def update_state(self, y_true, y_pred, sample_weight=None):
        mask = _state.get_mask(y_pred)
        if mask is not None:
            sample_weight = apply_mask(sample_weight, mask, self._dtype, "sum")
        if self._is_in_engine and (type(y_pred) is _Tensor or not isinstance(y_pred, Kind)):
            _core._metric_update(self._native or self._computing(), y_true, y_pred, sample_weight)
        else:
            values = while_traced(self._fn)(y_true, y_pred, **self._fn_kwargs)
            own_mask = _state.get_mask(values)
            if own_mask is not None and sample_weight is not None:
                sample_weight = apply_mask(sample_weight, own_mask, self._dtype, "sum")
            native = self._make(_core._metric_mean) if self._is_in_engine else self._native or self._computing()
            _core._metric_add_to_mean(native, values, sample_weight)

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
