"""The answer to one line of cases.py as plain JSON, the same way for TensorFlow and for Gradus."""
import cases


def _number(x):
    if isinstance(x, complex):
        return {"re": x.real, "im": x.imag}
    if isinstance(x, float) and (x != x or x in (float("inf"), float("-inf"))):
        return str(x)
    if isinstance(x, float):
        return float(f"{x:.9g}")
    return x


def plain(value, np):
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, (float, complex)):
        return _number(value)
    if isinstance(value, dict):
        return {str(k): plain(v, np) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [plain(v, np) for v in value]
    if hasattr(value, "dense_shape"):
        return {"rows": plain(value.values, np), "at": plain(value.indices, np)}
    if hasattr(value, "as_list"):
        return {"shape": value.as_list()}
    if hasattr(value, "numpy") or isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        flat = [plain(x, np) for x in array.reshape(-1).tolist()]
        return {"dtype": array.dtype.name, "shape": list(array.shape), "values": flat}
    raise TypeError(f"no plain form of {value!r}")


def answer(line, tf, np, names=cases.namespace):
    try:
        return plain(eval(line, names(tf, np)), np)  # noqa: S307
    except Exception as error:  # noqa: BLE001
        return {"error": [c.__name__ for c in type(error).__mro__ if c.__name__ not in ("object", "BaseException")]}
