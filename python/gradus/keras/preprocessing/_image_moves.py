"""Images turned, shifted, sheared, zoomed and shaded: the functions of keras.preprocessing.image."""
import numpy as np

from .. import _state
from ..utils._images import array_to_img


def _mapped(places, size, fill_mode):
    """Coordinates outside of 0 ... size - 1 brought inside, and which were outside."""
    outside = (places < 0) | (places > size - 1)
    if fill_mode == "nearest":
        return np.clip(places, 0, size - 1), outside
    if fill_mode == "reflect":  # the pixels at the ends count twice
        folded = np.mod(places + 0.5, 2 * size)
        return np.where(folded > size, 2 * size - folded, folded) - 0.5, outside
    if fill_mode == "wrap":  # the pixels at the ends count as one
        return np.where(outside, np.mod(places, size - 1), places) if size > 1 else places * 0, outside
    return np.where(outside, 0, places), outside


def _sampled(image, rows, columns, order, fill_mode, cval):
    """image [height, width, channels] at fractional places, by the nearest pixel (order 0) or between four (order 1)."""
    height, width = image.shape[:2]
    (rows, row_outside), (columns, column_outside) = _mapped(rows, height, fill_mode), _mapped(columns, width, fill_mode)

    def at(r, c):
        return image[np.clip(r, 0, height - 1), np.clip(c, 0, width - 1)]

    if order == 0:
        made = at(np.floor(rows + 0.5).astype(int), np.floor(columns + 0.5).astype(int))
    else:
        r, c = np.floor(rows).astype(int), np.floor(columns).astype(int)
        below, right = (rows - r)[..., None], (columns - c)[..., None]
        made = ((at(r, c) * (1 - right) + at(r, c + 1) * right) * (1 - below)
                + (at(r + 1, c) * (1 - right) + at(r + 1, c + 1) * right) * below)
    if fill_mode == "constant":
        made = np.where((row_outside | column_outside)[..., None], cval, made)
    return made.astype(image.dtype)


def _about_center(matrix, height, width):
    center = np.array([height, width]) / 2 - 0.5
    there, back = np.eye(3), np.eye(3)
    there[:2, 2], back[:2, 2] = center, -center
    return there @ matrix @ back


def apply_affine_transform(x, theta=0, tx=0, ty=0, shear=0, zx=1, zy=1, row_axis=1, col_axis=2, channel_axis=0,
                           fill_mode="nearest", cval=0.0, order=1):
    """An image rotated (degrees), shifted (pixels), sheared (degrees) and zoomed about its center."""
    if fill_mode not in ("nearest", "constant", "reflect", "wrap"):
        raise ValueError(f"fill_mode is 'nearest', 'constant', 'reflect' or 'wrap', got {fill_mode!r}")
    if order not in (0, 1):
        raise NotImplementedError(f"interpolation_order is 0 or 1, got {order}")
    matrix = None
    if theta != 0:
        angle = np.deg2rad(theta)
        matrix = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    for wanted, step in ((tx != 0 or ty != 0, lambda: [[1, 0, tx], [0, 1, ty], [0, 0, 1]]),
                         (shear != 0, lambda: [[1, -np.sin(np.deg2rad(shear)), 0], [0, np.cos(np.deg2rad(shear)), 0],
                                               [0, 0, 1]]),
                         (zx != 1 or zy != 1, lambda: [[zx, 0, 0], [0, zy, 0], [0, 0, 1]])):
        if wanted:
            matrix = np.array(step()) if matrix is None else matrix @ np.array(step())
    if matrix is None:
        return x
    image = np.moveaxis(x, (row_axis, col_axis, channel_axis), (0, 1, 2))
    height, width = image.shape[:2]
    matrix = _about_center(matrix, height, width)
    row, column = np.mgrid[0:height, 0:width]
    # Keras 3 takes the columns first here and the rows first for the center: it is the center of square images only.
    columns = matrix[0, 0] * column + matrix[0, 1] * row + matrix[0, 2]
    rows = matrix[1, 0] * column + matrix[1, 1] * row + matrix[1, 2]
    made = _sampled(image, rows, columns, order, fill_mode, cval)
    return np.moveaxis(made, (0, 1, 2), (row_axis, col_axis, channel_axis))


def named_axes(row_axis, col_axis, channel_axis):
    return {"row_axis": row_axis, "col_axis": col_axis, "channel_axis": channel_axis}


def random_rotation(x, rg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1):
    """Rotated by up to rg degrees."""
    return apply_affine_transform(x, theta=np.random.uniform(-rg, rg), **named_axes(row_axis, col_axis, channel_axis),
                                  fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_shift(x, wrg, hrg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                 interpolation_order=1):
    """Shifted by up to the fractions wrg of the width and hrg of the height."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(x, tx=tx, ty=ty, **named_axes(row_axis, col_axis, channel_axis), fill_mode=fill_mode,
                                  cval=cval, order=interpolation_order)


def random_shear(x, intensity, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                 interpolation_order=1):
    """Sheared by up to `intensity` degrees."""
    return apply_affine_transform(x, shear=np.random.uniform(-intensity, intensity),
                                  **named_axes(row_axis, col_axis, channel_axis), fill_mode=fill_mode, cval=cval,
                                  order=interpolation_order)


def random_zoom(x, zoom_range, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                interpolation_order=1):
    """Zoomed by factors between the two of zoom_range."""
    if len(zoom_range) != 2:
        raise ValueError(f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}")
    zx, zy = (1, 1) if zoom_range[0] == 1 and zoom_range[1] == 1 else np.random.uniform(*zoom_range, 2)
    return apply_affine_transform(x, zx=zx, zy=zy, **named_axes(row_axis, col_axis, channel_axis), fill_mode=fill_mode,
                                  cval=cval, order=interpolation_order)


def apply_channel_shift(x, intensity, channel_axis=0):
    """Adds to all channels and keeps them between the lowest and the highest value of the image."""
    return np.clip(x + np.asarray(intensity, x.dtype), np.min(x), np.max(x))


def random_channel_shift(x, intensity_range, channel_axis=0):
    return apply_channel_shift(x, np.random.uniform(-intensity_range, intensity_range), channel_axis)


def apply_brightness_shift(x, brightness, scale=True):
    """The image, in whole steps of 0 ... 255, times `brightness`."""
    x = np.asarray(x)
    lowest, highest = np.min(x), np.max(x)
    beyond = bool(lowest < 0 or highest > 255)
    pixels = np.asarray(array_to_img(x, data_format="channels_last", scale=beyond or scale)).astype(np.float32)
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    made = np.clip(np.trunc(pixels * np.float32(brightness)), 0, 255).astype(_state.floatx())
    if x.shape[2] == 4:
        made[..., 3] = pixels[..., 3]
    if not scale and beyond:
        made = made / 255 * (highest - lowest) + lowest
    return made


def random_brightness(x, brightness_range, scale=True):
    if len(brightness_range) != 2:
        raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
    return apply_brightness_shift(x, np.random.uniform(*brightness_range), scale)
