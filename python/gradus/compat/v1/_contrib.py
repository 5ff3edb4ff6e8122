"""The few functions of tf.contrib that most programs used."""
import gradus as tf

from . import _layers, _rnn
from ._functions import in_graph
from ._initializers import glorot_normal_initializer, glorot_uniform_initializer, zeros_initializer
from ._variables import get_variable, variable_scope


def xavier_initializer(uniform=True, seed=None, dtype=tf.float32):
    """Glorot's initializer."""
    return (glorot_uniform_initializer if uniform else glorot_normal_initializer)(seed, dtype)


def l2_regularizer(scale, scope=None):
    """scale times half the sum of squares."""
    return in_graph(lambda weights: scale * tf.nn.l2_loss(weights), "l2_regularizer")


def l1_regularizer(scale, scope=None):
    """scale times the sum of absolute values."""
    return in_graph(lambda weights: scale * tf.reduce_sum(tf.abs(weights)), "l1_regularizer")


def fully_connected(inputs, num_outputs, activation_fn=tf.nn.relu, normalizer_fn=None, normalizer_params=None,
                    weights_initializer=None, weights_regularizer=None, biases_initializer=zeros_initializer(),
                    biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None,
                    trainable=True, scope=None):
    """activation(inputs . weights + biases)."""
    if normalizer_fn is not None or normalizer_params is not None:
        raise NotImplementedError("normalizer_fn is not covered; use tf.layers.batch_normalization")
    if variables_collections is not None or outputs_collections is not None:
        raise NotImplementedError("fully_connected does not add to collections; use tf.add_to_collection")
    inputs = _layers._tensor(inputs)
    with variable_scope(scope, "fully_connected", reuse=reuse):
        weights = get_variable("weights", [inputs.shape.as_list()[-1], num_outputs], inputs.dtype,
                               weights_initializer or xavier_initializer(), weights_regularizer, trainable)
        biases = None if biases_initializer is None else get_variable(
            "biases", [num_outputs], inputs.dtype, biases_initializer, biases_regularizer, trainable)

        def run(x, weights, biases):
            y = tf.matmul(x, weights)
            return y if biases is None else y + biases
        return _layers._activated(in_graph(run, "BiasAdd")(inputs, weights, biases), activation_fn)


def publish(module):
    """Makes tf.contrib."""
    contrib, layers, rnn = module("contrib"), module("contrib.layers"), module("contrib.rnn")
    contrib.layers, contrib.rnn = layers, rnn
    layers.flatten, layers.fully_connected = _layers.flatten, fully_connected
    layers.xavier_initializer, layers.l1_regularizer = xavier_initializer, l1_regularizer
    layers.l2_regularizer, layers.dropout = l2_regularizer, _layers.dropout
    for c in (_rnn.BasicRNNCell, _rnn.BasicLSTMCell, _rnn.LSTMCell, _rnn.GRUCell, _rnn.MultiRNNCell,
              _rnn.DropoutWrapper, _rnn.LSTMStateTuple, _rnn.static_rnn):
        setattr(rnn, c.__name__, c)
