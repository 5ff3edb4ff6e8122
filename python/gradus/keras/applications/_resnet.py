"""Residual networks (He and others 2015, 2016): blocks of three convolutions beside a shortcut.

In the second version normalisation and activation stand before the convolutions.
"""
from ..layers import (Activation, Add, BatchNormalization, Conv2D, MaxPooling2D, ZeroPadding2D)
from ._common import channel_axis, check_weights, image_input, network, shape_of_input, with_top


def _norm(name):
    return BatchNormalization(axis=channel_axis(), epsilon=1.001e-5, name=name)


def _relu(name):
    return Activation("relu", name=name)


def _block(x, filters, stride, shortcut, name):
    """The first version: convolution, normalisation, activation; the sum is activated."""
    beside = x
    if shortcut:
        beside = _norm(name + "_0_bn")(Conv2D(4 * filters, 1, strides=stride, name=name + "_0_conv")(x))
    x = Conv2D(filters, 1, strides=stride, name=name + "_1_conv")(x)
    x = _relu(name + "_1_relu")(_norm(name + "_1_bn")(x))
    x = Conv2D(filters, 3, padding="same", name=name + "_2_conv")(x)
    x = _relu(name + "_2_relu")(_norm(name + "_2_bn")(x))
    x = _norm(name + "_3_bn")(Conv2D(4 * filters, 1, name=name + "_3_conv")(x))
    return _relu(name + "_out")(Add(name=name + "_add")([beside, x]))


def _block_v2(x, filters, stride, shortcut, name):
    """The second version: normalisation, activation, convolution; the sum stays as it is."""
    before = _relu(name + "_preact_relu")(_norm(name + "_preact_bn")(x))
    if shortcut:
        beside = Conv2D(4 * filters, 1, strides=stride, name=name + "_0_conv")(before)
    else:
        beside = MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = Conv2D(filters, 1, strides=1, use_bias=False, name=name + "_1_conv")(before)
    x = _relu(name + "_1_relu")(_norm(name + "_1_bn")(x))
    x = ZeroPadding2D(((1, 1), (1, 1)), name=name + "_2_pad")(x)
    x = Conv2D(filters, 3, strides=stride, use_bias=False, name=name + "_2_conv")(x)
    x = _relu(name + "_2_relu")(_norm(name + "_2_bn")(x))
    x = Conv2D(4 * filters, 1, name=name + "_3_conv")(x)
    return Add(name=name + "_out")([beside, x])


def _stack(x, filters, blocks, stride, name):
    x = _block(x, filters, stride, True, name + "_block1")
    for i in range(2, blocks + 1):
        x = _block(x, filters, 1, False, f"{name}_block{i}")
    return x


def _stack_v2(x, filters, blocks, stride, name):
    """Here the last block makes the image smaller."""
    x = _block_v2(x, filters, 1, True, name + "_block1")
    for i in range(2, blocks):
        x = _block_v2(x, filters, 1, False, f"{name}_block{i}")
    return _block_v2(x, filters, stride, False, f"{name}_block{blocks}")


def resnet(second, depths, include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name,
           kind):
    check_weights(weights, include_top, classes)
    shape = shape_of_input(input_shape, 224, 32, include_top, weights)
    inputs = image_input(input_tensor, shape)
    x = ZeroPadding2D(((3, 3), (3, 3)), name="conv1_pad")(inputs)
    x = Conv2D(64, 7, strides=2, name="conv1_conv")(x)
    if not second:
        x = _relu("conv1_relu")(_norm("conv1_bn")(x))
    x = ZeroPadding2D(((1, 1), (1, 1)), name="pool1_pad")(x)
    x = MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    strides = (2, 2, 2, 1) if second else (1, 2, 2, 2)
    for i, (depth, stride) in enumerate(zip(depths, strides)):
        x = (_stack_v2 if second else _stack)(x, 64 << i, depth, stride, f"conv{i + 2}")
    if second:
        x = _relu("post_relu")(_norm("post_bn")(x))
    x = with_top(x, include_top, pooling, classes, classifier_activation, weights)
    file = f"{kind}_weights_tf_dim_ordering_tf_kernels{'' if include_top else '_notop'}.h5"
    return network(x, inputs, input_tensor, name, weights, file)
