"""Handwritten digits with the graph and the session of TensorFlow 1: batches are fed, the model is saved and restored."""
import pathlib
import tempfile

import numpy as np

import gradus.compat.v1 as tf


def main():
    text = (pathlib.Path(__file__).resolve().parents[1] / "data/digits.txt").read_text()
    digits = [line.split() for line in text.splitlines() if not line.startswith("#")]
    labels = np.array([int(label) for label, _ in digits])
    images = np.array([[int(pixel, 17) for pixel in pixels] for _, pixels in digits], np.float32) / 16
    train_images, train_labels, test_images, test_labels = images[:-359], labels[:-359], images[-359:], labels[-359:]

    tf.reset_default_graph()
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 64], name="x")
    y = tf.placeholder(tf.int64, [None], name="y")
    with tf.variable_scope("model"):
        hidden = tf.layers.dense(x, 128, activation=tf.nn.relu)
        logits = tf.layers.dense(hidden, 10)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32), name="accuracy")
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.003).minimize(loss, global_step=step)
    saver = tf.train.Saver()

    with tempfile.TemporaryDirectory() as folder:
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            order = np.random.RandomState(0)
            for _ in range(10):
                for batch in np.array_split(order.permutation(len(train_images)), len(train_images) // 32):
                    session.run([train, loss], {x: train_images[batch], y: train_labels[batch]})
            path = saver.save(session, folder + "/digits", global_step=step)
        with tf.Session() as session:
            saver.restore(session, path)
            accuracy = session.run("accuracy:0", {"x:0": test_images, "y:0": test_labels})
            return accuracy, int(session.run(step))


if __name__ == "__main__":
    print("accuracy %.3f after %d steps" % main())
