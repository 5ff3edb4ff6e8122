"""Losses as metrics, and measures of regressions."""
import gradus as tf

from .. import _state, losses
from ..losses._loss import as_dtype, same_rank
from ._metric import Mean, MeanMetricWrapper, Metric


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

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = as_dtype(y_pred, self._dtype)
        y_true, y_pred = same_rank(as_dtype(y_true, self._dtype), y_pred)
        super().update_state(tf.math.squared_difference(y_pred, y_true), sample_weight)

    def result(self):
        return tf.sqrt(super().result())


def pearson_correlation(y_true, y_pred, axis=-1):
    """The correlation along the axis."""
    y_pred = _centered(y_pred, axis)
    y_true = _centered(tf.cast(y_true, y_pred.dtype), axis)
    return tf.reduce_sum(tf.math.l2_normalize(y_true, axis) * tf.math.l2_normalize(y_pred, axis), axis)


def _centered(x, axis):
    x = tf.convert_to_tensor(x)
    x = x if x.dtype.is_floating else tf.cast(x, _state.floatx())
    return x - tf.reduce_mean(x, axis, True)


def concordance_correlation(y_true, y_pred, axis=-1):
    """The correlation along the axis, less where means or variances differ."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = tf.cast(y_true, y_pred.dtype)
    a, b = _centered(y_true, axis), _centered(y_pred, axis)
    shift = tf.square(tf.reduce_mean(y_true, axis) - tf.reduce_mean(y_pred, axis))
    spread = tf.reduce_mean(a * a, axis) + tf.reduce_mean(b * b, axis)
    return 2.0 * tf.reduce_mean(a * b, axis) / (spread + shift + _state.epsilon())


class PearsonCorrelation(MeanMetricWrapper):
    """The mean correlation of targets and predictions."""

    def __init__(self, name="pearson_correlation", dtype=None, axis=-1):
        super().__init__(pearson_correlation, name, dtype, axis=axis)


class ConcordanceCorrelation(MeanMetricWrapper):
    """The mean concordance correlation of targets and predictions."""

    def __init__(self, name="concordance_correlation", dtype=None, axis=-1):
        super().__init__(concordance_correlation, name, dtype, axis=axis)


class R2Score(Metric):
    """The share of the variance that a regression explains."""

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

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = as_dtype(y_pred, self._dtype)
        y_true, y_pred = same_rank(as_dtype(y_true, self._dtype), y_pred)
        if len(y_pred.shape) < 2:
            y_true, y_pred = tf.expand_dims(y_true, -1), tf.expand_dims(y_pred, -1)
        if not self._built:
            self._build(y_pred.shape[-1])
        weight = tf.constant(1.0, self._dtype) if sample_weight is None else as_dtype(sample_weight, self._dtype)
        if len(weight.shape) == 1:
            weight = tf.expand_dims(weight, 1)
        weight = tf.broadcast_to(weight, tf.shape(y_true))
        weighted = y_true * weight
        self.sum.assign_add(tf.reduce_sum(weighted, 0))
        self.squared_sum.assign_add(tf.reduce_sum(y_true * weighted, 0))
        self.total_mse.assign_add(tf.reduce_sum(tf.square(y_true - y_pred) * weight, 0))
        self.count.assign_add(tf.reduce_sum(weight, 0))
        self.num_samples.assign_add(tf.cast(tf.size(y_true), self._dtype))

    def result(self):
        mean = self.sum / self.count
        total = self.squared_sum - self.sum * mean
        score = 1.0 - self.total_mse / total
        score = tf.where(tf.math.is_inf(score), tf.zeros_like(score), score)
        if self.class_aggregation == "uniform_average":
            score = tf.reduce_mean(score)
        elif self.class_aggregation == "variance_weighted_average":
            score = tf.reduce_sum(score * total) / tf.reduce_sum(total)
        if self.num_regressors:
            n, p = self.num_samples, float(self.num_regressors)
            score = 1.0 - (1.0 - score) * (n - 1.0) / (n - p - 1.0)
        return score

    def get_config(self):
        return {**super().get_config(), "class_aggregation": self.class_aggregation, "num_regressors": self.num_regressors}
