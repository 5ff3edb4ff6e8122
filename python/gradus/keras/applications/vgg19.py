"""VGG of 19 layers (Simonyan and Zisserman 2014)."""
from ._vgg import VGG19  # noqa: F401
from .imagenet_utils import decode_predictions, preprocess_input  # noqa: F401
