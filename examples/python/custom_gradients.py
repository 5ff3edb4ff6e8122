"""Gradients of one's own: one that does not overflow, one that is clipped, one that recomputes."""
import gradus as tf


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)
    return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


@tf.custom_gradient
def clip_gradient(x):
    return tf.identity(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)


@tf.recompute_grad
def block(x):
    return tf.sin(tf.sin(x))


def derivative(f, at):
    x = tf.constant(at)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return float(tape.gradient(y, x))


def main():
    plain = lambda x: tf.math.log(1 + tf.exp(x))  # noqa: E731
    return (derivative(plain, 100.0), derivative(log1pexp, 100.0), derivative(lambda x: 50.0 * clip_gradient(x), 2.0),
            derivative(block, 0.5))


if __name__ == "__main__":
    print("overflowing {}, with a gradient of its own {}, clipped {}, recomputed {:.4f}".format(*main()))
