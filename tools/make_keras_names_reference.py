#!/usr/bin/env python3
"""Writes Keras's answers to tests/python/keras_names_cases.py into tests/python/keras_names.json.

Run with a Python that has TensorFlow and Keras 3: tools/make_keras_names_reference.py [case ...]
"""
import json
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ["COLUMNS"] = "80"

HERE = pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"
sys.path.insert(0, str(HERE))

import keras  # noqa: E402
import keras_names_cases  # noqa: E402
import tensorflow as tf  # noqa: E402

path = HERE / "keras_names.json"
answers = json.loads(path.read_text()) if path.exists() and len(sys.argv) > 1 else {}
for name in sys.argv[1:] or keras_names_cases.CASES:
    keras.utils.clear_session()
    keras.utils.set_random_seed(1)
    answers[name] = keras_names_cases.CASES[name](keras, tf)
    print(name, flush=True)
path.write_text(json.dumps(answers, ensure_ascii=False, separators=(",", ":")) + "\n")
