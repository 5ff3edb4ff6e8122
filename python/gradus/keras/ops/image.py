"""Images."""
import math

import gradus as tf

from .._state import image_data_format
from ..layers.augmentation import affine_transform as _affine_transform
from ..layers.convolution import to_channels_first, to_channels_last
from ..layers.preprocessing import resized as _resized
from ._op import op as _op
from ._op import tensor as _tensor
from .nn import conv


@_op
def resize(images, size, interpolation="bilinear", antialias=False, crop_to_aspect_ratio=False,
           pad_to_aspect_ratio=False, fill_mode="constant", fill_value=0.0, data_format=None):
    """Images with another size; what has another shape is pulled, or cut, or gets a margin."""
    images, back = _last_channels(_tensor(images), data_format)
    return back(_resized(images, (int(size[0]), int(size[1])), interpolation, antialias, crop_to_aspect_ratio,
                         pad_to_aspect_ratio, fill_mode, fill_value))


@_op
def affine_transform(images, transform, interpolation="bilinear", fill_mode="constant", fill_value=0, data_format=None):
    """Images whose pixels are taken from where a transform sends them."""
    images, transform = _tensor(images), _tensor(transform)
    alone, first = len(images.shape) == 3, (data_format or image_data_format()) == "channels_first"
    images = images[None] if alone else images
    transform = transform[None] if len(transform.shape) == 1 else transform
    images = to_channels_last(images) if first else images
    out = _affine_transform(images, transform, interpolation, fill_mode, fill_value)
    out = to_channels_first(out) if first else out
    return out[0] if alone else out


@_op
def extract_patches(images, size, strides=None, dilation_rate=1, padding="valid", data_format=None):
    """The pixels of each window as channels."""
    images = _tensor(images)
    axes = 3 if isinstance(size, (tuple, list)) and len(size) == 3 else 2
    size = (size,) * axes if isinstance(size, int) else tuple(size)
    strides = size if strides is None else (strides,) * axes if isinstance(strides, int) else tuple(strides)
    if max(strides) > 1 and dilation_rate != 1:
        raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                         f"strides={strides} and dilation_rate={dilation_rate}")
    channels = images.shape[-1 if (data_format or image_data_format()) == "channels_last" else 1]
    count = math.prod(size) * channels
    kernel = tf.reshape(tf.eye(count, dtype=images.dtype), [*size, channels, count])
    return conv(images, kernel, strides, padding, data_format, dilation_rate)


def _last_channels(images, data_format):
    """(images with the channels last, what brings them back)."""
    if (data_format or image_data_format()) == "channels_last":
        return images, lambda y: y
    last = list(range(len(images.shape)))
    order = last[:-3] + [last[-2], last[-1], last[-3]]
    back = last[:-3] + [last[-1], last[-3], last[-2]]
    return tf.transpose(images, order), lambda y: tf.transpose(y, back)


@_op
def rgb_to_grayscale(images, data_format=None):
    """How bright the pixels are."""
    images, back = _last_channels(_tensor(images), data_format)
    return back(tf.image.rgb_to_grayscale(images))


@_op
def rgb_to_hsv(images, data_format=None):
    """Hue, saturation and value of red, green and blue."""
    images, back = _last_channels(_tensor(images), data_format)
    return back(tf.image.rgb_to_hsv(images))


@_op
def hsv_to_rgb(images, data_format=None):
    """Red, green and blue of hue, saturation and value."""
    images, back = _last_channels(_tensor(images), data_format)
    return back(tf.image.hsv_to_rgb(images))


@_op
def pad_images(images, top_padding=None, left_padding=None, bottom_padding=None, right_padding=None, target_height=None,
               target_width=None, data_format=None):
    """Zeros around images; of each direction two of (before, behind, size) are given."""
    images, back = _last_channels(_tensor(images), data_format)
    height, width = images.shape[-3], images.shape[-2]
    top, bottom = _both_sides(height, top_padding, bottom_padding, target_height, "height", 1)
    left, right = _both_sides(width, left_padding, right_padding, target_width, "width", 1)
    around = [[0, 0]] * (len(images.shape) - 3) + [[top, bottom], [left, right], [0, 0]]
    return back(tf.pad(images, around))


@_op
def crop_images(images, top_cropping=None, left_cropping=None, bottom_cropping=None, right_cropping=None,
                target_height=None, target_width=None, data_format=None):
    """A part of images; of each direction two of (before, behind, size) are given."""
    images, back = _last_channels(_tensor(images), data_format)
    height, width = images.shape[-3], images.shape[-2]
    top, bottom = _both_sides(height, top_cropping, bottom_cropping, target_height, "height", -1)
    left, right = _both_sides(width, left_cropping, right_cropping, target_width, "width", -1)
    return back(images[..., top:height - bottom, left:width - right, :])


def _both_sides(size, before, behind, target, name, sign):
    """(before, behind), of which one may follow from the size that is wanted."""
    if [before, behind, target].count(None) != 1:
        raise ValueError(f"Must specify exactly two of the margins before and behind and target_{name}. Received: {before}, "
                         f"{behind}, {target}")
    if before is None:
        before = sign * (target - size) - behind
    elif behind is None:
        behind = sign * (target - size) - before
    if before < 0 or behind < 0:
        raise ValueError(f"target_{name}={target} does not fit the {name} {size} with margins {before} and {behind}")
    return before, behind
