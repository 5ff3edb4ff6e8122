"""The optimizers whose step is one native sweep over each variable and its state."""
import gradus as tf

from ... import _core
from ._optimizer import Optimizer, _state_dtype


class Swept(Optimizer):
    """An optimizer with a rule of the native updates. `_parameters` are its own settings, in the order of its
    arguments."""

    _parameters = ()

    def __init__(self, own, common):
        super().__init__(**common)
        for key, value in own.items():
            setattr(self, key, value)
        self._states = None

    def _has_native_step(self):
        return type(self).update_step is Swept.update_step and \
            type(self)._backend_update_step is Optimizer._backend_update_step

    def _make_state(self, variables):
        """Lists of variables, each with one for each variable, in the order of the rule."""
        return []

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        lists = self._make_state(variables)
        self._states = [list(parts) for parts in zip(*lists)] if lists else [[] for _ in variables]

    def _plan_for(self, variables):
        places = [self._indices[id(v)] for v in variables]
        decays = [self._use_weight_decay(v) for v in variables]
        return _core._update_plan(self._rule, variables, [self._states[i] for i in places], self._settings(),
                                  self.weight_decay, decays)

    def _update_all(self, grads, variables, rate):
        if self._plan is None:
            self._plan = self._plan_for(variables)
        if not _core._update(self._plan, grads, variables, rate, self.iterations, self._product()):
            self._plan = self._plan_for(variables)
            _core._update(self._plan, grads, variables, rate, self.iterations, self._product())

    def update_step(self, gradient, variable, learning_rate):
        """Changes one variable by its gradient."""
        place = self._indices[id(variable)]
        plan = _core._update_plan(self._rule, [variable], [self._states[place]], self._settings())
        _core._update(plan, [gradient], [variable], learning_rate, self.iterations, self._product())

    def _settings(self):
        raise NotImplementedError

    def _product(self):
        return None

    def get_config(self):
        return {**super().get_config(), **{key: getattr(self, key) for key in self._parameters}}


def _common(given):
    """The arguments that all optimizers take, out of locals()."""
    common = {key: value for key, value in given.items()
              if key in ("learning_rate", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm", "use_ema",
                         "ema_momentum", "ema_overwrite_frequency", "loss_scale_factor", "gradient_accumulation_steps",
                         "name")}
    common.update(given["kwargs"])
    return common


class SGD(Swept):
    """Gradient descent, with momentum if asked."""

    _parameters = ("momentum", "nesterov")

    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, weight_decay=None, clipnorm=None, clipvalue=None,
                 global_clipnorm=None, use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None,
                 loss_scale_factor=None, gradient_accumulation_steps=None, name="SGD", **kwargs):
        if not isinstance(momentum, (int, float)) or not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        name = None if name == "SGD" else name
        super().__init__(dict(momentum=momentum, nesterov=nesterov), _common(locals()))

    @property
    def _rule(self):
        return "sgd" if self.momentum == 0 else "nesterov" if self.nesterov else "momentum"

    def _make_state(self, variables):
        self.momentums = [] if self.momentum == 0 else self.add_optimizer_variables(variables, "momentum")
        return [self.momentums] if self.momentum != 0 else []

    def _settings(self):
        return () if self.momentum == 0 else (self.momentum,)


class Adagrad(Swept):
    """Rates that fall with the squares of past gradients. Rows without a gradient are left alone."""

    _rule, _parameters = "adagrad", ("initial_accumulator_value", "epsilon")

    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-7, weight_decay=None, clipnorm=None,
                 clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None,
                 loss_scale_factor=None, gradient_accumulation_steps=None, name=None, **kwargs):
        super().__init__(dict(initial_accumulator_value=initial_accumulator_value, epsilon=epsilon), _common(locals()))

    def _make_state(self, variables):
        self._accumulators = self.add_optimizer_variables(variables, "accumulator",
                                                          float(self.initial_accumulator_value))
        return [self._accumulators]

    def _settings(self):
        return (self.epsilon,)


class Adam(Swept):
    """Momentum and rates by the size of recent gradients."""

    _parameters = ("beta_1", "beta_2", "epsilon", "amsgrad")

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False, weight_decay=None,
                 clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99,
                 ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None, name=None,
                 **kwargs):
        super().__init__(dict(beta_1=beta_1, beta_2=beta_2, epsilon=epsilon, amsgrad=amsgrad), _common(locals()))

    @property
    def _rule(self):
        return "amsgrad" if self.amsgrad else "adam"

    def _make_state(self, variables):
        self._momentums, self._velocities = self.add_optimizer_variables(variables, ["momentum", "velocity"])
        if not self.amsgrad:
            return [self._momentums, self._velocities]
        self._velocity_hats = self.add_optimizer_variables(variables, "velocity_hat")
        return [self._momentums, self._velocities, self._velocity_hats]

    def _settings(self):
        return self.beta_1, self.beta_2, self.epsilon


class AdamW(Adam):
    """Adam with decay of the weights."""

    def __init__(self, learning_rate=0.001, weight_decay=0.004, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False,
                 clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99,
                 ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None, name=None,
                 **kwargs):
        if weight_decay is None:
            raise ValueError("Argument `weight_decay` must be a float. Received: weight_decay=None")
        super().__init__(beta_1=beta_1, beta_2=beta_2, epsilon=epsilon, amsgrad=amsgrad, **_common(locals()))


class Adamax(Swept):
    """Adam with the largest recent gradient instead of the mean square."""

    _rule, _parameters = "adamax", ("beta_1", "beta_2", "epsilon")

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, weight_decay=None, clipnorm=None,
                 clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None,
                 loss_scale_factor=None, gradient_accumulation_steps=None, name=None, **kwargs):
        super().__init__(dict(beta_1=beta_1, beta_2=beta_2, epsilon=epsilon), _common(locals()))

    def _make_state(self, variables):
        self._m, self._u = self.add_optimizer_variables(variables, ["momentum", "norm"])
        return [self._m, self._u]

    def _settings(self):
        return self.beta_1, self.beta_2, self.epsilon


class Nadam(Adamax):
    """Adam with Nesterov's momentum."""

    _rule = "nadam"

    def _make_state(self, variables):
        self._momentums, self._velocities = self.add_optimizer_variables(variables, ["momentum", "velocity"])
        dtype = _state_dtype(variables[0].dtype) if variables else None
        self._u_product = self.add_variable((), 1.0, dtype, name="u_product")
        return [self._momentums, self._velocities]

    def _change(self, grads, variables):
        step = tf.cast(self.iterations, self._u_product.dtype) + 1.0
        share = self.beta_1 * (1.0 - 0.5 * tf.pow(0.96, step))
        self._u_product.assign(self._u_product * share)
        super()._change(grads, variables)

    def _product(self):
        return self._u_product


class Adadelta(Swept):
    """Rates from the ratio of recent changes and recent gradients."""

    _rule, _parameters = "adadelta", ("rho", "epsilon")

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-7, weight_decay=None, clipnorm=None, clipvalue=None,
                 global_clipnorm=None, use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None,
                 loss_scale_factor=None, gradient_accumulation_steps=None, name=None, **kwargs):
        super().__init__(dict(rho=rho, epsilon=epsilon), _common(locals()))

    def _make_state(self, variables):
        self._accumulated_grads, self._accumulated_delta_vars = self.add_optimizer_variables(
            variables, ["accumulated_grad", "accumulated_delta_var"])
        return [self._accumulated_grads, self._accumulated_delta_vars]

    def _settings(self):
        return self.rho, self.epsilon


class RMSprop(Swept):
    """Rates by the size of recent gradients."""

    _parameters = ("rho", "momentum", "epsilon", "centered")

    def __init__(self, learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-7, centered=False, weight_decay=None,
                 clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99,
                 ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None, name=None,
                 **kwargs):
        super().__init__(dict(rho=rho, momentum=momentum, epsilon=epsilon, centered=centered), _common(locals()))

    @property
    def _rule(self):
        return "rmsprop" + ("_centered" if self.centered else "") + ("_momentum" if self.momentum > 0 else "")

    def _make_state(self, variables):
        self._velocities = self.add_optimizer_variables(variables, "velocity")
        self._momentums = self.add_optimizer_variables(variables, "momentum") if self.momentum > 0 else []
        self._average_gradients = self.add_optimizer_variables(variables, "average_gradient") if self.centered else []
        return [s for s in (self._velocities, self._momentums, self._average_gradients) if s]

    def _settings(self):
        return (self.rho, self.epsilon, self.momentum) if self.momentum > 0 else (self.rho, self.epsilon)


class Lion(Swept):
    """Steps of one size, in the direction of the sign of a momentum."""

    _rule, _parameters = "lion", ("beta_1", "beta_2")

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.99, weight_decay=None, clipnorm=None, clipvalue=None,
                 global_clipnorm=None, use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None,
                 loss_scale_factor=None, gradient_accumulation_steps=None, name=None, **kwargs):
        if not 0 < beta_1 <= 1:
            raise ValueError("Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer degenerates to "
                             f"SignSGD. Received: beta_1={beta_1}.")
        super().__init__(dict(beta_1=beta_1, beta_2=beta_2), _common(locals()))

    def _make_state(self, variables):
        self._momentums = self.add_optimizer_variables(variables, "momentum")
        return [self._momentums]

    def _settings(self):
        return self.beta_1, self.beta_2


class Ftrl(Swept):
    """Follow the regularized leader."""

    _rule = "ftrl"
    _parameters = ("learning_rate_power", "initial_accumulator_value", "l1_regularization_strength",
                   "l2_regularization_strength", "l2_shrinkage_regularization_strength", "beta")

    def __init__(self, learning_rate=0.001, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0,
                 l2_shrinkage_regularization_strength=0.0, beta=0.0, weight_decay=None, clipnorm=None, clipvalue=None,
                 global_clipnorm=None, use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None,
                 loss_scale_factor=None, gradient_accumulation_steps=None, name=None, **kwargs):
        given = dict(locals())
        own = {key: given[key] for key in self._parameters}
        for key in self._parameters[1:5]:
            if own[key] < 0:
                raise ValueError(f"`{key}` needs to be positive or zero. Received: {key}={own[key]}.")
        if learning_rate_power > 0:
            raise ValueError("`learning_rate_power` needs to be negative or zero. Received: "
                             f"learning_rate_power={learning_rate_power}.")
        super().__init__(own, _common(given))

    def _make_state(self, variables):
        self._accumulators, self._linears = self.add_optimizer_variables(
            variables, ["accumulator", "linear"], [float(self.initial_accumulator_value), "zeros"])
        return [self._accumulators, self._linears]

    def _settings(self):
        return (-self.learning_rate_power, self.l1_regularization_strength, self.l2_regularization_strength,
                self.l2_shrinkage_regularization_strength, self.beta)
