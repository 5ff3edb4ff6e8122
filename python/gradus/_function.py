"""tf.function: what of it is not in C."""
import contextlib
import functools
import operator
import types
import weakref

from . import _core, nest
from .autograph._convert import Traced
from ._compositions import TensorSpec
from .errors import OpError, UnimplementedError

__all__ = ["function", "init_scope", "executing_eagerly", "inside_function"]


class MustRunEagerly(BaseException):
    """Raised while a function is traced by what cannot be a part of a program, such as going through a dataset.

    The outermost function that is being traced is then called as plain Python, now and from then on; functions that it calls
    are compiled as ever.
    """


_core._set_class("MustRunEagerly", MustRunEagerly)


class TracedNumber:
    """A Python number that was given to a function, while it is traced.

    With numbers it computes in float64 or int64, as Python does; a tensor that it meets gives it its dtype. Whoever
    asks for its value gets an exception, after which the function is traced with the number itself.
    """

    __slots__ = ("_value", "_real")
    __array_ufunc__ = None  # NumPy leaves operators to us

    def __init__(self, value, real):
        self._real = real
        self._value = _core._as_real(value) if real else _core._as_integer(value)

    @property
    def __gradus_number__(self):
        return self._value

    def _asked(self, *_):
        raise TypeError("the value of a number was asked for while the function is traced")

    __bool__ = __int__ = __float__ = __index__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = _asked
    __str__ = __repr__ = __format__ = __hash__ = __divmod__ = __rdivmod__ = _asked


def _operator(op, swapped):
    compares = op in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)

    def method(self, other):
        if isinstance(other, TracedNumber):
            other_real, other_value = other._real, other._value
        elif type(other) in (int, float):
            other_real, other_value = type(other) is float, other
        elif _is_tensor(other):
            if self._real and other.dtype.is_integer:
                self._asked()
            mine = _cast(self._value, other.dtype)
            return op(other, mine) if swapped else op(mine, other)
        else:
            self._asked()
        if compares or (op is operator.pow and not (self._real or other_real)):
            self._asked()
        real = self._real or other_real or op is operator.truediv
        kind = "float64" if real else "int64"
        mine = _cast(self._value, kind)
        other_value = _cast(other_value, kind) if isinstance(other, TracedNumber) else _constant(other_value, kind)
        return TracedNumber(op(other_value, mine) if swapped else op(mine, other_value), real)

    return method


for _name in "add sub mul truediv floordiv mod pow".split():
    setattr(TracedNumber, f"__{_name}__", _operator(getattr(operator, _name), False))
    setattr(TracedNumber, f"__r{_name}__", _operator(getattr(operator, _name), True))
for _name in "lt le gt ge eq ne".split():
    setattr(TracedNumber, f"__{_name}__", _operator(getattr(operator, _name), False))
TracedNumber.__neg__ = lambda self: TracedNumber(-self._value, self._real)
TracedNumber.__pos__ = lambda self: self
TracedNumber.__abs__ = lambda self: TracedNumber(abs(self._value), self._real)


def _parameters(python_function, skip_first):
    """(name, keyword only, default or ...) of each parameter; None if there are *args, **kwargs or no signature."""
    if type(python_function) is types.FunctionType and python_function.__dict__.keys().isdisjoint(_SIGNATURES):
        return _written_parameters(python_function, skip_first)
    import inspect
    try:
        parameters = list(inspect.signature(python_function).parameters.values())
    except (TypeError, ValueError):
        return None
    if skip_first:
        parameters = parameters[1:]
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    return tuple((p.name, p.kind == p.KEYWORD_ONLY, ... if p.default is p.empty else p.default) for p in parameters)


_SIGNATURES = "__wrapped__", "__signature__"  # where a function says that its parameters are others than those written
_MORE_PARAMETERS = 4 | 8  # flags of code objects with *args, with **kwargs


def _written_parameters(function, skip_first):
    """The same, for a function whose code says all: inspect is slow to load."""
    code = function.__code__
    if code.co_flags & _MORE_PARAMETERS:
        return None
    count, defaults, of_names = code.co_argcount, function.__defaults__ or (), function.__kwdefaults__ or {}
    defaults = (...,) * (count - len(defaults)) + defaults
    found = [(name, False, default) for name, default in zip(code.co_varnames, defaults)]
    names = code.co_varnames[count:count + code.co_kwonlyargcount]
    return tuple(found + [(name, True, of_names.get(name, ...)) for name in names])[skip_first:]


def _specified_parameters(python_function, skip_first, signature):
    """The same for a function with an input_signature, which says how many *args there are, and that there are no **kwargs."""
    import inspect
    parameters = list(inspect.signature(python_function).parameters.values())[skip_first:]
    taken = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    found = [(p.name, False, ... if p.default is p.empty else p.default) for p in taken]
    for p in parameters:
        if p.kind == p.VAR_POSITIONAL:
            own = len(taken) - (not skip_first and bool(taken) and taken[0].name == "self")
            found += [(f"{p.name}_{i}", False, ...) for i in range(len(signature) - own)]
        elif p.kind == p.KEYWORD_ONLY:
            found.append((p.name, True, ... if p.default is p.empty else p.default))
    return tuple(found)


def parameters_of(function):
    """Those of a tf.function: (name, keyword only, default or ...) of each; None if they are taken as they come."""
    python_function, signature = function.python_function, function._input_signature
    found = _parameters(python_function, False)
    if found is None and signature is not None:
        found = _specified_parameters(python_function, False, signature)
    return found


def _checked_signature(signature, parameters, name):
    if signature is None:
        return None
    if not isinstance(signature, (tuple, list)):
        raise TypeError(f"input_signature must be either a tuple or a list, got {type(signature)}.")
    for leaf in nest.flatten(list(signature)):
        if not isinstance(leaf, TensorSpec):
            raise TypeError(f"input_signature must be a possibly nested sequence of TensorSpec objects, got {leaf!r}")
    for parameter, only_by_name, default in parameters:
        if only_by_name and default is ...:
            raise TypeError(f"Since input_signature is defined, keyword-only parameter `{parameter}` of {name} must have a default "
                            "value")
    if len(signature) > len(parameters):
        raise TypeError(f"input_signature contains {len(signature) - len(parameters)} extra type constraints: {name} takes "
                        f"{len(parameters)} arguments")
    return tuple(signature)


def _dense_signature(signature):
    """The signature with None for what is no dense tensor of numbers, which is taken as it comes."""
    if signature is None:
        return None
    return tuple(nest.map_structure(lambda spec: spec if type(spec) is TensorSpec else None, part) for part in signature)


def _made(python_function, input_signature, autograph=True, memory_limit=0, owner=None, is_method=False):
    traced = Traced(python_function) if autograph else python_function
    name = getattr(python_function, "__name__", type(python_function).__name__)
    parameters = _parameters(python_function, is_method)
    if isinstance(input_signature, (tuple, list)) and parameters is None:
        parameters = _specified_parameters(python_function, is_method, input_signature)
    if input_signature is not None and not is_method and parameters and parameters[0][0] == "self":
        checked = tuple(input_signature)  # a method: bound before it is called
        made = _core.Function(traced, name, parameters, None, owner, memory_limit)
    else:
        checked = _checked_signature(input_signature, parameters, name)
        made = _core.Function(traced, name, parameters, _dense_signature(checked), owner, memory_limit)
    functools.update_wrapper(made, python_function, updated=())
    made._input_signature, made._autograph, made._memory_limit = checked, autograph, memory_limit
    made._is_method = is_method
    return made


def bind(function, instance, known):
    """The function as a method of an object: its own traces, kept as long as the object lives."""
    key = id(instance)
    options = function._input_signature, function._autograph, function._memory_limit
    try:
        owner = weakref.ref(instance, lambda _: known.pop(key, None))
    except TypeError:  # an object that cannot be referred to weakly
        return _made(function.python_function, *options, lambda: instance, True)
    bound = _made(function.python_function, *options, owner, True)
    known[key] = bound
    return bound


def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
             experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None,
             experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None,
             memory_limit=None):
    """Makes a function that is traced at its first call, compiled, and run as one program from then on.

    Sizes and numbers that change from call to call become inputs of the program, so that few traces are made; explain()
    of the result says which there were and why. What the function does besides computing with tensors (printing,
    appending to lists) happens only while it is traced. With autograph, Python's control flow over tensors becomes a
    part of the program.

    Beyond TensorFlow: memory_limit is the number of bytes that temporaries of the program may take; where more would be
    needed, values are computed again instead of kept, with the same results. explain() says what was reached.
    """
    if memory_limit is not None and memory_limit <= 0:
        raise ValueError(f"memory_limit must be a positive number of bytes, got {memory_limit!r}")
    if func is None:
        return functools.partial(function, input_signature=input_signature, autograph=autograph,
                                 memory_limit=memory_limit)
    if isinstance(func, _core.Function):
        func = func.python_function
    if not callable(func):
        raise TypeError(f"tf.function takes a callable, got {func!r}")
    return _made(func, input_signature, autograph, int(memory_limit or 0))


class FuncGraph:
    """What a concrete function takes and gives, as far as TensorFlow's graph of it says that."""

    def __init__(self, name, inputs, outputs, structured_outputs):
        self.name, self.inputs, self.outputs, self.structured_outputs = name, inputs, outputs, structured_outputs
        self.building_function = True

    def __repr__(self):
        return f"FuncGraph(name={self.name}, id={id(self)})"


class ConcreteFunction:
    """One trace of a function: tensors of one kind, everything else fixed."""

    def __init__(self, function, args, kwargs, outputs):
        self._function, self._args, self._kwargs = function, args, kwargs
        self.structured_outputs = outputs
        self.name = function.__name__
        self.__name__ = self.name

    @property
    def structured_input_signature(self):
        """The arguments, tensors as specs with the names of their parameters."""
        return (tuple(_named(arg, name) for arg, name in zip(self._args, self._names())),
                {name: _named(arg, name) for name, arg in self._kwargs.items()})

    @property
    def inputs(self):
        return [s for s in nest.flatten(self.structured_input_signature) if isinstance(s, TensorSpec)]

    @property
    def outputs(self):
        return [s for s in nest.flatten(self.structured_outputs) if s is not None]

    @property
    def output_shapes(self):
        return nest.map_structure(lambda s: getattr(s, "shape", s), self.structured_outputs)

    @property
    def output_dtypes(self):
        return nest.map_structure(lambda s: getattr(s, "dtype", s), self.structured_outputs)

    @property
    def graph(self):
        return FuncGraph(self.name, self.inputs, self.outputs, self.structured_outputs)

    @property
    def function_type(self):
        import inspect
        return inspect.signature(self._function.python_function)

    def pretty_printed_signature(self, verbose=True):
        """The parameters and results, one per line."""
        lines = [f"  {name} (POSITIONAL_OR_KEYWORD): {arg!r}" for name, arg in zip(self._names(), self._args)]
        lines += [f"  {name} (KEYWORD_ONLY): {arg!r}" for name, arg in self._kwargs.items()]
        return "\n".join(["Input Parameters:", *(lines or ["  None"]), "Output Type:", f"  {self.structured_outputs!r}",
                          "Captures:", "  None"])

    def _names(self):
        """The parameters' names, and numbers where there are more arguments."""
        names = [p[0] for p in _parameters(self._function.python_function, False) or ()]
        if names[:1] == ["self"]:
            del names[0]
        return names[:len(self._args)] + [f"arg_{i}" for i in range(len(names), len(self._args))]

    def __call__(self, *args, **kwargs):
        names = self._names()
        full, by_name, given = list(self._args), dict(self._kwargs), list(args)
        for i, spec in enumerate(full):
            if not any(isinstance(s, TensorSpec) for s in nest.flatten(spec)):
                continue
            if given:
                full[i] = self._checked(spec, given.pop(0))
            elif names[i] in kwargs:
                full[i] = self._checked(spec, kwargs.pop(names[i]))
            else:
                raise TypeError(f"Binding inputs to tf.function failed due to `missing a required argument: '{names[i]}'`. "
                                f"{self.name} wants {spec!r}")
        for name, value in kwargs.items():
            by_name[name] = self._checked(by_name[name], value) if name in by_name else value
        if given:
            raise TypeError("Binding inputs to tf.function failed due to `too many positional arguments`: "
                            f"{self.name}")
        return self._function(*full, **by_name)

    @staticmethod
    def _checked(spec, value):
        def one(s, v):
            if not isinstance(s, TensorSpec):
                return v
            v = _convert_to_tensor(v, s.dtype)
            if not s.is_compatible_with(v):
                raise TypeError(f"Binding inputs to tf.function failed due to `Can not cast "
                                f"{TensorSpec(v.shape, v.dtype)!r} to {s!r}`.")
            return v
        if isinstance(spec, TensorSpec):
            return one(spec, value)
        return nest.map_structure(one, spec, value)

    def explain(self):
        """As of the function it belongs to."""
        return self._function.explain()

    def __repr__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"


def _named(argument, name):
    """The specs in an argument, with the parameter's name."""
    specs = [s for s in nest.flatten(argument) if isinstance(s, TensorSpec)]
    if len(specs) == 1 and specs[0] is argument:
        return argument if argument.name else TensorSpec(argument.shape, argument.dtype, name)
    return argument


def _as_specs(structure):
    def one(leaf):
        if _is_tensor(leaf) and not isinstance(leaf, _core.Variable):
            return TensorSpec(leaf.shape, leaf.dtype)
        if hasattr(leaf, "__array__") and hasattr(leaf, "dtype") and not isinstance(leaf, _core.Variable):
            leaf = _convert_to_tensor(leaf)
            return TensorSpec(leaf.shape, leaf.dtype)
        return leaf
    return nest.map_structure(one, structure)


def kinds_of(arguments):
    """Arguments without their values: tensors as specs, and nothing that would keep an object alive."""
    def one(leaf):
        if isinstance(leaf, TracedNumber):
            return TensorSpec([], "float32" if leaf._real else "int32")
        if _is_tensor(leaf) and not isinstance(leaf, _core.Variable):
            return TensorSpec(leaf.shape, leaf.dtype)
        return leaf if leaf is None or isinstance(leaf, (bool, int, float, str)) else ...
    return nest.map_structure(one, arguments)


def _traced_arguments(self):
    """The kinds of arguments of each trace that was made."""
    traces = getattr(_traced_function.__get__(self), "arguments", ())
    return [kinds[1:] if self._is_method else kinds for kinds in traces]


_RANKS = 1, 2, 0, 3  # at which functions of tensors of any rank are tried


def _prepared(function, args, kwargs):
    """The specs of the results; where the rank of an argument is not known, what traces of several ranks share."""
    def is_open(leaf):
        return isinstance(leaf, TensorSpec) and leaf.shape.rank is None

    def of_rank(rank):
        return nest.map_structure(
            lambda leaf: TensorSpec([None] * rank, leaf.dtype, leaf.name) if is_open(leaf) else leaf, (args, kwargs))
    if not any(is_open(leaf) for leaf in nest.flatten((args, kwargs))):
        return function._prepare(*args, **kwargs)
    found, error = [], None
    for rank in _RANKS:
        given, named = of_rank(rank)
        try:
            found.append(function._prepare(*given, **named))
        except (OpError, ValueError, TypeError) as e:  # not a rank that it takes
            error = e
    if not found:
        raise error
    return functools.reduce(lambda a, b: nest.map_structure(_common, a, b), found)


def _common(a, b):
    """What is true of both of two specs."""
    if not isinstance(a, TensorSpec) or a.shape.rank is None or a.shape.rank != b.shape.rank:
        return TensorSpec(None, a.dtype, a.name) if isinstance(a, TensorSpec) else a
    sizes = [m if m == n else None for m, n in zip(a.shape.as_list(), b.shape.as_list())]
    return TensorSpec(sizes, a.dtype, a.name)


def _get_concrete_function(self, *args, **kwargs):
    """The trace for arguments like these, tensors or TensorSpecs; made if there is none."""
    if self._input_signature is not None and not args and not kwargs:
        args = self._input_signature
    args, kwargs = _as_specs(tuple(args)), _as_specs(kwargs)
    try:
        return ConcreteFunction(self, args, kwargs, _prepared(self, args, kwargs))
    except MustRunEagerly as e:
        raise UnimplementedError(None, None, f"{self.__name__} can only run as plain Python: {e}") from e


def _signatures(self, verbose=True):
    """One line per trace."""
    lines = [line.strip() for line in self.explain().splitlines() if line.startswith("  signature:")]
    return "\n".join(f"{self.__name__}({line[len('signature:'):].strip()})" for line in lines)


def _function_spec(self):
    import inspect
    return inspect.signature(self.python_function)


_core.Function.get_concrete_function = _get_concrete_function
_core.Function._traced_arguments = _traced_arguments
_core.Function.pretty_printed_concrete_signatures = _signatures
_traced_function = _core.Function.python_function
_core.Function.python_function = property(
    lambda self: getattr(_traced_function.__get__(self), "function", _traced_function.__get__(self)),
    doc="The function that is traced.")
_core.Function.input_signature = property(lambda self: self._input_signature)
_core.Function.function_spec = property(_function_spec)
_core.Function.__repr__ = lambda self: f"<gradus.Function {self.__name__}>"
_core.Function.__module__ = "gradus"


@contextlib.contextmanager
def init_scope():
    """What is done inside is done at once, also while a function is traced."""
    pause = _core._pause_tracing()
    try:
        yield
    finally:
        del pause


def executing_eagerly():
    """False while a function is traced."""
    return not _core._is_tracing()


def inside_function():
    """Whether a function is being traced."""
    return _core._is_tracing()


def say_runs_eagerly(name, reason, trace):
    """Warns, once for each function, that it runs as plain Python, with the line that is the reason."""
    import os
    import warnings
    ours = os.path.dirname(os.path.abspath(__file__)) + os.sep
    file, line = name, 0
    while trace is not None:
        if not os.path.abspath(trace.tb_frame.f_code.co_filename).startswith(ours):
            file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
    warnings.warn_explicit(f"{name} runs as plain Python, not as a compiled program: {reason}", RuntimeWarning, file, line)


def name_line(error, file, line):
    """Adds to an error from a running program the line of the function that it is about."""
    import linecache
    text = f"\n  in the program of {file}, line {line}"
    source = linecache.getline(file, line).strip()
    if source:
        text += f": {source}"
    if isinstance(error, OpError):
        error._message += text
        error.args = (*error.args[:2], error._message)


def run_functions_eagerly(run_eagerly):
    """Whether tf.functions are called as plain Python functions, to find mistakes in them."""
    _core._run_functions_eagerly(bool(run_eagerly))


def functions_run_eagerly():
    """Whether tf.functions are called as plain Python functions."""
    return _core._run_functions_eagerly(None)


def publish(namespace):
    """Takes what it needs from the module and puts there what belongs elsewhere."""
    global _cast, _constant, _convert_to_tensor, _is_tensor
    tf = namespace("")
    _cast, _constant, _convert_to_tensor, _is_tensor = tf.cast, tf.constant, tf.convert_to_tensor, tf.is_tensor
