"""Muon: steps of matrices that are as orthogonal as can be; everything else steps as Adam does."""
import re

import gradus as tf

from ... import _core
from ._optimizer import Optimizer
from ._rules import _common


class Muon(Optimizer):
    """Momentum whose sum, for matrices, is made nearly orthogonal by some rounds of Newton and Schulz.

    Variables that are no matrices, embeddings, and those whose path matches a pattern of `exclude_layers` change as by
    AdamW.
    """

    _parameters = ("adam_beta_1", "adam_beta_2", "adam_weight_decay", "epsilon", "exclude_layers", "exclude_embeddings",
                   "muon_a", "muon_b", "muon_c", "adam_lr_ratio", "momentum", "ns_steps", "nesterov", "rms_rate")

    def __init__(self, learning_rate=0.001, adam_beta_1=0.9, adam_beta_2=0.999, adam_weight_decay=0.004, epsilon=1e-7,
                 weight_decay=0.004, clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False,
                 ema_momentum=0.99, ema_overwrite_frequency=None, loss_scale_factor=None,
                 gradient_accumulation_steps=None, name=None, exclude_layers=None, exclude_embeddings=True,
                 muon_a=3.4445, muon_b=-4.775, muon_c=2.0315, adam_lr_ratio=1, momentum=0.95, ns_steps=5, nesterov=True,
                 rms_rate=0.2, **kwargs):
        given = locals()
        super().__init__(**_common(given))
        for parameter in self._parameters:
            setattr(self, parameter, given[parameter])
        self.exclude_layers = list(exclude_layers or [])

    def _is_adam(self, variable):
        path = getattr(variable, "path", variable.name)
        return (len(variable.shape) != 2 or self.exclude_embeddings and "embedding" in path.lower()
                or any(re.search(pattern, path) for pattern in self.exclude_layers))

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self._momentums, self._velocities = [], []
        for variable in variables:
            self._momentums += self.add_optimizer_variables([variable], "momentum")
            self._velocities += self.add_optimizer_variables([variable], "velocity") if self._is_adam(variable) else [None]

    def update_step(self, gradient, variable, learning_rate):
        """Changes one variable by its gradient."""
        at = self._get_variable_index(variable)
        m, v = self._momentums[at], self._velocities[at]
        if v is None:
            _core._muon(variable, m, gradient, learning_rate, self.iterations, self.epsilon, self.muon_a, self.muon_b,
                        self.muon_c, self.momentum, self.ns_steps, self.nesterov, self.rms_rate)
        else:
            _core._muon_adam(variable, m, v, gradient, learning_rate, self.iterations, self.adam_beta_1,
                             self.adam_beta_2, self.epsilon, self.adam_lr_ratio)

    def _apply_weight_decay(self, variables):
        for variable in variables:
            decay = self.adam_weight_decay if self._is_adam(variable) else self.weight_decay
            if decay:
                rate = tf.cast(self._current_learning_rate(), variable.dtype)
                variable.assign(variable - variable * (decay * rate))

    def get_config(self):
        return {**super().get_config(), **{name: getattr(self, name) for name in self._parameters}}
