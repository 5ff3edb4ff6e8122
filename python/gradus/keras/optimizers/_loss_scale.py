"""Training in float16: gradients of a loss that is scaled up, so that small ones do not vanish."""
import gradus as tf

from ... import _core
from ._optimizer import Optimizer


class LossScaleOptimizer(Optimizer):
    """An optimizer around another. Its scale doubles after so many steps without overflow; a step whose gradients are
    not finite changes nothing but halves the scale."""

    def __init__(self, inner_optimizer, initial_scale=2.0 ** 15, dynamic_growth_steps=2000, name=None, **kwargs):
        dynamic = kwargs.pop("dynamic", True)
        if not dynamic:
            raise ValueError("LossScaleOptimizer no longer supports `dynamic=False`. Instead, simply set `loss_scale_factor` "
                             "directly on the `inner_optimizer`.")
        super().__init__(learning_rate=0.0, name=name, **kwargs)
        self.inner_optimizer = inner_optimizer
        self.initial_scale, self.dynamic_growth_steps = initial_scale, dynamic_growth_steps

    def build(self, var_list):
        """Makes the scale, and the state of the inner optimizer."""
        if self.built:
            return
        self.step_counter = self.add_variable((), "zeros", "int64", name="step_counter")
        self.dynamic_scale = self.add_variable((), float(self.initial_scale), "float32", name="dynamic_scale")
        self.inner_optimizer.build(list(var_list))
        self._trainable_variables = list(var_list)
        self._indices = {id(v): i for i, v in enumerate(self._trainable_variables)}
        self.built = True

    @property
    def variables(self):
        return self._variables + self.inner_optimizer.variables

    @property
    def iterations(self):
        return self.inner_optimizer.iterations

    @property
    def learning_rate(self):
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        self.inner_optimizer.learning_rate = value

    def scale_loss(self, loss):
        """The loss times the scale of now."""
        scale, loss = self.dynamic_scale if self.built else self.initial_scale, tf.convert_to_tensor(loss)
        return loss * tf.cast(scale, loss.dtype)

    def get_scaled_loss(self, loss):
        """As scale_loss, by its older name."""
        return self.scale_loss(loss)

    def get_unscaled_gradients(self, grads):
        """Gradients of a scaled loss as those of the loss itself, for programs that call apply of the inner optimizer."""
        return _core._scale(list(grads), tf.cast(1.0 / self.dynamic_scale, "float32"))

    def apply(self, grads, trainable_variables=None):
        """A step with gradients of the scaled loss, unless they are not finite."""
        if not self.built:
            self._build(list(trainable_variables))
        variables = self._trainable_variables if trainable_variables is None else list(trainable_variables)
        grads = list(grads)
        finite = _all_finite(grads)
        if tf.executing_eagerly():
            (self._go if finite else self._skip)(grads, variables)
        else:
            tf.cond(finite, lambda: self._go(grads, variables), lambda: self._skip(grads, variables))

    def _go(self, grads, variables):
        grads = [None if g is None else _unscaled(g, self.dynamic_scale, v) for g, v in zip(grads, variables)]
        self.inner_optimizer.apply(grads, variables)
        grows = tf.equal(self.step_counter, self.dynamic_growth_steps - 1)
        self.step_counter.assign(tf.where(grows, tf.zeros_like(self.step_counter), self.step_counter + 1))
        self.dynamic_scale.assign(tf.where(grows, self.dynamic_scale * 2.0, self.dynamic_scale))
        return ()

    def _skip(self, grads, variables):
        self.step_counter.assign(tf.zeros_like(self.step_counter))
        self.dynamic_scale.assign(self.dynamic_scale / 2.0)
        return ()

    def finalize_variable_values(self, var_list):
        self.inner_optimizer.finalize_variable_values(var_list)

    def get_config(self):
        from . import serialize
        return {"name": self.name, "inner_optimizer": serialize(self.inner_optimizer), "initial_scale": self.initial_scale,
                "dynamic_growth_steps": self.dynamic_growth_steps}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from . import deserialize
        config = dict(config)
        config["inner_optimizer"] = deserialize(config["inner_optimizer"], custom_objects)
        return cls(**config)


def _unscaled(gradient, scale, variable):
    rows = isinstance(gradient, tf.IndexedSlices)
    values = tf.cast(tf.cast(gradient.values if rows else gradient, "float32") / scale, variable.dtype)
    return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape) if rows else values


def _all_finite(grads):
    finite = None
    for g in grads:
        if g is not None:
            one = tf.reduce_all(tf.math.is_finite(g.values if isinstance(g, tf.IndexedSlices) else g))
            finite = one if finite is None else tf.logical_and(finite, one)
    return tf.constant(True) if finite is None else finite
