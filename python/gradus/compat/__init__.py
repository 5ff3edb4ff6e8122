"""gradus.compat.v1: the names and the way of working of TensorFlow 1."""
import importlib


def __getattr__(name):
    if name in ("v1", "v2"):
        return importlib.import_module("gradus.compat.v1" if name == "v1" else "gradus")
    raise AttributeError(f"module 'gradus.compat' has no attribute '{name}'")


def as_text(bytes_or_text, encoding="utf-8"):
    """A str."""
    return bytes_or_text.decode(encoding) if isinstance(bytes_or_text, bytes) else bytes_or_text


def as_bytes(bytes_or_text, encoding="utf-8"):
    """Bytes."""
    return bytes_or_text.encode(encoding) if isinstance(bytes_or_text, str) else bytes_or_text


def as_str_any(value, encoding="utf-8"):
    """A str of anything."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


as_str = as_text
