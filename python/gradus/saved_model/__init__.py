"""tf.saved_model: objects with variables and functions in a folder, to be used without their source.

The folder holds one file, saved_model.gradus: the programs of the functions as text, the variables, and which object has
which. It is Gradus's own format: TensorFlow does not read it, and TensorFlow's own SavedModels are refused by name. What
moves between both is weights: Keras's .keras and .weights.h5 files, safetensors and .npz.
"""
from ._load import contains_saved_model, load  # noqa: F401
from ._save import save  # noqa: F401

DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
SERVING = "serve"


class SaveOptions:
    """Taken for the sake of programs that give them; none changes what is written."""

    def __init__(self, namespace_whitelist=None, save_debug_info=False, function_aliases=None, **kwargs):
        self.function_aliases = function_aliases


class LoadOptions:
    """As SaveOptions."""

    def __init__(self, allow_partial_checkpoint=False, experimental_io_device=None, **kwargs):
        self.allow_partial_checkpoint = allow_partial_checkpoint
