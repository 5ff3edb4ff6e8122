"""tf.gradients and tf.hessians in functions, tf.dynamic_partition and tf.dynamic_stitch, tf.distribute on one machine."""
import numpy as np
import pytest

import gradus as tf


def in_function(f, *args):
    return tf.function(f)(*(tf.constant(a) for a in args))


def test_gradients_of_inputs_results_on_the_way_and_variables():
    w = tf.Variable([1.0, 2.0])

    def f(x):
        h = x * x
        return tf.gradients(tf.reduce_sum(h * w), [x, h, w])

    x, h, by_w = in_function(f, [3.0, 4.0])
    np.testing.assert_array_equal(x, [6, 16])
    np.testing.assert_array_equal(h, [1, 2])
    np.testing.assert_array_equal(by_w, [9, 16])


def test_seeds_stops_and_higher_orders():
    np.testing.assert_array_equal(
        in_function(lambda x: tf.gradients(x ** 3, x, grad_ys=[tf.constant([2.0, 1.0])]), [3.0, 4.0])[0], [54, 48])

    def stopped(x):
        h = x * x
        return tf.gradients(h * x, [x, h], stop_gradients=[h])

    np.testing.assert_array_equal(in_function(stopped, [3.0, 4.0]), [[9, 16], [3, 4]])
    np.testing.assert_array_equal(in_function(lambda x: tf.gradients(tf.gradients(x ** 3, x), x), [3.0, 4.0])[0], [18, 24])
    np.testing.assert_array_equal(in_function(lambda x: tf.hessians(tf.reduce_sum(x ** 3), x), [3.0, 4.0])[0],
                                  [[18, 0], [0, 24]])


def test_unconnected_and_rows():
    found = []
    in_function(lambda x, z: found.append(tf.gradients(x ** 3, [x, z])[1]) or x, 1.0, 1.0)
    assert found == [None]
    assert in_function(lambda x, z: tf.gradients(x ** 3, z, unconnected_gradients="zero"), 1.0, 1.0)[0].numpy() == 0
    table = tf.Variable(tf.ones((4, 2)))

    def rows(i):
        slope = tf.gradients(tf.reduce_sum(tf.gather(table, i)), table)[0]
        assert isinstance(slope, tf.IndexedSlices)
        return tf.convert_to_tensor(slope)

    np.testing.assert_array_equal(in_function(rows, [1, 1, 3])[:, 0], [0, 2, 0, 1])


def test_gradients_say_what_is_wrong():
    x = tf.constant([1.0])
    for f in (tf.gradients, tf.hessians):
        with pytest.raises(RuntimeError, match="not supported when eager execution is enabled. Use tf.GradientTape"):
            f(x, x)
    with pytest.raises(ValueError, match="Passed 2 grad_ys for 1 ys"):
        in_function(lambda x: tf.gradients(x, x, grad_ys=[1.0, 2.0]), 1.0)

    def under_a_tape(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.gradients(x ** 3, x)[0]
        return tape.gradient(y, x)

    with pytest.raises(RuntimeError, match="take the inner derivative with a GradientTape, too"):
        in_function(under_a_tape, [1.0])


X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def test_partitions():
    a, b, c = tf.dynamic_partition(X, [1, 0, 1], 3)
    assert a.numpy().tolist() == [[3, 4]] and b.numpy().tolist() == [[1, 2], [5, 6]] and c.shape == (0, 2)
    a, b = tf.dynamic_partition(X, [[0, 1], [1, 1], [0, 0]], 2)
    assert a.numpy().tolist() == [1, 5, 6] and b.numpy().tolist() == [2, 3, 4]
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = tf.dynamic_partition(x, [1, 0, 1], 2)
        loss = tf.reduce_sum(a * 2) + tf.reduce_sum(b * b)
    assert tape.gradient(loss, x).numpy().tolist() == [[2, 4], [2, 2], [10, 12]]
    assert tf.function(lambda i: tf.dynamic_partition(x, i, 2)[1])(tf.constant([1, 0, 1])).shape == (2, 2)


def test_stitches_and_what_is_overwritten_has_no_gradient():
    assert tf.dynamic_stitch([[0, 2], [1]], [X[:2], X[2:]]).numpy().tolist() == [X[0], X[2], X[1]]
    assert tf.dynamic_stitch([1, 0], [X[0], X[1]]).numpy().tolist() == [X[1], X[0]]
    assert tf.dynamic_stitch([[0, 3]], [[1.0, 2.0]]).numpy().tolist() == [1, 0, 0, 2]
    a, b = tf.constant([1.0, 2.0]), tf.constant([7.0])
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        loss = tf.reduce_sum(tf.dynamic_stitch([[0, 1], [1]], [a, b]) ** 2)
    assert [g.numpy().tolist() for g in tape.gradient(loss, [a, b])] == [[2, 0], [14]]  # TensorFlow: 14 for a[1], too


@pytest.mark.parametrize("wrong, message", [
    (lambda: tf.dynamic_partition(X, [1, 0, 5], 2), r"partitions\[2\] = 5 is not in \[0, 2\)"),
    (lambda: tf.dynamic_partition(X, [1, 0], 2), "must start with partitions.shape"),
    (lambda: tf.dynamic_partition(X, [1, 0, 1], 0), "num_partitions must be at least 1"),
    (lambda: tf.dynamic_stitch([[0, 1]], [[1.0]]), r"data\[0\].shape = \[1\] does not start with"),
    (lambda: tf.dynamic_stitch([[-1]], [[1.0]]), r"indices\[0\] is out of range"),
])
def test_wrong_partitions(wrong, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        wrong()


def test_a_strategy_has_one_replica():
    strategy = tf.distribute.MirroredStrategy()
    assert strategy.num_replicas_in_sync == 1 and not tf.distribute.has_strategy()
    with strategy.scope():
        assert tf.distribute.get_strategy() is strategy
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    losses = model.fit(np.ones((8, 3)), np.ones((8, 1)), epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    dataset = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices(np.arange(6, dtype=np.float32)).batch(2))

    @tf.function
    def step(batches):
        doubled = strategy.run(lambda x: x * 2, args=(next(batches),))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, doubled, axis=0)

    batches = iter(dataset)
    assert [step(batches).numpy() for _ in range(3)] == [2, 10, 18]
    assert strategy.reduce("MEAN", tf.constant([1.0, 3.0]), axis=0).numpy() == 2
    assert strategy.experimental_local_results(3) == (3,)
    with pytest.raises(ValueError, match="reduce_op is"):
        strategy.reduce("MAX", 1.0)


def test_a_cluster_is_refused(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1", "b:2"]}}')
    with pytest.raises(NotImplementedError, match="names 2 workers"):
        tf.distribute.MultiWorkerMirroredStrategy()


def test_static_values():
    assert tf.get_static_value(tf.constant([1, 2])).tolist() == [1, 2]
    assert tf.get_static_value([1, 2]) == [1, 2]
    seen = []

    @tf.function
    def f(x):
        seen.extend([tf.get_static_value(x), tf.get_static_value(tf.constant(2) * 3)])
        return x

    f(tf.constant(1.0))
    assert seen[0] is None and seen[1] == 6
