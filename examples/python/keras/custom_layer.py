"""A layer of one's own: weights, a state, a configuration, and a model with it that saves and loads."""
import os
import tempfile

import numpy as np
import gradus as tf
from gradus import keras


@keras.saving.register_keras_serializable(package="Examples")
class Scaled(keras.layers.Layer):
    """A dense layer with a gain for each unit, which counts its calls in training."""

    def __init__(self, units, gain=1.0, **kwargs):
        super().__init__(**kwargs)
        self.units, self.gain = units, gain

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], self.units))
        self.gains = self.add_weight(name="gains", shape=(self.units,), initializer=keras.initializers.Constant(self.gain),
                                     regularizer=keras.regularizers.L2(1e-3))
        self.calls = self.add_weight(name="calls", shape=(), initializer="zeros", trainable=False)

    def call(self, x, training=False):
        if training:
            self.calls.assign_add(1.0)
        return tf.matmul(x, self.kernel) * self.gains

    def get_config(self):
        return {**super().get_config(), "units": self.units, "gain": self.gain}


def main(epochs=30, run_eagerly=False):
    keras.utils.set_random_seed(12)
    rng = np.random.RandomState(0)
    x = rng.normal(size=(128, 3)).astype(np.float32)
    y = np.sin(x[:, :1]) + x[:, 1:2] * 0.5
    model = keras.Sequential([keras.Input((3,)), Scaled(16), keras.layers.Activation("tanh"), Scaled(1, gain=0.5)])
    model.compile(keras.optimizers.Adam(2e-2), "mse", run_eagerly=run_eagerly)
    losses = model.fit(x, y, batch_size=32, epochs=epochs, verbose=0).history["loss"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        again = keras.models.load_model(path)
    same = np.array_equal(model.predict(x, verbose=0), again.predict(x, verbose=0))
    return losses[0], losses[-1], float(again.layers[0].calls), same


if __name__ == "__main__":
    print("loss from {:.3f} to {:.4f}; called {:.0f} times in training; loaded again the same: {}".format(*main()))
