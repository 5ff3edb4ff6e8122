"""Sizes that the data decide, in compiled functions: against NumPy, with first and second gradients, at many sizes.

Every program is compiled once and called with arrays that make its sizes 0, 1 and more. Its Python code must not run
again after the first call of each kind (docs/design/033).
"""
import numpy as np
import pytest

import gradus as tf

F64 = np.float64


def arrays():
    """None, one, some, all elements positive."""
    return [np.array(a, F64) for a in ([-1, -2, -.5, -3, -1, -.25], [-1, -2, .5, -3, -1, -2], [1, -2, .5, -3, 2, 1],
                                       [1, 2, .5, 3, 1, .75], [-1, 1.25, .5, -3, -1, 4])]


def count(x):
    return tf.math.count_nonzero(x > 0)


def npc(x):
    return int(np.count_nonzero(x > 0))


def np_segments(x, ids, n):
    out = np.zeros(n)
    np.add.at(out, ids, x)
    return out


# name: (with tf, with NumPy)
PROGRAMS = {
    "boolean_mask": (lambda x: tf.boolean_mask(x, x > 0), lambda x: x[x > 0]),
    "x[mask]": (lambda x: x[x > 0] * 2, lambda x: x[x > 0] * 2),
    "mask of rows": (lambda x: tf.boolean_mask(tf.reshape(x, [3, 2]), tf.reshape(x, [3, 2])[:, 0] > 0),
                     lambda x: x.reshape(3, 2)[x.reshape(3, 2)[:, 0] > 0]),
    "mask of an axis": (lambda x: tf.boolean_mask(tf.reshape(x, [2, 3]), x[:3] > 0, axis=1),
                        lambda x: x.reshape(2, 3)[:, x[:3] > 0]),
    "mask of two axes": (lambda x: tf.boolean_mask(x[:, None] * x, x[:, None] * x > .3),
                         lambda x: (x[:, None] * x)[x[:, None] * x > .3]),
    "where": (lambda x: tf.cast(tf.where(x > 0), tf.float64) * tf.reduce_sum(x),
              lambda x: np.argwhere(x > 0) * x.sum()),
    "where of a table": (lambda x: tf.where(x[:, None] * x > 1.), lambda x: np.argwhere(x[:, None] * x > 1)),
    "gather by where": (lambda x: tf.gather(x * x, tf.where(x > 0)[:, 0]), lambda x: (x * x)[x > 0]),
    "gather_nd by where": (lambda x: tf.gather_nd(tf.sin(x), tf.where(x > 0)), lambda x: np.sin(x)[x > 0]),
    "sum of chosen": (lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 0) ** 2), lambda x: (x[x > 0] ** 2).sum()),
    "max of chosen and 0": (lambda x: tf.reduce_max(tf.concat([x[x > 0], [0.]], 0)), lambda x: max([0, *x[x > 0]])),
    "two masks": (lambda x: tf.boolean_mask(x, x > 0) * tf.boolean_mask(tf.exp(x), x > 0),
                  lambda x: x[x > 0] * np.exp(x[x > 0])),
    "mask of a mask": (lambda x: (lambda y: y[y > .75])(x[x > 0] ** 2), lambda x: (lambda y: y[y > .75])(x[x > 0] ** 2)),
    "outer of chosen": (lambda x: (lambda y: y[:, None] * y)(x[x > 0]), lambda x: (lambda y: y[:, None] * y)(x[x > 0])),
    "matmul of chosen rows": (lambda x: tf.matmul(tf.boolean_mask(x[:, None] * tf.constant([[1., 2.]], tf.float64), x > 0),
                                                  tf.constant([[1., 3.], [2., 5.]], tf.float64)),
                              lambda x: (x[:, None] * [[1, 2]])[x > 0] @ np.array([[1., 3], [2, 5]])),
    "softmax of chosen": (lambda x: tf.nn.softmax(x[x > 0]),
                          lambda x: (lambda e: e / (e.sum() or 1))(np.exp(x[x > 0]))),
    "cumsum of chosen": (lambda x: tf.cumsum(x[x > 0]), lambda x: np.cumsum(x[x > 0])),
    "sort of chosen": (lambda x: tf.sort(x[x > 0]), lambda x: np.sort(x[x > 0])),
    "reverse of chosen": (lambda x: x[x > 0][::-1], lambda x: x[x > 0][::-1]),
    "chosen and others": (lambda x: tf.concat([x[x > 0], x[x <= 0]], 0), lambda x: np.concatenate([x[x > 0], x[x <= 0]])),
    "stack of two": (lambda x: tf.stack([x[x > 0], tf.sin(x[x > 0])]), lambda x: np.stack([x[x > 0], np.sin(x[x > 0])])),
    "pad of chosen": (lambda x: tf.pad(x[x > 0], [[1, 2]]), lambda x: np.pad(x[x > 0], [[1, 2]])),
    "tile of chosen": (lambda x: tf.tile(x[x > 0], [3]), lambda x: np.tile(x[x > 0], 3)),
    "scatter back": (lambda x: tf.scatter_nd(tf.where(x > 0), x[x > 0] ** 2, [6]), lambda x: np.where(x > 0, x ** 2, 0)),
    "tensor_scatter": (lambda x: tf.tensor_scatter_nd_update(x, tf.where(x > 0), tf.zeros_like(x[x > 0])),
                       lambda x: np.where(x > 0, 0, x)),
    "mean by size": (lambda x: tf.reduce_sum(x[x > 0]) / tf.cast(tf.maximum(tf.shape(x[x > 0])[0], 1), tf.float64),
                     lambda x: x[x > 0].sum() / max(npc(x), 1)),
    "size": (lambda x: tf.size(x[x > 0]), npc),
    "unique": (lambda x: tf.unique(tf.floor(x))[0] * tf.reduce_sum(x),
               lambda x: np.array(list(dict.fromkeys(np.floor(x)))) * x.sum()),
    "unique idx": (lambda x: tf.unique(tf.floor(x))[1],
                   lambda x: [list(dict.fromkeys(np.floor(x))).index(v) for v in np.floor(x)]),
    "unique counts": (lambda x: tf.unique_with_counts(tf.floor(x))[2],
                      lambda x: [list(np.floor(x)).count(v) for v in dict.fromkeys(np.floor(x))]),
    "sums by unique": (lambda x: (lambda u: tf.math.unsorted_segment_sum(x * x, u[1], tf.size(u[0])))(tf.unique(tf.floor(x))),
                       lambda x: [(x[np.floor(x) == v] ** 2).sum() for v in dict.fromkeys(np.floor(x))]),
    "range": (lambda x: tf.cast(tf.range(count(x)), tf.float64) * tf.reduce_sum(x), lambda x: np.arange(npc(x)) * x.sum()),
    "range from, by": (lambda x: tf.range(2, 2 + 3 * count(x), 2), lambda x: np.arange(2, 2 + 3 * npc(x), 2)),
    "range down": (lambda x: tf.range(count(x), 0, -1), lambda x: np.arange(npc(x), 0, -1)),
    "range of reals": (lambda x: tf.range(0., tf.cast(count(x), tf.float32), .5), lambda x: np.arange(0, npc(x), .5)),
    "zeros": (lambda x: tf.zeros([count(x), 2]), lambda x: np.zeros([npc(x), 2])),
    "ones": (lambda x: tf.ones([count(x)], tf.float64) * tf.reduce_sum(x * x), lambda x: np.ones(npc(x)) * (x * x).sum()),
    "fill": (lambda x: tf.fill([2, count(x)], tf.reduce_sum(x)), lambda x: np.full([2, npc(x)], x.sum())),
    "eye": (lambda x: tf.eye(count(x)), lambda x: np.eye(npc(x))),
    "linspace": (lambda x: tf.linspace(tf.reduce_sum(x), 1., count(x)), lambda x: np.linspace(x.sum(), 1, npc(x))),
    "one_hot": (lambda x: tf.one_hot([0, 2, 1], tf.cast(count(x), tf.int32)), lambda x: np.eye(9)[[0, 2, 1]][:, :npc(x)]),
    "sequence_mask": (lambda x: tf.sequence_mask(tf.stack([count(x), 1, 0])),
                      lambda x: np.arange(max(npc(x), 1)) < np.array([[npc(x)], [1], [0]])),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [count(x), 6]), lambda x: np.broadcast_to(x, [npc(x), 6])),
    "reshape": (lambda x: tf.reshape(x[x > 0], [count(x), 1]), lambda x: x[x > 0].reshape(-1, 1)),
    "reshape by stack": (lambda x: tf.reshape(tf.tile(x, [2]), tf.stack([-1, tf.maximum(count(x) // 3, 1)])),
                         lambda x: np.tile(x, 2).reshape(-1, max(npc(x) // 3, 1))),
    "tile": (lambda x: tf.tile(x, [count(x)]), lambda x: np.tile(x, npc(x))),
    "repeat": (lambda x: tf.repeat(x, count(x)), lambda x: np.repeat(x, npc(x))),
    "repeat by tensor": (lambda x: tf.repeat(x, tf.cast(tf.maximum(x, 0.), tf.int32)),
                         lambda x: np.repeat(x, np.maximum(x, 0).astype(int))),
    "pad": (lambda x: tf.pad(x, [[count(x), 1]]), lambda x: np.pad(x, [[npc(x), 1]])),
    "pad by tensor": (lambda x: tf.pad(x, tf.reshape(tf.stack([1, count(x)]), [1, 2])), lambda x: np.pad(x, [[1, npc(x)]])),
    "x[:n]": (lambda x: x[:count(x)] ** 2, lambda x: x[:npc(x)] ** 2),
    "x[n:]": (lambda x: x[count(x):] ** 2, lambda x: x[npc(x):] ** 2),
    "x[-n:]": (lambda x: x[-count(x):], lambda x: x[-npc(x):]),
    "x[1:n:2]": (lambda x: x[1:count(x):2], lambda x: x[1:npc(x):2]),
    "x[n::-1]": (lambda x: x[count(x)::-1], lambda x: x[npc(x)::-1]),
    "x[::n + 1]": (lambda x: x[::count(x) + 1], lambda x: x[::npc(x) + 1]),
    "y[:, :n]": (lambda x: tf.reshape(x, [2, 3])[:, :count(x)], lambda x: x.reshape(2, 3)[:, :npc(x)]),
    "y[0, n:]": (lambda x: tf.reshape(x, [2, 3])[0, count(x):], lambda x: x.reshape(2, 3)[0, npc(x):]),
    "y[..., n:, None]": (lambda x: tf.reshape(x, [2, 3])[..., count(x):, None], lambda x: x.reshape(2, 3)[..., npc(x):, None]),
    "slice": (lambda x: tf.slice(x, [0], [count(x)]), lambda x: x[:npc(x)]),
    "slice from n": (lambda x: tf.slice(x, [count(x)], [-1]), lambda x: x[npc(x):]),
    "slice by tensors": (lambda x: tf.slice(x, tf.stack([count(x) // 2]), tf.stack([count(x) // 3])),
                         lambda x: x[npc(x) // 2:npc(x) // 2 + npc(x) // 3]),
    "strided_slice": (lambda x: tf.strided_slice(x, [0], [count(x)], [2]), lambda x: x[:npc(x):2]),
    "split": (lambda x: tf.split(x, tf.stack([count(x), 6 - count(x)]))[1] ** 2, lambda x: x[npc(x):] ** 2),
    "split by list": (lambda x: tf.split(x, [count(x), -1])[0] ** 2, lambda x: x[:npc(x)] ** 2),
    "top_k": (lambda x: tf.math.top_k(x, tf.cast(count(x), tf.int32))[0], lambda x: np.sort(x)[::-1][:npc(x)]),
    "segment_sum": (lambda x: tf.math.segment_sum(x, tf.cumsum(tf.cast(x > 0, tf.int32))),
                    lambda x: np_segments(x, np.cumsum(x > 0), npc(x) + 1)),
    "unsorted_segment_sum": (lambda x: tf.math.unsorted_segment_sum(x, tf.cast(x > 0, tf.int32), count(x) + 2),
                             lambda x: np_segments(x, (x > 0).astype(int), npc(x) + 2)),
    "bincount": (lambda x: tf.math.bincount(tf.cast(tf.maximum(x, 0.), tf.int32)),
                 lambda x: np.bincount(np.maximum(x, 0).astype(int))),
    "scatter_nd": (lambda x: tf.scatter_nd(tf.constant([[0], [1]]), x[:2], tf.stack([count(x) + 2])),
                   lambda x: np.concatenate([x[:2], np.zeros(npc(x))])),
    "dynamic_partition": (lambda x: tf.concat(tf.dynamic_partition(x * x, tf.cast(x > 0, tf.int32), 2)[::-1], 0),
                          lambda x: np.concatenate([x[x > 0] ** 2, x[x <= 0] ** 2])),
    "stitch of partition": (lambda x: tf.dynamic_stitch(tf.dynamic_partition(tf.range(6), tf.cast(x > 0, tf.int32), 2),
                                                        [y * 2 for y in tf.dynamic_partition(x, tf.cast(x > 0, tf.int32), 2)]),
                            lambda x: 2 * x),
    "random": (lambda x: tf.shape(tf.random.normal([count(x), 2])), lambda x: [npc(x), 2]),
    "random uniform": (lambda x: tf.size(tf.random.uniform([count(x)])), npc),
    "top p": (lambda x: (lambda s: s[:tf.reduce_sum(tf.cast(tf.cumsum(s) < .9, tf.int32)) + 1])(
        tf.sort(tf.nn.softmax(x), direction="DESCENDING")),
              lambda x: (lambda s: s[:int((np.cumsum(s) < .9).sum()) + 1])(np.sort(np.exp(x) / np.exp(x).sum())[::-1])),
    "while over n": (lambda x: tf.while_loop(lambda i, s: i < count(x), lambda i, s: (i + 1, s * 1.5 + x),
                                             (tf.constant(0, tf.int64), x))[1],
                     lambda x: (lambda s: [s := s * 1.5 + x for _ in range(npc(x))][-1] if npc(x) else s)(x)),
    "sum of chosen in a loop": (lambda x: tf.while_loop(
        lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.reduce_sum(tf.boolean_mask(x, x > tf.cast(i, tf.float64)) ** 2)),
        (0, tf.constant(0., tf.float64)))[1], lambda x: sum((x[x > i] ** 2).sum() for i in range(3))),
    "chosen in a branch": (lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.reduce_sum(x[x > 0] ** 2), lambda: x[0] * 3),
                           lambda x: (x[x > 0] ** 2).sum() if x.sum() > 0 else x[0] * 3),
    "found outside, used in a branch": (lambda x: (lambda y: tf.cond(tf.reduce_sum(x) > 0, lambda: y * 2, lambda: y ** 2))(x[x > 0]),
                                        lambda x: x[x > 0] * 2 if x.sum() > 0 else x[x > 0] ** 2),
    "found outside, used in a loop": (lambda x: (lambda y: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * y + 1),
                                                                         (0, y))[1])(x[x > 0]),
                                      lambda x: (lambda y: ((y * y + 1) * y + 1) * y + 1)(x[x > 0])),
    "map over chosen": (lambda x: tf.map_fn(lambda v: v * v, x[x > 0]), lambda x: x[x > 0] ** 2),
    "vectorized_map over chosen": (lambda x: tf.vectorized_map(lambda v: v * v, x[x > 0]), lambda x: x[x > 0] ** 2),
    "scan over chosen": (lambda x: tf.scan(lambda c, v: c + v, x[x > 0], tf.constant(0., tf.float64)),
                         lambda x: np.cumsum(x[x > 0])),
    "norm of chosen": (lambda x: tf.norm(tf.concat([x[x > 0], [1.]], 0)), lambda x: np.sqrt((x[x > 0] ** 2).sum() + 1)),
    "einsum of chosen": (lambda x: tf.einsum("i,j->ij", x[x > 0], x), lambda x: np.outer(x[x > 0], x)),
    "distances": (lambda x: (lambda y: tf.reduce_sum((y[:, None] - y) ** 2, axis=1))(x[x > 0]),
                  lambda x: ((x[x > 0][:, None] - x[x > 0]) ** 2).sum(1)),
}
WHOLE = {"where of a table", "size", "unique idx", "unique counts", "range from, by", "range down", "range of reals", "zeros",
         "eye", "one_hot", "sequence_mask", "bincount", "random", "random uniform"}  # no derivative to speak of


# Where differences of the test arrays do not tell: equal elements, or sizes that change with them.
JUMPS = {"top p", "repeat by tensor", "sum of chosen in a loop"}


def loss(f):
    return lambda x: tf.reduce_sum(f(x) * tf.constant(1.5, tf.float64))


def gradient(f):
    def g(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        dx = tape.gradient(y, x)
        return tf.zeros_like(x) if dx is None else tf.convert_to_tensor(dx)
    return g


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_numpy(name):
    f, reference = PROGRAMS[name]
    runs = []

    @tf.function
    def compiled(x):
        runs.append(1)
        return f(x)
    for a in arrays() * 2:
        got, want = compiled(tf.constant(a)).numpy(), np.asarray(reference(a))
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    assert len(runs) <= 2, compiled.explain()


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in WHOLE])
@pytest.mark.parametrize("order", [1, 2])
def test_gradients(name, order):
    f, reference = PROGRAMS[name]
    g = gradient(loss(f))
    if order == 2:
        g = gradient(lambda x, g=g: tf.reduce_sum(g(x) * tf.constant([1., 2., 3., 4., 5., 6.], tf.float64)))
    runs = []

    @tf.function
    def compiled(x):
        runs.append(1)
        return g(x)
    def numeric(a):  # of order 1, by differences; sizes do not change with them
        return [(np.sum(reference(a + d)) - np.sum(reference(a - d))) * 1.5 / 2e-6 for d in np.eye(6) * 1e-6]
    for a in arrays():
        got = compiled(tf.constant(a)).numpy()
        np.testing.assert_allclose(got, g(tf.constant(a)).numpy(), rtol=1e-9, atol=1e-9)
        if order == 1 and "unique" not in name and name not in JUMPS:
            np.testing.assert_allclose(got, numeric(a), rtol=1e-5, atol=1e-5)
    assert len(runs) <= 2, compiled.explain()


# ------------------------------------------------------------------------------- sizes as Python sees them
def called(f, sizes=(5, 6, 7, 1, 0, 2, 7, 12), **options):
    """(got, wanted) of each size: of the compiled function, and of the same function run as plain Python."""
    compiled = tf.function(f, **options)
    for n in sizes:
        x = tf.constant(np.arange(1, n + 1), tf.float64)
        yield compiled(x), f(x)


SHAPES = {
    "==": lambda x: x * 2 if x.shape[0] == 7 else x * 3,
    "!=": lambda x: x * 2 if x.shape[0] != 1 else x * 3,
    ">": lambda x: x * 2 if x.shape[0] > 5 else x * 3,
    "truth": lambda x: x * 2 if x.shape[0] else x * 3,
    "or": lambda x: x * float(x.shape[0] or 1),
    "in": lambda x: x * 2 if x.shape[0] in (1, 7) else x * 3,
    "key": lambda x: x * {6: 2., 7: 3.}.get(x.shape[0], 4.),
    "slice": lambda x: tf.concat([x, x], 0)[:x.shape[0]],
    "slice from": lambda x: x[x.shape[0] // 2:],
    "shape": lambda x: x * 2 if x.shape == (7,) else x * 3,
    "list": lambda x: x * 2 if x.shape.as_list() == [7] else x * 3,
    "text": lambda x: x * len(str(x.shape)),
    "format": lambda x: x * len(f"{x.shape[0]:d}"),
    "range": lambda x: tf.range(0, x.shape[0]),
    "python range": lambda x: x * float(sum(i for i in range(x.shape[0]))),
    "eye": lambda x: tf.eye(2, x.shape[0]),
    "sequence_mask": lambda x: tf.sequence_mask([2, 3], x.shape[0]),
    "zeros": lambda x: tf.zeros([x.shape[0], 2]),
    "reshape": lambda x: tf.reshape(x, [x.shape[0], 1]),
    "arithmetic": lambda x: tf.ones([(x.shape[0] * 2 + 1) // 2, 2 - 1]),
    "mean": lambda x: tf.reduce_sum(x) / (x.shape[0] + 1),
    "square root": lambda x: x / (x.shape[0] ** .5 + 1),
    "true division": lambda x: x * (x.shape[0] / 4),
    "remainder": lambda x: x * float(x.shape[0] % 3),
    "negative": lambda x: x * float(-x.shape[0]),
    "tensor": lambda x: x * tf.cast(x.shape[0], tf.float64),
    "stack": lambda x: tf.stack([x.shape[0], 3]),
    "num_elements": lambda x: x * 2 if x.shape.num_elements() == 7 else x * 3,
    "is_fully_defined": lambda x: x * 2 if x.shape.is_fully_defined() else x * 3,
    "compatible": lambda x: x * 2 if x.shape.is_compatible_with([7]) else x * 3,
    "len": lambda x: x * float(len(x)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_sizes_are_what_python_sees(name):
    for got, want in called(SHAPES[name]):
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("name", ["zeros", "reshape", "arithmetic", "slice from", "eye", "tensor", "stack"])
def test_sizes_given_on_are_one_program(name):
    f = tf.function(SHAPES[name])
    for n in range(4, 30):
        f(tf.zeros([n], tf.float64))
    assert f.experimental_get_tracing_count() <= 3, f.explain()


def test_a_signature_that_says_none_is_none():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x):
        seen.append(x.shape.as_list())
        return x
    for n in (2, 3):
        f(tf.zeros([n, 3]))
    assert seen == [[None, 3]]


# ------------------------------------------------------------------------------- other ways to run a program
CHOSEN = ["boolean_mask", "mask of a mask", "unique", "x[:n]", "range", "matmul of chosen rows", "found outside, used in a loop",
          "sum of chosen in a loop", "repeat by tensor", "dynamic_partition"]


@pytest.mark.parametrize("name", CHOSEN)
def test_saved_and_loaded(name, tmp_path):
    f, reference = PROGRAMS[name]
    module = tf.Module()
    spec = [tf.TensorSpec([6], tf.float64)]
    module.f = tf.function(f, input_signature=spec)
    module.g = tf.function(gradient(loss(f)), input_signature=spec)
    tf.saved_model.save(module, str(tmp_path / "m"))
    again = tf.saved_model.load(str(tmp_path / "m"))
    for a in arrays():
        np.testing.assert_allclose(again.f(tf.constant(a)), reference(a), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(again.g(tf.constant(a)), gradient(loss(f))(tf.constant(a)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_tape_or_an_accumulator_around(name):
    f, _ = PROGRAMS[name]
    compiled = tf.function(f)
    for a in arrays():
        x = tf.constant(a)
        np.testing.assert_allclose(gradient(loss(compiled))(x), gradient(loss(f))(x), rtol=1e-9, atol=1e-9)
        tangents = []
        for g in (compiled, f):
            with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
                y = g(x)
            t = acc.jvp(y)
            tangents.append(np.zeros(y.shape) if t is None else t.numpy())
        np.testing.assert_allclose(tangents[0], tangents[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CHOSEN)
def test_sessions(name):
    f, reference = PROGRAMS[name]
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float64, [6])
        y = f(x)
        with tf.compat.v1.Session() as session:
            for a in arrays():
                np.testing.assert_allclose(session.run(y, {x: a}), reference(a), rtol=1e-12, atol=1e-12)


def test_arguments_of_many_sizes_and_found_sizes():
    f = tf.function(lambda x: tf.reduce_sum(x[x > 0][:3]) + tf.cast(tf.size(x[x > 1]), tf.float64))
    rng = np.random.default_rng(1)
    for n in [5, 6, 1, 0, 2, 3, 9, 40, 7]:
        for _ in range(4):
            a = rng.normal(size=n) * 2
            np.testing.assert_allclose(f(tf.constant(a)), a[a > 0][:3].sum() + (a > 1).sum(), rtol=1e-12)


def test_training_on_selected_rows():
    w = tf.Variable([[1.0], [2.0]])

    @tf.function
    def step(x, keep):
        with tf.GradientTape() as tape:
            rows = tf.boolean_mask(x, keep)
            loss = tf.reduce_sum((tf.matmul(rows, w) - 1.0) ** 2)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss
    rng, wanted = np.random.default_rng(2), np.array([[1.0], [2.0]])
    for n in (4, 7, 1, 0, 9):
        x = rng.normal(size=(n, 2)).astype(np.float32)
        keep = rng.random(n) < .5
        error = x[keep] @ wanted - 1
        np.testing.assert_allclose(step(x, keep), (error ** 2).sum(), rtol=1e-4, atol=1e-5)
        wanted = wanted - .02 * x[keep].T @ error
        np.testing.assert_allclose(w, wanted, rtol=1e-4, atol=1e-5)


def test_what_cannot_be_says_so():
    x = tf.constant([[1.0, -2.0], [3.0, 4.0]])
    with pytest.raises(tf.errors.UnimplementedError, match="example"):
        tf.vectorized_map(lambda r: tf.boolean_mask(r, r > 0), x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not negative"):
        tf.function(lambda n: tf.zeros([n]))(tf.constant(-2))
    np.testing.assert_array_equal(tf.function(lambda x, n: tf.roll(x, n, 1))(x, tf.constant(-1)), [[-2, 1], [4, 3]])


def test_constants_cut_at_sizes():
    """Made of constants only, but by a size that changes: a part of the program, checked at each call."""
    numbers = tf.range(5)
    f = tf.function(lambda x: tf.slice(numbers, [x.shape[0]], [1]))
    g = tf.function(lambda x: tf.slice(numbers, [tf.shape(x)[0] - 3], [2]))
    for n in (3, 4, 2, 1, 0):
        assert f(tf.zeros([n, 0])).numpy().tolist() == [n]
    for h, n in ((f, 5), (f, 6), (f, 10**6), (g, 1), (g, 2), (g, 7)):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            h(tf.zeros([n, 0]))
    assert tf.function(lambda x: tf.slice(numbers, [tf.size(x[x > 0])], [1]))(tf.constant([1., -2, 3, 4])).numpy() == [3]


def test_as_many_parts_as_rows():
    f = tf.function(lambda x: tf.split(x, x.shape[0]))
    for n in (3, 4, 5, 1):
        assert [t.numpy().tolist() for t in f(tf.ones([n]))] == [[1.0]] * n


def test_found_sizes_of_one_broadcast():
    def positive(x):
        return tf.boolean_mask(x, x > 0)
    programs = {"two": lambda x: positive(x) + positive(-x), "known": lambda x: positive(x) * tf.constant([1., 2., 3.]),
                "where": lambda x: tf.where(x[:3] > 0, positive(x), x[:3])}
    for name, f in programs.items():
        compiled = tf.function(f)
        for a in ([1., -2, 3, 4], [1., 2, 3, -1], [1., -1, -1, -1], [-1., 2, 3, 4], [1., 2, -3, -4], [1., -2, 3, 4]):
            x = tf.constant(a)
            try:
                want = f(x)
            except (tf.errors.InvalidArgumentError, ValueError):
                with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                    compiled(x)
                continue
            np.testing.assert_allclose(compiled(x), want, err_msg=name)
            np.testing.assert_allclose(tf.function(gradient(f))(x), gradient(f)(x), err_msg=name)


def test_rules_of_the_users_around_found_sizes():
    x = tf.constant([1., -2, 3, 4])

    @tf.custom_gradient
    def sum_of_chosen(a):
        return tf.reduce_sum(a[a > 0]), lambda d: d * a
    recomputed = tf.recompute_grad(lambda a: tf.reduce_sum(a[a > 0] ** 2))
    for f, value, slope in ((sum_of_chosen, 8, [1, -2, 3, 4]), (recomputed, 26, [2, 0, 6, 8])):
        assert float(tf.function(lambda x: f(x))(x)) == value
        np.testing.assert_allclose(tf.function(gradient(f))(x), slope)


def test_bounds_that_are_variables():
    x, v = tf.range(6), tf.Variable(2)
    for f in (lambda: x[:v], lambda: x[v:], lambda: x[v], lambda: x[::v], lambda: x[-v:]):
        for n in (2, 3, 1):
            v.assign(n)
            np.testing.assert_array_equal(tf.function(f)(), f())


def test_einsum_of_found_sizes():
    for a in arrays():
        got = tf.function(lambda x: tf.einsum("i,i->", x[x > 0], tf.exp(x)[x > 0]))(tf.constant(a))
        np.testing.assert_allclose(got, (a * np.exp(a))[a > 0].sum(), rtol=1e-12)


def test_sizes_of_examples_say_so():
    rows, by = tf.ones([2, 3]), tf.constant([[[1, 0]], [[0, 2]]])
    with pytest.raises(tf.errors.UnimplementedError, match="example"):
        tf.vectorized_map(lambda a: tf.pad(a[0], a[1]), (rows, by))


def test_groups_and_segments_are_checked():
    x = tf.constant([1., 2, 3])
    for groups in ([0, 1, 2], [0, -1, 1]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(lambda g: tf.dynamic_partition(x, g, 2)[0])(tf.constant(groups))
    for ids in ([0, 2, 1], [-1, 0, 1], [1, 0, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(lambda i: tf.math.segment_sum(x, i))(tf.constant(ids))
    assert tf.function(lambda i: tf.math.segment_sum(x, i))(tf.constant([1, 1, 3])).numpy().tolist() == [0, 3, 0, 3]
