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

# Options: each changes the numbers (tests/unit/keras_options_test.cpp).
F = "channels_first"
layer("o/conv2d/strides", L.Conv2D(2, 2, strides=(2, 1)), (1, 4, 5, 2))
layer("o/conv2d/dilations", L.Conv2D(2, 2, dilation_rate=(2, 1), padding="same"), (1, 4, 5, 2))
layer("o/conv2d/first", L.Conv2D(4, 2, groups=2, data_format=F, use_bias=False), (1, 2, 4, 3))
layer("o/conv1d/same", L.Conv1D(2, 3, padding="same", strides=2), (1, 5, 2))
layer("o/conv2d_transpose/first", L.Conv2DTranspose(1, 2, strides=(2, 1), data_format=F, use_bias=False), (1, 2, 2, 3))
layer("o/conv1d_transpose/dilations", L.Conv1DTranspose(2, 3, dilation_rate=2), (1, 3, 2))
for how in ("Max", "Average"):
    layer(f"o/{how}/size", getattr(L, how + "Pooling2D")((3, 2), strides=(1, 2), padding="same"), (1, 4, 5, 1))
    layer(f"o/{how}/first", getattr(L, how + "Pooling1D")(3, strides=2, data_format=F), (1, 2, 7))
    layer(f"o/{how}/global", getattr(L, f"Global{how}Pooling2D")(data_format=F, keepdims=True), (1, 2, 3, 2))
layer("o/batch/epsilon", L.BatchNormalization(epsilon=0.3), (4, 3), training=True)
masked = layer("o/batch/mask", L.BatchNormalization(momentum=0.5), (2, 3, 2), training=True, mask=MASK)
numbers["o/batch/mask/mean"], numbers["o/batch/mask/variance"] = masked.moving_mean, masked.moving_variance
layer("o/batch/mask_axis", L.BatchNormalization(axis=1), (2, 3, 2), training=True, mask=MASK)
layer("o/layer/epsilon", L.LayerNormalization(epsilon=0.3), (2, 4))
layer("o/layer/rms", L.LayerNormalization(epsilon=0.2, rms_scaling=True), (2, 4))
for name, kind in (("lstm", L.LSTM), ("gru", L.GRU), ("simple_rnn", L.SimpleRNN)):
    layer(f"o/{name}/zeros", L.RNN({"lstm": L.LSTMCell, "gru": L.GRUCell, "simple_rnn": L.SimpleRNNCell}[name](2),
                                  return_sequences=True, zero_output_for_mask=True), (2, 3, 2), mask=MASK)
layer("o/simple_rnn/relu", L.SimpleRNN(2, activation="relu"), (2, 3, 2))
for mode in ("sum", "mul", "ave"):
    layer("o/bidirectional/" + mode, L.Bidirectional(L.GRU(2), merge_mode=mode), (2, 3, 2))

t = tf.constant(targets)
wide, wide_t = np.abs(ramp((3, 4, 2), 0.3)) * 0.8 + 0.1, tf.constant(np.abs(ramp((3, 4, 2), 2.0)) * 0.8 + 0.1)
note("o/loss/huber", lambda p: losses.huber(t, p, delta=0.1), probabilities)
note("o/loss/cosine", lambda p: losses.cosine_similarity(t, p, axis=0), probabilities)
for name in ("binary", "categorical"):
    plain, focal = getattr(losses, name + "_crossentropy"), getattr(losses, name + "_focal_crossentropy")
    note(f"o/loss/{name}/smooth", lambda p, f=plain: f(t, p, label_smoothing=0.3), probabilities)
    note(f"o/loss/{name}/axis", lambda p, f=plain: f(wide_t, p, axis=1), wide)
    note(f"o/loss/{name}_focal/gamma", lambda p, f=focal: f(t, p, gamma=1.5), probabilities)
    note(f"o/loss/{name}_focal/logits", lambda p, f=focal: f(t, p, from_logits=True, label_smoothing=0.2), ramp((3, 4)))
    note(f"o/loss/{name}_focal/axis", lambda p, f=focal: f(wide_t, p, axis=1), wide)
note("o/loss/binary_focal/alpha", lambda p: losses.binary_focal_crossentropy(t, p, apply_class_balancing=True, alpha=0.7),
     probabilities)
note("o/loss/categorical_focal/alpha", lambda p: losses.categorical_focal_crossentropy(t, p, alpha=0.7), probabilities)
note("o/loss/tversky", lambda p: losses.tversky(t, p, alpha=0.2, beta=0.9, axis=1), probabilities)
note("o/loss/dice", lambda p: losses.dice(t, p, axis=1), probabilities)
circle_labels = np.array([0, 1, 0, 2])
note("o/loss/circle", lambda p: losses.circle(circle_labels, tf.math.l2_normalize(p, 1), gamma=2, margin=0.1), ramp((4, 3)))
note("o/loss/circle/diagonal",
     lambda p: losses.circle(circle_labels, tf.math.l2_normalize(p, 1), gamma=2, remove_diagonal=False), ramp((4, 3)))
note("o/loss/circle/mean", lambda p: losses.Circle(gamma=2.0)(circle_labels, tf.math.l2_normalize(p, 1)), ramp((4, 3)))
numbers["o/loss/ctc/inside"] = losses.ctc(np.array([[1, 0, 2], [0, 0, 0]]), ramp((2, 6, 4)))
note("o/loss/ctc/blank", lambda p: keras.ops.ctc_loss(np.array([[1, 0], [0, 2]]), p, np.array([2, 2]), np.array([5, 4]), mask_index=3),
     ramp((2, 5, 4)))


def steps(name, made):
    """A matrix after three steps of gradients that are ramps."""
    v = keras.Variable(np.array([[1.0, -2.0, 0.5], [0.5, 3.0, -1.0]], "float32"), name="matrix")
    for i in range(3):
        made.apply([tf.constant(ramp((2, 3), float(i)))], [v])
    numbers["o/step/" + name] = v.value


optimizers = keras.optimizers
COMMON = {"decay": dict(weight_decay=0.1), "norm": dict(clipnorm=0.5), "value": dict(clipvalue=0.3), "global": dict(global_clipnorm=0.7),
          "ema": dict(use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2), "scale": dict(loss_scale_factor=4.0),
          "several": dict(gradient_accumulation_steps=2)}
for name, options in COMMON.items():
    steps("sgd/" + name, optimizers.SGD(0.1, **options))
    steps("adam/" + name, optimizers.Adam(0.1, **options))
for name, made in {
        "sgd": optimizers.SGD(0.1, momentum=0.7, nesterov=True), "adagrad": optimizers.Adagrad(0.1, initial_accumulator_value=0.5, epsilon=0.1),
        "adam": optimizers.Adam(0.1, beta_1=0.5, beta_2=0.7, epsilon=0.1, amsgrad=True), "adamw": optimizers.AdamW(0.1, weight_decay=0.2, beta_1=0.5, beta_2=0.7),
        "adamax": optimizers.Adamax(0.1, beta_1=0.5, beta_2=0.7, epsilon=0.1), "nadam": optimizers.Nadam(0.1, beta_1=0.5, beta_2=0.7, epsilon=0.1),
        "rmsprop": optimizers.RMSprop(0.1, rho=0.5, momentum=0.6, epsilon=0.1, centered=True), "adadelta": optimizers.Adadelta(0.5, rho=0.7, epsilon=0.1),
        "lion": optimizers.Lion(0.1, beta_1=0.5, beta_2=0.7), "lamb": optimizers.Lamb(0.1, beta_1=0.5, beta_2=0.7, epsilon=0.1),
        "ftrl": optimizers.Ftrl(0.5, learning_rate_power=-0.3, initial_accumulator_value=0.5, l1_regularization_strength=0.02,
                       l2_regularization_strength=0.2, l2_shrinkage_regularization_strength=0.1, beta=0.4),
        "adafactor": optimizers.Adafactor(0.5, beta_2_decay=-0.5, epsilon_1=0.1, epsilon_2=0.1, clip_threshold=0.5, relative_step=False),
        "muon": optimizers.Muon(0.1, muon_a=3.0, muon_b=-4.0, muon_c=1.5, momentum=0.5, ns_steps=3, nesterov=False, rms_rate=0.5)}.items():
    steps(name, made)

lines = [f'    {{"{name}",\n     {{{", ".join(repr(float(f"{v:.7g}")) for v in np.asarray(value).ravel())}}}}},'
         for name, value in numbers.items()]
pathlib.Path(__file__).parents[1].joinpath("tests/unit/keras_numbers.h").write_text(
    "// What Keras gives for the layers and losses of the tests, by tools/make_layer_numbers.py.\n#pragma once\n"
    "#include <map>\n#include <string>\n#include <vector>\n\nnamespace gradus {\n\n"
    f"// From Keras {keras.__version__}.\n"
    "inline const std::map<std::string, std::vector<double>> kKerasNumbers = {\n" + "\n".join(lines)
    + "\n};\n\n}  // namespace gradus\n")
