"""The fast gradient sign method: how little it takes to fool a classifier."""
import gradus as tf
from digits import load
from gradus import keras


def main(epochs=8, epsilon=0.15, run_eagerly=False):
    keras.utils.set_random_seed(9)
    (x, y), (x_test, y_test) = load()
    model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Flatten(), keras.layers.Dense(64, "relu"),
                              keras.layers.Dense(10)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"], run_eagerly=run_eagerly)
    model.fit(x, y, epochs=epochs, verbose=0)

    def perturbed(images, labels):
        with tf.GradientTape() as tape:
            tape.watch(images)
            value = loss(labels, model(images))
        return tf.clip_by_value(images + epsilon * tf.sign(tape.gradient(value, images)), 0.0, 1.0)

    if not run_eagerly:
        perturbed = tf.function(perturbed)
    fooled = perturbed(tf.constant(x_test), tf.constant(y_test))
    return model.evaluate(x_test, y_test, verbose=0)[1], model.evaluate(fooled, y_test, verbose=0)[1]


if __name__ == "__main__":
    print("accuracy {:.1%}; on perturbed digits {:.1%}".format(*main()))
