"""Loops and branches that depend on values: a tape follows whatever ran."""
import gradus as tf


def collatz_like(x):
    steps = 0
    while x > 1.0:
        x = x / 2.0 if tf.reduce_sum(tf.round(x)) % 2 == 0 else x * 0.75 + 0.1
        steps += 1
    return x, steps


def newton_root(a, tolerance=1e-6):
    """sqrt(a) by Newton's method, as long as it takes."""
    x = tf.ones_like(a)
    while tf.abs(x * x - a) > tolerance * a:
        x = 0.5 * (x + a / x)
    return x


def main():
    a = tf.Variable(9.0)
    with tf.GradientTape(persistent=True) as tape:
        root = newton_root(a.value())
        end, steps = collatz_like(a * 1.0)
        folded = tf.foldl(lambda total, v: total * 0.5 + v * a, tf.range(4.0))
    return float(root), float(tape.gradient(root, a)), steps, float(tape.gradient(end, a)), float(tape.gradient(folded, a))


if __name__ == "__main__":
    print("root {:.5f}, its derivative {:.5f}; {} steps, derivative {:.5f}; of a fold {:.3f}".format(*main()))
