#!/usr/bin/env python3
"""Writes tests/python/autograph_reference.json: what an installed TensorFlow makes of autograph_programs.py.

    python tools/make_autograph_reference.py          # with a Python that has tensorflow
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

import autograph_answers  # noqa: E402


def main():
    with open(TESTS / "autograph_reference.json", "w") as file:
        file.write(json.dumps({"tensorflow": tf.__version__}) + "\n")
        for name in autograph_answers.PROGRAMS:
            file.write(json.dumps({name: autograph_answers.answers_of(name, tf, np, tf.function)}) + "\n")
    print(f"{len(autograph_answers.PROGRAMS)} programs, TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
