"""Residual networks (He and others 2015)."""
from . import imagenet_utils
from ._resnet import resnet
from .imagenet_utils import decode_predictions  # noqa: F401


def ResNet50(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
             classifier_activation="softmax", name="resnet50"):
    """The network of 50 layers."""
    return resnet(False, (3, 4, 6, 3), include_top, weights, input_tensor, input_shape, pooling, classes,
                  classifier_activation, name, "resnet50")


def ResNet101(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
              classifier_activation="softmax", name="resnet101"):
    """The network of 101 layers."""
    return resnet(False, (3, 4, 23, 3), include_top, weights, input_tensor, input_shape, pooling, classes,
                  classifier_activation, name, "resnet101")


def ResNet152(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
              classifier_activation="softmax", name="resnet152"):
    """The network of 152 layers."""
    return resnet(False, (3, 8, 36, 3), include_top, weights, input_tensor, input_shape, pooling, classes,
                  classifier_activation, name, "resnet152")


def preprocess_input(x, data_format=None):
    """Blue first, without the mean of ImageNet."""
    return imagenet_utils.preprocess_input(x, data_format, "caffe")
