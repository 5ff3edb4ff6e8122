"""A GRU that adds the two marked numbers of a sequence; padding is masked away."""
import numpy as np
from gradus import keras

layers = keras.layers


def marked_numbers(count, longest, rng):
    x, y = np.zeros((count, longest, 2), np.float32), np.zeros((count, 1), np.float32)
    for row, target in zip(x, y):
        length = rng.randint(longest // 2, longest + 1)
        row[:length, 0] = rng.uniform(0.1, 1, length)
        marks = rng.choice(length, 2, replace=False)
        row[marks, 1] = 1
        target[:] = row[marks, 0].sum()
    return x, y


def main(epochs=25, run_eagerly=False, verbose=0):
    keras.utils.set_random_seed(4)
    rng = np.random.RandomState(0)
    x, y = marked_numbers(512, 10, rng)
    inputs = keras.Input((None, 2))
    hidden = layers.Masking(0.0)(inputs)
    hidden = layers.GRU(32)(hidden)
    model = keras.Model(inputs, layers.Dense(1)(hidden))
    model.compile(keras.optimizers.Adam(1e-2), "mse", run_eagerly=run_eagerly)
    losses = model.fit(x, y, batch_size=64, epochs=epochs, verbose=verbose).history["loss"]
    return losses[0], losses[-1], model.evaluate(*marked_numbers(64, 12, rng), verbose=0)


if __name__ == "__main__":
    print("squared error from {:.3f} to {:.4f}; on longer sequences {:.4f}".format(*main(verbose=1)))
