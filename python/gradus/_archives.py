"""Zip archives that others wrote: looked at as a whole before anything of them is unpacked.

Every entry says how large it is unpacked. Those sizes are what an archive asks memory for, so they are judged by what its
file is large: weights hardly shrink when they are packed, so an entry that claims to be a hundred times what it is packed,
and more than what is small anyway, is refused, and so is an archive whose entries claim that together. An entry that
unpacks to more or less than it claimed is refused when its end is reached, with no more than that in memory.
"""
import os
import zipfile

_SMALL = 64 << 20  # bytes that any archive may have
_MOST_RATIO = 100
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others unpack without a bound


def checked(archive, size):
    """{name: entry} of an open archive whose file has this size; BadZipFile if it is not to be trusted."""
    found, packed, unpacked = {}, 0, 0
    for info in archive.infolist():
        name = info.filename
        parts = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
            raise zipfile.BadZipFile(f"'{name}' points outside of the archive")
        if name in found:
            raise zipfile.BadZipFile(f"it holds two entries '{name}'")
        if info.compress_type not in _METHODS:
            raise zipfile.BadZipFile(f"'{name}' is packed by method {info.compress_type}; known are stored and deflated")
        if info.compress_type == zipfile.ZIP_STORED and info.file_size != info.compress_size:
            raise zipfile.BadZipFile(f"'{name}' claims an impossible size")
        if info.file_size > _SMALL + _MOST_RATIO * info.compress_size:
            raise zipfile.BadZipFile(f"'{name}' claims to unpack from {info.compress_size} to {info.file_size} bytes; "
                                     f"more than {_MOST_RATIO} times as many are refused, pack it with less compression")
        packed, unpacked = packed + info.compress_size, unpacked + info.file_size
        found[name] = info
    if packed > size:
        raise zipfile.BadZipFile(f"its entries overlap: together they have {packed} bytes, the file has {size}")
    if unpacked > _SMALL + _MOST_RATIO * size:
        raise zipfile.BadZipFile(f"its entries claim to unpack from {size} to {unpacked} bytes; more than {_MOST_RATIO} times "
                                 "as many are refused, pack them with less compression")
    return found


def opened(path):
    """(archive, {name: entry}) of a file."""
    archive = zipfile.ZipFile(path)
    try:
        return archive, checked(archive, os.path.getsize(path))
    except BaseException:
        archive.close()
        raise


def read(archive, entry):
    """The bytes of an entry: as many as it claims, with the checksum that it claims."""
    content = archive.read(entry)
    if len(content) != entry.file_size:
        raise zipfile.BadZipFile(f"'{entry.filename}' claims {entry.file_size} bytes and has {len(content)}")
    return content
