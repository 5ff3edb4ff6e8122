"""Tapes, accumulators and the functions that transform functions."""
import gc
import itertools
import math
import threading

import numpy as np
import pytest

import gradus as tf
import gradus


def value(t):
    return t.numpy().tolist()


def test_structures_of_targets_and_sources():
    x, y = tf.Variable(2.0), tf.Variable([1.0, 3.0])
    with tf.GradientTape() as tape:
        loss = {"a": x * x, "b": [tf.reduce_sum(x * y)]}
    g = tape.gradient(loss, {"x": x, "y": (y,)})
    assert value(g["x"]) == 8.0 and value(g["y"][0]) == [2.0, 2.0]


def test_output_gradients_and_unconnected():
    x, z = tf.constant([1.0, 2.0]), tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y = x * x
    assert value(tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0]))) == [2.0, 40.0]
    assert tape.gradient(y, z) is None
    for zero in (tf.UnconnectedGradients.ZERO, "zero"):
        assert value(tape.gradient(y, z, unconnected_gradients=zero)) == 0.0
    with pytest.raises(ValueError):
        tape.gradient(y, x, unconnected_gradients="nothing")


def test_watching_integers_warns():
    x = tf.constant(3)
    with tf.GradientTape() as tape:
        with pytest.warns(RuntimeWarning, match="must be floating .e.g. tf.float32., got tf.int32"):
            tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None


def test_use_of_a_tape():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x ** 2
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="persistent"):
        tape.gradient(y, x)
    with pytest.raises(RuntimeError):
        tf.GradientTape().gradient(y, x)
    with pytest.raises(ValueError):
        tape.gradient(y, "x")
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = x ** 2
    assert tape.gradient(y, x) is None
    with tf.GradientTape() as tape:
        y = x * 2
        with tape.stop_recording():
            z = x * 3
        tape.reset()
        u = x * 5
    assert tape.watched_variables() == (x,) or tape.watched_variables()[0] is x
    assert value(tape.gradient(u, x)) == 5.0
    del y, z


def test_an_exception_leaves_the_tape():
    x = tf.Variable(1.0)
    with pytest.raises(ZeroDivisionError):
        with tf.GradientTape() as tape:
            y = x * 2
            1 / 0
    assert value(tape.gradient(y, x)) == 2.0


def test_nested_tapes_and_jacobians():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x ** 3)
        g = inner.gradient(y, x)
    assert value(outer.jacobian(g, x)) == [[6.0, 0.0], [0.0, 12.0]]
    rows = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(rows)
        y = rows ** 2
    assert value(tape.batch_jacobian(y, rows)) == [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]


def test_rows_of_a_table():
    table = tf.Variable(tf.ones([5, 2]))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 3, 1]))
    g = tape.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices) and value(g.indices) == [1, 3, 1] and g.shape == [5, 2]
    assert value(tf.convert_to_tensor(g)) == [[0, 0], [2, 2], [0, 0], [1, 1], [0, 0]]
    table.scatter_sub(0.5 * g)
    assert value(table)[1] == [0.0, 0.0] and value(table)[3] == [0.5, 0.5]


def test_forward_accumulator_over_tape():
    x, v = tf.constant([1.0, 2.0]), tf.constant([1.0, 0.0])
    with tf.autodiff.ForwardAccumulator(x, v) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x ** 3)
        g = tape.gradient(y, x)
    assert value(acc.jvp(g)) == [6.0, 0.0] and value(acc.jvp(y)) == 3.0
    assert acc.jvp(tf.constant(1.0)) is None


def test_forward_tape():
    x = tf.constant([1.0, 2.0])
    with gradus.forward_diff.GradientTape() as tape:
        tape.watch(x)
        y = tf.stack([x[0] * x[1], x[0], x[1] ** 2])
    assert value(tape.jacobian(y, x)) == [[2.0, 1.0], [1.0, 0.0], [0.0, 4.0]]


def test_custom_gradient():
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(dy):
            return dy * (1 - 1 / (1 + e))
        return tf.math.log(1 + e), grad

    x = tf.constant(100.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = log1pexp(x)
    assert value(tape.gradient(y, x)) == 1.0

    @tf.custom_gradient
    def several(pair, factor=1.0):
        def grad(da, db):
            return da * 10, None
        return (pair[0] * factor, pair[1]), grad

    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = several((a, b), factor=3.0)
    assert value(y[0]) == 3.0
    assert [g if g is None else value(g) for g in tape.gradient(y, [a, b])] == [10.0, None]


def test_custom_gradient_with_variables():
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        def grad(dy, variables=None):
            assert len(variables) == 1 and variables[0] is w
            return dy * 7, [dy * 9]
        return x * w, grad

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert [value(g) for g in tape.gradient(y, [x, w])] == [7.0, 9.0]

    @tf.custom_gradient
    def wrong(x):
        return x * 2, lambda dy: (dy, dy)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = wrong(x)
    with pytest.raises(ValueError, match="returned 2"):
        tape.gradient(y, x)


@pytest.mark.parametrize("arguments", [0, 1])
@pytest.mark.parametrize("compiled", [False, True])
def test_recompute_grad_of_constants_follows_what_it_uses(arguments, compiled):
    """What it uses of its surroundings, variables too, had no gradient in a compiled function."""
    x, v, constants = tf.constant([1.5, 0.5]), tf.Variable([2.0, -1.0]), [tf.constant(0.5)] * arguments

    def gradients(y_of):
        def g(x):
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                u = tf.sin(x)
                y = y_of(lambda *a: u * u * v * sum(a, tf.constant(1.0)))
            with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
                w = tf.sin(x)
                z = y_of(lambda *a: w * w * v * sum(a, tf.constant(1.0)))
            return *tape.gradient(y, [x, v]), tape.jacobian(y, x), forward.jvp(z)
        return tf.function(g) if compiled else g
    found = gradients(lambda f: tf.recompute_grad(f)(*constants))(x)
    for got, want in zip(found, gradients(lambda f: f(*constants))(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_recompute_grad_runs_again():
    calls = []
    w = tf.Variable([1.0, 2.0])

    @tf.recompute_grad
    def f(x):
        calls.append(1)
        return tf.sin(x * w)

    x = tf.constant([0.5, 0.25])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(f(x))
    g = tape.gradient(y, w)
    assert len(calls) == 2
    np.testing.assert_allclose(g.numpy(), np.cos([0.5, 0.5]) * [0.5, 0.25], rtol=1e-6)


def test_functions_of_functions():
    f = lambda x: tf.reduce_sum(x ** 3)  # noqa: E731
    x, v = tf.constant([1.0, 2.0]), tf.constant([1.0, 1.0])
    assert value(gradus.grad(f)(x)) == [3.0, 12.0]
    assert value(gradus.hvp(f, x, v)) == [6.0, 12.0]
    assert value(gradus.hessian(f, x)) == [[6.0, 0.0], [0.0, 12.0]]
    y, dy = gradus.jvp(lambda t: {"s": t * t}, x, v)
    assert value(dy["s"]) == [2.0, 4.0]
    y, pull = gradus.vjp(lambda a, b: a * b, (x, v))
    assert [value(t) for t in pull(v)] == [[1.0, 1.0], [1.0, 2.0]]
    y, push = gradus.linearize(lambda t: t * t, x)
    assert value(push(v)) == [2.0, 4.0]
    J, why = gradus.jacobian(lambda t: t * t, x, report=True)
    assert value(J) == [[2.0, 0.0], [0.0, 4.0]] and ("forward" in why or "reverse" in why)
    for mode in ("forward", "reverse"):
        assert value(gradus.jacobian(lambda t: t * t, x, mode=mode)) == value(J)
    with pytest.raises(ValueError):
        gradus.jacobian(f, x, mode="sideways")
    with pytest.raises(KeyError):
        gradus.grad(lambda t: {}["missing"])(x)


def test_vectorized_map_of_gradients():
    w = tf.constant([1.0, 2.0])

    def per_example(x):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tf.reduce_sum(w * x) ** 2
        return tape.gradient(y, w)

    xs = tf.constant([[1.0, 0.0], [1.0, 1.0]])
    assert value(tf.vectorized_map(per_example, xs)) == [[2.0, 0.0], [6.0, 6.0]]


def test_threads_have_their_own_tapes():
    results = {}

    def work(n):
        x = tf.Variable(float(n))
        for _ in range(200):
            with tf.GradientTape() as tape:
                y = x * x + tf.reduce_sum(tf.ones([200, 200]) * x)
            g = tape.gradient(y, x)
        results[n] = float(g)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {n: 2.0 * n + 40000.0 for n in range(4)}


def live_bytes():
    gc.collect()
    return tf.config.experimental.get_memory_info("CPU:0")["current"]


def test_many_tapes_do_not_leak():
    import resource
    x = tf.Variable(tf.ones([64]))

    def steps(n):
        for i in range(n):
            try:
                with tf.GradientTape(persistent=i % 3 == 0) as tape:
                    y = tf.reduce_sum(x * x)
                    if i % 5 == 0:
                        raise KeyError
                tape.gradient(y, x)
            except KeyError:
                pass
            if i % 7 == 0:
                tf.custom_gradient(lambda t: (t * 2, lambda dy: dy))(x)

    steps(2000)
    before, peak = live_bytes(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    steps(20000)
    assert live_bytes() <= before + 4096
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 4096  # kilobytes


def test_explanations_name_the_python_line():
    x = tf.Variable([1.0, 2.0])
    unread = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        position = tf.argmax(x)  # the line that is named
        y = tf.cast(position, tf.float32) * 2.0
        z = tf.einsum("i,i->", x, x)
    assert "not read" in tape.explain(y, unread)
    why = tape.explain(y, x)
    assert "argmax" in why and "test_tape.py:" in why
    report = tape.report()
    with open(__file__) as file:
        line = next(i for i, text in enumerate(file, 1) if "the line that is named" in text)
    assert f"[argmax] at test_tape.py:{line}" in report
    assert "_compositions.py" not in report
    assert tape.explain(z, x).startswith("connected")


def test_gradients_add_up_in_buffers():
    x, z = tf.Variable([1.0, 2.0]), tf.Variable(5.0)
    buffers = gradus.GradientBuffers()
    for step in range(3):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x * x)
        got = tape.gradient(y, [x, z], into=buffers)
        assert value(got[0]) == [2.0 * (step + 1), 4.0 * (step + 1)] and got[1] is None
    assert value(buffers.values()[0]) == [6.0, 12.0]
    buffers.reset()
    assert buffers.values() == [None, None]
    for wrong in (1, [buffers]):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x * x)
        with pytest.raises(TypeError):
            tape.gradient(y, x, into=wrong)
    with pytest.raises(ValueError, match="2 sources"):
        tape.gradient(y, x, into=buffers)


def derived(f, modes):
    """The derivative of f once for each letter, from the last: r with a tape, f with an accumulator."""
    def reverse(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        return tape.gradient(y, x)

    def forward(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = inner(x)
        return accumulator.jvp(y)

    if not modes:
        return f
    inner = derived(f, modes[1:])
    return reverse if modes[0] == "r" else forward


@pytest.mark.parametrize("modes", ["".join(m) for n in (3, 4) for m in itertools.product("rf", repeat=n)])
def test_every_mix_of_modes_at_orders_three_and_four(modes):
    x = tf.constant(1.5, tf.float64)
    order = len(modes)
    quotient = -math.factorial(order + 1) if order % 2 else math.factorial(order + 1)
    for f, expected in ((lambda z: z * z * z * z, [36.0, 24.0][order - 3]),
                        (lambda z: 1.0 / (z * z), quotient / 1.5 ** (order + 2)),
                        (lambda z: tf.exp(z) * tf.exp(z), 2 ** order * math.exp(3.0))):
        assert float(derived(f, modes)(x)) == pytest.approx(expected, rel=1e-13)
        assert float(tf.function(derived(f, modes))(x)) == pytest.approx(expected, rel=1e-13)


def test_parameters_of_special_functions_have_gradients():
    a, b, x = (tf.constant(v, tf.float64) for v in (2.5, 1.5, 0.25))
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = tf.math.betainc(a, b, x)
    da, db = tape.gradient(y, [a, b])
    assert float(da) == pytest.approx(-0.0718309617078676433, rel=1e-13)  # mpmath
    assert float(db) == pytest.approx(0.0589901345607787459, rel=1e-13)
    s, q = tf.constant(2.5, tf.float64), tf.constant(0.75, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(s)
        y = tf.math.zeta(s, q)
    assert float(tape.gradient(y, s)) == pytest.approx(0.163079621111213144, rel=1e-13)


def test_buffers_in_a_function_hold_the_numbers():
    x = tf.Variable([1.0, 2.0])
    buffers = gradus.GradientBuffers()

    @tf.function
    def add(scale):
        with tf.GradientTape() as tape:
            y = scale * tf.reduce_sum(x * x)
        return tape.gradient(y, x, into=buffers)

    assert value(add(tf.constant(1.0))) == [2.0, 4.0]
    assert value(buffers.values()[0]) == [2.0, 4.0]
    add(tf.constant(2.0))
    assert value(buffers.values()[0]) == [6.0, 12.0]
    buffers.reset()
    assert value(add(tf.constant(3.0))) == [6.0, 12.0] and value(buffers.values()[0]) == [6.0, 12.0]


@pytest.mark.parametrize("kind", [tf.GradientTape, gradus.forward_diff.GradientTape])
def test_a_persistent_tape_that_is_entered_again_goes_on(kind):
    x = tf.constant([1.0, 2.0, 3.0])
    tape = kind(persistent=True)
    with tape:
        tape.watch(x)
        first = tf.reduce_sum(x ** 3)
    assert value(tape.gradient(first, x)) == [3.0, 12.0, 27.0]
    unseen = x * 2.0
    with tape:
        y = tf.gather(x, 1)
        loss = tf.reduce_sum(y * y) + first
    assert value(tape.gradient(loss, x)) == [3.0, 16.0, 27.0]
    assert value(tape.gradient(first, x)) == [3.0, 12.0, 27.0]
    assert tape.gradient(unseen, x) is None
    if kind is tf.GradientTape:
        assert value(tape.gradient(loss, y)) == 4.0
    with tape, pytest.raises(ValueError, match="still recording"):
        with tape:
            pass


def test_a_tape_that_is_used_up_and_entered_again_begins_anew():
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    assert value(tape.gradient(y, x)) == 6.0
    with tape:
        y = x * x * x
    assert value(tape.gradient(y, x)) == 27.0


def test_a_number_that_a_resumed_tape_watches_is_refused():
    """Used as a plain number its gradient would be lost."""
    x = tf.constant(0.5)
    tape = tf.GradientTape(persistent=True)
    with tape:
        tape.watch(x)
        y = x * x
    with tf.GradientTape():
        with tape, pytest.raises(TypeError, match="which a tape watches"):
            tf.nn.l2_normalize(tf.constant([1.0]), epsilon=y)
        tf.nn.l2_normalize(tf.constant([1.0]), epsilon=y)


@pytest.mark.parametrize("kind", ["sum", "mean", "sqrt_n"])
def test_sparse_segments_have_dense_gradients_unless_asked(kind):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = []
    for sparse in (False, True):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(tf.sparse, "segment_" + kind)(x, [2, 0, 2], [0, 0, 1], sparse_gradient=sparse)
        found.append(tape.gradient(y, x))
    assert isinstance(found[0], tf.Tensor) and isinstance(found[1], tf.IndexedSlices)
    assert value(found[0]) == value(tf.convert_to_tensor(found[1]))
