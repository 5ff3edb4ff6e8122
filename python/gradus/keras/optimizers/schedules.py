"""Learning rates that change with the number of steps, as the engine computes them (gradus/schedules.h)."""
from ... import _core
from .._registry import Registry as _Registry


class LearningRateSchedule:
    """A learning rate as a function of the step. One of one's own has `__call__(step)` and `get_config()`."""

    def __call__(self, step):
        raise NotImplementedError(f"Learning rate schedule '{type(self).__name__}' must override `__call__(self, step)`.")

    def get_config(self):
        raise NotImplementedError(f"Learning rate schedule '{type(self).__name__}' must override `get_config()` in order to "
                                  "be serializable.")

    @classmethod
    def from_config(cls, config):
        """A schedule like the one that gave the config."""
        return cls(**config)


class _Schedule(LearningRateSchedule):
    """A schedule whose arguments are its config."""

    _arguments = ()

    def get_config(self):
        return {key: getattr(self, key) for key in self._arguments}


class ExponentialDecay(_Schedule):
    """initial_learning_rate * decay_rate ^ (step / decay_steps)."""

    _arguments = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name="ExponentialDecay"):
        _positive("decay_steps", decay_steps)
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def __call__(self, step):
        return _core._exponential_decay(step, self.initial_learning_rate, self.decay_steps, self.decay_rate, self.staircase)


class InverseTimeDecay(_Schedule):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps)."""

    _arguments = ExponentialDecay._arguments

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name="InverseTimeDecay"):
        _positive("decay_steps", decay_steps)
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def __call__(self, step):
        return _core._inverse_time_decay(step, self.initial_learning_rate, self.decay_steps, self.decay_rate, self.staircase)


class PiecewiseConstantDecay(_Schedule):
    """values[0] up to and including boundaries[0], then values[1] up to boundaries[1], and so on."""

    _arguments = ("boundaries", "values", "name")

    def __init__(self, boundaries, values, name="PiecewiseConstant"):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values. Received: "
                             f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of length "
                             f"{len(values)}.")
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step):
        return _core._piecewise_constant_decay(step, self.boundaries, self.values)


class PolynomialDecay(_Schedule):
    """From initial_learning_rate to end_learning_rate along a power of the remaining time."""

    _arguments = ("initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle", "name")

    def __init__(self, initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False,
                 name="PolynomialDecay"):
        _positive("decay_steps", decay_steps)
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.end_learning_rate, self.power, self.cycle, self.name = end_learning_rate, power, cycle, name

    def __call__(self, step):
        return _core._polynomial_decay(step, self.initial_learning_rate, self.decay_steps, self.end_learning_rate,
                                       self.power, self.cycle)


class CosineDecay(_Schedule):
    """Half a wave of a cosine down to alpha times the rate, after a linear warm-up if warmup_target is given."""

    _arguments = ("initial_learning_rate", "decay_steps", "alpha", "name", "warmup_target", "warmup_steps")

    def __init__(self, initial_learning_rate, decay_steps, alpha=0.0, name="CosineDecay", warmup_target=None,
                 warmup_steps=0):
        _positive("decay_steps", decay_steps)
        self.initial_learning_rate, self.decay_steps, self.alpha = initial_learning_rate, decay_steps, alpha
        self.name, self.warmup_target, self.warmup_steps = name, warmup_target, warmup_steps

    def __call__(self, step):
        return _core._cosine_decay(step, self.initial_learning_rate, self.decay_steps, self.alpha, self.warmup_target,
                                   self.warmup_steps)


class CosineDecayRestarts(_Schedule):
    """Cosine decays one after another, each t_mul times longer and starting from m_mul times the rate."""

    _arguments = ("initial_learning_rate", "first_decay_steps", "t_mul", "m_mul", "alpha", "name")

    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name="SGDRDecay"):
        _positive("first_decay_steps", first_decay_steps)
        self.initial_learning_rate, self.first_decay_steps = initial_learning_rate, first_decay_steps
        self.t_mul, self.m_mul, self.alpha, self.name = t_mul, m_mul, alpha, name

    def __call__(self, step):
        return _core._cosine_decay_restarts(step, self.initial_learning_rate, self.first_decay_steps, self.t_mul,
                                            self.m_mul, self.alpha)


def _positive(name, value):
    if value <= 0:
        raise ValueError(f"Argument `{name}` must be > 0. Received: {name}={value}")


_registry = _Registry("schedule", "keras.optimizers.schedules")
for _one in (ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay, CosineDecay,
             CosineDecayRestarts):
    _registry.add()(_one)


def serialize(learning_rate_schedule):
    """The dict from which `deserialize` makes the schedule again."""
    return _registry.serialize(learning_rate_schedule)


def deserialize(config, custom_objects=None):
    """The schedule that `serialize` wrote down."""
    return _registry.deserialize(config, custom_objects)
