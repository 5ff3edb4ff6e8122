"""Random ops with a seed go on from call to call, as TensorFlow's kernels do (numbers of TensorFlow 2.21)."""
import numpy as np
import pytest

import gradus as tf
from gradus import keras


def draws(f, count):
    tf.random.set_seed(5)
    return [f().numpy() for _ in range(count)]


def close(got, wanted):
    for g, w in zip(got, wanted):
        np.testing.assert_allclose(g.ravel()[:len(w)], w, rtol=1e-6)


def test_eager_ops_of_one_kind_share_a_stream():
    close(draws(lambda: tf.random.normal([3], seed=1), 2),
          [[-1.3768897, -0.012583158, -0.169515], [0.38683587, -0.4637197, -0.87966543]])
    tf.random.set_seed(5)
    tf.random.normal([3], seed=1)
    tf.random.normal([3], seed=1)
    close([tf.random.normal([2, 2], seed=1).numpy()], [[1.251025, -0.18780868, 1.0562742]])
    close(draws(lambda: tf.random.uniform([3], seed=1), 2),
          [[0.3875184, 0.7485455, 0.548719], [0.8333188, 0.38934743, 0.6661812]])
    close(draws(lambda: tf.random.uniform([3], maxval=10, dtype=tf.int32, seed=1), 2), [[4, 1, 3], [9, 3, 3]])
    close(draws(lambda: tf.random.normal([3], dtype=tf.float64, seed=1), 2),
          [[1.3700151600563044, -1.6508420963385997, 0.19764305656650125],
           [0.790790764061629, -0.43119274710350514, 1.3757869971126822]])


def test_shuffles_and_classes_reserve_as_much_as_tensorflow():
    close(draws(lambda: tf.random.shuffle(tf.range(5), seed=1), 3), [[4, 0, 1, 2, 3], [0, 2, 1, 3, 4], [1, 2, 4, 0, 3]])
    close(draws(lambda: tf.random.shuffle(tf.range(9), seed=1), 2), [[3, 8, 4, 2, 0, 6], [4, 2, 5, 0, 1, 3]])
    close(draws(lambda: tf.random.categorical([[0.0, 1.0, 2.0]], 5, seed=3), 3),
          [[1, 2, 2, 2, 2], [2, 1, 1, 2, 1], [2, 2, 2, 2, 2]])


def test_each_op_of_a_function_has_its_own_stream():
    @tf.function
    def f():
        return tf.random.normal([3], seed=1), tf.random.normal([3], seed=1)

    tf.random.set_seed(5)
    first, second = f(), f()
    close([first[0].numpy(), second[0].numpy()],
          [[-1.3768897, -0.012583158, -0.169515], [0.38683587, -0.4637197, -0.87966543]])
    np.testing.assert_array_equal(first[0], first[1])
    np.testing.assert_array_equal(second[0], second[1])


def test_a_seed_needs_no_global_seed_and_other_draws_do_not_matter():
    import subprocess
    import sys
    code = "import gradus as tf; {} print(tf.random.uniform([2], seed=3).numpy())"
    made = {subprocess.run([sys.executable, "-c", code.format(before)], capture_output=True, text=True, check=True,
                           env={"PYTHONPATH": ":".join(sys.path)}).stdout
            for before in ("", "tf.random.normal([4]);")}
    assert len(made) == 1


def test_recomputed_draws_are_the_same():
    x = tf.constant([1.0, 2.0, 3.0])

    @tf.recompute_grad
    def f(x):
        return x * x * tf.random.uniform([3], seed=7)

    tf.random.set_seed(1)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.gradient(y, x), 2 * y / x, rtol=1e-6)


def test_the_order_of_a_new_shuffle():
    from gradus.data._shuffle import op_seeds, order
    for count in (0, 1, 5, 9, 100):
        tf.random.set_seed(11)
        np.testing.assert_array_equal(order(*op_seeds(3), count), tf.random.shuffle(tf.range(count), seed=3))


def test_threads_share_the_streams():
    drawn = [float(v) for v in
             tf.data.Dataset.range(12).map(lambda x: tf.random.uniform((), seed=1), num_parallel_calls=4)]
    assert len(set(drawn)) == 12


def test_random_crops_in_functions_and_datasets():
    images = tf.reshape(tf.range(2 * 6 * 7 * 3), [2, 6, 7, 3])
    crop = tf.function(lambda x: tf.image.random_crop(x, [4, 5, 3], seed=2))
    found = {tuple(crop(images[0])[0, 0].numpy()) for _ in range(20)}
    assert len(found) > 3
    tf.random.set_seed(3)
    eager = tf.image.random_crop(images[0], [4, 5, 3], seed=2)
    tf.random.set_seed(3)
    np.testing.assert_array_equal(crop(images[0]), eager)
    batch, = tf.data.Dataset.from_tensor_slices(images).map(lambda x: tf.image.random_crop(x, [4, 5, 3])).batch(2)
    assert batch.shape == (2, 4, 5, 3)


def test_large_seeds_are_their_remainders():
    for seed, uniform, normal in ((2 ** 53 + 1, [0.31029367446899414, 0.3644498586654663], [1.1510552167892456]),
                                  (2 ** 60 + 1, [0.7363035678863525, 0.9644627571105957], [-0.17326237261295319]),
                                  (-2 ** 61 - 3, [0.3289062976837158, 0.7643976211547852], [-1.4851984977722168]),
                                  (2 ** 63 - 1, [0.055544137954711914, 0.018698453903198242], [0.2818339467048645])):
        tf.random.set_seed(1)
        close([tf.random.uniform([2], seed=seed).numpy(), tf.random.normal([1], seed=seed).numpy()], [uniform, normal])


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", ["uniform", "seed", "generator", "keras", "dropout", "layer", "gamma", "shuffle"])
def test_a_recomputed_gradient_belongs_to_the_numbers_that_were_drawn(kind, compiled):
    """d sum(x m) / dx is m, so its sum is the value at x = 1; TensorFlow draws again."""
    generator, seeds, layer = tf.random.Generator.from_seed(1), keras.random.SeedGenerator(3), keras.layers.Dropout(0.5)
    draw = {"uniform": lambda: tf.random.uniform([5]), "seed": lambda: tf.random.uniform([5], seed=3),
            "generator": lambda: generator.normal([5]), "keras": lambda: keras.random.uniform([5], seed=seeds),
            "dropout": lambda: tf.nn.dropout(tf.range(1.0, 6.0), 0.5),
            "layer": lambda: layer(tf.range(1.0, 6.0), training=True), "gamma": lambda: tf.random.gamma([5], 2.0),
            "shuffle": lambda: tf.random.shuffle(tf.range(1.0, 6.0)) * [1.0, 10.0, 100.0, 1000.0, 10000.0]}[kind]
    f = tf.recompute_grad(lambda x: tf.reduce_sum(x * draw()))

    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)
    both = tf.function(both) if compiled else both
    for _ in range(4):
        y, gradient = both(tf.ones([5]))
        np.testing.assert_allclose(tf.reduce_sum(gradient), y, rtol=1e-5)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_recomputed_function_writes_once(compiled):
    w = tf.Variable(2.0)

    @tf.recompute_grad
    def f(x):
        before = x * w
        w.assign_add(1.0)
        return before * w

    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return [y, *tape.gradient(y, [x, w])]
    both = tf.function(both) if compiled else both
    assert [float(v) for v in both(tf.constant(5.0))] == [30.0, 6.0, 25.0]
    assert float(w) == 3.0
