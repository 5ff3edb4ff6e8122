"""Colours, brightness and number types of images."""
import gradus as tf


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Another number type: integers are up to their largest number, floats from 0 to 1."""
    image = tf.convert_to_tensor(image)
    dtype = tf.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if not image.dtype.is_floating and not image.dtype.is_integer:
        raise AttributeError("image dtype must be either floating point or integer")
    if dtype == image.dtype:
        return tf.identity(image)
    if image.dtype.is_integer and dtype.is_integer:
        given, wanted = int(image.dtype.max), int(dtype.max)
        if given > wanted:
            scale = (given + 1) // (wanted + 1)
            scaled = image // tf.constant(scale, image.dtype)
            return tf.dtypes.saturate_cast(scaled, dtype) if saturate else tf.cast(scaled, dtype)
        turned = tf.dtypes.saturate_cast(image, dtype) if saturate else tf.cast(image, dtype)
        return turned * tf.constant((wanted + 1) // (given + 1), dtype)
    if image.dtype.is_floating and dtype.is_floating:
        return tf.cast(image, dtype)
    if image.dtype.is_integer:
        return tf.cast(image, dtype) * (1.0 / int(image.dtype.max))
    scaled = image * (int(dtype.max) + 0.5)
    return tf.dtypes.saturate_cast(scaled, dtype) if saturate else tf.cast(scaled, dtype)


def _in_floats(image, change):
    """change(image in floats) in the image's own number type."""
    image = tf.convert_to_tensor(image)
    if image.dtype.name in ("float32", "float16"):
        return change(image)
    return convert_image_dtype(change(convert_image_dtype(image, tf.float32)), image.dtype, saturate=True)


def adjust_brightness(image, delta):
    """delta more, on the scale from 0 to 1."""
    return _in_floats(image, lambda x: x + tf.cast(delta, x.dtype))


def adjust_contrast(images, contrast_factor):
    """Each channel's distance from its mean, times a factor."""
    def change(x):
        mean = tf.reduce_mean(x, [-3, -2], keepdims=True)
        return (x - mean) * tf.cast(contrast_factor, x.dtype) + mean
    return _in_floats(images, change)


def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma, on the scale from 0 to 1."""
    if not tf.is_tensor(gamma) and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    return _in_floats(image, lambda x: gain * x ** gamma)


def adjust_hue(image, delta, name=None):
    """Colours turned by delta of the whole circle."""
    if not tf.is_tensor(delta) and not -1 <= delta <= 1:
        raise tf.errors.InvalidArgumentError(None, None, "delta must be in the interval [-1, 1]")

    def change(x):
        hue, saturation, value = tf.unstack(rgb_to_hsv(x), axis=-1)
        return hsv_to_rgb(tf.stack([tf.math.floormod(hue + tf.cast(delta, x.dtype), 1.0), saturation, value], -1))
    return _in_floats(image, change)


def adjust_saturation(image, saturation_factor, name=None):
    """The saturation times a factor, at most 1."""
    def change(x):
        hue, saturation, value = tf.unstack(rgb_to_hsv(x), axis=-1)
        return hsv_to_rgb(tf.stack([hue, tf.clip_by_value(saturation * tf.cast(saturation_factor, x.dtype), 0.0, 1.0),
                                    value], -1))
    return _in_floats(image, change)


def rgb_to_hsv(images, name=None):
    """Hue, saturation and value, all from 0 to 1."""
    images = tf.convert_to_tensor(images)
    red, green, blue = tf.unstack(images, axis=-1)
    value = tf.reduce_max(images, -1)
    span = value - tf.reduce_min(images, -1)
    zero = tf.zeros_like(value)
    saturation = tf.where(value > 0, tf.math.divide_no_nan(span, value), zero)
    step = tf.math.divide_no_nan(tf.ones_like(span), 6.0 * span)
    hue = tf.where(tf.equal(red, value), step * (green - blue),
                   tf.where(tf.equal(green, value), step * (blue - red) + 2 / 6, step * (red - green) + 4 / 6))
    hue = tf.where(span > 0, hue, zero)
    return tf.stack([tf.where(hue < 0, hue + 1.0, hue), saturation, value], -1)


def hsv_to_rgb(images, name=None):
    """Red, green and blue of hue, saturation and value."""
    hue, saturation, value = tf.unstack(tf.convert_to_tensor(images), axis=-1)
    turn = hue * 6.0
    parts = (tf.abs(turn - 3.0) - 1.0, 2.0 - tf.abs(turn - 2.0), 2.0 - tf.abs(turn - 4.0))
    return tf.stack([((1.0 - saturation) + saturation * tf.clip_by_value(p, 0.0, 1.0)) * value for p in parts], -1)


def rgb_to_grayscale(images, name=None):
    """One channel: how bright the colours look."""
    def change(x):
        return tf.reduce_sum(x * tf.constant([0.2989, 0.587, 0.114], x.dtype), -1, keepdims=True)
    images = tf.convert_to_tensor(images)
    if images.dtype.is_floating:
        return change(images)
    return convert_image_dtype(change(convert_image_dtype(images, tf.float32)), images.dtype)


def grayscale_to_rgb(images, name=None):
    """The one channel three times."""
    images = tf.convert_to_tensor(images)
    if images.shape[-1] != 1:
        raise ValueError(f"The last axis of a grayscale image must have size 1, got shape {images.shape}")
    return tf.concat([images, images, images], -1)


def per_image_standardization(image):
    """Each image with mean 0 and variance 1."""
    image = tf.cast(image, tf.float32)
    axes = [-3, -2, -1]
    count = 1
    for size in image.shape.as_list()[-3:]:
        count *= size
    deviation = tf.maximum(tf.math.reduce_std(image, axes, keepdims=True), 1.0 / count ** 0.5)
    return (image - tf.reduce_mean(image, axes, keepdims=True)) / deviation


_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]


def _channels(matrix, doc):
    def function(images):
        images = tf.convert_to_tensor(images)
        return tf.tensordot(images, tf.constant(matrix, images.dtype), [[-1], [0]])
    function.__doc__ = doc
    return function


def _inverse(matrix):
    import numpy as np
    return np.linalg.inv(np.array(matrix)).tolist()


rgb_to_yiq = _channels(_YIQ, "Luma and two colour differences (NTSC).")
yiq_to_rgb = _channels([[1.0, 1.0, 1.0], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]],
                       "Red, green and blue of YIQ.")
rgb_to_yuv = _channels(_YUV, "Luma and two colour differences (PAL).")
yuv_to_rgb = _channels(_inverse(_YUV), "Red, green and blue of YUV.")
