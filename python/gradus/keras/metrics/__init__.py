"""Metrics: what is measured over many batches. `get` finds them by name."""
from .. import losses as _losses
from . import _kinds  # noqa: F401 (enters what metrics do with strings and ragged tensors)
from .._registry import FunctionRegistry as _FunctionRegistry
from .._state import to_snake_case as _snake
from ..losses import (binary_crossentropy, binary_focal_crossentropy, categorical_crossentropy,
                      categorical_focal_crossentropy, categorical_hinge, hinge, huber, kl_divergence, log_cosh,
                      mean_absolute_error, mean_absolute_percentage_error, mean_squared_error,
                      mean_squared_logarithmic_error, poisson, sparse_categorical_crossentropy, squared_hinge)
from ._accuracy import (Accuracy, BinaryAccuracy, CategoricalAccuracy, SparseCategoricalAccuracy,
                        SparseTopKCategoricalAccuracy, TopKCategoricalAccuracy, binary_accuracy, categorical_accuracy,
                        sparse_categorical_accuracy, sparse_top_k_categorical_accuracy, top_k_categorical_accuracy)
from ._confusion import (AUC, FalseNegatives, FalsePositives, Precision, PrecisionAtRecall, Recall, RecallAtPrecision,
                         SensitivityAtSpecificity, SpecificityAtSensitivity, TrueNegatives, TruePositives)
from ._errors import (BinaryCrossentropy, CategoricalCrossentropy, CategoricalHinge, ConcordanceCorrelation,
                      CosineSimilarity, Hinge, KLDivergence, LogCoshError, MeanAbsoluteError,
                      MeanAbsolutePercentageError, MeanSquaredError, MeanSquaredLogarithmicError, PearsonCorrelation,
                      Poisson, R2Score, RootMeanSquaredError, SparseCategoricalCrossentropy, SquaredHinge,
                      concordance_correlation, pearson_correlation)
from ._metric import Mean, MeanMetricWrapper, Metric, Sum
from ._overlap import BinaryIoU, F1Score, FBetaScore, IoU, MeanIoU, OneHotIoU, OneHotMeanIoU

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error

_CLASSES = (AUC, Accuracy, BinaryAccuracy, BinaryCrossentropy, BinaryIoU, CategoricalAccuracy, CategoricalCrossentropy,
            CategoricalHinge, ConcordanceCorrelation, CosineSimilarity, F1Score, FBetaScore, FalseNegatives,
            FalsePositives, Hinge, IoU, KLDivergence, LogCoshError, Mean, MeanAbsoluteError,
            MeanAbsolutePercentageError, MeanIoU, MeanMetricWrapper, MeanSquaredError, MeanSquaredLogarithmicError,
            OneHotIoU, OneHotMeanIoU, PearsonCorrelation, Poisson, Precision, PrecisionAtRecall, R2Score, Recall,
            RecallAtPrecision, RootMeanSquaredError, SensitivityAtSpecificity, SparseCategoricalAccuracy,
            SparseCategoricalCrossentropy, SparseTopKCategoricalAccuracy, SpecificityAtSensitivity, SquaredHinge, Sum,
            TopKCategoricalAccuracy, TrueNegatives, TruePositives)

_registry = _FunctionRegistry("metric")
for _one in _CLASSES:
    _registry.add(_snake(_one.__name__))(_one)
_registry.add_functions(
    mse=MeanSquaredError, MSE=MeanSquaredError, mae=MeanAbsoluteError, MAE=MeanAbsoluteError,
    mape=MeanAbsolutePercentageError, MAPE=MeanAbsolutePercentageError, msle=MeanSquaredLogarithmicError,
    MSLE=MeanSquaredLogarithmicError, bce=BinaryCrossentropy, BCE=BinaryCrossentropy)


def get(identifier):
    """The metric that a name, a dict, a class, a function or a metric stands for."""
    return _registry.get(identifier)


def serialize(metric):
    """The dict from which `deserialize` makes the metric again."""
    return _registry.serialize(metric)


def deserialize(config, custom_objects=None):
    """The metric (or function) that `serialize` wrote down."""
    if isinstance(config, dict) and config.get("class_name") == "function":
        name = config["config"]
        found = globals().get(name) or getattr(_losses, name, None) or (custom_objects or {}).get(name)
        if callable(found):
            return found
        config = name
    return _registry.deserialize(config, custom_objects)
