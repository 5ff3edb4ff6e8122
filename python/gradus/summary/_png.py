"""Images as PNG files in memory."""
import struct
import zlib

import numpy as np

_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}  # channels -> grey, grey with alpha, RGB, RGBA


def png(image):
    """An array of uint8, height x width x channels, as the bytes of a PNG file."""
    height, width, channels = image.shape
    if channels not in _COLOURS:
        raise ValueError(f"an image has 1 to 4 channels, got {channels}")

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each row begins with the number of its filter, none
    rows[:, 1:] = image.reshape(height, width * channels)
    head = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[channels], 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
            + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b""))


def as_bytes(array):
    """Floats from 0 to 1, or integers, as uint8."""
    array = np.asarray(array)
    if array.dtype.kind == "f":
        return np.clip(array * 255.999, 0, 255).astype(np.uint8)
    return np.clip(array, 0, 255).astype(np.uint8)
