"""Models and weights in the HDF5 format of older Keras: weights lie under the names of layers."""
import json
import os
import warnings

from ... import _core, errors
from .._serialization import CustomObjectScope, deserialize_keras_object, serialize_keras_object
from . import _weights

_NO_NAMES = (0.0,) * 0  # what h5py makes of an empty list


def save_legacy_model(model, path, include_optimizer):
    """Writes a Sequential or functional model to a .h5 file."""
    from ..models import Functional, Sequential
    if not isinstance(model, (Functional, Sequential)):
        raise NotImplementedError("Saving the model to HDF5 format requires the model to be a Functional model or a "
                                  "Sequential model. It does not work for subclassed models, because such models are "
                                  "defined via the body of a Python method, which isn't safely serializable. Consider "
                                  'saving to the Keras format with `model.save("name.keras")`, or using '
                                  "`save_weights`.")
    from .. import __version__
    about = {"backend": "tensorflow", "keras_version": __version__}
    layers = model.layers if isinstance(model, Sequential) else model.operations
    groups = {layer.name: _weight_group(_saved_weights(layer)) for layer in layers}
    groups["top_level_model_weights"] = _weight_group(model._trainable_variables + model._non_trainable_variables)
    names = [layer.name for layer in layers]
    children = {"model_weights": (None, {**about, "layer_names": names or _NO_NAMES}, groups)}
    attributes = {**about, "model_config": json.dumps(_old(serialize_keras_object(model)))}
    if include_optimizer and model.compiled and model.optimizer is not None:
        training = model.get_compile_config()
        training["optimizer_config"] = {k: training["optimizer"][k] for k in ("class_name", "config")}
        del training["optimizer"]
        attributes["training_config"] = json.dumps(training)
        if model.optimizer.variables:
            children["optimizer_weights"] = _weight_group(model.optimizer.variables)
    _core._save_hdf5(path, (None, attributes, children))


def _saved_weights(layer):
    return [*layer.trainable_weights, *layer.non_trainable_weights] if hasattr(layer, "trainable_weights") else []


def _weight_group(variables):
    """A group with variables under their paths and the list of these paths."""
    root = {}
    for variable in variables:
        *folders, name = variable.path.split("/")
        place = root
        for folder in folders:
            place = place.setdefault(folder, (None, {}, {}))[2]
        place[name] = (variable.read_value(), {}, {})
    return None, {"weight_names": [v.path for v in variables] or _NO_NAMES}, root


def _old(config):
    """The config of a model as in old files, where layers of models are named by their class alone."""
    made = {k: v for k, v in config.items() if k not in ("module", "registered_name", "build_config", "compile_config")}
    inner = made.get("config")
    if isinstance(inner, dict) and isinstance(inner.get("layers"), (list, tuple)):
        made["config"] = {**inner, "layers": [_old(layer) for layer in inner["layers"]]}
    return made


def load_legacy_model(path, custom_objects, compile):  # noqa: A002
    """The model of a .h5 file that model.save wrote."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"[Errno 2] Unable to open file: there is no '{path}'")
    root = _core._load_hdf5(path)
    text = root[1].get("model_config")
    if not isinstance(text, str):
        raise ValueError(f"No model config found in the file at {path}.")
    try:
        config = json.loads(text)
        training = json.loads(root[1].get("training_config") or "null")
    except (ValueError, RecursionError) as error:
        raise errors.DataLossError(None, None, f"the config in '{path}' cannot be read: {error}") from None
    with CustomObjectScope(custom_objects):
        model = deserialize_keras_object(_modern(config), custom_objects=custom_objects)
        shape = (config.get("config") or {}).get("build_input_shape")
        if not model.built and shape is not None:
            model.build(shape)
        if "model_weights" in root[2]:
            _assign(model, root[2]["model_weights"], path, False)
        if compile and training:
            _compile(model, training, root, path)
    return model


def _modern(config):
    """Dicts of old files name a class without its module."""
    if isinstance(config, list):
        return [_modern(c) for c in config]
    if not isinstance(config, dict):
        return config
    made = {k: _modern(v) for k, v in config.items()}
    if "class_name" in made and "config" in made and "module" not in made and isinstance(made["config"], dict):
        name = made["class_name"]
        made["module"] = {"Sequential": "keras", "Functional": "keras.src.models.functional",
                          "Model": "keras.src.models.functional"}.get(name, "keras.layers")
        made.setdefault("registered_name", None)
        if name == "Model":
            made["class_name"] = "Functional"
    return made


def _compile(model, training, root, path):
    from .. import optimizers
    settings = {k: deserialize_keras_object(v) for k, v in training.items() if k != "optimizer_config"}
    try:
        optimizer = optimizers.deserialize(training["optimizer_config"])
        model.compile(optimizer=optimizer, **settings)
    except (TypeError, ValueError, KeyError) as error:
        warnings.warn(f"The model of '{path}' could not be compiled as it was ({error}); compile it "
                      "again.", stacklevel=3)
        return
    if "optimizer_weights" in root[2]:
        group = root[2]["optimizer_weights"]
        optimizer.build(model.trainable_variables)
        values = [_at(group, n) for n in group[1].get("weight_names", [])]
        store = {str(i): v for i, v in enumerate(values)}
        if len(values) == len(optimizer.variables):
            optimizer.load_own_variables(store)


def _at(group, name):
    node = group
    for part in name.split("/"):
        node = node[2].get(part) if node else None
    if not node or node[0] is None:
        raise errors.DataLossError(None, None, f"the weight '{name}' is missing")
    return node[0]


def load_legacy_weights(model, path, skip_mismatch, by_name=False, **_):
    """Weights of a .h5 file that save_weights or save of an older Keras wrote."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"[Errno 2] Unable to open file: there is no '{path}'")
    root = _core._load_hdf5(path)
    if "layer_names" not in root[1] and "model_weights" in root[2]:
        root = root[2]["model_weights"]
    if "layer_names" not in root[1]:
        return _weights.assign(model, _weights.from_tree(root), skip_mismatch)
    _assign(model, root, path, skip_mismatch, by_name)


def _assign(model, group, path, skip_mismatch, by_name=False):
    saved = []
    for name in _texts(group[1].get("layer_names")):
        layer = group[2].get(name)
        values = [_at(layer, n) for n in _texts(layer[1].get("weight_names"))] if layer else []
        if values:
            saved.append((name, values))
    layers = [layer for layer in model.layers if layer.weights]
    if by_name:
        by = {layer.name: layer for layer in layers}
        pairs = [(by[n], v) for n, v in saved if n in by]
    else:
        if len(layers) != len(saved):
            raise ValueError(f"Layer count mismatch when loading weights from file. Model expected {len(layers)} "
                             f"layers, found {len(saved)} saved layers.")
        pairs = [(layer, values) for layer, (_, values) in zip(layers, saved)]
    with _weights.kept_on_failure(model):
        for layer, values in pairs:
            variables = _saved_weights(layer)
            if len(variables) != len(values):
                raise ValueError(f"Weight count mismatch for layer '{layer.name}' when loading '{path}'. Layer expects "
                                 f"{len(variables)} weight(s). Received {len(values)} saved weight(s)")
            for variable, value in zip(variables, values):
                if list(variable.shape) != list(value.shape):
                    message = (f"Shape mismatch in layer '{layer.name}' for weight {variable.name}. Weight expects "
                               f"shape {tuple(variable.shape)}. Received saved weight with shape {tuple(value.shape)}")
                    if not skip_mismatch:
                        raise ValueError(message)
                    warnings.warn(f"Skipping: {message}", stacklevel=4)
                    continue
                variable.assign(value)


def _texts(value):
    return [value] if isinstance(value, str) else value if isinstance(value, list) else []
