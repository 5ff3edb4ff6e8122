#!/usr/bin/env python3
"""Writes tests/python/data: small files made by h5py and by the real Keras, for tests that need neither.

    python tools/make_file_fixtures.py          # with a Python that has keras and tensorflow
"""
import json
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
DATA = pathlib.Path(__file__).resolve().parent.parent / "tests/python/data"

import h5py  # noqa: E402
import numpy as np  # noqa: E402


def features():
    """What HDF5 files may contain."""
    x = np.arange(120, dtype=np.float32).reshape(10, 12) / 7
    with h5py.File(DATA / "h5py_features.h5", "w") as f:
        f["plain"] = x
        f.create_dataset("packed", data=x, chunks=(3, 5), compression="gzip", shuffle=True, fletcher32=True)
        f.create_dataset("summed", data=x, chunks=(4, 12), fletcher32=True)
        f["big_endian"] = x.astype(">f4")
        f["bool"] = np.array([True, False, True])
        f["text"], f["texts"], f["fixed"] = "text", ["a", "bcd"], np.array([b"ab", b"c"])
        f["empty"], f["scalar"], f["integer"] = np.zeros((0, 4), "f4"), np.float64(3.5), np.int64(-9)
        for i in range(40):
            f[f"many/{i}"] = np.float32(i)
        f.attrs["title"], f.attrs["numbers"], f.attrs["fixed"] = "features", np.arange(3), np.bytes_("fix")
        f.attrs["none"] = h5py.Empty("f4")
        f["hard"], f["soft"] = f["many/3"], h5py.SoftLink("/many/3")


def models():
    """Models of several kinds, with what they predict."""
    import keras
    layers = keras.layers
    keras.utils.set_random_seed(7)
    rng = np.random.default_rng(3)
    facts = {"keras": keras.__version__, "models": {}}

    def sequential():
        m = keras.Sequential([keras.Input((4,)), layers.Dense(5, activation="relu", name="first"),
                              layers.BatchNormalization(), layers.Dropout(0.3), layers.Dense(2)], name="seq")
        m.compile("adam", "mse", metrics=["mae"])
        return m, rng.normal(size=(8, 4)), rng.normal(size=(8, 2))

    def functional():
        a, b = keras.Input((4,), name="a"), keras.Input((3,), name="b")
        shared = keras.Sequential([layers.Dense(3, activation="tanh"), layers.Dense(3)], name="inner")
        x = layers.Concatenate()([shared(layers.Dense(3)(a)), shared(b), b])
        m = keras.Model([a, b], layers.Dense(2, activation="softmax", kernel_regularizer="l2")(x), name="two_inputs")
        m.compile(keras.optimizers.SGD(0.1, momentum=0.9), "categorical_crossentropy")
        return m, [rng.normal(size=(8, 4)), rng.normal(size=(8, 3))], np.eye(2)[rng.integers(0, 2, 8)]

    def recurrent():
        m = keras.Sequential([keras.Input((6,)), layers.Embedding(11, 4),
                              layers.Bidirectional(layers.LSTM(3, return_sequences=True)), layers.GRU(3),
                              layers.Dense(1, activation="sigmoid")], name="text")
        m.compile("rmsprop", "binary_crossentropy")
        return m, rng.integers(0, 11, (8, 6)), rng.integers(0, 2, (8, 1)).astype(float)

    def convolution():
        m = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(3, 3, activation="relu"), layers.MaxPooling2D(),
                              layers.Flatten(), layers.Dense(2)], name="image")
        m.compile("adam", "mse")
        return m, rng.normal(size=(4, 8, 8, 1)), rng.normal(size=(4, 2))

    def attention():
        i = keras.Input((5, 4))
        x = layers.LayerNormalization()(i)
        x = layers.Add()([x, layers.MultiHeadAttention(2, 3)(x, x)])
        m = keras.Model(i, layers.Dense(2)(layers.GlobalAveragePooling1D()(x)), name="attention")
        m.compile("adam", "mse")
        return m, rng.normal(size=(4, 5, 4)), rng.normal(size=(4, 2))

    for make in (sequential, functional, recurrent, convolution, attention):
        model, x, y = make()
        x = [v.astype("float32") for v in x] if isinstance(x, list) else x.astype("float32")
        model.fit(x, y.astype("float32"), epochs=1, batch_size=4, verbose=0, shuffle=False)
        name = make.__name__
        model.save(DATA / f"{name}.keras")
        model.save_weights(DATA / f"{name}.weights.h5")
        facts["models"][name] = {
            "x": [v.tolist() for v in x] if isinstance(x, list) else x.tolist(), "y": y.tolist(),
            "predicted": model.predict(x, verbose=0).tolist(), "weights": [w.name for w in model.weights],
            "optimizer": [[v.name, float(np.sum(np.asarray(v)))] for v in model.optimizer.variables]}
    model, _, _ = sequential()
    model.load_weights(DATA / "sequential.weights.h5")
    model.save(DATA / "sequential.h5")
    (DATA / "models.json").write_text(json.dumps(facts) + "\n")


def hostile():
    """Small files that declare large datasets: of 2^40 elements, in chunks or not, and one that would really unpack."""
    where = "layers/dense/vars/0"
    with h5py.File(DATA / "huge_packed.weights.h5", "w") as f:
        f.create_dataset(where, (2**40,), "f4", chunks=(1024,), compression="gzip")[:10] = 1
    with h5py.File(DATA / "huge_empty.weights.h5", "w") as f:
        f.create_dataset(where, (2**40,), "f4")
    with h5py.File(DATA / "huge_chunk.weights.h5", "w") as f:
        zeros = f.create_dataset(where, (2**25,), "f4", chunks=(2**25,), compression="gzip", compression_opts=9)
        zeros[:] = np.zeros(2**25, "f4")


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    hostile()
    features()
    models()
