"""What Python's layers and losses have from C++: activations at their end, logits, seeds, the quick way of a call."""
import copy

import numpy as np
import pytest

import gradus as tf
from gradus import keras

layers = keras.layers


def test_activations_of_ones_own_are_called_behind_the_form():
    seen = []

    def doubled(x):
        seen.append(x)
        return 2.0 * x

    x = tf.constant([[1.0, 2.0]])
    for layer in (layers.Dense(2, activation=doubled, kernel_initializer="identity", bias_initializer="ones"),
                  layers.EinsumDense("ab,bc->ac", 2, activation=doubled, kernel_initializer="ones"),
                  layers.SimpleRNN(2, activation=doubled)):
        plain = layer(x if len(seen) < 2 else tf.ones([1, 1, 2]))
        np.testing.assert_allclose(plain, 2 * seen[-1].numpy())
    dense = layers.Dense(2, kernel_initializer="identity")
    dense(x)
    dense.activation = keras.activations.exponential  # as it is when the layer is called
    np.testing.assert_allclose(dense(x), np.exp([[1.0, 2.0]]), rtol=1e-6)


def test_errors_of_an_activation_are_its_own():
    def broken(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        layers.Dense(2, activation=broken)(tf.ones([1, 2]))


@pytest.mark.parametrize("activation, loss", [("sigmoid", "binary_crossentropy"), ("softmax", "categorical_crossentropy"),
                                              ("sigmoid", "binary_focal_crossentropy")])
def test_probabilities_of_layers_carry_their_logits(activation, loss):
    """A probability that is rounded to 0 or 1 has the loss of its logit."""
    layer = layers.Dense(2, activation=activation, kernel_initializer=lambda shape, dtype: tf.eye(2) * 100.0, use_bias=False)
    for x in (tf.constant([[1.0, -1.0]]), tf.constant([[1.0, -1.0]])):  # the whole way, and the quick one
        value = getattr(keras.losses, loss)(tf.constant([[0.0, 1.0]]), layer(x))
        np.testing.assert_allclose(value, [200.0 if activation == "softmax" else 100.0], rtol=1e-6)


def test_a_chain_of_probabilities_keeps_no_chain_of_logits():
    x = tf.constant([[1.0, 2.0]])
    for _ in range(20000):
        x = keras.activations.softmax(x)
    assert x.shape == (1, 2)


def test_epsilon_is_that_of_the_settings():
    before = keras.config.epsilon()
    try:
        keras.config.set_epsilon(1e-3)
        loss = keras.losses.binary_crossentropy(tf.constant([[1.0]]), tf.constant([[0.0]]))
        np.testing.assert_allclose(loss, [-np.log(1e-3)], rtol=1e-5)
    finally:
        keras.config.set_epsilon(before)


def test_all_of_an_input_is_dropped_without_a_draw():
    layer = layers.Dropout(1.0, seed=3)
    np.testing.assert_array_equal(layer(tf.ones([2, 3]), training=True), np.zeros((2, 3)))
    np.testing.assert_array_equal(layer.seed_generator.state, [3, 0])


def test_the_quick_way_is_the_whole_way():
    layer = layers.Dense(3, activation="tanh")
    x = tf.constant(np.random.default_rng(0).normal(size=(4, 2)).astype("float32"))
    first = layer(x)
    assert layer._quick is not None
    np.testing.assert_array_equal(layer(x), first)
    np.testing.assert_array_equal(layer(x, training=True), first)
    np.testing.assert_array_equal(layer(inputs=x), first)
    np.testing.assert_array_equal(layer(x.numpy()), first)
    np.testing.assert_array_equal(copy.deepcopy(layer)(x), first)
    for _ in range(2):
        with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 2") as error:
            layer(tf.ones([4, 3]))
    assert isinstance(error.value.__context__, Exception)  # what the form said
    with pytest.raises(TypeError, match="unexpected keyword argument 'no'"):
        layer(x, no=1)


def test_layers_see_the_training_flag_of_the_call_around_them():
    class Outer(layers.Layer):
        def __init__(self):
            super().__init__()
            self.dropout = layers.Dropout(0.5, seed=1)

        def call(self, x):
            return self.dropout(x)

    outer, x = Outer(), tf.ones([20, 20])
    for training in (True, False, True, False):
        assert (np.asarray(outer(x, training=training)) == 0).any() == training


def test_a_class_may_have_a_call_of_its_own():
    class Twice(layers.Dense):
        def __call__(self, x):
            return 2.0 * super().__call__(x)

    layer = Twice(2, kernel_initializer="ones")
    for _ in range(2):
        np.testing.assert_array_equal(layer(tf.ones([1, 3])), [[6.0, 6.0]])


def test_a_tensor_in_the_place_of_a_variable_is_refused():
    layer, x = layers.BatchNormalization(), tf.ones([4, 3])
    layer(x, training=True)
    layer.moving_mean = tf.zeros([3])
    with pytest.raises(TypeError, match="expected a Variable, got <tf.Tensor: shape=\\(3,\\)"):
        layer(x, training=True)
    metric = keras.metrics.Mean()
    metric.total = tf.zeros([])
    with pytest.raises(TypeError, match="expected a Variable, got"):
        metric.update_state([1.0, 2.0])
