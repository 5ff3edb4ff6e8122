"""Layers of half precision keep their activations in half the memory, on a tape and in a program."""
import re

import pytest

import gradus as tf
from gradus import keras

BATCH, WIDTH, DEPTH = 4096, 64, 8
ACTIVATION = BATCH * WIDTH * 4  # bytes of one in float32


def step_of(dtype):
    """A step of training that puts the tape's report into a list when it runs eagerly."""
    layers = [keras.layers.Dense(WIDTH, activation="relu", dtype=dtype) for _ in range(DEPTH)]
    model = keras.Sequential([keras.Input((WIDTH,)), *layers, keras.layers.Dense(1, dtype=dtype)])
    optimizer, reports = keras.optimizers.SGD(1e-3), []

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.cast(model(x, training=True), tf.float32)))
        if tf.executing_eagerly():
            reports.append(tape.report())
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss
    return step, reports


def megabytes(pattern, text):
    number, unit = re.search(pattern, text).groups()
    return float(number) * {"kB": 1e-3, "MB": 1.0}[unit]


def held_by_the_tape(dtype):
    step, reports = step_of(dtype)
    step(tf.ones((BATCH, WIDTH)))
    return megabytes(r"it holds ([\d.]+) (\wB) of saved tensors", reports[0])


def temporaries_of_the_program(dtype):
    step = tf.function(step_of(dtype)[0], memory_limit=10 ** 9)
    step(tf.ones((BATCH, WIDTH)))
    return megabytes(r"temporaries [\d.]+ -> ([\d.]+) (\wB)", step.explain())


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_a_tape_holds_half(dtype):
    full, half = held_by_the_tape(None), held_by_the_tape(dtype)
    assert full > DEPTH * ACTIVATION / 1e6
    assert half == pytest.approx(full / 2, rel=0.02)


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_a_program_holds_half(dtype):
    full, half = temporaries_of_the_program(None), temporaries_of_the_program(dtype)
    assert full > DEPTH * ACTIVATION / 1e6
    own = ACTIVATION / 2 / 1e6  # the input in half precision, which the float32 program has from its caller
    assert half - own <= 0.55 * full
