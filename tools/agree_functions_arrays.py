"""More functions of the language of tests/agree/programs.txt, with JAX: arrays, matrices, neural networks, losses."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

from agree_functions import TABLE, add, plain


# ---------------------------------------------------------------------------------------------- makers
TABLE["zeros"] = lambda a: jnp.zeros(a.integers("shape"), a.dtype("dtype", "float32"))
TABLE["ones"] = lambda a: jnp.ones(a.integers("shape"), a.dtype("dtype", "float32"))
TABLE["fill"] = lambda a, x: jnp.full(a.integers("dims"), x, a.dtype("_", "int32" if isinstance(x, int) else "float32")) \
    if isinstance(x, (int, float)) else jnp.full(a.integers("dims"), x)
plain("zeros_like", jnp.zeros_like)
plain("ones_like", jnp.ones_like)
plain("rank", lambda x: jnp.int32(x.ndim))
TABLE["shape"] = lambda a, x: jnp.array(x.shape, a.dtype("out_type", "int32"))
TABLE["size"] = lambda a, x: jnp.array(x.size, a.dtype("out_type", "int32"))


@add("range")
def _(a, *x):
    start, limit, delta = {1: (0, *x, 1), 2: (*x, 1), 3: x}[len(x)]
    whole = all(isinstance(v, int) or not jnp.issubdtype(jnp.asarray(v).dtype, jnp.floating) for v in x)
    count = int(np.ceil((float(limit) - float(start)) / float(delta)))
    return start + delta * jnp.arange(max(count, 0)).astype(jnp.int32 if whole else a.dtype("dtype", "float32"))


@add("linspace")
def _(a, start, stop):
    start, stop = jnp.asarray(start), jnp.asarray(stop)
    kind = start.dtype if jnp.issubdtype(start.dtype, jnp.floating) else a.dtype("_", "float64")
    n, axis = a.integer("num"), a.integer("axis", 0)
    t = jnp.arange(n).astype(kind) / max(n - 1, 1)
    parts = [start + (stop - start) * t[i] for i in range(n)]
    return jnp.stack(parts, axis).astype(kind)


@add("eye")
def _(a):
    one = jnp.eye(a.integer("num_rows"), a.integer("num_columns"), dtype=a.dtype("dtype", "float32"))
    return jnp.broadcast_to(one, (a.integers("batch_shape") if "batch_shape" in a else ()) + one.shape)


@add("one_hot")
def _(a, x, on=1.0, off=0.0):
    axis = a.integer("axis", -1)
    depth = a.integer("depth")
    at = jnp.expand_dims(x, axis)
    shape = [1] * at.ndim
    shape[axis] = depth
    return jnp.where(at == jnp.arange(depth).reshape(shape), jnp.asarray(on, a.dtype("_", "float32")) if isinstance(on, float) else on, off)


@add("sequence_mask")
def _(a, lengths):
    most = a.integer("maxlen") if "maxlen" in a else int(lengths.max())
    return (jnp.arange(most) < lengths[..., None]).astype(a.dtype("dtype", "bool"))


TABLE["meshgrid"] = lambda a, xs: jnp.meshgrid(*xs, indexing=a.text("indexing", "xy"))


# ---------------------------------------------------------------------------------------------- shaping
TABLE["reshape"] = lambda a, x: jnp.reshape(x, a.integers("shape"))
TABLE["broadcast_to"] = lambda a, x: jnp.broadcast_to(x, a.integers("shape"))
TABLE["transpose"] = lambda a, x: jnp.transpose(x, a.integers("perm") if "perm" in a else None)
TABLE["expand_dims"] = lambda a, x: jnp.expand_dims(x, a.integer("axis", 0))
TABLE["squeeze"] = lambda a, x: jnp.squeeze(x, a.integers("axis") if "axis" in a else None)
TABLE["concat"] = lambda a, xs: jnp.concatenate(xs, a.integer("axis", 0))
TABLE["stack"] = lambda a, xs: jnp.stack(xs, a.integer("axis", 0))
TABLE["unstack"] = lambda a, x: list(jnp.moveaxis(x, a.integer("axis", 0), 0))
TABLE["tile"] = lambda a, x: jnp.tile(x, a.integers("multiples"))
TABLE["reverse"] = lambda a, x: jnp.flip(x, a.integers("axis"))
TABLE["roll"] = lambda a, x: jnp.roll(x, a.integers("shift"), a.integers("axis"))


@add("split")
def _(a, x):
    axis, sizes = a.integer("axis", 0), list(a.integers("num_or_size_splits"))
    if a.text("num_or_size_splits")[0] != "[":
        return jnp.split(x, sizes[0], axis)
    if -1 in sizes:
        sizes[sizes.index(-1)] = x.shape[axis] - sum(sizes) - 1
    return jnp.split(x, list(np.cumsum(sizes))[:-1], axis)


@add("repeat")
def _(a, x):
    repeats = a.integers("repeats")
    return jnp.repeat(x, np.array(repeats) if len(repeats) > 1 else repeats[0], a.integer("axis"))


@add("reverse_sequence")
def _(a, x, lengths):
    time, batch = a.integer("seq_axis", 1) % x.ndim, a.integer("batch_axis", 0) % x.ndim
    y = jnp.moveaxis(x, (batch, time), (0, 1))
    rows = [jnp.concatenate([row[:int(n)][::-1], row[int(n):]]) for row, n in zip(y, lengths)]
    return jnp.moveaxis(jnp.stack(rows), (0, 1), (batch, time))


@add("pad")
def _(a, x, constant=0):
    numbers = a.integers("paddings")
    pairs = list(zip(numbers[::2], numbers[1::2]))
    mode = a.text("mode", "CONSTANT").lower()
    return jnp.pad(x, pairs, "constant", constant_values=constant) if mode == "constant" else jnp.pad(x, pairs, mode)


@add("bitcast")
def _(a, x):
    return jax.lax.bitcast_convert_type(x, a.dtype("type", "int32"))


# ---------------------------------------------------------------------------------------------- indexing
@add("slice")
def _(a, x):
    begin, size = a.integers("begin"), a.integers("size")
    return x[tuple(slice(b, None if s < 0 else b + s) for b, s in zip(begin, size))]


@add("index")
def _(a, x):
    def part(text):
        if ":" in text:
            return slice(*[int(end) if end else None for end in text.split(":")])
        return {"...": Ellipsis, "new": None}[text] if text in ("...", "new") else int(text)
    return x[tuple(part(text) for text in a.text("at").split(","))]


@add("strided_slice")
def _(a, x):
    parts = []
    bit = lambda key, i: a.integer(key, 0) >> i & 1
    for i, (b, e, s) in enumerate(zip(a.integers("begin"), a.integers("end"), a.integers("strides"))):
        if bit("ellipsis_mask", i):
            parts.append(Ellipsis)
        elif bit("new_axis_mask", i):
            parts.append(None)
        elif bit("shrink_axis_mask", i):
            parts.append(b)
        else:
            parts.append(slice(None if bit("begin_mask", i) else b, None if bit("end_mask", i) else e, s))
    return x[tuple(parts)]


def over_batches(f, batch_dims, *x):
    if not batch_dims:
        return f(*x)
    return jnp.stack([over_batches(f, batch_dims - 1, *[part[i] for part in x]) for i in range(x[0].shape[0])])


@add("gather")
def _(a, x, at):
    batch = a.integer("batch_dims", 0)
    axis = a.integer("axis", batch)
    axis = axis % x.ndim - batch
    return over_batches(lambda p, i: jnp.take(p, i, axis), batch, x, at)


TABLE["gather_nd"] = lambda a, x, at: over_batches(
    lambda p, i: p[tuple(jnp.moveaxis(i, -1, 0))], a.integer("batch_dims", 0), x, at)
plain("where_true", lambda x: jnp.argwhere(x))


@add("boolean_mask")
def _(a, x, mask):
    axis = a.integer("axis", 0)
    flat = x.reshape(x.shape[:axis] + (mask.size,) + x.shape[axis + mask.ndim:])
    return jnp.take(flat, jnp.nonzero(mask.reshape(-1))[0], axis)


def _places(at):
    return tuple(jnp.moveaxis(at, -1, 0))


TABLE["scatter_nd"] = lambda a, at, u: jnp.zeros(a.integers("shape"), u.dtype).at[_places(at)].add(u)
plain("tensor_scatter_nd_add", lambda x, at, u: x.at[_places(at)].add(u))
plain("tensor_scatter_nd_sub", lambda x, at, u: x.at[_places(at)].add(-u))


def one_by_one(change):
    def call(a, x, at, u):
        depth = at.shape[-1]
        rows = at.reshape(-1, depth)
        updates = u.reshape((rows.shape[0],) + x.shape[depth:])
        for place, update in zip(np.asarray(rows), updates):
            x = x.at[tuple(place)].set(change(x[tuple(place)], update))
        return x
    return call


TABLE["tensor_scatter_nd_update"] = one_by_one(lambda old, new: new)
TABLE["tensor_scatter_nd_max"] = one_by_one(lambda old, new: jnp.where(new > old, new, old))
TABLE["tensor_scatter_nd_min"] = one_by_one(lambda old, new: jnp.where(new < old, new, old))


TABLE["scatter_rows"] = lambda a, at, u: jnp.zeros(a.integers("shape"), u.dtype).at[at].add(u)
plain("set_row", lambda x, i, row: x.at[i].set(row))
plain("add_row", lambda x, i, row: x.at[i].add(row))
plain("sampled_matmul", lambda x, y, at: jnp.sum(x[..., at[:, 0], :] * y[..., at[:, 1], :], tuple(range(x.ndim - 2)) + (-1,)))


@add("sparse_matmul")
def _(a, values, at, dense):
    at = at[:, ::-1] if a.flag("transpose") else at
    return jnp.matmul(jnp.zeros((a.integer("rows"), dense.shape[-2]), values.dtype).at[at[:, 0], at[:, 1]].add(values), dense)


@add("variable_scatter")
def _(a, x, at, u):
    change = {"add": lambda p, q: p + q, "sub": lambda p, q: p - q, "update": lambda p, q: q, "mul": lambda p, q: p * q,
              "div": lambda p, q: p / q, "max": jnp.maximum, "min": jnp.minimum}[a.text("how")]
    return one_by_one(change)(a, x, at[..., None], u)


# ---------------------------------------------------------------------------------------------- matrices
def swapped(x):
    return jnp.swapaxes(x, -1, -2)


TABLE["matmul"] = lambda a, x, y: jnp.matmul(
    swapped(x) if a.flag("transpose_a") else x, swapped(y) if a.flag("transpose_b") else y)
TABLE["einsum"] = lambda a, xs: jnp.einsum(a.text("equation"), *xs)
TABLE["tensordot"] = lambda a, x, y: jnp.tensordot(
    x, y, (a.integers("axes_a"), a.integers("axes_b")) if "axes_a" in a else a.integer("axes", 1))
plain("cross", jnp.cross)


@add("norm")
def _(a, x):
    p = float(a.text("ord", "2"))
    axes, keep = (a.integers("axis") if "axis" in a else None), a.flag("keepdims")
    if np.isinf(p):
        return jnp.max(jnp.abs(x), axis=axes, keepdims=keep)
    return jnp.sum(jnp.abs(x) ** p, axis=axes, keepdims=keep) ** (1 / p)


@add("linalg.diag")
def _(a, x):
    k = a.integer("k", 0)
    n = x.shape[-1] + abs(k)
    rows, columns = a.integer("num_rows", -1), a.integer("num_cols", -1)
    out = jnp.zeros(x.shape[:-1] + (n, n), x.dtype)
    i = jnp.arange(x.shape[-1])
    out = out.at[..., i + max(-k, 0), i + max(k, 0)].set(x)
    rows, columns = (rows if rows > 0 else n), (columns if columns > 0 else n)
    return jnp.pad(out, [(0, 0)] * (x.ndim - 1) + [(0, max(rows - n, 0)), (0, max(columns - n, 0))])[..., :rows, :columns]


TABLE["linalg.diag_part"] = lambda a, x: jnp.diagonal(x, a.integer("k", 0), -2, -1)


@add("linalg.set_diag")
def _(a, x, d):
    k = a.integer("k", 0)
    i = jnp.arange(d.shape[-1])
    return x.at[..., i + max(-k, 0), i + max(k, 0)].set(d)


@add("linalg.band_part")
def _(a, x):
    low, up = a.integer("num_lower"), a.integer("num_upper")
    i, j = jnp.arange(x.shape[-2])[:, None], jnp.arange(x.shape[-1])[None, :]
    return jnp.where(((i - j <= low) | (low < 0)) & ((j - i <= up) | (up < 0)), x, 0)


plain("linalg.tensor_diag", lambda x: jnp.diag(x.reshape(-1)).reshape(x.shape + x.shape))
plain("linalg.tensor_diag_part", lambda x: jnp.diagonal(x.reshape(int(np.sqrt(x.size)), -1)).reshape(x.shape[:x.ndim // 2]))
plain("linalg.trace", lambda x: jnp.trace(x, axis1=-2, axis2=-1))
plain("linalg.matrix_transpose", swapped)
plain("linalg.adjoint", lambda x: jnp.conj(swapped(x)))
plain("linalg.pinv", lambda x: jnp.linalg.pinv(x))
plain("linalg.cholesky", lambda x: jnp.linalg.cholesky(x))
plain("linalg.cholesky_solve", lambda c, b: jnp.linalg.solve(jnp.matmul(jnp.tril(c), swapped(jnp.tril(c))), b))


@add("linalg.triangular_solve")
def _(a, m, b):
    m = jnp.tril(m) if a.flag("lower", True) else jnp.triu(m)
    return jnp.linalg.solve(swapped(m) if a.flag("adjoint") else m, b)


TABLE["linalg.solve"] = lambda a, m, b: jnp.linalg.solve(jnp.conj(swapped(m)) if a.flag("adjoint") else m, b)
plain("linalg.inv", jnp.linalg.inv)
plain("linalg.det", jnp.linalg.det)
plain("linalg.logdet", lambda x: jnp.linalg.slogdet(x)[1])
plain("linalg.slogdet", lambda x: list(jnp.linalg.slogdet(x)))
plain("linalg.eigh", lambda x: list(jnp.linalg.eigh(x)))
plain("linalg.eigvalsh", jnp.linalg.eigvalsh)
TABLE["linalg.qr"] = lambda a, x: list(jnp.linalg.qr(x, "complete" if a.flag("full_matrices") else "reduced"))


@add("linalg.svd")
def _(a, x):
    u, s, vt = jnp.linalg.svd(x, full_matrices=a.flag("full_matrices"))
    return s, u, swapped(vt)


plain("linalg.expm", lambda x: jsl.expm(x) if x.ndim == 2 else jnp.stack([jsl.expm(m) for m in x]))
TABLE["signal.fft"] = lambda a, x: jnp.fft.fftn(x, axes=range(-a.integer("axes", 1), 0))
TABLE["signal.ifft"] = lambda a, x: jnp.fft.ifftn(x, axes=range(-a.integer("axes", 1), 0))
TABLE["signal.rfft"] = lambda a, x: jnp.fft.rfftn(x, a.integers("fft_length"), range(-len(a.integers("fft_length")), 0))
TABLE["signal.irfft"] = lambda a, x: jnp.fft.irfftn(x, a.integers("fft_length"), range(-len(a.integers("fft_length")), 0))
plain("global_norm", lambda xs: jnp.sqrt(sum(jnp.sum(x * x) for x in xs)))


@add("clip_by_global_norm")
def _(a, xs):
    norm = jnp.sqrt(sum(jnp.sum(x * x) for x in xs))
    scale = a.real("clip_norm") / jnp.where(norm > a.real("clip_norm"), norm, a.real("clip_norm"))
    return [x * scale for x in xs] + [norm]


@add("clip_by_norm")
def _(a, x):
    norm = jnp.sqrt(jnp.sum(x * x))
    return x * a.real("clip_norm") / jnp.where(norm > a.real("clip_norm"), norm, a.real("clip_norm"))


import agree_functions_nn  # noqa: E402, F401
