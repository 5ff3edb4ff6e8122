"""Learning to learn: MAML on sine waves, with a tape in a tape."""
import math

import gradus as tf


def network(parameters, x):
    w1, b1, w2, b2 = parameters
    return tf.tanh(x @ w1 + b1) @ w2 + b2


def loss_of(parameters, x, y):
    return tf.reduce_mean(tf.square(network(parameters, x) - y))


def adapted(parameters, x, y, rate=0.1):
    """One step of gradient descent, as a function of the parameters that can itself be differentiated."""
    with tf.GradientTape() as inner:
        inner.watch(parameters)
        loss = loss_of(parameters, x, y)
    return [p - rate * g for p, g in zip(parameters, inner.gradient(loss, parameters))]


def main(steps=150, tasks=8):
    tf.random.set_seed(2)
    meta = [tf.Variable(tf.random.normal([1, 20], stddev=1.0)), tf.Variable(tf.zeros([20])),
            tf.Variable(tf.random.normal([20, 1], stddev=0.2)), tf.Variable(tf.zeros([1]))]

    def batch(phase):
        x = tf.random.uniform([10, 1], -math.pi, math.pi)
        return x, tf.sin(x + phase)

    history = []
    for _ in range(steps):
        with tf.GradientTape() as outer:
            total = 0.0
            for phase in tf.random.uniform([tasks], 0.0, 1.5):
                parameters = [tf.identity(v) for v in meta]
                after = adapted(parameters, *batch(phase))
                total += loss_of(after, *batch(phase)) / tasks
        for v, g in zip(meta, outer.gradient(total, meta)):
            v.assign_sub(0.05 * g)
        history.append(float(total))
    return sum(history[:10]) / 10, sum(history[-10:]) / 10


if __name__ == "__main__":
    print("loss after one step of adaptation, from {:.3f} to {:.3f}".format(*main()))
