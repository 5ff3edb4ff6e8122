"""TensorFlow 1: graphs that are built, and sessions that run them.

    import gradus.compat.v1 as tf

    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.Variable(tf.zeros([3, 1]))
    y = tf.matmul(x, w)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print(sess.run(y, {x: [[1, 2, 3]]}))

What this namespace makes belongs to the default graph. A tensor of a graph is the traced tensor of the engine
(gradus/graph_program.h), so every function of gradus works on it; here they also make nodes of constants, and have the
argument names that they had.
"""
import builtins as _builtins
import math as _math
import sys as _sys
import types as _types

import gradus as _tf
from gradus import (DType, IndexedSlices, Tensor, TensorShape, TensorSpec, UnconnectedGradients, VariableAggregation,  # noqa: F401
                    VariableSynchronization, as_dtype, custom_gradient, dtypes, errors, is_tensor, nest, newaxis)

from ... import _core, _missing
from . import _contrib, _control, _data, _functions, _initializers, _layers, _losses, _metrics, _monitored, _nn, _program, \
    _python, _rnn, _saver, _session, _train, _unranked, _variables
from ._control import *  # noqa: F401, F403
from ._functions import (NoGradient, NotDifferentiable, RegisterGradient, gradients, group, hessians, identity, in_graph,  # noqa: F401
                         no_op, with_dependencies)
from ._functions import tuple_ as tuple  # noqa: A004, F401
from ._graph_def import GraphDef, NodeDef  # noqa: F401
from ._graph import Dimension, Graph, Operation, get_default_graph, reset_default_graph  # noqa: F401
from ._initializers import *  # noqa: F401, F403
from ._program import (FLAGS, ConfigProto, GPUOptions, GraphOptions, OptimizerOptions, RunMetadata, RunOptions, app,  # noqa: F401
                       flags, get_seed, logging, set_random_seed, summary)
from ._python import (Assert, Print, assert_equal, assert_greater, assert_greater_equal, assert_less, assert_less_equal,  # noqa: F401
                      assert_positive, assert_rank, check_numerics, numpy_function, py_func, py_function)
from ._python import print_ as print  # noqa: A004, F401
from ._session import IndexedSlicesValue, InteractiveSession, Session, get_default_session  # noqa: F401
from ._unranked import placeholder as _unranked_placeholder
from ._variables import (AUTO_REUSE, GraphKeys, Variable, VariableScope, all_variables, assign, assign_add, assign_sub,  # noqa: F401
                         disable_resource_variables, enable_resource_variables, get_local_variable, get_variable,
                         get_variable_scope, global_variables, global_variables_initializer, initialize_all_variables,
                         initialize_local_variables, initialize_variables, is_variable_initialized, local_variables,
                         local_variables_initializer, model_variables, moving_average_variables, no_regularizer,
                         report_uninitialized_variables, resource_variables_enabled, scatter_add, scatter_nd_add,
                         scatter_nd_update, scatter_sub, scatter_update, tables_initializer, trainable_variables,
                         variable_op_scope, variable_scope, variables_initializer)

__version__ = "1.15.0"
VERSION = __version__

# What TensorFlow calls the nodes that functions make, where that is not the function's own name.
_KINDS = {"matmul": "MatMul", "reduce_mean": "Mean", "reduce_sum": "Sum", "reduce_max": "Max", "reduce_min": "Min",
          "reduce_prod": "Prod", "reduce_all": "All", "reduce_any": "Any", "reduce_logsumexp": "logsumexp",
          "argmax": "ArgMax", "argmin": "ArgMin", "add": "Add", "subtract": "Sub", "multiply": "Mul",
          "divide": "truediv", "square": "Square", "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "tanh": "Tanh",
          "sigmoid": "Sigmoid", "relu": "Relu", "relu6": "Relu6", "elu": "Elu", "selu": "Selu", "softmax": "Softmax",
          "log_softmax": "LogSoftmax", "softplus": "Softplus", "cast": "Cast", "reshape": "Reshape",
          "equal": "Equal", "not_equal": "NotEqual", "less": "Less", "greater": "Greater", "less_equal": "LessEqual",
          "greater_equal": "GreaterEqual", "identity": "Identity", "constant": "Const", "pow": "Pow", "abs": "Abs",
          "negative": "Neg", "maximum": "Maximum", "minimum": "Minimum", "sign": "Sign", "round": "Round",
          "floor": "Floor", "ceil": "Ceil", "sin": "Sin", "cos": "Cos", "shape": "Shape", "size": "Size",
          "rank": "Rank", "squeeze": "Squeeze", "expand_dims": "ExpandDims", "gather": "GatherV2",
          "gather_nd": "GatherNd", "where": "Select", "stop_gradient": "StopGradient", "slice": "Slice", "pad": "Pad",
          "tile": "Tile", "fill": "Fill", "add_n": "AddN", "cumsum": "Cumsum", "bias_add": "BiasAdd",
          "l2_loss": "L2Loss", "logical_and": "LogicalAnd", "logical_or": "LogicalOr", "logical_not": "LogicalNot",
          "rsqrt": "Rsqrt", "reciprocal": "Reciprocal"}

# Not functions of a graph.
_PLAIN = {"as_dtype", "is_tensor", "custom_gradient", "grad", "value_and_grad", "jvp", "vjp", "hvp", "jacobian",
          "hessian", "linearize", "function", "init_scope", "executing_eagerly", "inside_function", "recompute_grad",
          "get_static_value", "broadcast_static_shape", "control_dependencies", "device", "group", "no_op", "tuple",
          "print", "identity", "constant", "convert_to_tensor", "placeholder", "set_seed", "cond", "while_loop", "case",
          "switch_case", "py_function", "numpy_function", "Assert", "map_fn", "scan", "foldl", "foldr", "name_scope",
          "vectorized_map", "grad_pass_through", "get_global_generator", "set_global_generator"}


def _counted(function):
    """How many results calls of functions with several have."""
    name = function.__name__
    if name == "moments":
        return lambda *args, **kwargs: 2
    if name in ("unstack", "split"):
        def count(*args, **kwargs):
            number = kwargs.get("num", kwargs.get("num_or_size_splits", args[1] if len(args) > 1 else None))
            if number is None:
                raise ValueError(f"tf.{name} of a tensor of unknown shape needs to be told the number of parts")
            return len(number) if hasattr(number, "__len__") else int(number)
        return count
    if name in ("top_k", "unique", "clip_by_global_norm"):
        return lambda *args, **kwargs: 2
    return None


def _wrap_all(source, target):
    for name, found in list(vars(source).items()):
        if name.startswith("_") or name in vars(target) or isinstance(found, (type, _types.ModuleType)):
            continue
        if not callable(found):
            continue
        is_function = isinstance(found, (_types.FunctionType, _types.BuiltinFunctionType))
        if not is_function or name in _PLAIN or found.__module__ in ("contextlib", "enum"):
            continue
        setattr(target, name, in_graph(found, _KINDS.get(name, name), count=_counted(found)))


_this = _sys.modules[__name__]
squeeze = in_graph(_functions.squeeze, "Squeeze")


def _module(name):
    full = f"{__name__}.{name}"
    module = _sys.modules.get(full)
    if module is None:
        module = _sys.modules[full] = _types.ModuleType(full)
        if "." not in name:
            setattr(_this, name, module)
    return module


for _name in ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 "
              "complex128 half double").split():
    setattr(_this, _name, getattr(_tf, _name))

_wrap_all(_tf, _this)
for _name in ("math", "nn", "linalg", "random", "bitwise", "signal"):
    _missing.load_all(getattr(_tf, _name))
    _wrap_all(getattr(_tf, _name), _module(_name))
_nn.publish(nn)  # noqa: F821

# Names that moved later.
for _name in ("log", "log1p", "expm1", "rsqrt", "reciprocal", "erf", "erfc", "lgamma", "digamma", "ceil", "floordiv",
              "floormod", "is_nan", "is_inf", "is_finite", "cumprod", "segment_sum", "segment_mean", "segment_max",
              "unsorted_segment_sum", "unsorted_segment_mean", "unsorted_segment_max", "squared_difference",
              "logical_xor", "igamma", "igammac", "zeta", "polygamma", "betainc", "real", "imag", "conj", "angle",
              "count_nonzero", "confusion_matrix", "bincount", "rint", "xlogy", "xdivy", "truediv", "invert_permutation",
              "accumulate_n", "softplus", "sigmoid", "log_sigmoid", "top_k", "reduce_euclidean_norm", "reduce_std",
              "reduce_variance", "cumulative_logsumexp", "polyval", "atan2", "is_non_decreasing",
              "is_strictly_increasing"):
    if not hasattr(_this, _name) and hasattr(math, _name):  # noqa: F821
        setattr(_this, _name, getattr(math, _name))  # noqa: F821
for _name in ("cholesky", "diag", "diag_part", "matrix_transpose", "det", "inv", "logdet", "band_part", "trace",
              "triangular_solve", "solve", "qr", "global_norm", "cholesky_solve", "cross", "set_diag", "eigh", "lstsq", "svd"):
    if hasattr(linalg, _name):  # noqa: F821
        _own = {"det": "matrix_determinant", "inv": "matrix_inverse", "band_part": "matrix_band_part",
                "diag": "matrix_diag", "diag_part": "matrix_diag_part", "triangular_solve": "matrix_triangular_solve",
                "solve": "matrix_solve", "set_diag": "matrix_set_diag", "eigh": "self_adjoint_eig",
                "lstsq": "matrix_solve_ls"}.get(_name, _name)
        if not hasattr(_this, _own):
            setattr(_this, _own, getattr(linalg, _name))  # noqa: F821


def _alias(new, *old):
    for module in (_this, math):  # noqa: F821
        if hasattr(module, new):
            for name in old:
                setattr(_this, name, getattr(module, new))
            return


_alias("divide", "realdiv")
_alias("multiply", "mul")
_alias("subtract", "sub")
_alias("negative", "neg")
_alias("argmax", "arg_max")
_alias("argmin", "arg_min")
_alias("floormod", "mod")
_alias("stack", "pack")
_alias("unstack", "unpack")
_alias("reverse", "reverse_v2")
_alias("concat", "concat_v2")
_alias("is_nan", "is_nan")
nn.sigmoid, nn.tanh, nn.log_softmax = _this.sigmoid, _this.tanh, nn.log_softmax  # noqa: F821


def _div_no_nan(x, y, name=None):
    """x / y, and 0 where y is 0."""
    return _tf.math.divide_no_nan(x, y)


div_no_nan = in_graph(_div_no_nan, "div_no_nan")


def _div(x, y, name=None):
    """Python 2's division: of integers, rounded down."""
    x = _tf.convert_to_tensor(x)
    y = _tf.convert_to_tensor(y, x.dtype)
    return x // y if x.dtype.is_integer else x / y


div = in_graph(_div, "div")


# -------------------------------------------------------------------- making tensors


def placeholder(dtype, shape=None, name=None):
    """A value that each run is fed."""
    if isinstance(shape, (list, _builtin_tuple)):
        shape = [getattr(s, "value", s) for s in shape]
    sizes = TensorShape(shape)
    if sizes.rank is None:
        return _unranked_placeholder(dtype, name)
    graph = get_default_graph()
    if graph.finalized:
        raise RuntimeError("Graph is finalized and cannot be modified.")
    full = graph.unique_name(name or "Placeholder")
    made = _core._program_placeholder(graph._program, as_dtype(dtype), [-1 if s is None else s for s in sizes.as_list()],
                                      full)
    graph._record(full, "Placeholder", [], [_core._place(made)[1]], [])
    return made


_builtin_tuple = type(())


def placeholder_with_default(input, shape, name=None):  # noqa: A002
    """The input, unless a run is fed another value of its shape."""
    given = _functions.to_tensor(input)
    if not _tf.TensorShape(shape).is_compatible_with(given.shape):
        raise ValueError(f"Shapes must be compatible: the default has shape {given.shape}, the placeholder {shape}")
    return identity(given, name=name or "PlaceholderWithDefault")


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A value as a node of the graph; if there are fewer elements than the shape has, the last one is repeated."""
    graph = get_default_graph()
    if shape is not None:
        value = _of_shape(_plain_sizes(value), shape, verify_shape)
    with graph.inside():
        made = _tf.constant(_plain_sizes(value), dtype, shape) if shape is not None else _tf.constant(
            _plain_sizes(value), dtype)
    if _core._traced_name(made) is not None:
        return made
    return graph._constant(made, name or "Const")


def _of_shape(value, shape, verify_shape):
    import numpy as np
    if isinstance(value, _core.Tensor) or isinstance(shape, _core.Tensor):
        return value
    array, sizes = np.asarray(value), _tf.TensorShape(shape).as_list()
    if verify_shape and list(array.shape) != sizes:
        raise TypeError(f"Expected Tensor's shape: {_builtins.tuple(sizes)}, got {array.shape}.")
    count = _math.prod(sizes)
    if array.size in (0, 1, count) or array.size > count:
        return value
    return np.concatenate([array.ravel(), np.repeat(array.ravel()[-1:], count - array.size)]).reshape(sizes).astype(
        "float32" if array.dtype == "float64" and not isinstance(value, np.ndarray) else array.dtype)


class AggregationMethod:
    """How gradients of a variable are added up: they are all the same here."""
    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE, EXPERIMENTAL_ACCUMULATE_N = 1, 2


def _plain_sizes(value):
    if isinstance(value, Dimension):
        return int(value)
    return value


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    """A tensor of the graph; preferred_dtype (dtype_hint) is its dtype where the value can have it."""
    hint = preferred_dtype if preferred_dtype is not None else dtype_hint
    if dtype is None and hint is not None and not hasattr(value, "dtype"):
        try:
            return _functions.to_tensor(_tf.convert_to_tensor(value, hint), None, name)
        except (TypeError, ValueError):
            pass
    return _functions.to_tensor(value, dtype, name)


def _random(function, kind):
    return in_graph(function, kind)


def _random_uniform(shape, minval=0, maxval=None, dtype=_tf.float32, seed=None, name=None):
    """Uniformly distributed numbers."""
    return _tf.random.uniform(shape, minval, maxval, dtype, seed)


def _multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """Class numbers, drawn by their logits."""
    return _tf.random.categorical(logits, num_samples, output_dtype or _tf.int64, seed)


def _categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Class numbers, drawn by their logits."""
    return _tf.random.categorical(logits, num_samples, dtype or _tf.int64, seed)


random_normal = random.normal = random.random_normal = _random(_tf.random.normal, "random_normal")  # noqa: F821
truncated_normal = random.truncated_normal = _random(_tf.random.truncated_normal, "truncated_normal")  # noqa: F821
random_uniform = random.uniform = random.random_uniform = _random(_random_uniform, "random_uniform")  # noqa: F821
random_shuffle = random.shuffle = _random(_tf.random.shuffle, "RandomShuffle")  # noqa: F821
multinomial = random.multinomial = _random(_multinomial, "multinomial")  # noqa: F821
random.categorical = _random(_categorical, "categorical")  # noqa: F821
random.set_random_seed = set_random_seed  # noqa: F821


def _to(dtype):
    def convert(x, name=None):
        return _tf.cast(x, dtype)
    convert.__name__ = "to_" + dtype.name
    return in_graph(convert, "Cast")


to_float, to_double, to_int32, to_int64 = _to(float32), _to(float64), _to(int32), _to(int64)  # noqa: F821
to_bfloat16, to_complex64, to_complex128 = _to(bfloat16), _to(complex64), _to(complex128)  # noqa: F821


def _where(condition, x=None, y=None, name=None):
    """x where the condition holds, else y; a condition with one axis chooses rows."""
    condition = _tf.convert_to_tensor(condition)
    if x is None or y is None:
        if x is not None or y is not None:
            raise ValueError("x and y must both be non-None or both be None.")
        return _tf.where(condition)
    x, y = _tf.convert_to_tensor(x), _tf.convert_to_tensor(y)
    if condition.shape.rank == 1 and x.shape.rank is not None and x.shape.rank > 1:
        condition = _tf.reshape(condition, [-1] + [1] * (x.shape.rank - 1))
    return _tf.where(condition, x, y)


where = in_graph(_where, "Select")
where_v2 = in_graph(_tf.where, "SelectV2")


def _expand_dims(input, axis=None, name=None, dim=None):  # noqa: A002
    """A new axis of size 1."""
    return _tf.expand_dims(input, dim if axis is None else axis)


def _argmax(input, axis=None, name=None, dimension=None, output_type=_tf.int64):  # noqa: A002
    """The position of the largest element."""
    axis = dimension if axis is None else axis
    return _tf.argmax(input, 0 if axis is None else axis, output_type)


def _argmin(input, axis=None, name=None, dimension=None, output_type=_tf.int64):  # noqa: A002
    """The position of the smallest element."""
    axis = dimension if axis is None else axis
    return _tf.argmin(input, 0 if axis is None else axis, output_type)


expand_dims = in_graph(_expand_dims, "ExpandDims")
argmax = arg_max = math.argmax = in_graph(_argmax, "ArgMax")  # noqa: F821
argmin = arg_min = math.argmin = in_graph(_argmin, "ArgMin")  # noqa: F821


def _tensor_shape(input, name=None, out_type=_tf.int32):  # noqa: A002
    """The sizes, as a tensor."""
    return _tf.shape(input, out_type)


shape = in_graph(_tensor_shape, "Shape")


def _gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """Rows by number, or slices along an axis."""
    return _tf.gather(params, indices, axis=0 if axis is None else axis, batch_dims=batch_dims)


gather = in_graph(_gather, "GatherV2")


def _batch_gather(params, indices, name=None):
    """Elements of each row, by number."""
    indices = _tf.convert_to_tensor(indices)
    return _tf.gather(params, indices, batch_dims=indices.shape.rank - 1)


batch_gather = in_graph(_batch_gather, "BatchGather")


def _norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):  # noqa: A002
    """A norm of vectors or matrices."""
    return _tf.norm(tensor, ord, axis, True if keepdims or keep_dims else False)


norm = in_graph(_norm, "norm")


def _batch_matmul(x, y, adj_x=False, adj_y=False, name=None):
    """Products of the matrices in the last two axes."""
    return _tf.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y)


batch_matmul = in_graph(_batch_matmul, "BatchMatMul")


# -------------------------------------------------------------------- the graph


def control_dependencies(control_inputs):
    """Nodes made in this context run after these operations and tensors."""
    return get_default_graph().control_dependencies(control_inputs)


class name_scope:  # noqa: N801
    """A prefix for the names of nodes."""

    def __init__(self, name, default_name=None, values=None):
        self._name = default_name if name is None else name

    name = property(lambda self: self._name)

    def __enter__(self):
        self._context = get_default_graph().name_scope(self._name)
        return self._context.__enter__()

    def __exit__(self, *error):
        return self._context.__exit__(*error)


def op_scope(values, name, default_name=None):
    return name_scope(name, default_name)


def device(device_name_or_function):
    """Accepted: there is one device, the CPU."""
    return get_default_graph().device(device_name_or_function)


def colocate_with(op, ignore_existing=False):
    """Accepted: there is one device."""
    return get_default_graph().colocate_with(op)


def container(container_name):
    """Accepted."""
    return get_default_graph().device(container_name)


def init_scope():
    """What is made in this context waits for nothing."""
    return get_default_graph().control_dependencies(None)


def add_to_collection(name, value):
    """Adds to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    get_default_graph().add_to_collections(names, value)


def get_collection(key, scope=None):
    """A copy of a collection of the default graph."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    return get_default_graph().get_collection_ref(key)


def executing_eagerly():
    """False: this namespace makes graphs."""
    return False


def _accepted(*args, **kwargs):
    """Accepted: this namespace works as TensorFlow 1 does, without being told."""


disable_v2_behavior = disable_eager_execution = disable_v2_tensorshape = disable_tensor_equality = _accepted
disable_control_flow_v2 = enable_control_flow_v2 = enable_v2_tensorshape = _accepted


def enable_eager_execution(*args, **kwargs):
    """Not here."""
    raise RuntimeError("gradus.compat.v1 makes graphs; `import gradus as tf` runs operations at once")


enable_v2_behavior = enable_eager_execution


# -------------------------------------------------------------------- modules

train = _module("train")
for _source in (_train, _saver, _monitored):
    for _name, _found in list(vars(_source).items()):
        if not _name.startswith("_") and getattr(_found, "__module__", "").startswith("gradus.compat.v1._") or (
                _name in ("exponential_decay", "piecewise_constant", "piecewise_constant_decay", "polynomial_decay",
                          "natural_exp_decay", "inverse_time_decay", "cosine_decay")):
            setattr(train, _name, _found)
for _name in ("CheckpointReader", "CheckpointState", "NewCheckpointReader", "checkpoint_exists", "get_checkpoint_state",
              "latest_checkpoint", "list_variables", "load_variable"):
    setattr(train, _name, getattr(_saver, _name))

layers, losses, metrics = _module("layers"), _module("losses"), _module("metrics")
for _module_, _source in ((layers, _layers), (losses, _losses), (metrics, _metrics)):
    for _name, _found in list(vars(_source).items()):
        if not _name.startswith("_") and getattr(_found, "__module__", None) == _source.__name__:
            setattr(_module_, _name, _found)
layers.max_pooling2d, layers.average_pooling2d = _layers.max_pooling2d, _layers.average_pooling2d
layers.Dense, layers.Conv2D, layers.Conv1D = _layers.Dense, _layers.Conv2D, _layers.Conv1D
layers.BatchNormalization = _layers.BatchNormalization

initializers = _module("initializers")
for _new, _old in (("zeros", "zeros_initializer"), ("ones", "ones_initializer"), ("constant", "constant_initializer"),
                   ("random_uniform", "random_uniform_initializer"), ("random_normal", "random_normal_initializer"),
                   ("truncated_normal", "truncated_normal_initializer"), ("orthogonal", "orthogonal_initializer"),
                   ("variance_scaling", "variance_scaling_initializer"), ("identity", "identity_initializer"),
                   ("glorot_uniform", "glorot_uniform_initializer"), ("glorot_normal", "glorot_normal_initializer"),
                   ("he_uniform", "he_uniform"), ("he_normal", "he_normal"), ("lecun_uniform", "lecun_uniform"),
                   ("lecun_normal", "lecun_normal")):
    setattr(initializers, _new, getattr(_initializers, _old))
_rnn.publish(nn, _module)  # noqa: F821
_data.publish(_module)
_contrib.publish(_module)

_INSTEAD = {
    "estimator": "write the training loop with a session",
    "examples": "tf.examples is not covered: load the data with NumPy",
    "keras": "use gradus.keras with `import gradus as tf`",
    "sparse_placeholder": "not covered: feed indices and values, and make a tf.SparseTensor of them",
    "FIFOQueue": "queues are not covered: feed the data",
}


_AS_IN_TF2 = ("RaggedTensor", "SparseTensor", "config", "image", "io", "lookup", "ragged",
              "sets", "sparse", "string", "strings", "version")
_OF_FILES = {"Copy": "copy", "DeleteRecursively": "rmtree", "Exists": "exists", "FastGFile": "GFile", "GFile": "GFile",
             "Glob": "glob", "IsDirectory": "isdir", "ListDirectory": "listdir", "MakeDirs": "makedirs", "MkDir": "mkdir",
             "Open": "GFile", "Remove": "remove", "Rename": "rename", "Stat": "stat", "Walk": "walk"}
_OF_SPARSE = {"sparse_tensor_to_dense": "to_dense", "sparse_tensor_dense_matmul": "sparse_dense_matmul",
              "sparse_matmul": "sparse_dense_matmul", "sparse_reduce_sum": "reduce_sum", "sparse_add": "add",
              "sparse_reorder": "reorder", "sparse_reshape": "reshape", "sparse_transpose": "transpose",
              "sparse_concat": "concat", "sparse_retain": "retain", "sparse_softmax": "softmax",
              "SparseTensorValue": "SparseTensorValue"}


def __getattr__(name):
    if name in ("FixedLenFeature", "VarLenFeature"):
        return getattr(_tf.io, name)
    if name in _AS_IN_TF2:
        return getattr(_tf, name)
    if name == "gfile":
        for old, new in _OF_FILES.items():
            setattr(_module("gfile"), old, getattr(_tf.io.gfile, new))
        return _module("gfile")
    if name == "python_io":
        _module("python_io").TFRecordWriter = _tf.io.TFRecordWriter
        return _module("python_io")
    if name in _OF_SPARSE:
        return getattr(_tf.sparse, _OF_SPARSE[name])
    if name in _INSTEAD:
        raise AttributeError(f"gradus.compat.v1 has no attribute '{name}': {_INSTEAD[name]}")
    if name == "compat":
        import gradus.compat
        return gradus.compat
    raise AttributeError(f"module 'gradus.compat.v1' has no attribute '{name}'")
