"""TFRecord files: records with their length, each under a checksum (CRC-32C, masked as TensorFlow does it).

    8 bytes   length, little-endian
    4 bytes   checksum of the length
    length    the record
    4 bytes   checksum of the record
"""
import struct

from . import _core, errors


def _table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


_TABLE = _table()


def crc32c(data):
    """The CRC-32C (Castagnoli) of some bytes."""
    native = getattr(_core, "_crc32c", None)
    if native is not None:
        return native(bytes(data))
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked(data):
    """The checksum as it is stored: turned by 15 bits, plus a constant."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def framed(record):
    """A record as it stands in a file."""
    length = struct.pack("<Q", len(record))
    return length + struct.pack("<I", masked(length)) + record + struct.pack("<I", masked(record))


def read_records(file, name):
    """The records of an open file; DataLossError where it is cut off or damaged."""
    while True:
        head = file.read(12)
        if not head:
            return
        if len(head) < 12:
            raise errors.DataLossError(None, None, f"{name} is cut off: it ends inside of the length of a record")
        length, check = struct.unpack("<QI", head)
        if masked(head[:8]) != check:
            raise errors.DataLossError(None, None, f"{name} is damaged: the checksum of a record's length differs")
        record, end = file.read(length), file.read(4)
        if len(record) < length or len(end) < 4:
            raise errors.DataLossError(None, None, f"{name} is cut off: it ends inside of a record")
        if struct.unpack("<I", end)[0] != masked(record):
            raise errors.DataLossError(None, None, f"{name} is damaged: the checksum of a record differs")
        yield record
