"""An LSTM that learns which letter comes next, and then writes."""
import numpy as np
from gradus import keras
from text import LETTERS, windows

layers = keras.layers


def write(model, start, count):
    text = start
    for _ in range(count):
        recent = np.array([[LETTERS.index(c) for c in text[-16:]]])
        text += LETTERS[int(np.argmax(model.predict(recent, verbose=0)[0, -1]))]
    return text


def main(epochs=12, run_eagerly=False, verbose=0, letters=20):
    keras.utils.set_random_seed(3)
    x, y = windows()
    model = keras.Sequential([
        keras.Input((None,), dtype="int32"),
        layers.Embedding(len(LETTERS), 16),
        layers.LSTM(64, return_sequences=True),
        layers.Dense(len(LETTERS), activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy", metrics=["accuracy"],
                  run_eagerly=run_eagerly)
    losses = model.fit(x, y, batch_size=32, epochs=epochs, verbose=verbose).history["loss"]
    return losses[0], losses[-1], write(model, "the rain in spai", letters)


if __name__ == "__main__":
    print("loss from {:.2f} to {:.2f}; it writes: {!r}".format(*main(verbose=1, letters=60)))
