"""A multi-layer perceptron that reads digits: Sequential, compile, fit, evaluate, predict."""
from digits import load
from gradus import keras


def main(epochs=15, run_eagerly=False, verbose=0):
    keras.utils.set_random_seed(1)
    (x, y), (x_test, y_test) = load()
    model = keras.Sequential([
        keras.Input((8, 8, 1)),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dropout(0.1),
        keras.layers.Dense(10, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], run_eagerly=run_eagerly)
    history = model.fit(x, y, batch_size=32, epochs=epochs, validation_split=0.1, verbose=verbose)
    loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
    agreeing = (model.predict(x_test, verbose=0).argmax(-1) == y_test).mean()
    return history.history["loss"][0], loss, accuracy, agreeing


if __name__ == "__main__":
    print("loss from {:.3f} to {:.3f} (held out), accuracy {:.1%}, by predict {:.1%}".format(*main(verbose=1)))
