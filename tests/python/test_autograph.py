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
    "call_map": [{"dtype": "float32", "shape": [2], "values": [v, v]} for v in (1.0, 2.0)],
    "call_method_with_super": numbers("float32", 7.0, 7.0, 200.0),
    "call_nonlocal": numbers("float32", 2.0, 20.0),
    "return_in_python_loop": numbers("float32", 12.0, 96.0),
    "return_in_with": numbers("float32", 1.0, -2.0),
    "return_nested": numbers("float32", 2.0, 10.0, 10.0, -10.0),
    "return_none_in_both": [None, None],
    "ternary_nested": numbers("float32", 1.0, 2.0, 3.0),
    "walrus": numbers("float32", 2.0, -10.0),
}
PENDING = set("""return_in_while return_in_for while_count while_tensor while_break while_continue while_true while_nested
while_temporary while_undefined_before while_undefined_before_and_no_iteration while_shape_changes while_none_becomes_tensor
while_tuples while_and while_collatz while_gradient_of_tensor_loop for_range for_tf_range for_break for_loop_variable_afterwards
for_loop_variable_undefined_before for_nested for_range_with_start_and_step for_tensor_array for_with_tape
for_list_append_in_tensor_loop assign_attribute_in_loop assert_statement tf_assert tf_assert_in_branch variable_in_loop
numpy_function set_loop_options maximum_iterations newton fibonacci gcd primes_count binary_search mandelbrot recurrent
while_else for_else while_dtype_changes while_structure_changes""".split())


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
