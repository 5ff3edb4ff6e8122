"""Images changed at random: with the numbers of tf.random, or with those of a seed of two numbers (stateless_*)."""
import gradus as tf

from .._kinds import is_traced
from ._color import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from ._shape import as_images


def _stateful(seed):
    return lambda shape, low, high: tf.random.uniform(shape, low, high, seed=seed)


def _stateless(seed):
    return lambda shape, low, high: tf.random.stateless_uniform(shape, seed, low, high)


def _flipped(image, axis, uniform):
    image = tf.convert_to_tensor(image)
    batch, single = as_images(image)
    if single:
        return tf.where(uniform([], 0, 1.0) < 0.5, tf.reverse(image, [axis]), image)
    turn = tf.round(tf.reshape(uniform([batch.shape[0]], 0, 1.0), [-1, 1, 1, 1])) > 0.5
    return tf.where(turn, tf.reverse(image, [axis + 1]), image)


def random_flip_left_right(image, seed=None):
    """Each image mirrored in a vertical line, or not."""
    return _flipped(image, 1, _stateful(seed))


def stateless_random_flip_left_right(image, seed):
    """The same; the seed decides."""
    return _flipped(image, 1, _stateless(seed))


def random_flip_up_down(image, seed=None):
    """Each image mirrored in a horizontal line, or not."""
    return _flipped(image, 0, _stateful(seed))


def stateless_random_flip_up_down(image, seed):
    """The same; the seed decides."""
    return _flipped(image, 0, _stateless(seed))


def _check_range(lower, upper):
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def _check_delta(max_delta, most=None):
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    if most is not None and max_delta > most:
        raise ValueError(f"max_delta must be <= {most}.")


def random_brightness(image, max_delta, seed=None):
    """Brighter or darker by at most max_delta."""
    _check_delta(max_delta)
    return adjust_brightness(image, _stateful(seed)([], -max_delta, max_delta))


def stateless_random_brightness(image, max_delta, seed):
    """The same; the seed decides."""
    _check_delta(max_delta)
    return adjust_brightness(image, _stateless(seed)([], -max_delta, max_delta))


def random_contrast(image, lower, upper, seed=None):
    """The contrast times a factor between lower and upper."""
    _check_range(lower, upper)
    return adjust_contrast(image, _stateful(seed)([], lower, upper))


def stateless_random_contrast(image, lower, upper, seed):
    """The same; the seed decides."""
    _check_range(lower, upper)
    return adjust_contrast(image, _stateless(seed)([], lower, upper))


def random_saturation(image, lower, upper, seed=None):
    """The saturation times a factor between lower and upper."""
    _check_range(lower, upper)
    return adjust_saturation(image, _stateful(seed)([], lower, upper))


def stateless_random_saturation(image, lower, upper, seed=None):
    """The same; the seed decides."""
    _check_range(lower, upper)
    return adjust_saturation(image, _stateless(seed)([], lower, upper))


def random_hue(image, max_delta, seed=None):
    """Colours turned by at most max_delta of the circle."""
    _check_delta(max_delta, 0.5)
    return adjust_hue(image, _stateful(seed)([], -max_delta, max_delta))


def stateless_random_hue(image, max_delta, seed):
    """The same; the seed decides."""
    _check_delta(max_delta, 0.5)
    return adjust_hue(image, _stateless(seed)([], -max_delta, max_delta))


def _cropped(value, size, numbers):
    value = tf.convert_to_tensor(value)
    size = [int(s) for s in size]
    shape = value.shape.as_list()
    if len(size) != len(shape) or any(n is not None and s > n for s, n in zip(size, shape)):
        raise tf.errors.InvalidArgumentError(None, None, f"Need value.shape >= size, got {shape} {size}")
    limit = tf.shape(value) - tf.constant(size, tf.int32) + 1
    offset = numbers([len(size)], tf.int32.max) % limit
    if not is_traced(offset):
        return tf.slice(value, offset, size)
    for axis, (s, n) in enumerate(zip(size, shape)):  # a program slices at places that are known
        if s != n:
            value = tf.gather(value, offset[axis] + tf.range(s), axis=axis)
    return value


def random_crop(value, size, seed=None, name=None):
    """A box of this size anywhere in a tensor of any rank."""
    return _cropped(value, size, lambda shape, high: tf.random.uniform(shape, maxval=high, dtype=tf.int32, seed=seed))


def stateless_random_crop(value, size, seed, name=None):
    """The same; the seed decides."""
    return _cropped(value, size, lambda shape, high: tf.random.stateless_uniform(
        shape, seed, minval=0, maxval=high, dtype=tf.int32))
