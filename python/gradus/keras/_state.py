"""What all of Keras shares: automatic names, defaults (floatx, epsilon, data format), and the masks of tensors."""
import functools
import re
import weakref

from .. import _core

_Tensor = _core.Tensor
_counters = {}
_floatx, _epsilon, _data_format = "float32", 1e-7, "channels_last"
_FLOATS = ("bfloat16", "float16", "float32", "float64")


@functools.lru_cache(1024)
def to_snake_case(name):
    """MyDense2D becomes my_dense2d."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def auto_name(prefix):
    """dense, dense_1, dense_2 ..."""
    prefix = to_snake_case(prefix)
    count = _counters.get(prefix, 0)
    _counters[prefix] = count + 1
    return f"{prefix}_{count}" if count else prefix


def uniquify(name):
    """The name if it was not used, else with a number behind it."""
    return auto_name(name)


def get_uid(prefix=""):
    """1, 2, 3 ... for each prefix."""
    _counters[prefix] = count = _counters.get(prefix, 0) + 1
    return count


def clear_session(free_memory=True):
    """Starts automatic names again."""
    _counters.clear()


def floatx():
    """The dtype of layers that are not told one."""
    return _floatx


def set_floatx(value):
    global _floatx
    if value not in _FLOATS:
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of {set(_FLOATS)}")
    _floatx = str(value)


def epsilon():
    """The small number that keeps divisions finite."""
    return _epsilon


def set_epsilon(value):
    global _epsilon
    _epsilon = value
    _core._set_epsilon(value)


def image_data_format():
    """'channels_last' or 'channels_first'."""
    return _data_format


def set_image_data_format(data_format):
    global _data_format
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("The `data_format` argument must be one of {'channels_first', 'channels_last'}. "
                         f"Received: data_format={data_format}")
    _data_format = str(data_format)


# Masks belong to tensors, which have no attributes: they stand here by the tensor's address as long as it lives.
masks = {}


def get_mask(tensor):
    """The mask that a layer gave to the tensor, or None."""
    if type(tensor) is _Tensor:
        found = masks.get(id(tensor)) if masks else None
        return None if found is None else found[1]
    if not masks:
        return getattr(tensor, "_keras_mask", None)
    found = masks.get(id(tensor))
    return found[1] if found else getattr(tensor, "_keras_mask", None)


def set_mask(tensor, mask):
    """Gives a mask to the tensor, or takes it away with None."""
    if hasattr(tensor, "__dict__"):
        tensor._keras_mask = mask
    elif mask is None:
        masks.pop(id(tensor), None)
    else:
        key = id(tensor)
        masks[key] = (weakref.ref(tensor, lambda _: masks.pop(key, None)), mask)


# Grows whenever a layer gains or loses state or is frozen: lists of weights that were made before are out of date.
_version = 0


def note_change():
    global _version
    _version += 1


def version():
    return _version


# Of set_random_seed: the last seed, and what else wants to hear of it.
global_seed, on_seed = None, []
