"""The answer to one call of argument_cases.py as plain JSON, the same way for TensorFlow and for Gradus."""
import re

import argument_cases
import answers

_MOST = 40  # elements that are kept; of longer results the first ones, and the sum of all


def default(value):
    """The text of a default: dtypes by name, functions by theirs."""
    name = getattr(value, "name", None)
    if isinstance(name, str) and hasattr(value, "as_numpy_dtype"):
        return repr(name)
    return re.sub(r" at 0x\w+", "", repr(value))


def _array_of(proto):
    if hasattr(proto, "_array"):
        return proto._array
    import tensorflow
    return tensorflow.make_ndarray(proto)


def plain(value, np):
    if hasattr(value, "as_numpy_dtype"):
        return {"dtype": value.name}
    if hasattr(value, "row_splits") and hasattr(value, "flat_values"):
        return {"ragged": [plain(s, np) for s in value.nested_row_splits], "flat": plain(value.flat_values, np)}
    if hasattr(value, "dense_shape") and hasattr(value, "indices"):
        return {"values": plain(value.values, np), "indices": plain(value.indices, np),
                "sizes": None if value.dense_shape is None else plain(value.dense_shape, np)}
    if hasattr(value, "element_spec") and hasattr(value, "take"):
        return {"elements": [plain(e, np) for e in value.take(12)]}
    if hasattr(value, "element_shape") and hasattr(value, "gather"):
        return {"array": [value.dtype.name, int(value.size())]}
    if hasattr(value, "SerializeToString"):  # a TensorProto
        return {"proto": plain(_array_of(value), np)}
    if isinstance(value, dict):
        return {str(k): plain(v, np) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [plain(v, np) for v in value]
    if hasattr(value, "numpy") or isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        flat = array.reshape(-1)
        result = {"dtype": array.dtype.name, "shape": list(array.shape),
                  "values": [answers.plain(x, np) for x in flat[:_MOST].tolist()]}
        if flat.size > _MOST and array.dtype.kind in "fiub":
            result["sum"] = answers.plain(float(flat.astype("float64").sum()), np)
        return result
    return answers.plain(value, np)


_TENSORS = ("F", "G", "U", "V", "M", "N", "P", "X1", "X2", "X3", "W1", "W2", "W3", "IMG", "IMGS")


def _names(line):
    """The tensors that a call names."""
    return sorted(set(re.findall(r"\b[A-Z]+[0-9]?\b", line)) & set(_TENSORS))


def compiled(line, tf, np):
    """The answer of a compiled function, whose arguments are the tensors that the call names."""
    names, space = _names(line), argument_cases.namespace(tf, np)

    def call(*tensors):
        own = argument_cases.namespace(tf, np)
        own.update(zip(names, tensors))
        return eval(line, own)  # noqa: S307
    try:
        return plain(tf.function(call)(*(space[n] for n in names)), np)
    except Exception as error:  # noqa: BLE001
        return {"error": [type(error).__name__, str(error)[:200]]}


def gradient(line, tf, np):
    """The gradient of the sum of squares of all real results of a call, in the tensors that it names; None where nothing
    depends on them, an error's name where there is one."""
    names = _names(line)
    if not names or "name='given'" in line:
        return None
    space = argument_cases.namespace(tf, np)
    tf.random.set_seed(7)
    try:
        inputs = [space[n] for n in names]
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            results = [r for r in tf.nest.flatten(eval(line, space)) if tf.is_tensor(r) and hasattr(r, "dtype")  # noqa: S307
                       and hasattr(r, "numpy") and not hasattr(r, "row_splits") and r.dtype.is_floating]
            loss = tf.add_n([tf.cast(tf.reduce_sum(r * r), tf.float64) for r in results]) if results else None
        found = [None] * len(inputs) if loss is None else tape.gradient(loss, inputs)
    except Exception:  # noqa: BLE001
        return "error"
    return {n: None if g is None else plain(tf.convert_to_tensor(g), np) for n, g in zip(names, found)}


def answer(line, tf, np):
    tf.random.set_seed(7)
    try:
        return plain(eval(line, argument_cases.namespace(tf, np)), np)  # noqa: S307
    except Exception as error:  # noqa: BLE001
        return {"error": [c.__name__ for c in type(error).__mro__ if c.__name__ not in ("object", "BaseException")]}
