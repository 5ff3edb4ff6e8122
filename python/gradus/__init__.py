"""Gradus: tensors and their derivatives, with the names of TensorFlow.

    import gradus as tf

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x ** 2
    print(tape.gradient(y, x))   # tf.Tensor(6.0, shape=(), dtype=float32)
"""
import sys as _sys
import types as _types_module

from . import _core
from . import errors, nest
from ._types import DType, IndexedSlices, TensorShape
from ._variable import Variable, VariableAggregation, VariableSynchronization

__version__ = "0.1.0"

Tensor, GradientTape, GradientBuffers = _core.Tensor, _core.GradientTape, _core.GradientBuffers
newaxis = None


def _namespace(path):
    """The module gradus.<path>, made where there is no file for it."""
    name = "gradus." + path if path else "gradus"
    module = _sys.modules.get(name)
    if module is None:
        module = _sys.modules[name] = _types_module.ModuleType(name)
        parent, _, own = path.rpartition(".")
        setattr(_namespace(parent), own, module)
    return module


def _publish():
    table = _core._functions()
    for names, _, _, function in table:
        for name in names.split():
            if name.startswith("_"):
                setattr(_core, name, function)
            else:
                path, _, own = name.rpartition(".")
                setattr(_namespace(path), own, function)


_publish()
for _name in ("DType", "IndexedSlices", "TensorShape", "Variable"):
    _core._set_class(_name, globals()[_name])
from . import _kinds  # noqa: E402, F401

for _name in ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 "
              "complex128").split():
    globals()[_name] = DType(_name)
half, double = float16, float64  # noqa: F821
dtypes = _namespace("dtypes")
for _name in ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 "
              "complex128 half double DType").split():
    setattr(dtypes, _name, globals()[_name])

from . import _types, _variable  # noqa: E402
_types._scatter_nd, _types._expand_dims = scatter_nd, expand_dims  # noqa: F821
_variable._functions = _sys.modules[__name__]

from ._compositions import *  # noqa: E402, F401, F403
from . import _compositions  # noqa: E402
_compositions.publish(_namespace)
from . import _linalg, _signal  # noqa: E402
_linalg.publish(_namespace)
_signal.publish(_namespace)
from ._effects import *  # noqa: E402, F401, F403
from ._control import *  # noqa: E402, F401, F403
from ._loops import *  # noqa: E402, F401, F403
from ._tensor_array import *  # noqa: E402, F401, F403
from ._transforms import *  # noqa: E402, F401, F403
from ._function import *  # noqa: E402, F401, F403
from . import _function  # noqa: E402
_function.publish(_namespace)
from . import autograph  # noqa: E402, F401
from .autograph import _builtins  # noqa: E402
_builtins.publish(_namespace)
from . import _embedding  # noqa: E402
_namespace("nn").embedding_lookup_sparse = _embedding.embedding_lookup_sparse
_namespace("nn").safe_embedding_lookup_sparse = _embedding.safe_embedding_lookup_sparse
from ._module import Module, name_scope  # noqa: E402, F401
from . import _missing  # noqa: E402
from ._missing import __dir__, __getattr__  # noqa: E402, F401
for _name in ("autodiff", "bitwise", "dtypes", "linalg", "math", "nn", "random", "signal"):
    _missing.complete(_name, _namespace(_name))
