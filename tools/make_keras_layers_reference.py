#!/usr/bin/env python3
"""Asks an installed Keras 3 (on TensorFlow) what its layers give, and writes tests/python/keras_layers.json.

    /path/to/python/with/keras tools/make_keras_layers_reference.py
    /path/to/python/with/keras tools/make_keras_layers_reference.py --new    # only cases that have no answer yet

The cases are in tests/python/keras_layer_cases.py. Numbers are rounded to six digits.
"""
import json
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"
sys.path.insert(0, str(FOLDER))

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras_layer_answers import answers, evaluated, made, start  # noqa: E402
from keras_layer_cases import CASES, FUNCTIONS, STARTS, Data  # noqa: E402


def rounded(value):
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(v) for v in value]
    if isinstance(value, np.generic):
        return rounded(value.item())
    return value


def symbolic_shape(case):
    """The shape that a functional model sees, with an unknown batch."""
    layer, args, kwargs, _ = made(case, keras)
    inputs = tf.nest.map_structure(lambda a: keras.KerasTensor((None, *a.shape[1:]), dtype=a.dtype.name), args)
    kwargs = {k: v for k, v in kwargs.items() if k in ("training", "use_causal_mask", "return_attention_scores")}
    outputs = layer(*inputs, **kwargs)
    return [list(t.shape) for t in tf.nest.flatten(outputs)]


def main():
    path = FOLDER / "keras_layers.json"
    reference = {"layers": {}, "functions": {}, "starts": {}}
    if "--new" in sys.argv:
        reference = json.loads(path.read_text())
    reference["keras"] = keras.__version__
    for case in CASES:
        if case[0] in reference["layers"]:
            continue
        keras.utils.clear_session()
        found = answers(case, keras, tf)
        try:
            keras.utils.clear_session()
            found["symbolic"] = symbolic_shape(case)
        except Exception as error:  # noqa: BLE001
            print(case[0], "has no symbolic shape:", str(error)[:80])
        reference["layers"][case[0]] = found
    for text in FUNCTIONS:
        if text in reference["functions"]:
            continue
        value = evaluated(text, Data(text), keras=keras)
        arrays = [np.asarray(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
        reference["functions"][text] = [[a.dtype.name, a.tolist()] for a in arrays]
    for layer, shape in STARTS:
        if layer not in reference["starts"]:
            reference["starts"][layer] = start(layer, shape, keras)
    text = json.dumps(rounded(reference), separators=(",", ":"), sort_keys=True)
    path.write_text(text + "\n")
    print(len(text), "bytes")


if __name__ == "__main__":
    main()
