"""Python lambdas in files: written as their byte code, and read only by those who trust the file.

Byte code can do anything, and only the version of Python that wrote it understands it. So `load_model` refuses it
unless it is called with safe_mode=False (or after keras.config.enable_unsafe_deserialization()).
"""
import base64
import contextlib
import marshal
import types

_trusted = False  # inside of `trusting`, or for good


@contextlib.contextmanager
def trusting(trust):
    """What is read inside may hold code, if `trust` is true or was true outside."""
    global _trusted
    before = _trusted
    _trusted = before or trust
    try:
        yield
    finally:
        _trusted = before


def trust_always():
    global _trusted
    _trusted = True


def written(function):
    """The config of a lambda."""
    closure = None if function.__closure__ is None else [cell.cell_contents for cell in function.__closure__]
    from ._serialization import serialize_keras_object
    return {"class_name": "__lambda__",
            "config": {"code": base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii"),
                       "defaults": None if function.__defaults__ is None else list(function.__defaults__),
                       "closure": serialize_keras_object(closure)}}


def read(config, custom_objects=None):
    """The lambda of a config. Of global names it sees tf, keras, np and the custom objects."""
    if not _trusted:
        raise ValueError("Requested the deserialization of a Python lambda. This carries a potential risk of arbitrary "
                         "code execution and thus it is disallowed by default. If you trust the source of the file, pass "
                         "`safe_mode=False` to the loading function, or call "
                         "`keras.config.enable_unsafe_deserialization()`.")
    import numpy as np

    import gradus as tf
    from gradus import keras
    try:
        code = marshal.loads(base64.b64decode(config["code"]))  # noqa: S302
    except (ValueError, EOFError, TypeError) as error:
        raise ValueError("The lambda was written by another version of Python, which this one does not understand: "
                         f"{error}") from None
    names = {"tf": tf, "keras": keras, "np": np, "ops": keras.ops, "K": keras.backend, **(custom_objects or {})}
    closure = config.get("closure")
    cells = None if closure is None else tuple(types.CellType(value) for value in closure)
    defaults = config.get("defaults")
    return types.FunctionType(code, names, code.co_name, None if defaults is None else tuple(defaults), cells)
