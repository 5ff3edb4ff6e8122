"""Transfer: a network trained on the digits 0 to 4, frozen, gets a new head for 5 to 9, then is tuned as a whole."""
import numpy as np
from digits import load
from gradus import keras

layers = keras.layers


def main(epochs=8, run_eagerly=False):
    keras.utils.set_random_seed(17)
    (x, y), (x_test, y_test) = load()
    base = keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.BatchNormalization(momentum=0.9),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
    ], name="base")

    def with_head(name):
        inputs = keras.Input((8, 8, 1))
        return keras.Model(inputs, layers.Dense(5, name=name)(base(inputs)))

    def fit(model, part, rate, epochs):
        chosen = (y >= 5) == part
        model.compile(keras.optimizers.Adam(rate), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                      metrics=["accuracy"], run_eagerly=run_eagerly)
        model.fit(x[chosen], y[chosen] - 5 * part, epochs=epochs, verbose=0)

    fit(with_head("low"), False, 3e-3, epochs)
    base.trainable = False
    before = [w.copy() for w in base.get_weights()]
    model = with_head("high")
    counts = len(model.trainable_weights), len(model.non_trainable_weights)
    fit(model, True, 1e-2, epochs)
    untouched = all(np.array_equal(a, b) for a, b in zip(before, base.get_weights()))
    chosen = y_test >= 5
    frozen = model.evaluate(x_test[chosen], y_test[chosen] - 5, verbose=0)[1]
    base.trainable = True
    fit(model, True, 1e-3, epochs)
    return counts, untouched, frozen, model.evaluate(x_test[chosen], y_test[chosen] - 5, verbose=0)[1]


if __name__ == "__main__":
    print("weights (trainable, frozen) {}; untouched: {}; accuracy frozen {:.1%}, tuned {:.1%}".format(*main()))
