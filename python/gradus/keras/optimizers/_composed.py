"""Optimizers that need more than one sweep: norms of whole variables or factors of their squares. A step of one variable
is a function of the engine (gradus/optimizers_composed.h)."""
from ... import _core
from ._optimizer import Optimizer
from ._rules import _common


class Lamb(Optimizer):
    """Adam with steps in proportion to the norm of each variable."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, weight_decay=None, clipnorm=None,
                 clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None,
                 loss_scale_factor=None, gradient_accumulation_steps=None, name=None, **kwargs):
        super().__init__(**_common(locals()))
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self._momentums, self._velocities = self.add_optimizer_variables(variables, ["momentum", "velocity"])

    def update_step(self, gradient, variable, learning_rate):
        """Changes one variable by its gradient."""
        at = self._get_variable_index(variable)
        _core._lamb(variable, self._momentums[at], self._velocities[at], gradient, learning_rate, self.iterations,
                    self.beta_1, self.beta_2, self.epsilon)

    def get_config(self):
        return {**super().get_config(), "beta_1": self.beta_1, "beta_2": self.beta_2, "epsilon": self.epsilon}


class Adafactor(Optimizer):
    """Rates by the size of recent gradients, of which only row and column means are kept."""

    _parameters = ("beta_2_decay", "epsilon_1", "epsilon_2", "clip_threshold", "relative_step")

    def __init__(self, learning_rate=0.001, beta_2_decay=-0.8, epsilon_1=1e-30, epsilon_2=1e-3, clip_threshold=1.0,
                 relative_step=True, weight_decay=None, clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False,
                 ema_momentum=0.99, ema_overwrite_frequency=None, loss_scale_factor=None,
                 gradient_accumulation_steps=None, name=None, **kwargs):
        super().__init__(**_common(locals()))
        self.beta_2_decay, self.epsilon_1, self.epsilon_2 = beta_2_decay, epsilon_1, epsilon_2
        self.clip_threshold, self.relative_step = clip_threshold, relative_step

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self._r, self._c, self._v = [], [], []
        for v in variables:
            shape = tuple(v.shape)
            name = v.name.partition(":")[0]
            factored = len(shape) >= 2
            self._r.append(self.add_variable(shape[:-1] if factored else (), dtype=None if factored else "int32", name=name))
            self._c.append(self.add_variable(shape[:-2] + shape[-1:] if factored else (),
                                             dtype=None if factored else "int32", name=name))
            self._v += self.add_optimizer_variables([v], "velocity")

    def update_step(self, gradient, variable, learning_rate):
        """Changes one variable by its gradient."""
        at = self._get_variable_index(variable)
        is_relative = self.relative_step and not callable(self._learning_rate)
        _core._adafactor(variable, self._r[at], self._c[at], self._v[at], gradient, learning_rate, self.iterations,
                         self.beta_2_decay, self.epsilon_1, self.epsilon_2, self.clip_threshold, is_relative)

    def get_config(self):
        return {**super().get_config(), **{key: getattr(self, key) for key in self._parameters}}
