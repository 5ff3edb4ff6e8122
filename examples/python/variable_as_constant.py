"""Why a gradient is None: a variable that became a constant on the way, and how explain() says so."""
import numpy as np

import gradus as tf


def main():
    x, scale = tf.Variable(2.0), tf.Variable(3.0)
    frozen = tf.constant(scale.numpy())  # a number from here on
    with tf.GradientTape(persistent=True) as tape:
        y = x * x * frozen
        z = x * tf.constant(np.sqrt(scale.numpy()), tf.float32)
    return tape.gradient(y, scale), tape.explain(y, scale), float(tape.gradient(y, x)), tape.explain(z, x)


if __name__ == "__main__":
    gradient, why, other, connected = main()
    print("d y / d scale:", gradient, "-", why)
    print("d y / d x:", other, "-", connected)
