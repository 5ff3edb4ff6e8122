"""Gradients of public functions in every input, and what they give at special values, as TensorFlow's (gradient_cases.py);
and no silent None: an input without a gradient is one that the result does not depend on."""
import json
import pathlib
import re

import numpy as np
import pytest

import answers
import gradient_cases
import gradus as tf
from test_reference import check

REFERENCE = {}
for _line in (pathlib.Path(__file__).parent / "gradients.json").read_text().splitlines():
    REFERENCE.update(json.loads(_line))

# Where Gradus answers differently on purpose: a part of the line, and why.
_NONE = "no dependence is None, not zeros"
_MORE = "has a derivative, where TensorFlow has none or raises"
_LIMIT = "the limit at infinity, where TensorFlow has inf / inf or 0 * inf"
_INTEGERS = "integers and truth values have no gradient: None, where TensorFlow raises"
_ZERO = "the derivative at 0, where TensorFlow divides by 0, is 0"
DIFFERENT = {
    "watched(tf.sign": _NONE, "tf.argsort": _NONE, "tf.linalg.slogdet(x)[0]": _NONE, "tf.cast(tf.sign(x)": _NONE,
    "tf.bitcast": _INTEGERS, "tf.histogram_fixed_width": _INTEGERS, "tf.nn.in_top_k": _INTEGERS, "watched(lambda x: tf.math.is_nan": _INTEGERS,
    "tf.unique": _MORE, "tf.one_hot": _MORE, "tf.random.shuffle": _MORE, "tf.math.bincount": _MORE, "tf.truncatemod": _MORE,
    "constant_values=": _MORE, "tf.nn.leaky_relu(-x, y[0])": _MORE, "tf.image.adjust_contrast": _MORE, "tf.range(x[0]": _MORE,
    "tf.math.betainc": _MORE, "tf.math.zeta": _MORE, "rfft3d": _MORE,
    "tf.switch_case": "TensorFlow does not take a Python number as the index",
    "tf.nn.softmax_cross_entropy_with_logits": "TensorFlow takes labels to sum to 1; here they do not, and this is their gradient",
    "tf.dynamic_stitch([[0, 1, 2], [1, 3, 4]]": "a value that another one replaced has no gradient",
    "embedding_lookup_sparse": "the rows are given once for each use, not added up",
    "tf.abs(tf.linalg.eigh(x)[1])": "the gradient is symmetric; TensorFlow's is that of the lower triangle",
    "unary(tf.math.digamma)": "trigamma(-7.5) is 9.7447653 (mpmath), not 6.78; of 1e30 it is 1e-30, not 0",
    "unary(tf.math.bessel_i1)": "the derivative of I1 at 0 is 1/2, not 1; at infinity I1 is infinite",
    "unary(tf.math.ndtri)": "more digits", "unary(tf.math.bessel_i0)": _LIMIT, "unary(tf.math.softsign)": _LIMIT, "unary(tf.nn.gelu)": _LIMIT,
    "unary(tf.nn.silu)": _LIMIT, "binary(tf.pow)": "x^0 and 1^y are constant; the logarithm of NaN is NaN", "binary(tf.atan2)": _LIMIT + "; at (0, 0) it is 0",
    "binary(tf.math.igamma": "NaN unless a > 0", "reduced(tf.reduce_max)": "the NaN is the chosen element", "reduced(tf.reduce_min)": "the NaN is the chosen element",
    "reduced(tf.reduce_logsumexp)": "no weight at -inf is 0; weights of infinities are not determined",
    "reduced(tf.math.reduce_std)": _ZERO, "reduced(tf.math.reduce_euclidean_norm)": _ZERO, "reduced(tf.norm)": _ZERO,
    "reduced(tf.math.reduce_variance)": "beside infinities: the value is NaN", "reduced(tf.math.cumprod)": "exact with zeros and infinities",
    "reduced(tf.math.cumulative_logsumexp)": "NaN is not left out of the sum, and infinities are", "reduced(tf.nn.softmax)": "a row with NaN or inf is NaN throughout",
    "reduced(tf.sort)": "NaN is sorted to the end, and nothing can be sorted",
}
# Results that depend on an input without having a derivative in it, as in TensorFlow.
CUT = ("tf.stop_gradient", "tf.numpy_function", "tf.Variable(x)")


def reason(line):
    return next((why for part, why in DIFFERENT.items() if part in line), None)


@pytest.mark.parametrize("line", gradient_cases.LINES)
def test_as_tensorflow(line):
    assert line in REFERENCE, "run tools/make_reference.py"
    answer = answers.answer(line, tf, np, gradient_cases.namespace)
    if reason(line):
        with pytest.raises(AssertionError):  # a difference that is gone is to be struck off
            check(answer, REFERENCE[line])
    else:
        check(answer, REFERENCE[line])


# Public functions that are not numbers from numbers.
_WITHOUT = """argmin confusion_matrix greater greater_equal invert_permutation is_finite is_inf is_non_decreasing
is_strictly_increasing less_equal logical_and logical_not logical_or logical_xor not_equal reduce_all reduce_any
compute_accidental_hits ctc_beam_search_decoder ctc_greedy_decoder ctc_unique_labels hamming_window hann_window
inverse_stft_window_fn kaiser_window linear_to_mel_weight_matrix vorbis_window""".split()


@pytest.mark.parametrize("module", ["math", "linalg", "nn", "signal"])
def test_every_function_is_there(module):
    tried = set(re.findall(r"tf\.(?:\w+\.)*(\w+)", " ".join(name for name, _ in gradient_cases.FUNCTIONS)))
    place = getattr(tf, module)
    public = {n for n in dir(place) if not n.startswith("_") and callable(getattr(place, n)) and not isinstance(getattr(place, n), type)}
    assert len(public) > 25 and not public - tried - set(_WITHOUT)


@pytest.mark.parametrize("name, inputs", gradient_cases.FUNCTIONS)
def test_no_gradient_means_no_dependence(name, inputs):
    names = gradient_cases.namespace(tf, np)
    if any(part in name for part in CUT):
        pytest.skip("cut on purpose")
    f = eval(name, names)  # noqa: S307
    args = [np.asarray(eval(i, names), "float32") for i in inputs]  # noqa: S307
    try:
        gradients = names["watched"](f, *args)
    except Exception as error:  # noqa: BLE001
        assert "radient" in str(error) or "derivative" in str(error), error  # it says so
        return

    def total(values):
        parts = [p for p in tf.nest.flatten(names["values"](f, *values)) if p.dtype.is_floating or p.dtype.is_complex]
        return sum(float(np.sum(np.abs(np.asarray(p)).astype("float64"))) for p in parts)
    for i, g in enumerate(gradients):
        if g is not None:
            continue
        moved = list(args)
        moved[i] = args[i] * np.float32(0.9990234375)  # too little to step over a jump
        assert total(moved) == total(args), f"{name} depends on input {i}, and its gradient is None"
