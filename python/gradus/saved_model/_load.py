"""Reading: objects with the attributes that were saved, and functions that run the saved programs."""
import json
import os

import gradus as tf

from .. import _core
from .._safetensors import load_with_metadata
from ._save import FILE, FORMAT, VERSION
from ._structure import decoded, filled, is_spec, specs_in


class _UserObject:
    """What was saved, with the same attributes."""

    def __repr__(self):
        return f"<gradus.saved_model object with {', '.join(sorted(k for k in vars(self) if k[0] != '_')) or 'nothing'}>"


class _CallableObject(_UserObject):
    """An object that had a function __call__."""

    def __call__(self, *args, **kwargs):
        return vars(self)["__call__"](*args, **kwargs)


class _Program:
    """One trace: what it takes, what it gives, and the program."""

    def __init__(self, saved, tensors, variables):
        self.args = tuple(decoded(a) for a in saved["args"])
        self.results = decoded(saved["results"])
        self._run = _core._load_program(saved["text"], [tensors[f"constant/{i}"] for i in saved["constants"]],
                                        [variables[i] for i in saved["variables"]])

    def takes(self, args):
        """The tensors of args if they are of this trace's kinds, else None."""
        try:
            tf.nest.assert_same_structure(self.args, args)
        except (ValueError, TypeError):
            return None
        tensors = []
        for spec, given in zip(tf.nest.flatten(self.args), tf.nest.flatten(args)):
            if not is_spec(spec):
                if tf.is_tensor(given) or type(given) is not type(spec) or given != spec:
                    return None
                continue
            if not tf.is_tensor(given) and isinstance(given, (bool, str, type(None))):
                return None
            try:
                given = given if tf.is_tensor(given) else tf.convert_to_tensor(given, spec.dtype)
            except (TypeError, ValueError):
                return None
            if given.dtype != spec.dtype or not spec.shape.is_compatible_with(given.shape):
                return None
            tensors.append(given)
        return tensors

    def takes_sizes(self, tensors):
        return _core._program_takes(self._run, [tf.convert_to_tensor(t) for t in tensors])

    def __call__(self, tensors):
        return filled(self.results, _core._call_program(self._run, [tf.convert_to_tensor(t) for t in tensors]))


def _chosen(programs, args):
    """(program, tensors) of the first program for such arguments, by their sizes too if there are several; None: none."""
    found = [(p, tensors) for p in programs if (tensors := p.takes(args)) is not None]
    if len(found) > 1:
        found = [(p, tensors) for p, tensors in found if p.takes_sizes(tensors)] or found
    return found[0] if found else None


class RestoredFunction:
    """A function of which there are programs, but no source."""

    def __init__(self, saved, tensors, variables):
        self.__name__ = saved["name"]
        self._parameters = saved["parameters"]
        self._programs = [_Program(p, tensors, variables) for p in saved["programs"]]

    def _placed(self, args, kwargs):
        """One argument for each parameter."""
        if not kwargs and (self._parameters is None or len(args) == len(self._parameters)):
            return args
        if self._parameters is None:
            raise TypeError(f"{self.__name__}() was saved with *args or **kwargs, and takes arguments by position only")
        if len(args) > len(self._parameters):
            raise TypeError(f"{self.__name__}() takes {len(self._parameters)} arguments, {len(args)} were given")
        placed, kwargs = list(args), dict(kwargs)
        for name, _, *default in self._parameters[len(args):]:
            if name in kwargs:
                placed.append(kwargs.pop(name))
            elif default:
                placed.append(decoded(default[0]))
            else:
                raise TypeError(f"{self.__name__}() misses the argument '{name}'")
        if kwargs:
            raise TypeError(f"{self.__name__}() got an unexpected argument '{next(iter(kwargs))}'")
        return tuple(placed)

    def __call__(self, *args, **kwargs):
        placed = self._placed(args, kwargs)
        chosen = _chosen(self._programs, placed)
        if chosen:
            program, tensors = chosen
            return program(tensors)
        options = "\n\n".join(f"Option {i + 1}:\n  {p.args}" for i, p in enumerate(self._programs)) or "none was traced"
        raise ValueError("Could not find matching concrete function to call loaded from the SavedModel. Got:\n  "
                         f"{placed}\n\nExpected these arguments to match one of the following "
                         f"{len(self._programs)} option(s):\n\n{options}")

    def __repr__(self):
        return f"<gradus.saved_model function {self.__name__} with {len(self._programs)} program(s)>"


class Signature:
    """A function of arguments by name, which returns a dict."""

    def __init__(self, saved, tensors, variables):
        self._names, self._program = saved["names"], _Program(saved, tensors, variables)
        self._programs = [self._program, *(_Program(p, tensors, variables) for p in saved.get("others", ()))]
        results = self._program.results
        if not isinstance(results, dict):
            results = {f"output_{i}": r for i, r in enumerate(tf.nest.flatten(results))}
        self.structured_outputs = results
        self.structured_input_signature = ((), dict(zip(self._names, self._program.args)))
        self.inputs, self.outputs = specs_in(self._program.args), list(results.values())

    def __call__(self, *args, **kwargs):
        given = dict(zip(self._names, args), **kwargs)
        for name in self._names:
            if name not in given:
                raise TypeError(f"Binding inputs to tf.function failed due to `missing a required argument: '{name}'`. "
                                f"Received args: {args} and kwargs: {kwargs}")
        args = tuple(tf.nest.map_structure(lambda s, v: tf.convert_to_tensor(v, s.dtype) if is_spec(s) else v, spec,
                                           given[name]) for name, spec in zip(self._names, self._program.args))
        chosen = _chosen(self._programs, args)
        if not chosen:
            raise ValueError(f"This signature takes {self.structured_input_signature[1]}, got {given}")
        program, tensors = chosen
        made = program(tensors)
        return made if isinstance(made, dict) else dict(zip(self.structured_outputs, tf.nest.flatten(made)))


def contains_saved_model(export_dir):
    """Whether a folder holds what save wrote."""
    return os.path.isfile(os.path.join(os.fspath(export_dir), FILE))


def load(export_dir, tags=None, options=None):
    """The object that save wrote, with its variables and functions."""
    export_dir = os.fspath(export_dir)
    wanted = {tags} if isinstance(tags, str) else set(tags or ("serve",))
    if wanted != {"serve"}:
        raise RuntimeError(f"MetaGraphDef associated with tags {sorted(wanted)} could not be found in SavedModel: it has "
                           "'serve'")
    path = os.path.join(export_dir, FILE)
    if not os.path.isfile(path):
        for made in ("saved_model.pb", "saved_model.pbtxt"):
            if os.path.isfile(os.path.join(export_dir, made)):
                raise tf.errors.UnimplementedError(
                    None, None, f"{export_dir} holds a SavedModel of TensorFlow ({made}), which Gradus does not read: save "
                    "the weights there (model.save('name.keras'), .weights.h5 or .npz) and load those")
        raise OSError(f"SavedModel file does not exist at: {path}")
    tensors, metadata = load_with_metadata(path, must_have_checksum=True)
    model = _described(metadata, path)
    try:
        return _restored(model, tensors)
    except (KeyError, IndexError, TypeError) as e:
        raise tf.errors.DataLossError(None, None, f"{path}: what it says does not fit together ({e!r})") from e


def _described(metadata, path):
    try:
        model = json.loads(metadata["model"])
        known = model["format"] == FORMAT
    except (KeyError, TypeError, ValueError):
        known = False
    if not known:
        raise tf.errors.DataLossError(None, None, f"{path} is no saved model")
    if model["version"] != VERSION:
        raise tf.errors.UnimplementedError(None, None, f"{path} was saved in version {model['version']} of the format; "
                                           f"this Gradus reads version {VERSION}")
    return model


def _restored(model, tensors):
    parts = {name: tensors[name] for name in model.get("complex", ())}
    tensors = {**tensors, **{name: tf.complex(t[..., 0], t[..., 1]) for name, t in parts.items()}}
    variables = [tf.Variable(tensors[f"variable/{i}"], trainable=v["trainable"], name=v["name"].split(":")[0])
                 for i, v in enumerate(model["variables"])]
    functions = [RestoredFunction(f, tensors, variables) for f in model["functions"]]
    objects = [(_CallableObject if "__call__" in o["children"] else _UserObject)() for o in model["objects"]]

    def found(reference):
        if reference is None:
            return None
        kind, at = reference
        if kind == "list":
            return [found(r) for r in at]
        if kind == "dict":
            return {k: found(r) for k, r in at.items()}
        return {"variable": variables, "function": functions, "object": objects}[kind][at]

    for made, saved in zip(objects, model["objects"]):
        vars(made).update({name: found(r) for name, r in saved["children"].items()})
    root = objects[model["root"]]
    root.signatures = {name: Signature(s, tensors, variables) for name, s in model["signatures"].items()}
    return root
