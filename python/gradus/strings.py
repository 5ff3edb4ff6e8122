"""tf.strings: functions of string tensors, element by element on arrays of bytes."""
import re

import numpy as np

import gradus as tf

from ._fingerprint import fingerprint64, siphash24
from ._ragged_functions import RaggedTensor
from ._strings import StringTensor, array_of, each, holds_strings, numbers_of
from ._unicode import (  # noqa: F401
    unicode_decode, unicode_decode_with_offsets, unicode_encode, unicode_split, unicode_split_with_offsets,
    unicode_transcode)

__all__ = [
    "as_string", "bytes_split", "format", "join", "length", "lower", "ngrams", "reduce_join", "regex_full_match",
    "regex_replace", "split", "strip", "substr", "to_hash_bucket_fast", "to_hash_bucket_strong", "to_number",
    "unicode_decode", "unicode_decode_with_offsets", "unicode_encode", "unicode_split",
    "unicode_split_with_offsets", "unicode_transcode", "upper",
]


def _invalid(message):
    return tf.errors.InvalidArgumentError(None, None, message)


def _elementwise(function):
    """The function of string tensors; of ragged ones, of their values."""
    def call(input, *args, **kwargs):  # noqa: A002
        if isinstance(input, RaggedTensor):
            return input.with_flat_values(call(input.flat_values, *args, **kwargs))
        return function(input, *args, **kwargs)
    call.__name__, call.__qualname__, call.__doc__ = function.__name__, function.__name__, function.__doc__
    call.__wrapped__ = function
    return call


def _text(value):
    return value.decode("utf-8", "surrogateescape")


def _bytes(text):
    return text.encode("utf-8", "surrogateescape")


def _tensor(array, dtype):
    return tf.constant(np.asarray(array).astype(dtype))


# ------------------------------------------------------------------------------------------------------- single strings

def _check_unit(unit):
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise _invalid(f"Value for attr 'unit' of {unit!r} is not in the list of allowed values: 'BYTE', 'UTF8_CHAR'")


def _check_encoding(encoding):
    if encoding not in ("", "utf-8"):
        raise _invalid(f"only utf-8 or '' (ASCII) is supported as encoding, got {encoding!r}")


@_elementwise
def length(input, unit="BYTE", name=None):  # noqa: A002
    """The number of bytes, or of characters (unit="UTF8_CHAR")."""
    _check_unit(unit)
    count = len if unit == "BYTE" else lambda s: len(s.decode("utf-8", "replace"))
    return _tensor(each(count, array_of(input)), np.int32)


@_elementwise
def lower(input, encoding="", name=None):  # noqa: A002
    """Small letters; with encoding="utf-8" also those beyond ASCII."""
    _check_encoding(encoding)
    return StringTensor(each(bytes.lower if not encoding else lambda s: _bytes(_text(s).lower()), array_of(input)))


@_elementwise
def upper(input, encoding="", name=None):  # noqa: A002
    """Capital letters; with encoding="utf-8" also those beyond ASCII."""
    _check_encoding(encoding)
    return StringTensor(each(bytes.upper if not encoding else lambda s: _bytes(_text(s).upper()), array_of(input)))


@_elementwise
def strip(input, name=None):  # noqa: A002
    """Without white space at both ends."""
    return StringTensor(each(bytes.strip, array_of(input)))


@_elementwise
def substr(input, pos, len, unit="BYTE", name=None):  # noqa: A002
    """`len` bytes or characters from `pos` on; a negative pos counts from the end."""
    _check_unit(unit)
    def piece(s, at, size):
        whole = s if unit == "BYTE" else _text(s)
        n = whole.__len__()
        start = int(at) + n if at < 0 else int(at)
        if not 0 <= start <= n:
            raise _invalid(f"pos {at} out of range for string of length {n}")
        cut = whole[start:start + int(size)]
        return cut if unit == "BYTE" else _bytes(cut)
    return StringTensor(each(piece, array_of(input), numbers_of(pos), numbers_of(len)))


_CLASSES = {"alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7F", "blank": r"\t ", "cntrl": r"\x00-\x1F\x7F",
            "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~",
            "space": r"\t\n\v\f\r ", "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f"}


def _pattern(pattern):
    """A pattern of RE2 for Python's re: its classes are of ASCII, and some have names."""
    text = _text(array_of(pattern)[()])
    text = re.sub(r"\[:(\w+):\]", lambda m: _CLASSES.get(m[1], m[0]), text)
    if re.search(r"(?<!\\)(\\\\)*\\[pP]", text):
        raise _invalid(f"Invalid pattern: {text}, error: classes of Unicode characters (\\p) are not covered")
    text = text.replace(r"\z", r"\Z")
    try:
        return re.compile(text, re.ASCII)
    except re.error as error:
        raise _invalid(f"Invalid pattern: {text}, error: {error}") from error


@_elementwise
def regex_replace(input, pattern, rewrite, replace_global=True, name=None):  # noqa: A002
    r"""What matches the pattern (as RE2 writes them) replaced; \1 in `rewrite` is the first group, \0 all."""
    compiled = _pattern(pattern)
    rewrite = re.sub(r"\\(\d)", r"\\g<\1>", _text(array_of(rewrite)[()]))
    return StringTensor(each(lambda s: _bytes(compiled.sub(rewrite, _text(s), 0 if replace_global else 1)),
                             array_of(input)))


@_elementwise
def regex_full_match(input, pattern, name=None):  # noqa: A002
    """Whether the whole string matches the pattern."""
    compiled = _pattern(pattern)
    return _tensor(each(lambda s: compiled.fullmatch(_text(s)) is not None, array_of(input)), bool)


@_elementwise
def to_number(input, out_type=tf.float32, name=None):  # noqa: A002
    """The numbers that the strings say."""
    dtype = tf.as_dtype(out_type)

    def number(s):
        try:
            if b"_" in s:
                raise ValueError
            value = float(s) if dtype.is_floating else int(s)
        except ValueError:
            raise _invalid(f"StringToNumberOp could not correctly convert string: {_text(s)}") from None
        if dtype.is_integer and not dtype.min <= value <= dtype.max:
            raise _invalid(f"StringToNumberOp could not correctly convert string: {_text(s)}")
        return value
    return _tensor(each(number, array_of(input)), dtype.as_numpy_dtype)


@_elementwise
def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None):  # noqa: A002
    """Numbers as text, as printf writes them."""
    if holds_strings(input):
        return StringTensor(input)
    array = numbers_of(input if tf.is_tensor(input) else tf.convert_to_tensor(input))
    if len(fill) > 1:
        raise _invalid(f"Fill string must be one or fewer characters, got {fill!r}")
    if scientific and shortest:
        raise _invalid("Cannot select both scientific and shortest notation")
    size = "" if width < 0 else str(width)
    digits = "" if precision < 0 else f".{precision}"
    kind = "e" if scientific else "g" if shortest else "f"
    if array.dtype.kind in "iu":
        if precision >= 0 or scientific or shortest:
            raise _invalid("precision and notation are only for numbers that are not integers")
        shape = f"%{fill}{size}d"
        return StringTensor(each(lambda v: (shape % int(v)).encode(), array))
    if array.dtype.kind == "b":
        return StringTensor(each(lambda v: (f"%{size}s" % ("true" if v else "false")).encode(), array))
    shape = f"%{fill}{size}{digits}{kind}"
    if array.dtype.kind == "c":
        return StringTensor(each(lambda v: f"({shape % v.real},{shape % v.imag})".encode(), array))
    return StringTensor(each(lambda v: (shape % float(v)).encode(), array))


# ------------------------------------------------------------------------------------------------------- joining, splitting

def join(inputs, separator="", name=None):
    """Strings put together, element by element."""
    ragged = next((v for v in inputs if isinstance(v, RaggedTensor)), None)
    if ragged is not None:
        flat = [v.flat_values if isinstance(v, RaggedTensor) else v for v in inputs]
        return ragged.with_flat_values(join(flat, separator))
    between = _bytes(separator) if isinstance(separator, str) else separator
    arrays = [array_of(v) for v in inputs]
    try:
        return StringTensor(each(lambda *parts: between.join(parts), *arrays))
    except ValueError as error:
        raise ValueError(f"Shapes of the inputs must be equal: {[a.shape for a in arrays]}") from error


def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """Strings along axes (all) put together."""
    between = _bytes(separator) if isinstance(separator, str) else separator
    if isinstance(inputs, RaggedTensor):
        if axis in (-1, inputs.shape.rank - 1):
            if isinstance(inputs.values, RaggedTensor):
                return inputs.with_values(reduce_join(inputs.values, -1, keepdims, separator))
            joined = StringTensor(np.array([between.join(row) for row in inputs.to_list()], object))
            return tf.expand_dims(joined, 1) if keepdims else joined
        raise NotImplementedError("reduce_join of a ragged tensor is covered along its last axis")
    array = array_of(inputs)
    axes = list(range(array.ndim))[::-1] if axis is None else [int(a) % max(array.ndim, 1) for a in np.atleast_1d(axis)]
    shape = [1 if i in axes else s for i, s in enumerate(array.shape)]
    kept = [i for i in range(array.ndim) if i not in axes]
    moved = np.transpose(array, kept + axes[::-1]).reshape([array.shape[i] for i in kept] + [-1])
    joined = np.empty(moved.shape[:-1], object)
    for at in np.ndindex(*joined.shape):
        joined[at] = between.join(moved[at])
    return StringTensor(joined.reshape(shape) if keepdims else joined)


def _ragged_of(lists, shape):
    """One list for each element of an array of this shape, as a ragged tensor with one more axis."""
    flat = np.array([s for row in lists for s in row], object) if any(lists) else np.empty(0, object)
    made = RaggedTensor.from_row_lengths(StringTensor(flat), [len(row) for row in lists])
    for size in reversed(shape[1:]):
        made = RaggedTensor.from_uniform_row_length(made, size)
    return made


def _lists(function, input):  # noqa: A002
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(_lists(function, input.flat_values))
    array = array_of(input)
    if array.ndim == 0:
        return StringTensor(np.array(function(array[()]), object).reshape(-1))
    return _ragged_of([function(s) for s in array.reshape(-1)], array.shape)


def split(input, sep=None, maxsplit=-1, name=None):  # noqa: A002
    """The parts of each string between white space, or between `sep`: ragged, since there are different numbers."""
    between = array_of(sep)[()] if sep is not None and (not isinstance(sep, (str, bytes)) or sep) else None
    return _lists(lambda s: s.split(between, maxsplit), input)


def bytes_split(input, name=None):  # noqa: A002
    """The bytes of each string."""
    return _lists(lambda s: [s[i:i + 1] for i in range(len(s))], input)


def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False,
           name=None):
    """Runs of ngram_width strings of each row, joined."""
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    if min(widths, default=1) < 1:
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    if padding_width is not None and (pad_values is None or padding_width < 1):
        raise ValueError(f"padding_width must be greater than 0 and needs pad_values. Got {padding_width}")
    left, right = (None, None) if pad_values is None else (pad_values, pad_values) if isinstance(
        pad_values, (str, bytes)) else pad_values
    between = _bytes(separator)
    dense = not isinstance(data, RaggedTensor)
    array = array_of(data) if dense else None
    rows = data.to_list() if not dense else array.reshape(-1, array.shape[-1]).tolist()

    def grams(row):
        made = []
        for width in widths:
            size = min(width - 1, padding_width) if padding_width is not None else width - 1
            padded = row if left is None else [_bytes(left)] * size + row + [_bytes(right)] * size
            found = [between.join(padded[i:i + width]) for i in range(len(padded) - width + 1)]
            made += found
        if not made and preserve_short_sequences and row:
            made = [between.join(row)]
        return made
    lists = [grams(r) for r in rows]
    if dense and array.ndim == 1:
        return StringTensor(np.array(lists[0], object).reshape(-1))
    made = _ragged_of(lists, [len(lists)])
    return made.to_tensor() if dense and left is None and not preserve_short_sequences else made


def format(template, inputs, placeholder="{}", summarize=3, name=None):  # noqa: A001
    """The template with tensors in place of the placeholders, printed as tf.print prints them."""
    from ._effects import tensor_text
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    parts = template.split(placeholder)
    if len(parts) != len(inputs) + 1:
        raise ValueError(f"The template has {len(parts) - 1} placeholders, but {len(inputs)} inputs were given")
    text = parts[0]
    for value, rest in zip(inputs, parts[1:]):
        value = value if tf.is_tensor(value) else tf.convert_to_tensor(value)
        if not isinstance(value, StringTensor):
            numbers_of(value)
        text += tensor_text(value, summarize) + rest
    return StringTensor(text)


# ------------------------------------------------------------------------------------------------------------------- hashes

def _check_buckets(count):
    if count < 1:
        raise _invalid(f"Value for attr 'num_buckets' of {count} must be at least minimum 1")


@_elementwise
def to_hash_bucket_fast(input, num_buckets, name=None):  # noqa: A002
    """A number below num_buckets for each string, by FarmHash's fingerprint; the same for ever."""
    _check_buckets(num_buckets)
    return _tensor(each(lambda s: fingerprint64(s) % num_buckets, array_of(input)), np.int64)


@_elementwise
def to_hash_bucket_strong(input, num_buckets, key, name=None):  # noqa: A002
    """A number below num_buckets for each string, by SipHash with a key of two numbers."""
    _check_buckets(num_buckets)
    key = [int(k) & (1 << 64) - 1 for k in key]
    if len(key) != 2:
        raise _invalid(f"Key must have 2 elements, got {key}")
    return _tensor(each(lambda s: siphash24(key, s) % num_buckets, array_of(input)), np.int64)


def __getattr__(name):
    if name == "to_hash_bucket":
        raise AttributeError("tf.strings.to_hash_bucket is not covered (its hash was never fixed): use "
                             "to_hash_bucket_fast")
    raise AttributeError(f"module 'gradus.strings' has no attribute '{name}'. docs/api-coverage.md lists what is covered.")
