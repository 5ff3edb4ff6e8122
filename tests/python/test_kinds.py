"""Sparse, string and ragged tensors: every line of kind_cases.py gives what TensorFlow gave."""
import json
import pathlib

import numpy as np
import pytest

import answers
import gradus as tf
import kind_cases
from test_reference import check

REFERENCE = {}
for _line in (pathlib.Path(__file__).parent / "kinds.json").read_text().splitlines():
    REFERENCE.update(json.loads(_line))

# Where Gradus answers differently on purpose.
DIFFERENT = {
    "parts(-X)": "a sparse tensor can be negated",
    "len(R)": "rows can be counted",
    "tf.debugging.assert_equal(S, \"x\")": "TensorFlow fails while it makes its message",
}


@pytest.mark.parametrize("line", kind_cases.LINES)
def test_as_tensorflow(line):
    assert line in REFERENCE, "run tools/make_reference.py"
    if line in DIFFERENT:
        pytest.skip(DIFFERENT[line])
    check(answers.answer(line, tf, np, kind_cases.namespace), REFERENCE[line])


def test_sparse_and_ragged_arguments_have_sizes_that_may_change():
    product = tf.function(lambda x, dense: tf.sparse.sparse_dense_matmul(x, dense))
    sums = tf.function(lambda r: (tf.reduce_sum(r, 1), r * 2.0))
    dense = tf.random.normal([4, 3], seed=1)
    for n in (2, 3, 5, 4, 6, 2):
        x = tf.SparseTensor([[i % 3, i % 4] for i in range(n)], [float(i) for i in range(n)], [3, 4])
        np.testing.assert_allclose(product(x, dense), tf.sparse.sparse_dense_matmul(x, dense), rtol=1e-6)
        r = tf.ragged.constant([[1.0] * i for i in range(n)], tf.float32)
        total, doubled = sums(r)
        assert total.numpy().tolist() == list(range(n)) and doubled.to_list() == [[2.0] * i for i in range(n)]
    assert product.experimental_get_tracing_count() <= 2 and sums.experimental_get_tracing_count() <= 3


def test_functions_with_strings_run_as_plain_python_and_say_so():
    calls = []

    @tf.function
    def shout(s):
        calls.append(1)
        return tf.strings.join([tf.strings.upper(s), "!"])

    assert shout(tf.constant("a")).numpy() == b"A!" and shout(tf.constant("b")).numpy() == b"B!"
    assert len(calls) == 2 and "StringTensor" in shout.explain()


def test_second_derivatives_and_jacobians_of_the_sparse_product():
    values, dense = tf.constant([1.5, -2.0, 3.0]), tf.random.normal([4, 2], seed=2)

    def f(v):
        x = tf.SparseTensor([[0, 0], [0, 2], [2, 1]], v, [3, 4])
        return tf.reduce_sum(tf.sparse.sparse_dense_matmul(x, dense) ** 3)
    full = tf.sparse.to_dense(tf.SparseTensor([[0, 0], [0, 2], [2, 1]], values, [3, 4]))
    places = [[0, 0], [0, 2], [2, 1]]

    def g(v):
        return tf.reduce_sum((tf.scatter_nd(places, v, full.shape) @ dense) ** 3)
    np.testing.assert_allclose(tf.hessian(f, values), tf.hessian(g, values), rtol=1e-4)


def test_printed_as_tensorflow_prints(capsys):
    import sys
    tf.print(tf.constant("x"), tf.constant(["a", "b"]), "lit", output_stream=sys.stdout)
    tf.print(tf.ragged.constant([[1, 2], []]), tf.SparseTensor([[0, 1]], [1.5], [2, 2]), output_stream=sys.stdout)
    assert capsys.readouterr().out == ('"x" ["a" "b"] lit\n'
                                       "[[1, 2], []] 'SparseTensor(indices=[[0 1]], values=[1.5], shape=[2 2])'\n")


def test_a_model_from_text_trains():
    from gradus import keras
    words = keras.layers.TextVectorization(output_sequence_length=3)
    words.adapt(["good film", "bad film"])
    model = keras.Sequential([keras.Input((1,), dtype="string"), words, keras.layers.Embedding(8, 2),
                              keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    data = tf.data.Dataset.from_tensor_slices((["good film", "bad film"], [1.0, 0.0])).batch(2)
    history = model.fit(data, epochs=3, verbose=0).history["loss"]
    assert history[-1] < history[0]


@pytest.mark.parametrize("wrong", [
    lambda x: x * tf.ones([2, 5]), lambda x: x * tf.constant([1.0, 2.0, 3.0]), lambda x: x / tf.ones([5, 4]),
    lambda x: tf.sparse.add(x, tf.ones([3, 4])), lambda x: tf.sparse.split(sp_input=x, num_split=3, axis=0),
    lambda x: tf.sparse.split(sp_input=x, num_split=0, axis=0), lambda x: tf.sparse.bincount(tf.constant([-1, 2])),
])
def test_sparse_tensors_refuse_what_does_not_fit(wrong):
    with pytest.raises(tf.errors.InvalidArgumentError):
        wrong(tf.SparseTensor([[0, 0], [1, 3]], [1.0, 2.0], [2, 4]))


def test_runs_of_no_strings_are_refused():
    with pytest.raises(ValueError, match="greater than 0"):
        tf.strings.ngrams(["a", "b"], 0)


@pytest.mark.parametrize("seed", range(4))
def test_bad_bytes_in_long_strings(seed):
    """Behind a bad byte strings are decoded piece by piece; what stands across two pieces is still one character."""
    rng = np.random.default_rng(seed)
    words = [b"a", "\u00e9".encode(), "\u20ac".encode(), "\U0001f600".encode(), b"\xff", b"\xe2\x82", b"\xf0\x9f"]
    text = b"".join(words[i] for i in rng.choice(len(words), 3000, p=[0.3, 0.25, 0.2, 0.2, 0.02, 0.02, 0.01]))
    points, offsets = tf.strings.unicode_decode_with_offsets(tf.constant(text), "UTF-8")
    assert points.numpy().tolist() == [ord(c) for c in text.decode("utf-8", "replace")]
    for point, at in zip(points.numpy(), offsets.numpy()):
        assert point == 0xfffd or text[at:].startswith(chr(point).encode())
    kept = tf.strings.unicode_decode(tf.constant(text), "UTF-8", errors="ignore")
    assert kept.numpy().tolist() == [ord(c) for c in text.decode("utf-8", "ignore")]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.unicode_decode(tf.constant(b"a" * 5000 + b"\xff"), "UTF-8", errors="strict")


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_ragged_rows_with_splits_of_either_dtype(dtype):
    rows = tf.RaggedTensor.from_row_lengths([1., 2., 3., 4.], tf.constant([2, 0, 2], dtype))
    assert rows[:, :1].to_list() == [[1], [], [3]]
    assert rows[:, -1:].to_list() == [[2], [], [4]]
    assert rows[1:].to_list() == [[], [3, 4]]
    assert tf.gather(rows, [2, 0]).to_list() == [[3, 4], [1, 2]]
    assert tf.sparse.to_dense(rows.to_sparse()).numpy().tolist() == [[1, 2], [0, 0], [3, 4]]
    assert rows[1:].row_splits.dtype == rows[:, :1].row_splits.dtype == dtype


def test_sparse_segments_of_nothing():
    nothing = tf.zeros([0], tf.int32)
    assert tf.sparse.segment_sqrt_n(tf.ones([3, 2]), nothing, nothing).shape == (0, 2)
