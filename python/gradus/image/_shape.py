"""Images turned, cropped and padded.

Sizes and offsets are numbers, or scalars of a program where only that will know them.
"""
import gradus as tf

from .. import _core
from .._kinds import is_traced, size_of
from .._strings import numbers_of


def as_images(image):
    """A tensor of rank 3 or 4, as a batch, and whether it was a single image."""
    image = tf.convert_to_tensor(image)
    rank = image.shape.rank
    if rank == 3:
        return tf.expand_dims(image, 0), True
    if rank == 4:
        return image, False
    raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")


def like(batch, single):
    """The batch, or its only image."""
    return batch[0] if single else batch


def number(value):
    """A size or an offset that a function was given."""
    if isinstance(value, _core.Size):
        return value
    return tf.cast(value, tf.int32) if is_traced(value) else int(numbers_of(value))


def sizes_of(image):
    """Height and width."""
    return size_of(image, -3), size_of(image, -2)


def largest(a, b):
    """The larger one of two sizes."""
    return tf.maximum(a, b) if tf.is_tensor(a) or tf.is_tensor(b) else max(a, b)


def smallest(a, b):
    """The smaller one of two sizes."""
    return tf.minimum(a, b) if tf.is_tensor(a) or tf.is_tensor(b) else min(a, b)


def flip_left_right(image):
    """Images mirrored in a vertical line."""
    batch, single = as_images(image)
    return like(tf.reverse(batch, [2]), single)


def flip_up_down(image):
    """Images mirrored in a horizontal line."""
    batch, single = as_images(image)
    return like(tf.reverse(batch, [1]), single)


def transpose(image, name=None):
    """Rows become columns."""
    batch, single = as_images(image)
    return like(tf.transpose(batch, [0, 2, 1, 3]), single)


def rot90(image, k=1, name=None):
    """Turned counter-clockwise by k right angles."""
    k = int(k) % 4
    batch, single = as_images(image)
    if k == 1:
        batch = tf.reverse(tf.transpose(batch, [0, 2, 1, 3]), [1])
    elif k == 2:
        batch = tf.reverse(batch, [1, 2])
    elif k == 3:
        batch = tf.transpose(tf.reverse(batch, [1]), [0, 2, 1, 3])
    return like(batch, single)


def central_crop(image, central_fraction):
    """The middle part of each side."""
    if not 0.0 < central_fraction <= 1.0:
        raise ValueError("central_fraction must be within (0, 1]")
    if central_fraction == 1.0:
        return tf.convert_to_tensor(image)
    batch, single = as_images(image)
    height, width = sizes_of(batch)
    top, left = _margin(height, central_fraction), _margin(width, central_fraction)
    return like(batch[:, top:height - top, left:width - left], single)


def _margin(size, fraction):
    """What is cut off on each side."""
    if not tf.is_tensor(size):
        return int((size - size * fraction) / 2)
    size = tf.cast(size, tf.float64)
    return tf.cast((size - size * fraction) / 2, tf.int32)


def require(condition, message):
    """Complains now, or in the run that will know."""
    if tf.is_tensor(condition):
        tf.debugging.Assert(condition, [message])
    elif not condition:
        raise ValueError(message)


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The box at an offset."""
    batch, single = as_images(image)
    height, width = sizes_of(batch)
    top, left, rows, columns = (number(v) for v in (offset_height, offset_width, target_height, target_width))
    require(left >= 0, "offset_width must be >= 0.")
    require(top >= 0, "offset_height must be >= 0.")
    require(columns > 0, "target_width must be > 0.")
    require(rows > 0, "target_height must be > 0.")
    require(width >= columns + left, "width must be >= target + offset.")
    require(height >= rows + top, "height must be >= target + offset.")
    return like(batch[:, top:top + rows, left:left + columns], single)


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The image at an offset in a larger one of zeros."""
    batch, single = as_images(image)
    height, width = sizes_of(batch)
    top, left, rows, columns = (number(v) for v in (offset_height, offset_width, target_height, target_width))
    require(top >= 0, "offset_height must be >= 0")
    require(left >= 0, "offset_width must be >= 0")
    require(columns - left - width >= 0, "width must be <= target - offset")
    require(rows - top - height >= 0, "height must be <= target - offset")
    return like(tf.pad(batch, [[0, 0], [top, rows - top - height], [left, columns - left - width], [0, 0]]), single)


def resize_with_crop_or_pad(image, target_height, target_width):
    """The middle of the image, or the image in the middle of zeros, side by side."""
    batch, single = as_images(image)
    height, width = sizes_of(batch)
    rows, columns = number(target_height), number(target_width)
    require(columns > 0, "target_width must be > 0.")
    require(rows > 0, "target_height must be > 0.")
    batch = crop_to_bounding_box(batch, largest((height - rows) // 2, 0), largest((width - columns) // 2, 0),
                                 smallest(rows, height), smallest(columns, width))
    batch = pad_to_bounding_box(batch, largest((rows - height) // 2, 0), largest((columns - width) // 2, 0), rows,
                                columns)
    return like(batch, single)
