"""Metrics that count true and false positives and negatives at thresholds."""
from ... import _core
from .. import _state
from ._metric import NativeMetric


def checked_thresholds(thresholds):
    """A list of numbers between 0 and 1."""
    listed = list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]
    bad = [t for t in listed if t is None or t < 0 or t > 1]
    if bad:
        raise ValueError(f"Threshold values must be in [0, 1]. Received: {bad}")
    return [float(t) for t in listed]


class _Count(NativeMetric):
    """One of the four counts."""

    _state_names = ("accumulator",)
    _maker = None

    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = checked_thresholds(0.5 if thresholds is None else thresholds)
        self.accumulator = self.add_variable((len(self.thresholds),), "zeros", name="accumulator")

    def _make_native(self):
        return self._make(self._maker, self.thresholds)

    def get_config(self):
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_Count):
    """How many positives are predicted to be."""
    _maker = staticmethod(_core._metric_true_positives)


class TrueNegatives(_Count):
    """How many negatives are predicted to be."""
    _maker = staticmethod(_core._metric_true_negatives)


class FalsePositives(_Count):
    """How many negatives are predicted to be positive."""
    _maker = staticmethod(_core._metric_false_positives)


class FalseNegatives(_Count):
    """How many positives are predicted to be negative."""
    _maker = staticmethod(_core._metric_false_negatives)


class _Ratio(NativeMetric):
    """True positives divided by those and another count."""

    _maker = _other = None

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds, self.top_k, self.class_id = thresholds, top_k, class_id
        if thresholds is None:
            self.thresholds = [0.5 if top_k is None else -1e10]
        else:
            self.thresholds = checked_thresholds(thresholds)
        shape = (len(self.thresholds),)
        self.true_positives = self.add_variable(shape, "zeros", name="true_positives")
        setattr(self, self._other, self.add_variable(shape, "zeros", name=self._other))

    @property
    def _state_names(self):
        return "true_positives", self._other

    def _make_native(self):
        return self._make(self._maker, None if self.init_thresholds is None else self.thresholds, self.top_k, self.class_id)

    def get_config(self):
        return {**super().get_config(), "thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}


class Precision(_Ratio):
    """The share of true ones among predicted positives."""
    _maker, _other = staticmethod(_core._metric_precision), "false_positives"


class Recall(_Ratio):
    """The share of predicted ones among true positives."""
    _maker, _other = staticmethod(_core._metric_recall), "false_negatives"


class _FourCounts(NativeMetric):
    """All counts at many thresholds."""

    _state_names = ("true_positives", "false_positives", "true_negatives", "false_negatives")

    def _make_counts(self, shape):
        for name in self._state_names:
            setattr(self, name, self.add_variable(shape, "zeros", name=name))


def even_thresholds(count, outside):
    """Evenly from a little below 0 to a little above 1."""
    return [0.0 - outside, *[(i + 1) / (count - 1) for i in range(count - 2)], 1.0 + outside]


class _AtValue(_FourCounts):
    """The best of one rate where another has at least some value."""

    _maker = _argument = None

    def __init__(self, value, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        if num_thresholds <= 0:
            raise ValueError(f"Argument `num_thresholds` must be an integer > 0. Received: num_thresholds={num_thresholds}")
        if not 0 <= value <= 1:
            raise ValueError(f"Argument `{self._argument}` must be in the range [0, 1]. Received: {self._argument}={value}")
        self.value, self.num_thresholds, self.class_id = value, num_thresholds, class_id
        self.thresholds = [0.5] if num_thresholds == 1 else even_thresholds(num_thresholds, 0.0)
        self._make_counts((len(self.thresholds),))

    def _make_native(self):
        return self._make(self._maker, self.value, self.num_thresholds, self.class_id)

    def get_config(self):
        return {**super().get_config(), "class_id": self.class_id, "num_thresholds": self.num_thresholds,
                self._argument: self.value}


class SensitivityAtSpecificity(_AtValue):
    """The best sensitivity at a given specificity."""
    _maker, _argument = staticmethod(_core._metric_sensitivity_at_specificity), "specificity"

    def __init__(self, specificity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(specificity, num_thresholds, class_id, name, dtype)


class SpecificityAtSensitivity(_AtValue):
    """The best specificity at a given sensitivity."""
    _maker, _argument = staticmethod(_core._metric_specificity_at_sensitivity), "sensitivity"

    def __init__(self, sensitivity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)


class PrecisionAtRecall(_AtValue):
    """The best precision at a given recall."""
    _maker, _argument = staticmethod(_core._metric_precision_at_recall), "recall"

    def __init__(self, recall, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(recall, num_thresholds, class_id, name, dtype)


class RecallAtPrecision(_AtValue):
    """The best recall at a given precision."""
    _maker, _argument = staticmethod(_core._metric_recall_at_precision), "precision"

    def __init__(self, precision, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(precision, num_thresholds, class_id, name, dtype)


class AUC(_FourCounts):
    """The area under a curve of recall over false positives (ROC) or of precision over recall (PR)."""

    def __init__(self, num_thresholds=200, curve="ROC", summation_method="interpolation", name=None, dtype=None,
                 thresholds=None, multi_label=False, num_labels=None, label_weights=None, from_logits=False):
        super().__init__(name=name, dtype=dtype)
        self.curve, self.summation_method = str(curve).upper(), str(summation_method).lower()
        if self.curve not in ("ROC", "PR"):
            raise ValueError(f'Invalid AUC curve value: "{curve}". Expected values are ["PR", "ROC"]')
        if self.summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(f'Invalid AUC summation method value: "{summation_method}". Expected values are '
                             '["interpolation", "majoring", "minoring"]')
        self._init_from_thresholds = thresholds is not None
        if thresholds is not None:
            inner = sorted(checked_thresholds(thresholds))
            self.num_thresholds = len(inner) + 2
            self._thresholds = [-_state.epsilon(), *inner, 1.0 + _state.epsilon()]
        else:
            if num_thresholds <= 1:
                raise ValueError(f"Argument `num_thresholds` must be an integer > 1. Received: num_thresholds={num_thresholds}")
            self.num_thresholds = num_thresholds
            self._thresholds = even_thresholds(num_thresholds, _state.epsilon())
        self.multi_label, self.num_labels = multi_label, num_labels
        self.label_weights, self._from_logits = label_weights, from_logits
        self._built = False
        if not multi_label:
            self._build(None)
        elif num_labels:
            self._build(num_labels)

    @property
    def thresholds(self):
        return list(self._thresholds)

    def _build(self, labels):
        self._make_counts((self.num_thresholds,) if labels is None else (self.num_thresholds, labels))
        self._built = True

    def _make_native(self):
        inner = self._thresholds[1:-1] if self._init_from_thresholds else None
        labels = self.true_positives.shape[1] if self.multi_label else None
        return self._make(_core._metric_auc, self.num_thresholds, self.curve, self.summation_method, inner,
                          self.multi_label, labels, self.label_weights, self._from_logits, -self._thresholds[0])

    def update_state(self, y_true, y_pred, sample_weight=None):
        if not self._built:
            self._build(y_pred.shape[-1])
        super().update_state(y_true, y_pred, sample_weight)

    def get_config(self):
        config = {**super().get_config(), "num_thresholds": self.num_thresholds, "curve": self.curve,
                  "summation_method": self.summation_method, "multi_label": self.multi_label,
                  "num_labels": self.num_labels, "label_weights": self.label_weights, "from_logits": self._from_logits}
        if self._init_from_thresholds:
            config["thresholds"] = self._thresholds[1:-1]
        return config
