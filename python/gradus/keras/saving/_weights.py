"""The weights of a model as one flat table of tensors, and the files that hold such tables.

    layers/dense/vars/0  ->  a tensor

The table is the same for .weights.h5 (and the file within .keras), .npz and .safetensors. Loading reads and checks a
whole file first; if then an object cannot take its values, all variables get back what they had.
"""
import os
import warnings

import numpy as np

import gradus as tf

from ... import _core, errors
from ..._files import text_of, written_aside
from ..._safetensors import load_safetensors, save_safetensors
from ._walk import walk

SUFFIXES = (".weights.h5", ".npz", ".safetensors")


def _tensor(value):
    if isinstance(value, _core.Tensor):
        return value
    if isinstance(value, _core.Variable):
        return value.read_value()
    return tf.convert_to_tensor(value)


class Store(dict):
    """What save_own_variables writes to: values by name."""


def collected(model):
    """[(path, name of the object, {name: tensor})] of all objects."""
    made = []
    for path, value in walk(model):
        store = Store()
        value.save_own_variables(store)
        made.append((path, getattr(value, "name", None), {str(k): _tensor(v) for k, v in store.items()}))
    return made


def to_tree(objects):
    """The table as an HDF5 tree."""
    root = (None, {}, {})
    for path, name, store in objects:
        node = root
        for part in [p for p in path.split("/") if p] + ["vars"]:
            node = node[2].setdefault(part, (None, {}, {}))
        if name is not None:
            node[1]["name"] = name
        for key, tensor in store.items():
            marks = {"dtype": "bfloat16"} if tensor.dtype == tf.bfloat16 else {}
            node[2][key] = (tensor, marks, {})
    return root


def from_tree(root):
    """{path: {name: tensor}} of an HDF5 tree."""
    table = {}

    def visit(node, path):
        for name, child in node[2].items():
            if name == "vars":
                table["/".join(path)] = {k: v[0] for k, v in child[2].items() if v[0] is not None}
            else:
                visit(child, path + [name])
    visit(root, [])
    return table


def flat(objects):
    return {f"{path}/vars/{key}".lstrip("/"): tensor for path, _, store in objects for key, tensor in store.items()}


def from_flat(tensors):
    table = {}
    for name, tensor in tensors.items():
        path, _, key = name.rpartition("/")
        if path != "vars" and not path.endswith("/vars"):
            raise errors.InvalidArgumentError(None, None, f"'{name}' is not the name of a weight of a model; expected "
                                              "names like 'layers/dense/vars/0'")
        table.setdefault(path[:-len("vars")].rstrip("/"), {})[key] = tensor
    return table


def read_table(path):
    """The table of a file of weights."""
    path = text_of(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"[Errno 2] Unable to open file: there is no '{path}'")
    if path.endswith(".npz"):
        return from_flat(_load_npz(path))
    if path.endswith(".safetensors"):
        return from_flat(load_safetensors(path))
    return from_tree(_core._load_hdf5(path))


def _load_npz(path):
    """The arrays of an .npz file; pickled objects are refused, and sizes that the file cannot hold."""
    try:
        return _core._load_npz(path)
    except errors.InvalidArgumentError as error:
        raise errors.DataLossError(None, None, f"'{path}' cannot be read: {error}") from None


def _save_npz(path, tensors):
    arrays = {k: (tf.bitcast(v, tf.uint16).numpy().view("V2") if v.dtype == tf.bfloat16 else v.numpy())
              for k, v in tensors.items()}
    with written_aside(path) as file:
        np.savez(file, **arrays)


def save_weights(model, filepath, overwrite=True, **kwargs):
    """Writes the weights of a model to a .weights.h5, .npz or .safetensors file."""
    path = text_of(filepath)
    if not path.endswith(SUFFIXES):
        raise ValueError(f"The filename must end in `.weights.h5`. Received: filepath={path}")
    if not getattr(model, "built", True):
        raise ValueError("You are saving a model that has not yet been built. Try building the model first by calling "
                         "it on some data or by using `build()`.")
    if kwargs.pop("max_shard_size", None) is not None:
        raise NotImplementedError("save_weights(max_shard_size=...) is not covered: weights are written as one file")
    if kwargs:
        raise TypeError(f"save_weights() got unexpected keyword arguments: {sorted(kwargs)}")
    check_overwrite(path, overwrite)
    objects = collected(model)
    if path.endswith(".npz"):
        _save_npz(path, flat(objects))
    elif path.endswith(".safetensors"):
        save_safetensors(path, flat(objects))
    else:
        _core._save_hdf5(path, to_tree(objects))


def check_overwrite(path, overwrite):
    if not overwrite and os.path.exists(path):
        raise FileExistsError(f"'{path}' exists already: pass overwrite=True to replace it")


def load_weights(model, filepath, skip_mismatch=False, **kwargs):
    """Gives the model the weights of a file that save_weights, save or the real Keras wrote."""
    path = text_of(filepath)
    if path.endswith(".keras"):
        from ._model_file import weights_in
        table = weights_in(path)
    elif path.endswith(SUFFIXES):
        table = read_table(path)
    elif path.endswith((".h5", ".hdf5")):
        from ._legacy import load_legacy_weights
        return load_legacy_weights(model, path, skip_mismatch, **kwargs)
    else:
        raise ValueError(f"File format not supported: filepath={path}. Keras 3 only supports V3 `.keras` files, "
                         "`.weights.h5` files, legacy H5 format files (`.h5` extension); here also `.npz` and "
                         "`.safetensors` files.")
    assign(model, table, skip_mismatch)


class kept_on_failure:  # noqa: N801
    """A context: when it ends by an exception, all variables of the model are as they were."""

    def __init__(self, model):
        self._before = []
        for _, value in walk(model):
            for variable in _own_variables(value):
                self._before.append((variable, _tensor(variable)))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            for variable, value in self._before:
                variable.assign(value)


def _own_variables(value):
    if hasattr(value, "_trainable_variables") and hasattr(value, "_non_trainable_variables"):
        return list(value._trainable_variables) + list(value._non_trainable_variables)
    return [v for v in value.variables if hasattr(v, "assign")]


def assign(model, table, skip_mismatch):
    """Gives every object of the model its values; all or, unless mismatches are to be skipped, none."""
    if not getattr(model, "built", True):
        raise ValueError("You are loading weights into a model that has not yet been built. Try building the model "
                         "first by calling it on some data or by using `build()`.")
    failed, example = [], None
    with kept_on_failure(model):
        for path, value in walk(model):
            store = Store(table.get(path, {}))
            if not store and not _own_variables(value):
                continue
            before = [(v, _tensor(v)) for v in _own_variables(value)]
            try:
                value.load_own_variables(store)
            except (ValueError, TypeError, KeyError, errors.OpError) as error:
                for variable, old in before:
                    variable.assign(old)
                failed.append(value)
                example = example or error
        if failed:
            message = (f"A total of {len(failed)} objects could not be loaded. Example error message for object "
                       f"{failed[0]}:\n\n"
                       f"{example}\n\nList of objects that could not be loaded:\n{failed}")
            if not skip_mismatch:
                raise ValueError(message)
            warnings.warn(message, stacklevel=3)
