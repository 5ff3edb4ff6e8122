"""tf.lookup: tables from strings or integers to strings or numbers.

A table is a Python dictionary. Strings are looked up by it; integers too, so a tf.function that looks values up runs as
plain Python.
"""
import os

import numpy as np

import gradus as tf

from ._fingerprint import fingerprint64
from ._ragged_functions import RaggedTensor
from ._sparse import SparseTensor
from ._strings import StringTensor, array_of, holds_strings, numbers_of, string

__all__ = [
    "KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex",
    "TextFileInitializer", "experimental",
]


def _array(values, dtype):
    if dtype == string:
        return array_of(values)
    return numbers_of(tf.convert_to_tensor(values, dtype))


def _tensor(array, dtype):
    return StringTensor(array) if dtype == string else tf.constant(array.astype(tf.as_dtype(dtype).as_numpy_dtype))


def _dtype(values, dtype):
    if dtype is not None:
        return tf.as_dtype(dtype)
    if isinstance(values, RaggedTensor) or holds_strings(values):
        return string
    return tf.convert_to_tensor(values).dtype


class TextFileIndex:
    """What of a line a TextFileInitializer takes."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class KeyValueTensorInitializer:
    """Pairs of keys and values."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        self.key_dtype, self.value_dtype = _dtype(keys, key_dtype), _dtype(values, value_dtype)
        keys, values = _array(keys, self.key_dtype), _array(values, self.value_dtype)
        if keys.shape != values.shape:
            raise ValueError(f"Shapes {keys.shape} and {values.shape} of keys and values are incompatible")
        self._pairs = list(zip(keys.reshape(-1).tolist(), values.reshape(-1).tolist()))


class TextFileInitializer:
    """Pairs from the lines of a file: whole lines, line numbers or columns."""

    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t", name=None,
                 value_index_offset=0):
        self.key_dtype, self.value_dtype = tf.as_dtype(key_dtype), tf.as_dtype(value_dtype)
        name = filename.numpy() if isinstance(filename, StringTensor) else filename
        if not os.path.exists(name):
            raise tf.errors.NotFoundError(None, None, f"{name}; No such file or directory")

        def part(number, line, index, dtype):
            if index == TextFileIndex.LINE_NUMBER:
                return number + value_index_offset
            columns = [line] if index == TextFileIndex.WHOLE_LINE else line.split(delimiter.encode())
            if index >= len(columns):
                raise tf.errors.InvalidArgumentError(
                    None, None, f"Invalid number of columns in {name} line {number}: expected {index + 1}, got {len(columns)}")
            text = columns[0 if index == TextFileIndex.WHOLE_LINE else index]
            return text if dtype == string else int(text) if dtype.is_integer else float(text)
        self._pairs = []
        with open(name, "rb") as file:
            for number, line in enumerate(file):
                if vocab_size is not None and number >= vocab_size:
                    break
                line = line.rstrip(b"\r\n")
                self._pairs.append((part(number, line, key_index, self.key_dtype),
                                    part(number, line, value_index, self.value_dtype)))
        if vocab_size is not None and len(self._pairs) < vocab_size:
            raise tf.errors.InvalidArgumentError(
                None, None, f"Invalid vocab_size in {name}: expected {vocab_size} but got {len(self._pairs)}")


class _Table:
    """What all tables have."""

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)

    def size(self, name=None):
        """The number of keys."""
        return tf.constant(len(self._map), tf.int64)

    def lookup(self, keys, name=None):
        """The values of keys, in the shape of the keys."""
        if isinstance(keys, RaggedTensor):
            return keys.with_flat_values(self.lookup(keys.flat_values))
        if isinstance(keys, SparseTensor):
            return keys.with_values(self.lookup(keys.values))
        keys = StringTensor(keys) if holds_strings(keys) else tf.convert_to_tensor(keys)
        if keys.dtype != self._key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self._key_dtype!r}, received: {keys.dtype!r}")
        array = keys._values if isinstance(keys, StringTensor) else numbers_of(keys)
        found = np.empty(array.size, object)
        found[:] = [self._find(k) for k in array.reshape(-1).tolist()]
        return _tensor(found.reshape(array.shape), self._value_dtype)

    def __getitem__(self, keys):
        return self.lookup(keys)


class StaticHashTable(_Table):
    """A table that does not change; keys that it does not have give default_value."""

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        self._key_dtype, self._value_dtype = initializer.key_dtype, initializer.value_dtype
        self._default_value = _tensor(_array(default_value, self._value_dtype), self._value_dtype)
        self._default, self._map = self._default_value.numpy(), {}
        for key, value in initializer._pairs:
            if self._map.setdefault(key, value) != value:
                raise tf.errors.FailedPreconditionError(
                    None, None, f"HashTable has different value for same key. Key {key} has {self._map[key]} and trying to "
                    f"add value {value}")

    default_value = property(lambda self: self._default_value)

    def _find(self, key):
        return self._map.get(key, self._default)

    def export(self, name=None):
        """All keys and values."""
        return (_tensor(_objects(self._map), self._key_dtype), _tensor(_objects(self._map.values()), self._value_dtype))


class StaticVocabularyTable(_Table):
    """Numbers of strings; those that are not in the vocabulary get one of num_oov_buckets further numbers."""

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None, experimental_is_anonymous=False):
        if num_oov_buckets <= 0:
            raise ValueError(f"`num_oov_buckets` must be > 0; use StaticHashTable. Received: {num_oov_buckets}")
        self._key_dtype = tf.as_dtype(lookup_key_dtype) if lookup_key_dtype else (
            initializer.key_dtype if initializer else string)
        self._value_dtype, self._buckets = tf.int64, num_oov_buckets
        self._map = dict(initializer._pairs) if initializer else {}

    def size(self, name=None):
        """The number of keys and buckets."""
        return tf.constant(len(self._map) + self._buckets, tf.int64)

    def _find(self, key):
        known = self._map.get(key)
        if known is not None:
            return known
        text = key if isinstance(key, bytes) else str(key).encode()
        return len(self._map) + fingerprint64(text) % self._buckets


def _objects(values):
    array = np.empty(len(values), object)
    array[:] = list(values)
    return array


class MutableHashTable(_Table):
    """A table that can be added to."""

    def __init__(self, key_dtype, value_dtype, default_value, name="MutableHashTable", checkpoint=True,
                 experimental_is_anonymous=False):
        self._key_dtype, self._value_dtype = tf.as_dtype(key_dtype), tf.as_dtype(value_dtype)
        self._default, self._map = _array(default_value, self._value_dtype)[()], {}

    def _find(self, key):
        return self._map.get(key, self._default)

    def insert(self, keys, values, name=None):
        """Adds or replaces."""
        keys, values = _array(keys, self._key_dtype), _array(values, self._value_dtype)
        self._map.update(zip(keys.reshape(-1).tolist(), values.reshape(-1).tolist()))

    def remove(self, keys, name=None):
        """Takes keys out."""
        for key in _array(keys, self._key_dtype).reshape(-1).tolist():
            self._map.pop(key, None)

    erase = remove

    def export(self, name=None):
        """All keys and values."""
        return (_tensor(_objects(self._map), self._key_dtype), _tensor(_objects(self._map.values()), self._value_dtype))


def __getattr__(name):
    raise AttributeError(f"module 'gradus.lookup' has no attribute '{name}'. docs/api-coverage.md lists what is covered.")


class experimental:  # noqa: N801
    """tf.lookup.experimental: tables that change."""
    MutableHashTable = MutableHashTable
