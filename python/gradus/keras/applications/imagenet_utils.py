"""Images as the networks want them, and what their 1000 numbers mean."""
import json
import os

import numpy as np

import gradus as tf

from .. import _state
from .._operation import KerasTensor
from ..utils._files import cache_folder

_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, red, green, blue
_BLUE_FIRST_MEAN = (103.939, 116.779, 123.68)


def preprocess_input(x, data_format=None, mode="caffe"):
    """Pixels of 0 to 255 as 'tf' (-1 to 1), 'torch' (mean 0, deviation 1) or 'caffe' (blue first, without the mean)."""
    if mode not in ("caffe", "tf", "torch"):
        raise ValueError(f"Expected mode to be one of `caffe`, `tf` or `torch`. Received: mode={mode}")
    data_format = data_format or _state.image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Expected data_format to be one of `channels_first` or `channels_last`. Received: "
                         f"data_format={data_format}")
    if isinstance(x, np.ndarray):
        if not issubclass(x.dtype.type, np.floating):
            x = x.astype(_state.floatx(), copy=False)
        return _changed(x, data_format, mode)
    if isinstance(x, KerasTensor):
        from ..layers import Lambda
        return Lambda(lambda image: _changed(image, data_format, mode))(x)
    x = tf.convert_to_tensor(x)
    return _changed(x if x.dtype.is_floating else tf.cast(x, _state.floatx()), data_format, mode)


def _changed(x, data_format, mode):
    if mode == "tf":
        return x / 127.5 - 1.0
    shape = (3, 1, 1) if data_format == "channels_first" else (3,)
    as_constant = (lambda v: np.array(v, x.dtype).reshape(shape)) if isinstance(x, np.ndarray) else (
        lambda v: tf.constant(np.array(v).reshape(shape), x.dtype))
    if mode == "torch":
        return (x / 255.0 - as_constant(_MEAN)) / as_constant(_STD)
    axis = len(x.shape) - 3 if data_format == "channels_first" else len(x.shape) - 1
    if isinstance(x, np.ndarray):
        x = np.flip(x, axis)
    else:
        x = tf.reverse(x, [axis])
    return x - as_constant(_BLUE_FIRST_MEAN)


def decode_predictions(preds, top=5):
    """For each row the (number, name, probability) of the most probable classes."""
    if len(preds.shape) != 2 or preds.shape[1] != 1000:
        raise ValueError("`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, "
                         f"1000)). Received array with shape: {tuple(preds.shape)}")
    path = os.path.join(cache_folder(None, "models"), "imagenet_class_index.json")
    if not os.path.exists(path):
        raise FileNotFoundError(f"'{path}' is not there, and Gradus does not download. Put Keras's file of the names of "
                                "ImageNet's classes there.")
    with open(path, encoding="utf-8") as file:
        names = json.load(file)
    rows = np.asarray(preds)
    return [[(*names[str(i)], row[i]) for i in row.argsort()[-top:][::-1]] for row in rows]
