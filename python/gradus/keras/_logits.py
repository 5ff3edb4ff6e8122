"""Which tensor the probabilities of a softmax or sigmoid came from.

A cross entropy of probabilities is computed from the logits where they are known: that is exact where probabilities are
rounded to 0 or 1, and one op instead of several. A tensor carries the logits that it was made from.
"""
from .. import _core

remember = _core._with_logits  # (output, logits, kind): notes that output = kind(logits); gives the output
logits_of = _core._logits_of  # (output, kind): the logits if the output was made by that activation, else None
