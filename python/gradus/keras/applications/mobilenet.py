"""Convolutions of each channel, then of each pixel (Howard and others 2017)."""
from .. import _state
from ..layers import (Activation, BatchNormalization, Conv2D, DepthwiseConv2D, Dropout, GlobalAveragePooling2D, ReLU,
                      Reshape, ZeroPadding2D)
from . import imagenet_utils
from ._common import channel_axis, check_activation, check_weights, image_input, network, pooled, shape_of_input
from .imagenet_utils import decode_predictions  # noqa: F401

_ALPHAS, _SIZES = (0.25, 0.50, 0.75, 1.0), (128, 160, 192, 224)
_BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))


def square_size(input_shape, alpha, alphas, weights):
    """The size of the images for which there are weights: that of the input if it is one, or 224."""
    last = _state.image_data_format() == "channels_last"
    size = 224
    if input_shape is not None:
        rows, columns = input_shape[:2] if last else input_shape[1:]
        if rows == columns and rows in (*_SIZES, 96) and (rows != 96 or len(alphas) > 4):
            size = rows
    if weights == "imagenet" and alpha not in alphas:
        raise ValueError(f"If imagenet weights are being loaded, alpha can be one of {', '.join(map(str, alphas))} only. "
                         f"Received: alpha={alpha}")
    return size


def _activated(x, name):
    return ReLU(6.0, name=name + "_relu")(BatchNormalization(axis=_axis(), name=name + "_bn")(x))


def _axis():
    return -1 if channel_axis() == 3 else 1


def MobileNet(input_shape=None, alpha=1.0, depth_multiplier=1, dropout=1e-3, include_top=True, weights="imagenet",
              input_tensor=None, pooling=None, classes=1000, classifier_activation="softmax", name=None):
    """The network whose widths are multiplied by alpha."""
    check_weights(weights, include_top, classes)
    size = square_size(input_shape, alpha, _ALPHAS, weights)
    if weights == "imagenet" and depth_multiplier != 1:
        raise ValueError("If imagenet weights are being loaded, depth multiplier must be 1. Received: "
                         f"depth_multiplier={depth_multiplier}")
    shape = shape_of_input(input_shape, size, 32, include_top, weights)
    inputs = image_input(input_tensor, shape)
    x = Conv2D(int(32 * alpha), (3, 3), padding="same", use_bias=False, strides=(2, 2), name="conv1")(inputs)
    x = _activated(x, "conv1")
    for i, (filters, stride) in enumerate(_BLOCKS, 1):
        if stride != 1:
            x = ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{i}")(x)
        x = DepthwiseConv2D((3, 3), padding="same" if stride == 1 else "valid", depth_multiplier=depth_multiplier,
                            strides=(stride, stride), use_bias=False, name=f"conv_dw_{i}")(x)
        x = _activated(x, f"conv_dw_{i}")
        x = Conv2D(int(filters * alpha), (1, 1), padding="same", use_bias=False, strides=(1, 1), name=f"conv_pw_{i}")(x)
        x = _activated(x, f"conv_pw_{i}")
    if include_top:
        check_activation(classifier_activation, weights)
        x = GlobalAveragePooling2D(keepdims=True)(x)
        x = Dropout(dropout, name="dropout")(x)
        x = Conv2D(classes, (1, 1), padding="same", name="conv_preds")(x)
        x = Reshape((classes,), name="reshape_2")(x)
        x = Activation(classifier_activation, name="predictions")(x)
    else:
        x = pooled(x, pooling, named=False)
    rows = shape[0] if channel_axis() == 3 else shape[1]
    width = {0.25: "2_5", 0.5: "5_0", 0.75: "7_5"}.get(alpha, "1_0")
    file = f"mobilenet_{width}_{size}_tf{'' if include_top else '_no_top'}.h5"
    return network(x, inputs, input_tensor, name or f"mobilenet_{alpha:0.2f}_{rows}", weights, file)


def preprocess_input(x, data_format=None):
    """Pixels from -1 to 1."""
    return imagenet_utils.preprocess_input(x, data_format, "tf")
