"""Batches of images without end, of arrays, folders and tables, each image changed by a generator's draw."""
import os
import warnings

import numpy as np

from ..utils._dataset import PyDataset
from ..utils._folders import IMAGE_NAMES
from ..utils._images import img_to_array, load_img, save_img


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


class Saver:
    """Writes what is handed out to a folder, for looking at it."""

    def __init__(self, folder, prefix, format, data_format):
        self._folder, self._prefix, self._format, self._data_format = folder, prefix, format, data_format

    def __call__(self, batch, indices):
        if self._folder:
            for image, index in zip(batch, indices):
                name = f"{self._prefix}_{index}_{np.random.randint(10 ** 7)}.{self._format}"
                save_img(os.path.join(self._folder, name), image, data_format=self._data_format, scale=True)


def _check_format(data_format, generator):
    if data_format not in (None, generator.data_format):
        raise ValueError(f"data_format='{data_format}' is not that of the ImageDataGenerator, '{generator.data_format}': give "
                         "it there")


class NumpyArrayIterator(Iterator):
    """Batches of arrays, transformed."""

    def __init__(self, x, y, image_data_generator, batch_size=32, shuffle=False, sample_weight=None, seed=None,
                 data_format=None, save_to_dir=None, save_prefix="", save_format="png", subset=None,
                 ignore_class_split=False, dtype=None):
        others = [np.asarray(o) for o in x[1]] if isinstance(x, (tuple, list)) and isinstance(x[1], list) else (
            [np.asarray(x[1])] if isinstance(x, (tuple, list)) else [])
        _check_format(data_format, image_data_generator)
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
        self._save = Saver(save_to_dir, save_prefix, save_format, image_data_generator.data_format)

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
        _check_format(data_format, image_data_generator)
        if dtype not in (None, image_data_generator.dtype):
            raise ValueError(f"dtype={dtype} is not that of the ImageDataGenerator, {image_data_generator.dtype}: give it there")
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
                         Saver(save_to_dir, save_prefix, save_format, image_data_generator.data_format))


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
                         Saver(save_to_dir, save_prefix, save_format, image_data_generator.data_format), weights)
