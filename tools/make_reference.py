#!/usr/bin/env python3
"""Writes tests/python/reference.json: what an installed TensorFlow answers to the lines of cases.py.

    python tools/make_reference.py          # with a Python that has tensorflow
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

import answers  # noqa: E402
import cases  # noqa: E402


def main():
    lines = {line: answers.answer(line, tf, np) for line in cases.LINES}
    with open(TESTS / "reference.json", "w") as file:
        file.write(json.dumps({"tensorflow": tf.__version__}) + "\n")
        for line, result in lines.items():
            file.write(json.dumps({line: result}) + "\n")
    print(f"{len(lines)} answers of TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
