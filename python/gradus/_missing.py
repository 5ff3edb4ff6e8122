"""What happens when a name of the module is not there: sub-modules are loaded when first used, and what
is not covered says so."""
import sys

_LAZY = (
    "audio",
    "compat",
    "config",
    "data",
    "debugging",
    "distribute",
    "experimental",
    "image",
    "io",
    "keras",
    "lookup",
    "ragged",
    "saved_model",
    "sets",
    "sparse",
    "strings",
    "summary",
    "sysconfig",
    "test",
    "train",
    "version",
)
_ELSEWHERE = {  # single names, loaded when first used, most with NumPy
    "Graph": "compat.v1._graph",
    "Operation": "compat.v1._graph",
    "RaggedTensor": "_ragged_functions",
    "RaggedTensorSpec": "ragged",
    "SparseTensor": "_sparse",
    "SparseTensorSpec": "_sparse",
    "dynamic_partition": "_partitions",
    "dynamic_stitch": "_partitions",
    "eig": "_eigen",
    "eigvals": "_eigen",
    "gradients": "_graph_gradients",
    "hessians": "_graph_gradients",
    "string": "_strings",
}
_ELSEWHERE.update(dict.fromkeys(
    "as_string assert_equal assert_greater assert_less assert_rank batch_to_space edit_distance "
    "get_current_name_scope get_logger histogram_fixed_width histogram_fixed_width_bins identity_n make_ndarray "
    "make_tensor_proto realdiv saturate_cast scalar_mul space_to_batch space_to_batch_nd timestamp type_spec_from_value "
    "unravel_index".split(), "_basics"))
_LATER = {  # the same for names of sub-modules that have no file of their own
    "dtypes": {"_basics": "as_string saturate_cast", "_strings": "string"},
    "linalg": {"_eigen": "eig eigvals"},
    "math": {"_basics": "accumulate_n invert_permutation lbeta nextafter polyval scalar_mul zero_fraction"},
    "nn": {
        "_basics": "zero_fraction",
        "_candidates": "compute_accidental_hits nce_loss sampled_softmax_loss",
        "_ctc": "ctc_beam_search_decoder ctc_greedy_decoder ctc_loss ctc_unique_labels",
        "_statistics": "compute_average_loss crelu log_poisson_loss normalize_moments scale_regularization_loss "
                       "sufficient_statistics weighted_moments",
        "_windows": "atrous_conv2d atrous_conv2d_transpose avg_pool avg_pool1d avg_pool3d conv1d_transpose conv3d "
                    "conv3d_transpose conv_transpose convolution local_response_normalization lrn max_pool max_pool1d max_pool3d "
                    "max_pool_with_argmax pool separable_conv2d",
    },
    "random": {
        "_random_experimental": "experimental",
        "_candidates": "log_uniform_candidate_sampler uniform_candidate_sampler",
        "_distributions": "fold_in gamma poisson split stateless_gamma stateless_poisson",
    },
    "signal": {"_mel": "kaiser_window linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms vorbis_window"},
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


def complete(path, module):
    """Gives a sub-module the names that are loaded when first used, and words for those that are not there."""
    later = {name: file for file, names in _LATER.get(path, {}).items() for name in names.split()}

    def find(name):
        if name in later:
            found = getattr(_import("gradus." + later[name]), name)
            setattr(module, name, found)
            return found
        raise AttributeError(f"module 'gradus.{path}' has no attribute '{name}'. docs/api-coverage.md lists what is covered.")
    module.__getattr__ = find
    module.__dir__ = lambda: sorted({*vars(module), *later})


def load_all(module):
    """Loads what a module would load when first used."""
    for name in dir(module):
        if name in _LAZY or name in _OF_KERAS:
            continue
        getattr(module, name)


def __dir__():
    return sorted({*vars(sys.modules["gradus"]), *_LAZY, *_ELSEWHERE, *_OF_KERAS})
