"""What happens when a name of the module is not there: sub-modules are loaded when first used, and what
is not covered says so."""
import sys

_LAZY = (
    "compat",
    "config",
    "data",
    "debugging",
    "distribute",
    "image",
    "io",
    "keras",
    "lookup",
    "ragged",
    "saved_model",
    "sparse",
    "strings",
    "summary",
    "test",
    "train",
)
_ELSEWHERE = {  # single names, loaded when first used, most with NumPy
    "RaggedTensor": "_ragged_functions",
    "RaggedTensorSpec": "ragged",
    "SparseTensor": "_sparse",
    "SparseTensorSpec": "_sparse",
    "dynamic_partition": "_partitions",
    "dynamic_stitch": "_partitions",
    "gradients": "_graph_gradients",
    "hessians": "_graph_gradients",
    "string": "_strings",
}
_OF_KERAS = ("initializers", "losses", "metrics", "optimizers")  # tf.losses is tf.keras.losses

INSTEAD = {
    "Session": "operations run at once; TensorFlow 1 is `import gradus.compat.v1 as tf`",
    "placeholder": "pass tensors to functions; TensorFlow 1 is `import gradus.compat.v1 as tf`",
    "feature_column": "feature columns are not covered: keras.layers has what they do (Normalization, StringLookup, ...)",
}


def _import(name):
    import importlib
    return importlib.import_module(name)


def __getattr__(name):
    if name in _ELSEWHERE:
        found = getattr(_import("gradus." + _ELSEWHERE[name]), name)
        setattr(sys.modules["gradus"], name, found)
        return found
    if name in _LAZY:
        try:
            return _import("gradus." + name)
        except ModuleNotFoundError:
            pass
    if name in _OF_KERAS:
        try:
            return _import("gradus.keras." + name)
        except ModuleNotFoundError:
            pass
    if name in INSTEAD:
        raise AttributeError(f"gradus has no attribute '{name}': {INSTEAD[name]}. docs/api-coverage.md lists what is there.")
    raise AttributeError(f"module 'gradus' has no attribute '{name}'. docs/api-coverage.md lists what is covered.")


def _of_dtypes(name):
    """What tf.dtypes has besides: string, which is loaded with NumPy."""
    if name == "string":
        return __getattr__(name)
    raise AttributeError(f"module 'gradus.dtypes' has no attribute '{name}'. docs/api-coverage.md lists what is covered.")


def __dir__():
    return sorted({*vars(sys.modules["gradus"]), *_LAZY, *_ELSEWHERE, *_OF_KERAS})
