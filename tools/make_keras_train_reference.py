#!/usr/bin/env python3
"""Writes tests/python/keras_train.json: what an installed Keras 3 answers to keras_train_cases.py.

    python tools/make_keras_train_reference.py          # with a Python that has tensorflow and keras
    python tools/make_keras_train_reference.py --new    # only lines that have no answer yet
"""
import json
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests/python"
sys.path.insert(0, str(TESTS))

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import answers  # noqa: E402
import keras_train_cases as cases  # noqa: E402


def answer(line):
    try:
        return answers.plain(eval(line, cases.namespace(keras, tf, np)), np)  # noqa: S307
    except Exception as error:  # noqa: BLE001
        return {"error": [type(error).__name__, str(error)[:200]]}


def dense(optimizer, g, g_bias, table, bias):
    if isinstance(g, tuple):
        rows, values = g
        g = np.zeros((4, 3), "float32")
        np.add.at(g, rows, values)
    optimizer.apply([tf.constant(g), tf.constant(g_bias)], [table, bias])


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, list):
        return [rounded(v) for v in value]
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return value


def trained(line):
    found = {}
    for kind in ("dense", "rows"):
        keras.backend.clear_session()
        found[kind] = cases.trajectory(
            lambda: eval(line, cases.namespace(keras, tf, np)), np, kind, dense,  # noqa: S307
            lambda value, name: keras.Variable(value, name=name))
    return found


def short(line, found):
    """Without what says little: steps in between, and configs but for a few."""
    for kind, one in found.items():
        if line not in cases.DETAILED or kind == "rows":
            one.pop("config", None), one.pop("names", None)
            one["seen"] = one["seen"][-1:]
    return found


def main():
    path, known = TESTS / "keras_train.json", {}
    if "--new" in sys.argv:
        for line in path.read_text().splitlines():
            known.update(json.loads(line))
    with open(path, "w") as file:
        file.write(json.dumps({"keras": keras.__version__}) + "\n")
        for line in cases.LINES:
            file.write(json.dumps({line: known.get(line) or rounded(answer(line))}) + "\n")
        for line in cases.OPTIMIZERS:
            file.write(json.dumps({line: short(line, known.get(line) or rounded(trained(line)))}) + "\n")
    print(f"{len(cases.LINES) + len(cases.OPTIMIZERS)} answers of Keras {keras.__version__}")


if __name__ == "__main__":
    main()
