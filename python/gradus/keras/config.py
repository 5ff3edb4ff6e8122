"""keras.config: defaults."""
from ._state import (epsilon, floatx, image_data_format, set_epsilon, set_floatx, set_image_data_format)  # noqa: F401

_interactive, _filtering = True, True


def backend():
    """'tensorflow': whose functions the engine has."""
    return "tensorflow"


def enable_interactive_logging():
    """Progress bars are printed to the standard output."""
    global _interactive
    _interactive = True


def disable_interactive_logging():
    global _interactive
    _interactive = False


def is_interactive_logging_enabled():
    return _interactive


def enable_traceback_filtering():
    """Accepted; tracebacks are never cut."""
    global _filtering
    _filtering = True


def disable_traceback_filtering():
    global _filtering
    _filtering = False


def is_traceback_filtering_enabled():
    return _filtering


def enable_unsafe_deserialization():
    """Python lambdas in files are read from now on, as with safe_mode=False."""
    from . import _lambdas
    _lambdas.trust_always()


def dtype_policy():
    """The policy of layers that are not told one."""
    from . import dtype_policies
    return dtype_policies.get(None)


def set_dtype_policy(policy):
    from . import mixed_precision
    mixed_precision.set_global_policy(policy)


def set_backend(backend):
    """There is one."""
    if backend not in ("tensorflow", "gradus"):
        raise ValueError(f"There is no backend '{backend}' here: the engine is Gradus, with TensorFlow's functions")


_limits = {"epochs": None, "steps": None}


def max_epochs():
    """The most epochs that any fit makes; None is no limit."""
    return _limits["epochs"]


def set_max_epochs(max_epochs):
    _limits["epochs"] = max_epochs


def max_steps_per_epoch():
    """The most steps that any epoch makes; None is no limit."""
    return _limits["steps"]


def set_max_steps_per_epoch(max_steps_per_epoch):
    _limits["steps"] = max_steps_per_epoch


def is_flash_attention_enabled():
    return False


def enable_flash_attention():
    """Accepted; attention has one implementation."""


def disable_flash_attention():
    """Accepted; attention has one implementation."""


def is_nnx_enabled():
    return False
