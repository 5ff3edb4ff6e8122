"""Normalisation over batches, layers, groups and vectors."""
from ... import _core
from ._common import InputSpec, Layer, in_compute_dtype, parts, parts_config, tf


def _wide(x):
    """Halves are too coarse for statistics: float32 in their place."""
    return tf.cast(x, "float32") if x.dtype == "float16" or x.dtype == "bfloat16" else x


def _like(x, weight, default):
    """A weight in the dtype of x, or a constant number where there is none."""
    if weight is None:
        return default
    return weight if x.dtype == weight.dtype else tf.cast(weight, x.dtype)


def _shared_config(layer):
    """What layers with a learned scale (gamma) and offset (beta) have in common."""
    return {"axis": layer.axis, "epsilon": layer.epsilon, "center": layer.center, "scale": layer.scale,
            **parts_config(layer, "beta_initializer gamma_initializer beta_regularizer gamma_regularizer beta_constraint "
                                  "gamma_constraint")}


class BatchNormalization(Layer):
    """Columns with mean 0 and variance 1: those of the batch in training, the moving ones otherwise."""

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros",
                 gamma_initializer="ones", moving_mean_initializer="zeros", moving_variance_initializer="ones",
                 beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None,
                 renorm=False,
                 renorm_clipping=None, renorm_momentum=0.99, synchronized=False, **kwargs):
        super().__init__(**kwargs)
        self.axis, self.momentum, self.epsilon = int(axis), momentum, epsilon
        self.center, self.scale, self.synchronized = center, scale, synchronized
        self.renorm, self.renorm_momentum = renorm, renorm_momentum
        unknown = set(renorm_clipping or ()) - {"rmin", "rmax", "dmax"}
        if unknown:
            raise ValueError(f"Received invalid keys for `renorm_clipping` argument: {sorted(unknown)}. Supported values: "
                             "'rmax', 'rmin', 'dmax'.")
        self.renorm_clipping = dict(renorm_clipping or {}) if renorm else renorm_clipping
        parts(self, beta_initializer=beta_initializer, gamma_initializer=gamma_initializer,
              moving_mean_initializer=moving_mean_initializer, moving_variance_initializer=moving_variance_initializer,
              beta_regularizer=beta_regularizer, gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint,
              gamma_constraint=gamma_constraint)
        self.gamma = self.beta = None
        self.supports_masking = True

    def build(self, input_shape):
        size = input_shape[self.axis]
        if self.scale:
            self.gamma = self.add_weight(name="gamma", shape=(size,), initializer=self.gamma_initializer,
                                         regularizer=self.gamma_regularizer, constraint=self.gamma_constraint,
                                         autocast=False)
        if self.center:
            self.beta = self.add_weight(name="beta", shape=(size,), initializer=self.beta_initializer,
                                        regularizer=self.beta_regularizer, constraint=self.beta_constraint,
                                        autocast=False)
        self.moving_mean = self.add_weight(name="moving_mean", shape=(size,), initializer=self.moving_mean_initializer,
                                           trainable=False, autocast=False)
        self.moving_variance = self.add_weight(name="moving_variance", shape=(size,), trainable=False, autocast=False,
                                               initializer=self.moving_variance_initializer)
        if self.renorm:
            root = _root_of(self.moving_variance_initializer)
            statistic = dict(shape=(size,), trainable=False, autocast=False)
            self.moving_stddev = self.add_weight(name="moving_stddev", initializer=root, **statistic)
            self.renorm_mean = self.add_weight(name="renorm_mean", initializer=self.moving_mean_initializer, **statistic)
            self.renorm_stddev = self.add_weight(name="renorm_stddev", initializer=root, **statistic)
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: size})
        self.built = True

    def _renormalized(self, inputs, mask):
        """Batch renormalization: as if by the moving statistics, through those of the batch, and only so far off."""
        wide = tf.cast(inputs, "float64" if inputs.dtype == "float64" else "float32")
        axes = [i for i in range(len(wide.shape)) if i != self.axis % len(wide.shape)]
        if mask is None:
            mean, variance = tf.nn.moments(wide, axes)
        else:
            weight = tf.expand_dims(tf.cast(mask, wide.dtype), -1) * tf.ones_like(wide)
            total = tf.reduce_sum(weight, axes, keepdims=True) + 1e-7
            mean = tf.reduce_sum(weight * wide, axes, keepdims=True) / total
            variance = tf.squeeze(tf.reduce_sum(weight * tf.square(wide - mean), axes, keepdims=True) / total, axes)
            mean = tf.squeeze(mean, axes)
        deviation = tf.sqrt(variance + self.epsilon)
        usual = tf.maximum(tf.cast(self.renorm_stddev, mean.dtype), self.epsilon ** 0.5)
        scale, offset = deviation / usual, (mean - tf.cast(self.renorm_mean, mean.dtype)) / usual
        limits = self.renorm_clipping
        scale = scale if limits.get("rmin") is None else tf.maximum(scale, limits["rmin"])
        scale = scale if limits.get("rmax") is None else tf.minimum(scale, limits["rmax"])
        offset = offset if limits.get("dmax") is None else tf.clip_by_value(offset, -limits["dmax"], limits["dmax"])
        scale, offset = tf.stop_gradient(scale), tf.stop_gradient(offset)
        if self.gamma is not None:
            gamma = tf.cast(self.gamma, mean.dtype)
            scale, offset = scale * gamma, offset * gamma
        offset = offset if self.beta is None else offset + tf.cast(self.beta, mean.dtype)
        self._follow(tf.stop_gradient(mean), tf.stop_gradient(deviation))
        shape = [-1 if i not in axes else 1 for i in range(len(wide.shape))]
        mean, variance, offset, scale = (tf.reshape(t, shape) for t in (mean, variance, offset, scale))
        return tf.cast(tf.nn.batch_normalization(wide, mean, variance, offset, scale, self.epsilon), self.compute_dtype)

    def _follow(self, mean, deviation):
        def mixed(variable, new, momentum):
            return tf.cast(variable, new.dtype) * momentum + new * (1.0 - momentum)
        self.renorm_mean.assign(mixed(self.renorm_mean, mean, self.renorm_momentum))
        self.renorm_stddev.assign(mixed(self.renorm_stddev, deviation, self.renorm_momentum))
        self.moving_mean.assign(mixed(self.moving_mean, mean, self.momentum))
        moving = mixed(self.moving_stddev, deviation, self.momentum)
        self.moving_stddev.assign(moving)
        self.moving_variance.assign(tf.nn.relu(moving * moving - self.epsilon))

    def call(self, inputs, training=None, mask=None):
        if mask is not None and len(mask.shape) != len(inputs.shape) - 1:
            raise ValueError("The mask provided should be one dimension less than the inputs. Received: "
                             f"mask.shape={mask.shape}, inputs.shape={inputs.shape}")
        if self.renorm and training and self.trainable:
            return self._renormalized(inputs, mask)
        return _core._batch_normalization(inputs, self.gamma, self.beta, self.moving_mean, self.moving_variance,
                                          bool(training and self.trainable), self.axis, self.momentum, self.epsilon,
                                          self._compute, mask)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), **_shared_config(self), "momentum": self.momentum,
                **parts_config(self, "moving_mean_initializer moving_variance_initializer"),
                "synchronized": self.synchronized, "renorm": self.renorm, "renorm_clipping": self.renorm_clipping,
                "renorm_momentum": self.renorm_momentum}


def _root_of(initializer):
    """An initializer of deviations, of one of variances."""
    return lambda shape, dtype=None: tf.sqrt(initializer(shape, dtype=dtype))


def _dynamic(x):
    """Its sizes, for reshape: -1 for one that is not known, tensors if there are more."""
    shape = tuple(x.shape)
    if shape.count(None) < 2:
        return tuple(-1 if n is None else n for n in shape)
    known = tf.shape(x)
    return tuple(known[i] if n is None else n for i, n in enumerate(shape))


class LayerNormalization(Layer):
    """Each example with mean 0 and variance 1 over some axes, usually the last."""

    def __init__(self, axis=-1, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros",
                 gamma_initializer="ones", beta_regularizer=None, gamma_regularizer=None, beta_constraint=None,
                 gamma_constraint=None, **kwargs):
        rms_scaling = kwargs.pop("rms_scaling", False)
        super().__init__(**kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError("Expected an int or a list/tuple of ints for the argument 'axis', but received: %r" % axis)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self.epsilon, self.center, self.scale, self.rms_scaling = epsilon, center, scale, rms_scaling
        parts(self, beta_initializer=beta_initializer, gamma_initializer=gamma_initializer,
              beta_regularizer=beta_regularizer, gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint,
              gamma_constraint=gamma_constraint)
        self.gamma = self.beta = None
        self.supports_masking = True

    def build(self, input_shape):
        axes = self.axis = [self.axis] if isinstance(self.axis, int) else sorted(self.axis)
        shape = tuple(input_shape[a] for a in axes)
        if self.scale or self.rms_scaling:
            self.gamma = self.add_weight(name="gamma", shape=shape, initializer=self.gamma_initializer,
                                         regularizer=self.gamma_regularizer, constraint=self.gamma_constraint,
                                         autocast=False)
        if self.center and not self.rms_scaling:
            self.beta = self.add_weight(name="beta", shape=shape, initializer=self.beta_initializer,
                                        regularizer=self.beta_regularizer, constraint=self.beta_constraint,
                                        autocast=False)
        self.built = True

    def call(self, inputs):
        return _core._layer_normalization(inputs, self.gamma, self.beta, self.axis, self.epsilon, self.rms_scaling,
                                          self._compute)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), **_shared_config(self), "rms_scaling": self.rms_scaling}


class RMSNormalization(Layer):
    """Vectors divided by the root of their mean square, times a learned scale."""

    def __init__(self, axis=-1, epsilon=1e-6, **kwargs):
        super().__init__(**kwargs)
        self.axis, self.epsilon = axis, epsilon
        self.supports_masking = True

    def build(self, input_shape):
        self.axis = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        self.scale = self.add_weight(name="scale", shape=tuple(input_shape[a] for a in self.axis), initializer="ones",
                                     autocast=False)
        self.built = True

    def call(self, inputs):
        x = _wide(inputs)
        axes, rank = self.axis, len(x.shape)
        normal = {a % rank for a in axes}
        y = x * tf.math.rsqrt(tf.reduce_mean(tf.square(x), axes, keepdims=True) + self.epsilon)
        y = y * tf.reshape(_like(x, self.scale, None), [x.shape[i] if i in normal else 1 for i in range(rank)])
        return in_compute_dtype(self, y)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "axis": self.axis, "epsilon": self.epsilon}


class GroupNormalization(Layer):
    """Groups of channels with mean 0 and variance 1, for each example."""

    def __init__(self, groups=32, axis=-1, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros",
                 gamma_initializer="ones", beta_regularizer=None, gamma_regularizer=None, beta_constraint=None,
                 gamma_constraint=None, **kwargs):
        super().__init__(**kwargs)
        self.groups, self.axis, self.epsilon, self.center, self.scale = groups, axis, epsilon, center, scale
        parts(self, beta_initializer=beta_initializer, gamma_initializer=gamma_initializer,
              beta_regularizer=beta_regularizer, gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint,
              gamma_constraint=gamma_constraint)
        self.gamma = self.beta = None
        self.supports_masking = True

    def build(self, input_shape):
        size = input_shape[self.axis]
        if size is None:
            raise ValueError(f"Axis {self.axis} of input tensor should have a defined dimension but the layer received "
                             f"an input with shape {input_shape}.")
        if self.groups == -1:
            self.groups = size
        if size < self.groups or size % self.groups:
            raise ValueError(f"Number of groups ({self.groups}) must be a divisor of the number of channels ({size}).")
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: size})
        if self.scale:
            self.gamma = self.add_weight(name="gamma", shape=(size,), initializer=self.gamma_initializer,
                                         regularizer=self.gamma_regularizer, constraint=self.gamma_constraint,
                                         autocast=False)
        if self.center:
            self.beta = self.add_weight(name="beta", shape=(size,), initializer=self.beta_initializer,
                                        regularizer=self.beta_regularizer, constraint=self.beta_constraint,
                                        autocast=False)
        self.built = True

    def call(self, inputs):
        x, shape, rank = _wide(inputs), _dynamic(inputs), len(inputs.shape)
        axis = self.axis % rank
        size = inputs.shape[axis]
        grouped = tf.reshape(x, [*shape[:axis], self.groups, size // self.groups, *shape[axis + 1:]])
        axes = [i for i in range(1, rank + 1) if i != axis]
        mean = tf.reduce_mean(grouped, axes, keepdims=True)
        y = (grouped - mean) * tf.math.rsqrt(tf.math.reduce_variance(grouped, axes, keepdims=True) + self.epsilon)
        y = tf.reshape(y, shape)
        along = [size if i == axis else 1 for i in range(rank)]
        if self.gamma is not None:
            y = y * tf.reshape(_like(x, self.gamma, None), along)
        if self.beta is not None:
            y = y + tf.reshape(_like(x, self.beta, None), along)
        return in_compute_dtype(self, y)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "groups": self.groups, **_shared_config(self)}


class UnitNormalization(Layer):
    """Vectors of length 1."""

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(f"Invalid value for `axis` argument: expected an int or a list/tuple of ints. Received: "
                            f"axis={axis}")
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self.supports_masking = True
        self.built = True

    def call(self, inputs):
        return tf.math.l2_normalize(inputs, self.axis)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


class SpectralNormalization(Layer):
    """A layer whose kernel is divided by its largest singular value, which power iterations follow in training."""

    def __init__(self, layer, power_iterations=1, **kwargs):
        super().__init__(**kwargs)
        if power_iterations <= 0:
            raise ValueError("`power_iterations` should be greater than zero. Received: "
                             f"`power_iterations={power_iterations}`")
        self.layer, self.power_iterations = layer, power_iterations

    def build(self, input_shape):
        if not self.layer.built:
            self.layer.build(input_shape)
        self.kernel = self.layer.kernel if getattr(self.layer, "kernel", None) is not None else self.layer.embeddings
        self.vector_u = self.add_weight(name="vector_u", shape=(1, self.kernel.shape[-1]), trainable=False,
                                        initializer="truncated_normal")
        self.built = True

    def call(self, inputs, training=None):
        if training:
            kernel = tf.convert_to_tensor(self.kernel)
            matrix = tf.reshape(kernel, [-1, kernel.shape[-1]])
            u, v = tf.convert_to_tensor(self.vector_u), None
            for _ in range(self.power_iterations):
                v = tf.math.l2_normalize(tf.matmul(u, matrix, transpose_b=True))
                u = tf.math.l2_normalize(tf.matmul(v, matrix))
            u, v = tf.stop_gradient(u), tf.stop_gradient(v)
            sigma = tf.matmul(tf.matmul(v, matrix), u, transpose_b=True)
            self.vector_u.assign(u)
            self.kernel.assign(kernel / tf.reshape(sigma, []))
        return self.layer(inputs)

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)

    def get_config(self):
        from .. import _serialization as saving
        return {**super().get_config(), "power_iterations": self.power_iterations,
                "layer": saving.serialize_keras_object(self.layer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from .. import _serialization as saving
        config = dict(config)
        return cls(saving.deserialize_keras_object(config.pop("layer"), custom_objects=custom_objects), **config)
