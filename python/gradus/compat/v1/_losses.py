"""tf.losses: losses with weights, collected in the graph."""
import enum

import gradus as tf

from ._functions import in_graph
from ._graph import get_default_graph
from ._variables import GraphKeys


class Reduction(enum.Enum):
    """How the losses of a batch become one number."""
    NONE = "none"
    SUM = "weighted_sum"
    MEAN = "weighted_mean"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"


_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS


def _weighted(losses, weights, reduction):
    losses = tf.cast(losses, tf.float32) if losses.dtype != tf.float64 else losses
    weights = tf.cast(weights, losses.dtype)
    if len(weights.shape) == len(losses.shape) + 1:
        weights = tf.squeeze(weights, [-1])
    if 0 < len(weights.shape) < len(losses.shape):
        weights = tf.reshape(weights, [-1] + [1] * (len(losses.shape) - 1))
    losses = losses * weights
    if reduction == Reduction.NONE:
        return losses
    total = tf.reduce_sum(losses)
    if reduction == Reduction.SUM:
        return total
    ones = tf.ones_like(losses)
    if reduction == Reduction.MEAN:
        return _divided(total, tf.reduce_sum(ones * weights))
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return _divided(total, tf.reduce_sum(ones))
    return _divided(total, tf.reduce_sum(tf.cast(tf.not_equal(ones * weights, 0), losses.dtype)))


def _divided(total, count):
    return tf.where(count > 0, total / tf.where(count > 0, count, tf.ones_like(count)), tf.zeros_like(total))


def compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT):
    """Losses times weights, added up."""
    return _collected(in_graph(_weighted, "weighted_loss")(losses, weights, reduction, name=scope), loss_collection)


def _collected(loss, collection):
    if collection is not None:
        get_default_graph().add_to_collection(collection, loss)
    return loss


def _loss(kind, function):
    def loss(labels, predictions, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT,
             **options):
        def run(labels, predictions, weights):
            predictions = tf.convert_to_tensor(predictions)
            labels = tf.cast(labels, predictions.dtype)
            if not labels.shape.is_compatible_with(predictions.shape):
                raise ValueError(f"Shapes {labels.shape} and {predictions.shape} are incompatible")
            return _weighted(function(labels, predictions, **options), weights, reduction)
        return _collected(in_graph(run, kind)(labels, predictions, weights, name=scope), loss_collection)
    loss.__name__, loss.__doc__ = kind, function.__doc__
    return loss


def _squared(labels, predictions):
    """The mean of squared differences."""
    return tf.math.squared_difference(predictions, labels)


def _absolute(labels, predictions):
    """The mean of absolute differences."""
    return tf.abs(predictions - labels)


def _huber(labels, predictions, delta=1.0):
    """Squares of small differences, absolute values of large ones."""
    error = tf.abs(predictions - labels)
    quadratic = tf.minimum(error, tf.cast(delta, error.dtype))
    return 0.5 * quadratic * quadratic + delta * (error - quadratic)


def _log(labels, predictions, epsilon=1e-7):
    """Cross entropy of probabilities."""
    return -labels * tf.math.log(predictions + epsilon) - (1 - labels) * tf.math.log(1 - predictions + epsilon)


mean_squared_error = _loss("mean_squared_error", _squared)
absolute_difference = _loss("absolute_difference", _absolute)
huber_loss = _loss("huber_loss", _huber)
log_loss = _loss("log_loss", _log)


def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT):
    """max(0, 1 - y * logits), where y is -1 or 1."""
    def run(labels, logits, weights):
        logits = tf.convert_to_tensor(logits)
        signs = 2 * tf.cast(labels, logits.dtype) - 1
        return _weighted(tf.nn.relu(1 - signs * logits), weights, reduction)
    return _collected(in_graph(run, "hinge_loss")(labels, logits, weights, name=scope), loss_collection)


def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT):
    """Cross entropy of probabilities and logits."""
    def run(labels, logits, weights):
        logits = tf.convert_to_tensor(logits)
        labels = tf.cast(labels, logits.dtype)
        if label_smoothing:
            labels = labels * (1 - label_smoothing) + label_smoothing / labels.shape.as_list()[1]
        losses = tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(labels), logits)
        return _weighted(losses, weights, reduction)
    return _collected(in_graph(run, "softmax_cross_entropy_loss")(onehot_labels, logits, weights, name=scope),
                      loss_collection)


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                                 reduction=_DEFAULT):
    """Cross entropy of class numbers and logits."""
    def run(labels, logits, weights):
        labels, logits = tf.convert_to_tensor(labels), tf.convert_to_tensor(logits)
        if len(labels.shape) == len(logits.shape):
            labels = tf.squeeze(labels, [-1])
        return _weighted(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits), weights, reduction)
    return _collected(in_graph(run, "sparse_softmax_cross_entropy_loss")(labels, logits, weights, name=scope),
                      loss_collection)


def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT):
    """Cross entropy of independent labels and logits."""
    def run(labels, logits, weights):
        logits = tf.convert_to_tensor(logits)
        labels = tf.cast(labels, logits.dtype)
        if label_smoothing:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        return _weighted(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits), weights, reduction)
    return _collected(in_graph(run, "sigmoid_cross_entropy_loss")(multi_class_labels, logits, weights, name=scope),
                      loss_collection)


def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                    reduction=_DEFAULT, dim=None):
    """1 - the product of unit vectors."""
    axis = dim if axis is None else axis

    def run(labels, predictions, weights):
        losses = 1 - tf.reduce_sum(tf.cast(labels, predictions.dtype) * predictions, axis, keepdims=True)
        return _weighted(losses, weights, reduction)
    return _collected(in_graph(run, "cosine_distance_loss")(labels, predictions, weights, name=scope), loss_collection)


def add_loss(loss, loss_collection=GraphKeys.LOSSES):
    """Puts a loss into the collection."""
    _collected(loss, loss_collection)


def get_losses(scope=None, loss_collection=GraphKeys.LOSSES):
    """The losses in the collection."""
    return get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    """The losses of regularizers."""
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """The sum of the losses of regularizers."""
    losses = get_regularization_losses(scope)
    return in_graph(tf.add_n, name)(losses, name=name) if losses else in_graph(tf.constant, "Const")(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of all losses in the collection."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope)
    return in_graph(tf.add_n, name)(losses, name=name)
