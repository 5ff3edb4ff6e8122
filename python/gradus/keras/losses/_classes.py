"""Losses as objects."""
import inspect

from . import _functions
from ._ctc import ctc
from ._loss import FunctionLoss


def _loss(class_name, function, doc, **other):
    """The class of a function. Its settings are the function's, but for defaults and places that are given here; its
    reduction comes first or after them, as in Keras."""
    settings = {p.name: p.default for p in list(inspect.signature(function).parameters.values())[2:]
                if not p.name.startswith("ref_")}  # tensors to compare with are given to the function only
    settings.update(other.pop("defaults", {}))
    name = other.pop("name", function.__name__)
    reduction_first = other.pop("reduction_first", not settings)
    hidden = other.pop("hidden", ())
    order = ["reduction", "name", *settings] if reduction_first else [*settings, "reduction", "name"]
    order = other.pop("order", order) + ["dtype"]
    defaults = {**settings, "reduction": "sum_over_batch_size", "name": name, "dtype": None}
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [inspect.Parameter(p, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=defaults[p]) for p in order]
    signature = inspect.Signature(parameters)

    def __init__(self, *args, **kwargs):
        given = dict(defaults)
        if len(args) > len(order):
            raise TypeError(f"{class_name}() takes at most {len(order)} arguments, got {len(args)}")
        given.update(zip(order, args))
        unknown = [key for key in kwargs if key not in defaults or key in order[:len(args)]]
        if unknown:
            raise TypeError(f"{class_name}.__init__() got an unexpected keyword argument '{unknown[0]}'")
        given.update(kwargs)
        FunctionLoss.__init__(self, given["name"], given["reduction"], given["dtype"],
                              **{key: given[key] for key in settings})
        self.__dict__.update(self._settings)

    def get_config(self):
        config = FunctionLoss.get_config(self)
        for key in hidden:
            if config[key] == defaults[key]:
                del config[key]
        return config

    __init__.__signature__ = signature
    body = {"_casts_targets": getattr(function, "_casts_targets", True), "__init__": __init__, "get_config": get_config,
            "_function": staticmethod(function), "__doc__": doc, "__module__": "gradus.keras.losses", "__qualname__": class_name}
    return type(class_name, (FunctionLoss,), body)


f = _functions
MeanSquaredError = _loss("MeanSquaredError", f.mean_squared_error, "The mean of squared errors.")
MeanAbsoluteError = _loss("MeanAbsoluteError", f.mean_absolute_error, "The mean of absolute errors.")
MeanAbsolutePercentageError = _loss("MeanAbsolutePercentageError", f.mean_absolute_percentage_error,
                                    "The mean of relative errors, in percent.")
MeanSquaredLogarithmicError = _loss("MeanSquaredLogarithmicError", f.mean_squared_logarithmic_error,
                                    "The mean of squared errors of log(1 + y).")
CosineSimilarity = _loss("CosineSimilarity", f.cosine_similarity, "Minus the cosine of the angle.", hidden=["axis"])
Huber = _loss("Huber", f.huber, "Squared errors that grow linearly beyond delta.", name="huber_loss", hidden=["delta"])
LogCosh = _loss("LogCosh", f.log_cosh, "The logarithm of the hyperbolic cosine of errors.")
KLDivergence = _loss("KLDivergence", f.kl_divergence, "The Kullback-Leibler divergence.")
Poisson = _loss("Poisson", f.poisson, "The loss of Poisson regression.")
Hinge = _loss("Hinge", f.hinge, "max(1 - y_true * y_pred, 0).")
SquaredHinge = _loss("SquaredHinge", f.squared_hinge, "max(1 - y_true * y_pred, 0)^2.")
CategoricalHinge = _loss("CategoricalHinge", f.categorical_hinge, "The hinge of the right class and the best wrong one.")
BinaryCrossentropy = _loss("BinaryCrossentropy", f.binary_crossentropy, "Cross entropy of independent labels.")
BinaryFocalCrossentropy = _loss("BinaryFocalCrossentropy", f.binary_focal_crossentropy,
                                "Binary cross entropy in which easy examples count little.")
CategoricalCrossentropy = _loss("CategoricalCrossentropy", f.categorical_crossentropy,
                                "Cross entropy of one-hot labels.")
CategoricalFocalCrossentropy = _loss("CategoricalFocalCrossentropy", f.categorical_focal_crossentropy,
                                     "Categorical cross entropy in which easy examples count little.")
SparseCategoricalCrossentropy = _loss(
    "SparseCategoricalCrossentropy", f.sparse_categorical_crossentropy, "Cross entropy of class numbers.",
    order=["from_logits", "ignore_class", "reduction", "axis", "name"], hidden=["axis"])
CategoricalGeneralizedCrossEntropy = _loss(
    "CategoricalGeneralizedCrossEntropy", f.categorical_generalized_cross_entropy,
    "Between cross entropy and absolute error, for labels with mistakes.", defaults={"q": 0.5})
Dice = _loss("Dice", f.dice, "1 minus the overlap of two sets.", order=["reduction", "name", "axis"])
Tversky = _loss("Tversky", f.tversky, "1 minus a weighted overlap of two sets.",
                order=["alpha", "beta", "reduction", "name", "axis"])
Circle = _loss("Circle", f.circle, "Embeddings of one label near each other and far from the rest.",
               defaults={"gamma": 80.0}, order=["gamma", "margin", "remove_diagonal", "reduction", "name"])
CTC = _loss("CTC", ctc, "Connectionist temporal classification of sequences of labels.")
del f
