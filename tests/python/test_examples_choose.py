"""Control values that differ from example to example of a vectorized_map: each example gets what it would get alone."""
import numpy as np
import pytest

import gradus as tf

X = np.array([4., -3., .25, -.5, 2.5, 9.])
TABLE = np.arange(24.).reshape(6, 4) / 3
POSITIONS = np.array([0, 3, 2, 1, 3, 0])


def if_statement(v):
    if v > 1:
        y = tf.sqrt(v)
    elif v > 0:
        y = tf.math.log(v)
    else:
        y = v * v
    return y


def in_a_loop(v):
    y = v
    for _ in tf.range(3):
        y = tf.cond(y > 1, lambda: tf.sqrt(y), lambda: y * 3 + 1)  # noqa: B023
    return y


def choice_in_a_choice(v):
    return tf.cond(v > 0, lambda: tf.cond(v > 3, lambda: tf.sqrt(v), lambda: 1 / v), lambda: tf.exp(v))


def written(row, i):
    return tf.TensorArray(tf.float64, size=4).unstack(row).write(i, tf.reduce_sum(row) ** 2).stack()


# name: a function of one example, and the arrays whose rows are examples
PROGRAMS = {
    "cond": (lambda v: tf.cond(v > 0, lambda: tf.sqrt(v), lambda: v * v), X),
    "cond of a pair": (lambda v: tf.cond(v > 0, lambda: (tf.sqrt(v), v), lambda: (v * v, -v))[0] * 2, X),
    "cond that gives the example": (lambda v: tf.cond(v > 0, lambda: v, lambda: v * v), X),
    "cond with something of all": (lambda v: tf.cond(v > 0, lambda: tf.reduce_sum(tf.constant(X)), lambda: v), X),
    "if": (if_statement, X),
    "case": (lambda v: tf.case([(v > 3, lambda: v ** 2), (v > 0, lambda: tf.sqrt(v))], default=lambda: -v), X),
    "a choice in a loop": (in_a_loop, X),
    "a choice in a choice": (choice_in_a_choice, X),
    "rows": (lambda r: tf.cond(r[0] > 3, lambda: r * r, lambda: tf.sin(r)), TABLE),
    "switch_case": (lambda r, i: tf.switch_case(i, [lambda: r, lambda: r * r, lambda: tf.sin(r)]), TABLE, POSITIONS),
    "while": (lambda v: tf.while_loop(lambda y: y > 1.5, lambda y: [tf.sqrt(y) * .9], [v])[0], X),
    "roll": (lambda r, i: tf.roll(r * r, i, 0), TABLE, POSITIONS),
    "position": (lambda r, i: r[i] ** 2, TABLE, POSITIONS),
    "gather": (lambda r, i: tf.gather(r ** 2, [i, 0]), TABLE, POSITIONS),
    "slice": (lambda r, i: tf.slice(r ** 2, [i // 2], [2]), TABLE, POSITIONS),
    "array write": (written, TABLE, POSITIONS),
    "array read": (lambda r, i: tf.TensorArray(tf.float64, size=4).unstack(r * r).read(i), TABLE, POSITIONS),
    "one_hot": (lambda r, i: tf.one_hot(i, 4, dtype=tf.float64) * r * r, TABLE, POSITIONS),
}
WAYS = {"eager": lambda f: f, "compiled": tf.function}
CASES = [(name, way) for name in PROGRAMS for way in WAYS if (name, way) != ("if", "eager")]  # Python's own cannot choose


def mapped(f, arguments):
    return tf.vectorized_map(lambda row: f(*row), tuple(arguments))


def alone(f, arguments):
    """Each example by itself, eagerly."""
    return np.stack([np.asarray(f(*[tf.constant(a[i]) for a in arguments])) for i in range(len(arguments[0]))])


@pytest.mark.parametrize(("name", "way"), CASES)
def test_values(name, way):
    f, *arrays = PROGRAMS[name]
    got = WAYS[way](lambda *a: mapped(f, a))(*map(tf.constant, arrays))
    np.testing.assert_allclose(got, alone(PROGRAMS[name][0], arrays), rtol=1e-13)


@pytest.mark.parametrize(("name", "way"), CASES)
@pytest.mark.parametrize("order", [1, 2])
def test_gradients(name, way, order):
    f, *arrays = PROGRAMS[name]

    def derived(g):
        def d(x, *rest):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(g(x, *rest) ** 2)
            return tf.convert_to_tensor(tape.gradient(y, x, unconnected_gradients="zero"))
        return d
    whole, single = lambda *a: mapped(f, a), PROGRAMS[name][0]
    for _ in range(order):
        whole, single = derived(whole), derived(single)
    got = WAYS[way](whole)(*map(tf.constant, arrays))
    np.testing.assert_allclose(got, alone(single, arrays), rtol=1e-11, atol=1e-12)
    assert np.isfinite(np.asarray(got)).all()


def test_none_and_one_choose():
    f = PROGRAMS["cond"][0]
    for values in ([1., 4.], [-1., -2.], [2.], [-2.]):
        x = tf.constant(values, tf.float64)
        for way in WAYS.values():
            np.testing.assert_allclose(way(lambda x: tf.vectorized_map(f, x))(x), alone(f, [np.array(values)]))


def test_variables_are_not_assigned_by_examples():
    v = tf.Variable(0.)

    def f(x):
        return tf.cond(x > 0, lambda: v.assign_add(1.), lambda: x)
    with pytest.raises(tf.errors.UnimplementedError, match="every example of a vmap would decide"):
        tf.function(lambda x: tf.vectorized_map(f, x))(tf.constant([1., -1.]))


def test_gradients_are_dense():
    x = tf.constant([[1., 2.], [-1., 3.]])
    f = tf.function(lambda x: tf.vectorized_map(lambda r: tf.cond(r[0] > 0, lambda: r * 2, lambda: r * r), x))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(f(x))
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [[2, 2], [-2, 6]])
