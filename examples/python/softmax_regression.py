"""Three clouds of points told apart by softmax regression."""
import gradus as tf


def main(steps=200):
    tf.random.set_seed(3)
    centres = tf.constant([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]])
    labels = tf.repeat(tf.range(3), 100)
    points = tf.gather(centres, labels) + tf.random.normal([300, 2], stddev=0.6)
    w, b = tf.Variable(tf.zeros([2, 3])), tf.Variable(tf.zeros([3]))
    for _ in range(steps):
        with tf.GradientTape() as tape:
            logits = points @ w + b
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        for variable, gradient in zip([w, b], tape.gradient(loss, [w, b])):
            variable.assign_sub(0.5 * gradient)
    correct = tf.equal(tf.argmax(points @ w + b, axis=1, output_type=tf.int32), labels)
    return float(loss), float(tf.reduce_mean(tf.cast(correct, tf.float32)))


if __name__ == "__main__":
    print("loss {:.4f}, accuracy {:.3f}".format(*main()))
