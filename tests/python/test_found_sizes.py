"""Sizes that the data decide, in compiled functions: against NumPy, with first and second gradients, at many sizes.

Every program is compiled once and called with arrays that make its sizes 0, 1 and more. Its Python code must not run
again after the first call of each kind (docs/design/033).
"""
import numpy as np
import pytest
from found_size_programs import JUMPS, PROGRAMS, WHOLE, arrays
from sized_flow_programs import FLOWS

import gradus as tf

PROGRAMS = PROGRAMS | FLOWS


def loss(f):
    return lambda x: tf.reduce_sum(f(x) * tf.constant(1.5, tf.float64))


def gradient(f):
    def g(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        dx = tape.gradient(y, x)
        return tf.zeros_like(x) if dx is None else tf.convert_to_tensor(dx)
    return g


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_numpy(name):
    f, reference = PROGRAMS[name]
    runs = []

    @tf.function
    def compiled(x):
        runs.append(1)
        return f(x)
    for a in arrays() * 2:
        got, want = compiled(tf.constant(a)).numpy(), np.asarray(reference(a))
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    assert len(runs) <= 2, compiled.explain()


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in WHOLE])
@pytest.mark.parametrize("order", [1, 2])
def test_gradients(name, order):
    f, reference = PROGRAMS[name]
    g = gradient(loss(f))
    if order == 2:
        g = gradient(lambda x, g=g: tf.reduce_sum(g(x) * tf.constant([1., 2., 3., 4., 5., 6.], tf.float64)))
    runs = []

    @tf.function
    def compiled(x):
        runs.append(1)
        return g(x)
    def numeric(a):  # of order 1, by differences; sizes do not change with them
        return [(np.sum(reference(a + d)) - np.sum(reference(a - d))) * 1.5 / 2e-6 for d in np.eye(6) * 1e-6]
    for a in arrays():
        got = compiled(tf.constant(a)).numpy()
        np.testing.assert_allclose(got, g(tf.constant(a)).numpy(), rtol=1e-9, atol=1e-9)
        if order == 1 and "unique" not in name and name not in JUMPS:
            np.testing.assert_allclose(got, numeric(a), rtol=1e-5, atol=1e-5)
    assert len(runs) <= 2, compiled.explain()


# ------------------------------------------------------------------------------- sizes as Python sees them
def called(f, sizes=(5, 6, 7, 1, 0, 2, 7, 12), **options):
    """(got, wanted) of each size: of the compiled function, and of the same function run as plain Python."""
    compiled = tf.function(f, **options)
    for n in sizes:
        x = tf.constant(np.arange(1, n + 1), tf.float64)
        yield compiled(x), f(x)


SHAPES = {
    "==": lambda x: x * 2 if x.shape[0] == 7 else x * 3,
    "!=": lambda x: x * 2 if x.shape[0] != 1 else x * 3,
    ">": lambda x: x * 2 if x.shape[0] > 5 else x * 3,
    "truth": lambda x: x * 2 if x.shape[0] else x * 3,
    "or": lambda x: x * float(x.shape[0] or 1),
    "in": lambda x: x * 2 if x.shape[0] in (1, 7) else x * 3,
    "key": lambda x: x * {6: 2., 7: 3.}.get(x.shape[0], 4.),
    "slice": lambda x: tf.concat([x, x], 0)[:x.shape[0]],
    "slice from": lambda x: x[x.shape[0] // 2:],
    "shape": lambda x: x * 2 if x.shape == (7,) else x * 3,
    "list": lambda x: x * 2 if x.shape.as_list() == [7] else x * 3,
    "text": lambda x: x * len(str(x.shape)),
    "format": lambda x: x * len(f"{x.shape[0]:d}"),
    "range": lambda x: tf.range(0, x.shape[0]),
    "python range": lambda x: x * float(sum(i for i in range(x.shape[0]))),
    "eye": lambda x: tf.eye(2, x.shape[0]),
    "sequence_mask": lambda x: tf.sequence_mask([2, 3], x.shape[0]),
    "zeros": lambda x: tf.zeros([x.shape[0], 2]),
    "reshape": lambda x: tf.reshape(x, [x.shape[0], 1]),
    "arithmetic": lambda x: tf.ones([(x.shape[0] * 2 + 1) // 2, 2 - 1]),
    "mean": lambda x: tf.reduce_sum(x) / (x.shape[0] + 1),
    "square root": lambda x: x / (x.shape[0] ** .5 + 1),
    "true division": lambda x: x * (x.shape[0] / 4),
    "remainder": lambda x: x * float(x.shape[0] % 3),
    "negative": lambda x: x * float(-x.shape[0]),
    "tensor": lambda x: x * tf.cast(x.shape[0], tf.float64),
    "stack": lambda x: tf.stack([x.shape[0], 3]),
    "num_elements": lambda x: x * 2 if x.shape.num_elements() == 7 else x * 3,
    "is_fully_defined": lambda x: x * 2 if x.shape.is_fully_defined() else x * 3,
    "compatible": lambda x: x * 2 if x.shape.is_compatible_with([7]) else x * 3,
    "len": lambda x: x * float(len(x)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_sizes_are_what_python_sees(name):
    for got, want in called(SHAPES[name]):
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("name", ["zeros", "reshape", "arithmetic", "slice from", "eye", "tensor", "stack"])
def test_sizes_given_on_are_one_program(name):
    f = tf.function(SHAPES[name])
    for n in range(4, 30):
        f(tf.zeros([n], tf.float64))
    assert f.experimental_get_tracing_count() <= 3, f.explain()


def test_a_signature_that_says_none_is_none():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x):
        seen.append(x.shape.as_list())
        return x
    for n in (2, 3):
        f(tf.zeros([n, 3]))
    assert seen == [[None, 3]]


# ------------------------------------------------------------------------------- other ways to run a program
CHOSEN = ["boolean_mask", "mask of a mask", "unique", "x[:n]", "range", "matmul of chosen rows", "found outside, used in a loop",
          "sum of chosen in a loop", "repeat by tensor", "dynamic_partition", "cond_of_chosen", "cond_of_pairs", "grows",
          "halves", "branch_in_a_loop", "sliced_by_turns", "no_turns", "given_back", "array_by_while", "two_that_grow", "switch"]


@pytest.mark.parametrize("name", CHOSEN)
def test_saved_and_loaded(name, tmp_path):
    f, reference = PROGRAMS[name]
    module = tf.Module()
    spec = [tf.TensorSpec([6], tf.float64)]
    module.f = tf.function(f, input_signature=spec)
    module.g = tf.function(gradient(loss(f)), input_signature=spec)
    tf.saved_model.save(module, str(tmp_path / "m"))
    again = tf.saved_model.load(str(tmp_path / "m"))
    for a in arrays():
        np.testing.assert_allclose(again.f(tf.constant(a)), reference(a), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(again.g(tf.constant(a)), gradient(loss(f))(tf.constant(a)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_tape_or_an_accumulator_around(name):
    f, _ = PROGRAMS[name]
    compiled = tf.function(f)
    for a in arrays():
        x = tf.constant(a)
        np.testing.assert_allclose(gradient(loss(compiled))(x), gradient(loss(f))(x), rtol=1e-9, atol=1e-9)
        tangents = []
        for g in (compiled, f):
            with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
                y = g(x)
            t = acc.jvp(y)
            tangents.append(np.zeros(y.shape) if t is None else t.numpy())
        np.testing.assert_allclose(tangents[0], tangents[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in CHOSEN if n != "sliced_by_turns"])  # a session does not trace again
def test_sessions(name):
    f, reference = PROGRAMS[name]
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float64, [6])
        y = f(x)
        with tf.compat.v1.Session() as session:
            for a in arrays():
                np.testing.assert_allclose(session.run(y, {x: a}), reference(a), rtol=1e-12, atol=1e-12)


def test_arguments_of_many_sizes_and_found_sizes():
    f = tf.function(lambda x: tf.reduce_sum(x[x > 0][:3]) + tf.cast(tf.size(x[x > 1]), tf.float64))
    rng = np.random.default_rng(1)
    for n in [5, 6, 1, 0, 2, 3, 9, 40, 7]:
        for _ in range(4):
            a = rng.normal(size=n) * 2
            np.testing.assert_allclose(f(tf.constant(a)), a[a > 0][:3].sum() + (a > 1).sum(), rtol=1e-12)


def test_training_on_selected_rows():
    w = tf.Variable([[1.0], [2.0]])

    @tf.function
    def step(x, keep):
        with tf.GradientTape() as tape:
            rows = tf.boolean_mask(x, keep)
            loss = tf.reduce_sum((tf.matmul(rows, w) - 1.0) ** 2)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss
    rng, wanted = np.random.default_rng(2), np.array([[1.0], [2.0]])
    for n in (4, 7, 1, 0, 9):
        x = rng.normal(size=(n, 2)).astype(np.float32)
        keep = rng.random(n) < .5
        error = x[keep] @ wanted - 1
        np.testing.assert_allclose(step(x, keep), (error ** 2).sum(), rtol=1e-4, atol=1e-5)
        wanted = wanted - .02 * x[keep].T @ error
        np.testing.assert_allclose(w, wanted, rtol=1e-4, atol=1e-5)


def test_what_cannot_be_says_so():
    x = tf.constant([[1.0, -2.0], [3.0, 4.0]])
    with pytest.raises(tf.errors.UnimplementedError, match="example"):
        tf.vectorized_map(lambda r: tf.boolean_mask(r, r > 0), x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not negative"):
        tf.function(lambda n: tf.zeros([n]))(tf.constant(-2))
    np.testing.assert_array_equal(tf.function(lambda x, n: tf.roll(x, n, 1))(x, tf.constant(-1)), [[-2, 1], [4, 3]])


def test_constants_cut_at_sizes():
    """Made of constants only, but by a size that changes: a part of the program, checked at each call."""
    numbers = tf.range(5)
    f = tf.function(lambda x: tf.slice(numbers, [x.shape[0]], [1]))
    g = tf.function(lambda x: tf.slice(numbers, [tf.shape(x)[0] - 3], [2]))
    for n in (3, 4, 2, 1, 0):
        assert f(tf.zeros([n, 0])).numpy().tolist() == [n]
    for h, n in ((f, 5), (f, 6), (f, 10**6), (g, 1), (g, 2), (g, 7)):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            h(tf.zeros([n, 0]))
    assert tf.function(lambda x: tf.slice(numbers, [tf.size(x[x > 0])], [1]))(tf.constant([1., -2, 3, 4])).numpy() == [3]


def test_as_many_parts_as_rows():
    f = tf.function(lambda x: tf.split(x, x.shape[0]))
    for n in (3, 4, 5, 1):
        assert [t.numpy().tolist() for t in f(tf.ones([n]))] == [[1.0]] * n


def test_found_sizes_of_one_broadcast():
    def positive(x):
        return tf.boolean_mask(x, x > 0)
    programs = {"two": lambda x: positive(x) + positive(-x), "known": lambda x: positive(x) * tf.constant([1., 2., 3.]),
                "where": lambda x: tf.where(x[:3] > 0, positive(x), x[:3])}
    for name, f in programs.items():
        compiled = tf.function(f)
        for a in ([1., -2, 3, 4], [1., 2, 3, -1], [1., -1, -1, -1], [-1., 2, 3, 4], [1., 2, -3, -4], [1., -2, 3, 4]):
            x = tf.constant(a)
            try:
                want = f(x)
            except (tf.errors.InvalidArgumentError, ValueError):
                with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                    compiled(x)
                continue
            np.testing.assert_allclose(compiled(x), want, err_msg=name)
            np.testing.assert_allclose(tf.function(gradient(f))(x), gradient(f)(x), err_msg=name)


def test_rules_of_the_users_around_found_sizes():
    x = tf.constant([1., -2, 3, 4])

    @tf.custom_gradient
    def sum_of_chosen(a):
        return tf.reduce_sum(a[a > 0]), lambda d: d * a
    recomputed = tf.recompute_grad(lambda a: tf.reduce_sum(a[a > 0] ** 2))
    for f, value, slope in ((sum_of_chosen, 8, [1, -2, 3, 4]), (recomputed, 26, [2, 0, 6, 8])):
        assert float(tf.function(lambda x: f(x))(x)) == value
        np.testing.assert_allclose(tf.function(gradient(f))(x), slope)


def test_bounds_that_are_variables():
    x, v = tf.range(6), tf.Variable(2)
    for f in (lambda: x[:v], lambda: x[v:], lambda: x[v], lambda: x[::v], lambda: x[-v:]):
        for n in (2, 3, 1):
            v.assign(n)
            np.testing.assert_array_equal(tf.function(f)(), f())


def test_einsum_of_found_sizes():
    for a in arrays():
        got = tf.function(lambda x: tf.einsum("i,i->", x[x > 0], tf.exp(x)[x > 0]))(tf.constant(a))
        np.testing.assert_allclose(got, (a * np.exp(a))[a > 0].sum(), rtol=1e-12)


def test_sizes_of_examples_say_so():
    rows, by = tf.ones([2, 3]), tf.constant([[[1, 0]], [[0, 2]]])
    with pytest.raises(tf.errors.UnimplementedError, match="example"):
        tf.vectorized_map(lambda a: tf.pad(a[0], a[1]), (rows, by))


def test_groups_and_segments_are_checked():
    x = tf.constant([1., 2, 3])
    for groups in ([0, 1, 2], [0, -1, 1]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(lambda g: tf.dynamic_partition(x, g, 2)[0])(tf.constant(groups))
    for ids in ([0, 2, 1], [-1, 0, 1], [1, 0, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(lambda i: tf.math.segment_sum(x, i))(tf.constant(ids))
    assert tf.function(lambda i: tf.math.segment_sum(x, i))(tf.constant([1, 1, 3])).numpy().tolist() == [0, 3, 0, 3]


@pytest.mark.parametrize("stride", [2, 3])
@pytest.mark.parametrize("layer", ["conv", "max", "average"])
def test_strided_windows_at_any_size(layer, stride):
    filters = tf.constant(np.random.default_rng(0).normal(size=[4, 3, 1, 2]))

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            if layer == "conv":
                y = tf.nn.conv2d(x, filters, stride, "SAME")
            else:
                y = tf.nn.pool(x, [4, 3], layer[:3].upper().replace("AVE", "AVG"), [stride, stride], "SAME")
            z = tf.reduce_sum(y ** 3)
        return y, tape.gradient(z, x)
    compiled = tf.function(f)
    for rows, columns in [(8, 9), (9, 9), (7, 5), (12, 4), (6, 9), (4, 4), (5, 11), (8, 8), (1, 1), (10, 10), (2, 3)]:
        x = tf.constant(np.random.default_rng(rows).normal(size=[2, rows, columns, 1]))
        for got, want in zip(compiled(x), f(x)):
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
    assert compiled.experimental_get_tracing_count() <= 2 + stride * stride, compiled.explain()


def test_generators_draw_as_many_as_the_data_say():
    generator, eager = tf.random.Generator.from_seed(3), tf.random.Generator.from_seed(3)
    f = tf.function(lambda x: generator.normal([tf.math.count_nonzero(x > 0), 2]))
    for a in arrays():
        np.testing.assert_array_equal(f(tf.constant(a)), eager.normal([np.count_nonzero(a > 0), 2]))
    np.testing.assert_array_equal(generator.state, eager.state)


def test_arrays_that_are_never_written():
    @tf.function
    def f(x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[])
        for i in tf.range(0):
            array = array.write(i, x)
        return array.stack()
    assert f(tf.constant(1.)).shape == [0]


def test_loops_of_no_turns_at_most():
    for most in (0, -1):
        f = tf.function(lambda x, most=most: tf.while_loop(lambda y: True, lambda y: [tf.concat([y, y], 0)], [x],
                                                           [tf.TensorShape([None])], maximum_iterations=most)[0])
        assert f(tf.ones([2])).shape == [2]


@pytest.mark.parametrize("name", ["one", "two", "rows", "in a loop"])
def test_python_functions_that_find_sizes(name):
    some, rows = tf.TensorSpec([None], tf.float64), tf.TensorSpec([None, 6], tf.float64)

    def in_a_loop(x):
        total = tf.constant(0., tf.float64)
        for i in tf.range(3):
            total += tf.reduce_sum(tf.py_function(lambda a, i: a[:int(i)] ** 2, [x, i], some))
        return total
    f = {"one": lambda x: tf.py_function(lambda a: a[a > 0] ** 2, [x], some),
         "two": lambda x: tf.concat(tf.py_function(lambda a: (a[a > 0] ** 2, a[a <= 0]), [x], [some, some]), 0),
         "rows": lambda x: tf.py_function(lambda a: tf.repeat(a[None] ** 2, int(tf.math.count_nonzero(a > 0)), 0), [x], rows),
         "in a loop": in_a_loop}[name]
    compiled, slopes = tf.function(f), tf.function(gradient(loss(f)))
    for a in arrays() * 2:
        x = tf.constant(a)
        np.testing.assert_allclose(compiled(x), f(x))
        np.testing.assert_allclose(slopes(x), gradient(loss(f))(x))
    assert compiled.experimental_get_tracing_count() == slopes.experimental_get_tracing_count() == 1


def test_python_functions_that_find_sizes_happen_once():
    calls, v = [], tf.Variable(0.)

    @tf.function
    def f(x):
        v.assign_add(1.)
        tf.py_function(lambda: calls.append("before"), [], [])
        return tf.numpy_function(lambda a: (calls.append("found"), a[a > 0])[1], [x], tf.TensorSpec([None], tf.float64))
    for n, a in enumerate(arrays()):
        np.testing.assert_allclose(f(tf.constant(a)), a[a > 0])
        assert calls == ["before", "found"] * (n + 1) and float(v) == n + 1
    wrong = tf.function(lambda x: tf.numpy_function(lambda a: a[None], [x], tf.TensorSpec([None], tf.float64)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Tout says"):
        wrong(tf.constant(arrays()[0]))


def test_only_the_padded_axis_has_an_unknown_size():
    shapes = []

    @tf.function
    def f(x, n):
        y = tf.pad(x, [[0, 0], [n, n]])
        shapes.append(tuple(y.shape))
        return y

    assert f(tf.ones([2, 3]), tf.constant(2)).shape == (2, 7)
    assert shapes[0] == (2, None)


def test_what_is_left_of_nothing():
    assert tf.reshape(tf.zeros([0, 6, 2]), [0, -1, 2]).shape == (0, 6, 2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.reshape(tf.zeros([0, 6, 2]), [0, -1, 5])


def test_rows_of_different_lengths_do_not_stack():
    @tf.function
    def f(x):
        rows = tf.TensorArray(tf.float64, size=3)
        for i in tf.range(3):
            rows = rows.write(i, x[:i + 1])
        return rows.stack()

    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.ones([4], tf.float64))


def test_sizes_of_many_unknown_axes():
    f = tf.function(lambda n: tf.reshape(tf.ones([n, n + 1, n, n + 2]), [-1, 2]))
    assert f(tf.constant(2)).shape == (24, 2)
    assert f(tf.constant(0)).shape == (0, 2)


def test_a_size_that_is_left_open_by_data():
    f = tf.function(lambda x, s: tf.reshape(x, s) ** 2)
    for shape in ([2, -1], [-1, 6], [6, 1], [3, 2]):
        expected = np.arange(6.).reshape(shape) ** 2
        np.testing.assert_array_equal(f(tf.range(6.), tf.constant(shape)), expected)


def test_parts_of_a_tensor_are_all_of_it():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.int32)])
    def parts(x, lengths):
        array = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, lengths)
        return array.read(0), array.read(1)

    first, second = parts(tf.range(6.), tf.constant([4, 2]))
    assert first.numpy().tolist() == [0, 1, 2, 3] and second.numpy().tolist() == [4, 5]
    for lengths in ([1, 2], [4, 5]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="do not add up"):
            parts(tf.range(6.), tf.constant(lengths))
