"""Losses over few of many classes: candidates are drawn, and the others do not count.

A draw without repetition is a race: class c arrives after a time that is exponential with rate p(c), and the first ones win.
That has the distribution of drawing one after the other and throwing repeated ones away; the number of draws until then is
about the time of the last arrival, which gives the expected counts. The numbers drawn are not TensorFlow's own.
"""
import sys
from collections import namedtuple

LogUniformCandidateSampler = namedtuple("LogUniformCandidateSampler",
                                        ["sampled_candidates", "true_expected_count", "sampled_expected_count"])
UniformCandidateSampler = namedtuple("UniformCandidateSampler", LogUniformCandidateSampler._fields)


def _tf():
    return sys.modules["gradus"]


def _drawn(probability_of, true_classes, num_true, num_sampled, unique, range_max, seed, name):
    tf = _tf()
    if unique and num_sampled > range_max:
        raise tf.errors.InvalidArgumentError(
            None, None, f"num_sampled ({num_sampled}) must be less than or equal to range_max ({range_max}) if unique is True")
    true_classes = tf.cast(true_classes, tf.int64)
    if true_classes.shape.rank != 2 or true_classes.shape[1] != num_true:
        raise tf.errors.InvalidArgumentError(None, None, f"true_classes must be a matrix with num_true = {num_true} columns, "
                                                         f"got the shape {true_classes.shape}")
    probabilities = probability_of(tf.range(range_max, dtype=tf.int64))
    if unique:
        uniform = tf.random.uniform([range_max], 1e-20, 1.0, seed=seed)
        arrivals, sampled = tf.math.top_k(tf.math.log(uniform) / probabilities, num_sampled)
        tries = -arrivals[-1]

        def expected(classes):
            return -tf.math.expm1(tries * tf.math.log1p(-probability_of(classes)))
    else:
        sampled = tf.random.categorical(tf.math.log(probabilities)[tf.newaxis], num_sampled, seed=seed)[0]

        def expected(classes):
            return probability_of(classes) * float(num_sampled)
    sampled = tf.stop_gradient(tf.cast(sampled, tf.int64))
    return name(sampled, expected(true_classes), expected(sampled))


def log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Classes drawn with probabilities that fall as 1 / (class + 1), about Zipf's law; and the expected counts."""
    tf = _tf()

    def probability(classes):
        c = tf.cast(classes, tf.float32)
        return tf.math.log((c + 2.0) / (c + 1.0)) / tf.math.log(range_max + 1.0)
    return _drawn(probability, true_classes, num_true, num_sampled, unique, range_max, seed, LogUniformCandidateSampler)


def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Classes drawn with equal probabilities, and the expected counts."""
    tf = _tf()
    return _drawn(lambda c: tf.fill(tf.shape(c), 1.0 / range_max), true_classes, num_true, num_sampled, unique, range_max,
                  seed, UniformCandidateSampler)


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """(rows, places, weights) of candidates that are among the true classes of a row; the weights are the lowest number."""
    tf = _tf()
    true_classes = tf.cast(true_classes, tf.int64)
    if true_classes.shape.rank != 2 or true_classes.shape[1] != num_true:
        raise tf.errors.InvalidArgumentError(None, None, f"true_candidates must be a batch_size x num_true = {num_true} matrix")
    hits = tf.reduce_any(true_classes[:, :, tf.newaxis] == tf.cast(sampled_candidates, tf.int64), 1)
    places = tf.where(hits)
    return tf.cast(places[:, 0], tf.int32), places[:, 1], tf.fill([tf.shape(places)[0]], tf.float32.min)


def _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
            seed):
    """Logits and labels of the true classes and the candidates: [batch, num_true + num_sampled] each."""
    tf = _tf()
    if isinstance(weights, (list, tuple)):
        weights = weights[0] if len(weights) == 1 else tf.concat(weights, 0)
    inputs, labels = tf.convert_to_tensor(inputs), tf.cast(labels, tf.int64)
    if labels.shape.rank == 1:
        labels = labels[:, tf.newaxis]
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
    sampled, true_count, sampled_count = (tf.stop_gradient(v) for v in sampled_values)
    ids = tf.concat([tf.reshape(labels, [-1]), tf.cast(sampled, tf.int64)], 0)
    rows, offsets = tf.gather(weights, ids), tf.gather(biases, ids)
    count = tf.size(labels)
    true_rows = tf.reshape(rows[:count], [-1, num_true, rows.shape[1]])
    true_logits = tf.reduce_sum(inputs[:, tf.newaxis] * true_rows, -1) + tf.reshape(offsets[:count], [-1, num_true])
    sampled_logits = tf.matmul(inputs, rows[count:], transpose_b=True) + offsets[count:]
    if remove_accidental_hits:
        hits = tf.reduce_any(labels[:, :, tf.newaxis] == tf.cast(sampled, tf.int64), 1)
        sampled_logits += tf.cast(hits, inputs.dtype) * inputs.dtype.min
    true_logits -= tf.math.log(tf.cast(true_count, inputs.dtype))
    sampled_logits -= tf.math.log(tf.cast(sampled_count, inputs.dtype))
    return (tf.concat([true_logits, sampled_logits], 1),
            tf.concat([tf.ones_like(true_logits) / num_true, tf.zeros_like(sampled_logits)], 1))


def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
             remove_accidental_hits=False, name="nce_loss"):
    """Noise-contrastive estimation: is a class the true one, or one that was drawn?"""
    tf = _tf()
    logits, targets = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                              remove_accidental_hits, None)
    return tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits), 1)


def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True, seed=None, name="sampled_softmax_loss"):
    """The softmax cross entropy over the true classes and those that were drawn."""
    tf = _tf()
    logits, targets = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                              remove_accidental_hits, seed)
    return tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(targets), logits=logits)
