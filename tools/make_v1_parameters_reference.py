#!/usr/bin/env python3
"""Asks TensorFlow's compat.v1 the cases of tests/python/v1_parameter_cases.py and the parameters of its functions, and
writes tests/python/v1_parameters.json.

    /path/to/python/with/tensorflow tools/make_v1_parameters_reference.py [--new]    # only cases without an answer
"""
import inspect
import json
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"
sys.path.insert(0, str(FOLDER))
NAMESPACES = ("", "nn", "losses", "metrics", "train", "initializers", "math", "summary", "random", "data")


def signatures(tf):
    found = {}
    for namespace in NAMESPACES:
        module = getattr(tf, namespace) if namespace else tf
        for name in sorted(dir(module)):
            try:
                value = getattr(module, name)
                if name.startswith("_") or type(value).__name__ in ("KerasLazyLoader", "module") or not callable(value):
                    continue
                parameters = inspect.signature(value).parameters.values()
            except Exception:  # noqa: BLE001, S112 - what cannot be loaded has no signature
                continue
            kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            found[f"{namespace}.{name}".lstrip(".")] = [p.name for p in parameters if p.kind not in kinds
            and p.name != "self"]
    return found


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.6g}") if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, (list, tuple)) else value


def main():
    import tensorflow.compat.v1 as tf
    from v1_parameter_cases import VALUES, answer
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    path = FOLDER / "v1_parameters.json"
    known = json.loads(path.read_text())["cases"] if "--new" in sys.argv else {}
    cases = {}
    for text in VALUES:
        cases[text] = known[text] if text in known else rounded(answer(text, tf))
        if "error" in cases[text]:
            print(text, "\n    ", cases.pop(text)["error"][:300])
    made = {"tensorflow": tf.__version__, "cases": cases, "signatures": signatures(tf)}
    path.write_text(json.dumps(made, separators=(",", ":"), sort_keys=True).replace('"],"', '"],\n"').replace('},"',
        '},\n"') + "\n")
    print(len(cases), "cases of", len(VALUES))


if __name__ == "__main__":
    main()
