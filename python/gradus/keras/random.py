"""Random numbers as functions of seeds, with the numbers of Keras 3 on TensorFlow.

A seed is an integer (the same numbers each time), a SeedGenerator (the next ones each time) or None: the global
generator.
"""
import random as _python_random

import gradus as tf

from .. import _core
from ._state import floatx as _floatx

_global = None


def make_default_seed():
    """A number from Python's own generator, which keras.utils.set_random_seed restarts."""
    return _python_random.randint(1, 10 ** 9)


class SeedGenerator:
    """A seed that is another one at each use: its state is a variable (seed, count)."""

    def __init__(self, seed=None, name=None, **kwargs):
        from . import _scopes, _state
        from ._variable import Variable
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {kwargs}")
        if seed is None:
            seed = make_default_seed()
        if not isinstance(seed, int):
            raise ValueError(f"Argument `seed` must be an integer. Received: seed={seed}")
        self._initial_seed = seed
        self.name = name or _state.auto_name("seed_generator")
        with _scopes.name_scope(self.name, caller=self):
            self.state = Variable(lambda shape, dtype: tf.constant([seed, 0], dtype), shape=(2,), dtype="int64",
                                  trainable=False, name="seed_generator_state")

    def next(self, ordered=True):
        """The seed, two numbers; the next call gives another one."""
        value = tf.identity(self.state)
        self.state.assign(value + _ONE_MORE)
        return value

    def get_config(self):
        return {"seed": self._initial_seed, "name": self.name}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


_ONE_MORE = tf.constant([0, 1], tf.int64)


def global_seed_generator():
    """The generator of draws without a seed."""
    global _global
    if _global is None:
        _global = SeedGenerator(name="global_seed_generator")
    return _global


def reset_global_seed_generator():
    """Makes the next draw without a seed start from Python's generator again."""
    global _global
    _global = None


def draw_seed(seed):
    """Two numbers for a stateless function."""
    if isinstance(seed, SeedGenerator):
        return seed.next()
    if isinstance(seed, int):
        return tf.constant([seed, 0], tf.int64)
    if seed is None:
        return global_seed_generator().next()
    raise ValueError("Argument `seed` must be either an integer or an instance of `SeedGenerator`. Received: "
                     f"seed={seed} (of type {type(seed)})")


def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normally distributed numbers."""
    return tf.random.stateless_normal(shape, draw_seed(seed), mean, stddev, dtype or _floatx())


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normally distributed numbers within two standard deviations."""
    return tf.random.stateless_truncated_normal(shape, draw_seed(seed), mean, stddev, dtype or _floatx())


def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Numbers between minval and maxval."""
    return tf.random.stateless_uniform(shape, draw_seed(seed), minval, maxval, dtype or _floatx())


def randint(shape, minval, maxval, dtype="int32", seed=None):
    """Integers from minval to below maxval."""
    return tf.random.stateless_uniform(shape, draw_seed(seed), minval, maxval, dtype)


def categorical(logits, num_samples, dtype="int32", seed=None):
    """Class numbers with probabilities softmax(logits)."""
    return tf.random.stateless_categorical(logits, num_samples, draw_seed(seed), dtype)


def dropout(inputs, rate, noise_shape=None, seed=None):
    """Zero with probability `rate`, else inputs / (1 - rate)."""
    if rate == 0:
        return tf.convert_to_tensor(inputs)
    axes = () if noise_shape is None else [i for i, n in enumerate(noise_shape) if n == 1]
    return _core._dropout(inputs, rate, draw_seed(seed), axes)


def shuffle(x, axis=0, seed=None):
    """The slices along an axis in random order."""
    x = tf.convert_to_tensor(x)
    keys = tf.random.stateless_uniform([x.shape[axis]], draw_seed(seed))
    return tf.gather(x, tf.argsort(keys), axis=axis)


# Numbers of these distributions are not TensorFlow's own, whose algorithms differ.

def gamma(shape, alpha, dtype=None, seed=None):
    """Numbers with the gamma distribution of this shape parameter and scale 1."""
    return tf.cast(_gamma(shape, alpha, draw_seed(seed)), dtype or _floatx())


def _gamma(shape, alpha, seed):
    """Marsaglia and Tsang's method with sixteen proposals for each number, of which the first that is accepted is taken:
    all are refused with a probability below 1e-20. Which one that is depends on alpha, so that the derivative in alpha is
    not this formula's but the distribution's."""
    alpha, proposals = tf.broadcast_to(tf.cast(alpha, "float64"), shape), 16
    wide = tf.stop_gradient(alpha)
    x = tf.random.stateless_normal([proposals, *shape], seed, dtype="float64")
    u = tf.random.stateless_uniform([proposals + 1, *shape], seed + tf.constant([1, 0], seed.dtype), dtype="float64")
    d = tf.where(wide < 1.0, wide + 1.0, wide) - 1.0 / 3.0
    v = tf.pow(tf.maximum(1.0 + x / tf.sqrt(9.0 * d), 0.0), 3.0)
    logarithm = tf.math.log(tf.maximum(v, 1e-300))
    accepted = (v > 0.0) & (tf.math.log(u[:proposals]) < 0.5 * x * x + d - d * v + d * logarithm)
    first = tf.one_hot(tf.argmax(tf.cast(accepted, "int32"), 0), proposals, axis=0, dtype="float64")
    drawn = d * tf.reduce_sum(first * v, 0)
    drawn = tf.where(wide < 1.0, drawn * tf.pow(1.0 - u[proposals], 1.0 / wide), drawn)
    return _core._reparameterised_gamma(alpha, drawn)


def beta(shape, alpha, beta, dtype=None, seed=None):
    """Numbers with the beta distribution: a / (a + b) of two gamma variables."""
    seed = draw_seed(seed)
    a, b = _gamma(shape, alpha, seed), _gamma(shape, beta, seed + tf.constant([2, 0], seed.dtype))
    return tf.cast(a / (a + b), dtype or _floatx())


def binomial(shape, counts, probabilities, dtype=None, seed=None):
    """How many of `counts` trials succeed."""
    counts = tf.broadcast_to(tf.cast(counts, "float32"), shape)
    trials = int(tf.reduce_max(counts))
    u = tf.random.stateless_uniform([trials, *shape], draw_seed(seed))
    number = tf.reshape(tf.range(trials, dtype="float32"), [-1] + [1] * len(shape))
    succeeded = (u < tf.cast(probabilities, "float32")) & (number < counts)
    return tf.reduce_sum(tf.cast(succeeded, dtype or _floatx()), 0)
