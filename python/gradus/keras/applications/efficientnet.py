"""Wide blocks with attention to channels, scaled in width, depth and size of images together (Tan and Le 2019)."""
import math

from ..layers import (Activation, Add, BatchNormalization, Conv2D, Dense, DepthwiseConv2D, Dropout,
                      GlobalAveragePooling2D, Multiply, Normalization, Rescaling, Reshape, ZeroPadding2D)
from ._common import channel_axis, check_activation, check_weights, image_input, network, pooled, shape_of_input
from .imagenet_utils import decode_predictions  # noqa: F401
from .mobilenet_v2 import eights, halving_pad

_CONV = {"class_name": "VarianceScaling", "config": {"scale": 2.0, "mode": "fan_out", "distribution": "truncated_normal"}}
_DENSE = {"class_name": "VarianceScaling", "config": {"scale": 1.0 / 3.0, "mode": "fan_out", "distribution": "uniform"}}
# kernel size, repeats, filters in, filters out, expansion, stride
_STAGES = ((3, 1, 32, 16, 1, 1), (3, 2, 16, 24, 6, 2), (5, 2, 24, 40, 6, 2), (3, 3, 40, 80, 6, 2), (5, 3, 80, 112, 6, 1),
           (5, 4, 112, 192, 6, 2), (3, 1, 192, 320, 6, 1))
_DEVIATIONS = (0.229, 0.224, 0.225)


def _conv(filters, size, name, **kwargs):
    kwargs.setdefault("padding", "same")
    return Conv2D(filters, size, use_bias=False, kernel_initializer=_CONV, name=name, **kwargs)


def _activated(x, name, norm="bn"):
    x = BatchNormalization(axis=channel_axis(), name=name + norm)(x)
    return Activation("swish", name=name + norm.replace("bn", "activation"))(x)


def _attended(x, filters, reduced, name):
    """Each channel times a number that depends on the means of all channels."""
    se = GlobalAveragePooling2D(name=name + "se_squeeze")(x)
    se = Reshape((1, 1, filters) if channel_axis() == 3 else (filters, 1, 1), name=name + "se_reshape")(se)
    se = Conv2D(reduced, 1, padding="same", activation="swish", kernel_initializer=_CONV, name=name + "se_reduce")(se)
    se = Conv2D(filters, 1, padding="same", activation="sigmoid", kernel_initializer=_CONV, name=name + "se_expand")(se)
    return Multiply(name=name + "se_excite")([x, se])


def _block(x, name, filters_in, filters_out, size, stride, expansion, drop_rate):
    inputs, filters = x, filters_in * expansion
    if expansion != 1:
        x = _activated(_conv(filters, 1, name + "expand_conv")(x), name, "expand_bn")
    if stride == 2:
        x = ZeroPadding2D(halving_pad(x, size), name=name + "dwconv_pad")(x)
    x = DepthwiseConv2D(size, strides=stride, padding="valid" if stride == 2 else "same", use_bias=False,
                        depthwise_initializer=_CONV, name=name + "dwconv")(x)
    x = _activated(x, name)
    x = _attended(x, filters, max(1, int(filters_in * 0.25)), name)
    x = _conv(filters_out, 1, name + "project_conv")(x)
    x = BatchNormalization(axis=channel_axis(), name=name + "project_bn")(x)
    if stride == 1 and filters_in == filters_out:
        if drop_rate > 0:
            x = Dropout(drop_rate, noise_shape=(None, 1, 1, 1), name=name + "drop")(x)
        x = Add(name=name + "add")([x, inputs])
    return x


def _efficientnet(width, depth, size, dropout, include_top, weights, input_tensor, input_shape, pooling, classes,
                  classifier_activation, name, kind):
    check_weights(weights, include_top, classes)
    shape = shape_of_input(input_shape, size, 32, include_top, weights)
    inputs = image_input(input_tensor, shape)
    x = Rescaling(1.0 / 255.0)(inputs)
    x = Normalization(axis=channel_axis())(x)
    if weights == "imagenet":  # the statistics in the file are deviations where variances belong
        scales = [1.0 / math.sqrt(d) for d in _DEVIATIONS]
        x = Rescaling(scales if channel_axis() == 3 else [[[s]] for s in scales])(x)
    x = ZeroPadding2D(halving_pad(x, 3), name="stem_conv_pad")(x)
    x = _conv(eights(32 * width), 3, "stem_conv", strides=2, padding="valid")(x)
    x = _activated(x, "stem_")
    done, total = 0, float(sum(math.ceil(depth * stage[1]) for stage in _STAGES))
    for i, (kernel, repeats, filters_in, filters_out, expansion, stride) in enumerate(_STAGES, 1):
        filters_in, filters_out = eights(filters_in * width), eights(filters_out * width)
        for j in range(math.ceil(depth * repeats)):
            x = _block(x, f"block{i}{chr(ord('a') + j)}_", filters_in if j == 0 else filters_out, filters_out, kernel,
                       stride if j == 0 else 1, expansion, 0.2 * done / total)
            done += 1
    x = _activated(_conv(eights(1280 * width), 1, "top_conv")(x), "top_")
    if include_top:
        x = GlobalAveragePooling2D(name="avg_pool")(x)
        if dropout > 0:
            x = Dropout(dropout, name="top_dropout")(x)
        check_activation(classifier_activation, weights)
        x = Dense(classes, activation=classifier_activation, kernel_initializer=_DENSE, name="predictions")(x)
    else:
        x = pooled(x, pooling)
    return network(x, inputs, input_tensor, name, weights, f"{kind}{'' if include_top else '_notop'}.h5")


def EfficientNetB0(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb0"):
    """The network for images of 224 x 224."""
    return _efficientnet(1.0, 1.0, 224, 0.2, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation, name, "efficientnetb0")


def EfficientNetB1(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb1"):
    """The network for images of 240 x 240."""
    return _efficientnet(1.0, 1.1, 240, 0.2, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation, name, "efficientnetb1")


def EfficientNetB2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb2"):
    """The network for images of 260 x 260."""
    return _efficientnet(1.1, 1.2, 260, 0.3, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation, name, "efficientnetb2")


def EfficientNetB3(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb3"):
    """The network for images of 300 x 300."""
    return _efficientnet(1.2, 1.4, 300, 0.3, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation, name, "efficientnetb3")


def EfficientNetB4(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb4"):
    """The network for images of 380 x 380."""
    return _efficientnet(1.4, 1.8, 380, 0.4, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation, name, "efficientnetb4")


def EfficientNetB5(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb5"):
    """The network for images of 456 x 456."""
    return _efficientnet(1.6, 2.2, 456, 0.4, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation, name, "efficientnetb5")


def EfficientNetB6(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb6"):
    """The network for images of 528 x 528."""
    return _efficientnet(1.8, 2.6, 528, 0.5, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation, name, "efficientnetb6")


def EfficientNetB7(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None,
                   classes=1000, classifier_activation="softmax", name="efficientnetb7"):
    """The network for images of 600 x 600."""
    return _efficientnet(2.0, 3.1, 600, 0.5, include_top, weights, input_tensor, input_shape, pooling, classes,
                         classifier_activation, name, "efficientnetb7")


def preprocess_input(x, data_format=None):
    """The image itself: the network rescales."""
    return x
