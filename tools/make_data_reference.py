#!/usr/bin/env python3
"""Writes tests/python/data_reference.json: what an installed TensorFlow answers to the lines of data_cases.py.

    python tools/make_data_reference.py          # with a Python that has tensorflow
"""
import json
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests/python"
sys.path.insert(0, str(TESTS))

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import data_cases  # noqa: E402


def main():
    with open(TESTS / "data_reference.json", "w") as file:
        file.write(json.dumps({"tensorflow": tf.__version__}) + "\n")
        for line in data_cases.LINES:
            tf.random.set_seed(1)
            names = data_cases.namespace(tf, np)
            file.write(json.dumps({line: names["plain"](eval(line, names))}) + "\n")  # noqa: S307
    print(f"{len(data_cases.LINES)} answers of TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
