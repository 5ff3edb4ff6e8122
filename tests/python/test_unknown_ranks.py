"""Tensors whose number of axes no signature and no placeholder says: a program for each, behind the scenes."""
import numpy as np
import pytest

import gradus as tf
import gradus.compat.v1 as v1

ANY = tf.TensorSpec(None)
VALUES = [1.5, [1., -2.], [], [[1., 2., -3.]], [[[1.], [2.]]]]


def test_functions_of_any_rank():
    @tf.function(input_signature=[ANY])
    def f(x):
        return tf.rank(x), tf.shape(x), tf.size(x), tf.exp(x) * 2, tf.reduce_sum(x), tf.reshape(x, [-1])
    for a in [np.array(v, np.float32) for v in VALUES] * 2:
        want = a.ndim, a.shape, a.size, np.exp(a) * 2, a.sum(), a.ravel()
        for got, one in zip(f(tf.constant(a)), want):
            np.testing.assert_allclose(got, one, rtol=1e-6)
    assert f.experimental_get_tracing_count() <= 6


def test_derivatives_at_any_rank():
    @tf.function(input_signature=[ANY, tf.TensorSpec([2])])
    def f(x, w):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum((x * w) ** 3)
            dx = tape.gradient(y, x)
        return dx, outer.gradient(dx, x)
    for sizes in ([2], [3, 2], [1, 5, 2], [4, 2], [0, 2]):
        first, second = f(tf.ones(sizes), tf.ones([2]))
        np.testing.assert_allclose(first, np.full(sizes, 3))
        np.testing.assert_allclose(second, np.full(sizes, 6))


def test_errors_are_those_of_the_rank_that_was_given():
    for f, x in ((lambda x: x[0], 1.), (lambda x: tf.matmul(x, x), [1.])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(f, input_signature=[ANY])(tf.constant(x))
    with pytest.raises(TypeError, match="Can not cast"):
        tf.function(lambda x: x, input_signature=[ANY])(tf.constant([1]))


def test_concrete_functions_of_any_rank():
    f = tf.function(lambda x: (tf.rank(x), tf.shape(x), x * 2, tf.reshape(x, [-1])), input_signature=[ANY])
    concrete = f.get_concrete_function()
    assert [s.shape.rank for s in concrete.structured_outputs] == [0, 1, None, 1]
    assert [s.shape for s in concrete.inputs] == [tf.TensorShape(None)]
    for value in VALUES:
        np.testing.assert_allclose(concrete(tf.constant(value))[2], np.multiply(value, 2))
    product = tf.function(lambda x: tf.matmul(x, x)).get_concrete_function(ANY)
    np.testing.assert_allclose(product(tf.ones([2, 2])), [[2, 2], [2, 2]])
    with pytest.raises(ValueError):
        tf.function(lambda x: tf.ensure_shape(tf.ones([2]), [3])).get_concrete_function(ANY)


def test_saved_functions_of_any_rank(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x * tf.cast(tf.rank(x), tf.float32), input_signature=[ANY])
    for value in VALUES:
        module.f(tf.constant(value))
    tf.saved_model.save(module, str(tmp_path / "m"))
    again = tf.saved_model.load(str(tmp_path / "m"))
    for value in VALUES:
        np.testing.assert_allclose(again.f(tf.constant(value)), np.multiply(value, np.ndim(value)))


@pytest.mark.parametrize("module", [tf, v1])
def test_placeholders_without_a_shape(module):
    programs = {
        "rank": (lambda x: module.rank(x), np.ndim), "shape": (lambda x: module.shape(x), np.shape),
        "size": (lambda x: module.size(x), np.size), "sum": (lambda x: module.reduce_sum(x), np.sum),
        "elementwise": (lambda x: module.exp(x) * 2 + x, lambda a: np.exp(a) * 2 + a),
        "kept": (lambda x: module.reduce_sum(x, keepdims=True), lambda a: np.sum(a, keepdims=True)),
        "flat": (lambda x: module.reshape(x, [-1]), np.ravel),
        "where": (lambda x: module.where(x > 0, x, -x), np.abs), "stack": (lambda x: module.stack([x, x]), lambda a: np.stack([a, a])),
        "relu": (lambda x: module.nn.relu(x), lambda a: np.maximum(a, 0)),
        "joined": (lambda x: module.concat([module.reshape(x, [-1]), [1.]], 0), lambda a: np.append(a, 1)),
        "repeated": (lambda x: module.broadcast_to(module.reduce_sum(x), module.shape(x)), lambda a: np.full(np.shape(a), np.sum(a)))}
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32)
        fetches = {name: f(x) for name, (f, _) in programs.items()}
        slope = v1.gradients(module.reduce_sum(x ** 2), x)[0]
        with v1.Session() as session:
            for value in VALUES:
                value = np.array(value, np.float32)
                for name, got in session.run(fetches, {x: value}).items():
                    np.testing.assert_allclose(got, programs[name][1](value), rtol=1e-6, err_msg=name)
                np.testing.assert_allclose(session.run(slope, {x: value}), 2 * value)
