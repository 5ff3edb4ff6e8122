"""What a program does besides computing: printing, checks, calls of Python; at each run, in the order of the calls."""
import gc
import io
import threading
import weakref

import numpy as np
import pytest

import gradus as tf


def test_print_at_each_run_in_program_order():
    out = io.StringIO()

    @tf.function
    def f(n):
        tf.print("begin", n, output_stream=out)
        for i in tf.range(n):
            if i % 2 == 0:
                tf.print("even", i, output_stream=out)
            else:
                tf.print("odd", i, output_stream=out)
        tf.print("end", output_stream=out)
        return n

    f(tf.constant(3))
    assert out.getvalue().split("\n")[:-1] == ["begin 3", "even 0", "odd 1", "even 2", "end"]
    f(tf.constant(1))
    assert out.getvalue().split("\n")[5:-1] == ["begin 1", "even 0", "end"]


def test_print_writes_as_tensorflow():
    out = io.StringIO()

    @tf.function
    def f(x):
        tf.print("a", x, [x, 1], {"k": x}, tf.reshape(tf.range(40), [10, 4]), sep="|", output_stream=out)
        tf.print(tf.range(10), summarize=2, output_stream=out)
        tf.print(tf.constant([True, False]), tf.constant(1.5e-9), tf.constant(1e10), None, 3, "text", output_stream=out)
        tf.print(tf.constant([1.5, 3.0, 1 / 3]), tf.constant(1 / 3, tf.float64), tf.constant(1e8), end="!\n",
                 output_stream=out)
        tf.print((x, 1), [1, "a"], tf.zeros([0]), output_stream=out)

    f(tf.constant(1.0))
    assert out.getvalue() == (
        "a|1|[1, 1]|{'k': 1}|[[0 1 2 3]\n [4 5 6 7]\n [8 9 10 11]\n ...\n [28 29 30 31]\n [32 33 34 35]\n"
        " [36 37 38 39]]\n[0 1 ... 8 9]\n[1 0] 1.5e-09 1e+10 None 3 text\n"
        "[1.5 3 0.333333343] 0.33333333333333331 1e+08!\n(1, 1) [1, 'a'] []\n")


def test_print_happens_once_when_differentiated():
    out = io.StringIO()

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            if x > 0:
                tf.print("positive", output_stream=out)
                if x > 1:
                    tf.print("and large", output_stream=out)
                    y = x * x
        return tape.gradient(y, x)

    assert f(tf.constant(3.0)).numpy() == 6
    assert out.getvalue() == "positive\nand large\n"
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy() == 2 and out.getvalue().count("large") == 2


def test_checks_at_each_run():
    @tf.function
    def f(x):
        tf.debugging.assert_positive(x, message="mine")
        tf.debugging.assert_less(x, 10.0)
        tf.debugging.assert_near(x, tf.round(x), atol=0.3)
        tf.Assert(tf.not_equal(x, 5.0), ["five", x])
        return tf.debugging.check_numerics(x, "numbers") * 2

    assert f(tf.constant(2.0)).numpy() == 4
    for bad, text in ((-1.0, "mine"), (11.0, "x < y"), (3.5, "tolerance"), (5.0, r"assertion failed: \[five\] \[5\]"),
                      (np.nan, "x > 0")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            f(tf.constant(bad))
    assert f(tf.constant(3.0)).numpy() == 6 and f.experimental_get_tracing_count() == 1


def test_an_error_of_the_program_names_the_line():
    @tf.function
    def f(n):
        t = tf.constant([1.0, 2.0, 3.0])
        s = 0.0
        for i in tf.range(n):
            s += t[i]  # the line
        return s

    assert f(tf.constant(3)).numpy() == 6
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_effects.py, line \d+: s \+= t\[i\]  # the line"):
        f(tf.constant(4))


def test_variables_after_an_error():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        tf.debugging.assert_positive(x)
        return v.assign_add(x)

    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(-1.0))
    assert v.numpy() == 1 and f(tf.constant(2.0)).numpy() == 3 and v.numpy() == 3


def test_py_function():
    seen = []

    @tf.function
    def f(x, y):
        both = tf.py_function(lambda a, b: (seen.append(a.numpy().tolist()), a * b, tf.reduce_sum(a))[1:], [x, y],
                              [tf.float32, tf.TensorSpec([], tf.float32)])
        tf.py_function(lambda: seen.append("second"), [], [])
        return both

    a, b = f(tf.constant([1.0, 2.0]), tf.constant(3.0))
    assert a.numpy().tolist() == [3, 6] and b.numpy() == 3
    f(tf.constant([5.0, 2.0]), tf.constant(3.0))
    assert seen == [[1, 2], "second", [5, 2], "second"]


def test_gradient_of_py_function():
    x = tf.constant(2.0)
    cube = tf.function(lambda x: tf.py_function(lambda v: v ** 3, [x], tf.float32) * x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cube(x)
    assert y.numpy() == 16 and tape.gradient(y, x).numpy() == 32

    @tf.function
    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            if x > 0:
                y = tf.py_function(lambda v: v ** 3, [x], tf.float32)
        return tape.gradient(y, x)
    assert inside(x).numpy() == 12 and inside(-x).numpy() == 1


def test_errors_of_py_function():
    def fail(kind):
        def raising(v):
            raise kind("inside")
        return tf.function(lambda x: tf.py_function(raising, [x], tf.float32))

    for kind, error in ((KeyError, tf.errors.UnknownError), (ValueError, tf.errors.InvalidArgumentError),
                        (StopIteration, tf.errors.OutOfRangeError),
                        (NotImplementedError, tf.errors.UnimplementedError)):
        with pytest.raises(error, match="inside") as e:
            fail(kind)(tf.constant(1.0))
        assert isinstance(e.value.__cause__, kind)
    with pytest.raises(tf.errors.InvalidArgumentError, match="TensorSpec"):
        spec = tf.TensorSpec([2], tf.float32)
        tf.function(lambda x: tf.py_function(lambda v: tf.ones([3]), [x], spec))(tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32, but expects float32"):
        tf.function(lambda x: tf.numpy_function(lambda v: np.int32(1), [x], tf.float32))(tf.constant(1.0))


def test_results_of_unknown_shape_make_the_function_run_as_python():
    f = tf.function(lambda x: tf.py_function(lambda v: tf.ones([int(v)]), [x], tf.float32) + x)
    assert f(tf.constant(3.0)).numpy().tolist() == [4, 4, 4] and f(tf.constant(1.0)).numpy().tolist() == [2]
    assert "plain Python" in f.explain() and "TensorSpec" in f.explain()


def test_python_in_a_program_may_use_variables_and_functions():
    v, inner = tf.Variable(5.0), tf.function(lambda x: x * 10)

    @tf.function
    def f(x):
        y = tf.py_function(lambda a: inner(a) + v, [x], tf.float32)
        return v.assign_add(y)

    assert f(tf.constant(1.0)).numpy() == 20 and v.numpy() == 20


def test_what_a_program_calls_is_dropped_with_it():
    class Thing:
        pass
    thing = Thing()
    f = tf.function(lambda x: tf.py_function(lambda v, t=thing: v, [x], tf.float32))  # noqa: F821
    f(tf.constant(1.0))
    gone = weakref.ref(thing)
    del f, thing
    gc.collect()
    assert gone() is None


def test_threads_print_and_call_python():
    counts, errors = [0], []
    lock = threading.Lock()

    def count(v):
        with lock:
            counts[0] += 1
        return v

    @tf.function
    def f(x):
        for _ in tf.range(5):
            x = tf.py_function(count, [x], tf.float32) + 1
        return x

    def work():
        try:
            for _ in range(20):
                assert f(tf.constant(1.0)).numpy() == 6
        except Exception as e:  # noqa: BLE001
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors and counts[0] == 400


def test_datasets_are_gone_over_at_each_run():
    seen = []
    data = tf.data.Dataset.range(10).map(lambda x: (seen.append(1), tf.cast(x, tf.float32))[1])
    data = data.batch(3, drop_remainder=True)

    @tf.function
    def f(w):
        total, count = 0.0, 0
        for batch in data:
            total += tf.reduce_sum(batch) * w
            count += 1
            if total > 30:
                break
        return total, count

    assert [t.numpy() for t in f(tf.constant(1.0))] == [36, 3]
    assert [t.numpy() for t in f(tf.constant(10.0))] == [150, 2]
    assert f.experimental_get_tracing_count() == 1
    it = iter(data)
    take = tf.function(lambda: next(it) * 2)
    assert [take().numpy().tolist() for _ in range(3)] == [[0, 2, 4], [6, 8, 10], [12, 14, 16]]
    with pytest.raises(tf.errors.OutOfRangeError):
        take()
    ragged = tf.data.Dataset.range(10).batch(3)

    @tf.function
    def g():
        s = tf.constant(0, tf.int64)
        for b in ragged:
            s += tf.reduce_sum(b)
        return s
    assert int(g()) == int(g()) == 45  # the sizes vary: g runs as Python


def test_the_test_of_a_loop_prints_once_for_each_turn():
    out = io.StringIO()

    def checked(i, n):
        tf.print("is", i, "below?", output_stream=out)
        return i < n

    @tf.function
    def f(n):
        i = tf.constant(0)
        while checked(i, n):
            j = 0
            while checked(j, n):  # inside, it is the same
                j += 1
            i += 1
        return i

    f(tf.constant(1))
    assert out.getvalue().split("\n")[:-1] == ["is 0 below?", "is 0 below?", "is 1 below?", "is 1 below?"]

    @tf.function
    def g(x):
        i = 0
        while checked(i, 2):  # a loop of Python: at each turn as well
            i += 1
            x *= 2.0
        return x

    out.truncate(0), out.seek(0)
    assert float(g(tf.constant(1.0))) == 4
    assert out.getvalue().split("\n")[:-1] == ["is 0 below?", "is 1 below?", "is 2 below?"]


def test_loops_inside_the_test_of_a_loop_keep_their_effects():
    out = io.StringIO()

    def length(n):
        k = tf.constant(0)
        while k < n:
            tf.print("turn", k, output_stream=out)
            k += 1
        return k

    @tf.function
    def f(n):
        i = tf.constant(0)
        while i < length(n):
            i += 1
        return i

    assert int(f(tf.constant(1))) == 1
    assert set(out.getvalue().split("\n")[:-1]) == {"turn 0"}


def test_a_check_right_before_a_product():
    """An effect has no result: passes must not take the next op's result for it."""
    @tf.function
    def f(a, b):
        product = tf.matmul(a, tf.transpose(b, [0, 2, 1]))
        tf.Assert(tf.reduce_all(a < 9), [a])
        return tf.transpose(tf.matmul(product, b), [1, 0, 2])
    a, b = tf.ones((5, 3, 4)), tf.ones((5, 6, 4))
    np.testing.assert_array_equal(f(a, b), np.full((3, 5, 4), 24.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        f(a * 10, b)


@pytest.mark.parametrize("compiled", [False, True])
def test_python_functions_have_derivatives_of_any_order(compiled):
    def cube(x):
        return tf.py_function(lambda a: a * a * a, [x], tf.float64)

    def slope(f):
        def g(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(f(x))
            return tape.gradient(y, x)
        return g

    f, x = cube, np.array([1.5, -2.])
    for expected in (3 * x * x, 6 * x, [6., 6.]):
        f = slope(f)
        np.testing.assert_allclose((tf.function(f) if compiled else f)(tf.constant(x)), expected)
