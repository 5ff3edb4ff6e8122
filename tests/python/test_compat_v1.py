"""gradus.compat.v1: programs of TensorFlow 1, compared with what TensorFlow gives, and what is ours."""
import json
import math
import pathlib
import sys

import numpy as np
import pytest

import gradus
import gradus.compat.v1 as tf
from v1_programs import PROGRAMS

REFERENCE = json.loads((pathlib.Path(__file__).parent / "v1_reference.json").read_text())


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()
    yield
    tf.reset_default_graph()


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def same(got, want, path):
    if isinstance(want, list):
        assert isinstance(got, list) and len(got) == len(want), f"{path}: {got} is not {want}"
        for i, (g, w) in enumerate(zip(got, want)):
            same(g, w, f"{path}[{i}]")
    elif isinstance(want, float):
        assert math.isclose(got, want, rel_tol=2e-5, abs_tol=2e-6), f"{path}: {got} is not {want}"
    else:
        assert got == want and type(got) is type(want), f"{path}: {got!r} is not {want!r}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    same(plain(PROGRAMS[name](tf, np)), REFERENCE[name], name)
