"""Expressions about files of images, as in cases.py (image_files.json, made by tools/make_reference.py).

Files that TensorFlow does not write are made here: PNG of any kind, BMP, and GIF with a plain LZW.
"""
import struct
import zlib

import cases

# Per pass of an interlaced PNG: first column and row, and the steps.
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def noise(count, below=256):
    return bytes((i * i * 31 + i * 7) % 251 % below for i in range(count))


def png(width, height, bits, kind, colours=0, transparent=None, interlaced=False):
    """A PNG file; kind is 0 gray, 2 RGB, 3 palette of `colours`, 4 gray with alpha, 6 RGBA."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    def rows(width, height):
        per_row = (width * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind] * bits + 7) // 8
        data = noise(per_row * height, colours if kind == 3 and bits == 8 else 256)
        return b"".join(b"\0" + data[y * per_row:(y + 1) * per_row] for y in range(height))

    data = rows(width, height)
    if interlaced:
        sizes = [((width - x + dx - 1) // dx, (height - y + dy - 1) // dy) for x, y, dx, dy in ADAM7]
        data = b"".join(rows(w, h) for w, h in sizes if w > 0 and h > 0)
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, interlaced))
    if colours:
        file += chunk(b"PLTE", noise(3 * colours))
    if transparent:
        file += chunk(b"tRNS", transparent)
    return file + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def bmp(width, height, bits):
    """A BMP file; a negative height means that the first row comes first."""
    row = (width * bits // 8 + 3) // 4 * 4
    body = noise(row * abs(height))
    return (b"BM" + struct.pack("<IHHI", 54 + len(body), 0, 0, 54)
            + struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, len(body), 0, 0, 0, 0) + body)


def lzw(indices, root):
    clear, bits, packed, buffer, buffered = 1 << root, root + 1, bytearray(), 0, 0
    known = {(i,): i for i in range(clear)}

    def put(code):
        nonlocal buffer, buffered
        buffer |= code << buffered
        buffered += bits
        while buffered >= 8:
            packed.append(buffer & 255)
            buffer >>= 8
            buffered -= 8

    put(clear)
    after, run = clear + 2, ()
    for index in indices:
        if (*run, index) in known:
            run = (*run, index)
            continue
        put(known[run])
        if after < 4096:
            known[(*run, index)] = after
            bits += after == 1 << bits and bits < 12
            after += 1
        else:
            put(clear)
            known, after, bits = {(i,): i for i in range(clear)}, clear + 2, root + 1
        run = (index,)
    put(known[run])
    put(clear + 1)
    packed.append(buffer & 255)
    blocks = [bytes(packed[i:i + 255]) for i in range(0, len(packed), 255)]
    return bytes([root]) + b"".join(bytes([len(b)]) + b for b in blocks) + b"\0"


def gif(width, height, frames, root=3, interlaced=False):
    """A GIF file; a frame is (left, top, width, height, its transparent index or None, whether it has own colours)."""
    file = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80 | (root - 1), 0, 0) + noise(3 << root)
    for left, top, w, h, transparent, own in frames:
        file += b"\x21\xf9\x04" + bytes([transparent is not None, 0, 0, transparent or 0, 0])
        file += b"\x2c" + struct.pack("<HHHHB", left, top, w, h, (own and 0x80 | (root - 1)) | interlaced << 6)
        file += (noise(3 << root)[::-1] if own else b"") + lzw(noise(w * h, 1 << root), max(root, 2))
    return file + b"\x3b"


def namespace(tf, np):
    def picture(height, width, channels, dtype="uint8"):
        y, x, c = np.mgrid[0:height, 0:width, 0:channels]
        waves = 120 + 90 * np.sin(x / 3.0 + c) + 30 * np.cos(y / 2.0 * (c + 1))
        return np.clip(waves, 0, 255).astype(np.uint8).astype(dtype)

    jpeg = tf.io.encode_jpeg(picture(18, 21, 3)).numpy()
    return {**cases.namespace(tf, np), "picture": picture, "png": png, "bmp": bmp, "gif": gif, "jpeg": jpeg,
            "progressive": tf.io.encode_jpeg(picture(33, 20, 3), quality=40, progressive=True).numpy(),
            "gray": tf.io.encode_jpeg(picture(18, 21, 1)).numpy()}


_KINDS = [(1, 0), (4, 0), (8, 0), (16, 0), (8, 2), (16, 2), (8, 4), (16, 4), (8, 6), (16, 6)]
LINES = [
    *(f"tf.io.decode_png(png(11, 5, {bits}, {kind}, interlaced={way}), channels={channels})"
      for bits, kind in _KINDS for way, channels in ((False, 0), (True, 1), (False, 3))),
    *(f"tf.io.decode_png(png(9, 4, {bits}, 3, colours={1 << bits}), channels={channels})"
      for bits in (1, 2, 4, 8) for channels in (0, 1, 3)),
    *"""
tf.io.decode_png(png(9, 4, 8, 3, colours=200, transparent=bytes(range(90))))
tf.io.decode_png(png(9, 4, 8, 3, colours=200, transparent=bytes(range(90))), channels=4)
tf.io.decode_png(png(9, 4, 8, 0, transparent=bytes([0, 77])))
tf.io.decode_png(png(9, 4, 8, 2), channels=4)
tf.io.decode_png(png(9, 4, 8, 2), dtype="uint16")
tf.io.decode_png(png(9, 4, 16, 6), dtype=tf.uint16)
tf.io.decode_png(png(9, 4, 16, 2), channels=1, dtype=tf.uint16)
tf.io.decode_png(png(9, 4, 8, 2), dtype="float32")
tf.io.decode_png(png(9, 4, 8, 2)[:60])
tf.io.decode_png(b"")
tf.io.encode_jpeg(picture(7, 9, 3))
tf.io.encode_jpeg(picture(7, 9, 1), quality=10)
tf.io.encode_jpeg(picture(17, 9, 3), progressive=True, chroma_downsampling=False)
tf.io.encode_jpeg(picture(17, 9, 3), optimize_size=True, density_unit="cm", x_density=20, y_density=30)
tf.io.encode_jpeg(picture(7, 9, 3), format="rgb", quality=100)
tf.io.encode_jpeg(picture(7, 9, 3), format="grayscale")
tf.io.encode_jpeg(picture(7, 9, 3), quality=101)
tf.io.encode_jpeg(picture(7, 9, 2))
tf.io.encode_jpeg(picture(7, 9, 3)[0])
tf.io.decode_png(tf.io.encode_png(picture(5, 6, 1)))
tf.io.decode_png(tf.io.encode_png(picture(5, 6, 2)))
tf.io.decode_png(tf.io.encode_png(picture(5, 6, 4), compression=9))
tf.io.decode_png(tf.io.encode_png(picture(5, 6, 3, "uint16") * 300), dtype=tf.uint16)
tf.io.decode_png(tf.io.encode_png(np.stack([picture(5, 6, 3)] * 2))[1])
tf.io.encode_png(picture(5, 6, 5))
tf.io.encode_png(picture(5, 6, 3), compression=10)
tf.io.decode_jpeg(jpeg)
tf.io.decode_jpeg(tf.constant(jpeg), channels=1)
tf.io.decode_jpeg(gray)
tf.io.decode_jpeg(gray, channels=3)
tf.io.decode_jpeg(progressive)
tf.io.decode_jpeg(progressive, fancy_upscaling=False)
tf.io.decode_jpeg(jpeg, dct_method="INTEGER_ACCURATE")
tf.io.decode_jpeg(jpeg, ratio=2)
tf.io.decode_jpeg(jpeg, ratio=8, channels=3)
tf.io.decode_jpeg(jpeg, ratio=3)
tf.io.decode_jpeg(jpeg, channels=4)
tf.io.decode_jpeg(jpeg, channels=2)
tf.io.decode_jpeg(jpeg, dct_method="FAST")
tf.io.decode_jpeg([jpeg])
tf.io.decode_jpeg(jpeg[:-60])
tf.io.decode_jpeg(jpeg[:100])
tf.io.decode_jpeg(b"")
tf.io.decode_jpeg(b"no image at all")
tf.io.decode_jpeg(png(9, 4, 8, 2))
tf.io.decode_png(jpeg)
tf.image.decode_jpeg(jpeg).shape
tf.io.decode_and_crop_jpeg(jpeg, [2, 3, 5, 7])
tf.io.decode_and_crop_jpeg(jpeg, [0, 0, 18, 21])
tf.io.decode_and_crop_jpeg(progressive, [20, 9, 13, 11], channels=1)
tf.io.decode_and_crop_jpeg(jpeg, [2, 3, 50, 7])
tf.io.extract_jpeg_shape(progressive)
tf.io.extract_jpeg_shape(gray, output_type=tf.int64)
tf.io.extract_jpeg_shape(png(9, 4, 8, 2))
tf.io.is_jpeg(jpeg)
tf.io.is_jpeg(png(9, 4, 8, 2))
tf.io.decode_bmp(bmp(5, 4, 24))
tf.io.decode_bmp(bmp(5, -4, 24), channels=3)
tf.io.decode_bmp(bmp(3, 2, 32))
tf.io.decode_bmp(bmp(5, 4, 8))
tf.io.decode_bmp(bmp(5, 4, 24), channels=1)
tf.io.decode_bmp(bmp(5, 4, 24), channels=4)
tf.io.decode_bmp(bmp(5, 4, 8), channels=3)
tf.io.decode_bmp(bmp(5, 4, 8), channels=4)
tf.io.decode_bmp(bmp(5, 4, 32), channels=3)
tf.io.decode_bmp(bmp(5, 4, 24)[:70])
tf.io.decode_bmp(b"BMjunk")
tf.io.decode_gif(gif(6, 5, [(0, 0, 6, 5, None, 0)]))
tf.io.decode_gif(gif(20, 15, [(0, 0, 20, 15, None, 0), (5, 6, 10, 8, None, 1), (0, 0, 20, 15, 3, 0)]))
tf.io.decode_gif(gif(9, 17, [(2, 3, 5, 10, 1, 0), (0, 0, 9, 17, None, 0)], interlaced=True))
tf.reduce_sum(tf.cast(tf.io.decode_gif(gif(120, 90, [(0, 0, 120, 90, None, 0)], root=8)), tf.int32))
tf.io.decode_gif(gif(6, 5, [(0, 0, 6, 5, None, 0)], root=1)[:-1])
tf.io.decode_gif(gif(6, 5, [(0, 0, 6, 5, None, 0)])[:40])
tf.io.decode_gif(png(4, 3, 8, 2)).shape
tf.io.decode_image(gif(6, 5, [(0, 0, 6, 5, None, 0)] * 2)).shape
tf.io.decode_image(gif(6, 5, [(0, 0, 6, 5, None, 0)] * 2), expand_animations=False)
tf.io.decode_image(gif(6, 5, [(0, 0, 6, 5, None, 0)] * 2), channels=1)
tf.io.decode_jpeg(gif(6, 5, [(0, 0, 6, 5, None, 0)] * 2))
tf.io.decode_png(gif(6, 5, [(0, 0, 6, 5, None, 0)]))
tf.io.decode_image(jpeg)
tf.io.decode_image(jpeg, channels=1, dtype=tf.float32)
tf.io.decode_image(png(9, 4, 16, 2), dtype=tf.uint16)
tf.io.decode_image(bmp(5, 4, 24), channels=3, dtype="float32")
tf.io.decode_image(jpeg, channels=2)
tf.io.decode_image(b"")
tf.io.decode_image(b"no image at all")
tf.image.adjust_jpeg_quality(picture(8, 8, 3), 50)
tf.image.adjust_jpeg_quality(picture(8, 8, 3) / np.float32(255), 20)
""".strip().splitlines()]
