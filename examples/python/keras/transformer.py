"""A transformer block as a layer of one's own, on the next letter of a text."""
import gradus as tf
from gradus import keras
from text import LETTERS, windows

layers = keras.layers


class Positions(layers.Layer):
    """Adds a learned vector for each place in the sequence."""

    def build(self, shape):
        self.table = self.add_weight(name="table", shape=(64, shape[-1]), initializer="random_normal")

    def call(self, x):
        return x + self.table[:tf.shape(x)[1]]


class Block(layers.Layer):
    def __init__(self, width, heads, **kwargs):
        super().__init__(**kwargs)
        self.attention = layers.MultiHeadAttention(heads, width // heads)
        self.before, self.between = layers.LayerNormalization(), layers.LayerNormalization()
        self.wide, self.back = layers.Dense(2 * width, activation="gelu"), layers.Dense(width)

    def call(self, x):
        y = self.before(x)
        x = x + self.attention(y, y, use_causal_mask=True)
        return x + self.back(self.wide(self.between(x)))


def main(epochs=10, run_eagerly=False, verbose=0):
    keras.utils.set_random_seed(5)
    x, y = windows()
    model = keras.Sequential([
        keras.Input((None,), dtype="int32"),
        layers.Embedding(len(LETTERS), 32),
        Positions(),
        Block(32, 4),
        Block(32, 4),
        layers.Dense(len(LETTERS)),
    ])
    model.compile(keras.optimizers.AdamW(5e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"], run_eagerly=run_eagerly)
    history = model.fit(x, y, batch_size=32, epochs=epochs, verbose=verbose).history
    return history["loss"][0], history["loss"][-1], history["accuracy"][-1]


if __name__ == "__main__":
    print("loss from {:.2f} to {:.2f}, accuracy {:.1%}".format(*main(verbose=1)))
