"""The base of optimizers: state, learning rate, clipping, weight decay, averages and accumulation.

What an optimizer does to its variables is one native call for all of them (gradus/updates.h); an optimizer of one's own
has `update_step(gradient, variable, learning_rate)` instead, in ops.
"""
import re
import warnings

import gradus as tf

from ... import _core
from .. import _scopes, _state
from .._variable import Variable
from . import schedules

_COMMON = ("weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "use_ema", "ema_momentum",
           "ema_overwrite_frequency", "loss_scale_factor", "gradient_accumulation_steps")


class Optimizer:
    """Changes variables so that a loss becomes small."""

    _rule = None  # of the native updates
    _plan = None  # what their steps have in common; forgotten when an attribute changes
    _is_plain = None  # whether a step is nothing but that

    def __init__(self, learning_rate=0.001, weight_decay=None, clipnorm=None, clipvalue=None, global_clipnorm=None,
                 use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None, loss_scale_factor=None,
                 gradient_accumulation_steps=None, name=None, **kwargs):
        if kwargs.pop("decay", None) is not None:
            warnings.warn("Argument `decay` is no longer supported and will be ignored.", stacklevel=3)
        kwargs.pop("jit_compile", None)
        if kwargs:
            raise ValueError(f"Argument(s) not recognized: {kwargs}")
        if sum(x is not None for x in (clipnorm, clipvalue, global_clipnorm)) > 1:
            raise ValueError("Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                             f"clipnorm={clipnorm}, clipvalue={clipvalue}, global_clipnorm={global_clipnorm}")
        if use_ema and not 0 <= ema_momentum <= 1:
            raise ValueError(f"`ema_momentum` must be in the range [0, 1]. Received: ema_momentum={ema_momentum}")
        if use_ema and ema_overwrite_frequency and (not isinstance(ema_overwrite_frequency, int)
                                                    or ema_overwrite_frequency < 1):
            raise ValueError("`ema_overwrite_frequency` must be an integer >= 1 or None. Received: "
                             f"ema_overwrite_frequency={ema_overwrite_frequency}")
        if gradient_accumulation_steps is not None and (not isinstance(gradient_accumulation_steps, int)
                                                        or gradient_accumulation_steps < 2):
            raise ValueError("`gradient_accumulation_steps` must be an integer >= 2. Received: "
                             f"gradient_accumulation_steps={gradient_accumulation_steps}")
        self.name = name or _state.auto_name(type(self).__name__)
        self.weight_decay, self.clipnorm, self.clipvalue = weight_decay, clipnorm, clipvalue
        self.global_clipnorm, self.use_ema, self.ema_momentum = global_clipnorm, use_ema, ema_momentum
        self.ema_overwrite_frequency, self.loss_scale_factor = ema_overwrite_frequency, loss_scale_factor
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.built = False
        self._variables, self._trainable_variables = [], []
        self._indices, self._excluded_variables, self._excluded_names = {}, [], []
        self._model_variables_moving_average, self._accumulated_gradients = [], []
        with tf.init_scope(), _scopes.name_scope(self.name, caller=self):
            self._iterations = Variable(0, name="iteration", dtype="int64", trainable=False)
            if isinstance(learning_rate, schedules.LearningRateSchedule):
                self._learning_rate = learning_rate
            elif callable(learning_rate) and not tf.is_tensor(learning_rate):
                self._learning_rate = learning_rate
            else:
                if not isinstance(learning_rate, (float, int)) and not hasattr(learning_rate, "__array__"):
                    raise ValueError("Argument `learning_rate` should be float, or an instance of LearningRateSchedule, or a "
                                     f"callable (that takes in the current iteration value and returns the corresponding "
                                     f"learning rate value). Received instead: learning_rate={learning_rate}")
                self._learning_rate = Variable(float(learning_rate), name="learning_rate", dtype=_state.floatx(),
                                               trainable=False)

    def __setattr__(self, name, value):
        if name not in ("_plan", "_is_plain"):
            object.__setattr__(self, "_plan", None)
            object.__setattr__(self, "_is_plain", None)
        if isinstance(value, _core.Variable) and "_variables" in self.__dict__ and not any(
                own is value for own in self._variables + self._trainable_variables):
            self._variables.append(value)
        object.__setattr__(self, name, value)

    # ------------------------------------------------------------------ state

    @property
    def variables(self):
        """The state: the count of iterations, the learning rate, and what belongs to the variables."""
        return self._variables[:]

    @property
    def iterations(self):
        """How many steps there were."""
        if self.gradient_accumulation_steps:
            return self._iterations // self.gradient_accumulation_steps
        return self._iterations

    @property
    def learning_rate(self):
        """The learning rate now; assignable unless a schedule sets it."""
        return self._current_learning_rate()

    @learning_rate.setter
    def learning_rate(self, value):
        if isinstance(self._learning_rate, Variable):
            if isinstance(value, schedules.LearningRateSchedule) or (callable(value) and not tf.is_tensor(value)):
                self._variables = [v for v in self._variables if v is not self._learning_rate]
                self._learning_rate = value
            else:
                self._learning_rate.assign(value)
        elif isinstance(value, schedules.LearningRateSchedule) or (callable(value) and not tf.is_tensor(value)):
            self._learning_rate = value
        else:
            raise TypeError("This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` "
                            "constructor argument, hence its learning rate is not settable. If you need the learning rate to "
                            "be settable, you should instantiate the optimizer with a float `learning_rate` argument.")

    def _current_learning_rate(self):
        rate = self._learning_rate
        if isinstance(rate, Variable):
            return rate
        if isinstance(rate, schedules.LearningRateSchedule):
            return rate(self._iterations)
        return rate()

    _get_current_learning_rate = _current_learning_rate

    def build(self, variables):
        """Makes the state that belongs to variables."""
        if self.use_ema:
            self._model_variables_moving_average = self.add_optimizer_variables(variables, "average")
        if self.gradient_accumulation_steps:
            self._accumulated_gradients = self.add_optimizer_variables(variables, "gradient_accumulator")
        self._trainable_variables = list(variables)
        self._indices = {id(v): i for i, v in enumerate(self._trainable_variables)}
        self.built = True

    def _build(self, variables):
        with tf.init_scope(), _scopes.name_scope(self.name, caller=self):
            self.build(variables)

    def add_variable(self, shape, initializer="zeros", dtype=None, aggregation="none", layout=None, name=None):
        """Makes a variable of the optimizer."""
        with tf.init_scope(), _scopes.name_scope(self.name, caller=self):
            value = _initial(initializer, tuple(shape), dtype or _state.floatx())
            variable = Variable(value, dtype=dtype or _state.floatx(), trainable=False, name=name)
        self._variables.append(variable)
        return variable

    def add_variable_from_reference(self, reference_variable, name=None, initializer="zeros"):
        """Makes a variable with the shape and dtype of another."""
        return self._slot(reference_variable, name or "var", initializer, reference_variable.dtype)

    def _slot(self, reference, name, initializer, dtype):
        path = getattr(reference, "path", None) or reference.name.replace(":", "_")
        return self.add_variable(reference.shape, initializer, dtype, name=f"{path.replace('/', '_')}_{name}")

    def add_optimizer_variables(self, trainable_variables, name, initializer="zeros"):
        """A list of variables, one for each of the given; with a list of names, one list for each name."""
        many = isinstance(name, (list, tuple))
        names = list(name) if many else [name]
        starts = list(initializer) if isinstance(initializer, (list, tuple)) else [initializer] * len(names)
        lists = [[] for _ in names]
        for v in trainable_variables:
            for made, own, start in zip(lists, names, starts):
                made.append(self._slot(v, own, start, _state_dtype(v.dtype)))
        return tuple(lists) if many else lists[0]

    # ------------------------------------------------------------------ a step

    def apply_gradients(self, grads_and_vars):
        """Applies pairs of gradients and variables."""
        pairs = list(grads_and_vars)
        if pairs:
            self.apply(*zip(*pairs))
        return self._iterations

    def apply(self, grads, trainable_variables=None):
        """Changes the variables by their gradients: one step."""
        if self._is_plain and _core._update(self._plan, grads, trainable_variables, self._learning_rate, self._iterations):
            self._iterations.assign_add(1)
            return
        grads = list(grads)
        if not grads:
            return
        if trainable_variables is None:
            variables = self._own_variables_for(grads)
        else:
            variables = list(trainable_variables)
            if not self.built:
                self._build(variables)
            indices = self._indices
            for v in variables:
                if id(v) not in indices:
                    raise ValueError(
                        f"Unknown variable: {v}. This optimizer can only be called for the variables it was originally built "
                        "with. When working with a new set of variables, you should recreate a new optimizer instance.")
        if any(g is None for g in grads):
            grads, variables = _without_none(grads, variables)
        if any(getattr(v, "overwrite_with_gradient", False) for v in variables):
            grads, variables = _overwritten(grads, variables)
            if not variables:
                self._iterations.assign_add(1)
                return
        if self.loss_scale_factor is not None:
            grads = _core._scale(grads, 1.0 / self.loss_scale_factor)
        if self.gradient_accumulation_steps:
            self._accumulate(grads, variables)
        else:
            self._change(grads, variables)
        if self.use_ema:
            self._follow(variables)
        for v in variables:
            if v._constraint is not None:
                v.assign(v._constraint(v))
        self._iterations.assign_add(1)
        if self._is_plain is None:
            self._is_plain = self._plan is not None and self._finds_nothing_to_do(variables)

    def _finds_nothing_to_do(self, variables):
        """Whether a step is nothing but the native updates, so that the next can be just those."""
        return (isinstance(self._learning_rate, Variable)
                and all(v._constraint is None and not getattr(v, "overwrite_with_gradient", False) for v in variables)
                and not (self.use_ema or self.gradient_accumulation_steps or self.clipnorm or self.clipvalue
                         or self.global_clipnorm) and self.loss_scale_factor is None
                and type(self).apply is Optimizer.apply and type(self)._change is Optimizer._change)

    def _own_variables_for(self, grads):
        if not self.built:
            raise ValueError("When passing `grads` without `variables`, the optimizer must already be built on a list of "
                             "variables. Call `optimizer.build(trainable_variables)` first. ")
        if len(grads) != len(self._trainable_variables):
            raise ValueError("When passing `grads` as a list of gradient tensors, the gradients must match "
                             f"`optimizer.variables` one-to-on. Received a list of {len(grads)} gradients, but the optimizer "
                             f"is tracking {len(self._trainable_variables)} trainable variables.")
        return self._trainable_variables

    def _change(self, grads, variables):
        grads = self._clip_gradients(grads)
        rate = self._current_learning_rate()
        if self._rule is not None and self._has_native_step():
            self._update_all(grads, variables, rate)
        else:
            self._apply_weight_decay(variables)
            self._backend_update_step(grads, variables, rate)

    def _clip_gradients(self, grads):
        if self.clipnorm and self.clipnorm > 0:
            return _core._clip(grads, "norm", self.clipnorm)
        if self.global_clipnorm and self.global_clipnorm > 0:
            return _core._clip(grads, "global_norm", self.global_clipnorm)
        if self.clipvalue and self.clipvalue > 0:
            return _core._clip(grads, "value", self.clipvalue)
        return grads

    def _backend_update_step(self, grads, trainable_variables, learning_rate):
        for gradient, variable in zip(grads, trainable_variables):
            if not tf.is_tensor(gradient):
                gradient = tf.convert_to_tensor(gradient)
            self.update_step(gradient, variable, learning_rate)

    def update_step(self, gradient, variable, learning_rate):
        """Changes one variable by its gradient."""
        raise NotImplementedError("An optimizer needs a method update_step(gradient, variable, learning_rate)")

    def _has_native_step(self):
        return False

    # ------------------------------------------------------------------ options

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        """Variables, or those whose names match, that weight decay leaves alone."""
        self._excluded_variables = self._excluded_variables + list(var_list or ())
        self._excluded_names = self._excluded_names + list(var_names or ())

    def _use_weight_decay(self, variable):
        return not (any(variable is v for v in self._excluded_variables)
                    or any(re.search(name, variable.name) for name in self._excluded_names))

    def _apply_weight_decay(self, variables):
        if self.weight_decay is None:
            return
        for v in variables:
            if self._use_weight_decay(v):
                rate = tf.cast(self._current_learning_rate(), v.dtype)
                v.assign(v - v * tf.cast(self.weight_decay, v.dtype) * rate)

    def _accumulate(self, grads, variables):
        steps = self.gradient_accumulation_steps
        sums = [self._accumulated_gradients[self._indices[id(v)]] for v in variables]
        if tf.executing_eagerly():
            last = (int(self._iterations) + 1) % steps == 0
            (self._end_accumulation if last else self._add_up)(grads, variables, sums)
            return
        is_last = tf.equal((self._iterations + 1) % steps, 0)
        tf.cond(is_last, lambda: self._end_accumulation(grads, variables, sums),
                lambda: self._add_up(grads, variables, sums))

    def _add_up(self, grads, variables, sums):
        for g, s in zip(grads, sums):
            s.assign_add(tf.cast(tf.convert_to_tensor(g), s.dtype))
        return ()

    def _end_accumulation(self, grads, variables, sums):
        steps = self.gradient_accumulation_steps
        grads = [(tf.cast(tf.convert_to_tensor(g), s.dtype) + s) / steps for g, s in zip(grads, sums)]
        self._change(grads, variables)
        for s in sums:
            s.assign(tf.zeros_like(s))
        return ()

    def _follow(self, variables):
        """The averages follow the variables; from time to time they replace them."""
        count = self.iterations
        started = tf.not_equal(count, 0)
        for v in variables:
            average = self._model_variables_moving_average[self._indices[id(v)]]
            share = tf.cast(started, average.dtype) * self.ema_momentum
            average.assign(share * average + (1 - share) * tf.cast(v, average.dtype))
        if self.ema_overwrite_frequency:
            now = tf.equal((count + 1) % self.ema_overwrite_frequency, 0)
            for v in variables:
                average = self._model_variables_moving_average[self._indices[id(v)]]
                v.assign(tf.where(now, tf.cast(average, v.dtype), v))

    def finalize_variable_values(self, var_list):
        """At the end of training: with use_ema, the variables become their averages."""
        if self.use_ema:
            for v in var_list:
                v.assign(tf.cast(self._model_variables_moving_average[self._indices[id(v)]], v.dtype))

    def scale_loss(self, loss):
        """The loss times loss_scale_factor."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    # ------------------------------------------------------------------ for optimizers of one's own, and files

    def assign(self, variable, value):
        variable.assign(value)

    def assign_add(self, variable, value):
        variable.assign_add(value)

    def assign_sub(self, variable, value):
        variable.assign_sub(value)

    def _get_variable_index(self, variable):
        return self._indices[id(variable)]

    def stateless_apply(self, optimizer_variables, grads, trainable_variables):
        """A step on values instead of variables: the new values of the variables and of the state."""
        own = [tf.identity(v) for v in self.variables]
        kept = [tf.identity(v) for v in self._trainable_variables]
        for variable, value in zip(self.variables + self._trainable_variables,
                                   list(optimizer_variables) + list(trainable_variables)):
            variable.assign(value)
        self.apply(grads, self._trainable_variables)
        result = ([tf.identity(v) for v in self._trainable_variables], [tf.identity(v) for v in self.variables])
        for variable, value in zip(self.variables + self._trainable_variables, own + kept):
            variable.assign(value)
        return result

    def save_own_variables(self, store):
        """Writes the state to a dict, by numbers."""
        for i, variable in enumerate(self.variables):
            store[str(i)] = variable.numpy()

    def load_own_variables(self, store):
        """Reads what save_own_variables wrote."""
        if len(store.keys()) != len(self.variables):
            message = (f"Skipping variable loading for optimizer '{self.name}', because it has {len(self.variables)} "
                       f"variables whereas the saved optimizer has {len(store.keys())} variables. ")
            if not self.variables:
                message += "This is likely because the optimizer has not been called/built yet."
            warnings.warn(message, stacklevel=2)
            return
        for i, variable in enumerate(self.variables):
            variable.assign(store[str(i)])

    def set_weights(self, weights):
        """Gives the state values, in the order of `variables`."""
        if not self.built:
            raise ValueError("You are calling `set_weights()` on an optimizer that has not yet been built. Please call "
                             "`optimizer.build(trainable_variables)` to create the optimizer weights before calling "
                             "`set_weights()`.")
        for variable, value in zip(self._variables, weights):
            variable.assign(value)

    def get_config(self):
        """What from_config needs to make an optimizer like this one."""
        rate = self._learning_rate
        if isinstance(rate, Variable):
            rate = float(rate.numpy())
        elif isinstance(rate, schedules.LearningRateSchedule):
            rate = schedules.serialize(rate)
        else:
            rate = {"module": "builtins", "class_name": "function", "config": getattr(rate, "__name__", "learning_rate"),
                    "registered_name": "function"}
        return {"name": self.name, "learning_rate": rate, **{key: getattr(self, key) for key in _COMMON}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """An optimizer like the one that gave the config."""
        config = dict(config)
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects)
        return cls(**config)

    def __getstate__(self):
        return {key: value for key, value in vars(self).items() if key not in ("_plan", "_is_plain", "_indices")}

    def __setstate__(self, state):
        vars(self).update(state, _indices={id(v): i for i, v in enumerate(state["_trainable_variables"])})

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"


def _without_none(grads, variables):
    if all(g is None for g in grads):
        raise ValueError("No gradients provided for any variable.")
    missing = [getattr(v, "path", v.name) for g, v in zip(grads, variables) if g is None]
    warnings.warn(f"Gradients do not exist for variables {missing} when minimizing the loss. If using `model.compile()`, did "
                  "you forget to provide a `loss` argument?", stacklevel=4)
    kept = [(g, v) for g, v in zip(grads, variables) if g is not None]
    return [g for g, _ in kept], [v for _, v in kept]


def _overwritten(grads, variables):
    """Gives the variables that ask for it their gradients as values; the other gradients and variables."""
    rest = []
    for g, v in zip(grads, variables):
        if getattr(v, "overwrite_with_gradient", False):
            v.assign(g)
        else:
            rest.append((g, v))
    return [g for g, _ in rest], [v for _, v in rest]


def _state_dtype(dtype):
    """Sums and averages of half precision gradients are kept in float32."""
    return "float32" if dtype in ("float16", "bfloat16") else dtype


def _initial(initializer, shape, dtype):
    if initializer == "zeros":
        return tf.zeros(shape, dtype)
    if isinstance(initializer, float):
        return tf.fill(shape, tf.cast(initializer, dtype))
    if isinstance(initializer, str):
        from .. import initializers
        initializer = initializers.get(initializer)
    return tf.cast(initializer(shape, dtype=dtype), dtype)
