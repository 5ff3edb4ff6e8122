"""Writing: the tree of objects, the programs of their functions, the values of their variables."""
import contextlib
import itertools
import json
import os

import gradus as tf

from .. import _core
from .._function import MustRunEagerly, parameters_of
from .._safetensors import save_safetensors
from ._structure import encoded, filled, is_spec, spec_of, specs_in

_MOST_RANKS = 5
_MOST_UNKNOWN = 3  # sizes, of which programs where some are 1 are looked for
_SOME_SIZE = 37    # that means nothing
FILE, FORMAT, VERSION = "saved_model.gradus", "gradus saved model", 1


class _Writer:
    def __init__(self):
        self.objects, self.functions, self.variables, self.tensors = [], [], [], {}
        self._constants = {}  # their numbers, by what they are
        self._numbers = {}  # by id: of objects and variables
        self._open = []

    # ------------------------------------------------------------------ the tree
    def reference(self, x):
        """What a place of the tree holds, as JSON; None for what is not saved."""
        if isinstance(x, _core.Variable):
            return ["variable", self._number(x, self.variables, x)]
        if isinstance(x, _core.Function):
            self.functions.append(x)
            return ["function", len(self.functions) - 1]
        if isinstance(x, dict):
            found = {str(k): self.reference(v) for k, v in x.items()}
            return ["dict", {k: v for k, v in found.items() if v}] if any(found.values()) else None
        if isinstance(x, (list, tuple)):
            found = [self.reference(v) for v in x]
            return ["list", found] if any(found) else None
        if not _is_object(x):
            return None
        known = id(x) in self._numbers
        number = self._number(x, self.objects, None)
        if not known:
            self.objects[number] = {"class": type(x).__name__, "children": {}}
            for name, value in _attributes(x):
                reference = self.reference(value)
                if reference:
                    self.objects[number]["children"][name] = reference
        return ["object", number]

    def _number(self, x, into, entry):
        if id(x) not in self._numbers:
            self._numbers[id(x)] = len(into), x  # the object is kept, so that its id stays its own
            into.append(entry)
        return self._numbers[id(x)][0]

    # ------------------------------------------------------------------ programs
    def programs(self, function, args, name):
        """The programs of function(*args), tensors in args given as specs. Sizes that are not said are any; of first axes
        they are one, the batch. If there are several, another program lets them differ, where the function can do with
        that; and where one that is 1 makes another program of it, by broadcasting, there is one for that."""
        made = [self._program(function, args, name)]
        specs = specs_in(args)
        first = [s for s in specs if s.shape.rank and s.shape[0] is None]
        if len(first) > 1:
            self._try(made, function, args, name, batches_differ=True)
        unknown = [(i, axis) for i, s in enumerate(specs) for axis, n in enumerate(s.shape.as_list()) if n is None]
        if len(unknown) > _MOST_UNKNOWN:
            return made
        for count in range(1, len(unknown) + 1):
            for ones in itertools.combinations(unknown, count):
                given = iter(_with_sizes(specs, ones, None))
                sizes = [s.shape.as_list() for s in _with_sizes(specs, ones, _SOME_SIZE)]
                if not any(_core._program_takes(self._loaded(p), sizes) for p in made):
                    self._try(made, function, filled(args, given), name)
        return made

    def _try(self, made, *args, **options):
        with contextlib.suppress(Exception):
            made.append(self._program(*args, **options))

    def _loaded(self, program):
        return _core._load_program(program["text"], [self.tensors[f"constant/{i}"] for i in program["constants"]],
                                   [self.variables[i] for i in program["variables"]])

    def _program(self, function, args, name, batches_differ=False):
        specs, results = specs_in(args), []

        def flat(*tensors):
            try:
                results[:] = [function(*filled(args, tensors))]
            except MustRunEagerly as e:
                raise (e.__cause__ or tf.errors.UnimplementedError(None, None, str(e))) from None
            return [leaf for leaf in tf.nest.flatten(results[0]) if tf.is_tensor(leaf)]

        arguments = [encoded(a, f"an argument of {name}") for a in args]
        kinds = [(s.dtype, [-1 if n is None else n for n in s.shape.as_list()]) for s in specs]
        text, constants, variables = _core._trace_to_save(flat, kinds, self.variables, name, batches_differ)
        made = tf.nest.map_structure(spec_of, results[0])
        return {"args": arguments, "results": encoded(made, f"a result of {name}"), "text": text, "variables": variables,
                "constants": [self._constant(c) for c in constants]}

    def _constant(self, tensor):
        """The number of a constant. Programs of one function have the same ones, which are kept once."""
        array = tensor.numpy()
        key = tensor.dtype.name, array.shape, array.tobytes()
        number = self._constants.setdefault(key, len(self._constants))
        self.tensors[f"constant/{number}"] = tensor
        return number

    def saved_function(self, function):
        """A function with the programs of all its traces."""
        return {"name": function.__name__, "parameters": _parameters(function),
                "programs": self._programs(function)}

    def _programs(self, function):
        name = function.__name__
        if not _has_open_rank(function):
            return [p for args in _traces(function) for p in self.programs(function, args, name)]
        made = []
        for rank in range(_MOST_RANKS):  # a program has ranks: one for each that the function can take
            with contextlib.suppress(tf.errors.OpError, ValueError, TypeError):
                made += self.programs(function, _with_rank(function._input_signature, rank), name)
        return made


def _with_sizes(specs, ones, others):
    """The specs with 1 for some (spec, axis), and another number for what else is not said."""
    return [tf.TensorSpec([1 if (i, axis) in ones else others if n is None else n
                           for axis, n in enumerate(s.shape.as_list())], s.dtype, s.name) for i, s in enumerate(specs)]


def _is_object(x):
    return isinstance(x, (tf.Module, tf.train.Checkpoint)) or hasattr(x, "_gradus_saved_parts") or (
        isinstance(x, tf.keras.layers.Layer))


def _attributes(x):
    """The parts of an object by name: attributes, and functions that are methods."""
    if hasattr(x, "_gradus_saved_parts"):
        yield from x._gradus_saved_parts().items()
        return
    if isinstance(x, tf.keras.layers.Layer):
        yield from (("variables", list(x.variables)), ("trainable_variables", list(x.trainable_variables)),
                    ("non_trainable_variables", list(x.non_trainable_variables)))
        return
    seen = set()
    for kind in type(x).__mro__:
        for name, value in vars(kind).items():
            if isinstance(value, _core.Function) and name not in seen:
                seen.add(name)
                yield name, getattr(x, name)
    yield from ((name, value) for name, value in vars(x).items() if name not in seen)


def _parameters(function):
    """[name, whether only by name, default if there is one] of each parameter; None if there are *args. What is not in an
    input_signature is what it is by default, in every call."""
    found = parameters_of(function)
    if found is None:
        return None
    found = [p for i, p in enumerate(found) if not (i == 0 and p[0] == "self")]
    if function._input_signature is not None:
        found = found[:len(function._input_signature)]
    return [[name, only_by_name, *([] if default is ... else [encoded(default, f"the default of {name}")])]
            for name, only_by_name, default in found]


def _has_open_rank(function):
    return any(s.shape.rank is None for s in tf.nest.flatten(list(function._input_signature or ())))


def _with_rank(signature, rank):
    return tuple(tf.nest.map_structure(
        lambda s: s if s.shape.rank is not None else tf.TensorSpec([None] * rank, s.dtype, s.name), list(signature)))


def _traces(function):
    """The arguments for which a function is saved: of its input_signature, or of all its traces."""
    if function._input_signature is not None:
        return [tuple(function._input_signature)]
    return function._traced_arguments()


# ---------------------------------------------------------------------- signatures
def _as_signature(given, name):
    """(function, its arguments, their names) of a function with one trace."""
    from .._function import ConcreteFunction
    if isinstance(given, ConcreteFunction):
        function, args = given._function, tuple(given._args)
        if given._kwargs:
            raise ValueError(f"signature '{name}': arguments by name are not covered, give them by position")
    elif isinstance(given, _core.Function):
        function, traces = given, _traces(given)
        if len(traces) != 1:
            raise ValueError(f"Expected a signature function with exactly one trace, '{name}' ({function.__name__}) has "
                             f"{len(traces)}: give it an input_signature, or call get_concrete_function")
        args = traces[0]
    else:
        raise ValueError("Expected a TensorFlow function for which to generate a signature, but got "
                         f"{given}. Only `tf.functions` with an input signature or concrete functions can be used as a "
                         "signature.")
    names = [p[0] for p in _parameters(function) or ()] + [f"args_{i}" for i in range(len(args))]
    return function, args, [s.name or names[i] if is_spec(s) else names[i] for i, s in enumerate(args)]


def _default_signature(obj):
    """The function that serves if nobody says which: __call__, or the only one there is."""
    functions = {name: value for name, value in _attributes(obj) if isinstance(value, _core.Function)}
    chosen = functions.get("__call__") or (next(iter(functions.values())) if len(functions) == 1 else None)
    if chosen is None:
        return {}
    traces = () if _has_open_rank(chosen) else _traces(chosen)
    plain = len(traces) == 1 and traces[0] and all(is_spec(a) for a in traces[0])
    return {"serving_default": chosen} if plain else {}


def without_complex(tensors):
    """The tensors, complex ones (which safetensors files do not have) as real and imaginary parts; and their names."""
    complex_ones = sorted(name for name, t in tensors.items() if tf.convert_to_tensor(t).dtype.is_complex)
    parts = {name: tf.stack([tf.math.real(tensors[name]), tf.math.imag(tensors[name])], -1) for name in complex_ones}
    return {**tensors, **parts}, complex_ones


def save(obj, export_dir, signatures=None, options=None):
    """Writes an object (tf.Module, Keras model) with its variables and functions to a folder."""
    if not _is_object(obj):
        raise ValueError("Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` "
                         f"class, for export. Got {obj} with type {type(obj)}.")
    if isinstance(obj, tf.keras.Model) and signatures is None:
        signatures = {"serving_default": serving_function(obj)}
    if signatures is None:
        signatures = _default_signature(obj)
    elif not isinstance(signatures, dict):
        signatures = {"serving_default": signatures}
    writer = _Writer()
    root = writer.reference(obj)
    described = {"format": FORMAT, "version": VERSION, "root": root[1], "objects": writer.objects,
                 "functions": [writer.saved_function(f) for f in writer.functions],
                 "signatures": {name: _saved_signature(writer, given, name) for name, given in signatures.items()},
                 "variables": [{"name": v.name, "trainable": bool(v.trainable)} for v in writer.variables]}
    for i, v in enumerate(writer.variables):
        writer.tensors[f"variable/{i}"] = v.value() if callable(getattr(v, "value", None)) else tf.convert_to_tensor(v)
    tensors, described["complex"] = without_complex(writer.tensors)
    os.makedirs(export_dir, exist_ok=True)
    save_safetensors(os.path.join(os.fspath(export_dir), FILE), tensors, {"model": json.dumps(described)})


def _saved_signature(writer, given, name):
    function, args, names = _as_signature(given, name)
    program, *others = writer.programs(function, args, name)
    return {"names": names, **program, "others": others}


def serving_function(model):
    """A model's forward pass, without training, as a function of its inputs."""
    inputs = getattr(model, "inputs", None)
    single = not inputs or len(inputs) == 1
    if inputs:
        specs = [tf.TensorSpec([None, *i.shape[1:]], i.dtype, "inputs" if single else i.name) for i in inputs]
    else:
        specs = [_seen_input(model)]
    if single:
        return tf.function(lambda inputs: model(inputs, training=False), input_signature=specs)
    return tf.function(lambda inputs: model(inputs, training=False), input_signature=[specs])


def _seen_input(model):
    """The one input with which a model without keras.Input was called first."""
    shapes = list((model._build_shapes_dict or {}).values())
    if len(shapes) != 1 or not isinstance(shapes[0], tuple) or not all(n is None or isinstance(n, int) for n in shapes[0]):
        raise ValueError(f"The model {model.name} has no inputs that are known, or several: call it first, build it with "
                         "keras.Input, or save with `signatures`")
    return tf.TensorSpec([None, *shapes[0][1:]], model.compute_dtype, "inputs")
