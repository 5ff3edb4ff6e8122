"""Losses: what training makes small. Each is a function of targets and predictions and an object that also weights and
reduces; `get` finds them by name."""
from .._registry import FunctionRegistry as _FunctionRegistry
from ._classes import (CTC, BinaryCrossentropy, BinaryFocalCrossentropy, CategoricalCrossentropy,
                       CategoricalFocalCrossentropy, CategoricalGeneralizedCrossEntropy, CategoricalHinge, Circle,
                       CosineSimilarity, Dice, Hinge, Huber, KLDivergence, LogCosh, MeanAbsoluteError,
                       MeanAbsolutePercentageError, MeanSquaredError, MeanSquaredLogarithmicError, Poisson,
                       SparseCategoricalCrossentropy, SquaredHinge, Tversky)
from ._ctc import ctc
from ._functions import (binary_crossentropy, binary_focal_crossentropy, categorical_crossentropy,
                         categorical_focal_crossentropy, categorical_generalized_cross_entropy, categorical_hinge,
                         circle, cosine_similarity, dice, hinge, huber, kl_divergence, log_cosh, mean_absolute_error,
                         mean_absolute_percentage_error, mean_squared_error, mean_squared_logarithmic_error, poisson,
                         sparse_categorical_crossentropy, squared_hinge, tversky)
from ._loss import Loss, LossFunctionWrapper, Reduction

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence = kl_divergence
logcosh = log_cosh
bce = BCE = binary_crossentropy

_FUNCTIONS = (binary_crossentropy, binary_focal_crossentropy, categorical_crossentropy, categorical_focal_crossentropy,
              categorical_generalized_cross_entropy, categorical_hinge, circle, cosine_similarity, ctc, dice, hinge, huber,
              kl_divergence, log_cosh, mean_absolute_error, mean_absolute_percentage_error, mean_squared_error,
              mean_squared_logarithmic_error, poisson, sparse_categorical_crossentropy, squared_hinge, tversky)
_CLASSES = (CTC, BinaryCrossentropy, BinaryFocalCrossentropy, CategoricalCrossentropy, CategoricalFocalCrossentropy,
            CategoricalGeneralizedCrossEntropy, CategoricalHinge, Circle, CosineSimilarity, Dice, Hinge, Huber,
            KLDivergence, LogCosh, MeanAbsoluteError, MeanAbsolutePercentageError, MeanSquaredError, MeanSquaredLogarithmicError,
            Poisson, SparseCategoricalCrossentropy, SquaredHinge, Tversky)

_registry = _FunctionRegistry("loss", "keras.losses")
for _one in _CLASSES:
    _registry.add()(_one)
_registry.add_functions(**{_one.__name__: _one for _one in _FUNCTIONS}, mse=mse, MSE=mse, mae=mae, MAE=mae, mape=mape,
                        MAPE=mape, msle=msle, MSLE=msle, bce=bce, BCE=bce, kld=kld, KLD=kld, logcosh=log_cosh)


def get(identifier):
    """The loss that a name, a dict, a class, a function or a loss stands for."""
    return _registry.get(identifier)


def serialize(loss):
    """The dict from which `deserialize` makes the loss again."""
    return _registry.serialize(loss)


def deserialize(name, custom_objects=None):
    """The loss that `serialize` wrote down."""
    return _registry.deserialize(name, custom_objects)
