"""The functions of the language of tests/agree/programs.txt, with JAX. Names and meanings are those of the public C++
headers; what these say of ties and poles holds here too. See agree_reference.py.
"""
import itertools

import jax
import jax.numpy as jnp
import jax.scipy.special as jss
import numpy as np


class Attributes:
    """What stands behind the operands of a line. All floats are float64 here."""

    def __init__(self, words):
        self.words = words

    def __contains__(self, key):
        return key in self.words

    def text(self, key, otherwise=""):
        return self.words.get(key, otherwise)

    def integer(self, key, otherwise=None):
        return int(self.words[key]) if key in self.words else otherwise

    def real(self, key, otherwise=None):
        return float(self.words[key]) if key in self.words else otherwise

    def flag(self, key, otherwise=False):
        return self.words[key] == "true" if key in self.words else otherwise

    def integers(self, key):
        return tuple(int(part) for part in self.words[key].strip("[]").split(",") if part)

    def dtype(self, key, otherwise):
        name = self.words.get(key, otherwise)
        if name in ("float16", "bfloat16", "float32", "float64"):
            return jnp.float64
        if name.startswith("complex"):
            return jnp.complex128
        return jnp.dtype({"bool": "bool_"}.get(name, name))


TABLE = {}


def add(*names):
    def adding(f):
        for name in names:
            TABLE[name] = f
        return f
    return adding


def plain(name, f):
    TABLE[name] = lambda a, *x: f(*x)


# ---------------------------------------------------------------------------------------------- elementwise
for _name in """negative abs square sqrt sign reciprocal floor ceil trunc cbrt exp expm1 log log1p exp2 log2 log10 sin cos tan
        sinh cosh tanh real imag conj add subtract multiply squared_difference pow hypot logaddexp equal not_equal less less_equal
        greater greater_equal logical_and logical_or logical_xor logical_not""".split():
    if hasattr(jnp, _name):
        plain(_name, getattr(jnp, _name))
for _name, _other in (("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("asinh", "arcsinh"), ("acosh", "arccosh"),
                      ("atanh", "arctanh"), ("atan2", "arctan2"), ("is_nan", "isnan"), ("is_inf", "isinf"),
                      ("is_finite", "isfinite"), ("floormod", "mod"), ("angle", "angle")):
    plain(_name, getattr(jnp, _other))
for _name in "erf erfc erfinv digamma zeta ndtri betainc".split():
    plain(_name, getattr(jss, _name))
plain("lgamma", jss.gammaln)
plain("polygamma", lambda n, x: jss.polygamma(n.astype(int), x))
plain("igamma", jss.gammainc)
plain("igammac", jss.gammaincc)
plain("ndtr", jss.ndtr)
plain("bessel_i0", jss.i0)
plain("bessel_i0e", jss.i0e)
plain("bessel_i1", jss.i1)
plain("bessel_i1e", jss.i1e)
plain("erfcinv", lambda x: -jss.ndtri(x / 2) / np.sqrt(2.0))
plain("rsqrt", lambda x: 1 / jnp.sqrt(x))
plain("round", jnp.round)
plain("reciprocal_no_nan", lambda x: jnp.where(x == 0, 0, 1 / jnp.where(x == 0, 1, x)))
plain("squared_difference", lambda x, y: (x - y) * jnp.conj(x - y))
plain("sigmoid", jax.nn.sigmoid)
plain("softplus", jax.nn.softplus)
plain("log_sigmoid", jax.nn.log_sigmoid)
plain("maximum", lambda x, y: jnp.where((x >= y) | jnp.isnan(x), x, y))
plain("minimum", lambda x, y: jnp.where((x <= y) | jnp.isnan(x), x, y))
plain("complex", lambda x, y: jax.lax.complex(*jnp.broadcast_arrays(x, y)))
plain("identity", lambda x: x)
plain("stop_gradient", jax.lax.stop_gradient)
plain("clip_by_value", lambda x, low, high: jnp.where(x < low, low, jnp.where(x > high, high, x)))
plain("where", jnp.where)
plain("add_n", lambda xs: sum(xs[1:], xs[0]))


def is_whole(x):
    return not jnp.issubdtype(jnp.asarray(x).dtype, jnp.inexact)


@add("divide", "truncatediv")
def _(a, x, y):
    if is_whole(x):
        q = jnp.abs(x) // jnp.abs(y)
        return jnp.where((x < 0) != (y < 0), -q, q).astype(x.dtype) if jnp.issubdtype(x.dtype, jnp.signedinteger) else x // y
    return x / y


plain("floordiv", lambda x, y: x // y if is_whole(x) else jnp.floor(x / y))
plain("truncatemod", lambda x, y: jax.lax.rem(*jnp.broadcast_arrays(x, jnp.asarray(y, x.dtype))))


def _where_not_zero(test, f):
    """f(x, y) where test(x, y) is not 0, else 0; safe to differentiate."""
    def call(a, x, y):
        x, y = jnp.broadcast_arrays(x, y)
        zero = test(x, y) == 0
        return jnp.where(zero, 0, f(jnp.where(zero, 1, x), jnp.where(zero, 1, y)))
    return call


TABLE["div_no_nan"] = _where_not_zero(lambda x, y: y, lambda x, y: x / y)
TABLE["multiply_no_nan"] = lambda a, x, y: jnp.where(y == 0, 0, jnp.where(y == 0, 0, x) * y)
TABLE["xlogy"] = _where_not_zero(lambda x, y: x, lambda x, y: x * jnp.log(y))
TABLE["xdivy"] = _where_not_zero(lambda x, y: x, lambda x, y: x / y)
TABLE["xlog1py"] = _where_not_zero(lambda x, y: x, lambda x, y: x * jnp.log1p(y))


@add("cast")
def _(a, x):
    to = a.dtype("dtype", "float32")
    if jnp.iscomplexobj(x) and not jnp.issubdtype(to, jnp.complexfloating):
        x = jnp.real(x)
    return x.astype(to)


for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    plain("bitwise." + _name, getattr(jnp, _name))
plain("bitwise.invert", jnp.invert)
plain("bitwise.left_shift", lambda x, y: jnp.left_shift(x, jnp.clip(y, 0, x.dtype.itemsize * 8 - 1)))
plain("bitwise.right_shift", lambda x, y: jnp.right_shift(x, jnp.clip(y, 0, x.dtype.itemsize * 8 - 1)))


# ---------------------------------------------------------------------------------------------- reductions
def axes_of(a, key="axis"):
    return a.integers(key) if key in a else None


def reduction(name, f):
    TABLE[name] = lambda a, x: f(x, axis=axes_of(a), keepdims=a.flag("keepdims"))


def _mean(x, axis, keepdims):
    if not is_whole(x):
        return jnp.mean(x, axis=axis, keepdims=keepdims)
    total = jnp.sum(x, axis=axis, keepdims=keepdims)
    count = x.size // max(total.size, 1)
    return jnp.where(total < 0, -(-total // count), total // count).astype(x.dtype)


def _same_dtype(f):
    return lambda x, axis, keepdims: f(x, axis=axis, keepdims=keepdims).astype(x.dtype)


def _norm2(x, axis, keepdims):
    total = jnp.sum(jnp.real(x * jnp.conj(x)), axis=axis, keepdims=keepdims)
    return jnp.where(total == 0, 0, jnp.sqrt(jnp.where(total == 0, 1, total))).astype(x.dtype)


def _variance(x, axis, keepdims):
    return jnp.mean(jnp.square(x - jnp.mean(x, axis=axis, keepdims=True)), axis=axis, keepdims=keepdims)


def _std(x, axis, keepdims):
    v = _variance(x, axis, keepdims)
    return jnp.where(v == 0, 0, jnp.sqrt(jnp.where(v == 0, 1, v)))


reduction("reduce_sum", _same_dtype(jnp.sum))
reduction("reduce_mean", _mean)
reduction("reduce_prod", _same_dtype(jnp.prod))
reduction("reduce_max", jnp.max)
reduction("reduce_min", jnp.min)
reduction("reduce_any", jnp.any)
reduction("reduce_all", jnp.all)
reduction("reduce_variance", _variance)
reduction("reduce_std", _std)
reduction("reduce_euclidean_norm", _norm2)
reduction("reduce_logsumexp", jax.scipy.special.logsumexp)
TABLE["count_nonzero"] = lambda a, x: jnp.sum(
    x != 0, axis=axes_of(a), keepdims=a.flag("keepdims")).astype(a.dtype("dtype", "int64"))
TABLE["argmax"] = lambda a, x: jnp.argmax(x, a.integer("axis", 0)).astype(a.dtype("output_type", "int64"))
TABLE["argmin"] = lambda a, x: jnp.argmin(x, a.integer("axis", 0)).astype(a.dtype("output_type", "int64"))


@add("moments")
def _(a, x):
    axes, keep = a.integers("axes"), a.flag("keepdims")
    return jnp.mean(x, axis=axes, keepdims=keep), _variance(x, axes, keep)


# ---------------------------------------------------------------------------------------------- scans, segments
def scan(name, f, first):
    def call(a, x):
        axis = a.integer("axis", 0)
        y = jnp.flip(x, axis) if a.flag("reverse") else x
        y = f(y, axis)
        if a.flag("exclusive"):
            head = jnp.full_like(jax.lax.slice_in_dim(y, 0, 1, axis=axis), first)
            y = jnp.concatenate([head, jax.lax.slice_in_dim(y, 0, y.shape[axis] - 1, axis=axis)], axis)
        y = y.astype(x.dtype)
        return jnp.flip(y, axis) if a.flag("reverse") else y
    TABLE[name] = call


def _cumulative(f):
    """Running results one by one, so that nothing is divided."""
    def call(x, axis):
        rows = jnp.moveaxis(x, axis, 0)
        results = list(itertools.accumulate([rows[i] for i in range(rows.shape[0])], f))
        return jnp.moveaxis(jnp.stack(results), 0, axis) if results else x
    return call


scan("cumsum", _cumulative(lambda x, y: x + y), 0)
scan("cumprod", _cumulative(lambda x, y: x * y), 1)
scan("cumulative_logsumexp", _cumulative(jnp.logaddexp), -np.inf)


@add("linear_recurrence")
def _(a, x, y):
    axis, back = a.integer("axis", 0), a.flag("reverse")
    x, y = jnp.moveaxis(x, axis, 0), jnp.moveaxis(y, axis, 0)
    x, y = (x[::-1], y[::-1]) if back else (x, y)
    rows = [y[0]]
    for i in range(1, x.shape[0]):
        rows.append(x[i - 1 if a.flag("lag") else i] * rows[-1] + y[i])
    return jnp.moveaxis(jnp.stack(rows[::-1] if back else rows), 0, axis)


def _segments(how):
    def call(data, ids, count, empty_is_zero):
        ids = jnp.asarray(ids)
        rows = data.reshape((ids.size,) + data.shape[ids.ndim:])
        mine = ids.reshape(-1)[None, :] == jnp.arange(count)[:, None]
        number = mine.sum(1).reshape((count,) + (1,) * (rows.ndim - 1))
        mine = mine.reshape(mine.shape + (1,) * (rows.ndim - 1))
        if how in ("sum", "mean", "sqrt_n"):
            total = jnp.where(mine, rows[None], 0).sum(1)
            if how == "sum":
                return total.astype(data.dtype)
            many = jnp.maximum(number, 1)
            if is_whole(data):
                return (jnp.sign(total) * (jnp.abs(total) // many)).astype(data.dtype)
            many = many.astype(data.dtype)
            return total / (many if how == "mean" else jnp.sqrt(many))
        if how == "prod":
            return jnp.where(mine, rows[None], 1).prod(1).astype(data.dtype)
        limits = jnp.iinfo(data.dtype) if is_whole(data) else jnp.finfo(data.dtype)
        worst = limits.min if how == "max" else limits.max
        best = (jnp.max if how == "max" else jnp.min)(jnp.where(mine, rows[None], worst), axis=1)
        return jnp.where(number == 0, 0, best) if empty_is_zero else best
    return call


for _name in ("sum", "mean", "sqrt_n", "prod", "max", "min"):
    TABLE["unsorted_segment_" + _name] = lambda a, x, ids, f=_segments(_name): f(x, ids, a.integer("num_segments"), False)
    TABLE["segment_" + _name] = lambda a, x, ids, f=_segments(_name): f(x, ids, int(ids[-1]) + 1, True)


# ---------------------------------------------------------------------------------------------- sorting, counting
def _order(a, x):
    axis = a.integer("axis", -1)
    falling = a.text("direction") == "DESCENDING"
    return axis, jnp.argsort(x, axis, stable=True, descending=falling)


@add("sort")
def _(a, x):
    axis, order = _order(a, x)
    return jnp.take_along_axis(x, order, axis)


TABLE["argsort"] = lambda a, x: _order(a, x)[1].astype(jnp.int32)


@add("top_k")
def _(a, x):
    places = jnp.argsort(x, -1, stable=True, descending=True)[..., :a.integer("k", 1)]
    return jnp.take_along_axis(x, places, -1), places.astype(jnp.int32)


@add("searchsorted")
def _(a, rows, values):
    def one(row, value):
        below = row[:, None] < value if a.text("side", "left") == "left" else row[:, None] <= value
        return below.sum(0)
    many = [one(r, v) for r, v in zip(rows.reshape(-1, rows.shape[-1]), values.reshape(-1, values.shape[-1]))]
    return jnp.stack(many).reshape(values.shape).astype(a.dtype("out_type", "int32"))


@add("unique")
def _(a, x):
    seen, places = [], []
    for value in np.asarray(x).tolist():
        if value not in seen:
            seen.append(value)
        places.append(seen.index(value))
    to = a.dtype("out_idx", "int32")
    return jnp.array(seen, x.dtype), jnp.array(places, to), jnp.array([places.count(i) for i in range(len(seen))], to)


@add("bincount")
def _(a, x, weights=None):
    x = x.reshape(-1)
    size = max(int(x.max()) + 1 if x.size else 0, a.integer("minlength", 0))
    if a.integer("maxlength") is not None:
        size = min(size, a.integer("maxlength"))
    one = x[None, :] == jnp.arange(size)[:, None]
    if weights is None:
        return one.sum(1).astype(a.dtype("dtype", "int32"))
    return jnp.where(one, weights.reshape(-1)[None, :], 0).sum(1).astype(weights.dtype)


@add("confusion_matrix")
def _(a, labels, predictions, weights=1):
    n = a.integer("num_classes", None) or int(max(labels.max(), predictions.max())) + 1
    one = jax.nn.one_hot(labels, n) * jnp.reshape(jnp.broadcast_to(weights, labels.shape), (-1, 1))
    return (one.T @ jax.nn.one_hot(predictions, n)).astype(a.dtype("dtype", "int32"))


@add("in_top_k")
def _(a, targets, predictions):
    mine = jnp.take_along_axis(predictions, jnp.clip(targets, 0, predictions.shape[1] - 1)[:, None].astype(int), 1)
    good = (targets >= 0) & (targets < predictions.shape[1]) & jnp.isfinite(mine[:, 0])
    return good & ((predictions > mine).sum(1) < a.integer("k"))


# ---------------------------------------------------------------------------------------------- control
def sum_of_first(f):
    return lambda *x: jnp.sum(f(*x)[0])


def halves(x):
    return x[:len(x) // 2], x[len(x) // 2:]


plain("cond", lambda p, yes, no: yes() if bool(p) else no())
plain("switch_case", lambda i, *f: f[int(i)]() if 0 <= int(i) < len(f) else f[-1]())


@add("while_loop")
def _(a, test, body, *x):
    left = a.integer("maximum_iterations", 10**6)
    while left and bool(test(*x)[0]):
        x, left = body(*x), left - 1
    return list(x)


@add("scan")
def _(a, f, carry, rows):
    results = []
    for i in range(rows.shape[0])[::-1 if a.flag("reverse") else 1]:
        carry = f(carry, rows[i])[0]
        results.append(carry)
    return jnp.stack(results[::-1] if a.flag("reverse") else results)


@add("vmap")
def _(a, f, *x):
    return [jnp.stack(column) for column in zip(*[f(*[part[i] for part in x]) for i in range(x[0].shape[0])])]


def _gradient(f, *x):
    return [jnp.conj(g) for g in jax.grad(sum_of_first(f), argnums=tuple(range(len(x))))(*x)]


plain("grad", _gradient)
plain("jvp", lambda f, *x: jax.jvp(f, *halves(x))[1])
plain("hvp", lambda f, *x: jax.jvp(lambda *y: _gradient(f, *y), *halves(x))[1])
plain("jacobian", lambda f, x: jax.jacrev(lambda y: f(y)[0])(x))
plain("recompute_grad", lambda f, *x: f(*x))
plain("function", lambda f, *x: f(*x))


@add("custom_gradient")
def _(a, f, back, *x):
    # What the functions read from around them must be arguments here: programs do not do that.
    wrapped = jax.custom_vjp(lambda *y: f(*y)[0])
    wrapped.defvjp(lambda *y: (wrapped(*y), y), lambda y, dy: tuple(back(dy, *y)))
    return wrapped(*x)


import agree_functions_arrays  # noqa: E402, F401
