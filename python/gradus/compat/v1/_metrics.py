"""tf.metrics: each gives a value and an operation that adds a batch to it, over local variables that count."""
import gradus as tf

from ._functions import in_graph, to_tensor
from ._variables import GraphKeys, get_variable, variable_scope


def _counter(name, shape=()):
    return get_variable(name, shape=list(shape), dtype=tf.float32, trainable=False,
                        initializer=lambda shape, dtype=None, **_: in_graph(tf.zeros)(shape, dtype),
                        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES])


def _collected(value, update, metrics_collections, updates_collections):
    from . import add_to_collections
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


@in_graph
def _divide(total, count):
    return tf.math.divide_no_nan(total, count)


@in_graph
def _weighted_sums(values, weights):
    """The sum of weighted values, and the sum of the weights."""
    values = tf.cast(values, tf.float32)
    if weights is None:
        return tf.reduce_sum(values), tf.cast(tf.size(values), tf.float32)
    weights = tf.cast(weights, tf.float32)
    missing = values.shape.rank - weights.shape.rank
    if missing > 0 and weights.shape.rank > 0:
        weights = tf.reshape(weights, tf.concat([tf.shape(weights), [1] * missing], 0))
    weights = weights + tf.zeros_like(values)
    return tf.reduce_sum(values * weights), tf.reduce_sum(weights)


def _mean_of(kind, values, weights, metrics_collections, updates_collections, name, last=None):
    with variable_scope(name, kind):
        total, count = _counter("total"), _counter("count")
        added, counted = _weighted_sums(values, weights)
        value, update = _divide(total, count), _divide(total.assign_add(added), count.assign_add(counted))
        if last is not None:
            value, update = last(value), last(update)
        return _collected(value, update, metrics_collections, updates_collections)


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The weighted mean of all values so far."""
    return _mean_of("mean", values, weights, metrics_collections, updates_collections, name)


def _mean_function(kind, function, last=None):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        labels, predictions = to_tensor(labels), to_tensor(predictions)
        return _mean_of(kind, function(labels, predictions), weights, metrics_collections, updates_collections, name, last)
    metric.__name__, metric.__doc__ = kind, f"The {kind.replace('_', ' ')} of all batches so far."
    return metric


accuracy = _mean_function("accuracy", in_graph(lambda labels, predictions: tf.cast(
    tf.equal(tf.cast(labels, predictions.dtype), predictions), tf.float32), "Equal"))
mean_absolute_error = _mean_function("mean_absolute_error", in_graph(lambda labels, predictions: tf.abs(
    predictions - tf.cast(labels, predictions.dtype)), "Abs"))
mean_squared_error = _mean_function("mean_squared_error", in_graph(lambda labels, predictions: tf.square(
    predictions - tf.cast(labels, predictions.dtype)), "Square"))
root_mean_squared_error = _mean_function("root_mean_squared_error", in_graph(lambda labels, predictions: tf.square(
    predictions - tf.cast(labels, predictions.dtype)), "Square"), in_graph(tf.sqrt, "Sqrt"))


def percentage_below(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The share of values below a threshold."""
    below = in_graph(lambda values: tf.cast(values < threshold, tf.float32), "Less")(values)
    return _mean_of("percentage_below_threshold", below, weights, metrics_collections, updates_collections, name)


_KINDS = {"true_positives": (True, True), "false_positives": (False, True), "false_negatives": (True, False),
          "true_negatives": (False, False)}


@in_graph
def _cases(labels, predictions, weights, label, prediction):
    """How often this label met this prediction."""
    hits = tf.logical_and(tf.equal(tf.cast(labels, tf.bool), label), tf.equal(tf.cast(predictions, tf.bool), prediction))
    hits = tf.cast(hits, tf.float32)
    return tf.reduce_sum(hits if weights is None else hits * tf.cast(weights, tf.float32))


def _count(kind, labels, predictions, weights):
    """The number of such cases so far, and the same after this batch."""
    count = _counter("count")
    return in_graph(tf.identity)(count), count.assign_add(_cases(labels, predictions, weights, *_KINDS[kind]))


def _case_function(kind):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with variable_scope(name, kind):
            return _collected(*_count(kind, labels, predictions, weights), metrics_collections, updates_collections)
    metric.__name__, metric.__doc__ = kind, f"The number of {kind.replace('_', ' ')} so far."
    return metric


true_positives, false_positives = _case_function("true_positives"), _case_function("false_positives")
true_negatives, false_negatives = _case_function("true_negatives"), _case_function("false_negatives")


def _share_function(kind, other):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with variable_scope(name, kind):
            with variable_scope("true_positives"):
                right, more_right = _count("true_positives", labels, predictions, weights)
            with variable_scope(other):
                wrong, more_wrong = _count(other, labels, predictions, weights)
            return _collected(_divide(right, right + wrong), _divide(more_right, more_right + more_wrong),
                              metrics_collections, updates_collections)
    metric.__name__, metric.__doc__ = kind, f"True positives among them and the {other.replace('_', ' ')}, so far."
    return metric


precision, recall = _share_function("precision", "false_positives"), _share_function("recall", "false_negatives")


@in_graph
def _cases_above(labels, predictions, weights, thresholds):
    """The four counts at each threshold, by rows in the order of _KINDS."""
    labels = tf.cast(tf.reshape(labels, [1, -1]), tf.float32)
    above = tf.cast(tf.reshape(predictions, [1, -1]) > tf.reshape(tf.constant(thresholds, tf.float32), [-1, 1]), tf.float32)
    weights = tf.ones_like(labels) if weights is None else tf.reshape(tf.cast(weights, tf.float32), [1, -1])
    rows = [(labels if label else 1 - labels) * (above if prediction else 1 - above) * weights
            for label, prediction in _KINDS.values()]
    return tf.stack([tf.reduce_sum(r, 1) for r in rows])


@in_graph
def _area(counts, curve, method):
    """Under the curve of true positives over false positives (ROC), or of precision over recall (PR)."""
    hits, false_alarms, misses, rejects = tf.unstack(counts)
    if curve == "PR" and method == "careful_interpolation":
        return _careful_area(hits, false_alarms, misses)
    recall = (hits + 1e-6) / (hits + misses + 1e-6)
    x, y = ((false_alarms / (false_alarms + rejects + 1e-6), recall) if curve == "ROC" else
            (recall, (hits + 1e-6) / (hits + false_alarms + 1e-6)))
    height = {"minoring": tf.minimum, "majoring": tf.maximum}.get(method, lambda a, b: (a + b) / 2.0)
    return tf.reduce_sum((x[:-1] - x[1:]) * height(y[:-1], y[1:]))


def _careful_area(hits, false_alarms, misses):
    """Between two thresholds true positives are a linear function of positives; so precision is the integral of that."""
    found, above = hits[:-1] - hits[1:], hits + false_alarms
    slope = tf.math.divide_no_nan(found, above[:-1] - above[1:])
    start = hits[1:] - slope * above[1:]
    ratio = tf.where((above[:-1] > 0) & (above[1:] > 0), tf.math.divide_no_nan(above[:-1], above[1:]), 1.0)
    area = slope * (found + start * tf.math.log(tf.where(ratio > 0, ratio, 1.0)))
    return tf.reduce_sum(tf.math.divide_no_nan(area, hits[1:] + misses[1:]))


def auc(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None, curve="ROC",
        name=None, summation_method="trapezoidal", thresholds=None):
    """The area under the ROC curve, or that of precision over recall, of all batches so far."""
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    if summation_method not in ("trapezoidal", "minoring", "majoring", "careful_interpolation"):
        raise ValueError(f"Invalid summation_method: {summation_method}")
    inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)] if thresholds is None else list(thresholds)
    edges = [-1e-7, *inner, 1.0 + 1e-7]
    with variable_scope(name, "auc"):
        counts = _counter("counts", [4, len(edges)])
        more = counts.assign_add(_cases_above(labels, predictions, weights, edges))
        return _collected(_area(in_graph(tf.identity)(counts), curve, summation_method), _area(more, curve, summation_method),
                          metrics_collections, updates_collections)
