"""How images differ and where they change."""
import math

import gradus as tf

from ._color import convert_image_dtype


def psnr(a, b, max_val, name=None):
    """The ratio of the largest value to the mean error of each image, in decibels."""
    a, b = (convert_image_dtype(x, tf.float32) for x in (a, b))
    scale = convert_image_dtype(tf.convert_to_tensor(max_val, dtype_hint=a.dtype), tf.float32) if tf.is_tensor(
        max_val) else tf.constant(float(max_val))
    return _decibels(a, b, scale)


def _decibels(a, b, scale):
    error = tf.reduce_mean(tf.math.squared_difference(a, b), [-3, -2, -1])
    ten = math.log(10.0)
    return 20 * tf.math.log(scale) / ten - 10 / ten * tf.math.log(error)


def _blurred(x, size, sigma):
    """Every channel averaged with the weights of a Gaussian, where it fits."""
    at = tf.range(size, dtype=tf.float32) - (size - 1) / 2
    weights = tf.nn.softmax(-tf.square(at) / (2 * sigma * sigma))
    channels = x.shape[-1]
    for shape, window in (([size, 1, 1, 1], weights), ([1, size, 1, 1], weights)):
        filters = tf.tile(tf.reshape(window, shape), [1, 1, channels, 1])
        x = tf.nn.depthwise_conv2d(x, filters, [1, 1, 1, 1], "VALID")
    return x


def _likeness(a, b, max_val, size, sigma, k1, k2):
    """The similarity of each channel and its part without brightness, and the map of the former."""
    def blurred(x):
        return _blurred(x, size, sigma)
    leading = a.shape.as_list()[:-3]
    a, b = (tf.reshape(x, [-1] + x.shape.as_list()[-3:]) for x in (a, b))
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean_a, mean_b = blurred(a), blurred(b)
    product = mean_a * mean_b * 2.0
    squares = tf.square(mean_a) + tf.square(mean_b)
    luminance = (product + c1) / (squares + c1)
    structure = (blurred(a * b) * 2.0 - product + c2) / (blurred(tf.square(a) + tf.square(b)) - squares + c2)
    return luminance * structure, structure, leading


def _prepared(img1, img2, max_val):
    img1, img2 = tf.convert_to_tensor(img1), tf.convert_to_tensor(img2)
    if img1.shape.as_list()[-3:] != img2.shape.as_list()[-3:]:
        raise ValueError(f"images of shapes {img1.shape} and {img2.shape} cannot be compared")
    limit = tf.cast(max_val, tf.float32) / (float(img1.dtype.max) if img1.dtype.is_integer else 1.0)
    return convert_image_dtype(img1, tf.float32), convert_image_dtype(img2, tf.float32), limit


def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False):
    """The structural similarity of each pair of images, 1 if they are equal."""
    img1, img2, limit = _prepared(img1, img2, max_val)
    for image in (img1, img2):
        if min(image.shape.as_list()[-3:-1]) < filter_size:
            raise tf.errors.InvalidArgumentError(None, None, f"images of shape {image.shape} are smaller than the filter, "
                                                 f"{filter_size}")
    values, _, leading = _likeness(img1, img2, limit, filter_size, filter_sigma, k1, k2)
    if return_index_map:
        return tf.reshape(tf.reduce_mean(values, -1), leading + values.shape.as_list()[1:3])
    return tf.reshape(tf.reduce_mean(values, [1, 2, 3]), leading)


def ssim_multiscale(img1, img2, max_val, power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size=11,
                    filter_sigma=1.5, k1=0.01, k2=0.03):
    """The structural similarity at several scales, multiplied."""
    img1, img2, limit = _prepared(img1, img2, max_val)
    leading = img1.shape.as_list()[:-3]
    img1, img2 = (tf.reshape(x, [-1] + x.shape.as_list()[-3:]) for x in (img1, img2))
    parts = []
    for i, power in enumerate(power_factors):
        if i:
            img1, img2 = (tf.nn.avg_pool2d(tf.pad(x, [[0, 0], [0, x.shape[1] % 2], [0, x.shape[2] % 2], [0, 0]],
                                                  "SYMMETRIC"), 2, 2, "VALID") for x in (img1, img2))
        both, structure, _ = _likeness(img1, img2, limit, filter_size, filter_sigma, k1, k2)
        value = tf.reduce_mean(both if i == len(power_factors) - 1 else structure, [1, 2])
        parts.append(tf.nn.relu(value) ** power)
    return tf.reshape(tf.reduce_mean(tf.reduce_prod(tf.stack(parts), 0), -1), leading)


def total_variation(images, name=None):
    """The sum of all differences of neighbours, for each image."""
    images = tf.convert_to_tensor(images)
    if images.shape.rank not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    down = images[..., 1:, :, :] - images[..., :-1, :, :]
    right = images[..., 1:, :] - images[..., :-1, :]
    return tf.reduce_sum(tf.abs(down), [-3, -2, -1]) + tf.reduce_sum(tf.abs(right), [-3, -2, -1])


def image_gradients(image):
    """Differences of neighbours downwards and to the right; zeros at the end."""
    image = tf.convert_to_tensor(image)
    if image.shape.rank != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}.")
    down = tf.pad(image[:, 1:] - image[:, :-1], [[0, 0], [0, 1], [0, 0], [0, 0]])
    right = tf.pad(image[:, :, 1:] - image[:, :, :-1], [[0, 0], [0, 0], [0, 1], [0, 0]])
    return down, right


def sobel_edges(image):
    """Sobel's slopes downwards and to the right, as a last axis of two."""
    image = tf.convert_to_tensor(image)
    channels = image.shape[-1]
    slope = tf.constant([[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]], image.dtype)
    filters = tf.stack([slope, tf.transpose(slope)], -1)[:, :, tf.newaxis]
    padded = tf.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    edges = tf.nn.depthwise_conv2d(padded, tf.tile(filters, [1, 1, channels, 1]), [1, 1, 1, 1], "VALID")
    return tf.reshape(edges, [-1] + image.shape.as_list()[1:] + [2])


def extract_patches(images, sizes, strides, rates, padding, name=None):
    """The pixels of a window at each of its places, as channels."""
    images = tf.convert_to_tensor(images)
    (_, rows, columns, _), (_, down, right, _), (_, down_rate, right_rate, _) = sizes, strides, rates
    height, width = images.shape[1], images.shape[2]
    tall, wide = (rows - 1) * down_rate + 1, (columns - 1) * right_rate + 1
    if padding.upper() == "SAME":
        count = -(-height // down), -(-width // right)
        extra = max((count[0] - 1) * down + tall - height, 0), max((count[1] - 1) * right + wide - width, 0)
        images = tf.pad(images, [[0, 0], [extra[0] // 2, extra[0] - extra[0] // 2],
                                 [extra[1] // 2, extra[1] - extra[1] // 2], [0, 0]])
    elif padding.upper() == "VALID":
        count = (height - tall) // down + 1, (width - wide) // right + 1
    else:
        raise ValueError(f"padding must be 'SAME' or 'VALID', got {padding!r}")
    parts = [images[:, i * down_rate:i * down_rate + (count[0] - 1) * down + 1:down,
                    j * right_rate:j * right_rate + (count[1] - 1) * right + 1:right]
             for i in range(rows) for j in range(columns)]
    return tf.concat(parts, -1)
