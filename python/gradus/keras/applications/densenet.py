"""Networks in which each block sees all blocks before it (Huang and others 2016)."""
from ..layers import Activation, AveragePooling2D, BatchNormalization, Concatenate, Conv2D, MaxPooling2D, ZeroPadding2D
from . import imagenet_utils
from ._common import channel_axis, check_weights, image_input, network, shape_of_input, with_top
from .imagenet_utils import decode_predictions  # noqa: F401


def _activated(x, norm, activation):
    x = BatchNormalization(axis=channel_axis(), epsilon=1.001e-5, name=norm)(x)
    return Activation("relu", name=activation)(x)


def _block(x, growth, name):
    new = _activated(x, name + "_0_bn", name + "_0_relu")
    new = Conv2D(4 * growth, 1, use_bias=False, name=name + "_1_conv")(new)
    new = _activated(new, name + "_1_bn", name + "_1_relu")
    new = Conv2D(growth, 3, padding="same", use_bias=False, name=name + "_2_conv")(new)
    return Concatenate(axis=channel_axis(), name=name + "_concat")([x, new])


def _transition(x, name):
    x = _activated(x, name + "_bn", name + "_relu")
    x = Conv2D(x.shape[channel_axis()] // 2, 1, use_bias=False, name=name + "_conv")(x)
    return AveragePooling2D(2, strides=2, name=name + "_pool")(x)


def _densenet(blocks, include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name,
              kind):
    check_weights(weights, include_top, classes)
    shape = shape_of_input(input_shape, 224, 32, include_top, weights)
    inputs = image_input(input_tensor, shape)
    x = ZeroPadding2D(((3, 3), (3, 3)))(inputs)
    x = Conv2D(64, 7, strides=2, use_bias=False, name="conv1_conv")(x)
    x = _activated(x, "conv1_bn", "conv1_relu")
    x = ZeroPadding2D(((1, 1), (1, 1)))(x)
    x = MaxPooling2D(3, strides=2, name="pool1")(x)
    for stage, count in enumerate(blocks, 2):
        for i in range(1, count + 1):
            x = _block(x, 32, f"conv{stage}_block{i}")
        if stage < 5:
            x = _transition(x, f"pool{stage}")
    x = _activated(x, "bn", "relu")
    x = with_top(x, include_top, pooling, classes, classifier_activation, weights)
    file = f"{kind}_weights_tf_dim_ordering_tf_kernels{'' if include_top else '_notop'}.h5"
    return network(x, inputs, input_tensor, name, weights, file)


def DenseNet121(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="densenet121"):
    """The network of 121 layers."""
    return _densenet((6, 12, 24, 16), include_top, weights, input_tensor, input_shape, pooling, classes,
                     classifier_activation, name, "densenet121")


def DenseNet169(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="densenet169"):
    """The network of 169 layers."""
    return _densenet((6, 12, 32, 32), include_top, weights, input_tensor, input_shape, pooling, classes,
                     classifier_activation, name, "densenet169")


def DenseNet201(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="densenet201"):
    """The network of 201 layers."""
    return _densenet((6, 12, 48, 32), include_top, weights, input_tensor, input_shape, pooling, classes,
                     classifier_activation, name, "densenet201")


def preprocess_input(x, data_format=None):
    """With the mean 0 and the deviation 1 of ImageNet's images."""
    return imagenet_utils.preprocess_input(x, data_format, "torch")
