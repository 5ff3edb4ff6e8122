"""Pooling over windows, and over all of space."""
from ... import _core
from ._common import InputSpec, Layer, data_format_of, numbers, tf
from .convolution import spatial_shape, to_channels_first, to_channels_last, window_size


def pool(x, how, size, strides, padding, channels_first=False):
    """x [n, spatial..., channels]; `how` is "max" or "avg"; padding "valid" or "same"."""
    if len(size) < 3:
        return _core._pooling(x, how, size, strides, padding, channels_first)
    if channels_first:
        return to_channels_first(pool(to_channels_last(x), how, size, strides, padding))
    # Space first, then depth with all of space as one axis.
    depth, height, width, channels = x.shape[1:]
    planes = pool(tf.reshape(x, [-1, height, width, channels]), how, size[1:], strides[1:], padding)
    height, width = planes.shape[1:3]
    columns = tf.reshape(planes, [-1, depth, height * width, channels])
    y = pool(columns, how, (size[0], 1), (strides[0], 1), padding)
    return tf.reshape(y, [-1, y.shape[1], height, width, channels])


class BasePooling(Layer):
    """What pooling layers have; subclasses say their rank and how."""
    rank, how = None, None

    def __init__(self, pool_size=2, strides=None, padding="valid", data_format=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.pool_size = numbers(pool_size, self.rank, "pool_size")
        self.strides = self.pool_size if strides is None else numbers(strides, self.rank, "strides")
        self.padding = padding.lower()
        if self.padding not in ("valid", "same"):
            raise ValueError(f"The `padding` argument must be one of {{'valid', 'same'}}. Received: padding={padding}")
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)
        self.built = True

    def call(self, inputs):
        return pool(inputs, self.how, self.pool_size, self.strides, self.padding, self.data_format == "channels_first")

    def compute_output_shape(self, input_shape):
        last = self.data_format == "channels_last"
        sizes = [window_size(n, w, s, self.padding)
                 for n, w, s in zip(input_shape[1:-1] if last else input_shape[2:], self.pool_size, self.strides)]
        return spatial_shape(self, input_shape, sizes, input_shape[-1 if last else 1])

    def get_config(self):
        return {**super().get_config(), "pool_size": self.pool_size, "padding": self.padding, "strides": self.strides,
                "data_format": self.data_format}


class BaseGlobalPooling(Layer):
    """What global pooling layers have."""
    rank, how = None, None

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(**kwargs)
        self.data_format, self.keepdims = data_format_of(data_format), keepdims
        self.input_spec = InputSpec(ndim=self.rank + 2)
        self.built = True

    def call(self, inputs):
        return _core._global_pooling(inputs, self.how, self.keepdims, self.data_format == "channels_first")

    def compute_output_shape(self, input_shape):
        channels = input_shape[-1 if self.data_format == "channels_last" else 1]
        if not self.keepdims:
            return (input_shape[0], channels)
        return spatial_shape(self, input_shape, (1,) * self.rank, channels)

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format, "keepdims": self.keepdims}


class GlobalAveragePooling1D(BaseGlobalPooling):
    """The mean over time; masked times do not count."""
    rank, how = 1, "avg"

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(data_format, keepdims, **kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        return _core._global_pooling(inputs, self.how, self.keepdims, self.data_format == "channels_first", mask)

    def _passes_masks(self):
        return True

    def compute_mask(self, inputs, mask=None):
        return None


def _pooling(name, base, rank, how, doc, **more):
    return type(name, (base,), {"__doc__": doc, "__module__": __name__, "rank": rank, "how": how, **more})


MaxPooling1D = MaxPool1D = _pooling("MaxPooling1D", BasePooling, 1, "max", "The largest of each window of times.")
MaxPooling2D = MaxPool2D = _pooling("MaxPooling2D", BasePooling, 2, "max", "The largest of each window of pixels.")
MaxPooling3D = MaxPool3D = _pooling("MaxPooling3D", BasePooling, 3, "max", "The largest of each window of a volume.")
AveragePooling1D = AvgPool1D = _pooling("AveragePooling1D", BasePooling, 1, "avg", "The mean of each window of times.")
AveragePooling2D = AvgPool2D = _pooling("AveragePooling2D", BasePooling, 2, "avg", "The mean of each window of pixels.")
AveragePooling3D = AvgPool3D = _pooling("AveragePooling3D", BasePooling, 3, "avg", "The mean of each block in volumes.")
GlobalMaxPooling1D = GlobalMaxPool1D = _pooling("GlobalMaxPooling1D", BaseGlobalPooling, 1, "max",
                                                "The largest over time.")
GlobalMaxPooling2D = GlobalMaxPool2D = _pooling("GlobalMaxPooling2D", BaseGlobalPooling, 2, "max",
                                                "The largest over space.")
GlobalMaxPooling3D = GlobalMaxPool3D = _pooling("GlobalMaxPooling3D", BaseGlobalPooling, 3, "max",
                                                "The largest over a volume.")
GlobalAveragePooling2D = GlobalAvgPool2D = _pooling("GlobalAveragePooling2D", BaseGlobalPooling, 2, "avg",
                                                    "The mean over space.")
GlobalAveragePooling3D = GlobalAvgPool3D = _pooling("GlobalAveragePooling3D", BaseGlobalPooling, 3, "avg",
                                                    "The mean over a volume.")
GlobalAvgPool1D = GlobalAveragePooling1D
