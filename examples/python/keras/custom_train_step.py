"""A train_step of one's own: mixup, with the compiled loss and metrics of `compile`."""
import gradus as tf
from digits import load
from gradus import keras


class Mixup(keras.Model):
    def train_step(self, data):
        x, y = data
        y = tf.one_hot(y, 10)
        weight = tf.random.uniform([tf.shape(x)[0], 1, 1, 1], 0.7, 1.0)
        flipped, other = tf.reverse(x, [0]), tf.reverse(y, [0])
        mixed = weight * x + (1 - weight) * flipped
        weight = weight[:, :, 0, 0]
        with tf.GradientTape() as tape:
            prediction = self(mixed, training=True)
            loss = self.compute_loss(y=weight * y + (1 - weight) * other, y_pred=prediction)
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply(gradients, self.trainable_weights)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, prediction)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        return super().test_step((x, tf.one_hot(y, 10)))


def main(epochs=10, run_eagerly=False, verbose=0):
    keras.utils.set_random_seed(14)
    (x, y), test = load()
    inputs = keras.Input((8, 8, 1))
    hidden = keras.layers.Dense(64, "relu")(keras.layers.Flatten()(inputs))
    model = Mixup(inputs, keras.layers.Dense(10, "softmax")(hidden))
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"], run_eagerly=run_eagerly)
    history = model.fit(x, y, epochs=epochs, verbose=verbose).history
    return history["loss"][0], history["loss"][-1], model.evaluate(*test, verbose=0, return_dict=True)["accuracy"]


if __name__ == "__main__":
    print("loss from {:.2f} to {:.2f}, held-out accuracy {:.1%}".format(*main(verbose=1)))
