"""safetensors files: a JSON header with names, dtypes, shapes and places, then the bytes of the tensors.

The format has no checksum. Written files carry one (CRC-32C of the header and of all data) in their metadata, and it is
compared if present.
"""
import json
import math
import os

from . import _core, errors
from ._files import text_of, written_aside

_NAMES = {"bool": "BOOL", "int8": "I8", "uint8": "U8", "int16": "I16", "uint16": "U16", "int32": "I32", "uint32": "U32",
          "int64": "I64", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64"}
_DTYPES = {v: k for k, v in _NAMES.items()}
_SIZES = {name: 1 if name == "bool" else 2 if name == "bfloat16" else int(name.lstrip("uintfloa")) // 8 for name in _NAMES}
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
        header = json.loads(file.read(length), object_pairs_hook=_without_repeats)
        if not isinstance(header, dict):
            raise ValueError("not a dict")
    except (ValueError, RecursionError) as error:
        raise damaged(f"its header cannot be read ({error})") from None
    metadata = header.pop("__metadata__", None) or {}
    if not isinstance(metadata, dict):
        raise damaged("its metadata cannot be read")
    try:
        entries = _checked_entries(header, size - 8 - length)
    except ValueError as error:
        raise damaged(str(error)) from None
    body = file.read(size - 8 - length)
    if len(body) != size - 8 - length:
        raise damaged("it is cut off")
    check = metadata.pop(_CHECK, None)
    if check is None and must_have_checksum:
        raise damaged("its checksum is missing")
    if check is not None and check != _checksum(header, metadata, body):
        raise damaged("its checksum differs")
    return {name: _tensor(body[begin:end], dtype, shape) for name, dtype, shape, begin, end in entries}, metadata


def _without_repeats(pairs):
    made = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(f"the name '{name}' stands there twice")
        made[name] = value
    return made


def _checked_entries(header, size):
    """[(name, dtype, shape, begin, end)] in the order of the header: they fill the data of this size, one behind the
    other, and each has the bytes that its shape needs."""
    entries = []
    for name, facts in header.items():
        try:
            dtype, shape = _DTYPES[facts["dtype"]], facts["shape"]
            begin, end = facts["data_offsets"]
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"the entry of '{name}' cannot be read") from None
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in [*shape, begin, end]):
            raise ValueError(f"the entry of '{name}' cannot be read")
        if not begin <= end <= size:
            raise ValueError(f"'{name}' lies outside of it")
        if math.prod(shape) * _SIZES[dtype] != end - begin:
            raise ValueError(f"'{name}' has another size than its shape")
        entries.append((name, dtype, shape, begin, end))
    at = 0
    for name, _, _, begin, end in sorted(entries, key=lambda e: e[3:]):
        if begin != at:
            raise ValueError(f"its tensors overlap at '{name}'" if begin < at else f"bytes before '{name}' belong to none")
        at = end
    if at != size:
        raise ValueError("bytes behind its last tensor belong to none")
    return entries


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
