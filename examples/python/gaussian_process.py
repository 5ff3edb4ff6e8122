"""A Gaussian process whose length scale and noise are found by the gradient of the marginal likelihood."""
import math

import gradus as tf


def kernel(a, b, length):
    return tf.exp(-0.5 * tf.square((a[:, None] - b[None, :]) / length))


def main(steps=100):
    x = tf.cast(tf.linspace(0.0, 6.0, 30), tf.float64)
    y = tf.sin(x) + tf.random.stateless_normal([30], seed=[1, 2], stddev=0.1, dtype=tf.float64)
    log_length, log_noise = tf.Variable(math.log(0.3), dtype=tf.float64), tf.Variable(math.log(0.5), dtype=tf.float64)

    def negative_log_likelihood():
        covariance = kernel(x, x, tf.exp(log_length)) + tf.exp(2 * log_noise) * tf.eye(30, dtype=tf.float64)
        factor = tf.linalg.cholesky(covariance)
        weights = tf.linalg.cholesky_solve(factor, y[:, None])[:, 0]
        return 0.5 * tf.reduce_sum(y * weights) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))

    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = negative_log_likelihood()
        for v, g in zip([log_length, log_noise], tape.gradient(loss, [log_length, log_noise])):
            v.assign_sub(0.01 * g)
    return float(tf.exp(log_length)), float(tf.exp(log_noise)), float(loss)


if __name__ == "__main__":
    print("length {:.3f}, noise {:.3f}, negative log likelihood {:.2f}".format(*main()))
