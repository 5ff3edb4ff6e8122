"""A TensorFlow 1 program as it was written then; only the import line is another.

Fits a line to points, fed one by one to placeholders without a shape, and evaluates all points at once.
"""
import numpy as np

import gradus.compat.v1 as tf

tf.disable_v2_behavior()


def main():
    train_x = np.asarray([3.3, 4.4, 5.5, 6.71, 6.93, 4.168, 9.779, 6.182, 7.59, 2.167, 7.042, 10.791, 5.313, 7.997])
    train_y = np.asarray([1.7, 2.76, 2.09, 3.19, 1.694, 1.573, 3.366, 2.596, 2.53, 1.221, 2.827, 3.465, 1.65, 2.904])
    n = train_x.shape[0]

    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, name="x")
    y = tf.placeholder(tf.float32, name="y")
    slope = tf.Variable(0.5, name="slope")
    offset = tf.Variable(0.0, name="offset")
    prediction = tf.add(tf.multiply(x, slope), offset)
    cost = tf.reduce_sum(tf.pow(prediction - y, 2)) / (2 * n)
    train = tf.train.GradientDescentOptimizer(0.01).minimize(cost)

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(300):
            for (px, py) in zip(train_x, train_y):
                session.run(train, feed_dict={x: px, y: py})
        return session.run([cost, slope, offset], feed_dict={x: train_x, y: train_y})


if __name__ == "__main__":
    print("cost %.4f slope %.3f offset %.3f" % tuple(main()))
