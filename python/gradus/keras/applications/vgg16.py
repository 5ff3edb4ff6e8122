"""VGG of 16 layers (Simonyan and Zisserman 2014)."""
from ._vgg import VGG16  # noqa: F401
from .imagenet_utils import decode_predictions, preprocess_input  # noqa: F401
