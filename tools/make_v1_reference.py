#!/usr/bin/env python3
"""Runs the programs of tests/python/v1_programs.py and v1_order_programs.py with TensorFlow's compat.v1 and writes down
what they give.

    /path/to/python/with/tensorflow tools/make_v1_reference.py
    /path/to/python/with/tensorflow tools/make_v1_reference.py --new    # only programs that have no answer yet
"""
import json
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"
sys.path.insert(0, str(FOLDER))


def plain(value):
    """Numbers, lists and texts only."""
    import numpy as np
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def main():
    import numpy as np
    import tensorflow.compat.v1 as tf
    import v1_order_programs
    import v1_programs
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    path = FOLDER / "v1_reference.json"
    answers = json.loads(path.read_text()) if "--new" in sys.argv else {}
    for name, program in {**v1_programs.PROGRAMS, **v1_order_programs.PROGRAMS}.items():
        if name in answers:
            continue
        found = []
        for _ in range(4 if name in v1_order_programs.PROGRAMS else 1):
            tf.reset_default_graph()
            try:
                found.append(plain(program(tf, np)))
            except Exception as error:  # reported: the program is wrong
                print(f"{name}: {type(error).__name__}: {error}")
        if any(f != found[0] for f in found):
            print(f"{name}: not the same every time: {found}")
        answers[name] = found[0]
    path.write_text(json.dumps(answers, indent=0) + "\n")
    print(f"{len(answers)} programs with TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
