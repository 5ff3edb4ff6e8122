"""keras.preprocessing.image: images from files, and ImageDataGenerator, which many older programs train with.

The generator draws from NumPy's global random numbers in the order that Keras does, so that programs with seeds see the
same images.
"""
import os
import warnings

import numpy as np

from .. import _state
from ..utils import image_dataset_from_directory  # noqa: F401
from ..utils._dataset import PyDataset
from ..utils._folders import IMAGE_NAMES
from ..utils._images import (  # noqa: F401
    array_to_img, img_to_array, load_img, save_img, smart_resize)

# ---------------------------------------------------------------------- moving pixels


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


def _axes(row_axis, col_axis, channel_axis):
    return {"row_axis": row_axis, "col_axis": col_axis, "channel_axis": channel_axis}


def random_rotation(x, rg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1):
    """Rotated by up to rg degrees."""
    return apply_affine_transform(x, theta=np.random.uniform(-rg, rg), **_axes(row_axis, col_axis, channel_axis),
                                  fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_shift(x, wrg, hrg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                 interpolation_order=1):
    """Shifted by up to the fractions wrg of the width and hrg of the height."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(x, tx=tx, ty=ty, **_axes(row_axis, col_axis, channel_axis), fill_mode=fill_mode,
                                  cval=cval, order=interpolation_order)


def random_shear(x, intensity, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                 interpolation_order=1):
    """Sheared by up to `intensity` degrees."""
    return apply_affine_transform(x, shear=np.random.uniform(-intensity, intensity),
                                  **_axes(row_axis, col_axis, channel_axis), fill_mode=fill_mode, cval=cval,
                                  order=interpolation_order)


def random_zoom(x, zoom_range, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0,
                interpolation_order=1):
    """Zoomed by factors between the two of zoom_range."""
    if len(zoom_range) != 2:
        raise ValueError(f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}")
    zx, zy = (1, 1) if zoom_range[0] == 1 and zoom_range[1] == 1 else np.random.uniform(*zoom_range, 2)
    return apply_affine_transform(x, zx=zx, zy=zy, **_axes(row_axis, col_axis, channel_axis), fill_mode=fill_mode,
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


# ---------------------------------------------------------------------- batches


class Iterator(PyDataset):
    """Batches without end of n things, in an order that `seed` decides."""

    white_list_formats = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")

    def __init__(self, n, batch_size, shuffle, seed):
        super().__init__()
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.batch_index = self.total_batches_seen = 0
        self.index_array = None

    def _order(self):
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _next_seed(self):
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1

    def __len__(self):
        return (self.n + self.batch_size - 1) // self.batch_size

    def __getitem__(self, idx):
        if idx >= len(self):
            raise ValueError(f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}")
        self._next_seed()
        if self.index_array is None:
            self._order()
        return self._get_batches_of_transformed_samples(
            self.index_array[self.batch_size * idx:self.batch_size * (idx + 1)])

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self._next_seed()
        if self.batch_index == 0:
            self._order()
        first = self.batch_index * self.batch_size
        self.batch_index = self.batch_index + 1 if self.n > first + self.batch_size else 0
        return self._get_batches_of_transformed_samples(self.index_array[first:first + self.batch_size])

    next = __next__

    def on_epoch_end(self):
        self._order()

    def reset(self):
        self.batch_index = 0


class _Saver:
    """Writes what is handed out to a folder, for looking at it."""

    def __init__(self, folder, prefix, format, data_format):
        self._folder, self._prefix, self._format, self._data_format = folder, prefix, format, data_format

    def __call__(self, batch, indices):
        if self._folder:
            for image, index in zip(batch, indices):
                name = f"{self._prefix}_{index}_{np.random.randint(10 ** 7)}.{self._format}"
                save_img(os.path.join(self._folder, name), image, data_format=self._data_format, scale=True)


class NumpyArrayIterator(Iterator):
    """Batches of arrays, transformed."""

    def __init__(self, x, y, image_data_generator, batch_size=32, shuffle=False, sample_weight=None, seed=None,
                 data_format=None, save_to_dir=None, save_prefix="", save_format="png", subset=None,
                 ignore_class_split=False, dtype=None):
        others = [np.asarray(o) for o in x[1]] if isinstance(x, (tuple, list)) and isinstance(x[1], list) else (
            [np.asarray(x[1])] if isinstance(x, (tuple, list)) else [])
        x = np.asarray(x[0] if isinstance(x, (tuple, list)) else x, dtype=dtype or image_data_generator.dtype)
        for named, values in (("`y` (labels)", y), ("`sample_weight`", sample_weight)):
            if values is not None and len(values) != len(x):
                raise ValueError(f"`x` (images tensor) and {named} should have the same length. Found: x.shape = "
                                 f"{x.shape}, {named.split()[0].strip('`')}.shape = {np.asarray(values).shape}")
        if subset is not None:
            part = image_data_generator._part(subset, len(x))
            cut = image_data_generator._cut(len(x))
            if y is not None and not ignore_class_split and not np.array_equal(np.unique(y[:cut]), np.unique(y[cut:])):
                raise ValueError("Training and validation subsets have different number of classes after the split. If "
                                 "your numpy arrays are sorted by the label, you might want to shuffle them.")
            x, others = x[part], [o[part] for o in others]
            y = None if y is None else np.asarray(y)[part]
            sample_weight = None if sample_weight is None else np.asarray(sample_weight)[part]
        if x.ndim != 4:
            raise ValueError(f"Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape "
                             f"{x.shape}")
        super().__init__(len(x), batch_size, shuffle, seed)
        self.x, self.x_misc = x, others
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_data_generator = image_data_generator
        self._save = _Saver(save_to_dir, save_prefix, save_format, image_data_generator.data_format)

    def _get_batches_of_transformed_samples(self, index_array):
        made = image_batch(self.image_data_generator, (self.x[j] for j in index_array), len(index_array), self.x.dtype)
        self._save(made, index_array)
        images = [made, *(o[index_array] for o in self.x_misc)] if self.x_misc else made
        given = [v[index_array] for v in (self.y, self.sample_weight) if v is not None]
        return (images, *given) if self.y is not None else images


def image_batch(generator, images, count, dtype):
    """The images, each transformed by its own draw."""
    made = None
    for i, image in enumerate(images):
        image = generator.apply_transform(image.astype(dtype), generator.get_random_transform(image.shape))
        image = generator.standardize(image)
        made = np.zeros((count, *image.shape), dtype) if made is None else made
        made[i] = image
    return made


class _FileIterator(Iterator):
    """Batches of images from files, with their classes."""

    allowed_class_modes = {"categorical", "binary", "sparse", "input", None}

    def __init__(self, generator, paths, classes, num_classes, target_size, color_mode, class_mode, batch_size, shuffle,
                 seed, interpolation, keep_aspect_ratio, saver, weights=None):
        channels = {"rgb": 3, "rgba": 4, "grayscale": 1}.get(color_mode)
        if channels is None:
            raise ValueError(f'Invalid color mode: {color_mode}; expected "rgb", "rgba", or "grayscale".')
        super().__init__(len(paths), batch_size, shuffle, seed)
        self.image_data_generator, self.filepaths, self.classes, self.num_classes = generator, paths, classes, num_classes
        self.labels, self.sample_weight, self.samples = classes, weights, len(paths)
        self.target_size, self.color_mode, self.class_mode = tuple(target_size), color_mode, class_mode
        first = generator.data_format == "channels_first"
        self.image_shape = (channels, *self.target_size) if first else (*self.target_size, channels)
        self._load = lambda path: img_to_array(
            load_img(path, color_mode=color_mode, target_size=self.target_size, interpolation=interpolation,
                     keep_aspect_ratio=keep_aspect_ratio), data_format=generator.data_format)
        self._save = saver

    def _get_batches_of_transformed_samples(self, index_array):
        images = (self._load(self.filepaths[j]) for j in index_array)
        made = image_batch(self.image_data_generator, images, len(index_array), self.image_data_generator.dtype)
        self._save(made, index_array)
        if self.class_mode is None:
            return made
        weight = () if self.sample_weight is None else (np.asarray(self.sample_weight)[index_array],)
        if self.class_mode == "multi_output":
            return (made, [column[index_array] for column in self.labels], *weight)
        if self.class_mode == "input":
            return (made, made.copy(), *weight)
        labels = np.asarray(self.labels)[index_array]
        if self.class_mode == "categorical":
            labels = np.eye(self.num_classes, dtype=made.dtype)[labels]
        elif self.class_mode in ("binary", "sparse"):
            labels = labels.astype(made.dtype)
        return (made, labels, *weight)


class DirectoryIterator(_FileIterator):
    """Batches of images of a folder with one folder per class."""

    def __init__(self, directory, image_data_generator, target_size=(256, 256), color_mode="rgb", classes=None,
                 class_mode="categorical", batch_size=32, shuffle=True, seed=None, data_format=None, save_to_dir=None,
                 save_prefix="", save_format="png", follow_links=False, subset=None, interpolation="nearest",
                 keep_aspect_ratio=False, dtype=None):
        if class_mode not in self.allowed_class_modes:
            raise ValueError(f"Invalid class_mode: {class_mode}; expected one of: {sorted(self.allowed_class_modes, key=str)}")
        directory = os.fspath(directory)
        self.directory = directory
        names = list(classes) if classes else sorted(
            f for f in os.listdir(directory) if os.path.isdir(os.path.join(directory, f)))
        self.class_indices = {name: i for i, name in enumerate(names)}
        paths, numbers = [], []
        for number, name in enumerate(names):
            found = []
            for root, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=follow_links)):
                found += [os.path.join(root, f) for f in sorted(files) if f.lower().endswith(IMAGE_NAMES)]
            found = found if subset is None else found[image_data_generator._part(subset, len(found))]
            paths += found
            numbers += [number] * len(found)
        print(f"Found {len(paths)} images belonging to {len(names)} classes.")
        self.filenames = [os.path.relpath(p, directory) for p in paths]
        super().__init__(image_data_generator, paths, np.array(numbers, dtype="int32"), len(names), target_size, color_mode,
                         class_mode, batch_size, shuffle, seed, interpolation, keep_aspect_ratio,
                         _Saver(save_to_dir, save_prefix, save_format, image_data_generator.data_format))


class DataFrameIterator(_FileIterator):
    """Batches of images that a table names."""

    def __init__(self, dataframe, directory=None, image_data_generator=None, x_col="filename", y_col="class",
                 weight_col=None, target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical",
                 batch_size=32, shuffle=True, seed=None, save_to_dir=None, save_prefix="", save_format="png", subset=None,
                 interpolation="nearest", keep_aspect_ratio=False, validate_filenames=True):
        modes = ("binary", "categorical", "input", "multi_output", "raw", "sparse", None)
        if class_mode not in modes:
            raise ValueError(f"Invalid class_mode: {class_mode}; expected one of: {list(modes)}")
        names = [str(name) for name in dataframe[x_col]]
        paths = [os.path.join(directory or "", name) for name in names]
        rows = np.arange(len(names))
        if validate_filenames:
            rows = np.array([i for i, p in enumerate(paths) if os.path.isfile(p) and p.lower().endswith(IMAGE_NAMES)], int)
            if len(rows) < len(names):
                warnings.warn(f'Found {len(names) - len(rows)} invalid image filename(s) in x_col="{x_col}". These '
                              "filename(s) will be ignored.", stacklevel=3)
        self.class_indices, labels, number = {}, None, 0
        if class_mode in ("binary", "categorical", "sparse"):
            values = [str(v) for v in dataframe[y_col]]
            known = list(classes) if classes else sorted({values[i] for i in rows})
            self.class_indices = {name: i for i, name in enumerate(known)}
            rows = np.array([i for i in rows if values[i] in self.class_indices], int)
            labels, number = np.array([self.class_indices[values[i]] for i in rows], dtype="int32"), len(known)
        elif class_mode == "raw":
            labels = np.asarray(dataframe[y_col])[rows]
        elif class_mode == "multi_output":
            labels = [np.asarray(dataframe[column])[rows] for column in y_col]
        part = slice(None) if subset is None else image_data_generator._part(subset, len(rows))
        rows = rows[part]
        labels = [column[part] for column in labels] if class_mode == "multi_output" else (
            None if labels is None else labels[part])
        weights = None if weight_col is None else np.asarray(dataframe[weight_col])[rows]
        self.filenames = [names[i] for i in rows]
        print(f"Found {len(rows)} validated image filenames"
              + (f" belonging to {number} classes." if self.class_indices else "."))
        super().__init__(image_data_generator, [paths[i] for i in rows], labels, number, target_size, color_mode,
                         class_mode, batch_size, shuffle, seed, interpolation, keep_aspect_ratio,
                         _Saver(save_to_dir, save_prefix, save_format, image_data_generator.data_format), weights)


# ---------------------------------------------------------------------- the generator


class ImageDataGenerator:
    """Batches of images that are moved, turned and shaded at random, and brought to the same scale."""

    def __init__(self, featurewise_center=False, samplewise_center=False, featurewise_std_normalization=False,
                 samplewise_std_normalization=False, zca_whitening=False, zca_epsilon=1e-06, rotation_range=0,
                 width_shift_range=0.0, height_shift_range=0.0, brightness_range=None, shear_range=0.0, zoom_range=0.0,
                 channel_shift_range=0.0, fill_mode="nearest", cval=0.0, horizontal_flip=False, vertical_flip=False,
                 rescale=None, preprocessing_function=None, data_format=None, validation_split=0.0,
                 interpolation_order=1, dtype=None):
        data_format = data_format or _state.image_data_format()
        if data_format not in ("channels_last", "channels_first"):
            raise ValueError('`data_format` should be `"channels_last"` (channel after row and column) or '
                             f'`"channels_first"` (channel before row and column). Received: {data_format}')
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(f"`validation_split` must be strictly between 0 and 1.  Received: {validation_split}")
        if isinstance(zoom_range, (float, int)):
            zoom_range = [1 - zoom_range, 1 + zoom_range]
        elif len(zoom_range) != 2 or not all(isinstance(v, (float, int)) for v in zoom_range):
            raise ValueError("`zoom_range` should be a float or a tuple or list of two floats. "
                             f"Received: {zoom_range}")
        if brightness_range is not None and (not isinstance(brightness_range, (tuple, list))
                                             or len(brightness_range) != 2):
            raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
        self._warn_of_overridden(zca_whitening, featurewise_center, featurewise_std_normalization, samplewise_center,
                                 samplewise_std_normalization)
        self.featurewise_center = featurewise_center or zca_whitening or featurewise_std_normalization
        self.featurewise_std_normalization = featurewise_std_normalization and not zca_whitening
        self.samplewise_center = samplewise_center or samplewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening, self.zca_epsilon = zca_whitening, zca_epsilon
        self.rotation_range, self.width_shift_range = rotation_range, width_shift_range
        self.height_shift_range, self.shear_range, self.zoom_range = height_shift_range, shear_range, zoom_range
        self.brightness_range, self.channel_shift_range = brightness_range, channel_shift_range
        self.fill_mode, self.cval, self.interpolation_order = fill_mode, cval, interpolation_order
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.rescale, self.preprocessing_function = rescale, preprocessing_function
        self.data_format, self._validation_split = data_format, validation_split
        self.dtype = dtype or _state.floatx()
        first = data_format == "channels_first"
        self.channel_axis, self.row_axis, self.col_axis = (1, 2, 3) if first else (3, 1, 2)
        self.mean = self.std = self.zca_whitening_matrix = None

    @staticmethod
    def _warn_of_overridden(zca, center, std, sample_center, sample_std):
        for given, named, missing, other in ((zca, "zca_whitening", not center, "featurewise_center"),
                                             (zca, "zca_whitening", std, "featurewise_std_normalization"),
                                             (std, "featurewise_std_normalization", not center, "featurewise_center"),
                                             (sample_std, "samplewise_std_normalization", not sample_center,
                                              "samplewise_center")):
            if given and missing:
                warnings.warn(f"This ImageDataGenerator specifies `{named}`, which overrides setting of `{other}`.",
                              stacklevel=4)

    def _cut(self, count):
        return int(count * self._validation_split)

    def _part(self, subset, count):
        if subset not in ("training", "validation"):
            raise ValueError(f'Invalid subset name: {subset}; expected "training" or "validation".')
        cut = self._cut(count)
        return slice(cut, None) if subset == "training" else slice(cut)

    # ------------------------------------------------------------------ sources
    def flow(self, x, y=None, batch_size=32, shuffle=True, sample_weight=None, seed=None, save_to_dir=None, save_prefix="",
             save_format="png", ignore_class_split=False, subset=None):
        """Batches of an array of images, for ever."""
        return NumpyArrayIterator(x, y, self, batch_size=batch_size, shuffle=shuffle, sample_weight=sample_weight,
                                  seed=seed, save_to_dir=save_to_dir, save_prefix=save_prefix, save_format=save_format,
                                  ignore_class_split=ignore_class_split, subset=subset, dtype=self.dtype)

    def flow_from_directory(self, directory, target_size=(256, 256), color_mode="rgb", classes=None,
                            class_mode="categorical", batch_size=32, shuffle=True, seed=None, save_to_dir=None,
                            save_prefix="", save_format="png", follow_links=False, subset=None, interpolation="nearest",
                            keep_aspect_ratio=False):
        """Batches of the images of a folder with one folder per class, for ever."""
        return DirectoryIterator(directory, self, target_size, color_mode, classes, class_mode, batch_size, shuffle, seed,
                                 self.data_format, save_to_dir, save_prefix, save_format, follow_links, subset,
                                 interpolation, keep_aspect_ratio)

    def flow_from_dataframe(self, dataframe, directory=None, x_col="filename", y_col="class", weight_col=None,
                            target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical",
                            batch_size=32, shuffle=True, seed=None, save_to_dir=None, save_prefix="", save_format="png",
                            subset=None, interpolation="nearest", validate_filenames=True, **kwargs):
        """Batches of the images that a column of a table names, for ever."""
        return DataFrameIterator(dataframe, directory, self, x_col, y_col, weight_col, target_size, color_mode, classes,
                                 class_mode, batch_size, shuffle, seed, save_to_dir, save_prefix, save_format, subset,
                                 interpolation, kwargs.get("keep_aspect_ratio", False), validate_filenames)

    # ------------------------------------------------------------------ one image
    def standardize(self, x):
        """One image brought to scale, in place where it can be."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + 1e-6
        for wanted, value, change in ((self.featurewise_center, self.mean, np.subtract),
                                      (self.featurewise_std_normalization, self.std, lambda a, b: a / (b + 1e-6))):
            if wanted:
                x = change(x, value) if value is not None else self._not_fit(x)
        if self.zca_whitening:
            x = (x.reshape(1, -1) @ self.zca_whitening_matrix).reshape(x.shape) if self.mean is not None else (
                self._not_fit(x))
        return x

    @staticmethod
    def _not_fit(x):
        warnings.warn("This ImageDataGenerator normalises by statistics of all images, but it hasn't been fit on any "
                      "training data. Fit it first by calling `.fit(numpy_data)`.", stacklevel=3)
        return x

    def get_random_transform(self, img_shape, seed=None):
        """What is to be done to an image of this shape, drawn at random."""
        if seed is not None:
            np.random.seed(seed)
        draw = np.random.uniform
        turn, shear, channels = self.rotation_range, self.shear_range, self.channel_shift_range
        theta = draw(-turn, turn) if turn else 0
        tx = self._shift(self.height_shift_range, img_shape[self.row_axis - 1])
        ty = self._shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = draw(-shear, shear) if shear else 0
        zx, zy = (1, 1) if self.zoom_range[0] == 1 and self.zoom_range[1] == 1 else draw(*self.zoom_range, 2)
        flip_horizontal = (np.random.random() < 0.5) * self.horizontal_flip
        flip_vertical = (np.random.random() < 0.5) * self.vertical_flip
        shift = draw(-channels, channels) if channels != 0 else None
        brightness = draw(*self.brightness_range) if self.brightness_range is not None else None
        return {"theta": theta, "tx": tx, "ty": ty, "shear": shear, "zx": zx, "zy": zy,
                "flip_horizontal": flip_horizontal, "flip_vertical": flip_vertical, "channel_shift_intensity": shift,
                "brightness": brightness}

    @staticmethod
    def _shift(given, size):
        """Whole pixels if an integer or a list was given, a part of the size below 1."""
        if not np.any(given):
            return 0
        if isinstance(given, (int, list, tuple, np.ndarray)):
            drawn = np.random.choice(given) * np.random.choice([-1, 1])
        else:
            drawn = np.random.uniform(-given, given)
        return drawn * size if np.max(given) < 1 else drawn

    def apply_transform(self, x, transform_parameters):
        """An image after what get_random_transform gave."""
        axes = _axes(self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1)
        given = transform_parameters.get
        x = apply_affine_transform(x, given("theta", 0), given("tx", 0), given("ty", 0), given("shear", 0), given("zx", 1),
                                   given("zy", 1), **axes, fill_mode=self.fill_mode, cval=self.cval,
                                   order=self.interpolation_order)
        if given("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, given("channel_shift_intensity"), axes["channel_axis"])
        if given("flip_horizontal", False):
            x = np.flip(x, axes["col_axis"])
        if given("flip_vertical", False):
            x = np.flip(x, axes["row_axis"])
        if given("brightness") is not None:
            x = apply_brightness_shift(x, given("brightness"), False)
        return x

    def random_transform(self, x, seed=None):
        """An image after a draw."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x, augment=False, rounds=1, seed=None):
        """Takes mean, deviation and whitening from a sample of images."""
        x = np.asarray(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}")
        if seed is not None:
            np.random.seed(seed)
        x = np.copy(x)
        if self.rescale:
            x *= self.rescale
        if augment:
            x = np.stack([self.random_transform(x[i]) for _ in range(rounds) for i in range(len(x))]).astype(self.dtype)
        axes = (0, self.row_axis, self.col_axis)
        if self.featurewise_center:
            self.mean = np.mean(x, axis=axes, keepdims=True)[0]
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=axes, keepdims=True)[0]
            x /= self.std + 1e-6
        if self.zca_whitening:
            flat = x.reshape(len(x), -1)
            _, s, vectors = np.linalg.svd(flat, full_matrices=False)
            scale = np.sqrt(len(x)) / np.sqrt(s ** 2 + self.zca_epsilon)
            self.zca_whitening_matrix = (vectors.T * scale) @ vectors
