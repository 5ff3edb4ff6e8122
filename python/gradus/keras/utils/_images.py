"""keras.utils.load_img and its relatives: images in files as arrays and back.

Where Pillow is installed an image is Pillow's own object, as in Keras. Where it is not, `Image` has what programs do with
one after loading it: its size and mode, the pixels by np.asarray, and save.
"""
import io
import math
import os
import pathlib

import numpy as np

import gradus as tf

from .. import _state

_CHANNELS = {"L": 1, "RGB": 3, "RGBA": 4}
_BITS = 22  # of Pillow's weights: sums are done in integers


class Image:
    """Pixels and their mode: 'L', 'RGB', 'RGBA', or 'I' for integers above 255."""

    def __init__(self, pixels, mode):
        self._pixels, self.mode = pixels, mode

    size = property(lambda self: (self._pixels.shape[1], self._pixels.shape[0]))
    width = property(lambda self: self._pixels.shape[1])
    height = property(lambda self: self._pixels.shape[0])

    def __array__(self, dtype=None, copy=None):
        return self._pixels.astype(dtype) if dtype is not None else self._pixels.copy()

    def __repr__(self):
        return f"<gradus.keras.utils.Image mode={self.mode} size={self.width}x{self.height}>"

    def save(self, path, format=None):
        pixels = self._pixels if self._pixels.ndim == 3 else self._pixels[..., None]
        format = (format or os.path.splitext(os.fspath(path))[1].lstrip(".")).lower()
        if format in ("jpg", "jpeg"):
            data = tf.io.encode_jpeg(pixels, quality=75)
        elif format == "png":
            data = tf.io.encode_png(pixels.astype(np.uint16) if self.mode == "I" else pixels)
        else:
            raise ValueError(f"Images are written as .png and .jpg without Pillow, not as '{format}'")
        tf.io.write_file(path, data)


def _image(pixels, mode):
    """Pillow's object if it is there."""
    try:
        from PIL import Image as pillow
    except ImportError:
        return Image(pixels, mode)
    return pillow.fromarray(pixels.astype(np.int32) if mode == "I" else pixels)


def _gray(rgb):
    """Brightness as Pillow computes it."""
    weights = np.array([19595, 38470, 7471])
    return ((rgb[..., :3].astype(np.int64) @ weights + 0x8000) >> 16).astype(np.uint8)


def pixels_of(data, mode):
    """The bytes of a file as an array of one of the modes; of an animation the first frame."""
    pixels = tf.io.decode_image(data, expand_animations=False).numpy()
    gray, alpha = pixels.shape[2] < 3, pixels.shape[2] in (2, 4)
    if mode == "L":
        return pixels[..., 0] if gray else _gray(pixels)
    colours = np.repeat(pixels[..., :1], 3, axis=2) if gray else pixels[..., :3]
    if mode == "RGB":
        return np.ascontiguousarray(colours)
    opacity = pixels[..., -1:] if alpha else np.full((*pixels.shape[:2], 1), 255, np.uint8)
    return np.concatenate([colours, opacity], axis=2)


# ---------------------------------------------------------------------- resizing as Pillow does it
_FILTERS = {  # how far it reaches, and its weights
    "box": (0.5, lambda x: ((x > -0.5) & (x <= 0.5)).astype(float)),
    "bilinear": (1.0, lambda x: np.maximum(1 - abs(x), 0)),
    "hamming": (1.0, lambda x: np.where(abs(x) < 1, np.sinc(x) * (0.54 + 0.46 * np.cos(math.pi * x)), 0)),
    "bicubic": (2.0, lambda x: np.where(abs(x) < 1, (1.5 * abs(x) - 2.5) * x * x + 1,
                                        np.where(abs(x) < 2, ((-0.5 * abs(x) + 2.5) * abs(x) - 4) * abs(x) + 2, 0))),
    "lanczos": (3.0, lambda x: np.where(abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)),
}
INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")


def _resized_axis(pixels, size, method):
    """Axis 0 of pixels with another size; each result is rounded to a byte."""
    reach, weight = _FILTERS[method]
    before = pixels.shape[0]
    scale = before / size
    reach *= max(scale, 1.0)
    made = np.empty((size, *pixels.shape[1:]), np.uint8)
    for i in range(size):
        center = (i + 0.5) * scale
        first, end = max(int(center - reach + 0.5), 0), min(int(center + reach + 0.5), before)
        weights = weight((np.arange(first, end) - center + 0.5) / max(scale, 1.0))
        weights = weights / weights.sum()
        whole = np.trunc(weights * (1 << _BITS) + np.where(weights < 0, -0.5, 0.5)).astype(np.int64)
        total = np.tensordot(whole, pixels[first:end].astype(np.int64), 1) + (1 << (_BITS - 1))
        made[i] = np.clip(total >> _BITS, 0, 255)
    return made


def _nearest(before, size):
    """Which of `before` pixels are taken; Pillow adds up its steps, and the rounding with them."""
    scale = before / size
    return np.add.accumulate(np.concatenate([[0.5 * scale], np.full(size - 1, scale)])).astype(int)


def resized(pixels, height, width, method):
    """Pixels with another size, by Pillow's methods, columns first (its newest versions choose, and round otherwise)."""
    if method == "nearest":
        rows, columns = _nearest(pixels.shape[0], height), _nearest(pixels.shape[1], width)
        return np.ascontiguousarray(pixels[rows][:, columns])
    if pixels.shape[1] != width:
        pixels = _resized_axis(pixels.swapaxes(0, 1), width, method).swapaxes(0, 1)
    return np.ascontiguousarray(_resized_axis(pixels, height, method) if pixels.shape[0] != height else pixels)


# ---------------------------------------------------------------------- the functions
def load_img(path, color_mode="rgb", target_size=None, interpolation="nearest", keep_aspect_ratio=False):
    """An image from a file: 'rgb', 'rgba' or 'grayscale', resized if target_size (height, width) is given."""
    modes = {"grayscale": "L", "rgba": "RGBA", "rgb": "RGB"}
    if isinstance(path, io.BytesIO):
        data = path.getvalue()
    elif isinstance(path, (str, bytes, pathlib.Path)):
        with open(path, "rb") as file:
            data = file.read()
    else:
        raise TypeError(f"path should be path-like or io.BytesIO, not {type(path)}")
    if color_mode not in modes:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    pixels = pixels_of(data, modes[color_mode])
    if target_size is not None and tuple(target_size) != pixels.shape[:2]:
        if interpolation not in INTERPOLATIONS:
            raise ValueError(f"Invalid interpolation method {interpolation} specified. Supported methods are "
                             + ", ".join(INTERPOLATIONS))
        height, width = target_size
        if keep_aspect_ratio:
            pixels = _cropped(pixels, height, width)
        pixels = resized(pixels, height, width, interpolation)
    return _image(pixels, modes[color_mode])


def _cropped(pixels, height, width):
    """The largest part in the middle with the sides' ratio of height and width."""
    rows, columns = pixels.shape[:2]
    part_rows, part_columns = min(rows, columns * height // width), min(columns, rows * width // height)
    top, left = (rows - part_rows) // 2, (columns - part_columns) // 2
    return pixels[top:top + part_rows, left:left + part_columns]


def _checked_format(data_format):
    data_format = data_format or _state.image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of {'channels_first', 'channels_last'}. Received: "
                         f"data_format={data_format}")
    return data_format


def img_to_array(img, data_format=None, dtype=None):
    """An image as an array with an axis of channels."""
    first = _checked_format(data_format) == "channels_first"
    array = np.asarray(img, dtype=dtype or _state.floatx())
    if array.ndim == 3:
        return array.transpose(2, 0, 1) if first else array
    if array.ndim == 2:
        return array.reshape((1, *array.shape) if first else (*array.shape, 1))
    raise ValueError(f"Unsupported image shape: {array.shape}")


def array_to_img(x, data_format=None, scale=True, dtype=None):
    """An array with an axis of channels as an image; `scale` stretches its values to 0 ... 255."""
    first = _checked_format(data_format) == "channels_first"
    x = np.asarray(x, dtype=dtype or _state.floatx())
    if x.ndim != 3:
        raise ValueError(f"Expected image array to have rank 3 (single image). Got array with shape: {x.shape}")
    x = x.transpose(1, 2, 0) if first else x
    if scale:
        x = x - np.min(x)
        highest = np.max(x)
        x = (x / highest if highest != 0 else x) * 255
    mode = {4: "RGBA", 3: "RGB", 1: "L"}.get(x.shape[2])
    if mode is None:
        raise ValueError(f"Unsupported channel number: {x.shape[2]}")
    if mode == "L":
        return _image(x[:, :, 0].astype("int32"), "I") if np.max(x) > 255 else _image(x[:, :, 0].astype("uint8"), "L")
    return _image(x.astype("uint8"), mode)


def save_img(path, x, data_format=None, file_format=None, scale=True, **kwargs):
    """Writes an array as an image; the format is that of the name unless it is given."""
    image = array_to_img(x, data_format=data_format, scale=scale)
    name = (file_format or os.path.splitext(os.fspath(path))[1].lstrip(".")).lower()
    if image.mode == "RGBA" and name in ("jpg", "jpeg"):
        import warnings
        warnings.warn("The JPG format does not support RGBA images, converting to RGB.", stacklevel=2)
        image = _image(np.ascontiguousarray(np.asarray(image)[..., :3]), "RGB")
    image.save(path, format="jpeg" if name == "jpg" else file_format, **kwargs)


def smart_resize(x, size, interpolation="bilinear", data_format="channels_last", backend_module=None):
    """Images with another size, cropped in the middle so that nothing is stretched."""
    if len(size) != 2:
        raise ValueError(f"Expected `size` to be a tuple of 2 integers, but got: {size}.")
    images = tf.convert_to_tensor(x)
    if len(images.shape) not in (3, 4):
        raise ValueError("Expected an image array with shape `(height, width, channels)`, or `(batch_size, height, "
                         f"width, channels)`, but got input with incorrect rank, of shape {tuple(images.shape)}.")
    first = data_format == "channels_first"
    if first:
        images = tf.transpose(images, [1, 2, 0] if len(images.shape) == 3 else [0, 2, 3, 1])
    made = resize_cropped(images, size, interpolation)
    if first:
        made = tf.transpose(made, [2, 0, 1] if len(made.shape) == 3 else [0, 3, 1, 2])
    return made.numpy() if isinstance(x, np.ndarray) else made


def resize_cropped(images, size, interpolation):
    """The largest part in the middle with the sides' ratio of `size`, resized."""
    height, width = size
    rows, columns = images.shape[-3:-1]
    part_rows = min(rows, int(columns * height / width))
    part_columns = min(columns, int(rows * width / height))
    top, left = int((rows - part_rows) / 2), int((columns - part_columns) / 2)
    part = images[..., top:top + part_rows, left:left + part_columns, :]
    return tf.image.resize(part, size, method=interpolation)
