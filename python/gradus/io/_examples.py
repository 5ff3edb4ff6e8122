"""tf.io.parse_single_example and parse_example: records (tf.train.Example) as dicts of tensors."""
import collections

import numpy as np

from .. import errors
from .._strings import StringTensor
from ..train._example import Example, FeatureList, SequenceExample

FixedLenFeature = collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"], defaults=[None])
FixedLenSequenceFeature = collections.namedtuple(
    "FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"], defaults=[False, None])


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """Any number of values: a sparse tensor."""


def _name(dtype):
    return "string" if getattr(dtype, "name", dtype) in ("string", str, bytes) else _dtype(dtype).name


def _dtype(dtype):
    import gradus
    return gradus.as_dtype(dtype)


_LISTS = {"string": "bytes_list", "float32": "float_list", "int64": "int64_list"}


def _shape(spec):
    return [spec.shape] if isinstance(spec.shape, int) else list(spec.shape)


def _values(feature, spec, key):
    """The list of one feature, or None if it is missing."""
    kind = _name(spec.dtype)
    if kind not in _LISTS:
        raise ValueError(f"features are tf.float32, tf.int64 or tf.string, got {spec.dtype!r} for '{key}'")
    if feature is None or feature.WhichOneof() is None:
        return None
    if feature.WhichOneof() != _LISTS[kind]:
        raise errors.InvalidArgumentError(None, None, f"Key: {key}. Data types don't match. Expected type: {kind}")
    return getattr(feature, _LISTS[kind]).value


def _array(values, spec):
    kind = _name(spec.dtype)
    if kind != "string":
        return np.asarray(values, kind)
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _one(feature, spec, key):
    values = _values(feature, spec, key)
    if isinstance(spec, VarLenFeature):
        return _array(values or [], spec)
    shape = _shape(spec)
    if isinstance(spec, FixedLenSequenceFeature):
        if values is None and not spec.allow_missing:
            raise errors.InvalidArgumentError(None, None, f"Feature: {key} is required but could not be found.")
        return _array(values or [], spec).reshape([-1, *shape])
    if values is None:
        if spec.default_value is None:
            raise errors.InvalidArgumentError(None, None, f"Feature: {key} (data type: {_name(spec.dtype)}) is "
                                                          "required but "
                                              "could not be found.")
        default = spec.default_value.encode() if isinstance(spec.default_value, str) else spec.default_value
        kind = _name(spec.dtype)
        return np.broadcast_to(np.asarray(default, object if kind == "string" else kind), shape)
    array = _array(values, spec)
    if array.size != int(np.prod(shape)):
        raise errors.InvalidArgumentError(None, None, f"Key: {key}. Can't parse serialized Example: {array.size} "
                                                      "values, "
                                          f"expected shape {shape}.")
    return array.reshape(shape)


def _tensor(array):
    import gradus
    if array.dtype == object:
        return StringTensor(array)
    return gradus.convert_to_tensor(np.ascontiguousarray(array).reshape(array.shape))


def _parsed(data, features):
    data = data.numpy() if hasattr(data, "numpy") else data
    found = Example.FromString(data).features.feature
    return {key: _one(found.get(key), spec, key) for key, spec in features.items()}


def parse_single_example(serialized, features, example_names=None, name=None):
    """One record as a dict of tensors."""
    if not features:
        raise ValueError("Missing: features was empty")
    return {key: _sparse([array], features[key])[0] if isinstance(features[key], VarLenFeature) else _tensor(array)
            for key, array in _parsed(serialized, features).items()}


def _sparse(arrays, spec):
    """Rows of different lengths as a sparse matrix."""
    import gradus
    places = [(i, j) for i, array in enumerate(arrays) for j in range(len(array))]
    values = _array([v for array in arrays for v in array], spec)
    return gradus.SparseTensor(np.array(places, np.int64).reshape(-1, 2), _tensor(values),
                               [len(arrays), max(map(len, arrays), default=0)])


def parse_example(serialized, features, example_names=None, name=None):
    """A batch of records as a dict of tensors; sequences are padded with default_value or zeros."""
    if not features:
        raise ValueError("Missing: features was empty")
    records = serialized.numpy() if hasattr(serialized, "numpy") else np.asarray(serialized, object)
    rows = [_parsed(r, features) for r in np.asarray(records, object).ravel()]
    made = {}
    for key, spec in features.items():
        arrays = [row[key] for row in rows]
        if isinstance(spec, FixedLenSequenceFeature) and not spec.allow_missing:
            raise ValueError(f"Unsupported: FixedLenSequenceFeature requires allow_missing to be True. Feature: {key}.")
        if isinstance(spec, FixedLenSequenceFeature):
            longest = max((len(a) for a in arrays), default=0)
            strings = _name(spec.dtype) == "string"
            fill = spec.default_value if spec.default_value is not None else b"" if strings else 0
            padded = np.full([len(arrays), longest, *_shape(spec)], fill, object if strings else _name(spec.dtype))
            for row, array in zip(padded, arrays):
                row[:len(array)] = array
            made[key] = _tensor(padded)
        elif isinstance(spec, VarLenFeature):
            made[key] = _sparse(arrays, spec)
        else:
            made[key] = _tensor(np.stack(arrays))
    return made


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None, name=None):
    """(context, sequences) of a tf.train.SequenceExample, dicts of tensors."""
    data = serialized.numpy() if hasattr(serialized, "numpy") else serialized
    record = SequenceExample.FromString(data)
    context = {}
    for key, spec in (context_features or {}).items():
        array = _one(record.context.feature.get(key), spec, key)
        context[key] = _sparse([array], spec)[0] if isinstance(spec, VarLenFeature) else _tensor(array)
    sequences = {}
    for key, spec in (sequence_features or {}).items():
        found = record.feature_lists.feature_list.get(key)
        if found is None and not isinstance(spec, VarLenFeature) and not spec.allow_missing:
            raise errors.InvalidArgumentError(None, None, f"Name: <unknown>, Key: {key}, Index: 0. The list of features is missing")
        rows = [_array(_values(feature, spec, key) or [], spec) for feature in (found or FeatureList()).feature]
        if isinstance(spec, VarLenFeature):
            sequences[key] = _sparse(rows, spec)
        else:
            values = _array([v for row in rows for v in row], spec)
            sequences[key] = _tensor(values.reshape([len(rows), *_shape(spec)]))
    return context, sequences
