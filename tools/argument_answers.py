#!/usr/bin/env python3
"""Asks an installed TensorFlow for the answers to the calls of tests/python/argument_cases.py, and for its signatures.

    python tools/argument_answers.py            # with a Python that has tensorflow; writes tests/python/argument_answers.json
    python tools/argument_answers.py image. nn. # only the rows of functions that begin so; the others stay as they are
"""
import inspect
import json
import logging
import os
import pathlib
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests/python"
sys.path.insert(0, str(TESTS))

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import argument_cases  # noqa: E402
import argument_plain  # noqa: E402
import range_cases  # noqa: E402

logging.getLogger("tensorflow").setLevel(logging.ERROR)
warnings.simplefilter("ignore")
FILE = TESTS / "argument_answers.json"


def find(path):
    value = tf
    for part in path.split("."):
        value = getattr(value, part)
    return value


def signature(path):
    """[name, text of the default] of each parameter; no default is null."""
    try:
        found = inspect.signature(find(path)).parameters.values()
    except (TypeError, ValueError, AttributeError):
        return None
    kinds = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [[kinds.get(p.kind, "") + p.name, None if p.default is p.empty else argument_plain.default(p.default)]
            for p in found if p.name != "self"]


def main():
    wanted = tuple(sys.argv[1:])
    answers, gradients, signatures, count = {}, {}, {}, 0
    if wanted and FILE.exists():
        for line in FILE.read_text().splitlines():
            entry = json.loads(line)
            signatures.update(entry.get("signatures", {}))
            answers.update(entry.get("call", {}))
            gradients.update(entry.get("gradient", {}))
    for row in argument_cases.rows():
        if wanted and not row.function.startswith(wanted):
            continue
        signatures[row.function] = signature(row.function)
        parameters = {name: default for name, default in signatures[row.function] or [] if not name.startswith("*")}
        for line, _ in row.lines(parameters):
            answers[line] = argument_plain.answer(line, tf, np)
            raised = isinstance(answers[line], dict) and "error" in answers[line]
            gradients[line] = None if raised else argument_plain.gradient(line, tf, np)
            count += 1
            if count % 500 == 0:
                print(count, "calls", flush=True)
    known = set()
    for row in argument_cases.rows():
        known.update(line for line, _ in row.lines(
            {n: d for n, d in signatures.get(row.function) or [] if not n.startswith("*")}))
    with open(FILE, "w") as file:
        file.write(json.dumps({"tensorflow": tf.__version__}) + "\n")
        file.write(json.dumps({"ranges": range_cases.counts(tf, np)}) + "\n")
        for name in sorted(signatures):
            file.write(json.dumps({"signatures": {name: signatures[name]}}) + "\n")
        for line, result in answers.items():
            if line in known:
                file.write(json.dumps({"call": {line: result}}) + "\n")
                if gradients.get(line) not in (None, "error"):
                    file.write(json.dumps({"gradient": {line: gradients[line]}}) + "\n")
    errors = sum(isinstance(a, dict) and "error" in a for a in answers.values())
    derived = sum(g not in (None, "error") for g in gradients.values())
    print(f"{FILE.name}: {len(known)} calls, {errors} of them errors, {derived} gradients, of TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
