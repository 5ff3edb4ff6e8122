"""Preprocessing inside and outside the tape, and how the tape's report tells the difference."""
import gradus as tf


def main():
    data = tf.random.stateless_normal([1000, 8], seed=[1, 2])
    w = tf.Variable(tf.ones([8, 1]))

    def normalised(x):
        mean, variance = tf.nn.moments(x, axes=[0])
        return (x - mean) / tf.sqrt(variance + 1e-6)

    with tf.GradientTape() as inside:
        inside.watch(data)  # as if the data had been made from something that is watched
        loss = tf.reduce_mean(tf.square(normalised(data) @ w))
    report_inside = inside.report()
    first = inside.gradient(loss, w)

    prepared = normalised(data)
    with tf.GradientTape() as outside:
        loss = tf.reduce_mean(tf.square(prepared @ w))
    report_outside = outside.report()
    second = outside.gradient(loss, w)
    return report_inside, report_outside, float(tf.reduce_max(tf.abs(first - second)))


if __name__ == "__main__":
    inside, outside, difference = main()
    print("Inside the tape:\n" + inside + "\nOutside:\n" + outside)
    print("The gradients differ by", difference)
