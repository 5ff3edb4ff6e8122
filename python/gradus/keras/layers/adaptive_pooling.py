"""Pooling to a given size: the windows follow from the sizes, and may overlap by one element."""
from ._common import InputSpec, Layer, data_format_of, numbers, tf


def adaptive_pool(x, sizes, how, first_axis):
    """The means ("average") or largest elements ("max") of sizes[i] windows along the axes from first_axis on."""
    reduce = tf.reduce_max if how == "max" else tf.reduce_mean
    for axis, count in enumerate(sizes, first_axis):
        length = x.shape[axis]
        if count is None or count == length:
            continue
        at = [slice(None)] * axis
        windows = [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]
        x = tf.stack([reduce(x[(*at, slice(begin, end))], axis) for begin, end in windows], axis)
    return x


class _AdaptivePooling(Layer):
    """Subclasses say how many spatial axes there are and what is taken of a window."""
    rank = how = None

    def __init__(self, output_size, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.output_size = numbers(output_size, self.rank, "output_size")
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs):
        return adaptive_pool(inputs, self.output_size, self.how, 1 if self.data_format == "channels_last" else 2)

    def compute_output_shape(self, input_shape):
        if self.data_format == "channels_last":
            return (input_shape[0], *self.output_size, input_shape[-1])
        return (*input_shape[:2], *self.output_size)

    def get_config(self):
        return {**super().get_config(), "output_size": self.output_size, "data_format": self.data_format}


class AdaptiveAveragePooling1D(_AdaptivePooling):
    """Means over a given number of windows of a sequence."""
    rank, how = 1, "average"


class AdaptiveAveragePooling2D(_AdaptivePooling):
    """Means over a given number of windows of an image."""
    rank, how = 2, "average"


class AdaptiveAveragePooling3D(_AdaptivePooling):
    """Means over a given number of windows of a volume."""
    rank, how = 3, "average"


class AdaptiveMaxPooling1D(_AdaptivePooling):
    """Largest elements of a given number of windows of a sequence."""
    rank, how = 1, "max"


class AdaptiveMaxPooling2D(_AdaptivePooling):
    """Largest elements of a given number of windows of an image."""
    rank, how = 2, "max"


class AdaptiveMaxPooling3D(_AdaptivePooling):
    """Largest elements of a given number of windows of a volume."""
    rank, how = 3, "max"
