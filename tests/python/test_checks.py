"""Words of checks and of errors, which programs look for; they are TensorFlow's."""
import numpy as np
import pytest

import gradus as tf

A = tf.constant([[1, 2], [3, 4]])


def message(function, *args, **kwargs):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError, TypeError)) as caught:
        function(*args, **kwargs)
    return str(caught.value)


def test_what_differs_is_named():
    assert message(tf.debugging.assert_equal, tf.constant([1.0, 2, 5]), tf.constant([1.0, 3, 2]), message="hello") == (
        "hello\nCondition x == y did not hold.\nIndices of first 2 different values:\n[[1]\n [2]]\nCorresponding x values:\n"
        "[2. 5.]\nCorresponding y values:\n[3. 2.]\nFirst 3 elements of x:\n[1. 2. 5.]\nFirst 3 elements of y:\n[1. 3. 2.]")
    assert message(tf.debugging.assert_less, A, A, summarize=1) == (
        "Condition x < y did not hold.\nIndices of first 1 different values:\n[[0 0]]\nCorresponding x values:\n[1]\n"
        "Corresponding y values:\n[1]\nFirst 1 elements of x:\n[1]\nFirst 1 elements of y:\n[1]")
    assert message(tf.debugging.assert_equal, A, 1) == (
        "Condition x == y did not hold.\nFirst 3 elements of x:\n[1 2 3]\nFirst 1 elements of y:\n[1]")


def test_signs():
    assert message(tf.debugging.assert_positive, tf.constant([1.5, -2, 3, 4]), message="msg") == (
        "msg.  \nCondition x > 0 did not hold element-wise:\nx (shape=(4,) dtype=float32) = \n['1.5', '-2.0', '3.0', '...']")
    assert message(tf.debugging.assert_negative, tf.constant(1)).endswith("x (shape=() dtype=int32) = \n1")


def test_assert_shows_its_data():
    data = [tf.constant([1, 2]), "abc", 3, A]
    assert message(tf.debugging.Assert, False, data) == (
        "Expected 'False' to be true. Summarized data: 1, 2\nb'abc'\n3\n1, 2, 3, ...")

    @tf.function
    def checked(x):
        tf.debugging.Assert(x > 0, data)
        return x
    assert "assertion failed: [1 2] [abc] [3] [1 2 3...]" in message(checked, tf.constant(-1.0))


def test_near():
    text = message(tf.debugging.assert_near, tf.constant([1.0]), tf.constant([2.0]), rtol=0.1, atol=0.1, message="m")
    assert "b'm.  '\nb'x and y not equal to tolerance rtol = tf.Tensor(0.1, shape=(), dtype=float32)" in text
    tf.debugging.assert_near(tf.constant([1.0]), tf.constant([1.05]), rtol=0.1)


@pytest.mark.parametrize("check, args, want", [
    ("assert_rank", [A, 3, "m"], "m.  Tensor  must have rank 3.  Received rank 2, shape (2, 2)"),
    ("assert_rank_in", [A, [3, 4]], "Tensor  must have rank in (3, 4).  Received rank 2, shape (2, 2)"),
    ("assert_rank_at_least", [A, 3], "Tensor  must have rank at least 3.  Received rank 2, shape (2, 2)"),
    ("assert_type", [A, tf.float32], "tensor must be of type tf.float32; got tf.int32"),
    ("assert_integer", [tf.constant(1.0)], "Expected \"x\" to be integer type.  Found: tensor of dtype <dtype: 'float32'>"),
    ("assert_scalar", [A], "Expected scalar shape, saw shape: (2, 2)."),
    ("assert_shapes", [[(A, ("N", "N")), (tf.constant([1, 2, 3]), ("N",))]],
     "Specified by tensor shape=(2, 2) dtype=int32 dimension 0.  Tensor shape=(3,) dtype=int32 dimension 0 must have size 2.  "
     "Received size 3, shape (3,)"),
    ("assert_shapes", [[(A, (3, 2))]], "Specified explicitly.  Tensor shape=(2, 2) dtype=int32 dimension 0 must have size 3.  "
     "Received size 2, shape (2, 2)"),
    ("assert_all_finite", [tf.constant([np.inf, np.nan]), "hey"], "hey : Tensor had Inf and NaN values"),
    ("assert_same_float_dtype", [[tf.constant(1)]], "Expected floating point type, got <dtype: 'int32'>."),
])
def test_shapes_and_dtypes(check, args, want):
    assert message(getattr(tf.debugging, check), *args) == want


def test_proper_iterables():
    tf.debugging.assert_proper_iterable([1, 2])
    for value in (A, "text", np.zeros(2), 3):
        with pytest.raises(TypeError, match='"proper" iterable'):
            tf.debugging.assert_proper_iterable(value)


def test_orders():
    assert tf.math.is_non_decreasing([1, 2, 2]) and not tf.math.is_strictly_increasing([1, 2, 2])
    assert tf.math.is_strictly_increasing([]) and not tf.math.is_non_decreasing([[1, 2], [1, 3]])


def test_eager_loops_return_what_the_body_returns():
    start = [tf.constant(0), tf.constant(1)]
    assert type(tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, j * 2), start)) is tuple
    assert type(tf.while_loop(lambda i, j: i < 3, lambda i, j: [i + 1, j * 2], tuple(start))) is list
    assert type(tf.while_loop(lambda i, j: i < 0, lambda i, j: [i + 1, j * 2], tuple(start))) is tuple


def test_rows_of_a_gradient_are_printed_as_tensors():
    rows = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([3]))
    assert str(rows) == ("IndexedSlices(indices=tf.Tensor([0], shape=(1,), dtype=int32), values=tf.Tensor([1.], shape=(1,), "
                         "dtype=float32), dense_shape=tf.Tensor([3], shape=(1,), dtype=int32))")
    assert "dense_shape" not in str(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))


def test_what_a_concrete_function_says_of_itself():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def double(a):
        return a * 2
    found = double.get_concrete_function()
    spec = tf.TensorSpec([None], tf.float32, "a")
    assert found.structured_input_signature == ((spec,), {}) and found.structured_input_signature[0][0].name == "a"
    assert found.output_shapes.as_list() == [None] and found.output_dtypes == tf.float32
    assert found.graph.inputs == [spec] and len(found.graph.outputs) == 1
    assert str(found) == (
        "ConcreteFunction Input Parameters:\n  a (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(None,), dtype=tf.float32, name=None)\n"
        "Output Type:\n  TensorSpec(shape=(None,), dtype=tf.float32, name=None)\nCaptures:\n  None")
    assert "missing a required argument: 'a'" in message(found)
