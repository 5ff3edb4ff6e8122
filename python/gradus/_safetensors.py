"""safetensors files: a JSON header with names, dtypes, shapes and places, then the bytes of the tensors.

The format has no checksum. Written files carry one (CRC-32C of the header and of all data) in their metadata, and it is
compared if present.
"""
import json
import os

from . import _core, errors
from ._files import text_of, written_aside

_NAMES = {"bool": "BOOL", "int8": "I8", "uint8": "U8", "int16": "I16", "uint16": "U16", "int32": "I32", "uint32": "U32",
          "int64": "I64", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64"}
_DTYPES = {v: k for k, v in _NAMES.items()}
_CHECK = "gradus.crc32c"
_MOST_HEADER = 100 << 20


def _bytes(tensor):
    import gradus
    if tensor.dtype == gradus.bfloat16:
        tensor = gradus.bitcast(tensor, gradus.uint16)
    return tensor.numpy().tobytes()


def save_safetensors(path, tensors, metadata=None):
    """Writes a dict of tensors (or arrays) by name; the file appears whole or not at all."""
    import gradus
    header, pieces, at = {}, [], 0
    for name in sorted(tensors):
        tensor = gradus.convert_to_tensor(tensors[name])
        if tensor.dtype.name not in _NAMES:
            raise TypeError(f"safetensors files cannot hold {tensor.dtype!r} ('{name}')")
        data = _bytes(tensor)
        header[name] = {"dtype": _NAMES[tensor.dtype.name], "shape": list(tensor.shape),
                        "data_offsets": [at, at + len(data)]}
        pieces.append(data)
        at += len(data)
    body = b"".join(pieces)
    metadata = {str(k): str(v) for k, v in (metadata or {}).items()}
    header["__metadata__"] = {**metadata, _CHECK: _checksum(dict(header), metadata, body)}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with written_aside(text_of(path)) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.write(body)


def load_safetensors(path):
    """The tensors of a file by name. DataLossError if it is damaged, before anything large is allocated."""
    return load_with_metadata(path)[0]


def load_with_metadata(path, must_have_checksum=False):
    """(tensors by name, metadata) of a file."""
    path = text_of(path)
    try:
        with open(path, "rb") as file:
            return _read(file, os.fstat(file.fileno()).st_size, path, must_have_checksum)
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"there is no file '{path}'") from None


def _read(file, size, path, must_have_checksum):
    def damaged(why):
        return errors.DataLossError(None, None, f"'{path}' is no safetensors file, or is damaged: {why}")

    head = file.read(8)
    length = int.from_bytes(head, "little")
    if len(head) < 8 or length > min(size - 8, _MOST_HEADER):
        raise damaged("its header does not fit into it")
    try:
        header = json.loads(file.read(length))
        if not isinstance(header, dict):
            raise ValueError("not a dict")
    except (ValueError, RecursionError) as error:
        raise damaged(f"its header cannot be read ({error})") from None
    body = file.read()
    metadata = header.pop("__metadata__", None) or {}
    if not isinstance(metadata, dict):
        raise damaged("its metadata cannot be read")
    check = metadata.pop(_CHECK, None)
    if check is None and must_have_checksum:
        raise damaged("its checksum is missing")
    if check is not None and check != _checksum(header, metadata, body):
        raise damaged("its checksum differs")
    tensors, used = {}, 0
    for name, facts in header.items():
        try:
            dtype, shape = _DTYPES[facts["dtype"]], [int(n) for n in facts["shape"]]
            begin, end = (int(n) for n in facts["data_offsets"])
        except (KeyError, TypeError, ValueError):
            raise damaged(f"the entry of '{name}' cannot be read") from None
        if not 0 <= begin <= end <= len(body) or any(n < 0 for n in shape):
            raise damaged(f"'{name}' lies outside of it")
        used += end - begin
        if used > len(body):
            raise damaged("its tensors overlap")
        try:
            tensors[name] = _tensor(body[begin:end], dtype, shape)
        except ValueError:
            raise damaged(f"'{name}' has another size than its shape") from None
    return tensors, metadata


def _checksum(header, metadata, body):
    """Of all that is said and all that is stored."""
    text = json.dumps([header, metadata], sort_keys=True).encode()
    return f"{_core._crc32c(text):08x}{_core._crc32c(body):08x}"


def _tensor(data, dtype, shape):
    import numpy as np

    import gradus
    raw = np.frombuffer(data, np.dtype("uint16" if dtype == "bfloat16" else "uint8" if dtype == "bool" else dtype))
    raw = raw.reshape(shape)
    if dtype == "bool":
        return gradus.constant(raw != 0)
    tensor = gradus.convert_to_tensor(raw)
    return gradus.bitcast(tensor, gradus.bfloat16) if dtype == "bfloat16" else tensor
