"""Where elements come from: tensors, generators, counters, random numbers."""
import itertools

import numpy as np

from .. import errors, nest
from .._compositions import TensorSpec
from .._types import TensorShape
from . import _shuffle, _structure
from ._dataset import INFINITE, UNKNOWN, Dataset
from ._rows import Rows
from .._strings import StringTensor


class TensorDataset(Dataset):
    """One element."""

    def __init__(self, tensors):
        self._element = _structure.element(tensors)

    def _iterate(self):
        return iter((self._element,))

    def _spec(self):
        return _structure.spec_of(self._element)

    def _cardinality(self):
        return 1


class TensorSliceDataset(Dataset):
    """The rows of tensors."""

    def __init__(self, tensors):
        value = _structure.element(tensors)
        self._size = _structure.row_count(value)
        self._structure = value if nest.is_nested(value) else None
        self._columns = nest.flatten(value)

    def _rows(self):
        return Rows(self._structure, self._columns, [range(self._size)])

    def _iterate(self):
        return self._rows().elements()

    def _spec(self):
        specs = [_structure.unbatched(_structure.leaf_spec(c)) for c in self._columns]
        return specs[0] if self._structure is None else nest.pack_sequence_as(self._structure, specs)

    def _cardinality(self):
        return self._size


class ElementsDataset(Dataset):
    """Elements that are there already, e.g. one leaf of a window."""

    def __init__(self, elements, spec):
        self._elements, self._known_spec = elements, spec

    def _iterate(self):
        return iter(self._elements)

    def _cardinality(self):
        return len(self._elements)


def _number(value):
    return value.numpy().item() if hasattr(value, "numpy") else value


class RangeDataset(Dataset):
    """Numbers at equal distances."""

    def __init__(self, *args, output_type="int64", name=None):
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        self._numbers = range(*(int(_number(a)) for a in args))
        import gradus
        self._dtype = gradus.as_dtype(output_type)

    def _rows(self):
        import gradus
        column = gradus.range(self._numbers.start, self._numbers.stop, self._numbers.step, dtype=gradus.int64)
        return Rows(None, [gradus.cast(column, self._dtype)], [range(len(self._numbers))])

    def _iterate(self):
        import gradus
        constant, dtype = gradus.constant, self._dtype
        return (constant(n, dtype) for n in self._numbers)

    def _spec(self):
        return TensorSpec([], self._dtype)

    def _cardinality(self):
        return len(self._numbers)


class CounterDataset(Dataset):
    """Numbers at equal distances without end."""

    def __init__(self, start, step, dtype):
        import gradus
        self._start, self._step, self._dtype = _number(start), _number(step), gradus.as_dtype(dtype)

    def _iterate(self):
        import gradus
        constant, dtype = gradus.constant, self._dtype
        return (constant(n, dtype) for n in itertools.count(self._start, self._step))

    def _spec(self):
        return TensorSpec([], self._dtype)

    def _cardinality(self):
        return INFINITE


class RandomDataset(Dataset):
    """Random numbers of 32 bits."""

    def __init__(self, seed, fresh):
        self._seeds = _shuffle.Seeds(seed, fresh)

    def _iterate(self):
        import gradus
        constant, dtype = gradus.constant, gradus.int64
        return (constant(n, dtype) for n in _shuffle.random_numbers(*self._seeds.next()))

    def _spec(self):
        import gradus
        return TensorSpec([], gradus.int64)

    def _cardinality(self):
        return INFINITE


def generator_dataset(generator, output_types, output_shapes, args, output_signature):
    """Checks what from_generator is given, and brings both ways to describe elements into one."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    if output_signature is None:
        if output_types is None:
            raise TypeError("Either `output_types` or `output_signature` must be specified.")
        if output_shapes is None:
            output_signature = nest.map_structure(lambda t: _typed_spec(None, t), output_types)
        else:
            shapes = _flat_shapes(output_types, output_shapes)
            specs = [_typed_spec(s, t) for s, t in zip(shapes, nest.flatten(output_types))]
            output_signature = (nest.pack_sequence_as(output_types, specs) if nest.is_nested(output_types)
                                else specs[0])
    elif output_types is not None or output_shapes is not None:
        raise TypeError("The `output_types` and `output_shapes` arguments are not supported with `output_signature`.")
    for spec in nest.flatten(output_signature):
        if not isinstance(spec, TensorSpec):
            raise TypeError(f"`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                            f"{type(spec)} which is not.")
    if isinstance(output_signature, list):
        output_signature = tuple(output_signature)
    args = tuple(_structure.to_numpy(_structure.element(a)) for a in args or ())
    return GeneratorDataset(generator, args, output_signature)


def _typed_spec(shape, dtype):
    return _structure.StringSpec(shape) if dtype in (str, bytes, "string") or getattr(
        dtype, "name", None) == "string" else TensorSpec(TensorShape(shape), dtype)


def _flat_shapes(types, shapes):
    """The shapes in the order of the types; a shape is itself a tuple or a list."""
    if not nest.is_nested(types):
        return [shapes]
    if isinstance(types, dict):
        return [s for key in sorted(types) for s in _flat_shapes(types[key], shapes[key])]
    return [s for t, each in zip(types, shapes) for s in _flat_shapes(t, each)]


_ERRORS = ((StopIteration, errors.OutOfRangeError), ((TypeError, ValueError), errors.InvalidArgumentError),
           (MemoryError, errors.ResourceExhaustedError), (NotImplementedError, errors.UnimplementedError))


def as_op_error(error):
    """An exception of the user's Python code as the error that TensorFlow makes of it."""
    if isinstance(error, errors.OpError):
        return error
    for kinds, made in _ERRORS:
        if isinstance(error, kinds):
            break
    else:
        made = errors.UnknownError
    return made(None, None, f"{type(error).__name__}: {error}")


class GeneratorDataset(Dataset):
    """What a Python generator yields, checked against a spec."""

    def __init__(self, generator, args, spec):
        self._generator, self._args, self._known_spec = generator, args, spec

    def _iterate(self):
        try:
            values = iter(self._generator(*self._args))
        except Exception as error:
            raise as_op_error(error) from error
        while True:
            try:
                value = next(values)
            except StopIteration:
                return
            except Exception as error:
                raise as_op_error(error) from error
            try:
                yield self._checked(value)
            except (TypeError, ValueError) as error:
                raise as_op_error(error) from error

    def _checked(self, value):
        spec = self._known_spec
        if isinstance(spec, TensorSpec):
            return _converted(value, spec)
        try:
            if isinstance(spec, tuple) and not isinstance(value, type(spec)):
                if not isinstance(value, tuple):
                    raise TypeError
                value = type(spec)(*value) if hasattr(spec, "_fields") else tuple(value)
            leaves = _leaves_like(spec, value)
        except (TypeError, ValueError, KeyError):
            raise TypeError("`generator` yielded an element that did not match the expected structure. The expected "
                            f"structure was {nest.map_structure(lambda s: s.dtype, spec)}, but the yielded element was "
                            f"{value}.") from None
        return nest.pack_sequence_as(spec, [_converted(v, s) for v, s in zip(leaves, nest.flatten(spec))])

    def _cardinality(self):
        return UNKNOWN


def _leaves_like(spec, value):
    """The parts of a value that stand where the spec has its leaves; these may be lists."""
    if isinstance(spec, dict):
        if not isinstance(value, dict) or set(value) != set(spec):
            raise TypeError
        return [v for key in sorted(spec) for v in _leaves_like(spec[key], value[key])]
    if isinstance(spec, (tuple, list)):
        if not isinstance(value, (tuple, list)) or len(value) != len(spec):
            raise TypeError
        return [v for s, each in zip(spec, value) for v in _leaves_like(s, each)]
    return [value]


def _converted(value, spec):
    import gradus
    try:
        if isinstance(spec, _structure.StringSpec):
            made = StringTensor(value)
        elif type(value) is gradus.Tensor:
            made = value if value.dtype == spec.dtype else gradus.cast(value, spec.dtype)
        elif spec.dtype.name == "bfloat16":
            made = gradus.cast(np.asarray(value, np.float32), spec.dtype)
        else:
            made = gradus.convert_to_tensor(np.asarray(value, dtype=spec.dtype.as_numpy_dtype))
    except (TypeError, ValueError):
        raise TypeError("`generator` yielded an element that could not be converted to the expected type. The expected "
                        f"type was {spec.dtype.name}, but the yielded element was {value}.") from None
    if not spec.shape.is_compatible_with(made.shape):
        raise TypeError(f"`generator` yielded an element of shape {made.shape} where an element of shape {spec.shape} "
                        "was expected.")
    return made
