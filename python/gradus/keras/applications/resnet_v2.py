"""Residual networks with normalisation before convolutions (He and others 2016)."""
from . import imagenet_utils
from ._resnet import resnet
from .imagenet_utils import decode_predictions  # noqa: F401


def ResNet50V2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
               classifier_activation="softmax", name="resnet50v2"):
    """The network of 50 layers."""
    return resnet(True, (3, 4, 6, 3), include_top, weights, input_tensor, input_shape, pooling, classes,
                  classifier_activation, name, "resnet50v2")


def ResNet101V2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="resnet101v2"):
    """The network of 101 layers."""
    return resnet(True, (3, 4, 23, 3), include_top, weights, input_tensor, input_shape, pooling, classes,
                  classifier_activation, name, "resnet101v2")


def ResNet152V2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="resnet152v2"):
    """The network of 152 layers."""
    return resnet(True, (3, 8, 36, 3), include_top, weights, input_tensor, input_shape, pooling, classes,
                  classifier_activation, name, "resnet152v2")


def preprocess_input(x, data_format=None):
    """Pixels from -1 to 1."""
    return imagenet_utils.preprocess_input(x, data_format, "tf")
