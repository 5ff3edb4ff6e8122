"""Dtypes, shapes, control flow, and writing to parts of tensors."""
import gradus as tf


from .._operation import KerasTensor
from ._op import op as _op
from ._op import tensor as _tensor


@_op
def cast(x, dtype):
    """x with another dtype."""
    return tf.cast(x, dtype)


@_op
def saturate_cast(x, dtype):
    """x with another dtype, brought into its range before."""
    kind = tf.as_dtype(dtype)
    x = _tensor(x)
    if kind.is_integer:
        wide = tf.cast(x, "float64") if not x.dtype.is_integer else tf.cast(x, "int64")
        x = tf.clip_by_value(wide, tf.cast(kind.min, wide.dtype), tf.cast(min(kind.max, 2 ** 63 - 1), wide.dtype))
    return tf.cast(x, kind)


def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
    """x as a tensor; what has another dtype is cast; sparse=False, ragged=False: sparse and ragged ones become dense."""
    if isinstance(x, KerasTensor):
        return x
    if sparse or ragged:
        raise ValueError("convert_to_tensor makes no sparse or ragged tensors; pass one, or use tf.sparse.from_dense")
    if isinstance(x, (tf.SparseTensor, tf.RaggedTensor)):
        is_dense_wanted = sparse is False if isinstance(x, tf.SparseTensor) else ragged is False
        if not is_dense_wanted:
            return x if dtype is None else tf.cast(x, dtype)
        x = tf.sparse.to_dense(x) if isinstance(x, tf.SparseTensor) else x.to_tensor()
    if dtype is None:
        return _tensor(x)
    return tf.cast(x, dtype) if hasattr(x, "dtype") else tf.convert_to_tensor(x, dtype)


def convert_to_numpy(x):
    """x as a NumPy array."""
    import numpy as np
    return x.numpy() if tf.is_tensor(x) else np.asarray(x)


def is_tensor(x):
    """Whether x is a tensor."""
    return tf.is_tensor(x)


def shape(x):
    """The sizes, as tensors where they are not known."""
    if isinstance(x, KerasTensor):
        return x.shape
    x = _tensor(x)
    sizes = tuple(x.shape)
    if None not in sizes:
        return sizes
    known = tf.shape(x)
    return tuple(known[i] if n is None else n for i, n in enumerate(sizes))


def dtype(x):
    """The name of the dtype."""
    from .._variable import standardize_dtype
    return standardize_dtype(x.dtype)


@_op
def stop_gradient(variable):
    """The value itself; gradients stop here."""
    return tf.stop_gradient(_tensor(variable))


custom_gradient = tf.custom_gradient


@_op
def cond(pred, true_fn, false_fn):
    """true_fn() if pred holds, else false_fn()."""
    return tf.cond(pred, true_fn, false_fn)


@_op
def switch(index, branches, *operands):
    """The function with the given number, of the operands."""
    index = tf.clip_by_value(tf.cast(index, "int32"), 0, len(branches) - 1)
    return tf.switch_case(index, [lambda f=f: f(*operands) for f in branches])


def while_loop(cond, body, loop_vars, maximum_iterations=None):
    """Calls loop_vars = body(*loop_vars) while cond(*loop_vars) holds."""
    single = not isinstance(loop_vars, (list, tuple))
    given = (loop_vars,) if single else tuple(loop_vars)

    def step(*values):
        result = body(*values)
        return tuple(result) if isinstance(result, (list, tuple)) else (result,)
    out = tf.while_loop(cond, step, list(given), maximum_iterations=maximum_iterations)
    return out[0] if single else type(loop_vars)(out)


def fori_loop(lower, upper, body_fun, init_val):
    """value = body_fun(i, value) for i from lower to below upper."""
    value = init_val
    for i in range(int(lower), int(upper)):
        value = body_fun(i, value)
    return value


def scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    """carry, y = f(carry, x) for each slice x; the last carry and all y."""
    leaves = tf.nest.flatten(xs)
    count = length if length is not None else leaves[0].shape[0]
    outputs, carry = [], init
    for i in reversed(range(count)) if reverse else range(count):
        carry, y = f(carry, None if xs is None else tf.nest.map_structure(lambda x: x[i], xs))
        outputs.append(y)
    outputs = outputs[::-1] if reverse else outputs
    return carry, None if outputs[0] is None else tf.nest.map_structure(lambda *y: tf.stack(y), *outputs)


def map(f, xs):  # noqa: A001
    """f of each slice along axis 0, stacked."""
    return tf.map_fn(f, xs)


def vectorized_map(function, elements):
    """f of each slice along axis 0, all at once."""
    return tf.vectorized_map(function, elements)


@_op
def scatter(indices, values, shape):
    """Zeros with values added at coordinates."""
    return tf.scatter_nd(tf.cast(indices, "int32"), _tensor(values), shape)


@_op
def scatter_update(inputs, indices, updates, reduction=None):
    """inputs with updates at coordinates."""
    inputs = _tensor(inputs)
    indices, updates = tf.cast(indices, "int32"), tf.cast(updates, inputs.dtype)
    if reduction == "mul":
        return _scattered_products(inputs, indices, updates)
    how = {None: "update", "add": "add", "max": "max", "min": "min"}.get(reduction)
    if how is None:
        raise ValueError(f"Unsupported reduction: {reduction}")
    return getattr(tf, "tensor_scatter_nd_" + how)(inputs, indices, updates)


def _scattered_products(inputs, indices, updates):
    """inputs times the products of all updates for a place."""
    depth = indices.shape[-1]
    outer, inner = inputs.shape[:depth], inputs.shape[depth:]
    places, count = tf.zeros([], "int32"), 1
    for axis in reversed(range(depth)):
        places, count = places + indices[..., axis] * count, count * outer[axis]
    rows = tf.reshape(updates, [-1, *inner])
    products = tf.math.unsorted_segment_prod(rows, tf.reshape(places, [-1]), count)
    return inputs * tf.reshape(products, [*outer, *inner])


@_op
def slice(inputs, start_indices, shape):  # noqa: A001
    """The block of the given size that starts there."""
    return tf.slice(_tensor(inputs), start_indices, shape)


@_op
def slice_update(inputs, start_indices, updates):
    """inputs with another block from there on."""
    inputs, updates = _tensor(inputs), _tensor(updates)
    begin = [int(i) for i in start_indices]
    sizes = tuple(updates.shape)
    margins = [(b, n - b - s) for b, n, s in zip(begin, inputs.shape, sizes)]
    inside = tf.pad(tf.ones(sizes, "int32"), margins) > 0
    return tf.where(inside, tf.pad(tf.cast(updates, inputs.dtype), margins), inputs)


@_op
def unstack(x, num=None, axis=0):
    """The slices along an axis."""
    return tf.unstack(_tensor(x), num, axis)


def name_scope(name, **kwargs):
    """Puts a name before the names of variables made inside."""
    from .._scopes import name_scope as scope
    return scope(name, **kwargs)


