"""What functions of the module do with ragged tensors, and their operators."""
import operator

import gradus as tf

from . import nest
from ._kinds import Kind, is_traced
from ._ragged import RaggedTensor, _integers, gather_rows

does = RaggedTensor.does


def function_named(name):
    """A function of the module by its dotted name."""
    return operator.attrgetter(name)(tf)


# ----------------------------------------------------------------------------------------------------------- element by element

_UNARY = """abs acos acosh asin asinh atan atanh math.ceil math.conj cos cosh math.digamma math.erf math.erfc exp math.expm1
floor identity math.imag math.is_finite math.is_inf math.is_nan math.lgamma math.log math.log1p math.log_sigmoid logical_not
negative ones_like math.real math.reciprocal math.rint round math.rsqrt sigmoid sign sin sinh math.softplus sqrt square
stop_gradient tan tanh zeros_like nn.relu nn.relu6 nn.elu nn.selu nn.silu nn.gelu nn.leaky_relu nn.softsign cast clip_by_value
nn.dropout one_hot""".split()

_BINARY = """add atan2 divide equal math.floordiv math.floormod greater greater_equal less less_equal logical_and
logical_or math.logical_xor maximum minimum multiply not_equal pow math.squared_difference subtract math.divide_no_nan
math.truediv truediv math.xlogy math.xdivy math.mod""".split()


def _unary(name):
    def function(**arguments):
        own, x = next((k, v) for k, v in arguments.items() if isinstance(v, RaggedTensor))
        return x.with_flat_values(function_named(name)(**{**arguments, own: x.flat_values}))
    return function


def _same_rows(a, b):
    """Checks that two ragged tensors have the same rows."""
    for mine, other in zip(a.nested_row_splits, b.nested_row_splits):
        if mine is other or is_traced(mine) or is_traced(other):
            continue
        if mine.shape != other.shape or not bool(tf.reduce_all(mine == other)):
            raise tf.errors.InvalidArgumentError(None, None, f"Unable to broadcast: dimension size mismatch in dimension. "
                                                 f"lengths {a.row_lengths()} and {b.row_lengths()}")


def _beside(x, dense):
    """A dense tensor that broadcasts to a ragged one, as values beside its flat values."""
    rank = x.shape.rank
    if dense.shape.rank == 0 or dense.shape.rank < rank - x.ragged_rank:
        return dense
    sizes = dense.shape.as_list()
    missing = rank - len(sizes)
    for ids, axis in zip(x.nested_value_rowids(), range(x.ragged_rank)):
        at = axis - missing
        if at < 0:
            continue
        if sizes[at + 1] != 1:
            flat = x.flat_values
            if x.ragged_rank == 1 and at == 0 and sizes[0] in (1, len(x)):
                whole = tf.broadcast_to(dense, [len(x)] + sizes[1:])
                other = RaggedTensor.from_tensor(whole)
                _same_rows(x, other)
                return other.flat_values
            raise tf.errors.InvalidArgumentError(None, None, f"Unable to broadcast a tensor of shape {dense.shape} to a "
                                                 f"ragged one of shape {x.shape} with values of shape {flat.shape}")
        dense = tf.squeeze(dense, [at + 1])
        dense = dense if dense.shape[at] == 1 and sizes[at] == 1 else tf.gather(dense, ids, axis=at)
        sizes = dense.shape.as_list()
        missing += 1
    return dense


def _binary(name):
    def function(**arguments):
        first, second = list(arguments)[:2]
        a, b = arguments[first], arguments[second]
        x = a if isinstance(a, RaggedTensor) else b
        if isinstance(a, RaggedTensor) and isinstance(b, RaggedTensor):
            if a.ragged_rank != b.ragged_rank:
                raise NotImplementedError("ragged tensors of different ragged ranks in one operation are not covered")
            _same_rows(a, b)
            a, b = a.flat_values, b.flat_values
        elif isinstance(a, RaggedTensor):
            a, b = a.flat_values, _beside(x, tf.convert_to_tensor(b, dtype_hint=x.dtype))
        else:
            a, b = _beside(x, tf.convert_to_tensor(a, dtype_hint=x.dtype)), b.flat_values
        return x.with_flat_values(function_named(name)(**{**arguments, first: a, second: b}))
    return function


for _name in _UNARY:
    RaggedTensor._functions[_name] = _unary(_name)
for _name in _BINARY:
    RaggedTensor._functions[_name] = _binary(_name)


def _operators():
    def reflected(function, swap):
        return (lambda self, other: function(other, self)) if swap else (lambda self, other: function(self, other))
    named = {"add": tf.add, "sub": tf.subtract, "mul": tf.multiply, "truediv": tf.truediv, "floordiv": tf.math.floordiv,
             "mod": tf.math.floormod, "pow": tf.pow, "and": tf.logical_and, "or": tf.logical_or, "xor": tf.math.logical_xor}
    for name, function in named.items():
        setattr(RaggedTensor, f"__{name}__", reflected(function, False))
        setattr(RaggedTensor, f"__r{name}__", reflected(function, True))
    for name, function in {"eq": tf.equal, "ne": tf.not_equal, "lt": tf.less, "le": tf.less_equal, "gt": tf.greater,
                           "ge": tf.greater_equal}.items():
        setattr(RaggedTensor, f"__{name}__", reflected(function, False))
    for name, function in {"neg": tf.negative, "abs": tf.abs, "invert": tf.logical_not}.items():
        setattr(RaggedTensor, f"__{name}__", lambda self, function=function: function(self))


_operators()


@does("where")
def _where(condition, x=None, y=None, name=None):
    parts = [p for p in (condition, x, y) if isinstance(p, RaggedTensor)]
    if x is None and y is None:
        sparse = condition.with_flat_values(tf.cast(condition.flat_values, tf.int32)).to_sparse()
        return tf.boolean_mask(sparse.indices, sparse.values > 0)
    for other in parts[1:]:
        _same_rows(parts[0], other)
    condition, x, y = (p.flat_values if isinstance(p, RaggedTensor) else _beside(parts[0], tf.convert_to_tensor(p))
                       for p in (condition, x, y))
    return parts[0].with_flat_values(tf.where(condition, x, y))


# --------------------------------------------------------------------------------------------------------------------- shapes

@does("convert_to_tensor", "constant")
def _convert(value, dtype=None, dtype_hint=None, shape=None, name=None):
    if not isinstance(value, RaggedTensor):
        return NotImplemented
    if dtype is not None and value.dtype != tf.as_dtype(dtype):
        raise ValueError(f"Tensor conversion requested dtype {tf.as_dtype(dtype).name} for RaggedTensor with dtype "
                         f"{value.dtype.name}: {value}")
    if shape is not None and not value.shape.is_compatible_with(shape):
        raise ValueError(f"[constant] got a RaggedTensor of shape {value.shape}; expected {shape}")
    return value


@does("size")
def _size(input, out_type=tf.int32, name=None):  # noqa: A002
    return tf.size(input.flat_values, out_type)


@does("rank")
def _rank(input, name=None):  # noqa: A002
    return tf.constant(input.shape.rank)


@does("expand_dims")
def _expand_dims(input, axis, name=None):  # noqa: A002
    rank = input.shape.rank
    axis = int(axis) % (rank + 1)
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(input, len(input), nrows=1)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(input, 1, nrows=len(input))
    return input.with_values(tf.expand_dims(input.values, axis - 1))


@does("squeeze")
def _squeeze(input, axis=None, name=None):  # noqa: A002
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    for one in sorted((int(a) % input.shape.rank for a in (axis if isinstance(axis, (list, tuple)) else [axis])),
                      reverse=True):
        if not isinstance(input, RaggedTensor):
            input = tf.squeeze(input, [one])  # noqa: A001
        elif one == 0:
            input = input[0]  # noqa: A001
        elif one == 1:
            lengths = input.row_lengths()
            if bool(tf.reduce_any(lengths != 1)):
                raise tf.errors.InvalidArgumentError(None, None, "Can not squeeze dim[1], expected a dimension of 1")
            input = input.values  # noqa: A001
        else:
            input = input.with_values(tf.squeeze(input.values, [one - 1]))  # noqa: A001
    return input


def _as_ragged(value, like):
    """A dense or ragged tensor with as many ragged axes as another."""
    value = value if isinstance(value, Kind) else tf.convert_to_tensor(value)
    if isinstance(value, RaggedTensor) or value.shape.rank < 2:
        return value
    return RaggedTensor.from_tensor(value, ragged_rank=like.ragged_rank)


def _joined(parts):
    """Rows of several tensors, one after the other."""
    if not isinstance(parts[0], RaggedTensor):
        return tf.concat(parts, 0)
    lengths = tf.concat([p.row_lengths() for p in parts], 0)
    return RaggedTensor.from_row_lengths(_joined([p.values for p in parts]), lengths, validate=False)


def _in_turn(parts):
    """The first row of each, then the second of each, ..."""
    rows = len(parts[0])
    for other in parts[1:]:
        if len(other) != rows:
            raise tf.errors.InvalidArgumentError(None, None, f"Input tensors have different numbers of rows: {rows} and "
                                                 f"{len(other)}")
    order = tf.reshape(tf.range(len(parts), dtype=tf.int64)[tf.newaxis] * rows
                       + tf.range(rows, dtype=tf.int64)[:, tf.newaxis], [-1])
    return gather_rows(_joined(parts), order)


@does("concat")
def _concat(values, axis, name=None):
    like = next(v for v in values if isinstance(v, RaggedTensor))
    parts = [_as_ragged(v, like) for v in values]
    axis = int(axis) % like.shape.rank
    if axis == 0:
        return _joined(parts)
    if axis == 1:
        mixed = _in_turn(parts)
        return RaggedTensor._made(mixed.values, mixed.row_splits[::len(parts)])
    for other in parts:
        _same_rows(like, other)
    return like.with_values(tf.concat([p.values for p in parts], axis - 1))


@does("stack")
def _stack(values, axis=0, name=None):
    like = next(v for v in values if isinstance(v, RaggedTensor))
    parts = [_as_ragged(v, like) for v in values]
    axis = int(axis) % (like.shape.rank + 1)
    if axis == 0:
        return RaggedTensor.from_row_lengths(_joined(parts), [len(p) for p in parts])
    if axis == 1:
        return RaggedTensor.from_row_lengths(_in_turn(parts), [len(parts)] * len(like))
    return like.with_values(tf.stack([p.values for p in parts], axis - 1))


@does("unstack")
def _unstack(value, num=None, axis=0, name=None):
    if axis not in (0, -value.shape.rank):
        raise NotImplementedError(f"[unstack] got axis {axis} of a RaggedTensor; expected 0")
    parts = list(value)
    if num is not None and int(num) != len(parts):
        raise ValueError(f"[unstack] got num {num} for {len(parts)} rows")
    return parts


@does("reverse")
def _reverse(tensor, axis, name=None):
    for one in sorted(int(a) % tensor.shape.rank for a in (axis if isinstance(axis, (list, tuple)) else [axis])):
        if one == 0:
            tensor = gather_rows(tensor, tf.range(len(tensor) - 1, -1, -1, dtype=tf.int64))
        elif one == 1:
            ids = tensor.value_rowids()
            last = tf.gather(tensor.row_limits(), ids) - 1
            tensor = tensor.with_values(gather_rows(tensor.values, last - tensor._column_numbers()))
        else:
            tensor = tensor.with_values(tf.reverse(tensor.values, [one - 1]))
    return tensor


@does("tile")
def _tile(input, multiples, name=None):  # noqa: A002
    multiples = [int(m) for m in multiples]
    if any(m != 1 for m in multiples[2:]):
        input = input.with_values(tf.tile(input.values, [1] + multiples[2:]))  # noqa: A001
    if multiples[1] != 1:
        input = _concat([input] * multiples[1], 1)  # noqa: A001
    return _joined([input] * multiples[0]) if multiples[0] != 1 else input


@does("gather", "nn.embedding_lookup")
def _gather(params=None, indices=None, ids=None, validate_indices=None, axis=None, batch_dims=0, max_norm=None, name=None):
    if max_norm is not None:
        if not isinstance(ids, RaggedTensor) or isinstance(params, RaggedTensor):
            raise NotImplementedError("[embedding_lookup] got max_norm; expected a dense table and ragged numbers")
        return ids.with_flat_values(tf.nn.embedding_lookup(params, ids.flat_values, max_norm))
    indices = ids if indices is None else indices
    if batch_dims:
        rows = [tf.gather(p, i, batch_dims=batch_dims - 1) for p, i in zip(params, indices)]
        return _from_rows(rows)
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_gather(params, indices.values, axis=axis)
                                   if isinstance(indices.values, RaggedTensor) or isinstance(params, RaggedTensor)
                                   else tf.gather(params, indices.values, axis=axis))
    if axis not in (None, 0):
        if axis == 1:
            raise NotImplementedError("tf.gather along the ragged axis itself is not covered; use batch_dims=1")
        return params.with_values(tf.gather(params.values, indices, axis=axis - 1))
    indices = _integers(indices, "indices")
    if indices.shape.rank == 0:
        return params[int(indices)]
    rows = gather_rows(params, tf.reshape(indices, [-1]))
    for size in reversed(indices.shape.as_list()[1:]):
        rows = RaggedTensor.from_uniform_row_length(rows, size)
    return rows


@does("_embedding")
def _embedding(indices, table, dtype):
    return tf.cast(_gather(table, indices), dtype)


def _from_rows(rows):
    """Rows, dense or ragged, as one ragged tensor."""
    return RaggedTensor.from_row_lengths(_joined(rows), [r.shape[0] if not isinstance(r, RaggedTensor) else len(r)
                                                         for r in rows])


# ----------------------------------------------------------------------------------------------------------------- reductions

def _any(values, ids, count):
    return tf.math.unsorted_segment_max(tf.cast(values, tf.int32), ids, count) > 0


def _all(values, ids, count):
    return tf.math.unsorted_segment_min(tf.cast(values, tf.int32), ids, count) > 0


def _mean(values, ids, count):
    ones = tf.math.unsorted_segment_sum(tf.ones_like(values), ids, count)
    return tf.math.unsorted_segment_sum(values, ids, count) / ones


def _variance(values, ids, count):
    return tf.maximum(_mean(values * values, ids, count) - tf.square(_mean(values, ids, count)), 0)


_SEGMENTS = {
    "reduce_sum": tf.math.unsorted_segment_sum, "reduce_prod": tf.math.unsorted_segment_prod,
    "reduce_max": tf.math.unsorted_segment_max, "reduce_min": tf.math.unsorted_segment_min,
    "reduce_mean": _mean, "reduce_any": _any, "reduce_all": _all, "math.reduce_variance": _variance,
    "math.reduce_std": lambda *a: tf.sqrt(_variance(*a)),
}


def _reduced(name, x, axis, keepdims):
    if not isinstance(x, RaggedTensor):
        return function_named(name)(x, axis, keepdims)
    segments = _SEGMENTS[name]
    if axis > 1:
        return x.with_values(_reduced(name, x.values, axis - 1, keepdims))
    if isinstance(x.values, RaggedTensor):
        if axis == 0:
            raise NotImplementedError("a reduction over axis 0 of rows of rows is not covered; merge axes first")
        columns = x.values._column_numbers()
        ids = tf.gather(x.value_rowids(), x.values.value_rowids())
        widest = RaggedTensor.from_value_rowids(columns, ids, len(x))
        width = tf.math.unsorted_segment_max(tf.concat([widest.values + 1, tf.zeros([len(x)], tf.int64)], 0),
                                             tf.concat([ids, tf.range(len(x), dtype=tf.int64)], 0), len(x))
        splits = tf.concat([[0], tf.cumsum(width)], 0)
        total = segments(x.values.values, tf.gather(splits, ids) + columns, int(splits[-1]))
        made = RaggedTensor._made(total, splits)
        return tf.expand_dims(made, 1) if keepdims else made
    if axis == 1:
        total = segments(x.values, x.value_rowids(), x._row_count())
    else:
        total = segments(x.values, x._column_numbers(), int(x.bounding_shape(1)))
    return tf.expand_dims(total, axis) if keepdims else total


def _reduction(name):
    def function(input_tensor, axis=None, keepdims=False, name_=None, **_):
        x = input_tensor
        if axis is None:
            result = function_named(name)(x.flat_values)
            return tf.reshape(result, [1] * x.shape.rank) if keepdims else result
        axes = [int(a) for a in (axis if isinstance(axis, (list, tuple)) else [axis])]
        if name in ("reduce_mean", "math.reduce_variance", "math.reduce_std") and len(axes) > 1:
            x = x.merge_dims(min(a % x.shape.rank for a in axes), max(a % x.shape.rank for a in axes))
            axes = [min(a % input_tensor.shape.rank for a in axes)]
        for one in sorted((a % x.shape.rank for a in axes), reverse=True):
            x = _reduced(name, x, one, bool(keepdims))
        return x
    return function


for _name in _SEGMENTS:
    RaggedTensor._functions[_name] = _reduction(_name)


def map_flat_values(op, *args, **kwargs):
    """The function of the innermost values of ragged tensors that have the same rows."""
    found = [x for x in nest.flatten([args, kwargs]) if isinstance(x, RaggedTensor)]
    if not found:
        return op(*args, **kwargs)
    for other in found[1:]:
        _same_rows(found[0], other)
    args, kwargs = nest.map_structure(lambda v: v.flat_values if isinstance(v, RaggedTensor) else v, (args, kwargs))
    return found[0].with_flat_values(op(*args, **kwargs))
