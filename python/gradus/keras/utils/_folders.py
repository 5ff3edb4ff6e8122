"""Datasets of folders with one folder of files per class: texts and images."""
import os

import numpy as np

import gradus as tf

from .. import _state

IMAGE_NAMES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
_IMAGE_METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")


class Folder:
    """The files of a folder, the numbers of their classes, and how they are split and labelled."""

    def __init__(self, directory, labels, label_mode, class_names, shuffle, seed, validation_split, subset, follow_links,
                 verbose, suffixes):
        if labels not in ("inferred", None) and not isinstance(labels, (list, tuple)):
            raise ValueError("`labels` argument should be a list/tuple of integer labels, of the same size as the number "
                             f"of files in the target directory. Received: labels={labels}")
        if label_mode not in ("int", "binary", "categorical", None):
            raise ValueError('`label_mode` argument must be one of "int", "categorical", "binary", or None. Received: '
                             f"label_mode={label_mode}")
        _check_split(validation_split, subset, shuffle, seed)
        if labels is None and class_names is not None:
            raise ValueError("When `labels=None` (no labels), argument `class_names` cannot be specified.")
        self.label_mode = label_mode if labels is not None else None
        directory = os.fspath(directory)
        self._list(directory, labels if label_mode else None, class_names, follow_links, suffixes)
        if self.label_mode == "binary" and len(self.class_names) != 2:
            raise ValueError('When passing `label_mode="binary"`, there must be exactly 2 class_names. Received: '
                             f"class_names={self.class_names}")
        if verbose:
            print(f"Found {len(self.paths)} files"
                  + (f" belonging to {len(self.class_names)} classes." if self.label_mode else "."))
        if shuffle:
            seed = np.random.randint(10 ** 6) if seed is None else seed
            for values in (self.paths, self.numbers):
                np.random.RandomState(seed).shuffle(values)
        self.shuffle, self.seed, self.subset = shuffle, seed, subset
        cut = len(self.paths) - int((validation_split or 0) * len(self.paths))
        self._parts = {"training": slice(cut), "validation": slice(cut, None), None: slice(None)}
        if verbose and subset:
            for part in ("training", "validation") if subset == "both" else (subset,):
                print(f"Using {len(self.paths[self._parts[part]])} files for {part}.")

    def _list(self, directory, labels, class_names, follow_links, suffixes):
        folders = sorted(f for f in os.listdir(directory) if os.path.isdir(os.path.join(directory, f)))
        inferred = labels == "inferred"
        if inferred and class_names is not None and not set(class_names) <= set(folders):
            raise ValueError("The `class_names` passed did not match the names of the subdirectories of the target "
                             f"directory. Expected: {folders} (or a subset of it), but received: "
                             f"class_names={class_names}")
        self.class_names = list(class_names or folders) if inferred else None
        self.paths, self.numbers = [], []
        for number, name in enumerate(self.class_names if inferred else [""]):
            for root, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=follow_links)):
                found = [os.path.join(root, f) for f in sorted(files) if f.lower().endswith(suffixes)]
                self.paths += found
                self.numbers += [number] * len(found)
        if isinstance(labels, (list, tuple)):
            if len(labels) != len(self.paths):
                raise ValueError("Expected the lengths of `labels` to match the number of files in the target directory. "
                                 f"len(labels) is {len(labels)} while we found {len(self.paths)} files in directory "
                                 f"{directory}.")
            self.class_names = [str(label) for label in sorted(set(labels))]
            self.numbers = list(labels)

    def dataset(self, elements, batch_size):
        """Of what elements(dataset of paths) gives, with labels; two datasets for subset='both'."""
        if self.subset == "both":
            return [self._part(elements, batch_size, part) for part in ("training", "validation")]
        return self._part(elements, batch_size, self.subset)

    def _part(self, elements, batch_size, part):
        paths = self.paths[self._parts[part]]
        dataset = tf.data.Dataset.from_tensor_slices(paths)
        if self.label_mode is not None:
            dataset = tf.data.Dataset.zip((dataset, tf.data.Dataset.from_tensor_slices(self._labels(part))))
        if self.shuffle and part != "validation":
            dataset = dataset.shuffle(len(paths), seed=self.seed)
        dataset = elements(dataset)
        dataset = dataset if batch_size is None else dataset.batch(batch_size)
        dataset = dataset.prefetch(tf.data.AUTOTUNE)
        dataset.class_names, dataset.file_paths = self.class_names, paths
        return dataset

    def _labels(self, part):
        numbers = np.array(self.numbers[self._parts[part]])
        if self.label_mode == "categorical":
            return np.eye(len(self.class_names), dtype=np.float32)[numbers]
        if self.label_mode == "binary":
            return numbers.astype(np.float32)[:, None]
        return numbers.astype(np.int32)

    def mapped(self, read):
        """elements for dataset(): read(path), beside the label if there is one."""
        if self.label_mode is None:
            return lambda dataset: dataset.map(read, num_parallel_calls=tf.data.AUTOTUNE)
        return lambda dataset: dataset.map(lambda path, label: (read(path), label), num_parallel_calls=tf.data.AUTOTUNE)


def _check_split(validation_split, subset, shuffle, seed):
    if validation_split and not 0 < validation_split < 1:
        raise ValueError(f"`validation_split` must be between 0 and 1, received: {validation_split}")
    if bool(validation_split) != bool(subset):
        raise ValueError("If `subset` is set, `validation_split` must be set, and inversely.")
    if subset not in ("training", "validation", "both", None):
        raise ValueError(f'`subset` must be either "training", "validation" or "both", received: {subset}')
    if validation_split and shuffle and seed is None:
        raise ValueError("If using `validation_split` and shuffling the data, you must provide a `seed` argument, to "
                         "make sure that there is no overlap between the training and validation subset.")


def _check_format(name):
    if name != "tf":
        raise NotImplementedError(f"format='{name}' is not covered; datasets are tf.data's (format='tf')")


def text_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32,
                                max_length=None, shuffle=True, seed=None, validation_split=None, subset=None,
                                follow_links=False, format="tf", verbose=True):
    """Texts of a folder with one folder per class, and the numbers of their classes, as a dataset of batches."""
    _check_format(format)
    folder = Folder(directory, labels, label_mode, class_names, shuffle, seed, validation_split, subset, follow_links,
                    verbose, (".txt",))
    if not folder.paths:
        raise ValueError(f"No text files found in directory {directory}. Allowed format: .txt")

    def read(path):
        with open(path.numpy(), "rb") as file:
            return file.read() if max_length is None else file.read()[:max_length]

    return folder.dataset(folder.mapped(read), batch_size)


def image_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, color_mode="rgb",
                                 batch_size=32, image_size=(256, 256), shuffle=True, seed=None, validation_split=None,
                                 subset=None, interpolation="bilinear", follow_links=False, crop_to_aspect_ratio=False,
                                 pad_to_aspect_ratio=False, data_format=None, format="tf", verbose=True):
    """Images of a folder with one folder per class, all with one size, and the numbers of their classes."""
    _check_format(format)
    from ._images import resize_cropped
    channels = {"rgb": 3, "rgba": 4, "grayscale": 1}.get(color_mode)
    if channels is None:
        raise ValueError(f'`color_mode` must be one of {{"rgb", "rgba", "grayscale"}}. Received: color_mode={color_mode}')
    if interpolation not in _IMAGE_METHODS:
        raise ValueError(f"Argument `interpolation` should be one of {_IMAGE_METHODS}. Received: "
                         f"interpolation={interpolation}")
    if not isinstance(image_size, (tuple, list)) or len(image_size) != 2:
        raise ValueError(f"Invalid `image_size` value. Expected a tuple of 2 integers. Received: image_size={image_size}")
    folder = Folder(directory, labels, label_mode, class_names, shuffle, seed, validation_split, subset, follow_links,
                    verbose, IMAGE_NAMES)
    if not folder.paths:
        raise ValueError(f"No images found in directory {directory}. Allowed formats: {IMAGE_NAMES}")
    first = (data_format or _state.image_data_format()) == "channels_first"

    def read(path):
        image = tf.io.decode_image(tf.io.read_file(path), channels=channels, expand_animations=False)
        if crop_to_aspect_ratio:
            image = resize_cropped(image, image_size, interpolation)
        elif pad_to_aspect_ratio:
            image = tf.image.resize_with_pad(image, *image_size, method=interpolation)
        else:
            image = tf.image.resize(image, image_size, method=interpolation)
        return tf.transpose(image, [2, 0, 1]) if first else image

    return folder.dataset(folder.mapped(read), batch_size)
