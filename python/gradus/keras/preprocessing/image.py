"""keras.preprocessing.image: images from files, and ImageDataGenerator, which many older programs train with.

The generator draws from NumPy's global random numbers in the order that Keras does, so that programs with seeds see the
same images.
"""
import warnings

import numpy as np

from .. import _state
from ..utils import image_dataset_from_directory  # noqa: F401
from ..utils._images import (  # noqa: F401
    array_to_img, img_to_array, load_img, save_img, smart_resize)
from ._image_batches import DataFrameIterator, DirectoryIterator, Iterator, NumpyArrayIterator  # noqa: F401
from ._image_moves import (  # noqa: F401
    apply_affine_transform, apply_brightness_shift, apply_channel_shift, named_axes, random_brightness,
    random_channel_shift, random_rotation, random_shear, random_shift, random_zoom)


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
        axes = named_axes(self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1)
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
