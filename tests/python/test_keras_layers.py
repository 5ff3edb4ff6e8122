"""Layers, activations, initializers, regularizers, constraints and keras.ops against real Keras 3 (keras_layers.json)."""
import json
import pathlib

import gradus as tf
import numpy as np
import pytest
from gradus import keras
from keras_layer_answers import answers, evaluated, made
from keras_layer_cases import CASES, FUNCTIONS, Data

REFERENCE = json.loads((pathlib.Path(__file__).parent / "keras_layers.json").read_text())
BY_NAME = {case[0]: case for case in CASES}
NAMES = list(BY_NAME)


def near(found, expected, what):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    if found.dtype == bool or expected.dtype == bool:
        np.testing.assert_array_equal(found, expected, err_msg=what)
    else:
        np.testing.assert_allclose(found, expected, rtol=3e-4, atol=3e-5, err_msg=what)


def plain(config, leave_out=()):
    """As JSON has it, with rounded numbers."""
    if isinstance(config, dict):
        return {k: plain(v, leave_out) for k, v in config.items() if k not in leave_out}
    if isinstance(config, (list, tuple)):
        return [plain(v, leave_out) for v in config]
    return float(f"{config:.6g}") if isinstance(config, float) else config


@pytest.fixture(autouse=True)
def names_start_again():
    keras.utils.clear_session()


@pytest.mark.parametrize("name", NAMES)
def test_layer_is_as_in_keras(name):
    expected, found = REFERENCE["layers"][name], answers(BY_NAME[name], keras, tf)
    assert found["weights"] == expected["weights"]
    assert found["dtypes"] == expected["dtypes"]
    for part in ("outputs", "state", "losses"):
        assert len(found[part]) == len(expected[part]), part
        for a, b in zip(found[part], expected[part]):
            near(a, b, part)
    assert len(found.get("gradients", ())) == len(expected.get("gradients", ()))
    for i, (a, b) in enumerate(zip(found.get("gradients", ()), expected.get("gradients", ()))):
        assert (a is None) == (b is None), f"gradient {i}"
        if a is not None:
            near(a, b, f"gradient {i}")


@pytest.mark.parametrize("name", NAMES)
def test_config_is_kerass_and_makes_the_layer_again(name):
    layer, _, _, _ = made(BY_NAME[name], keras)
    config = layer.get_config()
    assert plain(config) == REFERENCE["layers"][name]["config"]
    again = type(layer).from_config(config)
    built = ("build_config",)  # the layers within are not built yet
    assert plain(again.get_config(), built) == plain(config, built)


@pytest.mark.parametrize("name", NAMES)
def test_compiled_gives_the_same(name):
    expected, found = REFERENCE["layers"][name], answers(BY_NAME[name], keras, tf, compiled=True)
    for part in ("outputs", "state"):
        for a, b in zip(found[part], expected[part]):
            near(a, b, part)


@pytest.mark.parametrize("name", [n for n in NAMES if "symbolic" in REFERENCE["layers"][n]])
def test_symbolic_shapes(name):
    layer, args, kwargs, _ = made(BY_NAME[name], keras)
    inputs = tf.nest.map_structure(lambda a: keras.Input(a.shape[1:], dtype=a.dtype.name), args)
    kwargs = {k: v for k, v in kwargs.items() if k in ("training", "use_causal_mask", "return_attention_scores")}
    outputs = layer(*inputs, **kwargs)
    assert [list(t.shape) for t in tf.nest.flatten(outputs)] == REFERENCE["layers"][name]["symbolic"]


@pytest.mark.parametrize("text", FUNCTIONS)
def test_function_is_as_in_keras(text):
    value = evaluated(text, Data(text), keras=keras)
    arrays = [np.asarray(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
    expected = REFERENCE["functions"][text]
    assert len(arrays) == len(expected)
    for found, (dtype, numbers) in zip(arrays, expected):
        assert found.dtype.name == dtype
        near(found, numbers, text)
