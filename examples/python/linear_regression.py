"""A line through noisy points: mean squared error and gradient descent by hand."""
import gradus as tf


def main(steps=300):
    tf.random.set_seed(1)
    x = tf.random.uniform([200, 1], -1.0, 1.0)
    y = 3.0 * x + 2.0 + tf.random.normal([200, 1], stddev=0.1)
    w, b = tf.Variable([[0.0]]), tf.Variable([0.0])
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ w + b - y))
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.1 * dw)
        b.assign_sub(0.1 * db)
    return float(w[0, 0]), float(b[0]), float(loss)


if __name__ == "__main__":
    print("y = {:.3f} x + {:.3f}, loss {:.4f}".format(*main()))
