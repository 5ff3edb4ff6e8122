"""tf.nn's connectionist temporal classification: the loss, and decoders that give sparse tensors."""
import sys

import numpy as np

from .keras.losses._ctc import ctc_loss as _loss


def _tf():
    return sys.modules["gradus"]


def ctc_loss(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None, name=None):
    """Minus the log probability of each row of labels, given logits [time, batch, classes]."""
    tf = _tf()
    logits = tf.convert_to_tensor(logits)
    if isinstance(labels, tf.SparseTensor):
        if blank_index is None:
            raise ValueError("Argument `blank_index` must be provided when labels is a SparseTensor.")
        rows = labels.indices[:, 0]
        label_length = tf.math.unsorted_segment_sum(tf.ones_like(rows, tf.int32), rows, labels.shape[0])
        labels = tf.sparse.to_dense(labels)
    blank = 0 if blank_index is None else int(blank_index)
    blank = blank + logits.shape[-1] if blank < 0 else blank
    if logits_time_major:
        logits = tf.transpose(logits, [1, 0, 2])
    return _loss(labels, logits, label_length, logit_length, blank)


def ctc_unique_labels(labels, name=None):
    """(the different labels of each row, where each label is among them)."""
    tf = _tf()
    array = np.asarray(labels)
    unique, places = np.zeros_like(array), np.zeros(array.shape, np.int32)
    for row, (values, at) in zip(array, zip(unique, places)):
        order = list(dict.fromkeys(row.tolist()))
        values[:len(order)] = order
        at[:] = [order.index(v) for v in row.tolist()]
    return tf.constant(unique), tf.constant(places)


def _sparse(rows, dtype="int64"):
    """Lists of labels as a sparse matrix."""
    tf = _tf()
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    return tf.SparseTensor(tf.reshape(tf.constant(indices, tf.int64), [-1, 2]),
                           tf.constant([v for row in rows for v in row], dtype),
                           [len(rows), max((len(row) for row in rows), default=0)])


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """([labels], minus the sum of logits): the likeliest class of each time, without blanks and repetition."""
    tf = _tf()
    logits, lengths = np.asarray(inputs), np.asarray(sequence_length)
    blank = logits.shape[-1] - 1 if blank_index is None else int(blank_index) % logits.shape[-1]
    rows, scores = [], np.zeros([logits.shape[1], 1], logits.dtype)
    for i, length in enumerate(lengths):
        best = logits[:length, i].argmax(-1)
        scores[i] = -logits[:length, i].max(-1, initial=-np.inf).sum() if length else 0.0
        before = np.concatenate([[-1], best[:-1]])
        rows.append(best[(best != blank) & ((best != before) | (not merge_repeated))].tolist())
    return [_sparse(rows)], tf.constant(scores)


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1):
    """(labels of the likeliest paths, their log probabilities [batch, top_paths]); the last class is the blank."""
    tf = _tf()
    logits, lengths = np.asarray(inputs, np.float64), np.asarray(sequence_length)
    logs = logits - np.logaddexp.reduce(logits, -1, keepdims=True)
    found = [_beams(logs[:length, i], beam_width)[:top_paths] for i, length in enumerate(lengths)]
    paths = [_sparse([beams[k][0] for beams in found]) for k in range(top_paths)]
    return paths, tf.constant(np.array([[score for _, score in beams] for beams in found], np.float32))


def _beams(logs, width):
    """Sequences and their log probabilities, the likeliest first. Of each one: the log probability of the ways that end in
    a blank, and of those that end in its last label."""
    blank, never = logs.shape[-1] - 1, -np.inf
    beams = {(): (0.0, never)}
    for step in logs:
        grown = {}

        def add(path, in_blank, in_label):
            had = grown.get(path, (never, never))
            grown[path] = np.logaddexp(had[0], in_blank), np.logaddexp(had[1], in_label)
        for path, (in_blank, in_label) in beams.items():
            total = np.logaddexp(in_blank, in_label)
            add(path, total + step[blank], in_label + step[path[-1]] if path else never)
            for label in range(blank):
                add(path + (label,), never, (in_blank if path and path[-1] == label else total) + step[label])
        beams = dict(sorted(grown.items(), key=lambda beam: -np.logaddexp(*beam[1]))[:width])
    return [(list(path), float(np.logaddexp(*ends))) for path, ends in beams.items()]
