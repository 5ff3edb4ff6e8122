"""Random numbers of further distributions. They have TensorFlow's distributions, not its numbers: its algorithms differ."""
import sys

import numpy as np

from .keras.random import _gamma


def _tf():
    return sys.modules["gradus"]


def _seed(seed):
    tf = _tf()
    return tf.cast(tf.random.uniform([2], maxval=2 ** 31 - 1, dtype=tf.int32, seed=seed), tf.int64)


def _sizes(shape):
    shape = shape.numpy().tolist() if hasattr(shape, "numpy") else shape
    return [shape] if isinstance(shape, int) else [int(s) for s in shape]


def gamma(shape, alpha, beta=None, dtype="float32", seed=None, name=None):
    """Gamma numbers with shapes alpha and rates beta: the shape of both behind `shape`."""
    tf = _tf()
    alpha = tf.convert_to_tensor(alpha, dtype)
    beta = tf.ones([], dtype) if beta is None else tf.convert_to_tensor(beta, dtype)
    each = tf.broadcast_static_shape(alpha.shape, beta.shape).as_list()
    return stateless_gamma(_sizes(shape) + each, _seed(seed), alpha, beta, dtype)


def stateless_gamma(shape, seed, alpha, beta=None, dtype="float32", name=None):
    """The same of this whole shape, as a function of the seed, two integers."""
    tf = _tf()
    alpha = tf.convert_to_tensor(alpha, dtype)
    drawn = tf.cast(_gamma(_sizes(shape), alpha, tf.cast(seed, tf.int64)), dtype)
    # As TensorFlow: numbers too small for the dtype are its smallest.
    tiny = tf.constant(np.finfo(alpha.dtype.as_numpy_dtype).tiny, alpha.dtype)
    return tf.maximum(drawn, tiny) if beta is None else tf.maximum(drawn / tf.convert_to_tensor(beta, dtype), tiny)


def poisson(shape, lam, dtype="float32", seed=None, name=None):
    """Poisson numbers with rates lam: the shape of lam behind `shape`."""
    lam = _tf().convert_to_tensor(lam)
    return stateless_poisson(_sizes(shape) + lam.shape.as_list(), _seed(seed), lam, dtype)


def stateless_poisson(shape, seed, lam, dtype="int32", name=None):
    """The same of this whole shape, as a function of the seed, two integers."""
    tf = _tf()
    sizes, dtype = _sizes(shape), tf.as_dtype(dtype)

    def draw(seed, rates):
        return np.random.default_rng([int(s) for s in seed]).poisson(rates, sizes).astype(dtype.as_numpy_dtype)
    return tf.numpy_function(draw, [tf.convert_to_tensor(seed), tf.convert_to_tensor(lam)], tf.TensorSpec(sizes, dtype))


def _check_algorithm(alg):
    if alg not in ("auto_select", "philox", 1, 3):
        raise _tf().errors.InvalidArgumentError(None, None, f"[random] got alg {alg!r}; only 'philox' is covered")


def split(seed, num=2, alg="auto_select"):
    """Seeds [num, 2] made of one."""
    tf = _tf()
    _check_algorithm(alg)
    seed = tf.convert_to_tensor(seed)
    return tf.random.stateless_uniform([int(num), 2], seed, None, None, seed.dtype)


def fold_in(seed, data, alg="auto_select"):
    """A seed made of a seed and a number."""
    tf = _tf()
    _check_algorithm(alg)
    data = tf.convert_to_tensor(data)
    drawn = tf.random.stateless_uniform([1], seed, None, None, data.dtype)
    return tf.concat([drawn, tf.reshape(data, [-1])], 0)
