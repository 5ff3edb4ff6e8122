"""Loops, branches and arrays of tensors inside tf.function: the same answers as when they run at once."""
import numpy as np
import pytest

import gradus as tf


def both(f, *args):
    """f run at once and compiled; they must agree."""
    eager, compiled = f(*args), tf.function(f)(*args)
    for a, b in zip(tf.nest.flatten(eager), tf.nest.flatten(compiled)):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6)
        assert a.dtype == b.dtype
    return compiled


def test_structures_of_loop_variables():
    def f(n):
        return tf.while_loop(lambda d: d["i"] < n, lambda d: [{"i": d["i"] + 1, "x": (d["x"][0] * 2,)}],
                             [{"i": 0, "x": (1.0,)}])
    (d,) = both(f, tf.constant(3))
    assert int(d["i"]) == 3 and float(d["x"][0]) == 8
    assert isinstance(tf.function(lambda: tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), (0,)))(), tuple)


@pytest.mark.parametrize("limit", [0, 4, 20])
def test_maximum_iterations_may_be_traced(limit):
    f = tf.function(lambda n: tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0], maximum_iterations=n))
    assert int(f(tf.constant(limit))[0]) == min(limit, 10)


def test_what_a_body_may_not_change():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match=r"enters the loop with shape \(2,\), but has shape \(4,\) after one iteration"):
        tf.function(lambda: tf.while_loop(lambda t: True, lambda t: tf.concat([t, t], 0), [x]))()
    with pytest.raises(TypeError, match="enters the loop with type tf.int32 but has type tf.float32"):
        tf.function(lambda: tf.while_loop(lambda t: t < 10, lambda t: tf.cast(t, tf.float32), [1]))()
    with pytest.raises(ValueError, match="structure"):
        tf.function(lambda: tf.while_loop(lambda i, j: i < 3, lambda i, j: (i, j, 1), [0, 1]))()
    with pytest.raises(ValueError, match="None values not supported"):
        tf.function(lambda: tf.while_loop(lambda i: i < 3, lambda i: None, [0]))()
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar bool"):
        tf.function(lambda: tf.while_loop(lambda i: i, lambda i: i, [0]))()


def test_array_in_a_loop():
    def f(n):
        array = tf.TensorArray(tf.float32, size=5)  # what its elements are like is found out in the loop

        def body(i, array):
            array = tf.cond(i % 2 == 0, lambda: array.write(i, tf.cast(i, tf.float32)), lambda: array.write(i, -1.0))
            return i + 1, tf.while_loop(lambda j, _: j < i, lambda j, a: (j + 1, a.write(j, a.read(j) + 1.0)),
                                        [0, array])[1]
        return tf.while_loop(lambda i, _: i < n, body, [0, array])[1].stack()
    compiled = tf.function(f)
    assert compiled(tf.constant(5)).numpy().tolist() == [4, 2, 4, 0, 4]
    assert compiled(tf.constant(0)).numpy().tolist() == [0] * 5


def test_array_by_traced_positions():
    def f(n):
        array = tf.TensorArray(tf.float32, size=3, clear_after_read=False).unstack([1.0, 2.0, 3.0])
        return array.read(n), array.gather([0, 2]), array.size(), array.write(n, 9.0).stack()
    compiled = tf.function(f)(tf.constant(1))
    assert [v.numpy().tolist() for v in compiled] == [2, [1, 3], 3, [1, 9, 3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 4 is not in"):
        tf.function(lambda i: tf.TensorArray(tf.float32, size=3).write(i, 1.0).stack())(tf.constant(4))
    with pytest.raises(ValueError, match="Inconsistent shapes"):
        tf.function(lambda: tf.TensorArray(tf.float32, size=3).write(0, 1.0).write(1, [1.0]).stack())()
    lost = tf.function(lambda: [a := tf.TensorArray(tf.float32, 2, element_shape=()), a.write(0, 1.0), a.stack()][2])()
    assert lost.numpy().tolist() == [0, 0]  # writing gives a new array


def test_array_from_a_branch():
    def f(n):
        array = tf.TensorArray(tf.float32, size=3)
        return tf.cond(n > 0, lambda: array.write(n, 7.0), lambda: array).stack()
    compiled = tf.function(f)
    assert [compiled(tf.constant(n)).numpy().tolist() for n in (0, 2)] == [[0, 0, 0], [0, 0, 7]]


def test_case_and_switch_case():
    case = tf.function(lambda x: tf.case([(x < 1, lambda: 1.0), (x < 3, lambda: 2.0)], default=lambda: 3.0))
    assert [float(case(tf.constant(x))) for x in (0, 2, 5)] == [1, 2, 3]
    switch = tf.function(lambda x: tf.switch_case(x, [lambda: 1.0, lambda: 2.0], default=lambda: 9.0))
    assert [float(switch(tf.constant(x))) for x in (-1, 0, 1, 2)] == [9, 1, 2, 9]
    switch = tf.function(lambda x: tf.switch_case(x, [lambda: 1.0, lambda: 2.0]))
    assert [float(switch(tf.constant(x))) for x in (-1, 0, 1, 2)] == [2, 1, 2, 2]
    with pytest.raises(ValueError, match="contiguous"):
        tf.switch_case(tf.constant(3), {3: lambda: 1, 7: lambda: 2})


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_maps_and_folds_of_unknown_size(n):
    x = tf.reshape(tf.range(2.0 * n), [n, 2])
    for f in (lambda x: tf.map_fn(lambda r: r * r, x),
              lambda x: tf.map_fn(lambda r: (tf.reduce_sum(r), tf.cast(r, tf.int32)), x,
                                  fn_output_signature=(tf.float32, tf.int32)),
              lambda x: tf.map_fn(lambda p: p[0] + p[1], (x, 2.0 * x), fn_output_signature=tf.float32),
              lambda x: tf.scan(lambda a, r: a * 2.0 + r, x), lambda x: tf.scan(lambda a, r: a - r, x, reverse=True),
              lambda x: tf.scan(lambda a, r: a + tf.reduce_sum(r), x, initializer=1.0),
              lambda x: tf.foldl(lambda a, r: a * 2.0 + r, x), lambda x: tf.foldr(lambda a, r: a * 2.0 + r, x),
              lambda x: tf.foldr(lambda a, r: a * 2.0 + r[0], x, initializer=1.0)):
        compiled = tf.function(f, input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        for g in (compiled, tf.function(f)):
            for a, b in zip(tf.nest.flatten(f(x)), tf.nest.flatten(g(x))):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def gradients(f, *args):
    """The value of f and its gradients, inside of a function and at once."""
    def run(*args):
        with tf.GradientTape() as tape:
            tape.watch(args)
            value = f(*args)
        return value, tape.gradient(value, args)
    for a, b in zip(tf.nest.flatten(run(*args)), tf.nest.flatten(tf.function(run)(*args))):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)
    return run(*args)[1]


def test_gradients_of_loops():
    x, w = tf.constant([0.5, -0.25]), tf.constant([[0.3, 0.1], [-0.2, 0.4]])

    def recurrent(x, w):
        return tf.reduce_sum(tf.while_loop(
            lambda i, h: i < 6, lambda i, h: (i + 1, tf.tanh(tf.linalg.matvec(w, h) + x)), [0, x])[1])
    gradients(recurrent, x, w)

    def array(x, w):
        def body(i, array, h):
            h = tf.sin(h) * tf.gather(x, i % 2) + w[0]
            return i + 1, array.write(i, h), h
        array = tf.while_loop(lambda i, *_: i < 5, body, [0, tf.TensorArray(tf.float32, 5), x])[1]
        return tf.reduce_sum(array.stack() ** 2) + tf.reduce_sum(array.read(2))
    gradients(array, x, w)


def test_gradient_of_a_closed_form():
    """x ** 10 by a loop: 10 x ** 9, 90 x ** 8."""
    @tf.function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.while_loop(lambda i, p: i < 10, lambda i, p: (i + 1, p * x), [0, tf.ones_like(x)])[1]
            first = inner.gradient(y, x)
        return y, first, outer.gradient(first, x)
    np.testing.assert_allclose([float(v) for v in f(tf.constant(1.1))], [1.1 ** 10, 10 * 1.1 ** 9, 90 * 1.1 ** 8], rtol=1e-5)


@pytest.mark.parametrize("n", [2, 4, 20])
def test_gradients_of_maps_and_folds_of_unknown_size(n):
    x = tf.reshape(tf.range(2.0 * n), [n, 2]) / 10.0
    for f in (lambda x: tf.map_fn(lambda r: r * tf.sin(r), x), lambda x: tf.scan(lambda a, r: a * 2.0 + r * r, x),
              lambda x: tf.scan(lambda a, r: a * tf.reduce_sum(r), x, initializer=1.0, reverse=True),
              lambda x: tf.foldl(lambda a, r: a * tf.cos(r), x), lambda x: tf.foldr(lambda a, r: a * a - r, x)):
        def run(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(f(x) ** 2)
            return tape.gradient(y, x)
        compiled = tf.function(run, input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        np.testing.assert_allclose(run(x).numpy(), compiled(x).numpy(), rtol=1e-5, atol=1e-6)


def test_arrays_that_grow_in_loops():
    def by_position(x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
        array = tf.while_loop(lambda i, _: i < 4, lambda i, a: (i + 1, a.write(i, x * tf.cast(i, tf.float32))), [0, array])[1]
        return array.stack(), array.size(), array.read(2)

    def appended(x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False).write(0, x)

        def body(i, array):
            array = array.write(array.size(), array.read(i) * 2.0)
            return i + 1, tf.while_loop(lambda j, _: j < 2, lambda j, a: (j + 1, a.write(a.size(), x)), [0, array])[1]
        array = tf.while_loop(lambda i, _: i < 3, body, [0, array])[1]
        return array.stack(), array.size(), array.gather([0, 3])
    x = tf.constant([1.0, 2.0])
    for f in (by_position, appended):
        both(f, x)
        gradients(lambda x: tf.reduce_sum(f(x)[0] ** 2), x)


def test_sizes_that_depend_on_data_still_give_the_right_answer():
    grows = tf.function(lambda n: tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, 1.0)), [
        0, tf.TensorArray(tf.float32, size=0, dynamic_size=True)])[1].stack())
    assert grows(tf.constant(3)).numpy().tolist() == [1, 1, 1]
    doubles = tf.function(lambda x: tf.while_loop(lambda t: tf.reduce_sum(t) < 10, lambda t: tf.concat([t, t], 0), [x],
                                                  shape_invariants=[tf.TensorShape([None])])[0])
    assert doubles(tf.constant([1.0, 2.0])).numpy().tolist() == [1, 2] * 4


def test_effects_of_a_test_happen_at_each_turn(capfd):
    count = tf.Variable(0)

    def counted(i):
        count.assign_add(1)
        return i < 3
    tf.function(lambda: tf.while_loop(counted, lambda i: [i + 1], [tf.constant(0)]))()
    assert int(count) == 4

    def shown(i):
        tf.print("turn", i)
        return i < 2
    tf.function(lambda: tf.while_loop(shown, lambda i: [i + 1], [tf.constant(0)]))()
    captured = capfd.readouterr()
    assert (captured.out + captured.err).split("\n")[:3] == ["turn 0", "turn 1", "turn 2"]


def test_gradients_of_loops_in_bounded_memory():
    def gradient(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.while_loop(lambda i, h: i < n, lambda i, h: (i + 1, tf.tanh(x * h + 1.0)), (0, x))[1]
            y = tf.reduce_sum(h)
        return tape.gradient(y, x)
    x = tf.constant([0.5, -1.0, 2.0])
    for n in (200, tf.constant(200)):
        whole = tf.function(gradient)(x, n).numpy()

        @tf.function
        def bounded(x, n):
            with tf.recompute_loops(500):
                return gradient(x, n)
        assert bounded(x, n).numpy().tobytes() == whole.tobytes()
        assert tf.function(tf.recompute_loops(500)(gradient))(x, n).numpy().tobytes() == whole.tobytes()
    with pytest.raises(ValueError, match="positive number of bytes"), tf.recompute_loops(0):
        pass


def test_second_derivatives_of_a_loop_with_a_traced_count():
    @tf.function
    def f(x, n):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.while_loop(lambda i, h: i < n, lambda i, h: (i + 1, h * x), (0, x))[1]
            first = tape.gradient(y, x)
        return first, outer.gradient(first, x)
    first, second = f(tf.constant(2.0), tf.constant(3))  # x ** 4
    assert float(first) == 32 and float(second) == 48


def test_an_array_is_read_once_unless_it_keeps_its_elements():
    array = tf.TensorArray(tf.float32, size=2).write(0, 7.0)
    assert array.read(0).numpy() == 7 and array.read(1).numpy() == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice"):
        array.read(0)
    assert array.write(0, 8.0).read(0).numpy() == 8


@pytest.mark.parametrize("compiled", [False, True])
def test_loops_in_vectorized_map_use_examples_around_them(compiled):
    xs = tf.constant([[0.5, -0.25], [1.5, 0.75], [-1.0, 2.0]])
    ys = tf.constant([[0.25, 0.5], [-0.5, 1.0], [0.75, -0.125]])

    def one(example):
        x, y = example
        turned = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * 0.5 + tf.sin(y) * s), (0, x))[1]
        own = tf.while_loop(lambda i, s: i < 2 + tf.cast(tf.reduce_sum(y) > 0.6, tf.int32),
                            lambda i, s: (i + 1, tf.tanh(s + y) * tf.cos(y)), (0, x))[1]
        return turned + own

    def gradient():
        with tf.GradientTape() as tape:
            tape.watch([xs, ys])
            out = tf.vectorized_map(one, (xs, ys))
        return out, tape.gradient(out, [xs, ys])

    out, slopes = (tf.function(gradient) if compiled else gradient)()
    for i in range(3):
        x, y = tf.constant(xs[i]), tf.constant(ys[i])
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            expected = one((x, y))
        np.testing.assert_allclose(out[i], expected, rtol=1e-6)
        for got, wanted in zip(slopes, tape.gradient(expected, [x, y])):
            np.testing.assert_allclose(got[i], wanted, rtol=1e-5)


def test_loops_in_vectorized_map_obey_back_prop():
    xs = tf.constant([1.0, 2.0])

    def gradient(back_prop):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = tf.vectorized_map(lambda x: x + tf.while_loop(
                lambda s: s < 10.0, lambda s: (s * 2.0 * x,), (x + 1.0,), back_prop=back_prop)[0], xs)
        return tape.gradient(y, xs).numpy().tolist()
    assert gradient(True) == [57.0, 11.0] and gradient(False) == [1.0, 1.0]
