"""Dtype policies: in which dtype a layer computes, and in which it keeps its weights."""
import gradus as _tf

from . import _state
from ._variable import standardize_dtype

_MIXED = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}


class DTypePolicy:
    """'float32' and the like: one dtype for both; 'mixed_float16' and 'mixed_bfloat16': weights in float32."""

    def __init__(self, name=None):
        if name is None:
            name = dtype_policy().name
        if not isinstance(name, str):
            raise TypeError(f"'name' must be a string, such as 'mixed_float16'. Received: name={name} (of type {type(name)})")
        self._name = name
        if name in _MIXED:
            self._compute_dtype, self._variable_dtype = _MIXED[name], "float32"
        else:
            try:
                self._compute_dtype = self._variable_dtype = standardize_dtype(name)
            except ValueError:
                raise ValueError(
                    f"Cannot convert '{name}' to a mixed precision {type(self).__name__}. Valid policies include "
                    "'mixed_float16', 'mixed_bfloat16', and the name of any float dtype such as 'float32'.") from None
        self._compute_kind = _tf.as_dtype(self._compute_dtype)
        self._quantization_mode = None
        _state_memory_note(self._compute_dtype)

    name = property(lambda self: self._name)
    compute_dtype = property(lambda self: self._compute_dtype, doc="In which layers compute.")
    variable_dtype = property(lambda self: self._variable_dtype, doc="In which weights are kept.")
    quantization_mode = property(lambda self: self._quantization_mode)

    def convert_input(self, x, autocast, dtype):
        """Floating tensors with the dtype, if autocast says so."""
        import gradus as tf
        dtype = standardize_dtype(dtype)
        if not tf.is_tensor(x):
            if not hasattr(x, "__array__"):
                return x
            x = tf.convert_to_tensor(x)
        return tf.cast(x, dtype) if autocast and x.dtype.is_floating and x.dtype != dtype else x

    def get_config(self):
        return {"name": self._name}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def __eq__(self, other):
        return type(self) is type(other) and self._name == other._name

    def __hash__(self):
        return hash(self._name)

    def __repr__(self):
        return f'<DTypePolicy "{self._name}">'


FloatDTypePolicy = DTypePolicy
_global, _cache, _noted = None, {}, False


def _state_memory_note(compute_dtype):
    """Says once that half precision saves memory here, not time."""
    global _noted
    if compute_dtype not in ("float16", "bfloat16") or _noted:
        return
    _noted = True
    if not _has_half_arithmetic():
        import sys
        print(f"gradus: this processor has no {compute_dtype} arithmetic: layers of that dtype compute in float32 and keep "
              "their results in half the memory; that is the gain.", file=sys.stderr)


def _has_half_arithmetic():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("flags"):
                    return "avx512_fp16" in line or "avx512_bf16" in line
    except OSError:
        pass
    return False


def dtype_policy():
    """The policy of layers that are not told one."""
    return get(_state.floatx()) if _global is None else _global


def set_dtype_policy(policy):
    """Sets the policy of layers that are made from now on and not told one."""
    global _global
    if policy is not None and not isinstance(policy, DTypePolicy):
        if not isinstance(policy, str):
            raise ValueError("Invalid `policy` argument. Expected the string name of a policy (such as 'mixed_float16') or a "
                             f"`DTypePolicy` instance. Received: policy={policy} (of type {type(policy)})")
        policy = DTypePolicy(policy)
    _global = policy


def get(identifier):
    """The policy that a name, a dict or a policy stands for; None is the global one."""
    if identifier is None:
        return dtype_policy()
    if isinstance(identifier, DTypePolicy):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if not isinstance(identifier, str):
        try:
            identifier = standardize_dtype(identifier)
        except (TypeError, ValueError):
            raise ValueError("Cannot interpret `dtype` argument. Expected a string or an instance of DTypePolicy. Received: "
                             f"dtype={identifier}") from None
    found = _cache.get(identifier)
    if found is None:
        found = _cache[identifier] = DTypePolicy(identifier)
    return found


def serialize(dtype_policy):
    """The dict from which `deserialize` makes the policy again."""
    policy = dtype_policy
    return {"module": "keras", "class_name": type(policy).__name__, "config": policy.get_config(),
            "registered_name": None}


def deserialize(config, custom_objects=None):
    """The policy that `serialize` wrote down."""
    if not isinstance(config, dict):
        return get(config)
    return (custom_objects or {}).get(config.get("class_name"), DTypePolicy).from_config(config["config"])
