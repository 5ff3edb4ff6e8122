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
