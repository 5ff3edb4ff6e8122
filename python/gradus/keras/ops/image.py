"""Images."""
from .._state import image_data_format
from ..layers.convolution import to_channels_first, to_channels_last
from ..layers.preprocessing import resize as _resize
from ._op import op as _op
from ._op import tensor as _tensor


@_op
def resize(images, size, interpolation="bilinear", antialias=False, crop_to_aspect_ratio=False,
           pad_to_aspect_ratio=False, fill_mode="constant", fill_value=0.0, data_format=None):
    """Images with another size."""
    if antialias or crop_to_aspect_ratio or pad_to_aspect_ratio:
        raise NotImplementedError("image.resize with antialias or aspect ratios is not covered")
    if (data_format or image_data_format()) == "channels_last":
        return _resize(_tensor(images), size[0], size[1], interpolation)
    return to_channels_first(_resize(to_channels_last(_tensor(images)), size[0], size[1], interpolation))
