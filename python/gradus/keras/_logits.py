"""Which tensor the probabilities of a softmax or sigmoid came from.

A cross entropy of probabilities is computed from the logits where they are known: that is exact where probabilities are
rounded to 0 or 1, and one op instead of several. Tensors have no attributes, so this is a table by address that forgets
a tensor when it dies.
"""
import weakref

_known = {}


def remember(output, logits, kind):
    """Notes that output = kind(logits); returns the output."""
    key = id(output)
    _known[key] = (weakref.ref(output, lambda _: _known.pop(key, None)), logits, kind)
    return output


def logits_of(output, kind):
    """The logits of the output if it was made by that activation ("softmax" or "sigmoid"), else None."""
    found = _known.get(id(output))
    return found[1] if found is not None and found[2] == kind else None
