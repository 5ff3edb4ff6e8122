"""Sequences of one length."""
from ..utils import pad_sequences  # noqa: F401
