"""Weighted moments, and losses of tf.nn that are sums of others."""
import sys

from . import _core


def _tf():
    return sys.modules["gradus"]


def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """(count, sum, sum of squares, shift) over axes, of x - shift."""
    tf = _tf()
    x = tf.convert_to_tensor(x)
    sizes = tf.gather(tf.shape(x), axes)
    count = tf.cast(tf.reduce_prod(sizes), x.dtype)
    if shift is not None:
        shift = tf.convert_to_tensor(shift, x.dtype)
        x = x - shift
    return (count, tf.reduce_sum(x, axes, keepdims=keepdims), tf.reduce_sum(tf.square(x), axes, keepdims=keepdims), shift)


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """(mean, variance) of sufficient statistics."""
    tf = _tf()
    divisor = 1.0 / tf.convert_to_tensor(counts)
    shifted = mean_ss * divisor
    return shifted if shift is None else shifted + shift, variance_ss * divisor - tf.square(shifted)


def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """(mean, variance) over axes, where each element counts as often as its weight says."""
    tf = _tf()
    x = tf.convert_to_tensor(x)
    weights = tf.broadcast_to(tf.cast(frequency_weights, x.dtype), tf.shape(x))
    total = tf.reduce_sum(weights, axes, keepdims=True)
    mean = tf.reduce_sum(weights * x, axes, keepdims=True) / total
    variance = tf.reduce_sum(weights * tf.math.squared_difference(x, mean), axes, keepdims=True) / total
    return (mean, variance) if keepdims else (tf.squeeze(mean, axes), tf.squeeze(variance, axes))


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """Minus the log likelihood of counts of which the logarithm of the rate is given."""
    tf = _tf()
    log_input = tf.convert_to_tensor(log_input)
    targets = tf.convert_to_tensor(targets, log_input.dtype)
    return _core._log_poisson_loss(targets, log_input, compute_full_loss)


def crelu(features, axis=-1, name=None):
    """relu of x and of -x, side by side."""
    tf = _tf()
    features = tf.convert_to_tensor(features)
    return tf.nn.relu(tf.concat([features, -features], axis))


def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of losses over the size of the batch of all replicas."""
    tf = _tf()
    loss = tf.convert_to_tensor(per_example_loss)
    if sample_weight is not None:
        weight = tf.cast(sample_weight, loss.dtype)
        loss = loss * tf.reshape(weight, weight.shape.as_list() + [1] * (loss.shape.rank - weight.shape.rank))
    if global_batch_size is None:
        global_batch_size = tf.shape(loss)[0] * tf.distribute.get_strategy().num_replicas_in_sync
    return tf.reduce_sum(loss) / tf.cast(global_batch_size, loss.dtype)


def scale_regularization_loss(regularization_loss):
    """A loss that all replicas add, over their number."""
    tf = _tf()
    return tf.reduce_sum(regularization_loss) / float(tf.distribute.get_strategy().num_replicas_in_sync)
