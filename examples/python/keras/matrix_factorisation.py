"""Ratings by users and items as products of embeddings; the tables' gradients stay sparse."""
import numpy as np
import gradus as tf
from gradus import keras

layers = keras.layers


class Factors(keras.Model):
    def __init__(self, users, items, width=8, **kwargs):
        super().__init__(**kwargs)
        self.user, self.item = layers.Embedding(users, width), layers.Embedding(items, width)
        self.user_bias, self.item_bias = layers.Embedding(users, 1), layers.Embedding(items, 1)

    def call(self, pairs):
        user, item = pairs[:, 0], pairs[:, 1]
        product = tf.reduce_sum(self.user(user) * self.item(item), axis=1, keepdims=True)
        return product + self.user_bias(user) + self.item_bias(item)


def main(epochs=20, users=200, items=150, ratings=6000, run_eagerly=False, verbose=0):
    keras.utils.set_random_seed(11)
    rng = np.random.RandomState(0)
    true = rng.normal(size=(users, 3)) @ rng.normal(size=(3, items))
    pairs = np.stack([rng.randint(users, size=ratings), rng.randint(items, size=ratings)], 1)
    values = true[pairs[:, 0], pairs[:, 1]][:, None].astype(np.float32)
    model = Factors(users, items)
    model.compile(keras.optimizers.Adagrad(0.5), "mse", run_eagerly=run_eagerly)
    losses = model.fit(pairs[1000:], values[1000:], batch_size=100, epochs=epochs, verbose=verbose).history["loss"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(pairs[:10]) - values[:10]))
    gradient = tape.gradient(loss, model.user.embeddings)
    return losses[0], losses[-1], model.evaluate(pairs[:1000], values[:1000], verbose=0), type(gradient).__name__


if __name__ == "__main__":
    print("squared error from {:.2f} to {:.3f}, held out {:.3f}; gradients are {}".format(*main(verbose=1)))
