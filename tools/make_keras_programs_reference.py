#!/usr/bin/env python3
"""Writes what the programs of tests/python/keras_programs print with TensorFlow into tests/python/keras_programs.json.

Run with a Python that has TensorFlow and Keras 3: tools/make_keras_programs_reference.py [program ...]
"""
import json
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

HERE = pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"
sys.path.insert(0, str(HERE))

import keras_program_runs  # noqa: E402
import tensorflow as tf  # noqa: E402

path = HERE / "keras_programs.json"
answers = json.loads(path.read_text()) if path.exists() and len(sys.argv) > 1 else {}
for name in sys.argv[1:] or keras_program_runs.NAMES:
    with tempfile.TemporaryDirectory() as folder:
        answers[name] = keras_program_runs.printed(name, tf, folder, for_gradus=False)
    print(name, flush=True)
path.write_text(json.dumps(answers, ensure_ascii=False, indent=0) + "\n")
