"""Layers that move elements: shapes, padding, cropping, repetition."""
import math

from ... import _core
from ._common import InputSpec, Layer, data_format_of, numbers, tf
from .convolution import to_channels_first, to_channels_last


class Flatten(Layer):
    """All axes but the batch as one."""

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        return _core._flatten(inputs, self.data_format == "channels_first")

    def compute_output_shape(self, input_shape):
        sizes = input_shape[1:]
        return (input_shape[0], math.prod(sizes) if None not in sizes else None)

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


class Reshape(Layer):
    """The elements of each example under another shape; one size may be -1."""

    def __init__(self, target_shape, **kwargs):
        super().__init__(**kwargs)
        self.target_shape = (target_shape,) if isinstance(target_shape, int) else tuple(target_shape)
        self.built = True

    def _resolved(self, sizes):
        target = list(self.target_shape)
        if -1 in target and None not in sizes:
            rest = math.prod(n for n in target if n != -1)
            if rest == 0 or math.prod(sizes) % rest:
                raise ValueError("The total size of the tensor must be unchanged. Received: "
                                 f"input_shape={tuple(sizes)}, target_shape={self.target_shape}")
            target[target.index(-1)] = math.prod(sizes) // rest
        elif -1 not in target and None not in sizes and math.prod(sizes) != math.prod(target):
            raise ValueError(f"The total size of the tensor must be unchanged. Received: input_shape={tuple(sizes)}, "
                             f"target_shape={self.target_shape}")
        return target

    def call(self, inputs):
        try:
            return _core._reshape_examples(inputs, self.target_shape)
        except tf.errors.InvalidArgumentError:
            self._resolved(tuple(inputs.shape)[1:])  # says it as Keras does
            raise

    def compute_output_shape(self, input_shape):
        return (input_shape[0], *(None if n == -1 else n for n in self._resolved(input_shape[1:])))

    def get_config(self):
        return {**super().get_config(), "target_shape": self.target_shape}


class Permute(Layer):
    """The axes of each example in another order, counted from 1."""

    def __init__(self, dims, **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError("Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` must "
                             f"be consecutive and start from 1. Received dims={dims}")
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs):
        return tf.transpose(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], *(input_shape[i] for i in self.dims))

    def get_config(self):
        return {**super().get_config(), "dims": self.dims}


class RepeatVector(Layer):
    """[batch, features] as [batch, n, features]."""

    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(n, int):
            raise TypeError(f"Expected an integer value for `n`, got {type(n)}.")
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs):
        return tf.tile(tf.expand_dims(inputs, 1), [1, self.n, 1])

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.n, input_shape[1])

    def get_config(self):
        return {**super().get_config(), "n": self.n}


def _margins(value, rank, name):
    """((before, after), ...) for each spatial axis: of one number, one for each axis, or pairs."""
    if isinstance(value, int):
        value = ((value, value),) * rank
    elif rank == 1 and len(value) == 2 and all(isinstance(v, int) for v in value):
        value = (tuple(value),)
    if not hasattr(value, "__len__"):
        raise ValueError(f"The `{name}` argument must be a tuple of {max(rank, 2)} integers. Received {name}={value}")
    if len(value) != rank:
        raise ValueError(f"`{name}` should have {rank} elements. Received: {name}={value}")
    return tuple(numbers(v, 2, name, allow_zero=True) for v in value)


class _Margins(Layer):
    """Padding and cropping: a pair of numbers for each spatial axis."""
    rank, name_of_margins = None, None

    def _set(self, value, data_format):
        self.data_format = data_format_of(data_format)
        self._margins = _margins(value, self.rank, self.name_of_margins)
        setattr(self, self.name_of_margins, self._margins[0] if self.rank == 1 else self._margins)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _first(self):
        return 1 if self.data_format == "channels_last" else 2

    def get_config(self):
        return {**super().get_config(), self.name_of_margins: getattr(self, self.name_of_margins),
                "data_format": self.data_format}


class _ZeroPadding(_Margins):
    name_of_margins = "padding"

    def call(self, inputs):
        margins = [(0, 0)] * (self.rank + 2)
        margins[self._first():self._first() + self.rank] = self._margins
        return tf.pad(inputs, margins)

    def compute_output_shape(self, input_shape):
        shape = list(input_shape)
        for i, (before, after) in enumerate(self._margins, self._first()):
            shape[i] = None if shape[i] is None else shape[i] + before + after
        return tuple(shape)


class ZeroPadding1D(_ZeroPadding):
    """Zeros before and after sequences."""
    rank = 1

    def __init__(self, padding=1, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self._set(padding, data_format)


class ZeroPadding2D(_ZeroPadding):
    """Zeros around images."""
    rank = 2

    def __init__(self, padding=(1, 1), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self._set(padding, data_format)


class ZeroPadding3D(_ZeroPadding):
    """Zeros around volumes."""
    rank = 3

    def __init__(self, padding=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self._set(padding, data_format)


class _Cropping(_Margins):
    name_of_margins = "cropping"

    def call(self, inputs):
        self.compute_output_shape(inputs.shape)  # refuses to cut everything away
        cut = [slice(None)] * (self.rank + 2)
        for i, (before, after) in enumerate(self._margins, self._first()):
            cut[i] = slice(before, -after if after else None)
        return inputs[tuple(cut)]

    def compute_output_shape(self, input_shape):
        shape = list(input_shape)
        for i, (before, after) in enumerate(self._margins, self._first()):
            if shape[i] is None:
                continue
            shape[i] -= before + after
            if shape[i] <= 0:
                raise ValueError("`cropping` parameter of `Cropping` layer must be smaller than the input's size. "
                                 f"Received: input_shape={input_shape}, cropping={self.cropping}")
        return tuple(shape)


class Cropping1D(_Cropping):
    """Sequences without their first and last times."""
    rank = 1

    def __init__(self, cropping=(1, 1), **kwargs):
        super().__init__(**kwargs)
        self._set(cropping, "channels_last")

    def get_config(self):
        config = super().get_config()
        del config["data_format"]
        return config


class Cropping2D(_Cropping):
    """Images without their edges."""
    rank = 2

    def __init__(self, cropping=((0, 0), (0, 0)), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self._set(cropping, data_format)


class Cropping3D(_Cropping):
    """Volumes without their edges."""
    rank = 3

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self._set(cropping, data_format)


class UpSampling1D(Layer):
    """Each time repeated."""

    def __init__(self, size=2, **kwargs):
        super().__init__(**kwargs)
        self.size = int(size)
        self.input_spec = InputSpec(ndim=3)

    def call(self, inputs):
        return tf.repeat(inputs, self.size, axis=1)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], None if input_shape[1] is None else input_shape[1] * self.size, input_shape[2])

    def get_config(self):
        return {**super().get_config(), "size": self.size}


class _UpSampling(Layer):
    rank = None

    def _set(self, size, data_format):
        self.data_format, self.size = data_format_of(data_format), numbers(size, self.rank, "size")
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _first(self):
        return 1 if self.data_format == "channels_last" else 2

    def call(self, inputs):
        for axis, n in enumerate(self.size, self._first()):
            inputs = tf.repeat(inputs, n, axis=axis)
        return inputs

    def compute_output_shape(self, input_shape):
        shape = list(input_shape)
        for axis, n in enumerate(self.size, self._first()):
            shape[axis] = None if shape[axis] is None else shape[axis] * n
        return tuple(shape)

    def get_config(self):
        return {**super().get_config(), "size": self.size, "data_format": self.data_format}


class UpSampling2D(_UpSampling):
    """Each pixel repeated, or images interpolated."""
    rank = 2

    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest", **kwargs):
        super().__init__(**kwargs)
        self._set(size, data_format)
        self.interpolation = interpolation.lower()
        if self.interpolation not in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"):
            raise ValueError("`interpolation` must be one of 'nearest', 'bilinear', 'bicubic', 'lanczos3', 'lanczos5'. "
                             f"Received: interpolation={interpolation}")

    def call(self, inputs):
        if self.interpolation == "nearest":
            return super().call(inputs)
        from .preprocessing import resize
        last = inputs if self.data_format == "channels_last" else to_channels_last(inputs)
        last = resize(last, last.shape[1] * self.size[0], last.shape[2] * self.size[1], self.interpolation)
        return last if self.data_format == "channels_last" else to_channels_first(last)

    def get_config(self):
        return {**super().get_config(), "interpolation": self.interpolation}


class UpSampling3D(_UpSampling):
    """Each element of a volume repeated."""
    rank = 3

    def __init__(self, size=(2, 2, 2), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self._set(size, data_format)
