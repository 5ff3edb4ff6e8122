"""Lines of comma-separated values as tensors."""
import csv

import numpy as np

from .. import errors
from .._strings import StringTensor


def fields_of(text, delim, quotes):
    """The fields of one line."""
    return next(csv.reader([text], delimiter=delim, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE), [])


def value_of(text, dtype, default, field, na_value=""):
    """One field as a Python value; default (None if the field is required) where it is empty."""
    if text in ("", na_value):
        if default is None:
            raise errors.InvalidArgumentError(None, None, f"Field {field} is required but missing in record!")
        return default
    if dtype.name == "string":
        return text.encode()
    try:
        return int(text) if dtype.is_integer else float(text)
    except ValueError:
        raise errors.InvalidArgumentError(
            None, None, f"Field {field} in record is not a valid {dtype.name}: {text}") from None


def column_of(default):
    """(dtype, default value or None) of one of record_defaults: a dtype, a value, or a list with at most one value."""
    import gradus as tf
    if hasattr(default, "as_numpy_dtype"):
        return default, None
    tensor = default if tf.is_tensor(default) else tf.constant(default)
    if tensor.dtype.name == "int64" and not tf.is_tensor(default):
        tensor = tf.cast(tensor, tf.int32)
    values = np.asarray(tensor.numpy(), object if tensor.dtype.name == "string" else None).ravel().tolist()
    return tensor.dtype, values[0] if values else None


def tensor_of(values, dtype, shape):
    """Values of one column."""
    import gradus as tf
    if dtype.name == "string":
        array = np.empty(len(values), object)
        array[:] = values
        return StringTensor(array.reshape(shape))
    return tf.constant(np.array(values, dtype.as_numpy_dtype).reshape(shape))


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None):
    """The fields of lines, a tensor for each column."""
    lines = np.asarray(records.numpy() if hasattr(records, "numpy") else records, object)
    columns = [column_of(d) for d in record_defaults]
    made = [[] for _ in columns]
    for line in lines.ravel():
        fields = fields_of(line.decode() if isinstance(line, bytes) else line, field_delim, use_quote_delim)
        if select_cols is not None:
            fields = [fields[i] for i in select_cols]
        if len(fields) != len(columns):
            raise errors.InvalidArgumentError(None, None, f"Expect {len(columns)} fields but have {len(fields)} in record")
        for i, (text, (dtype, default)) in enumerate(zip(fields, columns)):
            made[i].append(value_of(text, dtype, default, i, na_value))
    return [tensor_of(values, dtype, lines.shape) for values, (dtype, _) in zip(made, columns)]


def encode_base64(input, pad=False, name=None):  # noqa: A002
    """Bytes as text for addresses."""
    import base64
    return _each(input, lambda b: base64.urlsafe_b64encode(b) if pad else base64.urlsafe_b64encode(b).rstrip(b"="))


def decode_base64(input, name=None):  # noqa: A002
    """The bytes of such a text."""
    import base64
    import binascii

    import gradus as tf

    def one(text):
        plain = text.rstrip(b"=")
        try:
            return base64.b64decode(plain + b"=" * (-len(plain) % 4), b"-_", validate=True)
        except binascii.Error as error:
            raise tf.errors.InvalidArgumentError(None, None, "Invalid character found in base64.") from error
    return _each(input, one)


def _each(strings, function):
    import gradus as tf
    array = np.asarray(tf.constant(strings).numpy(), object)
    made = np.empty(array.shape, object)
    for at in np.ndindex(*array.shape):
        made[at] = function(array[at])
    return StringTensor(made)
