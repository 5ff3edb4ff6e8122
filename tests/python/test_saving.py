"""keras.saving: files of the real Keras (tests/python/data, made by tools/make_file_fixtures.py), and our own."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

import gradus as tf
from gradus import _core, keras

layers = keras.layers
DATA = pathlib.Path(__file__).parent / "data"
FACTS = json.loads((DATA / "models.json").read_text())["models"]


def inputs(name):
    x = FACTS[name]["x"]
    return [np.array(v, np.float32) for v in x] if name == "functional" else np.array(x, np.float32)


def predicted(name):
    return np.array(FACTS[name]["predicted"], np.float32)


def small(units=3, name=None):
    return keras.Sequential([keras.Input((4,)), layers.Dense(units, activation="relu"), layers.Dense(2)], name=name)


def values(model):
    return [w.numpy().copy() for w in model.weights]


def same(a, b):
    return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b))


# ------------------------------------------------------------------------------------------ files of the real Keras

@pytest.mark.parametrize("name", list(FACTS))
def test_models_of_keras(name):
    model = keras.saving.load_model(DATA / f"{name}.keras")
    assert np.allclose(model.predict(inputs(name), verbose=0), predicted(name), atol=3e-6)
    assert [w.name for w in model.weights] == FACTS[name]["weights"]
    state = FACTS[name]["optimizer"]
    assert len(model.optimizer.variables) == len(state)
    for variable, (_, total) in zip(model.optimizer.variables, state):
        assert np.isclose(float(np.sum(variable.numpy())), total, rtol=1e-5, atol=1e-6)
    model.fit(inputs(name), np.array(FACTS[name]["y"], np.float32), epochs=1, verbose=0)


@pytest.mark.parametrize("name", list(FACTS))
def test_weights_of_keras(name, tmp_path):
    model = keras.models.clone_model(keras.saving.load_model(DATA / f"{name}.keras", compile=False))
    model.load_weights(DATA / f"{name}.weights.h5")
    assert np.allclose(model.predict(inputs(name), verbose=0), predicted(name), atol=3e-6)
    ours, theirs = tmp_path / "w.weights.h5", _core._load_hdf5(str(DATA / f"{name}.weights.h5"))
    model.save_weights(ours)

    def paths(node, at=""):
        return [at] if node[0] is not None else [p for k, c in node[2].items() for p in paths(c, f"{at}/{k}")]
    assert paths(_core._load_hdf5(str(ours))) == [p for p in paths(theirs) if not p.startswith("/optimizer")]


def test_legacy_model():
    model = keras.models.load_model(DATA / "sequential.h5")
    assert np.allclose(model.predict(inputs("sequential"), verbose=0), predicted("sequential"), atol=3e-6)
    other = keras.models.clone_model(model)
    other.load_weights(DATA / "sequential.h5")
    assert same(values(other), values(model))


def test_exchange_with_an_installed_keras(tmp_path):
    pytest.importorskip("tensorflow")
    real = pytest.importorskip("keras")
    for name in FACTS:
        model = keras.saving.load_model(DATA / f"{name}.keras")
        model.save(tmp_path / "m.keras")
        model.save_weights(tmp_path / "m.weights.h5")
        theirs = real.saving.load_model(tmp_path / "m.keras")
        assert np.allclose(theirs.predict(inputs(name), verbose=0), predicted(name), atol=3e-6)
        theirs.load_weights(tmp_path / "m.weights.h5")
        theirs.save(tmp_path / "back.keras")
        back = keras.saving.load_model(tmp_path / "back.keras")
        assert same(values(back), values(model))


# ------------------------------------------------------------------------------------------------------ round trips

@pytest.mark.parametrize("suffix", [".weights.h5", ".npz", ".safetensors"])
def test_weights_round_trip(tmp_path, suffix):
    model, other = small(), small()
    model.compile("adam", "mse")
    model.fit(np.ones((8, 4)), np.ones((8, 2)), verbose=0)
    model.save_weights(tmp_path / f"w{suffix}")
    other.load_weights(tmp_path / f"w{suffix}")
    assert same(values(model), values(other))
    other.compile("adam", "mse")
    other.optimizer.build(other.trainable_variables)
    other.load_weights(tmp_path / f"w{suffix}")
    assert same([v.numpy() for v in other.optimizer.variables], [v.numpy() for v in model.optimizer.variables])


def test_training_goes_on_as_if_never_saved(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(16, 4)).astype("float32"), np.ones((16, 2), "float32")
    model = small()
    model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    model.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False)
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    first = model.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False).history
    second = again.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False).history
    assert first == second and same(values(model), values(again))
    bare = keras.models.load_model(tmp_path / "m.keras", compile=False)
    assert not bare.compiled


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_dtypes(tmp_path, dtype):
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, dtype=dtype)])
    other = keras.models.clone_model(model)
    for suffix in (".weights.h5", ".npz", ".safetensors"):
        model.save_weights(tmp_path / f"w{suffix}")
        for w in other.weights:
            w.assign(tf.zeros(w.shape, dtype))
        other.load_weights(tmp_path / f"w{suffix}")
        for a, b in zip(model.weights, other.weights):
            assert b.dtype == dtype and bool(tf.reduce_all(tf.equal(tf.convert_to_tensor(a), tf.convert_to_tensor(b))))


class Parts(keras.Model):
    def __init__(self, units=2, **kwargs):
        super().__init__(**kwargs)
        self.units, self.a = units, layers.Dense(units)
        self.several = [layers.Dense(units), layers.Dense(units)]
        self.named = {"k": layers.Dense(units)}
        self._hidden = layers.Dense(units)
        self.same = self.a
        self.scale = self.add_weight(shape=(units,), initializer="ones", name="scale")

    def call(self, x):
        x = self.a(x)
        for layer in self.several:
            x = layer(x)
        return self._hidden(self.named["k"](x)) * self.scale

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def test_paths_of_a_subclassed_model(tmp_path):
    model = Parts()
    model(np.ones((1, 2), "float32"))
    model.save_weights(tmp_path / "w.weights.h5")
    root = _core._load_hdf5(str(tmp_path / "w.weights.h5"))
    found = set()

    def visit(node, at):
        if node[0] is not None:
            found.add(at.split("vars/")[0].strip("/"))
        for k, c in node[2].items():
            visit(c, f"{at}/{k}")
    visit(root, "")
    # As Keras: public attributes in the order of the alphabet (`layers` before `named`), then private ones.
    assert found == {"", "a", "layers/dense_1", "layers/dense_2", "layers/dense_3", "layers/dense_4"}
    other = Parts()
    other(np.ones((1, 2), "float32"))
    other.load_weights(tmp_path / "w.weights.h5")
    assert same(values(model), values(other))


def test_custom_objects(tmp_path):
    model = Parts(3)
    model(np.ones((1, 3), "float32"))
    model.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras", custom_objects={"Parts": Parts})
    x = np.ones((2, 3), "float32")
    assert isinstance(loaded, Parts) and np.array_equal(loaded(x).numpy(), model(x).numpy())
    with keras.saving.custom_object_scope({"Parts": Parts}):
        keras.models.load_model(tmp_path / "m.keras")


def test_registered_objects(tmp_path):
    @keras.saving.register_keras_serializable(package="tests", name="Twice")
    class Twice(layers.Layer):
        def call(self, x):
            return 2 * x

    @keras.saving.register_keras_serializable(package="tests")
    def cube(x):
        return x * x * x

    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation=cube), Twice()])
    model.save(tmp_path / "m.keras")
    config = json.loads(zipfile.ZipFile(tmp_path / "m.keras").read("config.json"))
    assert config["config"]["layers"][2]["registered_name"] == "tests>Twice"
    loaded = keras.models.load_model(tmp_path / "m.keras")
    x = np.ones((2, 4), "float32")
    assert np.array_equal(loaded(x).numpy(), model(x).numpy())


def test_vocabularies(tmp_path):
    lookup = layers.IntegerLookup()
    lookup.adapt(np.array([5, 7, 7]))
    model = keras.Sequential([keras.Input((1,), dtype="int64"), lookup])
    model.save(tmp_path / "m.keras")
    assert "assets/layers/integer_lookup/vocabulary.txt" in zipfile.ZipFile(tmp_path / "m.keras").namelist()
    loaded = keras.models.load_model(tmp_path / "m.keras")
    assert loaded.layers[-1].get_vocabulary() == lookup.get_vocabulary() == [-1, 7, 5]


def test_operations(tmp_path):
    ops = keras.ops
    a, b = keras.Input((4, 3)), keras.Input((4, 3))
    y = ops.mean(ops.leaky_relu(a, 0.1) * b, axis=-1, keepdims=True) + ops.einsum("bij,bij->bi", a, b)[:, :, None]
    y = ops.concatenate([y, ops.reshape(1.0 - a, (-1, 4, 3))], axis=-1) ** 2
    model = keras.Model([a, b], [y[..., 1:], ops.split(b, 2, axis=1)[0]])
    model.save(tmp_path / "m.keras")
    config = json.loads(zipfile.ZipFile(tmp_path / "m.keras").read("config.json"))["config"]
    written = {c["class_name"]: c for c in config["layers"]}
    assert written["Mean"]["config"] == {"name": "mean", "axis": -1, "keepdims": True}  # as Keras writes it
    assert written["Mean"]["inbound_nodes"][0]["kwargs"] == {} and written["LeakyRelu"]["module"] == "keras.src.ops.nn"
    x = np.random.default_rng(0).normal(size=(2, 2, 4, 3)).astype("float32")
    for got, want in zip(keras.models.load_model(tmp_path / "m.keras")(list(x)), model(list(x))):
        assert np.array_equal(got.numpy(), want.numpy())


# ------------------------------------------------------------------------------------------- refused, and unchanged

def test_a_file_that_does_not_fit_changes_nothing(tmp_path):
    model, wider, deeper = small(3), small(5), keras.Sequential(
        [keras.Input((4,)), layers.Dense(3), layers.Dense(2), layers.Dense(1)])
    model.save_weights(tmp_path / "w.weights.h5")
    for other in (wider, deeper):
        before = values(other)
        with pytest.raises(ValueError, match="objects could not be loaded"):
            other.load_weights(tmp_path / "w.weights.h5")
        assert same(before, values(other))
    with pytest.warns(UserWarning, match="could not be loaded"):
        deeper.load_weights(tmp_path / "w.weights.h5", skip_mismatch=True)
    assert same(values(deeper)[:4], values(model))
    with pytest.raises(ValueError, match="not yet been built"):
        keras.Sequential([layers.Dense(2)]).load_weights(tmp_path / "w.weights.h5")


def test_names_that_are_refused(tmp_path):
    model = small()
    with pytest.raises(ValueError, match="weights.h5"):
        model.save_weights(tmp_path / "w.h5")
    with pytest.raises(ValueError, match="extension"):
        model.save(tmp_path / "folder")
    with pytest.raises(ValueError, match="not found"):
        keras.models.load_model(tmp_path / "none.keras")
    with pytest.raises(FileNotFoundError):
        model.load_weights(tmp_path / "none.weights.h5")
    with pytest.raises(ValueError, match="not supported"):
        keras.models.load_model(tmp_path / "saved_model")
    model.save(tmp_path / "m.keras")
    with pytest.raises(FileExistsError):
        model.save(tmp_path / "m.keras", overwrite=False)


@pytest.mark.parametrize("suffix", [".weights.h5", ".npz", ".safetensors", ".keras"])
def test_flipped_bits_are_found(tmp_path, suffix):
    model = small()
    path, bad = tmp_path / f"m{suffix}", tmp_path / f"bad{suffix}"
    model.save(path) if suffix == ".keras" else model.save_weights(path)
    good, before = path.read_bytes(), values(model)
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(150):
        content = bytearray(good)
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        bad.write_bytes(content)
        try:
            model.load_weights(bad)
        except (tf.errors.OpError, ValueError):
            found += 1
        assert same(before, values(model))  # what goes unnoticed (text, padding) changes no weight
    assert found > 15  # most of a small .weights.h5 file is room for text
    for size in (0, 10, len(good) // 2, len(good) - 1):
        bad.write_bytes(good[:size])
        with pytest.raises((tf.errors.OpError, ValueError)):
            model.load_weights(bad)
    assert same(before, values(model))


def test_damaged_models_are_refused(tmp_path):
    good = (DATA / "sequential.keras").read_bytes()
    bad = tmp_path / "bad.keras"
    rng = np.random.default_rng(6)
    for _ in range(60):
        content = bytearray(good)
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        bad.write_bytes(content)
        try:
            model = keras.models.load_model(bad)
        except (tf.errors.OpError, ValueError):
            continue
        assert np.allclose(model.predict(inputs("sequential"), verbose=0), predicted("sequential"), atol=3e-6)


def hostile(path, **parts):
    with zipfile.ZipFile(DATA / "sequential.keras") as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            content = parts.get(name.replace(".", "_"), source.read(name))
            if content is not None:
                target.writestr(name, content)
    return path


def test_hostile_models_are_refused(tmp_path):
    path = tmp_path / "m.keras"
    for config in (b"", b"[]", b"3", b"{", b"[" * 100000, b'{"class_name": 3}',
                   b'{"module": "os", "class_name": "system", '
                   b'"config": {"command": "true"}, "registered_name": "system"}',
                   b'{"module": "builtins", "class_name": "function", "config": "eval", '
                   b'"registered_name": "function"}'):
        with pytest.raises((tf.errors.OpError, ValueError, TypeError)):
            keras.models.load_model(hostile(path, config_json=config))
    for parts in ({"config_json": None}, {"model_weights_h5": None},
                  {"model_weights_h5": b"\x89HDF\r\n\x1a\n" + bytes(200)}):
        with pytest.raises((tf.errors.OpError, ValueError)):
            keras.models.load_model(hostile(path, **parts))


def test_nothing_is_unpickled_and_no_code_is_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "evil"),)

    np.savez(tmp_path / "w.npz", **{"layers/dense/vars/0": np.array([Evil()], dtype=object)})
    with pytest.raises(tf.errors.DataLossError):
        small().load_weights(tmp_path / "w.npz")
    assert not (tmp_path / "evil").exists()
    config = json.loads(zipfile.ZipFile(DATA / "sequential.keras").read("config.json"))
    code = {"class_name": "__lambda__", "config": {"code": "4wAAAA==", "defaults": None, "closure": None}}
    config["config"]["layers"].append({
        "module": "keras.layers", "class_name": "Lambda", "registered_name": None,
        "config": {"name": "lambda", "function": code, "arguments": {}}})
    path = hostile(tmp_path / "l.keras", config_json=json.dumps(config).encode())
    with pytest.raises(ValueError, match="deserialization of a Python lambda"):
        keras.models.load_model(path)
    with pytest.raises(ValueError, match="another version of Python"):  # damaged code is noticed
        keras.models.load_model(path, safe_mode=False)


def test_lambdas_are_read_by_those_who_trust_them(tmp_path):
    factor = 3.0
    path = tmp_path / "m.keras"
    inputs = keras.Input((2,))
    model = keras.Model(inputs, layers.Lambda(lambda x, shift=1.0: tf.identity(x) * factor + shift)(inputs))
    model.save(path)
    with pytest.raises(ValueError, match="pass `safe_mode=False` to the loading function"):
        keras.models.load_model(path)
    again = keras.models.load_model(path, safe_mode=False)
    np.testing.assert_array_equal(again(np.ones((1, 2), "float32")), [[4.0, 4.0]])
    with pytest.raises(ValueError, match="disallowed by default"):  # trust ends with the call
        keras.models.load_model(path)


# ------------------------------------------------------------------------------------------------- whole or not at all

WRITER = """
import sys
import numpy as np
import gradus as tf
from gradus import keras
layer = keras.layers.Dense(300, kernel_initializer="zeros")
model = keras.Sequential([keras.Input((300,)), layer])
def save():
    model.save(sys.argv[1]) if sys.argv[1].endswith(".keras") else model.save_weights(sys.argv[1])
save()
print("ready", flush=True)
i = 0
while True:
    i += 1
    for w in model.weights:
        w.assign(tf.fill(w.shape, float(i)))
    save()
"""


@pytest.mark.parametrize("name", ["m.keras", "m.weights.h5"])
def test_kill_while_saving_leaves_a_whole_file(tmp_path, name):
    path = tmp_path / name
    for i in range(3):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE,
                                   env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        assert process.stdout.readline().strip() == b"ready"
        time.sleep(0.02 + 0.017 * i)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        model = keras.Sequential([keras.Input((300,)), layers.Dense(300)])
        model.load_weights(path)
        assert len(np.unique(np.concatenate([v.ravel() for v in values(model)]))) == 1


def test_a_failed_save_keeps_the_old_file(tmp_path):
    model = small()
    model.save(tmp_path / "m.keras")
    good = (tmp_path / "m.keras").read_bytes()
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    import gradus._files as files
    real = open
    files.open = lambda name, mode="r", *a, **k: real("/dev/full", "wb") if mode == "xb" else real(name, mode, *a, **k)
    try:
        with pytest.raises(OSError):
            model.save(tmp_path / "m.keras")
    finally:
        del files.open
    assert (tmp_path / "m.keras").read_bytes() == good and os.listdir(tmp_path) == ["m.keras"]


LIMITED = """
import resource, signal, sys
import gradus as tf
from gradus import keras
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
model = keras.Sequential([keras.Input((300,)), keras.layers.Dense(300)])
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))  # as if the disk were full
for path in sys.argv[1:]:
    try:
        model.save(path) if path.endswith(".keras") else model.save_weights(path)
    except (OSError, tf.errors.OpError):
        continue
    sys.exit(f"{path} was written")
"""


def test_a_full_disk_keeps_the_old_files(tmp_path):
    names = ["m.keras", "m.weights.h5", "m.npz", "m.safetensors"]
    model = small()
    for name in names:
        model.save(tmp_path / name) if name.endswith(".keras") else model.save_weights(tmp_path / name)
    before = {name: (tmp_path / name).read_bytes() for name in names}
    subprocess.run([sys.executable, "-c", LIMITED, *(str(tmp_path / n) for n in names)], check=True,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before  # and nothing beside them


# ---------------------------------------------------------------------------------------------- checkpoints of models

def test_checkpoint_of_a_model(tmp_path):
    x, y = np.ones((8, 4), "float32"), np.ones((8, 2), "float32")
    model = small()
    model.compile("adam", "mse")
    model.fit(x, y, verbose=0)
    path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(str(tmp_path / "c"))

    late = keras.Sequential([layers.Dense(3, activation="relu"), layers.Dense(2)])  # no weights yet
    optimizer = keras.optimizers.Adam()
    status = tf.train.Checkpoint(model=late, optimizer=optimizer).restore(path)
    assert np.array_equal(late(x).numpy(), model(x).numpy())
    optimizer.build(late.trainable_variables)
    status.assert_existing_objects_matched()
    assert same([v.numpy() for v in optimizer.variables], [v.numpy() for v in model.optimizer.variables])


def test_datasets_say_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    for name in dir(keras.datasets):
        with pytest.raises(FileNotFoundError, match="does not download"):
            getattr(keras.datasets, name).load_data()


def test_datasets_of_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    folder = tmp_path / "datasets"
    folder.mkdir()
    x = np.arange(10 * 784, dtype=np.uint8).reshape(10, 28, 28)
    np.savez(folder / "mnist.npz", x_train=x, y_train=np.arange(10), x_test=x[:2], y_test=np.arange(2))
    (a, b), (c, d) = keras.datasets.mnist.load_data()
    assert np.array_equal(a, x) and b.shape == (10,) and c.shape == (2, 28, 28)
    np.savez(folder / "boston_housing.npz", x=np.arange(20.0).reshape(10, 2), y=np.arange(10.0))
    (a, b), (c, d) = keras.datasets.boston_housing.load_data()
    assert a.shape == (8, 2) and d.shape == (2,) and np.array_equal(a[:, 0], 2 * b)

    texts = np.empty(4, object)
    texts[:] = [[1, 5, 7], [2, 9], [3, 3, 3, 3], [8]]
    numbers = np.array([0, 1, 0, 1])
    np.savez(folder / "imdb.npz", x_train=texts, y_train=numbers, x_test=texts, y_test=numbers)
    (a, b), _ = keras.datasets.imdb.load_data(num_words=10)
    order = np.arange(4)
    np.random.RandomState(113).shuffle(order)
    assert [list(t) for t in a] == [[1] + [w + 3 if w + 3 < 10 else 2 for w in texts[i]] for i in order]

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "evil"),)

    texts[0] = Evil()
    np.savez(folder / "reuters.npz", x=texts, y=np.arange(4))
    with pytest.raises(ValueError, match="not allowed"):
        keras.datasets.reuters.load_data()
    assert not (tmp_path / "evil").exists()


def test_get_file(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("content")
    path = keras.utils.get_file("copy.txt", f"file://{source}", cache_dir=str(tmp_path / "cache"))
    assert pathlib.Path(path).read_text() == "content" and path.endswith("cache/datasets/copy.txt")
    with pytest.raises(FileNotFoundError, match="does not download"):
        keras.utils.get_file("other.txt", "https://nowhere.invalid/other.txt", cache_dir=str(tmp_path / "cache"))
    with pytest.raises(ValueError, match="hash"):
        keras.utils.get_file("copy.txt", f"file://{source}", file_hash="0" * 64, cache_dir=str(tmp_path / "cache"))


def test_models_in_the_older_format(tmp_path):
    start = keras.Input((4,))
    model = keras.Model(start, keras.layers.Bidirectional(keras.layers.LSTM(2))(keras.layers.Reshape((2, 2))(start)))
    model.compile(keras.optimizers.Adam(0.01), keras.losses.MeanSquaredError())
    x, y = np.ones((3, 4), "float32"), np.zeros((3, 4), "float32")
    model.fit(x, y, verbose=0)
    path = str(tmp_path / "model.h5")
    model.save(path)
    again = keras.models.load_model(path)
    np.testing.assert_array_equal(again(x), model(x))
    assert again.name == model.name and int(again.optimizer.iterations) == 1
    assert again.train_on_batch(x, y) == model.train_on_batch(x, y)
    nested = keras.Sequential([keras.Input((4,)), keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]),
                               keras.layers.BatchNormalization()])
    nested.save(path)
    np.testing.assert_array_equal(keras.models.load_model(path)(x), nested(x))
    assert not keras.models.load_model(path).compiled

    class Own(keras.Model):
        def call(self, x):
            return x
    with pytest.raises(NotImplementedError, match="Functional model or a Sequential"):
        Own().save(path)
