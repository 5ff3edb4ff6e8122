"""Runs the programs of keras_programs, as other people write them, and gives what they print.

The programs import TensorFlow and Keras; for Gradus only these lines are changed.
"""
import contextlib
import io
import os
import pathlib
import re
import sys
import types

FOLDER = pathlib.Path(__file__).parent / "keras_programs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?|nan|inf")


def source(name, for_gradus):
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    if for_gradus:
        for old, new in ((r"^import tensorflow as tf$", "import gradus as tf"), (r"^from tensorflow\b", "from gradus"),
                         (r"^import keras$", "from gradus import keras"), (r"^from keras\b", "from gradus.keras")):
            text = re.sub(old, new, text, flags=re.M)
    return text


def printed(name, tf, folder, for_gradus):
    """What the program prints, run with a fresh start in a folder of its own."""
    os.environ["COLUMNS"] = "80"
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(1)
    path = pathlib.Path(folder) / f"{name}.py"
    path.write_text(source(name, for_gradus), encoding="utf-8")
    out, before = io.StringIO(), os.getcwd()
    module = types.ModuleType("program_" + name)
    sys.modules[module.__name__] = module
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)  # noqa: S102
    finally:
        os.chdir(before)
        del sys.modules[module.__name__]
    return out.getvalue()


def difference(mine, theirs, relative=2e-3, absolute=5e-4):
    """The first line that differs by more than rounding; None if there is none."""
    mine, theirs = mine.splitlines(), theirs.splitlines()
    if len(mine) != len(theirs):
        return f"{len(mine)} lines instead of {len(theirs)}"
    for a, b in zip(mine, theirs):
        shape = [re.sub(r"\s+", "", _NUMBER.sub("#", line)) for line in (a, b)]
        numbers = [[float(n) for n in _NUMBER.findall(line)] for line in (a, b)]
        if shape[0] != shape[1] or any(
                abs(p - q) > relative * abs(q) + absolute for p, q in zip(*numbers) if p == p or q == q):
            return f"{a}\n{b}"
    return None
