#!/usr/bin/env python3
"""Asks an installed Keras what layers and losses give; writes tests/unit/keras_numbers.h, which the C++ tests compare with.

Inputs and weights are ramps: element i is sin(0.7 i + phase). For each layer there is its output y and, as NAME/dx, the
gradient of sum(y * ramp of phase 9) in its input.
"""
import pathlib

import keras
import numpy as np
import tensorflow as tf

L, losses = keras.layers, keras.losses
numbers = {}


def ramp(shape, phase=0.0):
    return np.sin(0.7 * np.arange(np.prod(shape, dtype=int)) + phase).reshape(shape).astype("float32")


def weighted(layer, shape):
    """The layer, built, with weights that are ramps of phases 1, 2, ...; variances are squares."""
    layer.build(shape)
    for i, v in enumerate(layer.weights):
        if v.dtype == "float32":
            value = ramp(v.shape, 1.0 + i)
            v.assign(value * value if "variance" in v.path else value)
    return layer


def note(name, function, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
        total = tf.reduce_sum(y * ramp(y.shape, 9.0))
    numbers[name] = y
    numbers[name + "/dx"] = tape.gradient(total, x)


def layer(name, made, shape, **call):
    made = weighted(made, shape)
    note(name, lambda x: made(x, **call), ramp(shape))
    return made


layer("dense", L.Dense(2, activation="tanh"), (2, 3))
layer("dense/plain", L.Dense(2, use_bias=False), (2, 2, 3))
layer("conv1d", L.Conv1D(2, 2, padding="causal", dilation_rate=2), (1, 5, 2))
layer("conv2d", L.Conv2D(2, 3, strides=2, padding="same", activation="relu"), (1, 4, 5, 2))
layer("conv2d/groups", L.Conv2D(4, (1, 2), groups=2), (1, 2, 3, 4))
layer("conv1d_transpose", L.Conv1DTranspose(2, 3, strides=2), (1, 3, 2))
layer("conv2d_transpose", L.Conv2DTranspose(1, 3, strides=2, padding="same", output_padding=1), (1, 2, 2, 2))
for kind, shape in (("1D", (1, 5, 2)), ("2D", (1, 4, 5, 2))):
    layer("max_pooling" + kind, getattr(L, "MaxPooling" + kind)(2, padding="same"), shape)
    layer("average_pooling" + kind, getattr(L, "AveragePooling" + kind)(2, strides=1), shape)
    layer("global_max_pooling" + kind, getattr(L, "GlobalMaxPooling" + kind)(), shape)
    layer("global_average_pooling" + kind, getattr(L, "GlobalAveragePooling" + kind)(keepdims=True), shape)
MASK = np.array([[True, True, False], [False, True, True]])
layer("global_average_pooling/mask", L.GlobalAveragePooling1D(), (2, 3, 2), mask=MASK)
layer("batch_normalization", L.BatchNormalization(), (4, 3), training=False)
batch = layer("batch_normalization/training", L.BatchNormalization(momentum=0.9), (4, 3), training=True)
numbers["batch_normalization/moving_mean"], numbers["batch_normalization/moving_variance"] = (
    batch.moving_mean, batch.moving_variance)
layer("batch_normalization/axis", L.BatchNormalization(axis=1), (2, 3, 2), training=True)
layer("layer_normalization", L.LayerNormalization(), (2, 4))
layer("layer_normalization/axes", L.LayerNormalization(axis=[1, 2]), (2, 2, 3))
layer("layer_normalization/first", L.LayerNormalization(axis=1), (2, 3, 2))
normal = L.Normalization()
normal.adapt(ramp((5, 3), 4.0))
note("normalization", normal, ramp((2, 3)))
note("rescaling", L.Rescaling(0.5, 0.25), ramp((2, 3)))
numbers["dropout"] = L.Dropout(0.4, seed=3)(np.ones((4, 5), "float32"), training=True)
for name, kind in (("lstm", L.LSTM), ("gru", L.GRU), ("simple_rnn", L.SimpleRNN)):
    layer(name, kind(2), (2, 3, 2))
    layer(name + "/mask", kind(2, return_sequences=True), (2, 3, 2), mask=MASK)
    layer(name + "/backwards", kind(2, return_sequences=True, go_backwards=True), (2, 3, 2))
layer("bidirectional", L.Bidirectional(L.GRU(2, return_sequences=True)), (2, 3, 2))
layer("bidirectional/mask", L.Bidirectional(L.LSTM(2, return_sequences=True), merge_mode="ave"), (2, 3, 2), mask=MASK)
attention = L.MultiHeadAttention(2, 3)
attention.build((2, 3, 4), (2, 3, 4))
for i, v in enumerate(attention.weights):
    v.assign(ramp(v.shape, 1.0 + i))
note("attention", lambda x: attention(x, x), ramp((2, 3, 4)))
note("attention/causal", lambda x: attention(x, x, use_causal_mask=True), ramp((2, 3, 4)))
for name in ("relu tanh sigmoid softmax gelu elu selu celu silu mish leaky_relu relu6 softplus softsign squareplus exponential "
             "log_sigmoid log_softmax hard_sigmoid hard_silu hard_tanh hard_shrink soft_shrink tanh_shrink sparse_plus "
             "sparse_sigmoid glu").split():
    note("activation/" + name, keras.activations.get(name), 3 * ramp((2, 4), 0.3))
note("relu", L.ReLU(max_value=0.8, negative_slope=0.1, threshold=0.2), ramp((2, 4)))
note("leaky_relu", L.LeakyReLU(), ramp((2, 4)))
note("elu", L.ELU(0.5), ramp((2, 4)))
note("softmax/mask", lambda x: L.Softmax()(x, mask=np.array([[True, False, True, True], [True, True, False, True]])),
     ramp((2, 4)))

# Losses: one value per sample, of targets and predictions between 0 and 1.
probabilities = np.abs(ramp((3, 4), 0.3)) * 0.8 + 0.1
targets = np.abs(ramp((3, 4), 2.0)) * 0.8 + 0.1
one_hot = np.eye(4, dtype="float32")[[1, 3, 0]]
for name in ("mean_squared_error mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error huber log_cosh "
             "poisson cosine_similarity hinge squared_hinge categorical_hinge kl_divergence binary_crossentropy "
             "categorical_crossentropy binary_focal_crossentropy categorical_focal_crossentropy dice tversky").split():
    note("loss/" + name, lambda p, name=name: getattr(losses, name)(tf.constant(targets), p), probabilities)
note("loss/binary_crossentropy/logits",
     lambda p: losses.binary_crossentropy(tf.constant(targets), p, from_logits=True, label_smoothing=0.1), ramp((3, 4)))
note("loss/categorical_crossentropy/logits",
     lambda p: losses.categorical_crossentropy(tf.constant(one_hot), p, from_logits=True, label_smoothing=0.1), ramp((3, 4)))
labels = np.array([1, 3, 0])
note("loss/sparse_categorical_crossentropy", lambda p: losses.sparse_categorical_crossentropy(labels, p), probabilities)
note("loss/sparse_categorical_crossentropy/logits",
     lambda p: losses.sparse_categorical_crossentropy(labels, p, from_logits=True), ramp((3, 4)))
note("loss/categorical_generalized_cross_entropy",
     lambda p: losses.categorical_generalized_cross_entropy(labels, p, 0.5), probabilities)
note("loss/circle", lambda p: losses.circle(np.array([0, 1, 0, 1]), tf.math.l2_normalize(p, 1)), ramp((4, 3)))
note("loss/ctc", lambda p: losses.ctc(np.array([[1, 2], [3, 0]]), p), ramp((2, 5, 4)))

lines = [f'    {{"{name}",\n     {{{", ".join(repr(float(f"{v:.7g}")) for v in np.asarray(value).ravel())}}}}},'
         for name, value in numbers.items()]
pathlib.Path(__file__).parents[1].joinpath("tests/unit/keras_numbers.h").write_text(
    "// What Keras gives for the layers and losses of the tests, by tools/make_layer_numbers.py.\n#pragma once\n"
    "#include <map>\n#include <string>\n#include <vector>\n\nnamespace gradus {\n\n"
    f"// From Keras {keras.__version__}.\n"
    "inline const std::map<std::string, std::vector<double>> kKerasNumbers = {\n" + "\n".join(lines)
    + "\n};\n\n}  // namespace gradus\n")
