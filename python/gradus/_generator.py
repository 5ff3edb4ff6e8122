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
    n = int(n) % 2 ** 64
    return n - 2 ** 64 if n >= 2 ** 63 else n


def _int64(values, size=None):
    """Integers as a vector of int64, whatever they come as; a traced tensor stays one."""
    tf = _tf()
    if isinstance(values, (_core.Tensor, _core.Variable)):
        values = tf.reshape(tf.cast(values, tf.int64), [-1])
    else:
        import numpy as np
        if not isinstance(values, (list, tuple)):
            values = np.reshape(np.asarray(values, object), [-1]).tolist()
        if any(isinstance(v, _core.Tensor) for v in values):
            values = tf.stack([tf.cast(v, tf.int64) for v in values])
        else:
            values = tf.constant([_signed(v) for v in values], tf.int64)
    if size is not None and values.shape[0] != size:
        raise ValueError(f"Shapes {tuple(values.shape)} and [{size}] are incompatible")
    return values


def _algorithm(alg):
    if alg in (2, "threefry", Algorithm.THREEFRY):
        raise _tf().errors.UnimplementedError(None, None, "[random.Generator] got the algorithm 'threefry'; there is "
                                              "'philox', which TensorFlow has on this device, too")
    if alg not in (1, 3, "philox", "auto_select", Algorithm.PHILOX, Algorithm.AUTO_SELECT):
        raise ValueError(f"Unsupported algorithm: {alg!r}; there is 'philox'")
    return 1


def create_rng_state(seed, alg):
    """The state that a generator starts with: the words of a Python integer, the low one first, or up to three integers of
    an array, which end the state."""
    _algorithm(alg)
    tf = _tf()
    if isinstance(seed, int):
        return _int64([seed >> 64 * word for word in range(3)])
    seed = _int64(seed)
    return tf.concat([tf.zeros([max(0, 3 - seed.shape[0])], tf.int64), seed[:3]], 0)


class Generator:
    """Philox with a state of three integers: counter, low and high, and key.

    The state is a variable: a compiled function that draws changes it, and a checkpoint keeps it.
    """

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            if state is not None or alg is not None:
                raise AssertionError("copy_from excludes state and alg")
            state, alg = copy_from.state.value(), 1
        if state is None or alg is None:
            raise AssertionError("a generator needs a state and an algorithm: use Generator.from_seed")
        _algorithm(alg)
        self._state = _tf().Variable(_int64(state, 3), name="StateVar", trainable=False)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator that starts from one integer, or from up to three."""
        return cls(state=create_rng_state(seed, 1 if alg is None else alg), alg=1)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator that starts anywhere."""
        _algorithm(1 if alg is None else alg)
        return cls(state=[int.from_bytes(os.urandom(8), "little") for _ in range(3)], alg=1)

    @classmethod
    def from_state(cls, state, alg):
        """A generator with this state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator with this key, and a counter of two integers, the low one first."""
        return cls(state=_tf().concat([_int64(counter, 2), _int64(key, 1)], 0), alg=alg)

    state = property(lambda self: self._state, doc="The state, a Variable.")
    algorithm = property(lambda self: 1)
    key = property(lambda self: self._state[2], doc="The key.")

    def reset(self, state):
        """Starts again with another state."""
        self._state.assign(_int64(state, 3))

    def reset_from_seed(self, seed):
        """Starts again from a seed."""
        self._state.assign(create_rng_state(seed, 1))

    def reset_from_key_counter(self, key, counter):
        """Starts again from a key and a counter."""
        self._state.assign(_tf().concat([_int64(counter, 2), _int64(key, 1)], 0))

    def skip(self, delta):
        """Moves on by 256 delta; returns the old state."""
        tf = _tf()
        old = self._state.value()
        step = _int64(delta, 1) * 256 if isinstance(delta, _core.Tensor) else _int64(256 * int(delta))
        low = old[:1] + step
        # The low half ran over if it is now less, as numbers without sign.
        carry = tf.cast(tf.bitwise.bitwise_xor(low, _SIGN) < tf.bitwise.bitwise_xor(old[:1], _SIGN), tf.int64)
        self._state.assign(tf.concat([low, old[1:2] + carry, old[2:]], 0))
        return old

    def _draw(self, function, shape, *parameters):
        tf = _tf()
        parts = [shape] if isinstance(shape, _core.Tensor) else tf.nest.flatten(shape)
        if not all(map(_core._has_value, parts)):  # only the program will know how many
            return function(shape, self.skip(tf.reduce_prod(tf.cast(shape, tf.int64))), *parameters)
        shape = tf.TensorShape(shape)
        return function(shape, self.skip(shape.num_elements()), *parameters)

    def normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """Normally distributed numbers."""
        return self._draw(_core._generated_normal, shape, mean, stddev, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """Normally distributed numbers within two standard deviations."""
        return self._draw(_core._generated_truncated_normal, shape, mean, stddev, dtype)

    def uniform(self, shape, minval=0, maxval=None, dtype="float32", name=None):
        """Uniform numbers between minval and maxval; with both None, of all integers of the dtype."""
        return self._draw(_core._generated_uniform, shape, minval, maxval, dtype)

    def uniform_full_int(self, shape, dtype="uint64", name=None):
        """Integers of a dtype, each with the same probability."""
        return self._draw(_core._generated_uniform, shape, None, None, dtype)

    def _keys(self, count):
        return self.uniform_full_int([int(count)], "int64")

    def make_seeds(self, count=1):
        """Seeds [2, count] for the functions that take one."""
        keys = self._keys(count)
        return _tf().stack([keys, _tf().zeros_like(keys)])

    def split(self, count=1):
        """Generators that draw numbers of their own."""
        return [Generator.from_key_counter(key, [0, 0], 1) for key in _tf().unstack(self._keys(count))]


_SIGN = -2 ** 63


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
