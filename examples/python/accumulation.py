"""Gradients of micro-batches added up give the gradient of the whole batch."""
import gradus as tf
import gradus


def main():
    x = tf.random.stateless_normal([64, 10], seed=[3, 4])
    y = tf.reduce_sum(x, axis=1, keepdims=True)
    w = tf.Variable(tf.zeros([10, 1]))

    def gradient(xs, ys, **options):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(xs @ w - ys)) / 64
        return tape.gradient(loss, w, **options)

    whole = gradient(x, y)
    total = tf.Variable(tf.zeros_like(w))
    for xs, ys in zip(tf.split(x, 8), tf.split(y, 8)):
        total.assign_add(gradient(xs, ys))
    buffers = gradus.GradientBuffers()  # the same without a variable for the sum, in place
    for xs, ys in zip(tf.split(x, 8), tf.split(y, 8)):
        in_place = gradient(xs, ys, into=buffers)
    return float(tf.reduce_max(tf.abs(total - whole))), float(tf.reduce_max(tf.abs(in_place - whole)))


if __name__ == "__main__":
    print("largest differences", main())
