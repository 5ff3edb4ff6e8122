"""tf.sparse: functions of sparse tensors, made of gathers, segment sums and the sparse product."""
import math

import gradus as tf

from . import _core, nest
from ._effects import check
from ._kinds import is_traced, size_of
from ._sparse import SparseTensor, SparseTensorSpec, SparseTensorValue  # noqa: F401
from ._types import IndexedSlices

__all__ = [
    "SparseTensor", "add", "bincount", "concat", "expand_dims", "eye", "fill_empty_rows", "from_dense",
    "map_values", "mask", "maximum", "minimum", "reduce_max", "reduce_sum", "reorder", "reset_shape", "reshape",
    "retain", "segment_mean", "segment_sqrt_n", "segment_sum", "slice", "softmax", "sparse_dense_matmul", "split",
    "to_dense", "to_indicator", "transpose",
]

InvalidArgumentError = tf.errors.InvalidArgumentError


def _sparse(x):
    if isinstance(x, SparseTensor):
        return x
    if isinstance(x, SparseTensorValue):
        return SparseTensor.from_value(x)
    raise TypeError(f"Input must be a SparseTensor, got {x!r}")


def _made(indices, values, dense_shape, sizes):
    return SparseTensor._from_parts((indices, values, tf.convert_to_tensor(dense_shape, tf.int64)), sizes)


def _same_shape(x, indices, values):
    return _made(indices, values, x.dense_shape, tuple(x.shape.as_list()))


def _sizes(x):
    """The sizes of the whole: numbers, or scalars of the program where only that will know them."""
    return [x.dense_shape[i] if size is None else size for i, size in enumerate(x.shape.as_list())]


def _static(sizes):
    return tuple(None if tf.is_tensor(size) else size for size in sizes)


def _vector(sizes):
    return tf.convert_to_tensor([tf.cast(size, tf.int64) for size in sizes] or tf.zeros([0], tf.int64))


def _count(x):
    """The number of elements."""
    return size_of(x.values, 0)


def _check_same(a, b):
    """Complains of two shapes that differ."""
    def fail(*_):
        raise InvalidArgumentError(None, None, f"Operands' shapes do not match: got {a.shape} and {b.shape}")
    if not a.shape.is_compatible_with(b.shape):
        fail()
    if not a.shape.is_fully_defined() or not b.shape.is_fully_defined():
        check(tf.equal(a.dense_shape, b.dense_shape), fail)


def _numbers(indices, dense_shape):
    """The places as row-major numbers."""
    steps = tf.math.cumprod(dense_shape, exclusive=True, reverse=True)
    return tf.reduce_sum(indices * steps, 1)


def _places(numbers, dense_shape):
    """Row-major numbers as places; where a size is 0 there are none."""
    sizes = tf.maximum(dense_shape, 1)
    steps = tf.math.cumprod(sizes, exclusive=True, reverse=True)
    return numbers[:, tf.newaxis] // steps % sizes


def _axis(axis, rank):
    axis = int(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"Axis value {axis} is not in [{-rank}, {rank})")
    return axis % rank


# ------------------------------------------------------------------------------------------------------ to and from dense

def from_dense(tensor, name=None):
    """The elements that are not zero (or not empty), in row-major order."""
    tensor = tf.convert_to_tensor(tensor)
    empty = "" if tensor.dtype.name == "string" else tf.zeros([], tensor.dtype)
    indices = tf.where(tf.not_equal(tensor, empty))
    shape = tuple(tensor.shape.as_list())
    return _made(indices, tf.gather_nd(tensor, indices), tf.shape(tensor, tf.int64), shape)


def _check_order(x):
    """TensorFlow's complaint about indices that are outside, repeated or not sorted; not while a function is traced."""
    if is_traced(x.indices) or is_traced(x.dense_shape) or x.indices.shape[0] == 0:
        return
    numbers = _numbers(x.indices, x.dense_shape)
    outside = tf.reduce_any((x.indices < 0) | (x.indices >= x.dense_shape), 1)
    bad = tf.concat([[False], numbers[1:] <= numbers[:-1]], 0) | outside
    if not tf.reduce_any(bad):
        return
    at = int(tf.argmax(tf.cast(bad, tf.int32)))
    place = x.indices[at].numpy().tolist()
    if outside[at]:
        what = f"is out of bounds: need 0 <= index < {x.dense_shape.numpy().tolist()}"
    elif numbers[at] == numbers[at - 1]:
        what = "is repeated"
    else:
        what = ("is out of order. Many sparse ops require sorted indices. Use `tf.sparse.reorder` to create a correctly "
                "ordered copy.")
    raise InvalidArgumentError(None, None, f"indices[{at}] = {place} {what}")


def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """A dense tensor with default_value (zero) where there is no element."""
    x = _sparse(sp_input)
    if validate_indices:
        _check_order(x)
    shape = x.shape if x.shape.is_fully_defined() else x.dense_shape
    if default_value is None and x.dtype.name not in ("string", "bool"):
        return tf.scatter_nd(x.indices, x.values, shape)
    if default_value is None:
        default_value = "" if x.dtype.name == "string" else False
    filled = tf.fill(shape, tf.convert_to_tensor(default_value, dtype=x.dtype))
    return tf.tensor_scatter_nd_update(filled, x.indices, x.values)


def to_indicator(sp_input, vocab_size, name=None):
    """A dense bool tensor whose last axis says which values a row has."""
    x = _sparse(sp_input)
    places = tf.concat([x.indices[:, :-1], tf.cast(x.values, tf.int64)[:, tf.newaxis]], 1)
    shape = [*_sizes(x)[:-1], vocab_size]
    return tf.scatter_nd(places, tf.ones_like(x.values, tf.int32), shape) > 0


def eye(num_rows, num_columns=None, dtype=tf.float32, name=None):
    """The identity matrix."""
    rows, columns = tf.cast(num_rows, tf.int64), tf.cast(num_rows if num_columns is None else num_columns, tf.int64)
    diagonal = tf.range(tf.minimum(rows, columns))
    return SparseTensor(tf.stack([diagonal, diagonal], 1), tf.ones_like(diagonal, dtype), tf.stack([rows, columns]))


# --------------------------------------------------------------------------------------------------- order, shape, choice

def reorder(sp_input, name=None):
    """The same elements in row-major order."""
    x = _sparse(sp_input)
    order = tf.argsort(_numbers(x.indices, x.dense_shape), stable=True)
    return _same_shape(x, tf.gather(x.indices, order), tf.gather(x.values, order))


def reshape(sp_input, shape, name=None):
    """The same elements, in row-major order, in another shape; one size may be -1."""
    x, shape = _sparse(sp_input), tf.cast(shape, tf.int64)
    count = x.shape.num_elements()
    if count is None or is_traced(shape):
        return _reshaped_in_program(x, shape)
    sizes = [int(s) for s in shape.numpy()]
    if sizes.count(-1) > 1:
        raise InvalidArgumentError(None, None, "only one output dimension may be -1")
    if -1 in sizes:
        rest = 1
        for s in sizes:
            rest *= s if s != -1 else 1
        if rest == 0 or count % rest:
            raise InvalidArgumentError(None, None, f"Input to reshape is a SparseTensor with {count} dense values, but "
                                       f"the requested shape requires a multiple of {rest}")
        sizes[sizes.index(-1)] = count // rest
    wanted = 1
    for s in sizes:
        wanted *= s
    if wanted != count:
        raise InvalidArgumentError(None, None, f"Input to reshape is a tensor with {count} dense values, but the "
                                   f"requested shape has {wanted}")
    whole = tf.constant(sizes, tf.int64, shape=[len(sizes)])
    return _made(_places(_numbers(x.indices, x.dense_shape), whole), x.values, whole, tuple(sizes))


def _reshaped_in_program(x, shape):
    """The same where sizes are not known yet."""
    def fail(*_):
        raise InvalidArgumentError(None, None, "Input to reshape is a SparseTensor that does not fit the shape")
    is_open = tf.equal(shape, -1)
    count, rest = tf.reduce_prod(x.dense_shape), tf.reduce_prod(tf.where(is_open, 1, shape))
    whole = tf.where(is_open, count // tf.maximum(rest, 1), shape)
    check(tf.equal(tf.reduce_prod(whole), count) & (tf.math.count_nonzero(is_open) < 2), fail)
    return SparseTensor(_places(_numbers(x.indices, x.dense_shape), whole), x.values, whole)


def transpose(sp_input, perm=None, name=None):
    """The axes in another order (reversed), and the elements in row-major order."""
    x = _sparse(sp_input)
    rank = x.shape.rank
    perm = list(range(rank))[::-1] if perm is None else [int(p) for p in perm]
    sizes = x.shape.as_list()
    return reorder(_made(tf.gather(x.indices, perm, axis=1), x.values, tf.gather(x.dense_shape, perm),
                         tuple(sizes[p] for p in perm)))


def expand_dims(sp_input, axis=None, name=None):
    """One more axis of size 1, the last unless said otherwise."""
    x = _sparse(sp_input)
    rank = x.shape.rank
    axis = rank if axis is None else _axis(axis, rank + 1)
    column = tf.zeros_like(x.indices[:, :1])
    indices = tf.concat([x.indices[:, :axis], column, x.indices[:, axis:]], 1)
    shape = tf.concat([x.dense_shape[:axis], [1], x.dense_shape[axis:]], 0)
    sizes = x.shape.as_list()
    return _made(indices, x.values, shape, tuple(sizes[:axis] + [1] + sizes[axis:]))


def retain(sp_input, to_retain):
    """The elements for which to_retain, a vector of bools, is true."""
    x, to_retain = _sparse(sp_input), tf.convert_to_tensor(to_retain)
    if not to_retain.shape.is_compatible_with(x.values.shape):
        raise ValueError(f"Shapes {to_retain.shape} of to_retain and {x.values.shape} of the values are not compatible")
    kept = tf.where(to_retain)[:, 0]
    return _same_shape(x, tf.gather(x.indices, kept), tf.gather(x.values, kept))


def slice(sp_input, start, size, name=None):  # noqa: A001
    """A box out of the tensor; it may reach beyond its end."""
    x = _sparse(sp_input)
    start, size = tf.cast(start, tf.int64), tf.cast(size, tf.int64)
    size = tf.maximum(tf.minimum(size, x.dense_shape - start), 0)
    inside = tf.reduce_all((x.indices >= start) & (x.indices < start + size), 1)
    kept = tf.where(inside)[:, 0]
    return SparseTensor(tf.gather(x.indices, kept) - start, tf.gather(x.values, kept), size)


def split(sp_input=None, num_split=None, axis=None, name=None):
    """Pieces along an axis; the first ones are longer by one if it does not divide evenly."""
    x = _sparse(sp_input)
    axis = _axis(axis, x.shape.rank)
    length, count, pieces, first = _sizes(x)[axis], int(num_split), [], 0

    def fail(length):
        raise InvalidArgumentError(None, None, f"Input num_split should be between 1 and the splitting dimension size "
                                   f"({int(length)}), got {count}")
    check((1 <= count) & (count <= length), fail, [length])
    for i in range(count):
        size = (length + count - 1 - i) // count
        start, sizes = [0] * x.shape.rank, _sizes(x)
        start[axis], sizes[axis] = first, size
        pieces.append(slice(x, _vector(start), _vector(sizes)))
        first += size
    return pieces


def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Several tensors along an axis, the elements in row-major order."""
    if isinstance(sp_inputs, SparseTensor):
        sp_inputs = [sp_inputs]
    inputs = [_sparse(x) for x in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    rank = inputs[0].shape.rank
    axis = _axis(axis, rank)
    sizes = _sizes(inputs[0])
    for other in inputs[1:]:
        if other.shape.rank != rank:
            raise InvalidArgumentError(None, None, f"Ranks of all inputs must match: expected {rank} but got "
                                       f"{other.shape.rank}")
        for i, size in enumerate(_sizes(other)):
            if i == axis:
                sizes[i] += size
            elif expand_nonconcat_dims:
                sizes[i] = _largest_size(sizes[i], size)
            else:
                _check_size(i, sizes[i], size)
    first, indices = 0, []
    for x in inputs:
        shift = [0] * rank
        shift[axis] = first
        indices.append(x.indices + _vector(shift))
        first += _sizes(x)[axis]
    values = tf.concat([x.values for x in inputs], 0)
    return reorder(_made(tf.concat(indices, 0), values, _vector(sizes), _static(sizes)))


def _largest_size(a, b):
    return tf.maximum(a, b) if tf.is_tensor(a) or tf.is_tensor(b) else max(a, b)


def _check_size(axis, wanted, size):
    def fail(wanted, size):
        raise InvalidArgumentError(None, None, f"Input shapes must match: expected {int(wanted)} for dimension {axis} "
                                   f"but got {int(size)}")
    check(tf.equal(tf.cast(wanted, tf.int64), tf.cast(size, tf.int64)), fail, [wanted, size])


def reset_shape(sp_input, new_shape=None):
    """The same elements in a larger shape, or in the smallest one that holds them."""
    x = _sparse(sp_input)
    if new_shape is None:
        ends = tf.concat([tf.zeros([1, x.shape.rank], tf.int64), x.indices + 1], 0)
        return SparseTensor(x.indices, x.values, tf.reduce_max(ends, 0))
    sizes = [int(s) for s in (new_shape.numpy() if hasattr(new_shape, "numpy") else new_shape)]
    if len(sizes) != x.shape.rank:
        raise ValueError(f"Rank of new_shape {sizes} must be that of the input, {x.shape.rank}")
    if any(new < old for new, old in zip(sizes, x.shape.as_list())):
        raise ValueError(f"new_shape {sizes} must be at least the shape of the input, {x.shape}")
    return SparseTensor(x.indices, x.values, sizes)


def fill_empty_rows(sp_input, default_value, name=None):
    """Rows without elements get one; also says which those are."""
    x = _sparse(sp_input)
    rows = _sizes(x)[0]
    counts = tf.math.unsorted_segment_sum(tf.ones_like(x.indices[:, 0]), x.indices[:, 0], rows)
    empty = tf.equal(counts, 0)
    missing = tf.where(empty)
    places = tf.pad(missing, [[0, 0], [0, x.shape.rank - 1]])
    default = tf.convert_to_tensor(default_value, dtype=x.dtype)
    values = tf.concat([x.values, tf.fill(tf.shape(missing)[:1], default)], 0)
    return reorder(_same_shape(x, tf.concat([x.indices, places], 0), values)), empty


def mask(a, mask_indices, name=None):
    """IndexedSlices without the rows of these indices."""
    indices = tf.convert_to_tensor(a.indices)
    hidden = tf.reduce_any(tf.equal(indices[:, tf.newaxis], tf.cast(mask_indices, indices.dtype)), 1)
    kept = tf.where(~hidden)[:, 0]
    return IndexedSlices(tf.gather(a.values, kept), tf.gather(indices, kept), a.dense_shape)


# ------------------------------------------------------------------------------------------------------------ arithmetic

def _adjoint(x):
    return tf.math.conj(x) if x.dtype.is_complex else x


def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The product of a sparse and a dense matrix, on either side."""
    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        dense = tf.convert_to_tensor(sp_a)
        if not adjoint_a:
            dense = tf.linalg.adjoint(dense)
        return tf.linalg.adjoint(sparse_dense_matmul(b, dense, adjoint_a=not adjoint_b))
    a = _sparse(sp_a)
    b = tf.convert_to_tensor(b, dtype_hint=a.dtype)
    if adjoint_b:
        b = tf.linalg.adjoint(b)
    if a.shape.rank != 2 or b.shape.rank != 2:
        raise ValueError(f"Shapes {a.shape} and {b.shape} must both have rank 2")
    rows, columns = a.shape.as_list()[::-1] if adjoint_a else a.shape.as_list()
    if columns is not None and b.shape[0] is not None and columns != b.shape[0]:
        raise InvalidArgumentError(None, None, "Cannot multiply A and B because inner dimension does not match: "
                                   f"{columns} vs. {b.shape[0]}. Did you forget a transpose?")
    if rows is None:
        rows = a.dense_shape[1 if adjoint_a else 0]
    values = _adjoint(a.values) if adjoint_a else a.values
    return _core._sparse_matmul(values, a.indices, b, rows, adjoint_a)


def _reduced_places(x, axis, keepdims):
    """(kept axes, shape of the result) of a reduction."""
    rank = x.shape.rank
    axes = list(range(rank)) if axis is None else [
        _axis(a, rank) for a in (axis if isinstance(axis, (list, tuple)) else
                                 tf.reshape(axis, [-1]).numpy() if tf.is_tensor(axis) else [axis])]
    kept = [i for i in range(rank) if i not in axes]
    sizes = _sizes(x)
    return kept, [sizes[i] for i in kept], [s if i in kept else 1 for i, s in enumerate(sizes)] if keepdims else None


def _reduce(x, axis, keepdims, output_is_sparse, segments):
    x = _sparse(x)
    kept, sizes, full = _reduced_places(x, axis, keepdims)
    count = math.prod(sizes)
    numbers = (_numbers(tf.gather(x.indices, kept, axis=1), _vector(sizes)) if kept
               else tf.zeros_like(x.indices[:, 0]))
    if not output_is_sparse:
        return tf.reshape(segments(x.values, numbers, count), full or sizes)
    rows, ids = tf.unique(numbers)
    result = sizes if full is None else full
    whole = _vector(result)
    values = segments(x.values, ids, size_of(rows, 0))
    return reorder(_made(_places(rows, whole), values, whole, _static(result)))


def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """Sums over axes (all), dense unless a sparse result is wanted."""
    return _reduce(sp_input, axis, keepdims, output_is_sparse, tf.math.unsorted_segment_sum)


def _largest(values, ids, count):
    found = tf.math.unsorted_segment_max(values, ids, count)
    some = tf.math.unsorted_segment_sum(tf.ones_like(ids), ids, count) > 0
    return tf.where(some, found, tf.zeros_like(found))


def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The largest elements over axes (all); 0 where there is none."""
    return _reduce(sp_input, axis, keepdims, output_is_sparse, _largest)


def _together(a, b):
    """The places of both, each once and in order; for each element of a, then of b, the number of its place."""
    _check_same(a, b)
    numbers = _numbers(tf.concat([a.indices, b.indices], 0), a.dense_shape)
    order = tf.argsort(numbers, stable=True)
    found, ids = tf.unique(tf.gather(numbers, order))
    ids = tf.gather(ids, tf.argsort(order, stable=True))
    return _places(found, a.dense_shape), ids, size_of(found, 0)


def add(a, b, threshold=0):
    """The sum, sparse if both are. Sums of two elements that are smaller than the threshold are left out."""
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        if a.dtype != b.dtype:
            raise InvalidArgumentError(None, None, f"Both tensors must have the same dtype, got {a.dtype!r} and "
                                       f"{b.dtype!r}")
        places, ids, count = _together(a, b)
        total = _same_shape(a, places, tf.math.unsorted_segment_sum(tf.concat([a.values, b.values], 0), ids, count))
        if not tf.is_tensor(threshold) and threshold == 0:
            return total
        single = tf.math.unsorted_segment_sum(tf.ones_like(ids), ids, count) < 2
        return retain(total, single | (tf.abs(total.values) >= tf.cast(threshold, tf.abs(total.values).dtype)))
    x, dense = (a, b) if isinstance(a, SparseTensor) else (b, a)
    dense = tf.convert_to_tensor(dense, dtype_hint=x.dtype)
    if not dense.shape.is_compatible_with(x.shape):
        raise InvalidArgumentError(None, None, f"Operands' shapes do not match: got {x.shape} and {dense.shape}")
    return tf.tensor_scatter_nd_add(dense, x.indices, x.values)


def _extreme(name, choose):
    def function(sp_a, sp_b, name=None):
        a, b = _sparse(sp_a), _sparse(sp_b)
        places, ids, count = _together(a, b)
        ids_a, ids_b = ids[:_count(a)], ids[_count(a):]
        return _same_shape(a, places, choose(tf.math.unsorted_segment_sum(a.values, ids_a, count),
                                             tf.math.unsorted_segment_sum(b.values, ids_b, count)))
    function.__name__, function.__qualname__ = name, name
    function.__doc__ = f"The {name} of two tensors where either has an element; the other counts as 0 there."
    return function


maximum, minimum = _extreme("maximum", tf.maximum), _extreme("minimum", tf.minimum)


def softmax(sp_input, name=None):
    """The softmax over the elements of each row of the last axis."""
    x = _sparse(sp_input)
    kept, sizes, _ = _reduced_places(x, -1, False)
    count = math.prod(sizes)
    rows = (_numbers(tf.gather(x.indices, kept, axis=1), _vector(sizes)) if kept
            else tf.zeros_like(x.indices[:, 0]))
    highest = tf.stop_gradient(tf.gather(tf.math.unsorted_segment_max(x.values, rows, count), rows))
    weights = tf.exp(x.values - highest)
    return x.with_values(weights / tf.gather(tf.math.unsorted_segment_sum(weights, rows, count), rows))


def map_values(op, *args, **kwargs):
    """The function of the elements of sparse tensors that have the same places."""
    found = [x for x in nest.flatten([args, kwargs]) if isinstance(x, SparseTensor)]
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = found[0]
    for other in found[1:]:
        if (other.indices.shape != first.indices.shape
                or not is_traced(first.indices) and not is_traced(other.indices)
                and not tf.reduce_all(other.indices == first.indices)):
            raise InvalidArgumentError(None, None, "SparseTensors in argument list of map_values must have the same "
                                       "sparsity pattern")
    args, kwargs = nest.map_structure(lambda v: v.values if isinstance(v, SparseTensor) else v, (args, kwargs))
    return first.with_values(op(*args, **kwargs))


def _some_rows(data, indices, sparse_gradient):
    """Rows by number. Behind another axis their gradient is dense."""
    data = tf.convert_to_tensor(data)
    return tf.gather(data, indices) if sparse_gradient else tf.gather(data[None], indices, axis=1)[0]


def _segments(name, reduce):
    def function(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
        rows = _some_rows(data, indices, sparse_gradient)
        if num_segments is None:
            return getattr(tf.math, f"segment_{reduce}")(rows, segment_ids)
        return getattr(tf.math, f"unsorted_segment_{reduce}")(rows, segment_ids, num_segments)
    function.__name__, function.__qualname__ = name, name
    function.__doc__ = f"The {reduce} of some rows of each segment."
    return function


segment_sum, segment_mean = _segments("segment_sum", "sum"), _segments("segment_mean", "mean")


def segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The sum of some rows of each segment, divided by the root of their number."""
    ids = tf.convert_to_tensor(segment_ids)
    count = tf.reduce_max(tf.concat([ids, [-1]], 0)) + 1 if num_segments is None else num_segments
    return tf.math.unsorted_segment_sqrt_n(_some_rows(data, indices, sparse_gradient), ids, count)


def bincount(values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None):
    """How often each number occurs, along the last axis (axis=-1) or in all, as a sparse tensor."""
    sparse_input = isinstance(values, SparseTensor)
    if axis not in (0, -1, None):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    axis = 0 if axis is None else axis
    if sparse_input:
        numbers, rows, count = values.values, values.indices[:, 0], _sizes(values)[0]
        given = None if weights is None else weights.values
    else:
        values = tf.convert_to_tensor(values)
        count = size_of(values, 0) if values.shape.rank == 2 else 1
        numbers = tf.reshape(values, [-1])
        rows = tf.repeat(tf.range(count, dtype=tf.int64), size_of(values, -1))
        given = None if weights is None else tf.reshape(weights, [-1])
    one_row = axis == 0 or (values.shape.rank == 1)
    if one_row:
        rows, count = tf.zeros_like(tf.cast(numbers, tf.int64)), 1
    numbers = tf.cast(numbers, tf.int64)
    check(numbers >= 0, _negative_values)
    width = tf.reduce_max(tf.concat([numbers + 1, [0 if minlength is None else tf.cast(minlength, tf.int64)]], 0))
    if maxlength is not None:
        kept = tf.where(numbers < tf.cast(maxlength, tf.int64))[:, 0]
        numbers, rows = tf.gather(numbers, kept), tf.gather(rows, kept)
        given = None if given is None else tf.gather(given, kept)
        width = tf.minimum(width, tf.cast(maxlength, tf.int64))
    ones = tf.ones_like(numbers, tf.int32) if given is None else given
    keys = rows * width + numbers
    order = tf.argsort(keys, stable=True)
    found, ids = tf.unique(tf.gather(keys, order))
    totals = tf.math.unsorted_segment_sum(tf.gather(ones, order), ids, size_of(found, 0))
    if binary_output:
        totals = tf.ones_like(totals)
    if one_row:
        return SparseTensor(found[:, tf.newaxis], totals, _vector([width]))
    return SparseTensor(_places(found, _vector([count, width])), totals, _vector([count, width]))


def _negative_values(*_):
    raise InvalidArgumentError(None, None, "Input values must all be non-negative")


def __getattr__(name):
    raise AttributeError(f"module 'gradus.sparse' has no attribute '{name}'. docs/api-coverage.md lists what is covered.")
