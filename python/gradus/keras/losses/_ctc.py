"""Connectionist temporal classification: how likely a sequence of labels is, over all its places in time."""
import gradus as tf

_NEVER = -1e30  # the logarithm of a probability of 0, with finite differences


def ctc_loss(target, output, target_length, output_length, mask_index=0):
    """Minus the log probability of each row of labels, given logits [batch, time, classes].

    The labels may have blanks (mask_index) between them and stay for several times. Let l be the labels with blanks around
    them; alpha[s] is the probability of all ways that have come to l[s] by now.
    """
    target, output = tf.cast(target, "int32"), tf.convert_to_tensor(output)
    target_length, output_length = tf.cast(target_length, "int32"), tf.cast(output_length, "int32")
    labels = _with_blanks(target, mask_index)
    logs = tf.nn.log_softmax(output)
    steps = tf.transpose(tf.gather(tf.transpose(logs, [0, 2, 1]), labels, axis=1, batch_dims=1), [2, 0, 1])
    before = tf.pad(labels, [[0, 0], [2, 0]], constant_values=mask_index)[:, :labels.shape[1]]
    skips = tf.where((labels != mask_index) & (labels != before), tf.zeros([], logs.dtype), _NEVER)

    def step(state, elements):
        alpha, time = state
        ways = tf.stack([alpha, _moved(alpha, 1), _moved(alpha, 2) + skips])
        new = tf.reduce_logsumexp(ways, 0) + elements
        return tf.where(tf.expand_dims(time < output_length, 1), new, alpha), time + 1

    places = tf.range(labels.shape[1])
    first = tf.where(places < 2, steps[0], _NEVER)
    alpha, time = first, tf.constant(1)
    for elements in tf.unstack(steps)[1:]:
        alpha, time = step((alpha, time), elements)
    ends = tf.stack([2 * target_length, tf.maximum(2 * target_length - 1, 0)], 1)
    return -tf.reduce_logsumexp(tf.gather(alpha, ends, axis=1, batch_dims=1), 1)


def _with_blanks(target, blank):
    count = target.shape[1]
    pairs = tf.stack([tf.fill(tf.shape(target), blank), target], 2)
    return tf.pad(tf.reshape(pairs, [-1, 2 * count]), [[0, 0], [0, 1]], constant_values=blank)


def _moved(alpha, places):
    return tf.pad(alpha, [[0, 0], [places, 0]], constant_values=_NEVER)[:, :alpha.shape[1]]


def ctc(y_true, y_pred):
    """The loss of each row of labels (0 fills up short ones) and of logits [batch, time, classes]."""
    if len(y_true.shape) != 2 or len(y_pred.shape) != 3:
        raise ValueError("Targets `y_true` are expected to be a tensor of shape `(batch_size, max_length)` in integer "
                         "format, and `y_pred` of shape `(batch_size, max_length, num_classes)`. Received: "
                         f"y_true.shape={tuple(y_true.shape)}, y_pred.shape={tuple(y_pred.shape)}")
    labels = tf.cast(y_true, "int32")
    lengths = tf.reduce_sum(tf.cast(labels != 0, "int32"), 1)
    return ctc_loss(labels, y_pred, lengths, tf.zeros_like(lengths) + y_pred.shape[1])
