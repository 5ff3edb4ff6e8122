"""tf.function: what TensorFlow 2.21 does was asked of it, unless a comment says that Gradus differs on purpose."""
import collections
import gc
import math
import threading
import weakref

import numpy as np
import pytest

import gradus as tf


def counted(f=None, **options):
    """A tf.function that counts its traces in .traces."""
    def wrap(f):
        def inner(*args, **kwargs):
            made.traces += 1
            return f(*args, **kwargs)
        inner.__signature__ = __import__("inspect").signature(f)
        made = tf.function(inner, **options)
        made.traces = 0
        return made
    return wrap(f) if f is not None else wrap


def test_decorator_forms():
    @tf.function
    def a(x):
        """Doubles."""
        return x * 2

    @tf.function(jit_compile=True, reduce_retracing=True, autograph=False)
    def b(x):
        return x * 2

    assert a(tf.constant(2.0)).numpy() == 4 and b(tf.constant(2.0)).numpy() == 4
    assert a.__name__ == "a" and a.__doc__ == "Doubles." and a.python_function(3) == 6
    assert tf.function(lambda x: x + 1)(tf.constant(1)).numpy() == 2


def test_side_effects_only_at_trace_and_one_program_for_all_sizes():
    f = counted(lambda x: tf.reduce_sum(x * x))
    for n in (3, 3, 4, 7, 50):
        assert f(tf.ones([n])).numpy() == n
    assert f.traces == 2 and f.experimental_get_tracing_count() == 2  # the second has a symbol for the size
    f(tf.ones([3], tf.float64))
    assert f.traces == 3
    assert "float64" in f.explain() and f.pretty_printed_concrete_signatures().count("\n") == 2


def test_traced_tensor():
    seen = {}

    @tf.function(autograph=False)
    def f(x):
        seen.update(repr=repr(x), str=str(x), shape=x.shape, inner=repr(x * 2), sizes=repr(tf.shape(x)),
                    eager=tf.executing_eagerly(), inside=tf.inside_function())
        for name, use in dict(numpy=lambda: x.numpy(), array=lambda: np.asarray(x), bool=lambda: bool(x[0, 0] > 0),
                              int=lambda: int(x[0, 0]), float=lambda: float(x[0, 0]), range=lambda: range(x[0, 0]),
                              iter=lambda: list(x), len=lambda: len(x), hash=lambda: hash(x),
                              format=lambda: f"{x:.2f}").items():
            with pytest.raises(Exception) as e:
                use()
            seen[name] = e.type
        return tf.cast(tf.shape(x)[0], tf.float32) * x

    f.get_concrete_function(tf.TensorSpec([None, 3]))
    assert seen["repr"] == "<tf.Tensor 'Placeholder:0' shape=(None, 3) dtype=float32>"
    assert seen["str"] == 'Tensor("Placeholder:0", shape=(None, 3), dtype=float32)'
    assert seen["shape"].as_list() == [None, 3] and "shape=(2,) dtype=int32" in seen["sizes"]
    assert not seen["eager"] and seen["inside"] and tf.executing_eagerly() and not tf.inside_function()
    assert seen["numpy"] is AttributeError and seen["array"] is NotImplementedError
    assert seen["bool"] is seen["iter"] is tf.errors.OperatorNotAllowedInGraphError
    assert issubclass(tf.errors.OperatorNotAllowedInGraphError, TypeError)
    for name in ("int", "float", "range", "len", "hash", "format"):
        assert seen[name] is TypeError, name
    np.testing.assert_array_equal(f(tf.ones([5, 3])), np.full([5, 3], 5.0))
    assert f.experimental_get_tracing_count() == 1


def test_keywords_defaults_and_structures():
    @counted
    def f(a, b=3.0, *, scale=1.0, extra=None):
        return {"sum": a["x"] + a["y"][0] * b * scale, "rest": (extra, None, 5)}

    arg = {"y": (tf.constant(2.0),), "x": tf.constant(1.0)}
    out = f(arg)
    assert out["sum"].numpy() == 7 and out["rest"][0] is None and out["rest"][2].numpy() == 5
    assert f(a=arg, b=3.0)["sum"].numpy() == 7 and f.traces == 1
    assert f(arg, scale=1.0, extra="word")["rest"][0] == "word" and f.traces == 2
    for bad in (lambda: f(), lambda: f(arg, 1, 2), lambda: f(arg, c=1), lambda: f(arg, a=arg)):
        with pytest.raises(TypeError, match="Binding inputs to tf.function failed"):
            bad()


def test_variable_arguments():
    f = counted(lambda *args, **kwargs: sum(args) + kwargs.get("k", 0))
    assert f(tf.constant(1), tf.constant(2)).numpy() == 3
    assert f(tf.constant(1), k=tf.constant(5)).numpy() == 6
    assert f(tf.constant(2), k=tf.constant(5)).numpy() == 7 and f.traces == 2


def test_named_tuples_and_lists_in_and_out():
    Point = collections.namedtuple("Point", "x y")

    @tf.function
    def f(p, rest):
        return Point(p.y, p.x), [r * 2 for r in rest], ()

    point, rest, nothing = f(Point(tf.constant(1), tf.constant(2)), [tf.constant(3.0), np.float32(4)])
    assert (point.x.numpy(), point.y.numpy()) == (2, 1) and type(point) is Point
    assert [r.numpy() for r in rest] == [6, 8] and nothing == ()
    assert tf.function(lambda x: None)(1) is None


def test_arrays_are_inputs():
    f = counted(lambda x: x + 1)
    f(np.ones(3))
    assert f(np.zeros(3)).numpy().tolist() == [1, 1, 1] and f.traces == 1
    assert f(np.zeros(3)).dtype == tf.float64


def test_numbers_become_inputs():
    # TensorFlow makes a trace per value.
    f = counted(lambda x, lr: x - lr * 2 * x)
    x = tf.constant([1.0, 2.0])
    for lr in (0.5, 0.25, 0.125, 1):
        np.testing.assert_array_equal(f(x, lr), x - lr * 2 * x)
    assert f.traces == 3  # 0.5 fixed, real numbers, the integer 1
    assert f(x, 0.1).dtype == tf.float32


def test_numbers_compute_as_in_python():
    f = tf.function(lambda x, beta, t: x / (1 - beta ** t))
    for t in range(1, 200, 17):
        np.testing.assert_array_equal(f(tf.constant(1.0), 0.999, float(t)), tf.constant(1.0) / (1 - 0.999 ** float(t)))


def test_numbers_that_are_asked_for_their_value():
    @counted
    def f(x, axis, n, training):
        if n > 2:
            x = x * n
        return tf.reduce_sum(x, axis) if training else tf.zeros([n])

    x = tf.reshape(tf.range(6.0), [2, 3])
    assert f(x, 0, 1, True).numpy().tolist() == [3, 5, 7]
    assert f(x, 1, 1, True).numpy().tolist() == [3, 12]
    assert f(x, 1, 3, True).numpy().tolist() == [9, 36]
    assert f(x, 0, 2, False).numpy().tolist() == [0, 0]
    assert f(x, 0, 4, False).numpy().tolist() == [0, 0, 0, 0]
    assert f(x, 1, 3, True).numpy().tolist() == [9, 36]


@pytest.mark.parametrize("use", [lambda n: range(n), lambda n: math.sqrt(n), lambda n: f"{n}", lambda n: {2: 1}.get(n),
                                 lambda n: [1, 2, 3][n], lambda n: n == 2, lambda n: round(n), lambda n: int(n)])
def test_values_are_right_where_numbers_must_be_fixed(use):
    f = tf.function(lambda x, n: x + tf.cast(len(str(use(n))), tf.float32) * n)
    for n in (0, 1, 2, 1, 2):
        assert f(tf.constant(1.0), n).numpy() == 1.0 + len(str(use(n))) * n


def test_results_of_numbers_have_their_dtypes():
    f = tf.function(lambda a, b: (a, b, a + 1, b * 2, tf.sqrt(b), tf.constant(a)))
    for a, b in ((1, 2.0), (3, 4.0), (5, 9.0)):
        got = f(a, b)
        assert [t.dtype.name for t in got] == ["int32", "float32", "int32", "float32", "float32", "int32"]
        np.testing.assert_array_equal([t.numpy() for t in got], [a, b, a + 1, b * 2, np.sqrt(np.float32(b)), a])


def test_zero_has_two_signs():
    f = tf.function(lambda x, z: x / z)
    assert f(tf.constant(1.0), 0.0).numpy() == math.inf and f(tf.constant(1.0), -0.0).numpy() == -math.inf


def test_static_values():
    f = counted(lambda x, mode: x * 2 if mode == "double" else x)
    assert f(tf.constant(2.0), "double").numpy() == 4 and f(tf.constant(2.0), "same").numpy() == 2
    assert f(tf.constant(3.0), "double").numpy() == 6 and f.traces == 2
    g = counted(lambda x, flag: x if flag else -x)
    assert [g(tf.constant(1), b).numpy() for b in (True, False, True)] == [1, -1, 1] and g.traces == 2


def test_input_signature():
    @counted(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def f(x):
        return x + 1

    assert f(np.ones([3, 2])).shape == (3, 2) and f([[1, 2]]).numpy().tolist() == [[2, 3]]
    assert f(x=tf.ones([40, 2])).shape == (40, 2) and f.traces == 1
    for bad in (tf.ones([3]), tf.ones([3, 2], tf.int32), tf.ones([2, 3])):
        with pytest.raises(TypeError, match="Can not cast"):
            f(bad)
    with pytest.raises(TypeError, match="missing a required argument"):
        f()
    with pytest.raises(TypeError):
        tf.function(lambda x: x, input_signature=5)


def test_input_signature_with_a_function_that_needs_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return tf.concat([x, tf.zeros([int(x.shape[0])])], 0)  # TensorFlow refuses

    assert f(tf.ones([2])).shape == (4,) and f(tf.ones([3])).shape == (6,)


def test_concrete_functions():
    f = counted(lambda x, k=2: {"y": x * k})
    c = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    assert f.traces == 1 and c.structured_outputs == {"y": tf.TensorSpec([None], tf.float32)}
    assert c(tf.constant([1.0, 2.0]))["y"].numpy().tolist() == [2, 4] and c(x=tf.ones([5]))["y"].shape == (5,)
    assert f.traces == 1
    with pytest.raises(TypeError):
        c(tf.ones([2, 2]))
    with pytest.raises(TypeError):
        c()
    v = tf.Variable(0.0)
    g = tf.function(lambda x: v.assign_add(x))
    g.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert v.numpy() == 0  # traced, not run


def test_variables_are_read_and_written():
    v = tf.Variable([1.0, 2.0])
    f = counted(lambda x: v.assign_add(x))
    assert f(tf.ones([2])).numpy().tolist() == [2, 3] and f(tf.ones([2])).numpy().tolist() == [3, 4]
    assert v.numpy().tolist() == [3, 4] and f.traces == 1
    v.assign([0.0, 0.0])
    assert f(tf.ones([2])).numpy().tolist() == [1, 1]


def test_variables_as_arguments_count_by_identity():
    f = counted(lambda v: v.assign_add(1.0))
    a, b = tf.Variable(1.0), tf.Variable(10.0)
    assert [f(a).numpy(), f(b).numpy(), f(a).numpy()] == [2, 11, 3] and f.traces == 2


def test_variables_are_created_once():
    class Model:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(tf.random.normal([]), name="made")
            return self.v * x

    model = Model()
    first = model(tf.constant(2.0)).numpy()
    assert model.v.numpy() * 2 == first and math.isfinite(first)
    assert model(tf.constant([2.0])).numpy() == [first]
    for bad in (lambda x: tf.Variable(1.0) + x, lambda x: tf.Variable(lambda: 1.0) + x):
        with pytest.raises(ValueError, match="singleton tf.Variables"):
            tf.function(bad)(tf.constant(1.0))


def test_methods_have_their_own_traces_and_do_not_keep_objects():
    class Counter:
        def __init__(self, by):
            self.by, self.total, self.traces = by, tf.Variable(0.0), 0

        @tf.function
        def add(self, x):
            self.traces += 1
            self.total.assign_add(x * self.by)
            return self.total

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def scaled(self, x):
            return x * self.by

    a, b = Counter(1.0), Counter(10.0)
    for c in (a, b, a, b):
        c.add(tf.constant(1.0))
    assert (a.total.numpy(), b.total.numpy(), a.traces, b.traces) == (2, 20, 1, 1)
    assert b.scaled(3).numpy() == 30 and Counter.add(a, tf.constant(1.0)).numpy() == 3
    gone = weakref.ref(b)
    del b, c
    gc.collect()
    assert gone() is None


def test_methods_of_temporary_objects():
    class Doubler:
        def __init__(self):
            self.factor = 2.0

        @tf.function
        def run(self, x):
            return x * self.factor

    assert Doubler().run(tf.constant(3.0)).numpy() == 6
    assert [Doubler().run(tf.constant(float(i))).numpy() for i in range(3)] == [0, 2, 4]


def test_functions_in_functions():
    inner = counted(lambda x: x * x)
    outer = counted(lambda x: inner(x) + inner(x + 1))
    assert outer(tf.constant(2.0)).numpy() == 13 and outer(tf.constant(3.0)).numpy() == 25
    assert outer.traces == 1 and inner(tf.constant(3.0)).numpy() == 9


def test_gradients_through_and_inside():
    w = tf.Variable([1.0, 2.0, 3.0])
    f = tf.function(lambda x: tf.reduce_sum(w * x ** 2))
    x = tf.constant([1.0, -2.0, 0.5])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) * 2
        dx, dw = tape.gradient(y, [x, w])
        np.testing.assert_allclose(dx, 4 * w * x)
        np.testing.assert_allclose(dw, 2 * x ** 2)

    @tf.function
    def inside(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x ** 3
            d = tape.gradient(y, x)
        return d, outer.gradient(d, x), None

    d, dd, none = inside(x)
    np.testing.assert_allclose(d, 3 * x ** 2)
    np.testing.assert_allclose(dd, 6 * x)
    assert none is None


def test_rows_gradients_come_out():
    table = tf.Variable(tf.ones([4, 2]))

    @tf.function
    def f(rows):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, rows) * 3.0)
        return tape.gradient(y, table)

    got = f(tf.constant([1, 1, 3]))
    np.testing.assert_array_equal(tf.convert_to_tensor(got), [[0, 0], [6, 6], [0, 0], [3, 3]])


def test_random_numbers_advance():
    f = tf.function(lambda: tf.random.normal([4]))
    assert not np.array_equal(f(), f())
    tf.random.set_seed(3)
    a = [f().numpy() for _ in range(2)]
    tf.random.set_seed(3)
    np.testing.assert_array_equal(a, [f().numpy() for _ in range(2)])


def test_exceptions_leave_variables_alone():
    v = tf.Variable(1.0)

    @tf.function
    def f(x, fail):
        v.assign_add(x)
        if fail:
            raise KeyError("mine")
        return v

    with pytest.raises(KeyError, match="mine"):
        f(tf.constant(1.0), True)
    assert v.numpy() == 1 and f(tf.constant(1.0), False).numpy() == 2
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: 1 if x > 0 else 2, autograph=False)(tf.constant(1.0))
    assert not tf.inside_function()


def test_cond_on_a_traced_tensor():
    v = tf.Variable(0.0)

    def count():
        v.assign_add(1.0)
        return {"y": -x_of[0], "one": 1}

    x_of = []

    @counted
    def f(x):
        x_of[:] = [x]
        out = tf.cond(x > 0, lambda: {"y": x * 2, "one": 0}, count)
        return out["y"], out["one"]

    assert [t.numpy() for t in f(tf.constant(3.0))] == [6, 0]
    assert [t.numpy() for t in f(tf.constant(-3.0))] == [3, 1] and v.numpy() == 1 and f.traces == 1
    x = tf.constant(-2.0)
    g = tf.function(lambda x: tf.cond(x > 0, lambda: x * x, lambda: 3.0 * x))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = g(x)
    assert y.numpy() == -6 and tape.gradient(y, x).numpy() == 3
    with pytest.raises(KeyError):
        tf.function(lambda x: tf.cond(x > 0, lambda: {}["no"], lambda: x))(x)
    assert not tf.inside_function()


def test_results_that_are_no_tensors():
    with pytest.raises(TypeError, match="must return zero or more Tensors"):
        tf.function(lambda: object())()


def test_leaked_tensors_say_so():
    kept = []
    tf.function(lambda x: kept.append(x * 2))(tf.constant(1.0))
    with pytest.raises(Exception, match="traced"):
        kept[0] + 1


def test_init_scope_and_eager_switch():
    seen = []

    @tf.function
    def f(x):
        with tf.init_scope():
            seen.append(tf.constant(2.0).numpy() + tf.random.uniform([]).numpy() * 0)
        return x

    assert f(tf.constant(1.0)).numpy() == 1 and seen == [2.0]
    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1.0)), f(tf.constant(1.0))
        assert tf.config.functions_run_eagerly() and len(seen) == 3
    finally:
        tf.config.run_functions_eagerly(False)


def test_many_functions_made_and_dropped():
    x = tf.constant([1.0, 2.0])
    def one():
        class Holder:
            pass
        h = Holder()
        h.f = tf.function(lambda x: (x * 2, h))  # a cycle
        with pytest.raises(TypeError):
            h.f(x)
        g = tf.function(lambda x: x * 2)
        g(x)
        return weakref.ref(h), weakref.ref(g)
    refs = [r for _ in range(50) for r in one()]
    gc.collect()
    assert not any(r() for r in refs)


def test_threads_share_a_function():
    v = tf.Variable(0.0)
    f = tf.function(lambda x: v.assign_add(tf.reduce_sum(x)))
    errors = []

    def work(n):
        try:
            for i in range(50):
                f(tf.ones([n + i % 3]) / (n + i % 3))
        except Exception as e:  # noqa: BLE001
            errors.append(e)

    threads = [threading.Thread(target=work, args=(n,)) for n in (2, 3, 5, 8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors and abs(v.numpy() - 200) < 1e-3


@pytest.mark.parametrize("compiled", [False, True])
def test_linear_regression(compiled):
    rng = np.random.default_rng(0)
    xs = rng.normal(size=[256]).astype(np.float32)
    ys = 3 * xs + 2 + 0.1 * rng.normal(size=[256]).astype(np.float32)
    w, b = tf.Variable(5.0), tf.Variable(0.0)

    def step(x, y, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(w * x + b - y))
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(rate * dw)
        b.assign_sub(rate * db)
        return loss

    run = tf.function(step) if compiled else step
    losses = [run(xs, ys, 0.1 / (1 + 0.01 * i)).numpy() for i in range(60)]
    assert losses[-1] < 0.02 and abs(w.numpy() - 3) < 0.05 and abs(b.numpy() - 2) < 0.05
    if compiled:
        assert run.experimental_get_tracing_count() == 2


@pytest.mark.parametrize("compiled", [False, True])
def test_mlp_with_adam(compiled):
    rng = np.random.default_rng(1)
    x = tf.constant(rng.uniform(-1, 1, [64, 2]), tf.float32)
    y = tf.constant(np.sin(3 * x.numpy()[:, :1]) * x.numpy()[:, 1:], tf.float32)
    sizes = [2, 16, 16, 1]
    weights = [tf.Variable(rng.normal(size=[m, n]) / np.sqrt(m), dtype=tf.float32) for m, n in zip(sizes, sizes[1:])]
    biases = [tf.Variable(tf.zeros([n])) for n in sizes[1:]]
    variables = weights + biases
    slots = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v))) for v in variables]

    def step(t):
        with tf.GradientTape() as tape:
            h = x
            for w, b in zip(weights[:-1], biases[:-1]):
                h = tf.tanh(h @ w + b)
            loss = tf.reduce_mean((h @ weights[-1] + biases[-1] - y) ** 2)
        for v, g, (m, s) in zip(variables, tape.gradient(loss, variables), slots):
            m.assign(0.9 * m + 0.1 * g)
            s.assign(0.999 * s + 0.001 * g * g)
            v.assign_sub(0.01 * (m / (1 - 0.9 ** t)) / (tf.sqrt(s / (1 - 0.999 ** t)) + 1e-7))
        return loss

    run = tf.function(step) if compiled else step
    losses = [run(float(t)).numpy() for t in range(1, 101)]
    assert losses[0] > 0.05 and losses[-1] < 0.25 * losses[0]
    if compiled:
        assert run.experimental_get_tracing_count() == 2


def test_values_like_others_keep_unknown_sizes():
    f = tf.function(lambda x: x + tf.zeros_like(x) + 2.0 * tf.ones_like(x))
    for rows in (3, 5, 7):
        assert f(tf.ones([rows, 2])).numpy().sum() == 6 * rows
    assert f.explain().startswith("<lambda>: 2 traces")


def test_bad_coordinates_are_left_out_at_unknown_sizes():
    """Which coordinates are bad is known when the sizes are."""
    spec = [tf.TensorSpec([None, None]), tf.TensorSpec([None, 1], tf.int32)]
    policy = dict(bad_indices_policy="IGNORE")
    functions = [lambda x, i: tf.gather_nd(x, i, **policy),
                 lambda x, i: tf.scatter_nd(i, x[:3], tf.shape(x), **policy),
                 lambda x, i: tf.tensor_scatter_nd_add(x, i, x[:3], **policy),
                 lambda x, i: tf.tensor_scatter_nd_max(x, i, x[:3] + 1.0, **policy)]
    for f in functions:
        compiled = tf.function(f, input_signature=spec)
        for rows in (3, 5, 9):
            x, i = tf.reshape(tf.range(2.0 * rows), [rows, 2]), tf.constant([[0], [2], [7]])
            np.testing.assert_array_equal(compiled(x, i), f(x, i))
    np.testing.assert_array_equal(functions[0](tf.eye(3), tf.constant([[2], [3], [-1]])), [[0, 0, 1], [0, 0, 0], [0, 0, 0]])


def test_memory_limit_is_beyond_tensorflow():
    weights = [tf.constant(np.random.default_rng(i).normal(size=(16, 16)) * 0.2, tf.float32) for i in range(24)]

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for w in weights:
                y = tf.tanh(y @ w)
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, x)

    x = tf.constant(np.random.default_rng(99).normal(size=(64, 16)), tf.float32)
    plain, small = tf.function(gradient), tf.function(memory_limit=50_000)(gradient)
    assert np.array_equal(small(x), plain(x))
    assert "the limit of 0.050 MB is kept" in small.explain()
    assert "the limit" not in plain.explain()
    with pytest.raises(ValueError, match="memory_limit must be a positive number of bytes, got -1"):
        tf.function(gradient, memory_limit=-1)


def assigned_in_a_loop(v, x):
    for _ in tf.range(3):
        v.assign_add(tf.reduce_sum(x))
        x = x * v
    return x


ASSIGNS = {
    "assign": lambda v, x: (v.assign(tf.reduce_sum(x)), x * v)[1],
    "assign_add": lambda v, x: (v.assign_add(tf.reduce_sum(x)), x * v)[1],
    "twice": lambda v, x: (v.assign(tf.reduce_sum(x) * v), v.assign(v * v), x * v)[2],
    "in a branch": lambda v, x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * v.assign(tf.reduce_sum(x)), lambda: x) * v,
    "in a loop": assigned_in_a_loop,
}


@pytest.mark.parametrize("name", ASSIGNS)
@pytest.mark.parametrize("inside", [False, True])
def test_derivatives_end_at_assignments(name, inside):
    """Reading a variable after an assignment is reading the variable, as it is when ops run one by one."""
    x = tf.constant([1., 2., -.5], tf.float64)

    def run(way):
        v = tf.Variable(1.5, dtype=tf.float64)
        f = way(lambda x: ASSIGNS[name](v, x)) if not inside else lambda x: ASSIGNS[name](v, x)

        def gradients(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(f(x) ** 2)
            return [tf.zeros([]) if g is None else g for g in tape.gradient(y, [x, v])]
        found = (way(gradients) if inside else gradients)(x)
        return [np.asarray(g) for g in found] + [v.numpy()]
    for got, want in zip(run(tf.function), run(lambda f: f)):
        np.testing.assert_allclose(got, want, rtol=1e-12)
