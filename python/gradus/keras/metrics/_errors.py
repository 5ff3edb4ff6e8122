"""Losses as metrics, and measures of regressions."""
import gradus as tf

from ... import _core
from .. import _state, losses
from ._metric import Mean, MeanMetricWrapper, NativeMetric, in_engine


def _of_loss(class_name, function, name, doc, **settings):
    """The metric that is the mean of a loss."""
    order = ["name", "dtype", *settings]
    defaults = {"name": name, "dtype": None, **settings}

    def __init__(self, *args, **kwargs):
        unknown = [key for key in kwargs if key not in defaults]
        if unknown or len(args) > len(order):
            raise TypeError(f"{class_name}.__init__() got an unexpected argument "
                            f"{unknown[0] if unknown else args[len(order)]!r}")
        given = {**defaults, **dict(zip(order, args)), **kwargs}
        MeanMetricWrapper.__init__(self, function, given.pop("name"), given.pop("dtype"), **given)
        self.__dict__.update(given)

    return type(class_name, (MeanMetricWrapper,), {"__init__": __init__, "__doc__": doc,
                                                   "__module__": "gradus.keras.metrics", "__qualname__": class_name})


def _cosine(y_true, y_pred, axis=-1):
    return -losses.cosine_similarity(y_true, y_pred, axis)


_cosine.__name__ = "cosine_similarity"
in_engine(axis=-1)(_cosine)

# Cross entropies are not among them: they look for the logits that predictions were made from.
for _one in (losses.mean_squared_error, losses.mean_absolute_error, losses.mean_absolute_percentage_error,
             losses.mean_squared_logarithmic_error, losses.log_cosh, losses.kl_divergence, losses.poisson, losses.hinge,
             losses.squared_hinge, losses.categorical_hinge):
    in_engine()(_one)

MeanSquaredError = _of_loss("MeanSquaredError", losses.mean_squared_error, "mean_squared_error",
                            "The mean of squared errors.")
MeanAbsoluteError = _of_loss("MeanAbsoluteError", losses.mean_absolute_error, "mean_absolute_error",
                             "The mean of absolute errors.")
MeanAbsolutePercentageError = _of_loss("MeanAbsolutePercentageError", losses.mean_absolute_percentage_error,
                                       "mean_absolute_percentage_error", "The mean of relative errors, in percent.")
MeanSquaredLogarithmicError = _of_loss("MeanSquaredLogarithmicError", losses.mean_squared_logarithmic_error,
                                       "mean_squared_logarithmic_error", "The mean of squared errors of log(1 + y).")
LogCoshError = _of_loss("LogCoshError", losses.log_cosh, "logcosh", "The mean of log(cosh(error)).")
KLDivergence = _of_loss("KLDivergence", losses.kl_divergence, "kl_divergence", "The Kullback-Leibler divergence.")
Poisson = _of_loss("Poisson", losses.poisson, "poisson", "The loss of Poisson regression.")
Hinge = _of_loss("Hinge", losses.hinge, "hinge", "max(1 - y_true * y_pred, 0).")
SquaredHinge = _of_loss("SquaredHinge", losses.squared_hinge, "squared_hinge", "max(1 - y_true * y_pred, 0)^2.")
CategoricalHinge = _of_loss("CategoricalHinge", losses.categorical_hinge, "categorical_hinge",
                            "The hinge of the right class and the best wrong one.")
BinaryCrossentropy = _of_loss("BinaryCrossentropy", losses.binary_crossentropy, "binary_crossentropy",
                              "Cross entropy of independent labels.", from_logits=False, label_smoothing=0)
CategoricalCrossentropy = _of_loss("CategoricalCrossentropy", losses.categorical_crossentropy,
                                   "categorical_crossentropy", "Cross entropy of one-hot labels.", from_logits=False,
                                   label_smoothing=0, axis=-1)
SparseCategoricalCrossentropy = _of_loss("SparseCategoricalCrossentropy", losses.sparse_categorical_crossentropy,
                                         "sparse_categorical_crossentropy", "Cross entropy of class numbers.",
                                         from_logits=False, ignore_class=None, axis=-1)


class CosineSimilarity(MeanMetricWrapper):
    """The mean cosine of the angle between targets and predictions."""

    def __init__(self, name="cosine_similarity", dtype=None, axis=-1):
        super().__init__(_cosine, name, dtype, axis=axis)

    def get_config(self):
        config = super().get_config()
        if config["axis"] == -1:
            del config["axis"]
        return config


class RootMeanSquaredError(Mean):
    """The root of the mean of squared errors."""

    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name, dtype)

    def _make_native(self):
        return self._make(_core._metric_root_mean_squared_error)

    def update_state(self, y_true, y_pred, sample_weight=None):
        NativeMetric.update_state(self, y_true, y_pred, sample_weight)


@in_engine(axis=-1)
def pearson_correlation(y_true, y_pred, axis=-1):
    """The correlation along the axis."""
    return _core._metric_values(y_true, y_pred, "pearson_correlation", _state.floatx(), _state.epsilon(), axis)


@in_engine(axis=-1)
def concordance_correlation(y_true, y_pred, axis=-1):
    """The correlation along the axis, less where means or variances differ."""
    return _core._metric_values(y_true, y_pred, "concordance_correlation", _state.floatx(), _state.epsilon(), axis)


class PearsonCorrelation(MeanMetricWrapper):
    """The mean correlation of targets and predictions."""

    def __init__(self, name="pearson_correlation", dtype=None, axis=-1):
        super().__init__(pearson_correlation, name, dtype, axis=axis)


class ConcordanceCorrelation(MeanMetricWrapper):
    """The mean concordance correlation of targets and predictions."""

    def __init__(self, name="concordance_correlation", dtype=None, axis=-1):
        super().__init__(concordance_correlation, name, dtype, axis=axis)


class R2Score(NativeMetric):
    """The share of the variance that a regression explains."""

    _state_names = ("num_samples", "squared_sum", "sum", "total_mse", "count")

    def __init__(self, class_aggregation="uniform_average", num_regressors=0, name="r2_score", dtype=None):
        super().__init__(name=name, dtype=dtype)
        if class_aggregation not in (None, "uniform_average", "variance_weighted_average"):
            raise ValueError("Invalid value for argument `class_aggregation`. Expected one of (None, 'uniform_average', "
                             f"'variance_weighted_average'). Received: class_aggregation={class_aggregation}")
        if num_regressors < 0:
            raise ValueError("Invalid value for argument `num_regressors`. Expected a value >= 0. Received: "
                             f"num_regressors={num_regressors}")
        self.class_aggregation, self.num_regressors = class_aggregation, num_regressors
        self.num_samples = self.add_variable((), "zeros", name="num_samples")
        self._built = False

    def _build(self, outputs):
        self.squared_sum = self.add_variable((outputs,), "zeros", name="squared_sum")
        self.sum = self.add_variable((outputs,), "zeros", name="sum")
        self.total_mse = self.add_variable((outputs,), "zeros", name="residual")
        self.count = self.add_variable((outputs,), "zeros", name="count")
        self._built = True

    def _make_native(self):
        return self._make(_core._metric_r2_score, self.class_aggregation, self.num_regressors)

    def update_state(self, y_true, y_pred, sample_weight=None):
        if not self._built:
            shape = tf.convert_to_tensor(y_pred).shape
            self._build(shape[-1] if len(shape) > 1 else 1)
        super().update_state(y_true, y_pred, sample_weight)

    def get_config(self):
        return {**super().get_config(), "class_aggregation": self.class_aggregation, "num_regressors": self.num_regressors}
