"""Protocol buffers by hand: a message is a sequence of fields, each a key (number and kind) and a value."""
import struct

from . import errors

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(number):
    """An integer in groups of seven bits, the lowest first; negative ones as 64 bits."""
    number &= 2 ** 64 - 1
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    made.append(number)
    return bytes(made)


def integer(field, value):
    """A field with an integer; nothing for 0."""
    return varint(field << 3 | VARINT) + varint(int(value)) if value else b""


def double(field, value):
    return varint(field << 3 | FIXED64) + struct.pack("<d", value)


def message(field, content):
    """A field with bytes, a text or another message."""
    if isinstance(content, str):
        content = content.encode()
    return varint(field << 3 | BYTES) + varint(len(content)) + content


def _damaged():
    return errors.DataLossError(None, None, "a protocol buffer is damaged or cut off")


def read_varint(data, at):
    """(number, where it ends)."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise _damaged()
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value & 2 ** 64 - 1, at


def fields(data):
    """(number of the field, kind, value) of each field of a message, one after the other."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = read_varint(data, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
            value, at = data[at:at + size], at + size
        elif kind == BYTES:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise _damaged()
        if at > len(data):
            raise _damaged()
        yield key >> 3, kind, value
