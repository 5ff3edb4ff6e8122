"""AutoGraph: the programs of autograph_programs.py give what TensorFlow gave, or Python where TensorFlow cannot."""
import gc
import inspect
import json
import pathlib
import subprocess
import sys
import tempfile
import traceback

import numpy as np
import pytest

import autograph_answers
import gradus as tf
from autograph_programs import PROGRAMS
from test_reference import close

REFERENCE = {}
for _line in (pathlib.Path(__file__).parent / "autograph_reference.json").read_text().splitlines():
    REFERENCE.update(json.loads(_line))


def numbers(dtype, *values):
    return [{"dtype": dtype, "shape": [], "values": [v]} for v in values]


# Where TensorFlow raises an error, or is wrong (call_nonlocal): what plain Python computes.
BETTER = {
    "assert_statement": [*numbers("float32", 2.0), {"error": ["InvalidArgumentError"]}],
    "binary_search": numbers("int32", 3, -1),
    "call_map": [{"dtype": "float32", "shape": [2], "values": [v, v]} for v in (1.0, 2.0)],
    "call_method_with_super": numbers("float32", 7.0, 7.0, 200.0),
    "call_nonlocal": numbers("float32", 2.0, 20.0),
    "for_else": numbers("int32", 100, 7),
    "for_list_append_in_tensor_loop": [{"error": ["InvalidArgumentError"]}],  # of another class there
    "mandelbrot": numbers("int32", 50, 1),
    "recurrent": [[{"dtype": "float32", "shape": [], "values": [2.57652473]},  # TensorFlow's tanh is less exact
                   {"dtype": "float32", "shape": [3], "values": [0.00533533003, 0.659608901, 0.0]}]],
    "return_in_for": numbers("int32", 4, -1, 4),
    "return_in_python_loop": numbers("float32", 12.0, 96.0),
    "return_in_while": numbers("int32", 4, -1, 4),
    "return_in_with": numbers("float32", 1.0, -2.0),
    "return_nested": numbers("float32", 2.0, 10.0, 10.0, -10.0),
    "return_none_in_both": [None, None],
    "ternary_nested": numbers("float32", 1.0, 2.0, 3.0),
    "walrus": numbers("float32", 2.0, -10.0),
    "while_else": numbers("int32", 6, -3),
    "while_true": numbers("int32", 10, 3),
}
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_as_tensorflow_or_python(name):
    assert name in REFERENCE, "run tools/make_autograph_reference.py"
    got = autograph_answers.answers_of(name, tf, np, tf.function)
    wanted = BETTER.get(name, REFERENCE[name])
    assert len(got) == len(wanted)
    for g, want in zip(got, wanted):
        if isinstance(want, dict) and "error" in want:
            assert isinstance(g, dict) and "error" in g, f"TensorFlow raises {want['error'][0]}, got {g}"
            assert want["error"][0] in g["error"], f"TensorFlow raises {want['error'][0]}, got {g}"
        else:
            assert close(g, want, 1e-6), f"expected {want}, got {g}"


def test_sizes_that_depend_on_values():
    @tf.function
    def f(x):
        if x[0] > 0:
            y = x[:2]
        else:
            y = x[:1]
        return y

    assert f(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [1, 2]
    assert f(tf.constant([-1.0, 2.0])).numpy().tolist() == [-1]
    assert "plain Python" not in f.explain()

    @tf.function
    def g(n):
        found = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            if i % 3 == 0:
                found = found.write(found.size(), i)
        return found.stack()

    assert g(tf.constant(10)).numpy().tolist() == [0, 3, 6, 9]
    assert "plain Python" not in g.explain()
    concrete = f.get_concrete_function(tf.TensorSpec([3], tf.float32))
    assert concrete(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [1, 2]


def test_what_no_program_can_do_runs_as_python():
    @tf.function
    def f(x):
        if x[0] > 0:
            return x
        return x[None]  # another number of axes

    with pytest.warns(RuntimeWarning, match="f runs as plain Python, not as a compiled program: .* shape") as said:
        assert f(tf.constant([1.0])).shape == [1] and f(tf.constant([-1.0])).shape == [1, 1]
    assert [(w.filename, w.lineno) for w in said] == [(__file__, line_of(f.python_function, "if x[0] > 0"))]  # once
    assert "plain Python" in f.explain()
    with pytest.raises(tf.errors.UnimplementedError, match="plain Python"):
        f.get_concrete_function(tf.TensorSpec([1], tf.float32))


def line_of(function, text):
    """The number of the line of a function that contains a text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def users_lines(error):
    """Lines of this file in a traceback, from the outermost on."""
    return [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == __file__]


def test_errors_name_the_users_lines():
    def helper(x):
        for i in tf.range(3):
            x = x + tf.ones([7])  # here
        return x

    def outer(x):
        if tf.reduce_sum(x) > 0:
            x = helper(x)  # there
        return x

    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        tf.function(outer)(tf.constant([1.0, 2.0]))
    assert users_lines(e.value)[-1] == line_of(helper, "# here") and line_of(outer, "# there") in users_lines(e.value)
    names = [f.name for f in traceback.extract_tb(e.value.__traceback__) if f.filename == __file__]
    assert not any("ag__" in name for name in names) and names[-1] == "helper"


def test_decorated_functions_and_closures_share_their_variables():
    calls = []

    def noisy(f):
        def wrapper(*args, **kwargs):
            calls.append(f.__name__)
            return f(*args, **kwargs)
        return wrapper

    total = 0.0

    @noisy
    def add(x, /, y=1.0, *rest, scale=2.0, **others):
        nonlocal total
        if x > 0:
            total = total + x * scale
        else:
            total = total - y
        return total + len(rest) + len(others)

    @tf.function
    def f(x):
        return add(x) + add(x, 5.0, 7, scale=1.0, other=3)

    def again(x):  # Python's own answer
        nonlocal total
        total = 0.0
        return add(x) + add(x, 5.0, 7, scale=1.0, other=3)

    for value in (3.0, -3.0):
        want = again(value)
        total = 0.0
        assert tf.function(f.python_function)(tf.constant(value)).numpy() == want
    total = 0.0
    assert calls.count("add") == 8


def test_functions_without_source_run_as_they_are():
    space = {}
    exec("def f(x):\n  return x * 2\ndef g(x):\n  return x if x > 0 else -x\n", space)  # noqa: S102
    assert tf.function(space["f"])(tf.constant(2.0)).numpy() == 4
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="`tf.Tensor` as a Python `bool`.*source"):
        tf.function(space["g"])(tf.constant(2.0))


def test_switched_off():
    def f(x):
        return x if x > 0 else -x

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="line is in f"):
        tf.function(f, autograph=False)(tf.constant(2.0))

    @tf.autograph.experimental.do_not_convert
    def g(x):
        return f(x)
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: g(x))(tf.constant(2.0))
    assert tf.function(f)(tf.constant(-2.0)).numpy() == 2


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before Python 3.11 code does not know its columns")
def test_several_lambdas_in_one_line():
    f, g = tf.function(lambda x: x if x > 0 else -x), tf.function(lambda x: x * 2 if x > 0 else x * 3)
    assert [f(tf.constant(-1.0)).numpy(), g(tf.constant(-1.0)).numpy(), g(tf.constant(1.0)).numpy()] == [1, -3, 2]


def test_python_values_stay_python():
    seen = []

    @tf.function
    def f(x, mode, items):
        out = []
        for i, item in enumerate(items):
            if item is None or (mode == "skip" and not item):
                continue
            out.append(x * item)
            if len(out) == 2:
                break
        else:
            out.append(x)
        n = 0
        while n < 3 and out:
            n += 1
        seen.append((type(n), n, i, len(out)))
        assert n, "no"
        return out[-1] if out else x

    assert f(tf.constant(2.0), "skip", (None, 0, 3, 4, 5)).numpy() == 8
    assert seen == [(int, 3, 3, 2)]


def test_variables_are_made_once():
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(3.0)
            if x > 0:
                self.w.assign_add(1.0)
            return self.w * x

    m = Model()
    assert [m(tf.constant(v)).numpy() for v in (1.0, -1.0, 2.0)] == [4, -4, 10]
    with pytest.raises(ValueError, match="singleton tf.Variables"):
        tf.function(lambda x: tf.Variable(1.0) + x if x is not None else x)(tf.constant(1.0))


def test_layers_of_the_user_are_converted():
    class Clip(tf.keras.Layer):
        def call(self, x):
            if tf.reduce_max(x) > 1.0:
                x = x / tf.reduce_max(x)
            return x

    layer = Clip()
    f = tf.function(lambda x: layer(x))
    assert f(tf.constant([1.0, 4.0])).numpy().tolist() == [0.25, 1]
    assert f(tf.constant([0.5, 1.0])).numpy().tolist() == [0.5, 1]


def test_to_graph_and_to_code():
    def f(x):
        if x > 0:
            return x
        return -x

    made = tf.autograph.to_graph(f)
    assert made(-3) == 3 and made(tf.constant(-3.0)).numpy() == 3 and made.__name__ == "f"
    text = tf.autograph.to_code(f)
    assert "ag__.if_stmt" in text and compile(text, "f", "exec")
    with pytest.raises(ValueError, match="source"):
        tf.autograph.to_graph(eval("lambda x: x"))
    tf.autograph.set_verbosity(3)


def test_loops_nest_and_count_without_growing():
    @tf.function
    def f(n):
        s = tf.constant(0, tf.int64)
        for i in tf.range(n):
            j = tf.constant(0)
            while j < 10:
                if (i + j) % 3 == 0:
                    s += 1
                j += 1
        return s

    assert f(tf.constant(5000)).numpy() == sum((i + j) % 3 == 0 for i in range(5000) for j in range(10))


def test_many_functions_made_and_dropped():
    def made():
        k = object()

        def f(x):
            if x > 0:
                return x * 2
            return x if k else -x
        return f

    def one():
        tf.function(made())(tf.constant(1.0))

    for _ in range(50):
        one()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(300):
        one()
    gc.collect()
    assert len(gc.get_objects()) - before < 300


def test_ctrl_c_stops_a_loop_of_the_program():
    code = """
import threading, time, os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import gradus as tf
exec(compile(open(FILE).read(), FILE, "exec"))
f(tf.constant(10))
stamp = []
threading.Timer(0.3, lambda: (stamp.append(time.perf_counter()), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    f(tf.constant(2 ** 30))
    print("finished")
except KeyboardInterrupt:
    print(time.perf_counter() - stamp[0])
assert f(tf.constant(10)).numpy() == 10
"""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write("@tf.function\ndef f(n):\n    i = 0\n    while i < n:\n        i += 1\n    return i\n")
        file.flush()
        command = [sys.executable, "-c", code.replace("FILE", repr(file.name))]
        out = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert out.returncode == 0, out.stderr
    assert float(out.stdout) < 1.0  # 0.1 s on an idle machine


def test_losses_metrics_and_steps_of_the_user_are_converted():
    def clipped(true, predicted):
        error = tf.reduce_mean(tf.abs(true - predicted))
        if error > 1.0:
            return error
        return error * error

    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, x):
            y = self.dense(x)
            if tf.reduce_mean(y) > 100.0:
                y = y * 0.0
            return y

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            loss = clipped(y, y_pred)
            return loss * 2 if loss > 0.5 else loss

    model = Model()
    model.compile(optimizer=tf.keras.optimizers.SGD(0.0), metrics=[clipped])
    x = np.ones([4, 3], np.float32)
    history = model.fit(x, np.zeros([4, 1], np.float32), verbose=0).history
    assert history["loss"] == [6] and history["clipped"] == [3]
    assert "plain Python" not in model.train_function.explain()
