"""An optimizer of one's own: signs of the averaged gradient, with a slot for each variable."""
import numpy as np
import gradus as tf
from gradus import keras


class SignMomentum(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=1e-2, momentum=0.9, name="sign_momentum", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.momentum = momentum

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.averages = [self.add_variable_from_reference(v, name="average") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        average = self.averages[self._get_variable_index(variable)]
        self.assign(average, self.momentum * average + (1 - self.momentum) * gradient)
        self.assign_sub(variable, tf.cast(learning_rate, variable.dtype) * tf.sign(average))

    def get_config(self):
        return {**super().get_config(), "momentum": self.momentum}


def main(epochs=40, run_eagerly=False):
    keras.utils.set_random_seed(13)
    x = np.linspace(-1, 1, 128, dtype=np.float32)[:, None]
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(32, "tanh"), keras.layers.Dense(1)])
    schedule = keras.optimizers.schedules.ExponentialDecay(1e-2, decay_steps=40, decay_rate=0.8)
    model.compile(SignMomentum(schedule), "mse", run_eagerly=run_eagerly)
    losses = model.fit(x, x ** 3, batch_size=32, epochs=epochs, verbose=0).history["loss"]
    return losses[0], losses[-1], int(model.optimizer.iterations)


if __name__ == "__main__":
    print("loss from {:.3f} to {:.5f} in {} steps".format(*main()))
