"""Numbers of optimizers beside float64 variables are doubles."""
import math

import numpy as np

import gradus as tf
from gradus import keras


def test_averages_of_float64_variables():
    x = tf.Variable(1.0, dtype="float64")
    sgd = keras.optimizers.SGD(0.5, use_ema=True, ema_momentum=0.99)
    value, average = 1.0, 0.0
    for i in range(5):
        sgd.apply([tf.constant(0.25, tf.float64)], [x])
        value -= 0.5 * 0.25
        kept = 0.99 if i else 0.0
        average = kept * average + (1 - kept) * value
    sgd.finalize_variable_values([x])
    assert float(x) == average  # was rounded to float32


def test_nadam_of_float64_variables():
    x = tf.Variable(1.0, dtype="float64")
    nadam = keras.optimizers.Nadam(0.5)
    value, m, v, product, g = 1.0, 0.0, 0.0, 1.0, 0.25
    for step in range(1, 9):
        nadam.apply([tf.constant(g, tf.float64)], [x])
        share, following = (0.9 * (1 - 0.5 * 0.96 ** s) for s in (step, step + 1))
        product *= share
        m += (g - m) * (1 - 0.9)
        v += (g * g - v) * (1 - 0.999)
        value -= 0.5 * (following / (1 - product * following) * m + (1 - share) / (1 - product) * g) / (
            math.sqrt(v / (1 - 0.999 ** step)) + 1e-7)
    np.testing.assert_allclose(float(x), value, rtol=1e-13)
