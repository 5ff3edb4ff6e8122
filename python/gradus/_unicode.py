"""tf.strings.unicode_*: strings as code points and as characters."""
import sys

import numpy as np

from ._ragged_functions import RaggedTensor
from ._strings import StringTensor, array_of, each

_CODECS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be", "US-ASCII": "ascii"}


def _tf():
    return sys.modules["gradus"]


def _codec(encoding):
    known = _CODECS.get(encoding.upper(), encoding)
    if known not in _CODECS.values():
        import codecs
        try:
            codecs.lookup(known)
        except LookupError as error:
            raise _tf().errors.InvalidArgumentError(None, None, f"Could not create converter for encoding: {encoding}"
                                                    ) from error
    return known


def _check(errors):
    if errors not in ("strict", "replace", "ignore"):
        raise _tf().errors.InvalidArgumentError(
            None, None, f"errors policy must be 'strict', 'replace' or 'ignore', got {errors!r}")


_WINDOW = 1024  # bytes that are decoded at once behind a bad one, since the next one may be bad again


def _pieces(s, encoding, errors, replacement, control=False):
    """(character, the byte where it begins) of a string; what is no character is replaced, left out, or an error."""
    _check(errors)
    codec, pieces, at = _codec(encoding), [], 0
    while at < len(s):
        window, bad = s[at:at + _WINDOW] if at else s, b""
        try:
            good = window.decode(codec)
        except UnicodeDecodeError as error:
            good, bad = window[:error.start].decode(codec), window[error.start:max(error.end, error.start + 1)]
            if good and at + len(window) < len(s) and len(window) - error.start < 4:
                bad = b""  # perhaps a character that the window cuts: it is looked at again
            elif errors == "strict":
                raise _tf().errors.InvalidArgumentError(None, None, "Invalid formatting on input string") from error
        for c in good:
            pieces.append((chr(replacement) if control and (c < " " or "\x7f" <= c < "\xa0") else c, at))
            at += len(c.encode(codec))
        if bad and errors == "replace":
            pieces.append((chr(replacement), at))
        at += len(bad)
    return pieces


def _characters(s, encoding, errors, replacement, control=False):
    return "".join(c for c, _ in _pieces(s, encoding, errors, replacement, control))


def _rows(input, function):  # noqa: A002
    """function gives, for a string, several lists of one length; as ragged tensors with one more axis."""
    if isinstance(input, RaggedTensor):
        return tuple(input.with_flat_values(v) for v in _rows(input.flat_values, function))
    array = array_of(input)
    lists = [function(s) for s in array.reshape(-1)]
    results = []
    for column in zip(*lists):
        flat = [v for row in column for v in row]
        values = (StringTensor(np.array(flat, object).reshape(-1)) if flat and isinstance(flat[0], bytes)
                  else _tf().constant(np.array(flat, np.int64 if len(results) else np.int32)))
        if array.ndim == 0:
            results.append(values)
            continue
        made = RaggedTensor.from_row_lengths(values, [len(row) for row in column])
        for size in reversed(array.shape[1:]):
            made = RaggedTensor.from_uniform_row_length(made, size)
        results.append(made)
    return tuple(results)


def unicode_decode(input, input_encoding, errors="replace", replacement_char=65533,  # noqa: A002
                   replace_control_characters=False, name=None):
    """The code points of each string: ragged, since there are different numbers."""
    def one(s):
        return (list(map(ord, _characters(s, input_encoding, errors, replacement_char, replace_control_characters))),)
    return _rows(input, one)[0]


def unicode_decode_with_offsets(input, input_encoding, errors="replace", replacement_char=65533,  # noqa: A002
                                replace_control_characters=False, name=None):
    """The code points of each string, and at which byte each begins."""
    def one(s):
        pieces = _pieces(s, input_encoding, errors, replacement_char, replace_control_characters)
        return [ord(c) for c, _ in pieces], [at for _, at in pieces]
    return _rows(input, one)


def unicode_split(input, input_encoding, errors="replace", replacement_char=65533, name=None):  # noqa: A002
    """The characters of each string."""
    def one(s):
        return ([c.encode(_codec(input_encoding)) for c in _characters(s, input_encoding, errors, replacement_char)],)
    array = input if isinstance(input, RaggedTensor) else array_of(input)
    if not isinstance(array, RaggedTensor) and not any(len(s) for s in array.reshape(-1)):
        empty = StringTensor(np.empty(0, object))
        return empty if array.ndim == 0 else RaggedTensor.from_row_lengths(empty, [0] * array.size)
    return _rows(input, one)[0]


def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=65533, name=None):  # noqa: A002
    """The characters of each string, and at which byte each begins."""
    def one(s):
        pieces = _pieces(s, input_encoding, errors, replacement_char)
        return [c.encode(_codec(input_encoding)) for c, _ in pieces], [at for _, at in pieces]
    return _rows(input, one)


def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):  # noqa: A002
    """Strings from code points along the last axis; numbers that are none are replaced, left out, or an error."""
    _check(errors)
    if output_encoding not in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        raise _tf().errors.InvalidArgumentError(
            None, None, f"got output_encoding {output_encoding!r}; expected 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'")

    def one(points):
        good = []
        for point in map(int, points):
            if 0 <= point < 0x110000 and not 0xD800 <= point < 0xE000:
                good.append(chr(point))
            elif errors == "strict":
                raise _tf().errors.InvalidArgumentError(None, None, f"{point} is no code point")
            elif errors == "replace":
                good.append(chr(replacement_char))
        return "".join(good).encode(_codec(output_encoding))
    if isinstance(input, RaggedTensor):
        if isinstance(input.values, RaggedTensor):
            return input.with_values(unicode_encode(input.values, output_encoding, errors, replacement_char))
        return StringTensor(np.array([one(row) for row in input.to_list()], object))
    array = np.asarray(input)
    if array.ndim == 1:
        return StringTensor(one(array))
    made = np.empty(array.shape[:-1], object)
    for at in np.ndindex(*made.shape):
        made[at] = one(array[at])
    return StringTensor(made)


def unicode_transcode(input, input_encoding, output_encoding, errors="replace", replacement_char=65533,  # noqa: A002
                      replace_control_characters=False, name=None):
    """The same characters in another encoding."""
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(unicode_transcode(input.flat_values, input_encoding, output_encoding, errors,
                                                        replacement_char, replace_control_characters))
    return StringTensor(each(lambda s: _characters(s, input_encoding, errors, replacement_char, replace_control_characters)
                             .encode(_codec(output_encoding), "replace"), array_of(input)))
