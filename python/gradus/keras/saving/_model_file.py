"""Whole models in .keras files: a zip archive with metadata.json, config.json, model.weights.h5 and, of layers that
have files of their own (vocabularies), assets/path/name.

Every part of the archive is under a checksum. Nothing in it is executed: classes are found by name among those of
Keras, those that the program registered or passed as custom_objects, and those with from_config in modules that the
program has imported.
"""
import datetime
import json
import os
import tempfile
import zipfile
import zlib

from ... import _core, errors
from ..._archives import opened, read
from ..._files import text_of, written_aside
from .._serialization import CustomObjectScope, deserialize_keras_object, serialize_keras_object
from . import _weights
from ._walk import walk

_CONFIG, _METADATA, _WEIGHTS = "config.json", "metadata.json", "model.weights.h5"


def save_model(model, filepath, overwrite=True, zipped=None, **kwargs):
    """Writes a model to a .keras file: its config, its weights and the state of its optimizer; or to a legacy .h5."""
    path = text_of(filepath)
    include_optimizer = kwargs.pop("include_optimizer", True)
    kwargs.pop("save_format", None)
    if kwargs:
        raise ValueError(f"The following argument(s) are not supported with the native Keras format: {list(kwargs)}")
    if path.endswith((".h5", ".hdf5")):
        from ._legacy import save_legacy_model
        _weights.check_overwrite(path, overwrite)
        return save_legacy_model(model, path, include_optimizer)
    if not path.endswith(".keras"):
        raise ValueError("Invalid filepath extension for saving. Please add either a `.keras` extension for the native "
                         f"Keras format (recommended) or a `.h5` extension. Received: filepath={path}.")
    if zipped is False:
        raise NotImplementedError("models are written as one file: leave out zipped=False")
    _weights.check_overwrite(path, overwrite)
    if not model.built:
        import warnings
        warnings.warn("You are saving a model that has not yet been built. It might not contain any weights yet. "
                      "Consider building the model first by calling it on some data.", stacklevel=2)
    from .. import __version__
    config = serialize_keras_object(model)
    objects = _weights.collected(model)
    if not include_optimizer:
        config.pop("compile_config", None)
        objects = [o for o in objects if o[0].split("/")[0] != "optimizer"]
    metadata = {"keras_version": __version__, "date_saved": datetime.datetime.now().strftime("%Y-%m-%d@%H:%M:%S")}
    parts = {_METADATA: json.dumps(metadata).encode(), _CONFIG: json.dumps(config).encode(),
             _WEIGHTS: _core._hdf5_bytes(_weights.to_tree(objects)), **_assets_of(model)}
    with written_aside(path) as file:
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in parts.items():
                archive.writestr(name, content)


def _assets_of(model):
    """{name in the archive: content} of the files of layers."""
    made = {}
    for path, value in walk(model):
        if not hasattr(value, "save_assets"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            value.save_assets(folder)
            for name in sorted(os.listdir(folder)):
                with open(os.path.join(folder, name), "rb") as file:
                    made[f"assets/{path}/{name}"] = file.read()
    return made


def _load_assets(model, path):
    """Gives layers their files back."""
    for inner, value in walk(model):
        if not hasattr(value, "load_assets"):
            continue
        prefix = f"assets/{inner}/"
        with tempfile.TemporaryDirectory() as folder:
            names = [n for n in _names(path) if n.startswith(prefix) and "/" not in n[len(prefix):] and n != prefix]
            for name, content in zip(names, _parts(path, names)):
                with open(os.path.join(folder, name[len(prefix):]), "wb") as file:
                    file.write(content)
            value.load_assets(folder)


def _names(path):
    archive, entries = opened(path)
    with archive:
        return list(entries)


def _parts(path, wanted):
    """Parts of the archive as bytes, with their checksums compared."""
    try:
        archive, entries = opened(path)
        with archive:
            missing = [name for name in wanted if name not in entries]
            if missing:
                raise KeyError(f"There is no item named {missing[0]!r} in the archive")
            return [read(archive, entries[name]) for name in wanted]
    except FileNotFoundError:
        raise ValueError(f"File not found: filepath={path}. Please ensure the file is an accessible `.keras` zip "
                         "file.") from None
    except KeyError as error:
        raise errors.DataLossError(None, None, f"'{path}' is no .keras file: {error}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError,
            MemoryError) as error:
        raise errors.DataLossError(None, None, f"'{path}' is no .keras file, or is damaged: {error}") from None
    except OSError as error:
        if os.path.isdir(path):
            raise ValueError(f"'{path}' is a folder, not a `.keras` file") from None
        raise errors.DataLossError(None, None, f"'{path}' cannot be read: {error}") from None


def weights_in(path):
    """The table of weights of a .keras file."""
    content, = _parts(path, [_WEIGHTS])
    return _weights.from_tree(_core._parse_hdf5(content, f"{path}:{_WEIGHTS}"))


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True):  # noqa: A002
    """The model in a .keras file, or in a legacy .h5 file, with its weights and the state of its optimizer."""
    path = text_of(filepath)
    if path.endswith((".h5", ".hdf5")):
        from ._legacy import load_legacy_model
        return load_legacy_model(path, custom_objects, compile)
    if not path.endswith(".keras"):
        raise ValueError(f"File format not supported: filepath={path}. Keras 3 only supports V3 `.keras` files, legacy "
                         "H5 format files (`.h5` extension). TensorFlow's SavedModel is not covered.")
    config, content = _parts(path, [_CONFIG, _WEIGHTS])
    table = _weights.from_tree(_core._parse_hdf5(content, f"{path}:{_WEIGHTS}"))
    try:
        config = json.loads(config)
        if not isinstance(config, dict):
            raise ValueError("it is not a dict")
    except (ValueError, RecursionError) as error:
        raise errors.DataLossError(None, None, f"the config in '{path}' cannot be read: {error}") from None
    if not compile:
        config.pop("compile_config", None)
    with CustomObjectScope(custom_objects):
        model = deserialize_keras_object(config, custom_objects=custom_objects, safe_mode=safe_mode)
    if not hasattr(model, "load_own_variables"):
        raise errors.DataLossError(None, None, f"'{path}' holds no model, but {type(model).__name__}")
    if not getattr(model, "built", True) and any(table.values()):
        raise ValueError(f"The model of '{path}' could not be built from its config, so it cannot be given its "
                         "weights. Implement `build_from_config()`, or make the model, call it on data, and use "
                         "load_weights.")
    if getattr(model, "built", True):
        _weights.assign(model, _without_optimizer(table) if not compile else table, False)
    _load_assets(model, path)
    return model


def _without_optimizer(table):
    return {path: store for path, store in table.items() if path.split("/")[0] != "optimizer"}
