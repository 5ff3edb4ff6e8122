"""Losses, metrics, schedules and optimizers give what Keras gave (keras_train_cases.py)."""
import json
import math
import pathlib

import numpy as np
import pytest

import answers
import gradus as tf
import keras_train_cases as cases
from gradus import keras

REFERENCE = {}
for _line in (pathlib.Path(__file__).parent / "keras_train.json").read_text().splitlines():
    REFERENCE.update(json.loads(_line))

# Where Gradus answers differently on purpose.
DIFFERENT = {
    "losses.Huber(0.3).get_config()": "the setting is kept",
    "losses.CosineSimilarity(axis=0).get_config()": "the setting is kept",
    'error(lambda: metrics.AUC(curve="x"))': "PRGAIN is not covered",
    "{k: v for k, v in metrics.AUC(10, multi_label=True, label_weights=[0.2, 0.3, 0.5]).get_config().items() if k != 'name'}":
        "a list, which can be written to a file",
}


def close(got, want):
    if isinstance(want, dict) and "dtype" in want and "values" in want and isinstance(got, dict) and "values" in got:
        return got["dtype"] == want["dtype"] and got["shape"] == want["shape"] and close(got["values"], want["values"])
    if isinstance(want, dict):
        return isinstance(got, dict) and got.keys() == want.keys() and all(close(got[k], want[k]) for k in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(close, got, want))
    if isinstance(want, float) and isinstance(got, (int, float)):
        return math.isclose(got, want, rel_tol=5e-6, abs_tol=2e-6)
    return got == want


@pytest.mark.parametrize("line", cases.LINES)
def test_as_keras(line):
    assert line in REFERENCE, "run tools/make_keras_train_reference.py --new"
    if line in DIFFERENT:
        pytest.skip(DIFFERENT[line])
    got = answers.plain(eval(line, cases.namespace(keras, tf, np)), np)  # noqa: S307
    assert close(got, REFERENCE[line]), f"{line}\n   got {got}\n  want {REFERENCE[line]}"


def _gradients(g, g_bias, by_rows):
    if isinstance(g, tuple):
        rows, values = g
        if by_rows:
            return [tf.IndexedSlices(tf.constant(values), tf.constant(rows), tf.constant([4, 3])), tf.constant(g_bias)]
        g = np.zeros((4, 3), "float32")
        np.add.at(g, rows, values)
    return [tf.constant(g), tf.constant(g_bias)]


def _eager(by_rows):
    return lambda optimizer, g, g_bias, table, bias: optimizer.apply(_gradients(g, g_bias, by_rows), [table, bias])


def _compiled(by_rows):
    steps = {}

    def apply(optimizer, g, g_bias, table, bias):
        if id(optimizer) not in steps:
            def step(grads):
                optimizer.apply(grads, [table, bias])

            def row_step(values, rows, d_bias):
                optimizer.apply([tf.IndexedSlices(values, rows, [4, 3]), d_bias], [table, bias])
            steps[id(optimizer)] = tf.function(row_step if by_rows else step)
        if by_rows:
            steps[id(optimizer)](tf.constant(g[1]), tf.constant(g[0]), tf.constant(g_bias))
        else:
            steps[id(optimizer)](_gradients(g, g_bias, False))
    return apply


MODES = {"eager": ("dense", _eager(False)), "eager rows": ("rows", _eager(True)),
         "eager rows as dense": ("rows", _eager(False)), "compiled": ("dense", _compiled(False)),
         "compiled rows": ("rows", _compiled(True))}


@pytest.mark.parametrize("line", cases.OPTIMIZERS)
def test_ten_steps(line):
    for mode, (kind, apply) in MODES.items():
        want = REFERENCE[line][kind]
        got = cases.trajectory(lambda: eval(line, cases.namespace(keras, tf, np)), np, kind, apply,  # noqa: S307
                               lambda value, name: keras.Variable(value, name=name))
        got["seen"] = got["seen"][-len(want["seen"]):]
        for a, b in zip(got["seen"], want["seen"]):
            for x, y in zip(a, b):
                np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-5, err_msg=f"{mode}: {line}")
        assert got["counts"] == want["counts"], mode
        if "config" in want:
            assert close(answers.plain(got["config"], np), want["config"]), (got["config"], want["config"])
            names = [n for n in want["names"] if n not in ("variable", "variable_2")]
            assert [n for n in got["names"] if n != "u_product"] == names


class _Descent(keras.optimizers.Optimizer):
    """An optimizer as users write it."""

    def build(self, variables):
        super().build(variables)
        self.sums = [self.add_variable_from_reference(v, "sum") for v in variables]
        self.calls = keras.Variable(0, dtype="int32", name="calls")

    def update_step(self, gradient, variable, learning_rate):
        sums = self.sums[self._get_variable_index(variable)]
        self.assign_add(sums, gradient)
        self.assign_sub(variable, tf.cast(learning_rate, variable.dtype) * sums)
        self.assign_add(self.calls, 1)


@pytest.mark.parametrize("compiled", [False, True])
def test_an_optimizer_of_ones_own(compiled):
    optimizer = _Descent(learning_rate=0.5, weight_decay=0.1)
    a, b = keras.Variable(np.ones((2, 2), "float32"), name="a"), keras.Variable(np.ones(2, "float32"), name="b")

    def step(g):
        optimizer.apply_gradients([(g, a), (tf.reduce_sum(g, 0), b)])
    run = tf.function(step) if compiled else step
    for _ in range(2):
        run(tf.ones((2, 2)))
    decayed = (1.0 * 0.95 - 0.5) * 0.95 - 1.0
    np.testing.assert_allclose(a.numpy(), np.full((2, 2), decayed), rtol=1e-6)
    assert int(optimizer.calls) == 4 and int(optimizer.iterations) == 2
    assert [v.path for v in optimizer.variables] == [
        f"{optimizer.name}/{n}" for n in ("iteration", "learning_rate", "a_sum", "b_sum", "calls")]


def test_a_subclass_of_adam_with_its_own_step():
    class Signs(keras.optimizers.Adam):
        def update_step(self, gradient, variable, learning_rate):
            super().update_step(tf.sign(gradient), variable, learning_rate)
    a, b = keras.Variable([1.0, 2.0]), keras.Variable([1.0, 2.0])
    Signs(0.1).apply([tf.constant([3.0, -4.0])], [a])
    keras.optimizers.Adam(0.1).apply([tf.constant([1.0, -1.0])], [b])
    assert a.numpy().tolist() == b.numpy().tolist()


def test_learning_rates_are_assignable():
    v = keras.Variable([1.0])
    optimizer = keras.optimizers.SGD(0.1)
    step = tf.function(lambda: optimizer.apply([tf.constant([1.0])], [v]))
    step()
    optimizer.learning_rate = 0.5
    step()
    optimizer.learning_rate.assign(0.25)
    step()
    assert v.numpy().tolist() == pytest.approx([1.0 - 0.1 - 0.5 - 0.25])
    scheduled = keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5))
    with pytest.raises(TypeError, match="not settable"):
        scheduled.learning_rate = 0.5
    optimizer.learning_rate = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    assert float(optimizer.learning_rate) == pytest.approx(0.0125)


class _Halving(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return 1.0 / (tf.cast(step, "float32") + 1.0)

    def get_config(self):
        return {}


@pytest.mark.parametrize("compiled", [False, True])
def test_a_schedule_of_ones_own(compiled):
    v = keras.Variable([0.0])
    optimizer = keras.optimizers.SGD(_Halving())
    step = (lambda: optimizer.apply([tf.constant([-1.0])], [v]))
    step = tf.function(step) if compiled else step
    for _ in range(3):
        step()
    assert v.numpy().tolist() == pytest.approx([1 + 1 / 2 + 1 / 3])
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer), {"_Halving": _Halving})
    assert isinstance(again._learning_rate, _Halving)


def test_weight_decay_leaves_out_what_it_is_told():
    kernel, bias = keras.Variable(np.ones(3, "float32"), name="kernel"), keras.Variable(np.ones(3, "float32"), name="bias")
    optimizer = keras.optimizers.AdamW(0.1, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    zero = tf.zeros(3)
    optimizer.apply([zero, zero], [kernel, bias])
    assert kernel.numpy().tolist() == pytest.approx([0.95] * 3) and bias.numpy().tolist() == [1.0] * 3


def test_rows_are_touched_alone():
    """Rows without a gradient keep their bits, and nothing becomes dense on the way."""
    for make in (keras.optimizers.SGD, keras.optimizers.Adagrad):
        table = keras.Variable(np.full((5, 2), np.inf, "float32"))
        table.assign(tf.tensor_scatter_nd_update(table, [[1], [3]], tf.ones((2, 2))))
        rows = tf.IndexedSlices(tf.ones((3, 2)), tf.constant([3, 1, 3]), tf.constant([5, 2]))
        make(0.1).apply([rows], [table])
        assert np.isinf(table.numpy()[[0, 2, 4]]).all() and np.isfinite(table.numpy()[[1, 3]]).all()


@pytest.mark.parametrize("name", "SGD Adam AdamW RMSprop Adagrad Adadelta Adamax Nadam Ftrl Lion Lamb Adafactor".split())
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_variables_have_float32_state(name, dtype):
    optimizer = getattr(keras.optimizers, name)(learning_rate=0.125)
    v = keras.Variable(np.array([1.0, -2.0]), dtype=dtype)
    wide = keras.Variable(np.array([1.0, -2.0]), dtype="float32")
    twin = getattr(keras.optimizers, name)(learning_rate=0.125)
    for _ in range(3):
        optimizer.apply([tf.constant([1e-3, 1e-4], dtype)], [v])
        twin.apply([tf.cast(tf.constant([1e-3, 1e-4], dtype), "float32")], [wide])
    assert v.dtype == dtype and all(s.dtype in ("float32", "int64", "int32") for s in optimizer.variables)
    got = np.asarray(tf.cast(v, "float32"))
    np.testing.assert_allclose(got, wide.numpy(), rtol=2e-2 if dtype == "bfloat16" else 3e-3)
    assert np.isfinite(got).all()


def test_the_loss_scale():
    inner = keras.optimizers.SGD(1.0)
    optimizer = keras.mixed_precision.LossScaleOptimizer(inner, initial_scale=8.0, dynamic_growth_steps=2)
    v = keras.Variable([1.0])
    assert float(optimizer.scale_loss(tf.constant(2.0))) == 16.0
    for g, scale, value in ((8.0, 8.0, 0.0), (np.nan, 4.0, 0.0), (4.0, 4.0, -1.0), (4.0, 8.0, -2.0)):
        optimizer.apply([tf.constant([g])], [v])
        assert (float(optimizer.dynamic_scale), v.numpy().tolist()) == (scale, [value])
    assert int(optimizer.iterations) == 3


def test_policies():
    policy = keras.DTypePolicy("mixed_float16")
    assert (policy.compute_dtype, policy.variable_dtype) == ("float16", "float32")
    assert keras.dtype_policies.deserialize(keras.dtype_policies.serialize(policy)) == policy
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        assert keras.mixed_precision.global_policy().compute_dtype == "bfloat16"
        assert keras.losses.MeanSquaredError().dtype == "float32"
    finally:
        keras.mixed_precision.set_global_policy("float32")
    with pytest.raises(ValueError, match="Cannot convert 'foo'"):
        keras.DTypePolicy("foo")


def test_optimizers_refuse():
    v, w = keras.Variable([1.0]), keras.Variable([1.0])
    optimizer = keras.optimizers.SGD()
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply([None], [v])
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        keras.optimizers.SGD().apply([tf.ones(1), None], [v, w])
    with pytest.raises(ValueError, match="Unknown variable"):
        optimizer.apply([tf.ones(1)], [w])
    with pytest.raises(ValueError, match="must already be built"):
        keras.optimizers.SGD().apply([tf.ones(1)])
    with pytest.raises(ValueError, match="not recognized: {'lr': 0.1}"):
        keras.optimizers.Adam(lr=0.1)
    with pytest.raises(ValueError, match="Only one of"):
        keras.optimizers.Adam(clipnorm=1.0, clipvalue=1.0)
    with pytest.raises(ValueError, match="Could not interpret optimizer identifier: foo"):
        keras.optimizers.get("foo")


def test_state_goes_to_a_dict_and_back():
    v = keras.Variable([1.0, 2.0])
    optimizer, other = keras.optimizers.Adam(0.1), keras.optimizers.Adam(0.2)
    optimizer.apply([tf.ones(2)], [v])
    store = {}
    optimizer.save_own_variables(store)
    other.build([v])
    other.load_own_variables(store)
    assert all((a.numpy() == b.numpy()).all() for a, b in zip(optimizer.variables, other.variables))


def test_copies_and_pickles():
    import copy
    import pickle
    v = keras.Variable([1.0, 2.0], name="v")
    optimizer = keras.optimizers.AdamW(0.1)
    optimizer.exclude_from_weight_decay([v])
    for _ in range(2):
        optimizer.apply([tf.ones(2)], [v])
    both = copy.deepcopy((optimizer, v))
    again = pickle.loads(pickle.dumps((optimizer, v)))
    optimizer.apply([tf.ones(2)], [v])
    for other, w in (both, again):
        assert w.numpy().tolist() != v.numpy().tolist()
        other.apply([tf.ones(2)], [w])
        assert w.numpy().tolist() == v.numpy().tolist() and int(other.iterations) == 3
        assert [s.path for s in other.variables] == [s.path for s in optimizer.variables]
    metric = keras.metrics.Mean()
    metric.update_state([1.0, 3.0])
    twin = copy.deepcopy(metric)
    twin.update_state(8.0)
    assert (float(metric.result()), float(twin.result())) == (2.0, 4.0)


def test_metrics_inside_a_compiled_step():
    names = ("Mean", "AUC", "Precision", "CategoricalAccuracy", "F1Score", "R2Score", "OneHotMeanIoU", "TopKCategoricalAccuracy")
    made = [getattr(keras.metrics, n)(**({"num_classes": 3} if "IoU" in n else {})) for n in names]
    eager = [type(m).from_config(m.get_config()) for m in made]
    rng = np.random.default_rng(0)

    def step(metrics, y, p):
        for m in metrics:
            m.update_state(p) if isinstance(m, keras.metrics.Mean) and type(m) is keras.metrics.Mean else m.update_state(y, p)
    compiled = tf.function(lambda y, p: step(made, y, p))
    for size in (4, 7, 4):
        y, p = np.eye(3, dtype="float32")[rng.integers(0, 3, size)], rng.random((size, 3), dtype="float32")
        compiled(tf.constant(y), tf.constant(p))
        step(eager, tf.constant(y), tf.constant(p))
    for a, b in zip(made, eager):
        np.testing.assert_allclose(a.result().numpy(), b.result().numpy(), rtol=1e-5, err_msg=a.name)
        a.reset_state()
        assert all((np.asarray(v) == 0).all() for v in a.variables)


def test_a_metric_of_ones_own():
    class Positives(keras.metrics.Metric):
        def __init__(self, name="positives", **kwargs):
            super().__init__(name=name, **kwargs)
            self.count = self.add_weight(name="count", initializer="zeros")
            self.inner = keras.metrics.Mean()

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.count.assign_add(tf.reduce_sum(tf.cast(y_pred > 0, "float32")))
            self.inner.update_state(y_pred)

        def result(self):
            return self.count
    metric = Positives()
    metric.update_state(None, tf.constant([1.0, -1.0, 2.0]))
    assert float(metric.result()) == 2 and len(metric.variables) == 3
    metric.reset_state()
    assert float(metric.result()) == 0 and float(metric.inner.result()) == 0


def test_a_loss_of_ones_own():
    class Cubic(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.abs(y_true - y_pred) ** 3, -1)
    assert float(Cubic()(np.zeros((2, 2)), np.full((2, 2), 2.0))) == 8.0
    assert float(Cubic(reduction="sum")(np.zeros((2, 2)), np.full((2, 2), 2.0), sample_weight=[1.0, 0.0])) == 8.0


def test_other_names():
    assert tf.optimizers.Adam is keras.optimizers.Adam and tf.losses.MeanSquaredError is keras.losses.MeanSquaredError
    assert tf.metrics.Mean is keras.metrics.Mean and keras.optimizers.legacy.Adam is keras.optimizers.Adam
    assert keras.losses.Reduction.NONE == "none" and keras.losses.mse is keras.losses.mean_squared_error


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float16", "bfloat16"])
def test_half_precision_learns(policy):
    """Mixed policies, and layers that are half themselves: to nearly the loss of float32, with float32 state."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(128, 8)).astype("float32")
    y = (x @ rng.normal(size=(8, 3))).argmax(1)
    final = {}
    for name in ("float32", policy):
        keras.utils.set_random_seed(1)
        keras.mixed_precision.set_global_policy(name)
        try:
            model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"),
                                      keras.layers.Dense(3, activation="softmax")])
            model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
        finally:
            keras.mixed_precision.set_global_policy("float32")
        final[name] = model.fit(x, y, epochs=8, batch_size=32, verbose=0).history["loss"]
    assert type(model.optimizer).__name__ == ("LossScaleOptimizer" if policy == "mixed_float16" else "Adam")
    assert model.layers[0].kernel.dtype == (policy if not policy.startswith("mixed") else "float32")
    assert all(v.dtype in ("float32", "int64") for v in model.optimizer.variables)
    assert final[policy][-1] < 0.8 * final[policy][0]
    if policy != "bfloat16":  # whose weights have 8 bits
        assert final[policy][-1] == pytest.approx(final["float32"][-1], rel=0.15)


def test_half_precision_says_once_what_it_gains():
    import subprocess
    import sys
    program = ("from gradus import keras\nfor _ in range(2):\n    keras.layers.Dense(2, dtype='float16')\n"
               "    keras.layers.Dense(2, dtype='mixed_bfloat16')")
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr
    assert said.count("half the memory") <= 1 and "Traceback" not in said


def test_compute_loss_hears_whether_it_trains():
    heard = []

    class Listening(keras.Sequential):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            heard.append(training)
            return super().compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=training)
    model = Listening([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    x, y = np.ones((4, 2), "float32"), np.ones((4, 1), "float32")
    model.fit(x, y, verbose=0)
    model.evaluate(x, y, verbose=0)
    assert heard == [True, False]


def test_weighted_metrics_of_several_outputs_are_named_behind_the_output():
    x = keras.Input((2,))
    model = keras.Model(x, [keras.layers.Dense(1, name=name)(x) for name in "ab"])
    model.compile("sgd", ["mse", "mse"], metrics=[["mae"], ["mae"]], weighted_metrics=[["mae"], ["mae"]])
    history = model.fit(np.ones((4, 2)), [np.ones((4, 1))] * 2, verbose=0).history
    assert sorted(history) == ["a_loss", "a_mae", "a_weighted_mae", "b_loss", "b_mae", "b_weighted_mae", "loss"]
