"""Dense, EinsumDense, Embedding and small layers that apply a function."""
import copy
import re

from ... import _core
from ...autograph._convert import while_traced
from .._layer import _keras_tensors_of
from .._operation import compute_output_spec
from ._common import (InputSpec, Layer, activations, in_compute_dtype, initializers, parts, parts_config,
                      regularizers, tf)

_DENSE_PARTS = ("kernel_initializer bias_initializer kernel_regularizer bias_regularizer kernel_constraint "
                "bias_constraint")


def _refuse_adapters(lora_rank, lora_alpha, quantization_config, gptq_unpacked_column_size=None):
    if lora_rank or quantization_config or gptq_unpacked_column_size:
        raise NotImplementedError(f"LoRA (lora_rank={lora_rank}, lora_alpha={lora_alpha}) and quantization are not covered; "
                                  "leave these arguments out")


class Dense(Layer):
    """activation(inputs @ kernel + bias)."""

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, bias_constraint=None, lora_rank=None, lora_alpha=None,
                 quantization_config=None,
                 **kwargs):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        if not isinstance(units, int) or units <= 0:
            raise ValueError("Received an invalid value for `units`, expected a positive integer. "
                             f"Received: units={units}")
        _refuse_adapters(lora_rank, lora_alpha, quantization_config)
        self.units, self.use_bias = units, use_bias
        self.activation = activations.get(activation)
        parts(self, kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
              kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
              kernel_constraint=kernel_constraint, bias_constraint=bias_constraint)
        self.kernel = self.bias = None
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True

    def build(self, input_shape):
        width = input_shape[-1]
        self.kernel = self.add_weight(name="kernel", shape=(width, self.units), initializer=self.kernel_initializer,
                                      regularizer=self.kernel_regularizer, constraint=self.kernel_constraint)
        if self.use_bias:
            self.bias = self.add_weight(name="bias", shape=(self.units,), initializer=self.bias_initializer,
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint)
        self.input_spec = InputSpec(min_ndim=2, axes={-1: width})
        self.built = True

    def call(self, inputs, training=None):
        if type(inputs) is tf.SparseTensor:
            return self._of_sparse(inputs)
        return _core._dense(inputs, self.kernel, self.bias, self.activation)

    def _of_sparse(self, inputs):
        y = tf.sparse.sparse_dense_matmul(inputs, self.kernel)
        y = y if self.bias is None else y + self.bias
        return y if self.activation is None else self.activation(y)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "activation": activations.serialize(self.activation),
                "use_bias": self.use_bias, **parts_config(self, _DENSE_PARTS), "quantization_config": None}


class EinsumDense(Layer):
    """activation(einsum(equation, inputs, kernel) + bias)."""

    def __init__(self, equation, output_shape, activation=None, bias_axes=None, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, lora_rank=None, lora_alpha=None, gptq_unpacked_column_size=None,
                 quantization_config=None, **kwargs):
        super().__init__(**kwargs)
        _refuse_adapters(lora_rank, lora_alpha, quantization_config, gptq_unpacked_column_size)
        self.equation, self.bias_axes = equation, bias_axes
        self.partial_output_shape = (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)
        self.activation = activations.get(activation)
        parts(self, kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
              kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
              kernel_constraint=kernel_constraint, bias_constraint=bias_constraint)
        self.kernel = self.bias = None

    def build(self, input_shape):
        kernel_shape, bias_shape, self.full_output_shape = _einsum_shapes(self.equation, self.bias_axes, input_shape,
                                                                         self.partial_output_shape)
        self.kernel = self.add_weight(name="kernel", shape=kernel_shape, initializer=self._fanned_initializer(),
                                      regularizer=self.kernel_regularizer, constraint=self.kernel_constraint)
        if bias_shape is not None:
            self.bias = self.add_weight(name="bias", shape=bias_shape, initializer=self.bias_initializer,
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint)
        self._summed = _summed_axes(self.equation)
        self.built = True

    def _fanned_initializer(self):
        """The kernel's initializer, told which axes are summed over if it goes by the number of inputs."""
        initializer = self.kernel_initializer
        if not isinstance(initializer, initializers.VarianceScaling) or (
                initializer.input_axes is not None or initializer.output_axes is not None):
            return initializer
        inputs, kernel, outputs = re.split(",|->", self.equation.replace(" ", "").replace("...", ""))
        summed = [i for i, axis in enumerate(kernel) if axis in inputs and axis not in outputs]
        made = [i for i, axis in enumerate(kernel) if axis in outputs and axis not in inputs]
        fanned = copy.copy(initializer)
        fanned.input_axes, fanned.output_axes = summed, made
        return fanned

    def call(self, inputs, training=None):
        if self._summed is not None:
            return _core._projection(inputs, self.kernel, self.bias, self.activation, self._summed)
        x = tf.einsum(self.equation, in_compute_dtype(self, inputs), self.kernel)
        return self.activation(x if self.bias is None else x + self.bias)

    def compute_output_shape(self, input_shape):
        made = _einsum_shapes(self.equation, self.bias_axes, input_shape, self.partial_output_shape)[2]
        return (input_shape[0], *made[1:])

    def get_config(self):
        return {**super().get_config(), "output_shape": self.partial_output_shape, "equation": self.equation,
                "activation": activations.serialize(self.activation), "bias_axes": self.bias_axes,
                **parts_config(self, "kernel_initializer bias_initializer kernel_regularizer bias_regularizer"),
                "activity_regularizer": regularizers.serialize(self.activity_regularizer),
                **parts_config(self, "kernel_constraint bias_constraint"), "quantization_config": None}


def _summed_axes(equation):
    """How many axes an equation like 'abx,xyz->abyz', which is a matrix product, sums over; None if it is not one."""
    inputs, kernel, outputs = equation.replace(" ", "").replace("->", ",").split(",")
    for count in range(1, len(kernel)):
        summed, rest = kernel[:count], kernel[count:]
        free = inputs[:-count]
        if inputs.endswith(summed) and outputs == free + rest and not set(rest) & set(inputs) and "." not in summed:
            return count
    return None


def _einsum_shapes(equation, bias_axes, input_shape, output_shape):
    """Shapes of the kernel, of the bias (None without one) and of the output."""
    match = re.fullmatch(r"\s*([a-zA-Z.]+)\s*,\s*([a-zA-Z]+)\s*->\s*([a-zA-Z.]+)\s*", equation)
    if not match:
        raise ValueError(f"Invalid einsum equation '{equation}'. Equations must be in the form [X],[Y]->[Z], ...[X],[Y]"
                         "->...[Z], or [X]...,[Y]->[Z]....")
    inputs, kernel, outputs = match.groups()
    # The ellipsis stands for axes that the output has as the input has them.
    extra = len(input_shape) - len(inputs.replace("...", ""))
    sizes, unknown = {}, []
    if "..." in inputs:
        unknown = list(input_shape[:extra] if inputs.startswith("...") else input_shape[len(input_shape) - extra:])
        known = input_shape[extra:] if inputs.startswith("...") else input_shape[:len(input_shape) - extra]
    else:
        known = input_shape
    for axis, size in zip(inputs.replace("...", ""), known):
        sizes[axis] = size
    names = outputs.replace("...", "")
    given = ([None] * (len(names) - len(output_shape)) + list(output_shape) if not outputs.endswith("...")
             else list(output_shape) + [None] * (len(names) - len(output_shape)))
    if "..." not in outputs and len(output_shape) == len(names) - 1:
        given = [None, *output_shape]
    for axis, size in zip(names, given):
        if size is None:
            continue
        if sizes.get(axis) is not None and sizes[axis] != size:
            raise ValueError(f"Input shape and output shape do not match at shared dimension '{axis}'. Input shape is "
                             f"{sizes[axis]}, and output shape is {size}.")
        sizes[axis] = size
    missing = [axis for axis in kernel if sizes.get(axis) is None]
    if missing:
        raise ValueError(f"Weight dimension '{missing[0]}' did not have a match in either the input spec '{inputs}' or "
                         f"the output spec '{outputs}'. For this layer, the weight must be fully specified.")
    full = [size if size is not None or not i or axis not in inputs else None
            for i, (axis, size) in enumerate(zip(names, given))]
    full = unknown + full if outputs.startswith("...") else full + unknown
    bias_shape = None
    if bias_axes:
        absent = [axis for axis in bias_axes if axis not in names]
        if absent:
            raise ValueError(f"Bias dimension '{absent[0]}' was requested, but is not part of the output spec "
                             f"'{outputs}'")
        first = min(names.index(axis) for axis in bias_axes)
        bias_shape = tuple(sizes[axis] if axis in bias_axes else 1 for axis in names[first:])
        bias_shape += (1,) * (len(unknown) if outputs.endswith("...") else 0)
    return tuple(sizes[axis] for axis in kernel), bias_shape, tuple(full)


class Embedding(Layer):
    """Rows of a table by number. The gradient of the table stays rows (IndexedSlices)."""

    def __init__(self, input_dim, output_dim, embeddings_initializer="uniform", embeddings_regularizer=None,
                 embeddings_constraint=None, mask_zero=False, weights=None, lora_rank=None, lora_alpha=None,
                 quantization_config=None, **kwargs):
        kwargs.pop("input_length", None)
        super().__init__(**kwargs)
        _refuse_adapters(lora_rank, lora_alpha, quantization_config)
        self.input_dim, self.output_dim = input_dim, output_dim
        parts(self, embeddings_initializer=embeddings_initializer, embeddings_regularizer=embeddings_regularizer,
              embeddings_constraint=embeddings_constraint)
        self.mask_zero = self.supports_masking = mask_zero
        if self.compute_dtype != self.variable_dtype:
            self.autocast = False  # neither the numbers of rows nor the whole table are cast
        self.embeddings = None
        if weights is not None:
            self.build()
            if not (isinstance(weights, list) and len(weights) == 1):
                weights = [weights]
            self.set_weights(weights)

    def build(self, input_shape=None):
        if self.embeddings is None:
            self.embeddings = self.add_weight(name="embeddings", shape=(self.input_dim, self.output_dim),
                                              initializer=self.embeddings_initializer,
                                              regularizer=self.embeddings_regularizer,
                                              constraint=self.embeddings_constraint)
        self.built = True

    def call(self, inputs):
        return _core._embedding(inputs, self.embeddings, self._compute)

    def compute_mask(self, inputs, mask=None):
        return tf.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape):
        return (*input_shape, self.output_dim)

    def get_config(self):
        return {**super().get_config(), "input_dim": self.input_dim, "output_dim": self.output_dim,
                **parts_config(self, "embeddings_initializer embeddings_regularizer"),
                "activity_regularizer": regularizers.serialize(self.activity_regularizer),
                **parts_config(self, "embeddings_constraint"), "mask_zero": self.mask_zero, "quantization_config": None}


class Activation(Layer):
    """An activation function as a layer."""

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)
        self.built = True

    def call(self, inputs):
        return self.activation(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "activation": activations.serialize(self.activation)}


class ReLU(Layer):
    """max(x, 0), with a slope below the threshold and a largest value if asked."""

    def __init__(self, max_value=None, negative_slope=0.0, threshold=0.0, **kwargs):
        super().__init__(**kwargs)
        for name, value in (("max_value", max_value), ("negative_slope", negative_slope), ("threshold", threshold)):
            if value is None and name == "max_value":
                continue
            if value is None or value < 0:
                raise ValueError(f"{name} of a ReLU layer cannot be a negative value. Received: {name}={value}")
        self.max_value, self.negative_slope, self.threshold = max_value, negative_slope, threshold
        self.supports_masking = True
        self.built = True

    def call(self, inputs):
        return _core._relu(inputs, self.negative_slope, self.max_value, self.threshold)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "max_value": self.max_value, "negative_slope": self.negative_slope,
                "threshold": self.threshold}


class LeakyReLU(Layer):
    """x above 0, negative_slope * x below."""

    def __init__(self, negative_slope=0.3, **kwargs):
        if "alpha" in kwargs:
            negative_slope = kwargs.pop("alpha")
        super().__init__(**kwargs)
        if negative_slope is None or negative_slope < 0:
            raise ValueError("The negative_slope value of a Leaky ReLU layer cannot be None or negative value. "
                             f"Expected a float. Received: negative_slope={negative_slope}")
        self.negative_slope = negative_slope
        self.supports_masking = True
        self.built = True

    def call(self, inputs):
        return tf.nn.leaky_relu(inputs, self.negative_slope)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "negative_slope": self.negative_slope}


class PReLU(Layer):
    """x above 0, alpha * x below, with an alpha that is learned for each element or along shared axes."""

    def __init__(self, alpha_initializer="Zeros", alpha_regularizer=None, alpha_constraint=None, shared_axes=None,
                 **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        parts(self, alpha_initializer=alpha_initializer, alpha_regularizer=alpha_regularizer,
              alpha_constraint=alpha_constraint)
        self.shared_axes = None if shared_axes is None else \
            list(shared_axes) if isinstance(shared_axes, (list, tuple)) else [shared_axes]

    def build(self, input_shape):
        shape = list(input_shape[1:])
        for axis in self.shared_axes or ():
            shape[axis - 1] = 1
        self.alpha = self.add_weight(name="alpha", shape=tuple(shape), initializer=self.alpha_initializer,
                                     regularizer=self.alpha_regularizer, constraint=self.alpha_constraint)
        axes = {i: n for i, n in enumerate(input_shape) if i and i not in (self.shared_axes or ())}
        self.input_spec = InputSpec(ndim=len(input_shape), axes=axes)
        self.built = True

    def call(self, inputs):
        return tf.nn.relu(inputs) - self.alpha * tf.nn.relu(-inputs)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), **parts_config(self, "alpha_initializer alpha_regularizer alpha_constraint"),
                "shared_axes": self.shared_axes}


class ELU(Layer):
    """x above 0, alpha * (exp(x) - 1) below."""

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self.alpha = alpha
        self.supports_masking = True
        self.built = True

    def call(self, inputs):
        return _core._elu(inputs, self.alpha)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "alpha": self.alpha}


class Softmax(Layer):
    """Probabilities along an axis; where a mask is false, 0."""

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis
        self.supports_masking = True
        self.built = True

    def call(self, inputs, mask=None):
        return masked_softmax(inputs, mask, self.axis)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


def masked_softmax(x, mask=None, axis=-1):
    """Where the mask is false the logit counts as the lowest number that is safe to add to."""
    return _core._softmax(x, mask, axis)


class Identity(Layer):
    """The input itself."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.built = True

    def call(self, inputs):
        return inputs

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return super().get_config()


class Masking(Layer):
    """Masks the times at which all features are mask_value, and sets them to 0."""

    def __init__(self, mask_value=0.0, **kwargs):
        super().__init__(**kwargs)
        self.mask_value = mask_value
        self.supports_masking = True
        self.built = True

    def compute_mask(self, inputs, mask=None):
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), -1)

    def call(self, inputs):
        kept = tf.reduce_any(tf.not_equal(inputs, self.mask_value), -1, keepdims=True)
        return inputs * tf.cast(kept, inputs.dtype)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "mask_value": self.mask_value}


class Lambda(Layer):
    """A function as a layer."""

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        self.arguments = arguments or {}
        self.function, self.mask, self._output_shape = function, mask, output_shape
        self.supports_masking = mask is not None
        code = getattr(function, "__code__", None)
        self._takes_mask = code is not None and "mask" in code.co_varnames[:code.co_argcount]

    def call(self, inputs, mask=None):
        kwargs = dict(self.arguments)
        if self._takes_mask:
            kwargs["mask"] = mask
        return while_traced(self.function)(inputs, **kwargs)

    def compute_mask(self, inputs, mask=None):
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape):
        if self._output_shape is None:
            symbols = _keras_tensors_of(input_shape, self.compute_dtype)
            return tf.nest.map_structure(lambda t: t.shape, self.compute_output_spec(symbols))
        if callable(self._output_shape):
            return self._output_shape(input_shape)
        first = input_shape
        while isinstance(first, dict) or isinstance(first[0], (list, tuple)):  # the first of several inputs
            first = next(iter(first.values())) if isinstance(first, dict) else first[0]
        given = self._output_shape
        return (first[0], *(given if isinstance(given, (tuple, list)) else (given,)))

    def compute_output_spec(self, *args, **kwargs):
        if self._output_shape is None:
            return compute_output_spec(self.call, *args, **kwargs)
        return super().compute_output_spec(*args, **kwargs)

    def get_config(self):
        from .. import _serialization as saving
        described = {name: saving.serialize_keras_object(value) if callable(value) else value
                     for name, value in (("function", self.function), ("output_shape", self._output_shape),
                                         ("mask", self.mask)) if value is not None}
        return {**super().get_config(), **described, "arguments": saving.serialize_keras_object(self.arguments)}

    @classmethod
    def from_config(cls, config, custom_objects=None, safe_mode=None):
        from .. import _serialization as saving
        config = dict(config)
        for name in ("function", "output_shape", "mask", "arguments"):
            if isinstance(config.get(name), dict):
                config[name] = saving.deserialize_keras_object(config[name], custom_objects=custom_objects,
                                                               safe_mode=safe_mode)
        return cls(**config)
