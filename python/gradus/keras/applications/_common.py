"""What the networks share: the shape of their input, their top, their files of weights.

Nothing is downloaded: weights="imagenet" reads the file that Keras keeps in ~/.keras/models, and says which one is
missing.
"""
import os

from .. import _state
from .._functional import Input
from .._operation import is_keras_tensor
from ..layers import Dense, GlobalAveragePooling2D, GlobalMaxPooling2D
from ..models import Model
from ..utils import get_source_inputs
from ..utils._files import cache_folder


def channel_axis():
    return 3 if _state.image_data_format() == "channels_last" else 1


def check_weights(weights, include_top, classes):
    """Refuses weights that are neither None, 'imagenet' nor a file, and ImageNet's for other classes."""
    if weights not in ("imagenet", None) and not os.path.exists(weights):
        raise ValueError("The `weights` argument should be either `None` (random initialization), 'imagenet' "
                         "(pre-training on ImageNet), or the path to the weights file to be loaded.  Received: "
                         f"weights={weights}")
    if weights == "imagenet" and include_top and classes != 1000:
        raise ValueError("If using `weights='imagenet'` with `include_top=True`, `classes` should be 1000.  Received: "
                         f"classes={classes}")


def shape_of_input(input_shape, default_size, min_size, needs_size, weights):
    """The shape of one image."""
    last = _state.image_data_format() == "channels_last"
    default = (default_size, default_size, 3) if last else (3, default_size, default_size)
    if weights == "imagenet" and needs_size and input_shape is not None:
        if tuple(input_shape) != default:
            raise ValueError("When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be "
                             f"{default}.  Received: input_shape={input_shape}")
        return default
    if input_shape is None:
        return default if needs_size else ((None, None, 3) if last else (3, None, None))
    if len(input_shape) != 3:
        raise ValueError("`input_shape` must be a tuple of three integers.")
    channels, sizes = (input_shape[-1], input_shape[:-1]) if last else (input_shape[0], input_shape[1:])
    if channels != 3 and weights == "imagenet":
        raise ValueError(f"The input must have 3 channels; Received `input_shape={input_shape}`")
    if any(size is not None and size < min_size for size in sizes):
        raise ValueError(f"Input size must be at least {min_size}x{min_size}; Received: input_shape={input_shape}")
    if needs_size and None in input_shape:
        raise ValueError("If `include_top` is True, you should specify a static `input_shape`. Received: "
                         f"input_shape={input_shape}")
    return tuple(input_shape)


def image_input(input_tensor, shape):
    if input_tensor is None:
        return Input(shape=shape)
    return input_tensor if is_keras_tensor(input_tensor) else Input(tensor=input_tensor, shape=shape)


def pooled(x, pooling, named=True):
    """The features of a network without its top."""
    if pooling == "avg":
        return GlobalAveragePooling2D(**{"name": "avg_pool"} if named else {})(x)
    if pooling == "max":
        return GlobalMaxPooling2D(**{"name": "max_pool"} if named else {})(x)
    return x


def with_top(x, include_top, pooling, classes, activation, weights, named=True):
    """Means and probabilities, or what `pooling` asks for."""
    if not include_top:
        return pooled(x, pooling, named)
    check_activation(activation, weights)
    x = GlobalAveragePooling2D(name="avg_pool")(x)
    return Dense(classes, activation=activation, name="predictions")(x)


def check_activation(activation, weights):
    from .. import activations
    if weights is not None and activations.get(activation) not in (activations.get("softmax"), activations.get(None)):
        raise ValueError("Only `None` and `softmax` activations are allowed for the `classifier_activation` argument when "
                         f"using pretrained weights, with `include_top=True`; Received: classifier_activation={activation}")


def network(x, inputs, input_tensor, name, weights, file_name):
    """The model, with the weights of ImageNet or of a file."""
    inputs = inputs if input_tensor is None else get_source_inputs(input_tensor)[0]
    model = Model(inputs, x, name=name)
    if weights == "imagenet":
        path = os.path.join(cache_folder(None, "models"), file_name)
        if not os.path.exists(path):
            raise FileNotFoundError(f"'{path}' is not there, and Gradus does not download. Put Keras's file of the weights "
                                    f"of {name} there, or build the network with weights=None.")
        model.load_weights(path)
    elif weights is not None:
        model.load_weights(weights)
    return model
