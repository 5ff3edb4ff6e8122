"""tf.saved_model: functions and variables without their source; signatures; Keras models; damaged and foreign folders."""
import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import gradus as tf
from gradus import keras


class Scaler(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(2.0, name="w")
        self.inner = tf.Module()
        self.inner.shift = tf.Variable([1.0, 2.0], trainable=False)
        self.listed, self.named = [tf.Variable(5.0)], {"k": tf.Variable(9.0)}
        self.number = 7

    @tf.function
    def scaled(self, x):
        return x * self.w

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def __call__(self, x):
        return {"out": x * self.w + self.inner.shift, "sum": tf.reduce_sum(x)}

    @tf.function
    def step(self):
        self.w.assign_add(1.0)

    @tf.function
    def choose(self, x, up=False):
        return x + 1.0 if up else x - 1.0


@pytest.fixture
def saved(tmp_path):
    module = Scaler()
    module.scaled(tf.constant(3.0))
    module.step()
    module.choose(tf.constant(1.0))
    module.choose(tf.constant(1.0), up=True)
    tf.saved_model.save(module, tmp_path / "m")
    return tmp_path / "m"


def test_variables_and_functions_share_state(saved):
    loaded = tf.saved_model.load(saved)
    assert loaded.w.numpy() == 3 and loaded.w.trainable and not loaded.inner.shift.trainable
    assert loaded.listed[0].numpy() == 5 and loaded.named["k"].numpy() == 9
    assert not hasattr(loaded, "number")
    assert loaded.scaled(tf.constant(4.0)).numpy() == 12
    loaded.step()
    assert loaded.w.numpy() == 4 and loaded.scaled(4.0).numpy() == 16
    np.testing.assert_array_equal(loaded(np.ones((3, 2), np.float32))["out"], np.full((3, 2), 4) + [1, 2])
    with tf.GradientTape() as tape:
        y = loaded.scaled(tf.constant(4.0))
    assert tape.gradient(y, loaded.w).numpy() == 4
    assert tf.function(lambda x: loaded.scaled(x) + 1.0)(tf.constant(1.0)).numpy() == 5


def test_traces_are_chosen_by_arguments(saved):
    loaded = tf.saved_model.load(saved)
    assert loaded.choose(tf.constant(1.0)).numpy() == 0
    assert loaded.choose(tf.constant(1.0), up=True).numpy() == loaded.choose(tf.constant(1.0), True).numpy() == 2
    for wrong in (tf.constant(3), tf.zeros([3, 4, 5])):
        with pytest.raises(ValueError, match="Could not find matching concrete function"):
            loaded.scaled(wrong)
    with pytest.raises(TypeError, match="misses the argument 'x'"):
        loaded.choose()
    with pytest.raises(TypeError, match="unexpected argument 'down'"):
        loaded.choose(1.0, down=1)


def test_signatures(saved, tmp_path):
    serving = tf.saved_model.load(saved).signatures["serving_default"]
    assert sorted(serving(x=tf.ones([1, 2]))) == ["out", "sum"]
    assert serving.structured_input_signature[1]["x"].shape.as_list() == [None, 2]
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        serving(y=tf.ones([1, 2]))
    with pytest.raises(ValueError, match="This signature takes"):
        serving(x=tf.ones([1, 3]))
    module = Scaler()
    one = module.scaled.get_concrete_function(tf.TensorSpec([], tf.float32))
    tf.saved_model.save(module, tmp_path / "s", signatures={"mine": one})
    assert tf.saved_model.load(tmp_path / "s").signatures["mine"](tf.constant(4.0))["output_0"].numpy() == 8
    with pytest.raises(ValueError, match="exactly one trace"):
        tf.saved_model.save(module, tmp_path / "t", signatures=module.choose)
    with pytest.raises(ValueError, match="Expected a TensorFlow function"):
        tf.saved_model.save(module, tmp_path / "t", signatures=len)


def test_any_rank_and_loops(tmp_path):
    class Powers(tf.Module):
        def __init__(self):
            super().__init__()
            self.base = tf.Variable(2.0)
            self.f = tf.function(lambda x: x * self.base, input_signature=[tf.TensorSpec(None, tf.float32)])

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def power(self, n):
            y = tf.constant(1.0)
            for _ in tf.range(n):
                y = y * self.base
            return y

    tf.saved_model.save(Powers(), tmp_path / "p")
    loaded = tf.saved_model.load(tmp_path / "p")
    for shape in ([], [3], [2, 2]):
        np.testing.assert_array_equal(loaded.f(tf.ones(shape)), np.full(shape, 2.0))
    assert loaded.power(tf.constant(10)).numpy() == 1024


def test_keras_models(tmp_path):
    model = keras.Sequential([keras.Input((6, 6, 1)), keras.layers.Conv2D(3, 3, activation="relu"),
                              keras.layers.BatchNormalization(), keras.layers.Flatten(), keras.layers.Dropout(0.5),
                              keras.layers.Dense(2, activation="softmax")])
    x = np.random.default_rng(0).normal(size=(4, 6, 6, 1)).astype(np.float32)
    expected = model(x)
    tf.saved_model.save(model, tmp_path / "k")
    loaded = tf.saved_model.load(tmp_path / "k")
    np.testing.assert_allclose(loaded.signatures["serving_default"](x)["output_0"], expected, rtol=1e-6)
    model.export(tmp_path / "e", verbose=False)
    artifact = tf.saved_model.load(tmp_path / "e")
    np.testing.assert_allclose(artifact.serve(x), expected, rtol=1e-6)
    np.testing.assert_allclose(artifact.serve(x[:1]), expected[:1], rtol=1e-6)
    assert len(artifact.variables) == len(model.variables)
    layer = keras.layers.TFSMLayer(tmp_path / "e")
    np.testing.assert_allclose(layer(x), expected, rtol=1e-6)
    assert len(layer.trainable_variables) == 6
    with pytest.raises(ValueError, match="The endpoint 'no'"):
        keras.layers.TFSMLayer(tmp_path / "e", call_endpoint="no")


def test_recurrent_models_and_several_inputs(tmp_path):
    a, b = keras.Input((5,), dtype="int32", name="a"), keras.Input((3,), name="b")
    words = keras.layers.LSTM(4)(keras.layers.Embedding(11, 3)(a))
    model = keras.Model([a, b], keras.layers.Dense(2)(keras.layers.Concatenate()([words, b])))
    x = [np.arange(10, dtype=np.int32).reshape(2, 5), np.ones((2, 3), np.float32)]
    model.export(tmp_path / "e", verbose=False)
    np.testing.assert_allclose(tf.saved_model.load(tmp_path / "e").serve(x), model(x), rtol=1e-6)


def test_subclassed_models_are_saved_as_they_were_called(tmp_path):
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2)

        def call(self, x):
            return self.dense(x)

    model = Net()
    with pytest.raises(ValueError, match="call it first"):
        model.export(tmp_path / "n", verbose=False)
    x = np.ones((4, 3), np.float32)
    expected = model(x)
    model.export(tmp_path / "n", verbose=False)
    np.testing.assert_allclose(tf.saved_model.load(tmp_path / "n").serve(x), expected, rtol=1e-6)


def test_runs_in_a_process_without_the_source(saved):
    code = f"import gradus as tf; print(tf.saved_model.load({str(saved)!r}).scaled(4.0).numpy())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout == "12.0\n", done.stderr


TRAINED = """
import numpy as np

x = np.linspace(-1, 1, 24, dtype="float32").reshape(12, 2)
y = (x ** 2).sum(1, keepdims=True)


def losses(step, number):
    return [float(step(x[: 12 - i % 2], y[: 12 - i % 2]).numpy()).hex() for i in range(number)]
"""
shared = {}
exec(TRAINED, shared)


class Trained(tf.Module):
    """A model with its optimizer and a step that updates both; a loop and a branch are parts of it."""

    def __init__(self):
        super().__init__()
        self.model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(8, activation="tanh"),
                                       keras.layers.Dense(1)])
        self.optimizer = keras.optimizers.Adam(0.05)
        self.optimizer.build(self.model.trainable_variables)
        self.weights = list(self.model.variables) + list(self.optimizer.variables)

    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([None, 1])])
    def step(self, x, y):
        with tf.GradientTape() as tape:
            out = self.model(x)
            i = tf.constant(0)
            while i < tf.cast(tf.reduce_sum(y), tf.int32):
                out = out + 0.01 * tf.sin(out)
                i += 1
            if tf.reduce_mean(out) > 100.0:
                out = -out
            loss = tf.reduce_mean((out - y) ** 2)
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss


def test_a_training_step_goes_on_in_a_process_without_the_source(tmp_path):
    keras.utils.set_random_seed(3)
    module = Trained()
    shared["losses"](module.step, 4)
    tf.saved_model.save(module, tmp_path / "m")
    code = TRAINED + f"import gradus as tf; print(losses(tf.saved_model.load({str(tmp_path / 'm')!r}).step, 6))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout == f"{shared['losses'](module.step, 6)}\n", done.stderr


def test_what_cannot_be_saved(tmp_path):
    outside = tf.Variable(1.0, name="outside")

    class Untracked(tf.Module):
        @tf.function(input_signature=[])
        def f(self):
            return outside + 1.0

    with pytest.raises(AssertionError, match="'untracked' resource: the variable 'outside' of f"):
        tf.saved_model.save(Untracked(), tmp_path / "u")
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save(3, tmp_path / "u")
    assert not tf.saved_model.contains_saved_model(tmp_path / "u")


def test_damaged_foreign_and_missing_folders(saved, tmp_path):
    assert tf.saved_model.contains_saved_model(saved)
    with pytest.raises(OSError, match="SavedModel file does not exist"):
        tf.saved_model.load(tmp_path / "none")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "saved_model.pb").write_bytes(b"x")
    with pytest.raises(tf.errors.UnimplementedError, match="holds a SavedModel of TensorFlow"):
        tf.saved_model.load(tmp_path / "theirs")
    path = saved / "saved_model.gradus"
    whole = path.read_bytes()
    for at in range(9, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])
        with pytest.raises(tf.errors.DataLossError):
            tf.saved_model.load(saved)
    path.write_bytes(whole[:-5])
    with pytest.raises(tf.errors.DataLossError):
        tf.saved_model.load(saved)
    tf.io.save_safetensors(path, {"x": tf.ones([2])})
    with pytest.raises(tf.errors.DataLossError, match="is no saved model"):
        tf.saved_model.load(saved)


def test_kinds_of_traces_keep_nothing_alive():
    module = Scaler()
    module.scaled(tf.ones([3]))
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None
