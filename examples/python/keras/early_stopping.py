"""Early stopping, checkpoints, and a training that goes on where it was left."""
import os
import tempfile

import numpy as np
import gradus as tf
from gradus import keras


def make_model(run_eagerly):
    keras.utils.set_random_seed(19)
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(64, "tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(2e-2), "mse", run_eagerly=run_eagerly)
    return model


def main(run_eagerly=False, verbose=0):
    rng = np.random.RandomState(0)
    x = rng.uniform(-2, 2, (48, 1)).astype(np.float32)
    y = (np.sin(2 * x) + 0.3 * rng.normal(size=x.shape)).astype(np.float32)
    train, held = (x[:32], y[:32]), (x[32:], y[32:])
    with tempfile.TemporaryDirectory() as folder:
        best = os.path.join(folder, "best.keras")
        model = make_model(run_eagerly)
        history = model.fit(*train, validation_data=held, epochs=300, verbose=verbose, callbacks=[
            keras.callbacks.EarlyStopping(patience=15, restore_best_weights=True),
            keras.callbacks.ModelCheckpoint(best, save_best_only=True),
            keras.callbacks.ReduceLROnPlateau(patience=8),
            keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
        ])
        restored = model.evaluate(*held, verbose=0)
        loaded = keras.models.load_model(best).evaluate(*held, verbose=0)
        with open(os.path.join(folder, "log.csv")) as file:
            rows = len(file.readlines()) - 1

        # Ten epochs at once, and five twice with a checkpoint between: the same weights.
        whole = make_model(run_eagerly)
        whole.fit(*train, epochs=10, shuffle=False, verbose=0)
        first = make_model(run_eagerly)
        first.fit(*train, epochs=5, shuffle=False, verbose=0)
        path = tf.train.Checkpoint(model=first, optimizer=first.optimizer).save(os.path.join(folder, "state"))
        second = make_model(run_eagerly)
        second.fit(*train, epochs=1, shuffle=False, verbose=0)  # somewhere else
        tf.train.Checkpoint(model=second, optimizer=second.optimizer).restore(path).assert_existing_objects_matched()
        second.fit(*train, epochs=5, shuffle=False, verbose=0)
        difference = max(float(np.abs(a - b).max()) for a, b in zip(whole.get_weights(), second.get_weights()))
    losses = history.history["val_loss"]
    return len(losses), min(losses), restored, loaded, rows, difference


if __name__ == "__main__":
    print("stopped after {} epochs; best {:.4f}, restored {:.4f}, loaded {:.4f}; {} rows logged; resumed to {:.1e}".format(
        *main()))
