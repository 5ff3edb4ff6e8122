"""Programs as other people write them print what they print with TensorFlow (keras_programs.json), up to rounding."""
import json
import pathlib
import warnings

import keras_program_runs
import pytest

import gradus as tf

ANSWERS = json.loads((pathlib.Path(__file__).parent / "keras_programs.json").read_text())


@pytest.mark.parametrize("name", keras_program_runs.NAMES)
def test_program(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine = keras_program_runs.printed(name, tf, tmp_path, for_gradus=True)
    different = keras_program_runs.difference(mine, ANSWERS[name])
    assert different is None, different
