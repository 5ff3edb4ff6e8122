"""Functions that are called with many sizes run one program for all of them, or one for each: eager numbers in any case.

Each expression is called with each of SHAPES in turn, as a value, a gradient, a gradient of that and along a direction. A
size that the program does not know is a name while it is traced, and an op that looks at it as at a number is wrong.
"""
import numpy as np
import pytest

import gradus as tf
import gradus.compat.v1 as v1

SHAPES = [(5, 4), (3, 4), (7, 4), (5, 3), (5, 7), (1, 4), (4, 4)]
DATA = np.abs(np.random.default_rng(7).normal(size=(9, 9))) + 0.1


def loop_to_size(x):
    i, total = tf.constant(0), tf.zeros_like(x[0])
    while i < tf.shape(x)[0]:
        total = total + tf.sin(x[i]) * tf.cast(i + 1, x.dtype)
        i += 1
    return total


def loop_with_size_in_test(x):
    return tf.while_loop(lambda i, a: i < tf.shape(x)[1], lambda i, a: (i + 1, a + x[:, i] ** 2),
                         [tf.constant(0), tf.zeros_like(x[:, 0])])[1]


EXPRESSIONS = {
    "loop to a size": loop_to_size,
    "size in a test": loop_with_size_in_test,
    "size in a body": lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (
        i + 1, a * tf.cast(tf.shape(x)[0], x.dtype)), [tf.constant(0), tf.reduce_sum(x)])[1],
    "a count that grows by a size": lambda x: tf.while_loop(lambda i, a: i < 20, lambda i, a: (
        i + tf.shape(x)[1], a * 1.5), [tf.constant(0), tf.reduce_sum(x)])[1],
    "gather": lambda x: tf.gather(x, [0, 0]),
    "gather_nd": lambda x: tf.gather_nd(x, [[0, 1], [0, 2]]),
    "embedding": lambda x: tf.nn.embedding_lookup(x, [0, 0]),
    "element": lambda x: x[0, 1] * 2,
    "rows": lambda x: x[-2:] * 2,
    "rfft 4": lambda x: tf.abs(tf.signal.rfft(x, [4])),
    "rfft 6": lambda x: tf.abs(tf.signal.rfft(x, [6])),
    "rfft of columns": lambda x: tf.abs(tf.signal.rfft(tf.transpose(x), [4])),
    "irfft": lambda x: tf.signal.irfft(tf.cast(x, tf.complex128), [6]),
    "keras.ops.rfft": lambda x: tf.keras.ops.rfft(x, 8)[0],
    "qr": lambda x: tf.abs(tf.linalg.qr(x)[1]),
    "qr, full": lambda x: tf.abs(tf.linalg.qr(x, full_matrices=True)[1]),
    "svd, full": lambda x: tf.linalg.svd(x, full_matrices=True)[0],
    "squeeze": lambda x: tf.squeeze(x) * 2,
    "take": lambda x: tf.keras.ops.take(x, [0, -1], axis=0),
    "take, 1": lambda x: tf.keras.ops.take(x, [-2], axis=1),
    "cumprod": lambda x: tf.math.cumprod(x, 0, reverse=True),
    "pad": lambda x: tf.pad(x, [[0, 0], [2, 1]], "SYMMETRIC"),
    "frame": lambda x: tf.signal.frame(x, 3, 2, pad_end=True),
    "median": lambda x: tf.keras.ops.median(x, axis=0),
    "quantile": lambda x: tf.keras.ops.quantile(x, 0.3, axis=1),
    "resize": lambda x: tf.image.resize(x[None, :, :, None], [7, 4]),
    "pool": lambda x: tf.nn.avg_pool2d(x[None, :, :, None], 3, 2, "SAME"),
    "product of a segment": lambda x: tf.math.unsorted_segment_prod(x, tf.range(tf.shape(x)[0]) // 2, 5),
}

TOLERANCES = {"resize": 1e-5}  # in float32, whose sums have another order where sizes are not known


def summed(f):
    return lambda x: tf.reduce_sum(tf.sin(tf.cast(f(x), tf.float64)))


def gradient(f):
    def g(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = summed(f)(x)
        return tf.convert_to_tensor(tape.gradient(y, x, unconnected_gradients="zero"))
    return g


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_size_has_its_own_numbers(name):
    f = EXPRESSIONS[name]
    modes = {"value": f, "gradient": gradient(f), "second": gradient(gradient(f)),
             "direction": lambda x: tf.jvp(f, (x,), (x,))[1]}
    for mode, plain in modes.items():
        compiled = tf.function(plain)
        open_rows = tf.function(plain, input_signature=[tf.TensorSpec([None, None], tf.float64)])
        for shape in SHAPES:
            x = tf.constant(DATA[:shape[0], :shape[1]])
            want = plain(x).numpy()
            for kind, found in ("called", compiled), ("with a signature", open_rows):
                got = found(x).numpy()
                assert got.shape == want.shape, (mode, shape, kind)
                np.testing.assert_allclose(got, want, rtol=TOLERANCES.get(name, 1e-6), atol=1e-9, err_msg=f"{mode} {shape} {kind}")


def test_rows_as_a_gradient_know_the_whole():
    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float64)])
    def rows(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.gather(x, [2, 0, 2])
        return tape.gradient(y, x)

    for size in 3, 7:
        found = rows(tf.constant(DATA[:size, :4]))
        np.testing.assert_array_equal(found.dense_shape, [size, 4])
        np.testing.assert_array_equal(tf.convert_to_tensor(found)[:3, 0], [1, 0, 2])


def test_checks_of_shapes_are_made_when_only_the_call_knows():
    checked = tf.function(lambda x: tf.ensure_shape(x, [5, None]) * 2)
    named = tf.function(lambda x, y: tf.debugging.assert_shapes([(x, ("n", 4)), (y, ("n",))]) or x * y[:, None])
    for size in 5, 3, 5, 7:
        x = tf.constant(DATA[:size, :4])
        if size == 5:
            np.testing.assert_array_equal(checked(x), 2 * DATA[:size, :4])
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match="ensure_shape"):
                checked(x)
        np.testing.assert_array_equal(named(x, x[:, 0]), DATA[:size, :4] * DATA[:size, :1])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        named(tf.constant(DATA[:6, :4]), tf.constant(DATA[0, :2]))


GRAPHS = {
    "map_fn": lambda x: v1.map_fn(lambda row: row * v1.reduce_sum(row), x),
    "scan": lambda x: v1.scan(lambda a, b: v1.tanh(a + b), x),
    "foldl": lambda x: v1.foldl(lambda a, b: a * b, x),
    "foldr": lambda x: v1.foldr(lambda a, b: a - b * b, x),
    "element": lambda x: x[0, 1] * 2,
    "rows": lambda x: x[:2],
    "gather": lambda x: v1.gather(x, [0, 1, 0]),
    "gather_nd": lambda x: v1.gather_nd(x, [[0, 1], [1, 2]]),
    "squeeze": lambda x: v1.squeeze(x[:, :1]),
    "reverse_sequence": lambda x: v1.reverse_sequence(x[:2], [1, 2], seq_axis=1),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_gradients_of_placeholders_of_unknown_size(name):
    f = GRAPHS[name]
    with v1.Graph().as_default():
        x = v1.placeholder(v1.float64, [None, 3])
        y = f(x)
        g = v1.convert_to_tensor(v1.gradients(y, x)[0])
        with v1.Session() as session:
            for size in 5, 3, 7:
                fed = DATA[:size, :3]
                found = session.run(g, {x: fed})
                assert found.shape == fed.shape
                for at in (0, 0), (1, 2), (size - 1, 1):
                    step = np.zeros_like(fed)
                    step[at] = 1e-6
                    up, down = (session.run(y, {x: fed + s}).sum() for s in (step, -step))
                    np.testing.assert_allclose(found[at], (up - down) / 2e-6, rtol=1e-6, atol=1e-7, err_msg=str(at))
