"""Every line of cases.py gives what TensorFlow gave."""
import json
import math
import pathlib

import numpy as np
import pytest

import answers
import cases
import gradus as tf

REFERENCE = {}
for _line in (pathlib.Path(__file__).parent / "reference.json").read_text().splitlines():
    REFERENCE.update(json.loads(_line))

# Where Gradus answers differently on purpose.
DIFFERENT = {
    "tf.constant(300, tf.uint8)": "a number out of range is an error, not another number",
    "tf.constant(-1, tf.uint8)": "a number out of range is an error, not another number",
    "tf.constant([A, B])": "a list of tensors is stacked",
    "tf.linalg.cholesky([[1.0, 2.0], [2.0, 1.0]])": "not positive definite: NaN above the diagonal, too",
    "grad(tf.sign, A)": "no dependence is None, not zeros",
}


def close(got, want, tolerance):
    if isinstance(want, dict):
        if "values" in want and isinstance(got, dict) and "values" in got:
            if got["dtype"] != want["dtype"] or got["shape"] != want["shape"]:
                return False
            tolerance = {"float16": 2e-3, "float64": 1e-12}.get(want["dtype"], 3e-6)
            scale = max([abs(v) for v in want["values"] if isinstance(v, float)] + [0.0])
            return all(near(a, b, tolerance, scale) for a, b in zip(got["values"], want["values"]))
        return isinstance(got, dict) and got.keys() == want.keys() and all(close(got[k], want[k], tolerance) for k in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(close(g, w, tolerance) for g, w in zip(got, want))
    return near(got, want, tolerance, 0.0)


def near(got, want, tolerance, scale):
    if isinstance(want, float) and isinstance(got, (float, int)):
        return math.isclose(got, want, rel_tol=tolerance, abs_tol=tolerance * max(scale, 1e-30))
    if isinstance(want, dict) and "re" in want:
        return all(math.isclose(got[k], want[k], rel_tol=tolerance) for k in want)
    return got == want


def check(got, want):
    """Fails unless an answer is TensorFlow's."""
    if isinstance(want, dict) and "error" in want:
        assert isinstance(got, dict) and "error" in got, f"TensorFlow raises {want['error'][0]}, got {got}"
        # The class that TensorFlow raises, or one derived from it.
        assert want["error"][0] in got["error"], f"TensorFlow raises {want['error'][0]}, got {got['error']}"
    else:
        assert close(got, want, 1e-6), f"TensorFlow gives {want}, got {got}"


@pytest.mark.parametrize("line", cases.LINES)
def test_as_tensorflow(line):
    assert line in REFERENCE, "run tools/make_reference.py"
    if line in DIFFERENT:
        pytest.skip(DIFFERENT[line])
    check(answers.answer(line, tf, np), REFERENCE[line])


def test_every_function_has_a_signature():
    """inspect.signature reads what help() shows, so every default is something that Python can read."""
    import inspect
    modules = [tf, tf.math, tf.linalg, tf.nn, tf.random, tf.nest, tf.debugging]
    functions = {f for m in modules for n, f in vars(m).items() if inspect.isroutine(f) and not n.startswith("_")}
    assert len(functions) > 300
    for function in functions:
        inspect.signature(function)


def test_norms_of_matrices():  # the answers are TensorFlow's rules, by NumPy
    a = np.random.default_rng(0).normal(size=(2, 4, 3)).astype("float32")
    for order in (1, 2, np.inf, "fro"):
        want = np.linalg.norm(a, order, (1, 2))
        np.testing.assert_allclose(tf.norm(a, order, axis=[1, 2]), want, 1e-5)
        np.testing.assert_allclose(tf.norm(a, order, axis=(-2, -1), keepdims=True), want[:, None, None], 1e-5)
        np.testing.assert_allclose(tf.norm(a, order, axis=[2, 0]), np.linalg.norm(a, order, (2, 0)), 1e-5)
    with pytest.raises(ValueError, match="supported matrix norm"):
        tf.norm(a, 3, axis=[0, 1])
    np.testing.assert_allclose(tf.norm(a, 1, axis=[1]), np.abs(a).sum(1), 1e-5)
