"""keras.preprocessing: sequences of one length. Images are read with other libraries."""
import types as _types

from .utils import pad_sequences as _pad_sequences

sequence = _types.SimpleNamespace(pad_sequences=_pad_sequences)
