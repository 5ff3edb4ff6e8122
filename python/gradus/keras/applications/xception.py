"""Separable convolutions with shortcuts (Chollet 2016)."""
from ..layers import Activation, BatchNormalization, Conv2D, MaxPooling2D, SeparableConv2D, add
from . import imagenet_utils
from ._common import channel_axis, check_weights, image_input, network, shape_of_input, with_top
from .imagenet_utils import decode_predictions  # noqa: F401


def _norm(name=None):
    return BatchNormalization(axis=-1 if channel_axis() == 3 else 1, **{"name": name} if name else {})


def _separable(x, filters, name):
    x = SeparableConv2D(filters, (3, 3), padding="same", use_bias=False, name=name)(x)
    return _norm(name + "_bn")(x)


def _smaller(x, widths, block):
    """Two separable convolutions and a maximum beside a convolution of step two."""
    beside = _norm()(Conv2D(widths[1], (1, 1), strides=(2, 2), padding="same", use_bias=False)(x))
    name = f"block{block}_sepconv"
    for i, filters in enumerate(widths, 1):
        if block > 2 or i > 1:
            x = Activation("relu", name=f"{name}{i}_act")(x)
        x = _separable(x, filters, f"{name}{i}")
    x = MaxPooling2D((3, 3), strides=(2, 2), padding="same", name=f"block{block}_pool")(x)
    return add([x, beside])


def Xception(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
             classifier_activation="softmax", name="xception"):
    """The network, for images of 299 x 299."""
    check_weights(weights, include_top, classes)
    shape = shape_of_input(input_shape, 299, 71, include_top, weights)
    inputs = image_input(input_tensor, shape)
    x = Conv2D(32, (3, 3), strides=(2, 2), use_bias=False, name="block1_conv1")(inputs)
    x = Activation("relu", name="block1_conv1_act")(_norm("block1_conv1_bn")(x))
    x = Conv2D(64, (3, 3), use_bias=False, name="block1_conv2")(x)
    x = Activation("relu", name="block1_conv2_act")(_norm("block1_conv2_bn")(x))
    for block, filters in ((2, 128), (3, 256), (4, 728)):
        x = _smaller(x, (filters, filters), block)
    for block in range(5, 13):
        beside = x
        for i in range(1, 4):
            x = Activation("relu", name=f"block{block}_sepconv{i}_act")(x)
            x = _separable(x, 728, f"block{block}_sepconv{i}")
        x = add([x, beside])
    x = _smaller(x, (728, 1024), 13)
    for i, filters in ((1, 1536), (2, 2048)):
        x = _separable(x, filters, f"block14_sepconv{i}")
        x = Activation("relu", name=f"block14_sepconv{i}_act")(x)
    x = with_top(x, include_top, pooling, classes, classifier_activation, weights, named=False)
    file = f"xception_weights_tf_dim_ordering_tf_kernels{'' if include_top else '_notop'}.h5"
    return network(x, inputs, input_tensor, name, weights, file)


def preprocess_input(x, data_format=None):
    """Pixels from -1 to 1."""
    return imagenet_utils.preprocess_input(x, data_format, "tf")
