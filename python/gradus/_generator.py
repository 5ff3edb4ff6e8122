"""tf.random.Generator: random numbers from a state of one's own."""
import enum
import os
import sys

from . import _core


class Algorithm(enum.Enum):
    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def _tf():
    return sys.modules["gradus"]


def _signed(n):
    return n - 2 ** 64 if n >= 2 ** 63 else n


class Generator:
    """Philox with a state of three integers: counter, low and high, and key."""

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            state = copy_from.state.value()
        if alg not in (None, 1, "philox", "auto_select", Algorithm.PHILOX, Algorithm.AUTO_SELECT):
            raise ValueError(f"Only the algorithm 'philox' is covered, got {alg!r}")
        state = list(state.numpy()) if hasattr(state, "numpy") else list(state)
        tf = _tf()
        self._state = tf.Variable(tf.constant([_signed(int(n) % 2 ** 64) for n in state], tf.int64), name="StateVar",
                                  trainable=False)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator that starts from one integer."""
        return cls(state=[int(seed), 0, 0], alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        return cls(state=[int.from_bytes(os.urandom(8), "little") >> 1 for _ in range(3)], alg=alg)

    @classmethod
    def from_state(cls, state, alg):
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        return cls(state=list(counter) + [key], alg=alg)

    state = property(lambda self: self._state, doc="The state, a Variable.")
    algorithm = property(lambda self: 1)
    key = property(lambda self: self._state[2], doc="The key.")

    def reset(self, state):
        self._state.assign(state)

    def reset_from_seed(self, seed):
        self._state.assign([int(seed), 0, 0])

    def reset_from_key_counter(self, key, counter):
        self._state.assign(list(counter) + [key])

    def skip(self, delta):
        """Moves on by 256 delta; returns the old state."""
        old = self._state.value()
        low, high, key = (int(n) % 2 ** 64 for n in old)
        counter = (low + (high << 64) + 256 * int(delta)) % 2 ** 128
        self._state.assign([_signed(counter % 2 ** 64), _signed(counter >> 64), _signed(key)])
        return old

    def _draw(self, function, shape, *parameters):
        shape = _tf().TensorShape(shape)
        return function(shape, self.skip(shape.num_elements()), *parameters)

    def normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """Normally distributed numbers."""
        return self._draw(_core._generated_normal, shape, mean, stddev, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """Normally distributed numbers within two standard deviations."""
        return self._draw(_core._generated_truncated_normal, shape, mean, stddev, dtype)

    def uniform(self, shape, minval=0, maxval=None, dtype="float32", name=None):
        """Uniform numbers between minval and maxval."""
        return self._draw(_core._generated_uniform, shape, minval, maxval, dtype)

    def make_seeds(self, count=1):
        raise NotImplementedError("make_seeds is not covered yet; draw integers with uniform")

    def split(self, count=1):
        raise NotImplementedError("split is not covered yet; use Generator.from_seed for each part")


_global = None


def get_global_generator():
    """The generator that all may use."""
    global _global
    if _global is None:
        _global = Generator.from_non_deterministic_state()
    return _global


def set_global_generator(generator):
    global _global
    _global = generator
