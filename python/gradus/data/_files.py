"""Datasets of local files: names by pattern, lines of text, records of TFRecord files."""
import glob
import gzip
import itertools
import os
import zlib

import numpy as np

from .. import errors
from .._records import read_records
from . import _structure
from ._dataset import UNKNOWN, Dataset
from ._sources import TensorSliceDataset
from .._strings import StringTensor


def _names(value):
    """File names as a list of str, whatever they are given as."""
    if isinstance(value, Dataset):
        return [n for v in value for n in _names(v)]
    if hasattr(value, "numpy"):
        value = value.numpy()
    return [os.fsdecode(os.fspath(v)) for v in np.atleast_1d(np.asarray(value, object)).ravel()]


def list_files(pattern, shuffle, seed):
    found = sorted(itertools.chain.from_iterable(glob.glob(p) for p in _names(pattern)))
    if not found:
        raise errors.InvalidArgumentError(None, None, f"No files matched pattern: {', '.join(_names(pattern))}")
    dataset = TensorSliceDataset(StringTensor(found))
    return dataset if shuffle is False else dataset.shuffle(len(found), seed)


def _opened(name, compression):
    try:
        if compression in (None, ""):
            return open(name, "rb")
        if compression == "GZIP":
            return gzip.open(name, "rb")
        if compression == "ZLIB":
            import io
            with open(name, "rb") as file:
                return io.BytesIO(zlib.decompress(file.read()))
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"{name}; No such file or directory") from None
    raise errors.InvalidArgumentError(None, None, f"Unsupported compression_type: {compression}.")


class FileDataset(Dataset):
    """One string per item of each file, one file after the other."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        self._filenames, self._compression = filenames, compression_type
        self._at_once = 1 if num_parallel_reads is None else max(1, int(num_parallel_reads))  # below 1: as it likes

    def _of_file(self, name):
        with _opened(name, self._compression) as file:
            yield from map(StringTensor, self._items(file, name))

    def _iterate(self):
        """Of several files at once, one item of each in turn."""
        waiting = iter(_names(self._filenames))
        turns = [self._of_file(name) for name in itertools.islice(waiting, self._at_once)]
        at = 0
        while turns:
            try:
                yield next(turns[at])
                at = (at + 1) % len(turns)
            except StopIteration:
                name = next(waiting, None)
                if name is None:
                    del turns[at]
                    at = at % len(turns) if turns else 0
                else:
                    turns[at] = self._of_file(name)

    def _spec(self):
        return _structure.StringSpec([])

    def _cardinality(self):
        return UNKNOWN


class TextLineDataset(FileDataset):
    """The lines of text files, without their ends."""

    def _items(self, file, name):
        for line in file:
            yield line.rstrip(b"\n").removesuffix(b"\r") if line.endswith(b"\n") else line


class TFRecordDataset(FileDataset):
    """The records of TFRecord files, with their checksums compared."""

    def _items(self, file, name):
        return read_records(file, name)


class FixedLengthRecordDataset(FileDataset):
    """Pieces of the same length of binary files."""

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None, compression_type=None,
                 num_parallel_reads=None, name=None):
        super().__init__(filenames, compression_type, buffer_size, num_parallel_reads)
        self._sizes = int(record_bytes), int(header_bytes or 0), int(footer_bytes or 0)

    def _items(self, file, name):
        record, header, footer = self._sizes
        content = file.read()
        body = content[header:len(content) - footer]
        if len(body) % record:
            raise errors.InvalidArgumentError(None, None, f"{name} has {len(body)} bytes of records, which is no "
                                                          "multiple "
                                              f"of {record}")
        for at in range(0, len(body), record):
            yield body[at:at + record]
