"""gradus.compat.v1: programs of TensorFlow 1, compared with what TensorFlow gives, and what is ours."""
import json
import math
import pathlib
import sys

import numpy as np
import pytest

import gradus
import gradus.compat.v1 as tf
import v1_order_programs
import v1_programs

PROGRAMS = {**v1_programs.PROGRAMS, **v1_order_programs.PROGRAMS}
REFERENCE = json.loads((pathlib.Path(__file__).parent / "v1_reference.json").read_text())


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()
    yield
    tf.reset_default_graph()


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def same(got, want, path):
    if isinstance(want, list):
        assert isinstance(got, list) and len(got) == len(want), f"{path}: {got} is not {want}"
        for i, (g, w) in enumerate(zip(got, want)):
            same(g, w, f"{path}[{i}]")
    elif isinstance(want, float):
        assert math.isclose(got, want, rel_tol=2e-5, abs_tol=2e-6), f"{path}: {got} is not {want}"
    else:
        assert got == want and type(got) is type(want), f"{path}: {got!r} is not {want!r}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    same(plain(PROGRAMS[name](tf, np)), REFERENCE[name], name)


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def test_the_other_namespace_stays_eager():
    tf.constant(1.0) + 1
    assert gradus.executing_eagerly() and not tf.executing_eagerly()
    assert (gradus.constant(1.0) + 1).numpy() == 2
    assert gradus.compat.v1 is tf


def test_functions_of_the_other_namespace_work_on_graph_tensors():
    x = tf.placeholder(tf.float32, [2])
    y = gradus.reduce_sum(gradus.exp(x) * gradus.constant([1.0, 2.0]))
    assert run(y, {x: [0.0, 0.0]}) == 3


def test_races_are_named():
    w = tf.Variable(1.0, name="w")
    write = w.assign_add(1.0)
    read = w * 2
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        text = session.explain([write, read])
        assert "race: 'w' is read at" in text and "test_compat_v1.py" in text and "the read comes first" in text
        assert session.run([read, write]) == [2, 2]
        with tf.control_dependencies([write]):
            after = w * 2
        assert "race" not in session.explain(after)
        assert session.run(after) == 6


def test_a_run_is_cached_by_what_is_fetched_and_fed():
    x = tf.placeholder(tf.float32, [None])
    y, z = x + 1, x * 2
    with tf.Session() as session:
        for n in (3, 3, 5):
            assert session.run([y, z], {x: np.arange(n)})[1].tolist() == (2 * np.arange(n)).tolist()
        assert len(session._runs) == 1
        assert session.run([z, y], {x: [1.0]})[0].tolist() == [2]
        assert session.run((y,), {x: [1.0]})[0].tolist() == [2]
        assert session.run(y, {x: [1.0], z: [5.0]}).tolist() == [2]


def test_temporary_fetches_are_not_confused():
    """Keys of the cache are addresses: whoever is in it must be kept."""
    with tf.Session() as session:
        for i in range(50):
            assert session.run([tf.constant(i), tf.constant(i + 1)]) == [i, i + 1]
            assert session.run(tf.constant(float(i))) == i


def test_sizes_that_do_not_go_together_are_refused():
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    total = tf.reduce_sum(x + y)
    with tf.Session() as session:
        assert session.run(total, {x: [1, 2], y: [3, 4]}) == 10
        with pytest.raises(gradus.errors.InvalidArgumentError):
            session.run(total, {x: [1, 2], y: [3, 4, 5]})
        assert session.run(total, {x: [1], y: [3]}) == 4


def test_sizes_as_tensors():
    x, columns = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
    n = tf.shape(x)[0]
    ones = tf.ones([n, 2])
    outputs = [tf.gather_nd(x, tf.stack([tf.range(n), columns], axis=1)), tf.reshape(x, [n * 3]), ones, tf.reduce_sum(x) / tf.to_float(n), tf.tile([[1.0]], [n, 1]), tf.ones_like(x)]
    got = run(outputs, {x: np.arange(6).reshape(2, 3), columns: [0, 2]})
    assert got.pop(0).tolist() == [0, 5]
    assert [g.shape for g in got] == [(6,), (2, 2), (), (2, 1), (2, 3)] and got[2] == 7.5


def test_unknown_ranks():
    x = tf.placeholder(tf.float32, name="x")
    assert x.shape.rank is None and str(x) == 'Tensor("x:0", dtype=float32)'
    y = tf.reduce_sum(tf.square(x)) * 2
    w = tf.Variable(3.0)
    g = tf.gradients(y * w, [w, x])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y, {x: 2}) == 8
        assert session.run(y, {x: [[1, 2], [3, 4]]}) == 60
        assert [v.tolist() for v in session.run(g, {x: [1, 2]})] == [10, [12, 24]]
        assert session.run(tf.shape(x), {x: np.zeros((2, 5))}).tolist() == [2, 5]
        assert session.run("x:0", {"x:0": [1.0]}).tolist() == [1]
        with pytest.raises(gradus.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'x'"):
            session.run(y)
        with tf.control_dependencies([y]):
            later = w.assign_add(1.0)
        assert session.run(later, {x: 1}) == 4


def test_optimizers_on_losses_of_unknown_rank():
    x = tf.placeholder(tf.float32)
    w = tf.Variable([1.0, 2.0])
    step = tf.Variable(0, trainable=False)
    train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.square(w * x)), global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {x: 2.0})
        session.run(train, {x: [1.0, 2.0]})
        assert session.run(step) == 2
        assert np.allclose(session.run(w), [0.8, 1.8], atol=0.02)


def test_layers():
    rng = np.random.RandomState(0)
    images = rng.rand(6, 8, 8, 3).astype(np.float32)
    x, training = tf.placeholder(tf.float32, [None, 8, 8, 3]), tf.placeholder(tf.bool, [])
    h = tf.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(tf.layers.batch_normalization(h, training=training), 2, 2)
    h = tf.layers.dropout(tf.layers.flatten(h), 0.5, training=training)
    out = tf.layers.dense(h, 3, name="out")
    assert [v.name for v in tf.trainable_variables()] == [
        "conv2d/kernel:0", "conv2d/bias:0", "batch_normalization/gamma:0", "batch_normalization/beta:0", "out/kernel:0",
        "out/bias:0"]
    loss = tf.losses.sparse_softmax_cross_entropy(labels=[0, 1, 2, 0, 1, 2], logits=out)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        mean = tf.get_default_graph().get_tensor_by_name("batch_normalization/moving_mean:0")
        before = session.run(mean)
        losses = [session.run([train, loss], {x: images, training: True})[1] for _ in range(60)]
        assert losses[-1] < losses[0] / 2 and np.abs(session.run(mean) - before).max() > 0
        a, b = (session.run(out, {x: images, training: False}) for _ in range(2))
        assert a.shape == (6, 3) and (a == b).all()
        assert (session.run(out, {x: images, training: True}) != a).any()


def test_layers_share_variables():
    x = tf.placeholder(tf.float32, [None, 3])
    a = tf.layers.dense(x, 2, name="d")
    b = tf.layers.dense(x, 2, name="d", reuse=True)
    layer = tf.layers.Dense(2, name="e")
    c, d = layer(x), layer(x)
    assert len(tf.trainable_variables()) == 4 and len(layer.trainable_variables) == 2
    got = run([a, b, c, d], {x: np.ones((1, 3))})
    assert (got[0] == got[1]).all() and (got[2] == got[3]).all()
    with pytest.raises(ValueError, match="already exists"):
        tf.layers.dense(x, 2, name="d")


@pytest.mark.parametrize("make", [tf.nn.rnn_cell.BasicRNNCell, tf.nn.rnn_cell.BasicLSTMCell, tf.nn.rnn_cell.GRUCell])
def test_cells(make):
    x = tf.placeholder(tf.float32, [None, 4, 3])
    outputs, state = tf.nn.dynamic_rnn(make(5), x, dtype=tf.float32)
    listed, last = tf.nn.static_rnn(make(5), tf.unstack(x, axis=1), dtype=tf.float32, scope="other")
    g = tf.gradients(outputs, tf.trainable_variables())
    values = run([outputs, state, listed[-1], g[0]], {x: np.ones((2, 4, 3))})
    assert values[0].shape == (2, 4, 5) and values[2].shape == (2, 5) and np.abs(values[3]).max() > 0
    h = values[1][1] if isinstance(values[1], tuple) else values[1]
    assert np.allclose(values[0][:, -1], h)


def test_dropout_takes_a_fed_probability():
    x, keep = tf.placeholder(tf.float32, [None, 100]), tf.placeholder(tf.float32)
    y = tf.nn.dropout(x, keep)
    with tf.Session() as session:
        assert (session.run(y, {x: np.ones((3, 100)), keep: 1.0}) == 1).all()
        half = session.run(y, {x: np.ones((30, 100)), keep: 0.5})
        assert set(np.unique(half)) == {0, 2} and 0.4 < (half > 0).mean() < 0.6
        assert (half != session.run(y, {x: np.ones((30, 100)), keep: 0.5})).any()


def test_print_and_assert(capfd):
    x = tf.placeholder(tf.float32, [2])
    y = tf.Print(x * 2, [x, tf.shape(x)], message="here: ")
    check = tf.Assert(tf.reduce_all(x > 0), ["x", x])
    v = tf.Variable(0.0)
    with tf.control_dependencies([check]):
        z = y + 1
        write = v.assign_add(1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(z, {x: [1, 2]}).tolist() == [3, 5]
        assert capfd.readouterr().err == "here: [1 2][2]\n"
        with pytest.raises(gradus.errors.InvalidArgumentError, match="assertion failed"):
            session.run([z, write], {x: [-1, 2]})
        assert session.run(v) == 0  # nothing was written
        session.run(tf.print("value", v), {x: [-1, 2]})
        assert capfd.readouterr().err.endswith("value 0\n")


def test_python_function_with_a_registered_gradient():
    name = "MySquare"
    if name not in tf._functions.gradient_functions:
        tf.RegisterGradient(name)(lambda op, grad: 2 * op.inputs[0] * grad)
    x = tf.placeholder(tf.float32, [3])
    with tf.get_default_graph().gradient_override_map({"PyFunc": name}):
        y = tf.py_func(np.square, [x], tf.float32)
    g = tf.gradients(y, x)[0]
    got = run([y, g], {x: [1.0, 2.0, 3.0]})
    assert got[0].tolist() == [1, 4, 9] and got[1].tolist() == [2, 4, 6]


def test_summaries(tmp_path):
    x = tf.placeholder(tf.float32, [])
    tf.summary.scalar("loss", x * 2)
    tf.summary.histogram("h", [x, x])
    merged = tf.summary.merge_all()
    with tf.Session() as session, tf.summary.FileWriter(str(tmp_path), session.graph) as writer:
        for step in range(2):
            writer.add_summary(session.run(merged, {x: step}), step)
    content = next(tmp_path.iterdir()).read_bytes()
    assert content.count(b"loss") == 2 and content.count(b"histograms") == 2


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    v = tf.Variable([1.0])
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
        session.run(v.assign([2.0]))

        def broken(file):
            raise OSError("disk full")
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", broken)
            with pytest.raises(OSError):
                saver.save(session, str(tmp_path / "m"))
        saver.restore(session, path)
        assert session.run(v).tolist() == [1] and sorted(p.name for p in tmp_path.iterdir()) == ["checkpoint", "m.index"]
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            saver.restore(session, str(tmp_path / "nothing"))


def test_flags_and_app(monkeypatch):
    tf.flags.DEFINE_integer("v1_steps", 3, "how many")
    tf.app.flags.DEFINE_boolean("v1_fast", False, "quickly")
    monkeypatch.setattr(sys, "argv", ["prog", "--v1_steps=7", "--v1_fast", "rest"])
    seen = []
    with pytest.raises(SystemExit) as exit_:
        tf.app.run(lambda argv: seen.append((argv, tf.flags.FLAGS.v1_steps, tf.app.flags.FLAGS.v1_fast)))
    assert seen == [(["prog", "rest"], 7, True)] and exit_.value.code is None


def test_what_is_accepted():
    tf.disable_v2_behavior()
    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.set_random_seed(1)
    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    with tf.Session(config=config) as session, tf.device("/gpu:0"):
        session.run(tf.global_variables_initializer(), options=tf.RunOptions(), run_metadata=tf.RunMetadata())
    with pytest.raises(AttributeError, match="gradus.compat.v1 has no attribute 'estimator'"):
        tf.estimator


def test_graph_tensors_are_keys_and_compare_as_objects():
    a, b = tf.constant(1.0), tf.constant(1.0)
    assert {a: 1, b: 2}[a] == 1 and a in [b, a] and a != b and (a == a) is True
    with pytest.raises(TypeError):
        bool(a > 0)


def test_sessions_of_dropped_graphs_are_freed():
    import gc
    import weakref
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as session:
        v = tf.Variable(1.0)
        session.run([v.initializer])
    reference = weakref.ref(graph)
    del graph, session, v
    for _ in range(20):
        tf.Graph()
    gc.collect()
    assert reference() is None


def test_slices_of_unknown_sizes():
    x = tf.placeholder(tf.float32, [None, None])
    parts = [x[1:], x[:, :-1], x[::2, 0], x[..., tf.newaxis], x[1:] - x[:-1]]
    data = np.arange(12.0, dtype=np.float32).reshape(4, 3)
    got = run(parts, {x: data})
    want = [data[1:], data[:, :-1], data[::2, 0], data[..., None], data[1:] - data[:-1]]
    assert all((g == w).all() and g.shape == w.shape for g, w in zip(got, want))


def test_contrib():
    x = tf.placeholder(tf.float32, [None, 2, 3])
    y = tf.contrib.layers.fully_connected(tf.contrib.layers.flatten(x), 4, scope="fc",
                                          weights_initializer=tf.contrib.layers.xavier_initializer(),
                                          weights_regularizer=tf.contrib.layers.l2_regularizer(0.1))
    assert [v.name for v in tf.trainable_variables()] == ["fc/weights:0", "fc/biases:0"]
    w = tf.trainable_variables()[0]
    out, weights, loss = run([y, w, tf.losses.get_regularization_loss()], {x: np.ones((5, 2, 3))})
    assert np.allclose(out, np.maximum(np.ones((5, 6)) @ weights, 0), atol=1e-6)
    assert np.isclose(loss, 0.05 * (weights ** 2).sum()) and tf.contrib.rnn.GRUCell is tf.nn.rnn_cell.GRUCell


def test_a_list_of_a_kind_of_its_own_is_looked_at_each_time():
    class Wishes(list):
        pass
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.constant(1.0), tf.constant(2.0)
        wishes = Wishes([a])
        assert session.run(wishes) == [1.0]
        wishes[0] = b
        assert session.run(wishes) == [2.0]


def test_division_of_integers_and_losses_of_lists():
    import gradus.compat.v1 as v1
    with v1.Graph().as_default(), v1.Session() as session:
        down, negative, real = session.run([v1.div(7, 2), v1.div(-7, 2), v1.div(7.0, 2.0)])
        assert (down, negative, real) == (3, -4, 3.5) and down.dtype == "int32"
        losses = session.run([v1.losses.softmax_cross_entropy([[0, 1]], [[1.0, 2.0]]),
                              v1.losses.sparse_softmax_cross_entropy([1], [[1.0, 2.0]])])
        assert abs(losses[0] - 0.3132617) < 1e-5 and abs(losses[1] - 0.3132617) < 1e-5


def test_placeholders_have_sizes_of_their_own():
    a = tf.placeholder(tf.float32, [None, 2])
    b = tf.placeholder(tf.float32, [None, 2])
    both = tf.concat([a, b], 0)
    total = a + b
    with tf.Session() as session:
        feeds = {a: np.ones((2, 2)), b: np.ones((3, 2))}
        assert session.run(both, feeds).shape == (5, 2)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(total, feeds)
        np.testing.assert_array_equal(session.run(total, {a: np.ones((3, 2)), b: np.ones((3, 2))}), np.full((3, 2), 2))


def test_a_run_minds_only_the_sizes_that_its_ops_rely_on():
    x = tf.placeholder(tf.float32, [None])
    moved = x + tf.constant([1., 2., 3.])
    doubled = x * 2.
    with tf.Session() as session:
        for n in (3, 1, 5, 0):
            np.testing.assert_array_equal(session.run(doubled, {x: np.ones(n)}), np.full(n, 2))
        np.testing.assert_array_equal(session.run(moved, {x: np.ones(3)}), [2, 3, 4])
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(moved, {x: np.ones(5)})
