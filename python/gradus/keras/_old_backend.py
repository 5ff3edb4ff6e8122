"""Functions of the old keras.backend that programs still call as K.batch_dot, K.conv2d and their like."""
import numpy as _np

import gradus as _tf

from . import _state
from . import ops as _ops


def arange(start, stop=None, step=1, dtype="int32"):
    """Numbers from start on, below stop."""
    if stop is None:
        start, stop = 0, max(start, 0)
    return _tf.cast(_tf.range(start, stop, step), dtype)


def batch_dot(x, y, axes=None):
    """The product of each element of a batch, along one axis of both."""
    x_rank, y_rank = len(x.shape), len(y.shape)
    if x_rank < 2 or y_rank < 2:
        raise ValueError("Cannot do batch_dot on inputs with rank < 2. Received inputs with shapes "
                         f"{tuple(x.shape)} and {tuple(y.shape)}.")
    if axes is None:
        axes = [x_rank - 1, 1 if y_rank == 2 else y_rank - 2]
    axes = [axes, axes] if isinstance(axes, int) else list(axes)
    axes = [axes[0] % x_rank, axes[1] % y_rank]
    if 0 in axes:
        raise ValueError("Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch "
                         "dimension to your inputs using K.expand_dims(x, 0)")
    letters = "abcdefghijklmnopqrstuvw"
    of_x = ["z" if i == 0 else "y" if i == axes[0] else letters[i] for i in range(x_rank)]
    of_y = ["z" if i == 0 else "y" if i == axes[1] else letters[10 + i] for i in range(y_rank)]
    out = [c for c in of_x + of_y[1:] if c != "y"]
    result = _tf.einsum(f"{''.join(of_x)},{''.join(of_y)}->{''.join(out)}", x, y)
    return _tf.expand_dims(result, 1) if len(out) == 1 else result


def bias_add(x, bias, data_format=None):
    """x plus a bias for each channel."""
    first = (data_format or _state.image_data_format()) == "channels_first"
    if len(bias.shape) == 1:
        shape = [1, bias.shape[0]] + [1] * (len(x.shape) - 2) if first else [1] * (len(x.shape) - 1) + [bias.shape[0]]
        return x + _tf.reshape(bias, shape)
    return x + _tf.expand_dims(bias, 0)


def _conv(x, kernel, strides, padding, data_format, dilation_rate):
    return _ops.conv(x, kernel, strides=strides, padding=padding, data_format=data_format, dilation_rate=dilation_rate)


def conv1d(x, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """A convolution of sequences."""
    return _conv(x, kernel, strides, padding, data_format, dilation_rate)


def conv2d(x, kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """A convolution of images."""
    return _conv(x, kernel, strides, padding, data_format, dilation_rate)


def conv3d(x, kernel, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1)):
    """A convolution of volumes."""
    return _conv(x, kernel, strides, padding, data_format, dilation_rate)


def depthwise_conv2d(x, depthwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """A convolution of each channel."""
    return _ops.depthwise_conv(x, depthwise_kernel, strides=strides, padding=padding, data_format=data_format,
                               dilation_rate=dilation_rate)


def pool2d(x, pool_size, strides=(1, 1), padding="valid", data_format=None, pool_mode="max"):
    """The largest or the mean of windows."""
    if pool_mode not in ("max", "avg"):
        raise ValueError("Invalid pooling mode: " + str(pool_mode))
    pool = _ops.max_pool if pool_mode == "max" else _ops.average_pool
    return pool(x, pool_size, strides=strides, padding=padding, data_format=data_format)


def count_params(x):
    """The number of elements."""
    return int(_np.prod([int(n) for n in x.shape]))


def dropout(x, level, noise_shape=None, seed=None):
    """x with a part of its elements 0 and the others larger."""
    return _tf.nn.dropout(x, rate=level, noise_shape=noise_shape, seed=_np.random.randint(10 ** 7) if seed is None else seed)


def eval(x):  # noqa: A001
    """The value of a tensor or a variable, as an array."""
    return _np.asarray(_tf.convert_to_tensor(x))


def eye(size, dtype=None, name=None):
    """Ones on the diagonal, as a variable."""
    return _tf.Variable(_tf.eye(size, dtype=dtype or _state.floatx()), name=name)


def foldl(fn, elems, initializer=None, name=None):
    """Puts elements together from the first on."""
    return _tf.foldl(fn, elems, initializer=initializer)


def foldr(fn, elems, initializer=None, name=None):
    """Puts elements together from the last on."""
    return _tf.foldr(fn, elems, initializer=initializer)


def map_fn(fn, elems, name=None, dtype=None):
    """The function of each element."""
    return _tf.map_fn(fn, elems, dtype=dtype)


def hard_sigmoid(x):
    """0.2 x + 0.5 between 0 and 1."""
    return _tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


def in_top_k(predictions, targets, k):
    """Whether the class is among the k with the largest numbers."""
    return _tf.math.in_top_k(targets, predictions, k)


def is_sparse(tensor):
    return isinstance(tensor, _tf.SparseTensor)


def to_dense(tensor):
    """The same with all its zeros."""
    return _tf.sparse.to_dense(tensor) if is_sparse(tensor) else tensor


def moving_average_update(x, value, momentum):
    """x times momentum plus value times the rest, assigned to x."""
    return x.assign(x * momentum + value * (1 - momentum))


def random_bernoulli(shape, p=0.0, dtype=None, seed=None):
    """Ones with the probability p, zeros else."""
    dtype = dtype or _state.floatx()
    draw = _tf.random.uniform(shape, dtype=dtype, seed=_np.random.randint(10 ** 6) if seed is None else seed)
    return _tf.cast(draw <= p, dtype)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers within two deviations."""
    return _tf.random.truncated_normal(shape, mean, stddev, dtype=dtype or _state.floatx(),
                                       seed=_np.random.randint(10 ** 6) if seed is None else seed)


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """A variable of normal numbers."""
    seed = _np.random.randint(10 ** 8) if seed is None else seed
    return _tf.Variable(_tf.random.normal(shape, mean, scale, dtype=dtype or _state.floatx(), seed=seed), name=name)


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """A variable of uniform numbers."""
    seed = _np.random.randint(10 ** 8) if seed is None else seed
    return _tf.Variable(_tf.random.uniform(shape, low, high, dtype=dtype or _state.floatx(), seed=seed), name=name)


def repeat(x, n):
    """[batch, features] n times, as [batch, n, features]."""
    return _tf.tile(_tf.expand_dims(x, 1), [1, n, 1])


def repeat_elements(x, rep, axis):
    """Each element rep times along an axis."""
    return _tf.repeat(x, rep, axis=axis)


def reverse(x, axes):
    """x backwards along the axes."""
    return _tf.reverse(x, [axes] if isinstance(axes, int) else list(axes))


def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    """Images larger by whole factors."""
    first = data_format == "channels_first"
    image = _tf.transpose(x, (0, 2, 3, 1)) if first else x
    size = (image.shape[1] * height_factor, image.shape[2] * width_factor)
    image = _tf.image.resize(image, size, method=interpolation)
    return _tf.transpose(image, (0, 3, 1, 2)) if first else image


def temporal_padding(x, padding=(1, 1)):
    """Zeros before and behind the times."""
    return _tf.pad(x, [[0, 0], list(padding), [0, 0]])


def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    """Zeros around images."""
    first = (data_format or _state.image_data_format()) == "channels_first"
    rows, columns = list(padding[0]), list(padding[1])
    return _tf.pad(x, [[0, 0], [0, 0], rows, columns] if first else [[0, 0], rows, columns, [0, 0]])


def update(x, new_x):
    return x.assign(new_x)


def update_add(x, increment):
    return x.assign_add(increment)


def update_sub(x, decrement):
    return x.assign_sub(decrement)


def gradients(loss, variables):
    """Gradients of a graph, which is not open here."""
    raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")
