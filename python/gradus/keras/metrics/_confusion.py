"""Metrics that count true and false positives and negatives at thresholds."""
import gradus as tf

from .. import _state
from ..losses._loss import as_dtype, same_rank
from ._metric import Metric

_LOWEST = -1e10
_MANY = 8  # thresholds from which predictions are sorted into buckets instead of compared with each


def checked_thresholds(thresholds):
    """A list of numbers between 0 and 1."""
    listed = list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]
    bad = [t for t in listed if t is None or t < 0 or t > 1]
    if bad:
        raise ValueError(f"Threshold values must be in [0, 1]. Received: {bad}")
    return [float(t) for t in listed]


def are_even(thresholds):
    """Whether thresholds lie evenly between 0 and 1."""
    last = len(thresholds) - 1
    return len(thresholds) >= _MANY and all(abs(t - i / last) <= 1e-6 for i, t in enumerate(thresholds))


def _prepared(y_true, y_pred, sample_weight, top_k, class_id, dtype):
    y_pred = as_dtype(y_pred, dtype)
    y_true, y_pred = same_rank(as_dtype(y_true, dtype), y_pred)
    if top_k is not None:
        least = tf.math.top_k(y_pred, top_k)[0][..., -1:]
        y_pred = tf.where(y_pred >= least, y_pred, tf.fill(tf.shape(y_pred), tf.cast(_LOWEST, dtype)))
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
    if sample_weight is not None:
        sample_weight = as_dtype(sample_weight, dtype)
        y_pred, sample_weight = same_rank(y_pred, sample_weight)
        missing = len(y_pred.shape) - len(sample_weight.shape)
        if missing > 0 and len(sample_weight.shape) > 0:
            sample_weight = tf.reshape(sample_weight, list(sample_weight.shape) + [1] * missing)
        sample_weight = tf.broadcast_to(sample_weight, tf.shape(y_pred))
    return y_true, y_pred, sample_weight


def confusion(y_true, y_pred, thresholds, sample_weight=None, top_k=None, class_id=None, multi_label=False,
              even=False, dtype="float32"):
    """Positives and true positives that are predicted at each threshold, and those there are: four sums by name, of
    shape (thresholds,), or (thresholds, labels) with multi_label."""
    y_true, y_pred, weight = _prepared(y_true, y_pred, sample_weight, top_k, class_id, dtype)
    is_true = tf.cast(tf.not_equal(y_true, 0.0), dtype)
    if multi_label:
        labels = y_pred.shape[-1]
        y_pred, is_true = tf.reshape(y_pred, [-1, labels]), tf.reshape(is_true, [-1, labels])
        weight = None if weight is None else tf.reshape(weight, [-1, labels])
    else:
        y_pred, is_true = tf.reshape(y_pred, [-1]), tf.reshape(is_true, [-1])
        weight = None if weight is None else tf.reshape(weight, [-1])
    true_weight = is_true if weight is None else is_true * weight
    false_weight = 1.0 - is_true if weight is None else (1.0 - is_true) * weight
    if even and not multi_label:
        tp, fp = _by_buckets(y_pred, true_weight, false_weight, len(thresholds), dtype)
    else:
        limits = tf.reshape(tf.constant(thresholds, dtype), [-1] + [1] * len(y_pred.shape))
        above = tf.cast(tf.expand_dims(y_pred, 0) > limits, dtype)
        tp = tf.reduce_sum(above * tf.expand_dims(true_weight, 0), 1)
        fp = tf.reduce_sum(above * tf.expand_dims(false_weight, 0), 1)
    positives, negatives = tf.reduce_sum(true_weight, 0), tf.reduce_sum(false_weight, 0)
    return {"true_positives": tp, "false_positives": fp, "false_negatives": positives - tp, "true_negatives": negatives - fp}


def _by_buckets(y_pred, true_weight, false_weight, count, dtype):
    """A prediction is above all thresholds up to its bucket: sums by bucket, added up from the top."""
    bucket = tf.math.ceil(tf.clip_by_value(y_pred, 0.0, 1.0) * (count - 1.0)) - 1.0
    bucket = tf.cast(tf.maximum(bucket, 0.0), tf.int32)

    def sums(weights):
        return tf.math.cumsum(tf.math.unsorted_segment_sum(weights, bucket, count), reverse=True)
    return sums(true_weight), sums(false_weight)


class _Count(Metric):
    """One of the four counts."""

    _what = None

    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = checked_thresholds(0.5 if thresholds is None else thresholds)
        self.accumulator = self.add_variable((len(self.thresholds),), "zeros", name="accumulator")

    def update_state(self, y_true, y_pred, sample_weight=None):
        found = confusion(y_true, y_pred, self.thresholds, sample_weight, even=are_even(self.thresholds),
                          dtype=self._dtype)
        self.accumulator.assign_add(found[self._what])

    def result(self):
        return self.accumulator[0] if len(self.thresholds) == 1 else tf.convert_to_tensor(self.accumulator)

    def get_config(self):
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_Count):
    """How many positives are predicted to be."""
    _what = "true_positives"


class TrueNegatives(_Count):
    """How many negatives are predicted to be."""
    _what = "true_negatives"


class FalsePositives(_Count):
    """How many negatives are predicted to be positive."""
    _what = "false_positives"


class FalseNegatives(_Count):
    """How many positives are predicted to be negative."""
    _what = "false_negatives"


class _Ratio(Metric):
    """True positives divided by those and another count."""

    _other = None

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds, self.top_k, self.class_id = thresholds, top_k, class_id
        if thresholds is None:
            self.thresholds = [0.5 if top_k is None else _LOWEST]
        else:
            self.thresholds = checked_thresholds(thresholds)
        shape = (len(self.thresholds),)
        self.true_positives = self.add_variable(shape, "zeros", name="true_positives")
        setattr(self, self._other, self.add_variable(shape, "zeros", name=self._other))

    def update_state(self, y_true, y_pred, sample_weight=None):
        found = confusion(y_true, y_pred, self.thresholds, sample_weight, self.top_k, self.class_id,
                          even=are_even(self.thresholds), dtype=self._dtype)
        self.true_positives.assign_add(found["true_positives"])
        getattr(self, self._other).assign_add(found[self._other])

    def result(self):
        share = tf.math.divide_no_nan(self.true_positives, self.true_positives + getattr(self, self._other))
        return share[0] if len(self.thresholds) == 1 else share

    def get_config(self):
        return {**super().get_config(), "thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}


class Precision(_Ratio):
    """The share of true ones among predicted positives."""
    _other = "false_positives"


class Recall(_Ratio):
    """The share of predicted ones among true positives."""
    _other = "false_negatives"


class _FourCounts(Metric):
    """All counts at many thresholds."""

    def _make(self, shape):
        for name in ("true_positives", "false_positives", "true_negatives", "false_negatives"):
            setattr(self, name, self.add_variable(shape, "zeros", name=name))

    def _take(self, found):
        for name, value in found.items():
            getattr(self, name).assign_add(value)

    def _rates(self):
        tp, fp, tn, fn = (tf.convert_to_tensor(v) for v in (self.true_positives, self.false_positives, self.true_negatives,
                                                            self.false_negatives))
        ratio = tf.math.divide_no_nan
        return {"recall": ratio(tp, tp + fn), "precision": ratio(tp, tp + fp), "specificity": ratio(tn, tn + fp),
                "false_positive_rate": ratio(fp, fp + tn)}


def even_thresholds(count):
    """Evenly from a little below 0 to a little above 1."""
    return [-_state.epsilon(), *[(i + 1) / (count - 1) for i in range(count - 2)], 1.0 + _state.epsilon()]


class _AtValue(_FourCounts):
    """The best of one rate where another has at least some value."""

    _fixed = _wanted = _argument = None

    def __init__(self, value, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        if num_thresholds <= 0:
            raise ValueError(f"Argument `num_thresholds` must be an integer > 0. Received: num_thresholds={num_thresholds}")
        if not 0 <= value <= 1:
            raise ValueError(f"Argument `{self._argument}` must be in the range [0, 1]. Received: {self._argument}={value}")
        self.value, self.num_thresholds, self.class_id = value, num_thresholds, class_id
        self._even = num_thresholds > 1
        self.thresholds = [0.5] if num_thresholds == 1 else even_thresholds(num_thresholds)
        self._make((len(self.thresholds),))

    def update_state(self, y_true, y_pred, sample_weight=None):
        self._take(confusion(y_true, y_pred, self.thresholds, sample_weight, class_id=self.class_id, even=self._even,
                             dtype=self._dtype))

    def result(self):
        rates = self._rates()
        wanted = rates[self._wanted]
        return tf.reduce_max(tf.where(rates[self._fixed] >= self.value, wanted, tf.zeros_like(wanted)))

    def get_config(self):
        return {**super().get_config(), "class_id": self.class_id, "num_thresholds": self.num_thresholds,
                self._argument: self.value}


class SensitivityAtSpecificity(_AtValue):
    """The best sensitivity at a given specificity."""
    _fixed, _wanted, _argument = "specificity", "recall", "specificity"

    def __init__(self, specificity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(specificity, num_thresholds, class_id, name, dtype)


class SpecificityAtSensitivity(_AtValue):
    """The best specificity at a given sensitivity."""
    _fixed, _wanted, _argument = "recall", "specificity", "sensitivity"

    def __init__(self, sensitivity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)


class PrecisionAtRecall(_AtValue):
    """The best precision at a given recall."""
    _fixed, _wanted, _argument = "recall", "precision", "recall"

    def __init__(self, recall, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(recall, num_thresholds, class_id, name, dtype)


class RecallAtPrecision(_AtValue):
    """The best recall at a given precision."""
    _fixed, _wanted, _argument = "precision", "recall", "precision"

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
            self._even = are_even([0.0] + inner + [1.0])
            self._thresholds = [-_state.epsilon(), *inner, 1.0 + _state.epsilon()]
        else:
            if num_thresholds <= 1:
                raise ValueError(f"Argument `num_thresholds` must be an integer > 1. Received: num_thresholds={num_thresholds}")
            self.num_thresholds, self._even = num_thresholds, True
            self._thresholds = even_thresholds(num_thresholds)
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
        self._make((self.num_thresholds,) if labels is None else (self.num_thresholds, labels))
        self._built = True

    def update_state(self, y_true, y_pred, sample_weight=None):
        if not self._built:
            self._build(y_pred.shape[-1])
        y_pred = as_dtype(y_pred, self._dtype)
        if self._from_logits:
            y_pred = tf.sigmoid(y_pred)
        separate = self.multi_label
        self._take(confusion(y_true, y_pred, self._thresholds, sample_weight, multi_label=separate, even=self._even,
                             dtype=self._dtype))

    def _interpolated_pr(self):
        tp = tf.convert_to_tensor(self.true_positives)
        predicted, ratio = tp + self.false_positives, tf.math.divide_no_nan
        d_tp, d_predicted = tp[:-1] - tp[1:], predicted[:-1] - predicted[1:]
        slope = ratio(d_tp, tf.maximum(d_predicted, 0.0))
        intercept = tp[1:] - slope * predicted[1:]
        both = (predicted[:-1] > 0.0) & (predicted[1:] > 0.0)
        quotient = tf.where(both, ratio(predicted[:-1], tf.maximum(predicted[1:], 0.0)), tf.ones_like(slope))
        positives = tf.maximum(tp[1:] + self.false_negatives[1:], 0.0)
        return tf.reduce_sum(ratio(slope * (d_tp + intercept * tf.math.log(quotient)), positives), 0)

    def result(self):
        if self.curve == "PR" and self.summation_method == "interpolation":
            areas = self._interpolated_pr()
        else:
            rates = self._rates()
            x, y = ((rates["false_positive_rate"], rates["recall"]) if self.curve == "ROC"
                    else (rates["recall"], rates["precision"]))
            if self.summation_method == "interpolation":
                heights = (y[:-1] + y[1:]) / 2.0
            else:
                heights = (tf.minimum if self.summation_method == "minoring" else tf.maximum)(y[:-1], y[1:])
            areas = tf.reduce_sum((x[:-1] - x[1:]) * heights, 0)
        if not self.multi_label:
            return areas
        if self.label_weights is None:
            return tf.reduce_mean(areas)
        weights = tf.constant(self.label_weights, self._dtype)
        return tf.math.divide_no_nan(tf.reduce_sum(areas * weights), tf.reduce_sum(weights))

    def get_config(self):
        config = {**super().get_config(), "num_thresholds": self.num_thresholds, "curve": self.curve,
                  "summation_method": self.summation_method, "multi_label": self.multi_label,
                  "num_labels": self.num_labels, "label_weights": self.label_weights, "from_logits": self._from_logits}
        if self._init_from_thresholds:
            config["thresholds"] = self._thresholds[1:-1]
        return config
