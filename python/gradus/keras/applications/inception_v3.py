"""Branches of convolutions of several sizes, side by side (Szegedy and others 2015)."""
from ..layers import Activation, AveragePooling2D, BatchNormalization, Conv2D, MaxPooling2D, concatenate
from . import imagenet_utils
from ._common import channel_axis, check_weights, image_input, network, shape_of_input, with_top
from .imagenet_utils import decode_predictions  # noqa: F401


def _conv(x, filters, rows, columns, padding="same", strides=(1, 1)):
    x = Conv2D(filters, (rows, columns), strides=strides, padding=padding, use_bias=False)(x)
    x = BatchNormalization(axis=channel_axis(), scale=False)(x)
    return Activation("relu")(x)


def _branch(x, *sizes):
    """Convolutions one behind the other, each (filters, rows, columns)."""
    for size in sizes:
        x = _conv(x, *size)
    return x


def _joined(parts, name=None):
    return concatenate(parts, axis=channel_axis(), **{"name": name} if name else {})


def _mean(x, filters):
    return _conv(AveragePooling2D((3, 3), strides=(1, 1), padding="same")(x), filters, 1, 1)


def _small(x, filters, name):
    """Mixed blocks 0 to 2, at 35 x 35."""
    return _joined([_branch(x, (64, 1, 1)), _branch(x, (48, 1, 1), (64, 5, 5)),
                    _branch(x, (64, 1, 1), (96, 3, 3), (96, 3, 3)), _mean(x, filters)], name)


def _seven(x, filters, name):
    """Mixed blocks 4 to 7, at 17 x 17: seven pixels in one direction, then in the other."""
    n = filters
    return _joined([_branch(x, (192, 1, 1)), _branch(x, (n, 1, 1), (n, 1, 7), (192, 7, 1)),
                    _branch(x, (n, 1, 1), (n, 7, 1), (n, 1, 7), (n, 7, 1), (192, 1, 7)), _mean(x, 192)], name)


def _wide(x, number):
    """Mixed blocks 9 and 10, at 8 x 8."""
    one = _branch(x, (320, 1, 1))
    three = _branch(x, (384, 1, 1))
    three = _joined([_conv(three, 384, 1, 3), _conv(three, 384, 3, 1)], f"mixed9_{number}")
    double = _branch(x, (448, 1, 1), (384, 3, 3))
    double = _joined([_conv(double, 384, 1, 3), _conv(double, 384, 3, 1)])
    return _joined([one, three, double, _mean(x, 192)], f"mixed{9 + number}")


def InceptionV3(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax", name="inception_v3"):
    """The network, for images of 299 x 299."""
    check_weights(weights, include_top, classes)
    shape = shape_of_input(input_shape, 299, 75, include_top, weights)
    inputs = image_input(input_tensor, shape)
    x = _conv(inputs, 32, 3, 3, "valid", (2, 2))
    x = _conv(x, 32, 3, 3, "valid")
    x = _conv(x, 64, 3, 3)
    x = MaxPooling2D((3, 3), strides=(2, 2))(x)
    x = _conv(x, 80, 1, 1, "valid")
    x = _conv(x, 192, 3, 3, "valid")
    x = MaxPooling2D((3, 3), strides=(2, 2))(x)
    for i, filters in enumerate((32, 64, 64)):
        x = _small(x, filters, f"mixed{i}")
    x = _joined([_conv(x, 384, 3, 3, "valid", (2, 2)),
                 _conv(_branch(x, (64, 1, 1), (96, 3, 3)), 96, 3, 3, "valid", (2, 2)),
                 MaxPooling2D((3, 3), strides=(2, 2))(x)], "mixed3")
    for i, filters in enumerate((128, 160, 160, 192), 4):
        x = _seven(x, filters, f"mixed{i}")
    x = _joined([_conv(_branch(x, (192, 1, 1)), 320, 3, 3, "valid", (2, 2)),
                 _conv(_branch(x, (192, 1, 1), (192, 1, 7), (192, 7, 1)), 192, 3, 3, "valid", (2, 2)),
                 MaxPooling2D((3, 3), strides=(2, 2))(x)], "mixed8")
    x = _wide(_wide(x, 0), 1)
    x = with_top(x, include_top, pooling, classes, classifier_activation, weights, named=False)
    file = f"inception_v3_weights_tf_dim_ordering_tf_kernels{'' if include_top else '_notop'}.h5"
    return network(x, inputs, input_tensor, name, weights, file)


def preprocess_input(x, data_format=None):
    """Pixels from -1 to 1."""
    return imagenet_utils.preprocess_input(x, data_format, "tf")
