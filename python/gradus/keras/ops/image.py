"""Images."""
import gradus as tf

from .._state import image_data_format
from ..layers.augmentation import affine_transform as _affine_transform
from ..layers.convolution import to_channels_first, to_channels_last
from ..layers.preprocessing import resize as _resize
from ._op import op as _op
from ._op import tensor as _tensor
from .nn import conv


@_op
def resize(images, size, interpolation="bilinear", antialias=False, crop_to_aspect_ratio=False,
           pad_to_aspect_ratio=False, fill_mode="constant", fill_value=0.0, data_format=None):
    """Images with another size."""
    if antialias or crop_to_aspect_ratio or pad_to_aspect_ratio:
        raise NotImplementedError("image.resize with antialias or aspect ratios is not covered")
    if (data_format or image_data_format()) == "channels_last":
        return _resize(_tensor(images), size[0], size[1], interpolation)
    return to_channels_first(_resize(to_channels_last(_tensor(images)), size[0], size[1], interpolation))


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
    size = (size, size) if isinstance(size, int) else tuple(size)
    strides = size if strides is None else (strides, strides) if isinstance(strides, int) else tuple(strides)
    channels = images.shape[-1 if (data_format or image_data_format()) == "channels_last" else 1]
    count = size[0] * size[1] * channels
    kernel = tf.reshape(tf.eye(count, dtype=images.dtype), [*size, channels, count])
    return conv(images, kernel, strides, padding, data_format, dilation_rate)
