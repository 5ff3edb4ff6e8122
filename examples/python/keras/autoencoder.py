"""An autoencoder: digits through eight numbers and back; encoder and decoder are models of their own."""
import numpy as np
from digits import load
from gradus import keras

layers = keras.layers


def main(epochs=15, run_eagerly=False, verbose=0):
    keras.utils.set_random_seed(6)
    (x, _), (x_test, _) = load()
    encoder = keras.Sequential([keras.Input((8, 8, 1)), layers.Flatten(), layers.Dense(32, activation="relu"),
                                layers.Dense(8)], name="encoder")
    decoder = keras.Sequential([keras.Input((8,)), layers.Dense(32, activation="relu"),
                                layers.Dense(64, activation="sigmoid"), layers.Reshape((8, 8, 1))], name="decoder")
    image = keras.Input((8, 8, 1))
    model = keras.Model(image, decoder(encoder(image)))
    model.compile(keras.optimizers.Adam(3e-3), "binary_crossentropy", metrics=["mse"], run_eagerly=run_eagerly)
    model.fit(x, x, batch_size=32, epochs=epochs, verbose=verbose)
    error = model.evaluate(x_test, x_test, verbose=0)[1]
    by_parts = decoder.predict(encoder.predict(x_test, verbose=0), verbose=0)
    mean_error = float(np.mean((x_test - x.mean(0)) ** 2))
    return error, mean_error, float(np.abs(by_parts - model.predict(x_test, verbose=0)).max())


if __name__ == "__main__":
    print("squared error {:.4f} (the mean digit: {:.4f}); in two halves the same to {:.1e}".format(*main(verbose=1)))
