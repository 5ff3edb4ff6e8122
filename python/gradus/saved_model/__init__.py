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

    def __init__(self, namespace_whitelist=None, save_debug_info=False, function_aliases=None, *,
                 experimental_debug_stripper=False, experimental_io_device=None, experimental_variable_policy=None,
                 experimental_custom_gradients=True, experimental_image_format=False, experimental_skip_saver=False,
                 experimental_sharding_callback=None, extra_tags=None):
        if experimental_image_format:
            raise ValueError("[SaveOptions] got experimental_image_format=True; expected False: there is one format")
        self.function_aliases, self.extra_tags = function_aliases or {}, extra_tags


class LoadOptions:
    """As SaveOptions."""

    def __init__(self, allow_partial_checkpoint=False, experimental_io_device=None, experimental_skip_checkpoint=False,
                 experimental_variable_policy=None, experimental_load_function_aliases=False):
        self.allow_partial_checkpoint = allow_partial_checkpoint
