"""keras.utils."""
from .._serialization import (CustomObjectScope, custom_object_scope, deserialize_keras_object,  # noqa: F401
                              get_custom_objects, get_registered_name, get_registered_object,
                              register_keras_serializable,
                              serialize_keras_object)
from .._data import pack_x_y_sample_weight, unpack_x_y_sample_weight  # noqa: F401
from .._variable import standardize_dtype  # noqa: F401
from ._arrays import normalize, pad_sequences, split_dataset, to_categorical  # noqa: F401
from ._dataset import PyDataset, Sequence  # noqa: F401
from ._plot import model_to_dot, plot_model  # noqa: F401
from ._progbar import Progbar  # noqa: F401


_LAZY = {  # what needs files, and with them more modules
    "get_file": "_files", "timeseries_dataset_from_array": "_files", "text_dataset_from_directory": "_folders",
    "image_dataset_from_directory": "_folders", "load_img": "_images", "img_to_array": "_images",
    "array_to_img": "_images", "save_img": "_images",
}


def __getattr__(name):
    if name in _LAZY:
        import importlib
        return getattr(importlib.import_module("." + _LAZY[name], __name__), name)
    if name == "audio_dataset_from_directory":
        raise AttributeError(f"keras.utils.{name} is not covered. docs/api-coverage.md lists what is there.")
    raise AttributeError(f"module 'keras.utils' has no attribute '{name}'")


def set_random_seed(seed):
    """Seeds Python's, NumPy's and the engine's random numbers."""
    if not isinstance(seed, int):
        raise ValueError(f"Expected `seed` argument to be an integer. Received: seed={seed} (of type {type(seed)})")
    import random

    import numpy as np

    import gradus as tf
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)
    from .. import _state
    _state.global_seed = seed
    for reset in _state.on_seed:
        reset(seed)


def is_interactive_logging_enabled():
    from .. import config
    return config.is_interactive_logging_enabled()


def enable_interactive_logging():
    """Progress bars are printed to the standard output."""
    from .. import config
    config.enable_interactive_logging()


def disable_interactive_logging():
    """Progress bars go to the log of the module."""
    from .. import config
    config.disable_interactive_logging()


def get_source_inputs(tensor):
    """The inputs from which a symbolic tensor is made."""
    found, stack = [], [tensor]
    while stack:
        x = stack.pop(0)
        operation, node, _ = x._keras_history
        node = operation._inbound_nodes[node]
        if node.is_input:
            if not any(own is x for own in found):
                found.append(x)
        else:
            stack.extend(node.inputs)
    return found


def is_keras_tensor(x):
    from .._operation import is_keras_tensor as check
    return check(x)


def clear_session(free_memory=True):
    """Starts automatic names again."""
    from .. import _state
    _state.clear_session(free_memory)
