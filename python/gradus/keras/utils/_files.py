"""keras.utils.get_file: files of the cache folder; nothing is downloaded."""
import hashlib
import os
import shutil
import tarfile
import urllib.parse
import zipfile


def cache_folder(cache_dir=None, cache_subdir="datasets"):
    """~/.keras/datasets, or what KERAS_HOME and the arguments say."""
    home = cache_dir or os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    return os.path.join(home, cache_subdir)


def get_file(fname=None, origin=None, untar=False, md5_hash=None, file_hash=None, cache_subdir="datasets",
             hash_algorithm="auto", extract=False, archive_format="auto", cache_dir=None, force_download=False):
    """The path of a file in the cache. An origin that is a local file is copied there; others must be there already."""
    if not origin:
        raise ValueError("Please specify the \"origin\" argument (URL of the file to download).")
    origin = os.fspath(origin)
    fname = os.fspath(fname) if fname else os.path.basename(urllib.parse.urlsplit(origin).path)
    if not fname:
        raise ValueError(f"Can't parse the file name from the origin provided: '{origin}'. Please specify the `fname` "
                         "argument.")
    folder = cache_folder(cache_dir, cache_subdir)
    path = os.path.join(folder, fname)
    extract = extract or untar
    archive = path + ".archive" if extract and not os.path.splitext(fname)[1] else path
    if os.path.isdir(path):
        return path
    parts = urllib.parse.urlsplit(origin)
    local = urllib.parse.unquote(parts.path) if parts.scheme == "file" else origin if not parts.scheme else None
    wanted = file_hash or md5_hash
    if not os.path.exists(archive):
        if local is None or not os.path.exists(local):
            raise FileNotFoundError(f"'{path}' is not there, and Gradus does not download. Fetch {origin} and put it "
                                    f"at {archive}"
                                    + (", or unpack it into that folder" if extract else ""))
        os.makedirs(os.path.dirname(archive), exist_ok=True)
        shutil.copyfile(local, archive + ".part")
        os.replace(archive + ".part", archive)
    if wanted and not validate_file(archive, wanted, hash_algorithm):
        raise ValueError(f"Incomplete or corrupted file at {archive}. The {hash_algorithm} file hash does not match "
                         f"the provided value of {wanted}.")
    if extract:
        return _extracted(archive, path)
    return path


def validate_file(fpath, file_hash, algorithm="auto", chunk_size=65535):
    """Whether the file has this sha256 or md5."""
    sha = algorithm == "sha256" or algorithm == "auto" and len(file_hash) == 64
    digest = hashlib.sha256() if sha else hashlib.md5()  # noqa: S324
    with open(fpath, "rb") as file:
        while block := file.read(chunk_size):
            digest.update(block)
    return digest.hexdigest() == str(file_hash)


def _extracted(archive, path):
    """Unpacks beside the archive; members that point outside of the folder are refused."""
    target = path if path != archive else path + "_extracted"
    if os.path.isdir(target):
        return target
    aside = f"{target}.{os.getpid()}.tmp"
    os.makedirs(aside)
    try:
        if tarfile.is_tarfile(archive):
            with tarfile.open(archive) as file:
                for member in file.getmembers():
                    inside = os.path.realpath(os.path.join(aside, member.name))
                    if not (member.isfile() or member.isdir()) or not (inside + os.sep).startswith(
                            os.path.realpath(aside) + os.sep):
                        raise ValueError(f"'{archive}' holds '{member.name}', which is no plain file inside of it")
                file.extractall(aside)  # noqa: S202
        elif zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as file:
                file.extractall(aside)  # noqa: S202
        else:
            raise ValueError(f"'{archive}' is no archive that can be unpacked")
        os.replace(aside, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target


def timeseries_dataset_from_array(data, targets, sequence_length, sequence_stride=1, sampling_rate=1, batch_size=128,
                                  shuffle=False, seed=None, start_index=None, end_index=None):
    """Windows of a series, and the targets at their beginnings, as a dataset of batches."""
    import numpy as np

    import gradus as tf
    if start_index and (start_index < 0 or start_index >= len(data)):
        raise ValueError(f"`start_index` must be between 0 and the length of the data. Received: "
                         f"start_index={start_index}")
    start, end = start_index or 0, len(data) if end_index is None else end_index
    data, targets = np.asarray(data), None if targets is None else np.asarray(targets)
    last = end - start - (sequence_length - 1) * sampling_rate
    if targets is not None:
        last = min(last, len(targets))
    starts = np.arange(0, max(last, 0), sequence_stride)
    if shuffle:
        np.random.RandomState(np.random.randint(10 ** 6) if seed is None else seed).shuffle(starts)
    steps = np.arange(sequence_length) * sampling_rate
    series = tf.convert_to_tensor(data[start:end])
    dataset = tf.data.Dataset.from_tensor_slices(starts)
    if batch_size is not None:
        dataset = dataset.shuffle(8 * batch_size, seed=seed) if shuffle else dataset
        dataset = dataset.batch(batch_size)
    window = tf.convert_to_tensor(steps)

    def rows(begin):
        inputs = tf.gather(series, begin[..., None] + window)
        return inputs if targets is None else (inputs, tf.gather(labels, begin))

    labels = None if targets is None else tf.convert_to_tensor(targets[start:] if start else targets)
    return dataset.map(rows).prefetch(tf.data.AUTOTUNE)


def text_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32,
                                max_length=None, shuffle=True, seed=None, validation_split=None, subset=None,
                                follow_links=False, verbose=True):
    """Texts of a folder with one folder per class, and the numbers of their classes, as a dataset of batches."""
    import numpy as np

    import gradus as tf
    if labels not in ("inferred", None) or label_mode not in ("int", "binary", "categorical", None):
        raise NotImplementedError("labels are 'inferred' or None, and label_mode is 'int', 'binary', 'categorical' or "
                                  "None")
    if (validation_split is None) != (subset is None) or subset not in ("training", "validation", "both", None):
        raise ValueError("`validation_split` and `subset` ('training', 'validation' or 'both') are given together or "
                         "not at all")
    if validation_split and shuffle and seed is None:
        raise ValueError("If using `validation_split` and shuffling the data, you must provide a `seed` argument, to "
                         "make sure that there is no overlap between the training and validation subset.")
    directory = os.fspath(directory)
    folders = sorted(f for f in os.listdir(directory) if os.path.isdir(os.path.join(directory, f)))
    names = list(class_names or folders) if labels == "inferred" else [""]
    paths, numbers = [], []
    for number, name in enumerate(names):
        for root, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=follow_links)):
            found = [os.path.join(root, f) for f in sorted(files) if f.endswith(".txt")]
            paths += found
            numbers += [number] * len(found)
    if not paths:
        raise ValueError(f"No text files found in directory {directory}. Allowed format(s): ('.txt',)")
    if verbose:
        print(f"Found {len(paths)} files" + (f" belonging to {len(names)} classes." if labels else "."))
    if shuffle:
        seed = np.random.randint(10 ** 6) if seed is None else seed
        for values in (paths, numbers):
            np.random.RandomState(seed).shuffle(values)
    cut = len(paths) - int((validation_split or 0) * len(paths))
    parts = {"training": slice(cut), "validation": slice(cut, None), None: slice(None)}

    if verbose and subset:
        for part in ("training", "validation") if subset == "both" else (subset,):
            print(f"Using {len(paths[parts[part]])} files for {part}.")

    def read(path):
        with open(path, "rb") as file:
            content = file.read()
        return content if max_length is None else content[:max_length]

    def made(part):
        texts = tf.data.Dataset.from_tensor_slices(paths[part]).map(lambda p: read(p.numpy()))
        if labels is None or label_mode is None:
            dataset = texts
        else:
            classes = np.array(numbers[part])
            if label_mode == "categorical":
                classes = np.eye(len(names), dtype=np.float32)[classes]
            elif label_mode == "binary":
                classes = classes.astype(np.float32)[:, None]
            dataset = tf.data.Dataset.zip((texts, tf.data.Dataset.from_tensor_slices(classes.astype(
                np.int32 if label_mode == "int" else np.float32))))
        if shuffle:
            dataset = dataset.shuffle(8 * (batch_size or 128), seed=seed)
        dataset = dataset if batch_size is None else dataset.batch(batch_size)
        dataset = dataset.prefetch(tf.data.AUTOTUNE)
        dataset.class_names, dataset.file_paths = names, paths[part]
        return dataset

    if subset == "both":
        return made(parts["training"]), made(parts["validation"])
    return made(parts[subset])
