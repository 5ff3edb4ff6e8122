"""Hostile arguments give an exception or a result, never a crash; and properties that hold for all inputs."""
import math
import random
import types

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import gradus as tf
from gradus import _core


class Raises:
    """An object whose every conversion raises."""

    def _fail(self, *args, **kwargs):
        raise RuntimeError("on purpose")

    __array__ = __len__ = __getitem__ = __index__ = __float__ = __int__ = __bool__ = __iter__ = __eq__ = _fail
    __hash__ = object.__hash__


class Lies:
    """A sequence that is longer than it says."""

    def __len__(self):
        return 2

    def __getitem__(self, i):
        if i >= 5:
            raise IndexError
        return float(i)


def deep(n):
    x = 1.0
    for _ in range(n):
        x = [x]
    return x


def hostile_values():
    endless = []
    endless.append(endless)
    return [None, True, 0, 1, -1, 2 ** 45, -2 ** 63, 2 ** 70, 1.5, float("nan"), float("inf"), 1j, "", "text", b"bytes", [], [[]],
            [1, 2, 3], [[1.0, 2.0], [3.0]], [1, "a"], (1, 2), {"a": 1}, {1, 2}, object(), type, len, Raises(), Lies(),
            deep(8), deep(200), endless, np.zeros([0, 3]), np.array(["a"]), np.array([object()]),
            np.zeros([2, 2], "datetime64[s]"), np.ones([1] * 12), np.arange(6.0)[::-1], slice(1, 2), Ellipsis, range(3),
            tf.constant(1.0), tf.constant([1, 2]), tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.zeros([0]), tf.constant(True),
            tf.constant([1 + 2j]), tf.Variable([1.0, 2.0]), tf.float32, "float32", tf.TensorShape(None),
            tf.constant(["a", "b"]), tf.SparseTensor([[0, 1]], [1.0], [2, 2]), tf.ragged.constant([[1.0], [], [2.0, 3.0]]),
            tf.TensorShape([None, 2]), tf.constant(2 ** 40), [2 ** 40], [2 ** 20, 2 ** 20, 2 ** 20], [-5], [0]]


FUNCTIONS = sorted({names.split()[0]: (signature, function) for names, signature, _, function in _core._functions()
                    if not names.startswith("_")}.items())


@pytest.mark.parametrize("name", [name for name, _ in FUNCTIONS])
def test_functions_survive(name):
    signature, function = dict(FUNCTIONS)[name]
    parameters = [p.strip().partition("=") for p in signature.split(",") if p.strip()]
    required = sum(1 for p in parameters if not p[1])
    rng = random.Random(name)
    values = hostile_values()
    tensors = [v for v in values if tf.is_tensor(v)]
    for _ in range(60):
        pool = tensors if rng.random() < 0.4 else values
        arguments = [rng.choice(pool if i == 0 else values) for i in range(rng.randint(required, len(parameters)))]
        try:
            function(*arguments)
        except Exception as error:  # noqa: BLE001
            assert not isinstance(error, SystemError) and str(error) is not None
    with pytest.raises(TypeError):
        function(**{"no_such_argument": 1})


OTHERS = [f"{module}.{name}" for module in ("sparse", "strings", "ragged", "image", "lookup")
          for name, found in sorted(vars(getattr(tf, module)).items())
          if callable(found) and not name.startswith("_") and getattr(found, "__module__", "").startswith("gradus.")]


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_survive(name):
    module, _, own = name.partition(".")
    function = getattr(getattr(tf, module), own)
    rng = random.Random(name)
    values = hostile_values()
    kinds = [v for v in values if tf.is_tensor(v)]
    for _ in range(40):
        arguments = [rng.choice(kinds if i == 0 and rng.random() < 0.7 else values) for i in range(rng.randint(1, 4))]
        try:
            function(*arguments)
        except Exception as error:  # noqa: BLE001
            assert not isinstance(error, SystemError), name
            assert str(error) is not None


def test_methods_survive():
    rng = random.Random(1)
    values = hostile_values()
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v * 2
    methods = [x.__getitem__, x.__add__, x.__rpow__, x.__matmul__, x.__eq__, x.__lt__, x.__and__, x.__array__, x.__format__,
               x.set_shape, v.assign, v.assign_add, v.__getitem__, tape.watch, tf.TensorShape, tf.TensorShape([1, 2]).__add__,
               tf.TensorShape([1, 2]).__getitem__, tf.TensorShape([1]).__eq__, tf.float32.__eq__, tf.DType, tf.Variable,
               tf.nest.flatten, tf.TensorSpec, tf.GradientTape, lambda a: tape.gradient(a, v), lambda a: tape.gradient(y, a),
               lambda a: tape.jacobian(y, a), lambda a: tape.gradient(y, v, a), lambda a: tape.gradient(y, v, None, a),
               lambda a: tf.autodiff.ForwardAccumulator(a, a), lambda a: tf.map_fn(a, x), lambda a: tf.nest.map_structure(len, a),
               lambda a: v.scatter_add(a), lambda a: x[a, a], lambda a: x[a:a], lambda a: tf.einsum(a, x),
               lambda a: tf.custom_gradient(lambda t: a)(x), lambda a: tf.vectorized_map(lambda t: a, x)]
    for method in methods:
        for a in values:
            try:
                method(a)
            except Exception as error:  # noqa: BLE001
                assert not isinstance(error, SystemError), (method, a)
    assert x.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    del rng


def test_objects_that_raise_keep_their_exception():
    with pytest.raises(RuntimeError, match="on purpose"):
        tf.constant(Raises())
    with pytest.raises(RuntimeError, match="on purpose"):
        tf.reshape([1.0], Raises())
    with pytest.raises(TypeError):
        tf.custom_gradient(lambda x: None)(1.0)


def test_namespaces_have_no_leftovers():
    for module in (tf, tf.math, tf.nn, tf.linalg, tf.random):
        for name, value in vars(module).items():
            if isinstance(value, types.BuiltinFunctionType) and not name.startswith("_"):
                assert value.__doc__ and value.__text_signature__


numbers = st.floats(-1e3, 1e3, width=32)
lists = st.lists(numbers, min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(lists)
def test_numpy_and_back(values):
    t = tf.constant(values)
    assert t.dtype == tf.float32 and t.shape == [len(values)]
    np.testing.assert_array_equal(np.asarray(t), np.array(values, np.float32))
    assert [float(v) for v in t] == np.array(values, np.float32).tolist()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-2 ** 31, 2 ** 31 - 1), min_size=1, max_size=6), st.integers(-9, 9).filter(bool))
def test_integer_arithmetic_is_numpys(values, by):
    t, a = tf.constant(values), np.array(values, np.int32)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.asarray(t + by), a + np.int32(by))
        np.testing.assert_array_equal(np.asarray(t * by), a * np.int32(by))
        if not (by == -1 and -2 ** 31 in values):
            np.testing.assert_array_equal(np.asarray(t // by), a // np.int32(by))
            np.testing.assert_array_equal(np.asarray(t % by), a % np.int32(by))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.data())
def test_subscripts_are_numpys(sizes, data):
    array = np.arange(math.prod(sizes)).reshape(sizes)
    key = []
    for size in data.draw(st.permutations(sizes))[:0] or sizes:
        ends = st.one_of(st.none(), st.integers(-6, 6))
        choices = [st.builds(slice, ends, ends, st.sampled_from([None, 1, 2, -1, -2]))]
        if size:
            choices.append(st.integers(-size, size - 1))
        key.append(data.draw(st.one_of(choices)))
    key = key[:data.draw(st.integers(0, len(key)))]
    if data.draw(st.booleans()):
        key.insert(data.draw(st.integers(0, len(key))), None)
    if data.draw(st.booleans()):
        key.append(Ellipsis)
    got = tf.constant(array)[tuple(key)]
    np.testing.assert_array_equal(np.asarray(got), array[tuple(key)])


@settings(max_examples=40, deadline=None)
@given(lists, st.sampled_from(["exp", "sin", "tanh", "square", "sigmoid"]))
def test_forward_and_reverse_agree(values, name):
    f = getattr(tf, name)
    x = tf.constant([v / 500 for v in values], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
        z = f(x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), acc.jvp(z).numpy(), rtol=1e-12)


structures = st.recursive(st.integers(), lambda inner: st.one_of(
    st.lists(inner, max_size=3), st.tuples(inner, inner), st.dictionaries(st.text(max_size=2), inner, max_size=3)), max_leaves=8)


@settings(max_examples=80, deadline=None)
@given(structures)
def test_nest_goes_there_and_back(structure):
    leaves = tf.nest.flatten(structure)
    assert tf.nest.pack_sequence_as(structure, leaves) == structure
    doubled = tf.nest.map_structure(lambda v: 2 * v, structure)
    assert tf.nest.flatten(doubled) == [2 * v for v in leaves]
    tf.nest.assert_same_structure(structure, doubled)
