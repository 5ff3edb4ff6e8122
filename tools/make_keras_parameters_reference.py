#!/usr/bin/env python3
"""Asks an installed Keras 3 (on TensorFlow) the cases of tests/python/keras_parameters, and the parameters of everything
it has, and writes tests/python/keras_parameters.json.

    /path/to/python/with/keras tools/make_keras_parameters_reference.py
    /path/to/python/with/keras tools/make_keras_parameters_reference.py --new    # only cases that have no answer yet

Numbers are rounded to six digits. A case that Keras cannot answer is reported and left out: the case is wrong.
"""
import inspect
import json
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ["KERAS_BACKEND"] = "tensorflow"
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"
sys.path.insert(0, str(FOLDER))

NAMESPACES = ("layers losses metrics optimizers optimizers.schedules initializers regularizers constraints callbacks "
              "activations ops ops.image ops.linalg ops.nn ops.numpy random utils preprocessing.image preprocessing.sequence "
              "backend config dtype_policies mixed_precision saving models tree").split()


def signatures(keras):
    """{name: [parameter, ...]} of all public functions and classes."""
    found = {}
    for namespace in NAMESPACES:
        module = keras
        for part in namespace.split("."):
            module = getattr(module, part)
        for name in sorted(dir(module)):
            value = getattr(module, name)
            if name.startswith("_") or not callable(value):
                continue
            try:
                parameters = inspect.signature(value).parameters.values()
            except (TypeError, ValueError):
                continue
            kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            found[f"{namespace}.{name}"] = [p.name for p in parameters if p.kind not in kinds and p.name != "self"]
    return found


def rounded(value):
    if isinstance(value, float) and not isinstance(value, bool):
        return float(f"{value:.6g}") if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, (list, tuple)) else value


def main():
    import keras
    import tensorflow as tf
    from keras_parameter_answers import answer
    from keras_parameters import VALUES
    path = FOLDER / "keras_parameters.json"
    known = json.loads(path.read_text())["cases"] if "--new" in sys.argv else {}
    cases = {}
    for text in VALUES:
        cases[text] = known[text] if text in known else rounded(answer(text, keras, tf))
        if "error" in cases[text]:
            print(text, "\n    ", cases.pop(text)["error"][:300])
    made = {"keras": keras.__version__, "cases": cases, "signatures": signatures(keras)}
    path.write_text(json.dumps(made, separators=(",", ":"), sort_keys=True).replace('"],"', '"],\n"').replace('},"', '},\n"') + "\n")
    print(len(cases), "cases of", len(VALUES))


if __name__ == "__main__":
    main()
