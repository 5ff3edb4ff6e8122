"""tf.io: local files, records, and tensors in .npz and .safetensors files."""
import gzip as _gzip
import io as _io
import zlib as _zlib

from .._files import text_of as _text_of
from .._records import framed as _framed
from .._protobuf_tensor import parse_tensor, serialize_tensor
from .._safetensors import load_safetensors, save_safetensors
from .._strings import StringTensor as _StringTensor
from ..image._files import (decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png,
                            encode_jpeg, encode_png, extract_jpeg_shape, is_jpeg)
from . import gfile
from ._csv import decode_base64, decode_csv, encode_base64
from ._examples import (FixedLenFeature, FixedLenSequenceFeature, VarLenFeature, parse_example,
                        parse_single_example, parse_single_sequence_example)

__all__ = ["FixedLenFeature", "FixedLenSequenceFeature", "VarLenFeature", "parse_example", "parse_single_example",
           "TFRecordOptions", "TFRecordWriter", "decode_base64", "decode_csv", "encode_base64",
           "parse_single_sequence_example", "decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image",
           "decode_jpeg", "decode_png", "decode_raw", "encode_jpeg", "encode_png", "extract_jpeg_shape", "gfile",
           "is_jpeg", "load_safetensors", "matching_files", "parse_tensor", "read_file", "save_safetensors",
           "serialize_tensor", "write_file"]


def read_file(filename, name=None):
    """The content of a file, a string tensor; numpy() gives the bytes."""
    with gfile.GFile(filename, "rb") as file:
        return _StringTensor(file.read())


def write_file(filename, contents, name=None):
    """Writes a string to a file; folders are made."""
    import os
    contents = contents.numpy() if hasattr(contents, "numpy") else contents
    path = _text_of(filename)
    if os.path.dirname(path):
        gfile.makedirs(os.path.dirname(path))
    with gfile.GFile(path, "wb") as file:
        file.write(contents.encode() if isinstance(contents, str) else contents)


def matching_files(pattern, name=None):
    """The names of files that match."""
    return _StringTensor(sorted(gfile.glob(pattern if not hasattr(pattern, "numpy") else pattern.numpy())))


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """The bytes of strings as numbers; fixed_length cuts them or fills them with zeros."""
    import numpy as np

    import gradus
    data = np.asarray(input_bytes.numpy() if hasattr(input_bytes, "numpy") else input_bytes, object)
    dtype = np.dtype(gradus.as_dtype(out_type).as_numpy_dtype).newbyteorder("<" if little_endian else ">")
    strings = [d.encode() if isinstance(d, str) else d for d in data.ravel()]
    length = len(strings[0]) if strings else 0
    if fixed_length is not None:
        length = int(fixed_length)
        if length <= 0 or length % dtype.itemsize:
            raise gradus.errors.InvalidArgumentError(
                None, None, f"[decode_raw] got fixed_length {length}; expected a positive multiple of {dtype.itemsize}")
        strings = [d[:length].ljust(length, b"\0") for d in strings]
    if any(len(d) != length for d in strings):
        raise gradus.errors.InvalidArgumentError(
            None, None, "[decode_raw] got strings of different lengths; expected equal ones; give fixed_length")
    if length % dtype.itemsize:
        raise gradus.errors.InvalidArgumentError(
            None, None, f"Input to DecodeRaw has length {length} that is not a multiple of {dtype.itemsize}")
    array = np.frombuffer(b"".join(strings), dtype).reshape(*data.shape, -1 if strings else 0)
    return gradus.convert_to_tensor(array.astype(dtype.newbyteorder("=")))


class TFRecordOptions:
    """How a file of records is packed: '', 'GZIP' or 'ZLIB'."""

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None, compression_method=None, mem_level=None,
                 compression_strategy=None):
        if compression_type not in (None, "", "GZIP", "ZLIB"):
            raise ValueError(f"Not a valid compression_type: {compression_type}")
        self.compression_type = compression_type or ""


class TFRecordWriter:
    """Writes records, which are bytes, to a file; tf.data.TFRecordDataset reads them."""

    def __init__(self, path, options=None):
        kind = options if isinstance(options, str) else getattr(options, "compression_type", "") or ""
        self._path, self._kind = _text_of(path), kind
        self._file = _io.BytesIO() if kind == "ZLIB" else _gzip.open(self._path, "wb") if kind == "GZIP" else open(
            self._path, "wb")

    def write(self, record):
        self._file.write(_framed(record.numpy() if hasattr(record, "numpy") else bytes(record)))

    def flush(self):
        if self._kind != "ZLIB":
            self._file.flush()

    def close(self):
        if self._file is None:
            return
        if self._kind == "ZLIB":
            with open(self._path, "wb") as file:
                file.write(_zlib.compress(self._file.getvalue()))
        self._file.close()
        self._file = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
