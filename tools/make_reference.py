#!/usr/bin/env python3
"""Writes what an installed TensorFlow answers to the lines of cases.py and of the files like it in tests/python.

    python tools/make_reference.py          # with a Python that has tensorflow
    python tools/make_reference.py kinds    # only tests/python/kinds.json
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
import gradient_cases  # noqa: E402
import image_cases  # noqa: E402
import image_file_cases  # noqa: E402
import keras_image_cases  # noqa: E402
import kind_cases  # noqa: E402
import value_cases  # noqa: E402

FILES = {"reference": cases, "kinds": kind_cases, "values": value_cases, "gradients": gradient_cases,
         "images": image_cases,
         "image_files": image_file_cases, "keras_images": keras_image_cases}


def main():
    for name in sys.argv[1:] or FILES:
        lines = {line: answers.answer(line, tf, np, FILES[name].namespace) for line in FILES[name].LINES}
        with open(TESTS / f"{name}.json", "w") as file:
            file.write(json.dumps({"tensorflow": tf.__version__}) + "\n")
            for line, result in lines.items():
                file.write(json.dumps({line: result}) + "\n")
        print(f"{name}.json: {len(lines)} answers of TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
