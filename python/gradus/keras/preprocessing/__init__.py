"""Texts and sequences as numbers, by the names of Keras 2, which many programs still use. Images are not covered."""
from . import sequence, text  # noqa: F401
