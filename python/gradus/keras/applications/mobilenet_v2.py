"""Residual blocks that are wide inside and narrow outside (Sandler and others 2018)."""
from ..layers import (Add, BatchNormalization, Conv2D, Dense, DepthwiseConv2D, GlobalAveragePooling2D, ReLU,
                      ZeroPadding2D)
from . import imagenet_utils
from ._common import channel_axis, check_activation, check_weights, image_input, network, pooled, shape_of_input
from .imagenet_utils import decode_predictions  # noqa: F401
from .mobilenet import square_size

_ALPHAS = (0.35, 0.50, 0.75, 1.0, 1.3, 1.4)
# filters, stride of the first, number of blocks
_STAGES = ((24, 2, 2), (32, 2, 3), (64, 2, 4), (96, 1, 3), (160, 2, 3), (320, 1, 1))


def eights(value, least=8):
    """The nearest multiple of eight that is not more than a tenth below."""
    rounded = max(least, int(value + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * value else rounded


def halving_pad(x, kernel_size):
    """Zeros around an image such that a step of two meets the pixels that padding "same" would meet."""
    sizes = x.shape[1:3] if channel_axis() == 3 else x.shape[2:4]
    half = kernel_size // 2
    return tuple((half - (1 if size is None else 1 - size % 2), half) for size in sizes)


def _norm(name):
    return BatchNormalization(axis=-1 if channel_axis() == 3 else 1, epsilon=1e-3, momentum=0.999, name=name)


def _block(x, filters, alpha, stride, expansion, number):
    channels = x.shape[-1 if channel_axis() == 3 else 1]
    filters, inputs = eights(int(filters * alpha)), x
    name = f"block_{number}_" if number else "expanded_conv_"
    if number:
        x = Conv2D(expansion * channels, 1, padding="same", use_bias=False, name=name + "expand")(x)
        x = ReLU(6.0, name=name + "expand_relu")(_norm(name + "expand_BN")(x))
    if stride == 2:
        x = ZeroPadding2D(halving_pad(x, 3), name=name + "pad")(x)
    x = DepthwiseConv2D(3, strides=stride, use_bias=False, padding="same" if stride == 1 else "valid",
                        name=name + "depthwise")(x)
    x = ReLU(6.0, name=name + "depthwise_relu")(_norm(name + "depthwise_BN")(x))
    x = Conv2D(filters, 1, padding="same", use_bias=False, name=name + "project")(x)
    x = _norm(name + "project_BN")(x)
    return Add(name=name + "add")([inputs, x]) if channels == filters and stride == 1 else x


def MobileNetV2(input_shape=None, alpha=1.0, include_top=True, weights="imagenet", input_tensor=None, pooling=None,
                classes=1000, classifier_activation="softmax", name=None):
    """The network whose widths are multiplied by alpha."""
    check_weights(weights, include_top, classes)
    size = square_size(input_shape, alpha, _ALPHAS, weights)
    shape = shape_of_input(input_shape, size, 32, include_top, weights)
    inputs = image_input(input_tensor, shape)
    x = Conv2D(eights(32 * alpha), 3, strides=(2, 2), padding="same", use_bias=False, name="Conv1")(inputs)
    x = ReLU(6.0, name="Conv1_relu")(_norm("bn_Conv1")(x))
    x = _block(x, 16, alpha, 1, 1, 0)
    number = 1
    for filters, stride, blocks in _STAGES:
        for i in range(blocks):
            x = _block(x, filters, alpha, stride if i == 0 else 1, 6, number)
            number += 1
    x = Conv2D(eights(1280 * alpha) if alpha > 1.0 else 1280, 1, use_bias=False, name="Conv_1")(x)
    x = ReLU(6.0, name="out_relu")(_norm("Conv_1_bn")(x))
    if include_top:
        x = GlobalAveragePooling2D()(x)
        check_activation(classifier_activation, weights)
        x = Dense(classes, activation=classifier_activation, name="predictions")(x)
    else:
        x = pooled(x, pooling, named=False)
    rows = shape[0] if channel_axis() == 3 else shape[1]
    file = (f"mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{float(alpha)}_{size}"
            f"{'' if include_top else '_no_top'}.h5")
    return network(x, inputs, input_tensor, name or f"mobilenetv2_{alpha:0.2f}_{rows}", weights, file)


def preprocess_input(x, data_format=None):
    """Pixels from -1 to 1."""
    return imagenet_utils.preprocess_input(x, data_format, "tf")
