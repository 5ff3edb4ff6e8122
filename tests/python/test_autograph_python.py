"""Functions of all sorts give, traced, what they give as plain Python."""
import collections
import contextlib
import dataclasses
import typing

import pytest

import gradus as tf

CASES = []


def same(function, *calls):
    CASES.extend((function, call) for call in calls)


def plain(value):
    return tf.nest.map_structure(lambda t: t.numpy().tolist() if hasattr(t, "numpy") else t, value)


def with_class(x):
    class Inner:
        k = 3.0
        def m(self, y):
            if y > 0:
                return y * self.k
            return -y
    return Inner().m(x)


same(with_class, (1.0,), (-1.0,))


def with_del(x):
    t = x * 2
    if x > 0:
        y = t
        del t
    else:
        y = -t
        del t
    try:
        t
        return y * 100
    except NameError:
        return y


same(with_del, (1.0,), (-1.0,))


def with_try(x):
    out = []
    for i in range(4):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            if i == 2:
                raise ValueError("v")
            out.append(x)
        except ValueError:
            out.append(x * 10)
        else:
            out.append(x * 100)
        finally:
            out.append(x + i)
    return tf.stack(out)


same(with_try, (1.0,))


def with_try_return(x):
    try:
        try:
            if x > 0:
                return x
            return x * 2
        finally:
            x = x + 100
    except KeyError:
        return x


same(with_try_return, (1.0,), (-1.0,))


def with_swallow(x):
    with contextlib.suppress(KeyError):
        if x > 0:
            y = x
        else:
            y = x * 2
        raise KeyError
    return y


same(with_swallow, (1.0,), (-1.0,))


def with_lambda_loop(x):
    fs = []
    for k in [1.0, 2.0, 3.0]:
        fs.append(lambda v, k=k: v * k if v > 0 else v - k)
    return tf.stack([f(x) for f in fs])


same(with_lambda_loop, (1.0,), (-1.0,))


def with_closure_late(x):
    y = x
    def g():
        return y * 2
    if x > 0:
        y = x + 10
    return g()


same(with_closure_late, (1.0,), (-1.0,))


def with_captured_temp(x):
    if x > 0:
        t = x * 2
        y = tf.cond(t > 5, lambda: t, lambda: -t)
    else:
        y = x
    return y


same(with_captured_temp, (1.0,), (-1.0,), (4.0,))


def with_walrus_while(x):
    n = 0
    while (y := x - n) > 0:
        n += 1
    return y, n


same(with_walrus_while, (3,), (-1,))


def with_unpack(x):
    a, *b, c = x, x + 1, x + 2, x + 3
    if x > 0:
        a, (b, c) = c, (a, b[0])
    else:
        b, c = b[0], a
    return a, b, c


same(with_unpack, (1.0,), (-1.0,))


def with_ann(x:
    tf.Tensor, k: typing.Optional[float] = None) -> tf.Tensor:
    """doc"""
    y: float
    z: tf.Tensor = x
    if x > 0:
        y: tf.Tensor = x * 2
    else:
        y = x
    return y + z


same(with_ann, (1.0,), (-1.0,))
@dataclasses.dataclass
class D:
    a: object
    b: object = None


def with_dataclass(x):
    d = D(x)
    if x > 0:
        d.b = d.a * 2
    else:
        d.b = d.a
    return d.b


same(with_dataclass, (1.0,), (-1.0,))


class P:
    def __init__(self, v):
        self._v = v
    @property
    def v(self):
        return self._v * 2
    @v.setter
    def v(self, value):
        self._v = value
    def __enter__(self):
        return self
    def __exit__(self, *a):
        return False
    def __getitem__(self, i):
        return self._v + i
    def __len__(self):
        return 3
    def __iter__(self):
        for i in range(3):
            yield self[i]


def with_property(x):
    p = P(x)
    with p as q:
        q.v = x * 5
    s = 0.0
    for item in p:
        if item > 2:
            s += item
    return p.v, s, len(p)


same(with_property, (1.0,), (-1.0,))


def with_nested_def(x):
    def fact(n, acc):
        if n <= 1:
            return acc
        return fact(n - 1, acc * n)
    return fact(5, x)


same(with_nested_def, (1.0,))


def with_gen(x):
    def g(n):
        for i in range(n):
            yield x * i
    return sum(g(4))


same(with_gen, (1.0,))


def with_comp(x):
    values = tf.stack([v if v > 0 else -v for v in [x, x - 1, x - 2] if v is not None])
    return values, {k: (x if x > 0 else -x) for k in "ab"}


same(with_comp, (1.0,), (-1.0,))


def with_bool(x, flag):
    y = flag and x > 0
    z = not flag or x < 0
    return (1 if y else 0) + (10 if z else 0)


same(with_bool, (1.0, True), (1.0, False), (-1.0, True))


def with_nt(x):
    P2 = collections.namedtuple("P2", "a b")
    p = P2(x, x)
    if x > 0:
        p = p._replace(a=x * 3)
    return p.a + p.b


same(with_nt, (1.0,), (-1.0,))


def with_dict_loop(n):
    d = {"s": 0, "p": 1}
    for i in tf.range(1, n):
        d["s"] += i
        d = {"s": d["s"], "p": d["p"] * 2}
    return d


same(with_dict_loop, (5,))


def with_none_loop(n):
    best = None
    for i in tf.range(n):
        if best is None:
            best = i
        else:
            best = tf.maximum(best, i)
    return best


same(with_none_loop, (5,))


def with_fstring(x):
    s = f"{'a' if True else 'b'}{1 + 1}"
    return x * len(s)


same(with_fstring, (1.0,))


def with_while_else_ret(x):
    while x > 0:
        x = x - 1
        if x < -5:
            return x
    else:
        return x * 100
    return x


same(with_while_else_ret, (2.5,), (-1.0,))


def with_inner_function(x):
    @tf.function
    def inner(y):
        if y > 0:
            return y * 2
        return y
    return inner(x) + inner(-x)


same(with_inner_function, (1.0,), (-1.0,))


def with_kwonly(x, *, k=2.0, **rest):
    return x * k if x > 0 else x


same(with_kwonly, (1.0,), (-1.0,))


def with_assert(x):
    assert x > 0
    assert isinstance(x, tf.Tensor), "type"
    return x


same(with_assert, (1.0,))


def with_tape(x):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x
        for i in tf.range(3):
            if i > 0:
                y = y * x
            else:
                y = y + 1.0
    return t.gradient(y, x)


same(with_tape, (2.0,))


def with_map(xs):
    return (tf.map_fn(lambda v: v if v > 0 else -v, xs), tf.foldl(lambda a, v: a + v if v > 0 else a - v, xs),
            tf.scan(lambda a, v: a + v if v > 0 else a, xs))


same(with_map, ([1.0, -2.0, 3.0],))


def with_vectorized(x):
    g = tf.custom_gradient(lambda v: (v * 2 if v > 0 else v, lambda dy: dy * 5))
    with tf.GradientTape() as t:
        t.watch(x)
        y = g(x)
    return y, t.gradient(y, x)


same(with_vectorized, (1.0,), (-1.0,))


def with_zip(a, b):
    s = 0.0
    for i, (x, y) in enumerate(zip(a, b)):
        if x > y:
            s += tf.cast(i, tf.float32)
        else:
            s -= 1.0
    return s


same(with_zip, ([1.0, 5.0, 2.0], [2.0, 3.0, 1.0]))


def with_random(x):
    if x > 0:
        y = tf.random.stateless_uniform([2], [1, 2])
    else:
        y = tf.zeros([2])
    return y


same(with_random, (1.0,), (-1.0,))


def with_shadow(x):
    range = lambda n: [10, 20]
    s = x
    for i in range(3):
        s = s + i
    return s


same(with_shadow, (1.0,))


def with_multi(x):
    a = b = x
    a += 1
    if x > 0:
        a = b = x * 2
    return a, b


same(with_multi, (1.0,), (-1.0,))


def with_intloop(x):
    n = 3
    while n:
        n -= 1
        x = x * 2 if x < 10 else x
    return x


same(with_intloop, (2.0,))


def with_raise(x, flag):
    if flag == "bad":
        raise ValueError(f"bad {flag}")
    return x


same(with_raise, (1.0, "bad"), (1.0, "ok"))


def with_exc_in_loop(x):
    for i in range(3):
        try:
            if i == 1:
                raise IndexError
            x = x + 1
        except IndexError:
            x = x * 2
    return x


same(with_exc_in_loop, (1.0,))


def with_slice(x):
    i = 0
    total = 0.0
    while i < 3:
        total += x[i] * x[-1]
        i += 1
    return total


same(with_slice, ([1.0, 2.0, 3.0],))


def with_2d(x):
    s = 0.0
    for i in tf.range(2):
        for j in tf.range(3):
            s += x[i, j] * tf.cast(i - j, tf.float32)
    return s, x[:, 1], x[..., -1]


same(with_2d, ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],))


@pytest.mark.parametrize("function, call", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_as_plain_python(function, call):
    arguments = [tf.constant(v) if isinstance(v, (int, float, list)) and not isinstance(v, bool) else v for v in call]
    try:
        want = plain(function(*arguments))
    except ValueError as e:
        with pytest.raises(ValueError, match=str(e)):
            tf.function(function)(*arguments)
        return
    assert plain(tf.function(function)(*arguments)) == want
