"""Connectionist temporal classification: how likely a sequence of labels is, over all its places in time."""
import gradus as tf

from ... import _core


def ctc_loss(target, output, target_length, output_length, mask_index=0):
    """Minus the log probability of each row of labels, given logits [batch, time, classes]; mask_index is the blank."""
    return _core._ctc(target, output, target_length, output_length, mask_index)


def ctc(y_true, y_pred):
    """The loss of each row of labels (0 fills up short ones) and of logits [batch, time, classes]."""
    if len(y_true.shape) != 2 or len(y_pred.shape) != 3:
        raise ValueError("Targets `y_true` are expected to be a tensor of shape `(batch_size, max_length)` in integer "
                         "format, and `y_pred` of shape `(batch_size, max_length, num_classes)`. Received: "
                         f"y_true.shape={tuple(y_true.shape)}, y_pred.shape={tuple(y_pred.shape)}")
    labels = tf.cast(y_true, "int32")
    lengths = tf.reduce_sum(tf.cast(labels != 0, "int32"), 1)
    return ctc_loss(labels, y_pred, lengths, tf.zeros_like(lengths) + y_pred.shape[1])
