"""keras.utils.get_file: files of the cache folder; nothing is downloaded."""
import hashlib
import os
import shutil
import tarfile
import urllib.parse
import zipfile

from ..._archives import opened


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
    if archive_format not in ("auto", "tar", "zip", None) and not set(archive_format) <= {"tar", "zip"}:
        raise ValueError(f"archive_format is 'auto', 'tar', 'zip', None or a list of these. Received: {archive_format}")
    if force_download or not os.path.exists(archive):
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
    if extract and archive_format is not None:
        return _extracted(archive, path, ("tar", "zip") if archive_format == "auto" else archive_format)
    return path


def validate_file(fpath, file_hash, algorithm="auto", chunk_size=65535):
    """Whether the file has this sha256 or md5."""
    sha = algorithm == "sha256" or algorithm == "auto" and len(file_hash) == 64
    digest = hashlib.sha256() if sha else hashlib.md5()  # noqa: S324
    with open(fpath, "rb") as file:
        while block := file.read(chunk_size):
            digest.update(block)
    return digest.hexdigest() == str(file_hash)


def _extracted(archive, path, formats):
    """Unpacks beside the archive; members that point outside of the folder are refused."""
    target = path if path != archive else path + "_extracted"
    if os.path.isdir(target):
        return target
    aside = f"{target}.{os.getpid()}.tmp"
    os.makedirs(aside)
    try:
        if "tar" in formats and tarfile.is_tarfile(archive):
            with tarfile.open(archive) as file:
                for member in file.getmembers():
                    inside = os.path.realpath(os.path.join(aside, member.name))
                    if not (member.isfile() or member.isdir()) or not (inside + os.sep).startswith(
                            os.path.realpath(aside) + os.sep):
                        raise ValueError(f"'{archive}' holds '{member.name}', which is no plain file inside of it")
                file.extractall(aside)  # noqa: S202
        elif "zip" in formats and zipfile.is_zipfile(archive):
            file, _ = opened(archive)
            with file:
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
