"""AutoGraph: every program of autograph_programs.py gives what TensorFlow gave, or what Python gives where TensorFlow cannot."""
import json
import pathlib

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
PENDING = set("for_tensor_array while_gradient_of_tensor_loop for_with_tape recurrent set_loop_options".split())


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in PENDING])
def test_as_tensorflow_or_python(name):
    assert name in REFERENCE, "run tools/make_autograph_reference.py"
    got = autograph_answers.answers_of(name, tf, np, tf.function)
    for g, want in zip(got, BETTER.get(name, REFERENCE[name]), strict=True):
        if isinstance(want, dict) and "error" in want:
            assert isinstance(g, dict) and "error" in g, f"TensorFlow raises {want['error'][0]}, got {g}"
            assert want["error"][0] in g["error"], f"TensorFlow raises {want['error'][0]}, got {g}"
        else:
            assert close(g, want, 1e-6), f"expected {want}, got {g}"
