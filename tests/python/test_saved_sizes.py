"""Functions of sizes that are not said: saved and loaded they give what they give eagerly, at every size."""
import gradus as tf
import numpy as np
import pytest


def some(*shape):
    return tf.constant(np.random.RandomState(sum(shape)).uniform(-1, 1, shape))


def gradient_of(f):
    def g(*x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(*x)
        return [tf.convert_to_tensor(d) for d in tape.gradient(y, list(x))]
    return g


def loaded(f, folder, *shapes):
    module = tf.Module()
    module.f = tf.function(f, input_signature=[tf.TensorSpec(shape, tf.float64) for shape in shapes])
    tf.saved_model.save(module, str(folder / "saved"))
    return tf.saved_model.load(str(folder / "saved"))


def expect_same(got, want):
    got, want = tf.nest.flatten(got), tf.nest.flatten(want)
    assert [t.shape for t in got] == [t.shape for t in want]
    for x, y in zip(got, want):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)


def check(f, folder, shapes, calls):
    for g in (f, gradient_of(f)):
        again = loaded(g, folder, *shapes).f
        for given in calls:
            x = [some(*shape) for shape in given]
            expect_same(again(*x), g(*x))


# ---------------------------------------------------------------------------------------------- maps
def counted(a):
    return tf.while_loop(lambda i, b: i < 3, lambda i, b: (i + 1, tf.sin(b * a)), (0, a))[1]


def until(a):
    return tf.while_loop(lambda b: tf.reduce_sum(b) < 10.0, lambda b: (b * 1.5 + a * a + 1.0,), (tf.abs(a),))[0]


def nested(a):
    inner = lambda b: tf.while_loop(lambda i, c: i < 2, lambda i, c: (i + 1, tf.sin(c * b + a[0])), (0, b))[1]
    return tf.vectorized_map(inner, a)


def scanned(a):
    return tf.scan(lambda c, r: tf.tanh(c + r), a)


def each_convolved(a):  # another filter for each example
    return tf.nn.conv2d(tf.ones([1, 4, 4, 1], tf.float64), tf.reshape(tf.concat([a, a[:1]], 0), [2, 2, 1, 1]) ** 2, 1, "SAME")


def each_padded(a):  # another constant for each example
    return tf.pad(a * a, [[1, 1]], constant_values=a[0])


@pytest.mark.parametrize("example", [counted, until, nested, scanned, each_convolved, each_padded])
def test_maps_over_a_batch_of_unknown_size(example, tmp_path):
    check(lambda x: tf.vectorized_map(example, x), tmp_path, [[None, 3]], [[(n, 3)] for n in (4, 5, 1, 0)])


def test_a_map_of_a_branch_over_a_batch_of_unknown_size(tmp_path):
    module = tf.Module()
    module.flag = tf.Variable(1.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)])
    def f(x):
        return tf.vectorized_map(lambda a: tf.cond(module.flag > 0, lambda: tf.sin(a), lambda: a * 2.0), x)

    module.f = f
    tf.saved_model.save(module, str(tmp_path / "saved"))
    again = tf.saved_model.load(str(tmp_path / "saved"))
    for n in (4, 1, 0):
        x = some(n, 3)
        again.flag.assign(1.0)
        expect_same(again.f(x), tf.sin(x))
        again.flag.assign(-1.0)
        expect_same(again.f(x), x * 2.0)


def test_a_map_over_nothing_gives_nothing_and_its_gradients_are_zero():
    x, image = tf.zeros([0, 3], tf.float64), some(1, 4, 4, 1)
    with tf.GradientTape() as tape:
        tape.watch([x, image])
        y = tf.vectorized_map(lambda a: tf.nn.conv2d(image, tf.reshape(a, [3, 1, 1, 1]), 1, "VALID"), x)
    assert y.shape == (0, 1, 2, 4, 1)
    dx, dimage = tape.gradient(y, [x, image])
    assert dx.shape == (0, 3)
    expect_same(dimage, tf.zeros_like(image))


# ---------------------------------------------------------------------------------------------- several unknown sizes
TWO = {
    "products": lambda a, b: tf.matmul(a, b, transpose_b=True),
    "joined": lambda a, b: tf.concat([a, b * 2.0], 0),
    "sums": lambda a, b: tf.reduce_sum(a * a) * tf.reduce_sum(b),
    "attention": lambda a, b: tf.matmul(tf.nn.softmax(tf.matmul(a, b, transpose_b=True)), b),
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "contraction": lambda a, b: tf.matmul(a, b, transpose_a=True),
    "stacked": lambda a, b: tf.stack([a, b * 2.0]),
    "stacked_rows": lambda a, b: tf.stack([tf.sin(a), b], axis=1),
}
EQUAL = {"contraction", "stacked", "stacked_rows"}  # sizes that must be
BROADCAST = {"difference", "product"}


@pytest.mark.parametrize("name", TWO)
def test_two_first_sizes(name, tmp_path):
    sizes = [(n, m) for n in (1, 2, 5) for m in (1, 2, 5)]
    fits = [(n, m) for n, m in sizes if n == m or name not in EQUAL | BROADCAST or (name in BROADCAST and 1 in (n, m))]
    check(TWO[name], tmp_path, [[None, 3], [None, 3]], [[(n, 3), (m, 3)] for n, m in fits])
    again = loaded(TWO[name], tmp_path, [None, 3], [None, 3]).f
    for n, m in set(sizes) - set(fits):
        with pytest.raises(tf.errors.InvalidArgumentError, match="do not go together"):
            again(some(n, 3), some(m, 3))


def test_two_first_sizes_of_a_signature(tmp_path):
    module = tf.Module()
    spec = tf.TensorSpec([None, 3], tf.float64)
    module.f = tf.function(lambda a, b: {"y": tf.matmul(a, b, transpose_b=True)}, input_signature=[spec, spec])
    tf.saved_model.save(module, str(tmp_path / "saved"), signatures=module.f)
    serve = tf.saved_model.load(str(tmp_path / "saved")).signatures["serving_default"]
    for n, m in ((4, 4), (4, 5), (1, 5)):
        expect_same(serve(a=some(n, 3), b=some(m, 3))["y"], tf.matmul(some(n, 3), some(m, 3), transpose_b=True))


def test_one_row_that_is_broadcast(tmp_path):
    """A size of 1 beside another one is summed over: it gave 1 instead of 5."""
    rows = some(5, 3)
    f = lambda x: tf.reduce_sum(x + rows)
    compiled = tf.function(gradient_of(f), input_signature=[tf.TensorSpec([None, 3], tf.float64)])
    for n in (5, 1):
        expect_same(compiled(some(n, 3)), tf.fill([n, 3], tf.constant(5.0 / n, tf.float64)))
    check(f, tmp_path, [[None, 3]], [[(5, 3)], [(1, 3)]])
    both = tf.function(gradient_of(lambda x, y: tf.reduce_sum(x + y)),
                       input_signature=[tf.TensorSpec([3, None], tf.float64)] * 2)
    for n, m in ((4, 4), (5, 1), (1, 5), (1, 1)):
        x, y = both(some(3, n), some(3, m))
        expect_same([x, y], [tf.fill(t.shape, tf.constant(max(n, m) / t.shape[1], tf.float64)) for t in (x, y)])


def test_one_row_that_is_broadcast_in_a_loop(tmp_path):
    def f(x, y):
        return tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, z + tf.reduce_sum(x + y)), (0, tf.zeros([], tf.float64)))[1]
    check(f, tmp_path, [[None], [None]], [[(4,), (4,)], [(5,), (1,)], [(1,), (5,)]])


def test_a_trace_without_a_program_is_an_ordinary_error(tmp_path):
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, b: i < 3, lambda i, b: (i + 1, b * x + tf.random.normal([], dtype=tf.float64)), (0, x))[1]
        return tape.gradient(y, x)
    with pytest.raises(tf.errors.UnimplementedError, match="draws random numbers"):
        loaded(f, tmp_path, [None])


# Sizes that are not first ones have names of their own, also where they are meant to be the same.
def pushed(x, v):
    with tf.autodiff.ForwardAccumulator(x, v) as accumulator:
        y = tf.transpose(tf.sin(x))
    return accumulator.jvp(y)


def pulled(x, v):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.transpose(x) * 2.0
    return tape.gradient(y, x, output_gradients=tf.transpose(v)) * tf.reduce_sum(x)


def by_own_rule(x, v):
    @tf.custom_gradient
    def f(a):
        return tf.sin(a), lambda dy: dy * 0.0 + v
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def looped(x, v):
    def turn(i, b, c):
        with tf.GradientTape() as tape:
            tape.watch(b)
            y = tf.sin(b) * tf.gather(x, i)
        return i + 1, tf.tanh(tape.gradient(y, b)), c + b
    first = tf.reduce_mean(v, 0)
    return tf.while_loop(lambda i, b, c: i < 2, turn, (0, first, first))[2]


@pytest.mark.parametrize("f", [pushed, pulled, looped])
def test_two_names_of_one_size(f, tmp_path):
    check(f, tmp_path, [[2, None], [2, None]], [[(2, n), (2, n)] for n in (4, 5, 1)])
    again = loaded(f, tmp_path, [2, None], [2, None]).f
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not go together"):
        again(some(2, 4), some(2, 5))


def test_two_names_of_one_size_in_a_rule_of_ones_own():
    compiled = tf.function(by_own_rule, input_signature=[tf.TensorSpec([2, None], tf.float64)] * 2)
    for n in (4, 5, 1):
        expect_same(compiled(some(2, n), some(2, n) + 1.0), some(2, n) + 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        compiled(some(2, 4), some(2, 5))


# ---------------------------------------------------------------------------------------------- one op after the other
ROWS = {
    "cumprod_exclusive": lambda x: tf.math.cumprod(x, exclusive=True),
    "cumprod_reverse": lambda x: tf.math.cumprod(x, axis=1, exclusive=True, reverse=True),
    "cumulative_logsumexp": lambda x: tf.math.cumulative_logsumexp(x, exclusive=True) if x.shape[0] != 0 else x,
    "cumulative_logsumexp_last": lambda x: tf.math.cumulative_logsumexp(x, axis=-1),
    "rfft": lambda x: tf.abs(tf.signal.rfft(x) + 3.0),
    "rfft_filled": lambda x: tf.abs(tf.signal.rfft(x, [8]) + 3.0),
    "rfft_cut": lambda x: tf.abs(tf.signal.rfft(x, [3]) + 3.0),
    "rfft2d": lambda x: tf.abs(tf.signal.rfft2d(x, [6, 4]) + 3.0),
    "irfft": lambda x: tf.signal.irfft(tf.complex(x, x * x)),
    "ifft": lambda x: tf.math.real(tf.signal.ifft(tf.complex(x, x * x))),
    "fftshift": lambda x: tf.signal.fftshift(x) * x,
    "ifftshift": lambda x: tf.signal.ifftshift(x, axes=1) * x,
    "gather": lambda x: tf.gather(x, [1, 0, 1]) ** 2,
    "gather_last": lambda x: tf.gather(x, [1, 0, 1], axis=1) ** 2,
    "reshape": lambda x: tf.reshape(tf.concat([x, x], 0), [2, -1]) ** 2,
    "scatter_ignoring": lambda x: tf.tensor_scatter_nd_add(x * x, [[1], [9]], x[:2], bad_indices_policy="IGNORE"),
    "gather_nd_ignoring": lambda x: tf.gather_nd(x, [[1, 3], [9, 0]], bad_indices_policy="IGNORE") ** 2,
    "diag_part": lambda x: tf.linalg.diag_part(tf.matmul(x, x, transpose_b=True)) ** 2,
}


@pytest.mark.parametrize("name", ROWS)
def test_gradients_with_unknown_sizes(name, tmp_path):
    check(ROWS[name], tmp_path, [[None, None]], [[(n, m)] for n, m in ((4, 5), (3, 4), (2, 6), (5, 5))])


def test_a_shape_that_says_all_sizes(tmp_path):
    again = loaded(lambda x: tf.reshape(x, [3, 2]), tmp_path, [None, None]).f
    for shape in ((2, 3), (6, 1), (3, 2)):
        expect_same(again(some(*shape)), tf.reshape(some(*shape), [3, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        again(some(4, 2))


def test_rows_of_a_table_of_unknown_size_keep_their_shape():
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float64)])
    def f(table):
        with tf.GradientTape() as tape:
            tape.watch(table)
            y = tf.reduce_sum(tf.gather(table, [1, 0, 1]))
        rows = tape.gradient(y, table)
        return rows, rows.dense_shape
    for n, m in ((3, 2), (5, 4)):
        rows, shape = f(some(n, m))
        assert shape.numpy().tolist() == [n, m] == rows.dense_shape.numpy().tolist()
        expect_same(tf.convert_to_tensor(rows)[:2], tf.constant([[1.0] * m, [2.0] * m], tf.float64))
