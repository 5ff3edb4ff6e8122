"""A small convolutional network with batch normalisation."""
from digits import load
from gradus import keras

layers = keras.layers


def build(pooled=False):
    """A classifier; `pooled` sees only the mean of each feature map at its end."""
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D() if pooled else layers.Flatten(),
        layers.Dense(10),
    ])


def main(epochs=6, run_eagerly=False, verbose=0):
    keras.utils.set_random_seed(2)
    (x, y), test = load()
    model = build()
    model.compile(keras.optimizers.Adam(5e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"], run_eagerly=run_eagerly)
    history = model.fit(x, y, batch_size=32, epochs=epochs, verbose=verbose)
    return history.history["loss"][0], *model.evaluate(*test, verbose=0)


if __name__ == "__main__":
    build().summary()
    print("first loss {:.3f}, held out: loss {:.3f}, accuracy {:.1%}".format(*main(verbose=1)))
