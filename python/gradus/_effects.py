"""What a program does besides computing: printing, checks, calls of Python.

At once when eager; while a function is traced, each becomes a part of the program and happens at every run, in the
order of the calls (gradus/host_call.h).
"""
import functools
import sys
from _thread import get_ident

from . import _core, nest
from ._kinds import Kind

__all__ = ["Assert", "print", "py_function", "numpy_function"]

builtin_print, builtin_tuple = print, tuple


def _tf():
    return sys.modules["gradus"]


def at_each_run(name, function, inputs):
    """Calls function(*tensors) at each run of the program that is being traced; now, if none is."""
    if not _core._is_tracing():
        function(*inputs)
        return

    def run(tensors):
        function(*tensors)
        return []
    call = functools.partial(_core._host_call, name, run, list(inputs), [], None, False)
    _happen_or_wait(call)


_waiting = {}  # thread -> the calls that wait in it; none while they need not


def _happen_or_wait(call):
    calls = _waiting.get(get_ident())
    if calls is None:
        call()
    else:
        calls.append(call)


def _set_waiting(calls):
    """Whether effects wait in this thread: in a list, or not at all; gives what was set before."""
    before = _waiting.pop(get_ident(), None)
    if calls is not None:
        _waiting[get_ident()] = calls
    return before


class waiting_effects:
    """Around code that is traced to see what it gives, and traced again if that is a tensor: its effects become a part
    of the program only when happen() is called."""

    def __enter__(self):
        self._calls = []
        self._outer = _set_waiting(self._calls)
        return self

    def __exit__(self, *_):
        _set_waiting(self._outer)

    def happen(self):
        for call in self._calls:
            _happen_or_wait(call)


def own_effects(function):
    """The inside of a branch or a loop: its effects stay there."""
    @functools.wraps(function)
    def inside(*args, **kwargs):
        outer = _set_waiting(None)
        try:
            return function(*args, **kwargs)
        finally:
            _set_waiting(outer)
    return inside


# ------------------------------------------------------------------------------------------------------------ printing

def _real_text(kind):
    """The short form if it is the same number, else all digits."""
    import numpy as np
    short, long = (15, 17) if kind is np.float64 else (6, 9)

    def text(v):
        shown = f"{v:.{short}g}"
        return shown if kind(shown) == kind(v) or v != v else f"{v:.{long}g}"
    return text


def _number_text(dtype):
    import numpy as np
    if dtype.is_bool:
        return lambda v: "1" if v else "0"
    if dtype.name == "string":
        return lambda v: '"' + v.decode("utf-8", "replace") + '"'
    real = _real_text(np.float64 if dtype.name in ("float64", "complex128") else np.float32)
    if dtype.is_floating:
        return real
    if dtype.is_complex:
        return lambda v: f"({real(v.real)},{real(v.imag)})"
    return str


def tensor_text(tensor, summarize):
    """As TensorFlow prints it: the first and last few of each axis."""
    import numpy as np
    if tensor.dtype.name == "bfloat16":
        tensor = _tf().cast(tensor, "float32")
    array, number = np.asarray(tensor), _number_text(tensor.dtype)

    def text(part, indent):
        if isinstance(part, bytes):
            return number(part)
        if part.ndim == 0:
            return number(part.item())
        count = part.shape[0]
        numbers = range(count)
        if summarize >= 0 and count > 2 * summarize:
            numbers = [*range(summarize), None, *range(count - summarize, count)]
        shown = ["..." if i is None else text(part[i], indent + 1) for i in numbers]
        between = " " if part.ndim == 1 else "\n" * (part.ndim - 1) + " " * indent
        return "[" + between.join(shown) + "]"
    return text(array, 1)


class _Verbatim(str):
    __repr__ = str.__str__


def _kind_text(value, summarize):
    """A string, sparse or ragged tensor as TensorFlow prints it; these must have values now."""
    parts = nest.flatten(value, expand_composites=True)
    if any(_core._traced_name(part) is not None for part in parts):
        from ._function import MustRunEagerly
        raise MustRunEagerly(f"it prints a {type(value).__name__}")
    if hasattr(value, "to_list"):
        return _Verbatim(repr(value)[len("<tf.RaggedTensor "):-1])
    if len(parts) == 1:
        return _Verbatim(tensor_text(value, summarize))
    indices, values, shape = (tensor_text(part, summarize) for part in parts)
    return _Verbatim(f"'SparseTensor(indices={indices}, values={values}, shape={shape})'")


def _writer(stream):
    if stream is None:
        stream = sys.stderr
    if not isinstance(stream, str):
        return stream.write
    if not stream.startswith("file://"):
        raise ValueError(f"Unsupported output stream {stream}")

    def write(text):
        with open(stream[len("file://"):], "a") as file:
            file.write(text)
    return write


def print(*inputs, output_stream=None, summarize=3, sep=" ", end="\n", name=None):  # noqa: A001
    """Prints tensors and other objects to standard error, or where output_stream says."""
    tf, write = _tf(), _writer(output_stream)
    inputs = [nest.map_structure(lambda v: _kind_text(v, summarize) if isinstance(v, Kind) else v, value)
              for value in inputs]
    is_tensor = [[tf.is_tensor(leaf) for leaf in nest.flatten(value)] for value in inputs]
    tensors = [tf.convert_to_tensor(leaf) for value in inputs for leaf in nest.flatten(value) if tf.is_tensor(leaf)]
    others = [nest.map_structure(lambda v: None if tf.is_tensor(v) else v, value) for value in inputs]

    def one(value, which, texts):
        leaves = [_Verbatim(next(texts)) if is_one else leaf for leaf, is_one in zip(nest.flatten(value), which)]
        return str(nest.pack_sequence_as(value, leaves)) if nest.is_nested(value) else str(leaves[0])

    def show(*values):
        texts = iter([tensor_text(v, summarize) for v in values])
        write(sep.join(one(value, which, texts) for value, which in zip(others, is_tensor)) + end)

    at_each_run("print", show, tensors)


# -------------------------------------------------------------------------------------------------------------- checks

def check(holds, fail, inputs=()):
    """Calls fail(*inputs), which raises, unless all of `holds` is true: now if that is known, else at each run."""
    tf = _tf()
    holds = tf.reduce_all(holds)
    inputs = [tf.convert_to_tensor(i) for i in inputs]
    if _core._traced_name(holds) is None and not any(_core._traced_name(i) is not None for i in inputs):
        if not holds:
            fail(*inputs)
        return
    at_each_run("check", lambda held, *values: None if held else fail(*values), [holds, *inputs])


def Assert(condition, data, summarize=None, name=None):  # noqa: N802
    """Raises InvalidArgumentError, with the data, unless the condition holds."""
    tf = _tf()
    data = list(data) if isinstance(data, (list, builtin_tuple)) else [data]
    tensors = [d for d in data if not isinstance(d, (str, bytes))]
    most = 3 if summarize is None else 10 ** 9 if summarize < 0 else summarize
    in_program = _core._is_tracing()

    def fail(*values):
        texts, values = [], iter(values)
        for d in data:
            if isinstance(d, (str, bytes)):
                texts.append(str(d) if in_program else repr(d if isinstance(d, bytes) else d.encode()))
            else:
                texts.append(_first_elements(next(values), most, in_program))
        raise tf.errors.InvalidArgumentError(
            None, None, "assertion failed: " + " ".join(f"[{t}]" for t in texts) if in_program else
            f"Expected '{condition!s}' to be true. Summarized data: " + "\n".join(texts))
    check(condition, fail, tensors)


def _first_elements(tensor, most, in_program):
    """As TensorFlow writes them: its kernels and its Python differ."""
    number = _number_text(tensor.dtype) if in_program else str
    shown = [number(v) for v in tensor.numpy().ravel()[:most]]
    more = ["..."] * (tensor.shape.num_elements() > most)
    return " ".join(shown) + "".join(more) if in_program else ", ".join(shown + more)


# -------------------------------------------------------------------------------------------------------------- Python

def _specs(dtypes):
    """(dtype, shape or None) of each announced result."""
    tf = _tf()
    given = list(dtypes) if isinstance(dtypes, (list, builtin_tuple)) else [] if dtypes is None else [dtypes]
    is_spec = lambda s: hasattr(s, "dtype") and hasattr(s, "shape")  # noqa: E731
    return [(s.dtype, s.shape) if is_spec(s) else (tf.as_dtype(s), None) for s in given]


def _announced(specs, inputs):
    """For the engine: a dtype and a shape, or the argument whose shape the result will have.

    TensorFlow does not know the shapes and goes on without. Where none is given, a result is taken to have the shape of
    the first argument; if that turns out to be wrong, the function runs as plain Python from then on.
    """
    like_first = 0 if inputs else []
    return [(dtype, shape if shape is not None and shape.rank is not None else like_first) for dtype, shape in specs]


def _as_tensorflow(error, name):
    """The error that TensorFlow makes of an exception in a Python function."""
    errors = _tf().errors
    kinds = ((StopIteration, errors.OutOfRangeError), (NotImplementedError, errors.UnimplementedError),
             (MemoryError, errors.ResourceExhaustedError), ((TypeError, ValueError), errors.InvalidArgumentError))
    kind = next((k for c, k in kinds if isinstance(error, c)), errors.UnknownError)
    return kind(None, None, f"{type(error).__name__}: {error} [in {name}]")


def _call_python(name, function, inputs, dtypes, pull):
    """Calls function(list of tensors), a list of tensors, as a part of the program."""
    single = not isinstance(dtypes, (list, builtin_tuple)) and dtypes is not None
    specs = _specs(dtypes)
    inputs = [_tf().convert_to_tensor(i) for i in inputs]
    if len(specs) > 1 and all(shape is None for _, shape in specs):
        from ._function import MustRunEagerly
        raise MustRunEagerly(f"{name} gives {len(specs)} results of unknown shapes; say them with tf.TensorSpecs in Tout")

    def called(tensors):
        try:
            return function(tensors, specs)
        except _tf().errors.OpError:
            raise
        except Exception as e:
            raise _as_tensorflow(e, name) from e

    if any(shape is not None and shape.rank is not None and not shape.is_fully_defined() for _, shape in specs):
        results = _found_by_python(name, called, inputs, specs, pull)
        return results[0] if single else results
    announced = _announced(specs, inputs)

    def run(tensors):
        results = called(tensors)
        for result, (_, shape), (_, given) in zip(results, announced, specs):
            if given is None and result.shape != (tensors[shape].shape if isinstance(shape, int) else shape):
                from ._function import MustRunEagerly
                raise MustRunEagerly(f"{name} gives the shape {result.shape}; say so with a tf.TensorSpec in Tout")
        return results
    results = _core._host_call(name, run, inputs, announced, pull, True)
    return results[0] if single else results


def _found_by_python(name, called, inputs, specs, pull):
    """The same where only the call knows sizes of the results: one part of the program makes them and says their sizes,
    the next one gives them."""
    tf, made = _tf(), {}  # thread -> results
    shapes = [shape for _, shape in specs]
    if any(shape is None or shape.rank is None for shape in shapes):
        raise tf.errors.UnimplementedError(None, None, f"{name}: the number of axes of a result is not known")

    def make(tensors):
        results = made[get_ident()] = called(tensors)
        for result, shape in zip(results, shapes):
            if not shape.is_compatible_with(result.shape):
                raise tf.errors.InvalidArgumentError(None, None,
                                                     f"{name} gives the shape {result.shape}; Tout says {shape}")
        return [tf.constant(result.shape.as_list(), "int32", shape=[result.shape.rank]) for result in results]
    found = _core._host_call(name, make, inputs, [("int32", [shape.rank]) for shape in shapes], None, True)
    room = [tf.zeros([sizes[i] if size is None else size for i, size in enumerate(shape)], dtype)
            for sizes, (dtype, shape) in zip(found, specs)]

    def pulled(tensors, cotangents):
        return [None] * len(room) + pull(tensors[len(room):], cotangents)
    def give(_):
        return made.pop(get_ident())
    results = [(dtype, i) for i, (dtype, _) in enumerate(specs)]  # as large as the room is
    return _core._host_call(name, give, [*room, *inputs], results, pull and pulled, True)


def _typed(results, specs):
    tf = _tf()
    if not specs:
        return []
    results = list(results) if isinstance(results, (list, builtin_tuple)) else [results]
    if len(results) != len(specs):
        raise ValueError(f"the function returned {len(results)} values; Tout announces {len(specs)}")
    return [tf.convert_to_tensor(r, dtype) for r, (dtype, _) in zip(results, specs)]


def py_function(func=None, inp=None, Tout=None, name=None):
    """Calls a Python function on tensors; its gradient is found by a tape. Without a function, a decorator."""
    if func is None:
        return lambda f: functools.wraps(f)(lambda *args: py_function(f, args, Tout, name))
    name = name or getattr(func, "__name__", "py_function")

    def function(tensors, specs):
        return _typed(func(*tensors), specs)
    if not _core._is_tracing():
        inputs = [_tf().convert_to_tensor(i) for i in inp]
        results = _shaped(func(*inputs), Tout)
        return results

    def pull(tensors, cotangents):
        tf = _tf()
        with tf.GradientTape() as tape:
            tape.watch([t for t in tensors if t.dtype.is_floating or t.dtype.is_complex])
            results = _typed(func(*tensors), _specs(Tout))
        found = tape.gradient(results, tensors, output_gradients=cotangents)
        return [None if g is None else tf.convert_to_tensor(g) for g in found]
    return _call_python(name, function, inp, Tout, pull)


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """Calls a Python function on NumPy arrays. Without a function, a decorator."""
    if func is None:
        return lambda f: functools.wraps(f)(lambda *args: numpy_function(f, args, Tout, stateful, name))
    import numpy as np
    name = name or getattr(func, "__name__", "numpy_function")

    def function(tensors, specs):
        tf = _tf()
        results = func(*[t.numpy() for t in tensors])
        if not specs:
            return []
        results = list(results) if isinstance(results, (list, builtin_tuple)) else [results]
        for i, (r, (dtype, _)) in enumerate(zip(results, specs)):
            got = np.asarray(r).dtype
            if got != dtype.as_numpy_dtype and isinstance(r, (np.ndarray, np.generic)):
                raise tf.errors.InvalidArgumentError(
                    None, None, f"{i}-th value returned by {name} is {got.name}, but expects {dtype.name}")
        return _typed(results, specs)
    if not _core._is_tracing():
        results = function([_tf().convert_to_tensor(i) for i in inp], _specs(Tout))
        return results[0] if len(results) == 1 else results  # also where Tout is a list of one, as TensorFlow's
    return _call_python(name, function, inp, Tout, None)


def found_rows(name, function, inputs, most, kinds):
    """What a function of NumPy arrays finds: arrays that all have the same number of rows, which is `most` or less.

    At once if the inputs have values; otherwise at each run of the program, which finds that number. `kinds` has the
    dtype and the shape of a row of each. There is no derivative.
    """
    tf = _tf()
    if not any(_core._traced_name(t) is not None for t in inputs):
        found = function(*(t.numpy() for t in inputs))
        return [tf.constant(rows, dtype, shape=[len(rows), *row]) for rows, (dtype, row) in zip(found, kinds)]

    import numpy as np
    room = [tf.zeros([most, *row], dtype) for dtype, row in kinds]

    def run(tensors):
        found = function(*(t.numpy() for t in tensors[len(kinds):]))
        whole = [t.numpy().copy() for t in tensors[:len(kinds)]]
        for rows, some in zip(whole, found):
            rows[:len(some)] = np.reshape(some, [len(some), *rows.shape[1:]])
        return [tf.constant(len(found[0])), *(tf.constant(rows) for rows in whole)]
    results = [(tf.int32, []), *((dtype, i) for i, (dtype, _) in enumerate(kinds))]  # as long as the room is
    count, *found = _core._host_call(name, run, [*room, *inputs], results, None, False)
    return [rows[:count] for rows in found]


def _shaped(result, dtypes):
    if dtypes is None or (isinstance(dtypes, (list, builtin_tuple)) and not dtypes):
        return result
    results = _typed(result, _specs(dtypes))
    return results if isinstance(dtypes, (list, builtin_tuple)) else results[0]
