"""Keras's core against Keras's own answers (keras_core.json), and what has no counterpart there."""
import json
import pathlib

import keras_core_cases
import numpy as np
import pytest

import gradus as tf
from gradus import keras

L = pytest.importorskip("gradus.keras.layers")
ANSWERS = json.loads((pathlib.Path(__file__).parent / "keras_core.json").read_text())


def same(mine, theirs, where=""):
    """Equal, numbers nearly."""
    if isinstance(theirs, dict):
        assert isinstance(mine, dict) and list(map(str, mine)) == list(theirs), f"{where}: {list(mine)} != {list(theirs)}"
        for key in theirs:
            same(mine[key], theirs[key], f"{where}.{key}")
    elif isinstance(theirs, list):
        assert len(mine) == len(theirs), f"{where}: {mine} != {theirs}"
        for i, (a, b) in enumerate(zip(mine, theirs)):
            same(a, b, f"{where}[{i}]")
    elif isinstance(theirs, float) and not isinstance(mine, str):
        assert mine == pytest.approx(theirs, rel=2e-5, abs=2e-6, nan_ok=True), f"{where}: {mine} != {theirs}"
    else:
        assert mine == theirs, f"{where}:\n{mine}\n!=\n{theirs}"


@pytest.mark.parametrize("name", list(keras_core_cases.CASES))
def test_as_keras(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    keras.utils.clear_session()
    mine = keras_core_cases.CASES[name](keras, tf)
    same(json.loads(json.dumps(mine)), ANSWERS[name], name)
