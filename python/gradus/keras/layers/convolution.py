"""Convolutions: forms of C++ in one and two dimensions, in three a sum over depth of those in two."""
from ... import _core
from ._common import (InputSpec, Layer, activations, data_format_of, in_compute_dtype, numbers, parts,
                      parts_config, regularizers, tf)

_PARTS = ("kernel_initializer bias_initializer", "kernel_regularizer bias_regularizer",
          "kernel_constraint bias_constraint")


def convolve(x, kernel, strides, padding, dilation):
    """x [n, spatial..., channels] with a kernel [spatial..., channels / groups, filters]."""
    if len(strides) < 3:
        return _core._convolution(x, kernel, None, None, strides, padding, dilation, False)
    dtype = x.dtype
    if dtype != "float32" and dtype != "float64":
        return tf.cast(convolve(tf.cast(x, "float32"), tf.cast(kernel, "float32"), strides, padding, dilation), dtype)
    return _convolve3d(x, kernel, strides, padding.upper(), dilation)


def _convolve3d(x, kernel, strides, padding, dilation):
    taps, step, apart, depth = kernel.shape[0], strides[0], dilation[0], x.shape[1]
    window = (taps - 1) * apart + 1
    if padding == "SAME":
        out = -(-depth // step)
        missing = max(0, (out - 1) * step + window - depth)
        x = tf.pad(x, [[0, 0], [missing // 2, missing - missing // 2], [0, 0], [0, 0], [0, 0]])
    else:
        out = (depth - window) // step + 1
    total = None
    for tap in range(taps):
        first = tap * apart
        planes = x[:, first:first + (out - 1) * step + 1:step]
        images = tf.reshape(planes, [-1, *planes.shape[2:]])
        y = tf.nn.conv2d(images, kernel[tap], strides[1:], padding, dilations=dilation[1:])
        total = y if total is None else total + y
    return tf.reshape(total, [-1, out, *total.shape[1:]])


def _convolve3d_transpose(x, kernel, size, strides, padding, dilation):
    """A sum over the taps along the depth, of which each is a transposed conv2d of all planes."""
    taps, step, apart, depth = kernel.shape[0], strides[0], dilation[0], x.shape[1]
    planes = tf.reshape(x, [-1, *x.shape[2:]])
    total, length = None, depth * step + (taps - 1) * apart
    for tap in range(taps):
        y = _core._conv2d_transpose(planes, kernel[tap], size[1:], strides[1:], padding, dilation[1:])
        y = tf.reshape(y, [-1, depth, 1, *y.shape[1:]])
        y = tf.pad(y, [[0, 0], [0, 0], [0, step - 1], [0, 0], [0, 0], [0, 0]])  # the planes between those of the input
        y = tf.reshape(y, [-1, depth * step, *y.shape[3:]])
        first = tap * apart
        y = tf.pad(y, [[0, 0], [first, length - depth * step - first], [0, 0], [0, 0], [0, 0]])
        total = y if total is None else total + y
    window = (taps - 1) * apart + 1
    cut = max(0, (depth - 1) * step + window - size[0]) // 2 if padding == "SAME" else 0
    total = total[:, cut:cut + size[0]]
    return tf.pad(total, [[0, 0], [0, size[0] - total.shape[1]], [0, 0], [0, 0], [0, 0]])


def to_channels_last(x):
    """[n, channels, spatial...] as [n, spatial..., channels]."""
    rank = len(x.shape)
    return tf.transpose(x, [0, *range(2, rank), 1])


def to_channels_first(x):
    """And back."""
    rank = len(x.shape)
    return tf.transpose(x, [0, rank - 1, *range(1, rank - 1)])


def window_size(size, window, stride, padding, dilation=1):
    """How many windows fit along an axis."""
    if size is None:
        return None
    if padding in ("same", "causal"):
        return -(-size // stride)
    out = (size - (window - 1) * dilation - 1) // stride + 1
    if out <= 0:
        raise ValueError(f"Computed output size would be zero or negative. Received: input size {size}, window {window}, "
                         f"dilation {dilation}, padding '{padding}'.")
    return out


def spatial_shape(layer, input_shape, sizes, channels):
    """The shape with new spatial sizes and channels, in the layer's data format."""
    return (input_shape[0], *sizes, channels) if layer.data_format == "channels_last" else (
        input_shape[0], channels, *sizes)


class BaseConv(Layer):
    """What all convolutions have; subclasses say their rank."""
    rank = None

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1, groups=1,
                 activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, **kwargs):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        rank = self.rank
        if filters is not None and filters <= 0:
            raise ValueError(f"Invalid value for argument `filters`. Expected a strictly positive value. Received "
                             f"filters={filters}.")
        if groups <= 0 or filters is not None and filters % groups:
            raise ValueError("The number of filters must be evenly divisible by the number of groups. Received: "
                             f"groups={groups}, filters={filters}.")
        self.filters, self.groups = filters, groups
        self.kernel_size = numbers(kernel_size, rank, "kernel_size")
        self.strides = numbers(strides, rank, "strides")
        self.dilation_rate = numbers(dilation_rate, rank, "dilation_rate")
        self.padding = padding.lower()
        allowed = ("valid", "same", "causal") if rank == 1 else ("valid", "same")
        if self.padding not in allowed:
            raise ValueError("The `padding` argument must be a list/tuple or one of {"
                             + ", ".join(map(repr, allowed)) + f"}}. Received: {padding}")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                             f"strides={self.strides} and dilation_rate={self.dilation_rate}")
        self.data_format = data_format_of(data_format)
        self.activation, self.use_bias = activations.get(activation), use_bias
        parts(self, kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
              kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
              kernel_constraint=kernel_constraint, bias_constraint=bias_constraint)
        self.kernel = self.bias = None
        self.input_spec = InputSpec(min_ndim=rank + 2)

    def _channels(self, input_shape):
        axis = -1 if self.data_format == "channels_last" else 1
        if input_shape[axis] is None:
            raise ValueError("The channel dimension of the inputs should be defined. The input_shape received is "
                             f"{input_shape}, where axis {axis} (0-based) is the channel dimension, which found to be "
                             "`None`.")
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={axis: input_shape[axis]})
        return input_shape[axis]

    def _add_bias(self, size):
        if self.use_bias:
            self.bias = self.add_weight(name="bias", shape=(size,), initializer=self.bias_initializer,
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint)

    def build(self, input_shape):
        channels = self._channels(input_shape)
        if channels % self.groups:
            raise ValueError("The number of input channels must be evenly divisible by the number of groups. Received "
                             f"groups={self.groups}, but the input has {channels} channels (full input shape is "
                             f"{input_shape}).")
        self.kernel = self.add_weight(name="kernel", shape=(*self.kernel_size, channels // self.groups, self.filters),
                                      initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint)
        self._add_bias(self.filters)
        self.built = True

    def call(self, inputs):
        try:
            return _core._convolution(inputs, self.kernel, self.bias, self.activation, self.strides, self.padding,
                                      self.dilation_rate, self.data_format == "channels_first")
        except tf.errors.InvalidArgumentError:
            self.compute_output_shape(inputs.shape)  # a kernel beyond its input: says it as Keras does
            raise

    def _call_by_parts(self, inputs):
        """What is not one form: `_convolved` with channels last, the bias and the activation."""
        x = in_compute_dtype(self, inputs)
        first = self.data_format == "channels_first"
        for i, size in enumerate(self._spatial(x.shape)):  # a kernel beyond its input is an error, not an empty result
            self._new_size(size, i)
        x = self._convolved(to_channels_last(x) if first else x)
        if self.bias is not None:
            x = x + self.bias
        return self.activation(to_channels_first(x) if first else x)

    def _spatial(self, input_shape):
        return input_shape[1:-1] if self.data_format == "channels_last" else input_shape[2:]

    def _new_size(self, size, i):
        return window_size(size, self.kernel_size[i], self.strides[i], self.padding, self.dilation_rate[i])

    def _out_channels(self, input_shape):
        return self.filters

    def compute_output_shape(self, input_shape):
        sizes = [self._new_size(size, i) for i, size in enumerate(self._spatial(input_shape))]
        return spatial_shape(self, input_shape, sizes, self._out_channels(input_shape))

    def _geometry(self):
        return {"filters": self.filters, "kernel_size": self.kernel_size, "strides": self.strides,
                "padding": self.padding, "data_format": self.data_format, "dilation_rate": self.dilation_rate,
                "groups": self.groups}

    _part_names = _PARTS

    def get_config(self):
        initial, penalties, limits = self._part_names
        return {**super().get_config(), **self._geometry(), "activation": activations.serialize(self.activation),
                "use_bias": self.use_bias, **parts_config(self, initial), **parts_config(self, penalties),
                "activity_regularizer": regularizers.serialize(self.activity_regularizer),
                **parts_config(self, limits)}


class Conv1D(BaseConv):
    """Convolution of sequences; padding may be 'causal'."""
    rank = 1


class Conv2D(BaseConv):
    """Convolution of images."""
    rank = 2


class Conv3D(BaseConv):
    """Convolution of volumes."""
    rank = 3
    call = BaseConv._call_by_parts

    def _convolved(self, x):
        return convolve(x, self.kernel, self.strides, self.padding, self.dilation_rate)


class BaseConvTranspose(BaseConv):
    """What transposed convolutions have."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", output_padding=None, data_format=None,
                 dilation_rate=1, activation=None, use_bias=True, **kwargs):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation=activation,
                         use_bias=use_bias, **kwargs)
        self.output_padding = None if output_padding is None else numbers(output_padding, self.rank, "output_padding",
                                                                          allow_zero=True)

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self.kernel = self.add_weight(name="kernel", shape=(*self.kernel_size, self.filters, channels),
                                      initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint)
        self._add_bias(self.filters)
        self.built = True

    def _new_size(self, size, i):
        if size is None:
            return None
        window, stride = (self.kernel_size[i] - 1) * self.dilation_rate[i] + 1, self.strides[i]
        if self.output_padding is None:
            return size * stride + (max(window - stride, 0) if self.padding == "valid" else 0)
        margin = window // 2 if self.padding == "same" else 0
        return (size - 1) * stride + window - 2 * margin + self.output_padding[i]

    def call(self, inputs):
        return _core._convolution_transpose(inputs, self.kernel, self.bias, self.activation, self.strides, self.padding,
                                            self.dilation_rate, self.data_format == "channels_first",
                                            self.output_padding)

    def _geometry(self):
        geometry = super()._geometry()
        del geometry["groups"]
        return {**geometry, "output_padding": self.output_padding}


class Conv1DTranspose(BaseConvTranspose):
    """The transpose of a convolution of sequences."""
    rank = 1


class Conv2DTranspose(BaseConvTranspose):
    """The transpose of a convolution of images."""
    rank = 2


class Conv3DTranspose(BaseConvTranspose):
    """The transpose of a convolution of volumes."""
    rank = 3
    call = BaseConv._call_by_parts

    def _convolved(self, x):
        dtype, kernel = x.dtype, self.kernel
        if dtype != "float32" and dtype != "float64":
            x, kernel = tf.cast(x, "float32"), tf.cast(kernel, "float32")
        size = [self._new_size(size, i) for i, size in enumerate(x.shape[1:-1])]
        y = _convolve3d_transpose(x, kernel, size, self.strides, self.padding.upper(), self.dilation_rate)
        return y if y.dtype == dtype else tf.cast(y, dtype)


class BaseDepthwise(BaseConv):
    """Each channel by itself."""
    _part_names = ("depthwise_initializer bias_initializer", "depthwise_regularizer bias_regularizer",
                   "depthwise_constraint bias_constraint")

    def __init__(self, kernel_size, strides=1, padding="valid", depth_multiplier=1, data_format=None, dilation_rate=1,
                 activation=None, use_bias=True, depthwise_initializer="glorot_uniform", bias_initializer="zeros",
                 depthwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None,
                 bias_constraint=None, **kwargs):
        super().__init__(None, kernel_size, strides, padding, data_format, dilation_rate, activation=activation,
                         use_bias=use_bias, kernel_initializer=None, bias_initializer=bias_initializer,
                         bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, bias_constraint=bias_constraint, **kwargs)
        self.depth_multiplier = depth_multiplier
        parts(self, depthwise_initializer=depthwise_initializer, depthwise_regularizer=depthwise_regularizer,
              depthwise_constraint=depthwise_constraint)

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self.kernel = self.add_weight(name="kernel", shape=(*self.kernel_size, channels, self.depth_multiplier),
                                      initializer=self.depthwise_initializer, regularizer=self.depthwise_regularizer,
                                      constraint=self.depthwise_constraint)
        self._add_bias(channels * self.depth_multiplier)
        self.built = True

    call = BaseConv._call_by_parts

    def _convolved(self, x):
        return _depthwise(self, x, self.kernel)

    def _out_channels(self, input_shape):
        channels = input_shape[-1 if self.data_format == "channels_last" else 1]
        return channels * self.depth_multiplier

    def _geometry(self):
        geometry = super()._geometry()
        del geometry["filters"], geometry["groups"]
        return {"depth_multiplier": self.depth_multiplier, **geometry}


def _depthwise(layer, x, kernel):
    """A grouped convolution with one channel for each group."""
    *window, channels, multiplier = kernel.shape
    kernel = tf.reshape(kernel, [*window, 1, channels * multiplier])
    return convolve(x, kernel, layer.strides, layer.padding, layer.dilation_rate)


class DepthwiseConv1D(BaseDepthwise):
    """Convolution of each channel of sequences by itself."""
    rank = 1


class DepthwiseConv2D(BaseDepthwise):
    """Convolution of each channel of images by itself."""
    rank = 2


class BaseSeparable(BaseConv):
    """Each channel by itself, then a product over channels."""
    _part_names = ("depthwise_initializer pointwise_initializer bias_initializer",
                   "depthwise_regularizer pointwise_regularizer bias_regularizer",
                   "depthwise_constraint pointwise_constraint bias_constraint")

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
                 depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer="glorot_uniform",
                 pointwise_initializer="glorot_uniform", bias_initializer="zeros", depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None,
                 pointwise_constraint=None, bias_constraint=None, **kwargs):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation=activation,
                         use_bias=use_bias, kernel_initializer=None, bias_initializer=bias_initializer,
                         bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, bias_constraint=bias_constraint, **kwargs)
        self.depth_multiplier = depth_multiplier
        parts(self, depthwise_initializer=depthwise_initializer, pointwise_initializer=pointwise_initializer,
              depthwise_regularizer=depthwise_regularizer, pointwise_regularizer=pointwise_regularizer,
              depthwise_constraint=depthwise_constraint, pointwise_constraint=pointwise_constraint)

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            name="depthwise_kernel", shape=(*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer, regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint)
        self.pointwise_kernel = self.add_weight(
            name="pointwise_kernel", shape=(*(1,) * self.rank, channels * self.depth_multiplier, self.filters),
            initializer=self.pointwise_initializer, regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint)
        self._add_bias(self.filters)
        self.built = True

    call = BaseConv._call_by_parts

    def _convolved(self, x):
        x = _depthwise(self, x, self.depthwise_kernel)
        return convolve(x, self.pointwise_kernel, (1,) * self.rank, "valid", (1,) * self.rank)

    def _geometry(self):
        geometry = super()._geometry()
        del geometry["groups"]
        return {"depth_multiplier": self.depth_multiplier, **geometry}


class SeparableConv1D(BaseSeparable):
    """A depthwise convolution of sequences, then a product over channels."""
    rank = 1


class SeparableConv2D(BaseSeparable):
    """A depthwise convolution of images, then a product over channels."""
    rank = 2


Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution1DTranspose, Convolution2DTranspose, Convolution3DTranspose = (Conv1DTranspose, Conv2DTranspose,
                                                                          Conv3DTranspose)
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
