"""A functional model with two inputs and two outputs, by name, with a shared layer and loss weights."""
import numpy as np
from gradus import keras

layers = keras.layers


def main(epochs=30, run_eagerly=False, verbose=0):
    keras.utils.set_random_seed(18)
    left, right = keras.Input((4,), name="left"), keras.Input((4,), name="right")
    shared = layers.Dense(16, activation="tanh", name="shared")
    both = layers.Concatenate()([shared(left), shared(right), layers.Multiply()([left, right])])
    hidden = layers.Dense(32, activation="relu")(both)
    outputs = {"product": layers.Dense(1, name="product")(hidden),
               "larger": layers.Dense(1, activation="sigmoid", name="larger")(hidden)}
    model = keras.Model({"left": left, "right": right}, outputs)
    model.compile(keras.optimizers.Adam(1e-2), loss={"product": "mse", "larger": "binary_crossentropy"},
                  loss_weights={"product": 1.0, "larger": 0.5}, metrics={"larger": ["accuracy"]}, run_eagerly=run_eagerly)
    rng = np.random.RandomState(0)
    a, b = rng.normal(size=(2, 512, 4)).astype(np.float32)
    x = {"left": a, "right": b}
    y = {"product": (a * b).sum(1, keepdims=True), "larger": (a.sum(1, keepdims=True) > b.sum(1, keepdims=True)) * 1.0}
    history = model.fit(x, y, batch_size=64, epochs=epochs, verbose=verbose).history
    return sorted(history), history["loss"][0], history["loss"][-1], history["larger_accuracy"][-1]


if __name__ == "__main__":
    print("{}: loss from {:.2f} to {:.3f}, accuracy {:.1%}".format(*main(verbose=1)))
