"""Sequences of labels that are likely, given logits over time: the search that keeps the best beginnings.

A beginning (without blanks) has two probabilities: that it ends in a blank by now, and that it does not. A label that is
the last one again makes it longer only after a blank. All numbers are logarithms.
"""
import numpy as np

_NEVER = -np.inf


def _added(a, b):
    return np.logaddexp(a, b)


def _step(beams, logs, blank):
    """The beginnings one time later: {labels: (ends in a blank, does not)}."""
    found = {}

    def add(labels, with_blank, without):
        old = found.get(labels, (_NEVER, _NEVER))
        found[labels] = (_added(old[0], with_blank), _added(old[1], without))
    for labels, (with_blank, without) in beams.items():
        total = _added(with_blank, without)
        add(labels, total + logs[blank], without + logs[labels[-1]] if labels else _NEVER)
        for label in range(len(logs)):
            if label != blank:
                add((*labels, label), _NEVER, (with_blank if labels and labels[-1] == label else total) + logs[label])
    return found


def _row(logits, length, width, paths, blank):
    logs = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    beams = {(): (0.0, _NEVER)}
    for t in range(length):
        found = _step(beams, logs[t], blank)
        best = sorted(found, key=lambda labels: -_added(*found[labels]))[:width]
        beams = {labels: found[labels] for labels in best}
    best = sorted(beams, key=lambda labels: -_added(*beams[labels]))[:paths]
    if len(best) < paths:
        raise ValueError(f"top_paths={paths} are asked for, but only {len(best)} were kept: beam_width is {width}")
    return best, [_added(*beams[labels]) for labels in best]


def beam_search(logits, lengths, width, paths, blank):
    """(labels [paths, batch, time] filled up with -1, logarithms of their probabilities [batch, paths])."""
    batch, time, classes = logits.shape
    labels, scores = np.full((paths, batch, time), -1, "int32"), np.zeros((batch, paths), logits.dtype)
    for row in range(batch):
        best, scores[row] = _row(np.asarray(logits[row], "float64"), int(lengths[row]), width, paths, blank % classes)
        for path, found in enumerate(best):
            labels[path, row, :len(found)] = found
    return labels, scores
