"""The residual network of 50 layers."""
from .resnet import ResNet50, decode_predictions, preprocess_input  # noqa: F401
