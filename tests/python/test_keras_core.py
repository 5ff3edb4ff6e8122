"""Keras's core against Keras's own answers (keras_core.json), and what has no counterpart there."""
import json
import pathlib

import keras_core_cases
import numpy as np
import pytest

import gradus as tf
from gradus import keras

L = keras.layers
ANSWERS = json.loads((pathlib.Path(__file__).parent / "keras_core.json").read_text())


def same(mine, theirs, where=""):
    """Equal, numbers nearly."""
    if isinstance(theirs, dict):
        assert isinstance(mine, dict) and list(map(str, mine)) == list(theirs), f"{where}: {list(mine)} != {list(theirs)}"
        for key in theirs:
            same(mine[key], theirs[key], f"{where}.{key}")
    elif isinstance(theirs, list):
        assert len(mine) == len(theirs), f"{where}: {mine} != {theirs}"
        for i, (a, b) in enumerate(zip(mine, theirs)):
            same(a, b, f"{where}[{i}]")
    elif isinstance(theirs, float) and not isinstance(mine, str):
        assert mine == pytest.approx(theirs, rel=2e-5, abs=2e-6, nan_ok=True), f"{where}: {mine} != {theirs}"
    else:
        assert mine == theirs, f"{where}:\n{mine}\n!=\n{theirs}"


@pytest.mark.parametrize("name", list(keras_core_cases.CASES))
def test_as_keras(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    keras.utils.clear_session()
    mine = keras_core_cases.CASES[name](keras, tf)
    same(json.loads(json.dumps(mine)), ANSWERS[name], name)


def mlp():
    return keras.Sequential([keras.Input((4,)), L.Dense(3, activation="relu"), L.Dense(2)])


def test_import_of_the_module_leaves_keras_alone():
    import subprocess
    import sys
    script = "import sys, gradus; assert not [m for m in sys.modules if m.startswith('gradus.keras')]; gradus.keras.Layer"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_ordinary_tape_and_a_compiled_step():
    model = mlp()
    x, y = tf.random.normal([8, 4]), tf.random.normal([8, 2])

    def loss():
        return tf.reduce_mean((model(x, training=True) - y) ** 2)

    with tf.GradientTape() as tape:
        value = loss()
    eager = tape.gradient(value, model.trainable_variables)

    @tf.function
    def compiled():
        with tf.GradientTape() as tape:
            value = loss()
        return tape.gradient(value, model.trainable_variables)

    for a, b, v in zip(eager, compiled(), model.trainable_variables):
        assert a.shape == v.shape
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_quick_calls_give_what_whole_calls_give():
    class Own(keras.Layer):
        def __init__(self):
            super().__init__()
            self.inner = L.Dense(3)
            self.seen = []

        def call(self, x, training=None):
            self.seen.append(training)
            return self.inner(x)

    layer, x = Own(), tf.random.normal([2, 4])
    first = layer(x)
    assert layer._quick is not None
    np.testing.assert_array_equal(layer(x), first)
    np.testing.assert_array_equal(layer(x.numpy()), first)
    np.testing.assert_array_equal(layer(tf.cast(x, tf.float64)), first)
    layer.seen.clear()
    layer(x, training=True)
    layer(x)
    keras.Sequential([layer])(x, training=False)
    assert layer.seen[:2] == [True, None] and layer.seen[-1] is False
    with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 4"):
        layer(tf.ones([2, 5]))
    assert keras._scopes.context.entry is None and keras._scopes.context.training is None


def test_freezing_is_seen_by_training():
    base = keras.Sequential([keras.Input((4,)), L.Dense(3)])
    model = keras.Sequential([base, L.Dense(1)])
    model.build((None, 4))
    base.trainable = False
    assert len(model.trainable_variables) == 2 and len(model.non_trainable_variables) == 2
    before = [w.copy() for w in base.get_weights()]
    model.compile("adam", "mse")
    model.fit(np.random.rand(8, 4), np.random.rand(8, 1), verbose=0)
    for a, b in zip(before, base.get_weights()):
        np.testing.assert_array_equal(a, b)
    base.trainable = True
    assert len(model.trainable_variables) == 4
    model.layers[1].kernel.trainable = False
    assert len(model.trainable_variables) == 3


def test_a_smaller_last_batch_makes_one_more_trace_at_most():
    model = mlp()
    model.compile("adam", "mse")
    traces = []

    class Counts(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            traces.append(self.model.train_function.explain().split(":")[1].split()[0])

    for rows in (70, 75, 90):
        model.fit(np.random.rand(rows, 4), np.random.rand(rows, 2), batch_size=32, verbose=0, callbacks=[Counts()])
    assert traces == ["2", "2", "2"]


def test_eager_and_compiled_training_agree():
    x, y = np.random.rand(20, 4), np.random.rand(20, 2)
    histories = []
    for kwargs in ({"run_eagerly": True}, {}, {"jit_compile": True}, {"steps_per_execution": 3}):
        keras.utils.set_random_seed(3)
        model = mlp()
        model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"], **kwargs)
        histories.append(model.fit(x, y, batch_size=6, epochs=3, verbose=0, shuffle=False).history)
    for other in histories[1:]:
        for key in histories[0]:
            np.testing.assert_allclose(histories[0][key], other[key], rtol=1e-5)


def test_shuffling_sees_every_row_once():
    seen = []

    class Sees(keras.Model):
        def __init__(self):
            super().__init__()
            self.scale = self.add_weight(shape=(), initializer="ones")

        def call(self, x):
            return x * self.scale

        def train_step(self, data):
            seen.extend(data[0].numpy()[:, 0].tolist())
            return {"loss": tf.constant(0.0)}

    model = Sees()
    model.compile("sgd", run_eagerly=True)
    rows = np.arange(50.0)[:, None]
    model.fit(rows, rows, batch_size=8, verbose=0)
    assert seen != sorted(seen) and sorted(seen) == list(range(50))


def test_sources_of_batches():
    x, y = np.random.rand(12, 4).astype("float32"), np.random.rand(12, 2).astype("float32")
    starting = mlp().get_weights()

    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return x[4 * i:4 * i + 4], y[4 * i:4 * i + 4]

    def generator():
        for i in range(3):
            yield x[4 * i:4 * i + 4], y[4 * i:4 * i + 4]

    sources = [dict(x=x, y=y, batch_size=4), dict(x=tf.constant(x), y=tf.constant(y), batch_size=4), dict(x=Batches()),
               dict(x=Batches(workers=3)), dict(x=generator()), dict(x=list(generator())),
               dict(x=x.tolist(), y=y.tolist(), batch_size=4)]
    if hasattr(tf, "data"):
        sources.append(dict(x=tf.data.Dataset.from_tensor_slices((x, y)).batch(4)))
    losses = []
    for source in sources:
        model = mlp()
        model.set_weights(starting)
        model.compile("sgd", "mse")
        if isinstance(source["x"], list) and "y" not in source:
            source["x"] = iter(source["x"])
        losses.append(model.fit(**source, shuffle=False, verbose=0).history["loss"][0])
    np.testing.assert_allclose(losses, losses[0], rtol=1e-6)


def test_training_does_not_write_into_the_arrays_of_the_user():
    x, y = np.random.rand(64, 40).astype("float32"), np.random.rand(64, 40).astype("float32")
    kept = x.copy()
    model = keras.Sequential([keras.Input((40,)), L.Dense(40)])
    model.compile("adam", "mse")
    model.fit(x, y, verbose=0, batch_size=32)
    outputs = keras.Sequential([keras.Input((40,)), L.Activation("linear")]).predict(x, verbose=0)
    outputs += 1
    np.testing.assert_array_equal(x, kept)
    x.flags.writeable = False
    model.fit(x, y, verbose=0, batch_size=32)


def test_an_interrupted_fit_leaves_a_usable_model():
    model = mlp()
    model.compile("sgd", "mse")
    x, y = np.random.rand(40, 4), np.random.rand(40, 2)

    class Stops(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 1:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(x, y, batch_size=8, verbose=0, callbacks=[Stops()])
    assert len(model.fit(x, y, batch_size=8, verbose=0).epoch) == 1
    assert model.predict(x, verbose=0).shape == (40, 2)


def test_models_inside_models_and_shared_layers():
    shared = L.Dense(3, use_bias=False)
    a, b = keras.Input((3,)), keras.Input((3,))
    twin = keras.Model([a, b], shared(a) - shared(b))
    start = keras.Input((3,))
    outer = keras.Model(start, twin([start, start * 2.0]))
    x = np.random.rand(2, 3).astype("float32")
    np.testing.assert_allclose(outer(x), -x @ shared.kernel.numpy(), rtol=1e-5)
    assert len(outer.weights) == 1
    again = keras.models.model_from_json(outer.to_json())
    again.set_weights(outer.get_weights())
    np.testing.assert_allclose(again(x), outer(x), rtol=1e-6)
    copy = keras.models.clone_model(outer)
    assert copy.weights[0] is not outer.weights[0] and copy.count_params() == outer.count_params()


def test_a_model_cut_out_of_another():
    model = mlp()
    features = keras.Model(model.inputs, model.layers[0].output)
    x = np.random.rand(5, 4).astype("float32")
    assert features(x).shape == (5, 3)
    rest = keras.Model(model.layers[0].output, model.output)
    np.testing.assert_allclose(rest(features(x)), model(x), rtol=1e-6)


def test_registered_objects_come_back():
    @keras.saving.register_keras_serializable("tests")
    class Scale(keras.Layer):
        def __init__(self, factor, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, x):
            return x * self.factor

    start = keras.Input((2,))
    model = keras.Model(start, Scale(3.0, name="three")(start))
    assert model.layers[1].get_config()["factor"] == 3.0
    again = keras.models.model_from_json(model.to_json())
    assert again.layers[1].name == "three" and again.layers[1].factor == 3.0
    np.testing.assert_array_equal(again(np.ones((1, 2))), [[3.0, 3.0]])
    with pytest.raises(TypeError, match="Could not locate class 'Unknown'"):
        keras.saving.deserialize_keras_object({"class_name": "Unknown", "config": {}, "module": None, "registered_name": None})
    with pytest.raises(ValueError, match="lambda"):
        keras.saving.deserialize_keras_object({"class_name": "__lambda__", "config": {"value": "x"}})


def test_many_models_leave_nothing_behind():
    import gc

    def make(trained):
        model = keras.Sequential([keras.Input((2,)), L.Dense(1)])
        model.compile("sgd", "mse")
        model(tf.ones([1, 2]))
        if trained:
            model.train_on_batch(np.ones((1, 2)), np.ones((1, 1)))

    def state_after(models):
        for i in range(models):
            make(trained=i % 100 == 0)
        gc.collect()
        return tf._core._memory()["current"], len(gc.get_objects())

    before = state_after(200)
    after = state_after(10_000)
    assert after[0] <= before[0] + 1024 and after[1] < before[1] + 200


def test_half_precision_layers_cast_inputs_and_weights():
    layer = L.Dense(3, dtype="mixed_bfloat16")
    y = layer(np.ones((2, 4), "float32"))
    assert y.dtype == tf.bfloat16 and layer.kernel.dtype == "float32"
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.cast(layer(np.ones((2, 4), "float32")), tf.float32))
    assert tape.gradient(loss, layer.kernel).dtype == tf.float32
    assert tf.convert_to_tensor(layer.kernel).dtype == tf.float32


def test_drawings_are_text_for_graphviz():
    text = keras.utils.model_to_dot(mlp(), show_shapes=True).to_string()
    assert text.startswith("digraph") and text.count("->") == 2 and "(None, 3)" in text


def test_checkpoints_and_going_on(tmp_path):
    x, y = np.random.rand(16, 4), np.random.rand(16, 2)
    model = mlp()
    model.compile("sgd", "mse")
    path = str(tmp_path / "best_{epoch}.weights.h5")
    model.fit(x, y, epochs=2, verbose=0, callbacks=[keras.callbacks.ModelCheckpoint(path, monitor="loss", save_best_only=True,
                                                                                    save_weights_only=True)])
    assert (tmp_path / "best_2.weights.h5").exists()
    other = mlp()
    other.load_weights(tmp_path / "best_2.weights.h5")
    np.testing.assert_array_equal(other(x), model(x))

    class Fails(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise RuntimeError("power cut")

    backup = keras.callbacks.BackupAndRestore(str(tmp_path / "backup"))
    with pytest.raises(RuntimeError):
        model.fit(x, y, epochs=4, verbose=0, callbacks=[backup, Fails()])
    epochs = model.fit(x, y, epochs=4, verbose=0, callbacks=[keras.callbacks.BackupAndRestore(str(tmp_path / "backup"))]).epoch
    assert epochs == [2, 3] and not (tmp_path / "backup").exists()


def test_a_damaged_backup_gives_way_to_the_one_before(tmp_path):
    x, y = np.random.rand(16, 4), np.random.rand(16, 2)

    def run(double):
        folder = tmp_path / str(double)
        model = mlp()
        model.compile("sgd", "mse")
        backup = keras.callbacks.BackupAndRestore(str(folder), double_checkpoint=double, delete_checkpoint=False)
        model.fit(x, y, epochs=3, verbose=0, callbacks=[backup])
        path = folder / "latest.weights.h5"
        path.write_bytes(path.read_bytes()[:-100])
        return model.fit(x, y, epochs=4, verbose=0, callbacks=[backup]).epoch
    assert run(True) == [2, 3]
    with pytest.raises(tf.errors.DataLossError):
        run(False)


def test_state_as_a_tree_and_calls_without_state():
    model = mlp()
    model.compile("adam", "mse")
    x, y = np.random.rand(8, 4), np.random.rand(8, 2)
    model.fit(x, y, verbose=0)
    tree = model.get_state_tree(value_format="numpy_array")
    expected = model.predict(x, verbose=0)
    model.fit(x, y, verbose=0, epochs=3)
    model.set_state_tree(tree)
    np.testing.assert_array_equal(model.predict(x, verbose=0), expected)
    zeros = [tf.zeros(v.shape) for v in model.trainable_variables]
    outputs, rest = model.stateless_call(zeros, [], tf.constant(x, tf.float32))
    assert not outputs.numpy().any() and rest == []
    np.testing.assert_array_equal(model.predict(x, verbose=0), expected)


def test_limits_and_logs_of_training(capsys):
    model = mlp()
    model.compile("sgd", "mse")
    x, y = np.random.rand(8, 4), np.random.rand(8, 2)
    try:
        keras.config.set_max_epochs(2)
        keras.config.disable_interactive_logging()
        assert model.fit(x, y, epochs=9, verbose=2).epoch == [0, 1]
    finally:
        keras.config.set_max_epochs(None)
        keras.config.enable_interactive_logging()
    assert "loss" not in capsys.readouterr().out


def test_losses_of_a_trace_stay_in_it():
    model = keras.Sequential([keras.Input((3,)), L.Dense(2, kernel_regularizer="l2", activity_regularizer="l1")])
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    assert [float(loss) > 0 for loss in model.losses] == [True]
    model(np.ones((4, 3)))
    assert [float(loss) > 0 for loss in model.losses] == [True, True]


def test_copies_and_pickles():
    import copy
    import pickle
    model = mlp()
    model.compile("adam", "mse")
    x, y = np.random.rand(8, 4), np.random.rand(8, 2)
    model.fit(x, y, verbose=0)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert [v.name for v in other.weights] == [v.name for v in model.weights]
        assert other.weights[0] is not model.weights[0]
        np.testing.assert_array_equal(other.predict(x, verbose=0), model.predict(x, verbose=0))
        np.testing.assert_array_equal(other.optimizer.variables[2], model.optimizer.variables[2])
    history = copy.deepcopy(model).fit(x, y, verbose=0).history
    assert history == model.fit(x, y, verbose=0).history

    class Pair(keras.Layer):
        def __init__(self):
            super().__init__()
            self.parts = [L.Dense(2), L.Dense(2)]

        def call(self, x):
            return self.parts[1](self.parts[0](x))

    layer = Pair()
    layer(tf.ones([1, 2]))
    other = copy.deepcopy(layer)
    assert len(other.weights) == 4 and all(a is not b for a, b in zip(layer.weights, other.weights))
    other.weights[0].assign(tf.zeros([2, 2]))
    assert layer.weights[0].numpy().any() and not other(tf.ones([1, 2])).numpy().any()


def test_random_distributions_have_their_moments():
    draws = keras.random.gamma((20000,), 2.5, seed=1).numpy()
    assert abs(draws.mean() - 2.5) < 0.05 and abs(draws.var() - 2.5) < 0.15
    small = keras.random.gamma((20000,), 0.3, seed=2).numpy()
    assert small.min() >= 0 and abs(small.mean() - 0.3) < 0.02
    draws = keras.random.beta((20000,), 2.0, 3.0, seed=3).numpy()
    assert 0 <= draws.min() and draws.max() <= 1 and abs(draws.mean() - 0.4) < 0.01 and abs(draws.var() - 0.04) < 0.003
    draws = keras.random.binomial((20000,), 10.0, 0.3, seed=4).numpy()
    assert set(draws) <= set(range(11)) and abs(draws.mean() - 3.0) < 0.05
    np.testing.assert_array_equal(keras.random.gamma((3,), 2.0, seed=5), keras.random.gamma((3,), 2.0, seed=5))
