"""Files of images: JPEG, PNG, BMP and GIF from bytes to tensors, JPEG and PNG back.

The contents are a string, so none of this is part of a compiled program: a tf.function that decodes runs as plain
Python, and tf.data maps such functions in its threads. The decoders look at the bytes to see which format they are.
"""
from .. import _core, _strings
from .. import errors as _errors
from .._kinds import is_traced as _is_traced


def _tf():
    import gradus
    return gradus


def _bytes(contents):
    array = _strings.array_of(contents)
    if array.ndim:
        raise _errors.InvalidArgumentError(None, None, f"`contents` must be scalar but got shape{list(array.shape)}")
    return array[()]


def _check_channels(channels):
    if channels not in (0, 1, 3, 4):
        raise _errors.InvalidArgumentError(None, None, f"`channels` must be 0, 1, 3 or 4 but got {channels}")


def _decoded(op, contents, channels=0, dtype=None, as_animation=False, **jpeg):
    """The image of whichever format; `op` only matters for what it refuses."""
    data = _bytes(contents)
    if not data:
        raise _errors.InvalidArgumentError(None, None, "Input is empty.")
    _check_channels(channels)
    kind = _core._image_format(data)
    if kind == "jpeg":
        image = _jpeg(data, channels, **jpeg)
    elif kind == "png":
        image = _core._decode_png(data, channels, dtype or _tf().uint8)
    elif kind == "bmp":
        if op in ("decode_jpeg", "decode_png", "decode_gif"):
            raise _errors.InvalidArgumentError(None, None, f"Trying to decode BMP format using a wrong op. Use "
                                               f"`decode_bmp` or `decode_image` instead. Op used: {op}")
        image = _core._decode_bmp(data, channels)
    elif kind == "gif":
        return _animation(op, data, channels, as_animation)
    else:
        raise _errors.InvalidArgumentError(None, None, "Unknown image file format. One of JPEG, PNG, GIF, BMP required.")
    return image[None] if op == "decode_gif" else image


def _animation(op, data, channels, as_animation):
    if channels not in (0, 3):
        raise _errors.InvalidArgumentError(None, None, f"channels must be 0 or 3 for GIF, but got {channels}")
    frames = _core._decode_gif(data)
    if as_animation:
        return frames
    if op != "decode_image" and frames.shape[0] > 1:
        raise _errors.InvalidArgumentError(
            None, None, f"Got {frames.shape[0]} frames, but animated gifs can only be decoded by tf.io.decode_gif or "
            "tf.io.decode_image")
    return frames[0]


def _jpeg(data, channels, ratio=1, fancy_upscaling=True, try_recover_truncated=False, acceptable_fraction=1,
          dct_method="", crop=None):
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise _errors.InvalidArgumentError(None, None,
                                           "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    return _core._decode_jpeg(data, channels, ratio, bool(fancy_upscaling), dct_method == "INTEGER_ACCURATE",
                              bool(try_recover_truncated), float(acceptable_fraction), crop)


def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
                acceptable_fraction=1, dct_method="", name=None):
    """The image [height, width, channels] of a JPEG file, uint8."""
    return _decoded("decode_jpeg", contents, channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
                    try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction,
                    dct_method=dct_method)


def decode_and_crop_jpeg(contents, crop_window, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
                         acceptable_fraction=1, dct_method="", name=None):
    """A part of the image of a JPEG file: crop_window is top, left, height, width."""
    window = [int(i) for i in _tf().convert_to_tensor(crop_window).numpy()]
    return _jpeg(_bytes(contents), channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction,
                 dct_method, window)


def decode_png(contents, channels=0, dtype="uint8", name=None):
    """The image [height, width, channels] of a PNG file, uint8 or uint16."""
    dtype = _tf().as_dtype(dtype)
    if dtype not in (_tf().uint8, _tf().uint16):
        raise _errors.InvalidArgumentError(None, None, f"Value for attr 'dtype' of {dtype.name} is not in the list of "
                                           "allowed values: uint8, uint16")
    return _decoded("decode_png", contents, channels, dtype)


def decode_bmp(contents, channels=0, name=None):
    """The image [height, width, channels] of a BMP file, uint8."""
    return _core._decode_bmp(_bytes(contents), channels)


def decode_gif(contents, name=None):
    """The frames [number, height, width, 3] of a GIF file, uint8."""
    return _decoded("decode_gif", contents, as_animation=True)


def decode_image(contents, channels=None, dtype="uint8", name=None, expand_animations=True):
    """The image of a JPEG, PNG, BMP or GIF file. A float dtype gives values in [0, 1]; a GIF has an axis of frames
    in front unless expand_animations is False."""
    tf = _tf()
    dtype = tf.as_dtype(dtype)
    stored = tf.uint16 if dtype == tf.uint16 else None
    image = _decoded("decode_image", contents, channels or 0, stored, as_animation=expand_animations)
    return image if image.dtype == dtype else tf.image.convert_image_dtype(image, dtype)


def is_jpeg(contents, name=None):
    """Whether the bytes begin as those of a JPEG file do."""
    return _tf().constant(_bytes(contents).startswith(b"\xff\xd8\xff"))


def extract_jpeg_shape(contents, output_type="int32", name=None):
    """Height, width and channels of a JPEG file, without decoding it."""
    tf = _tf()
    return tf.constant(_core._jpeg_shape(_bytes(contents)), tf.as_dtype(output_type))


def _pixels(op, image, dtypes):
    tf = _tf()
    image = tf.convert_to_tensor(image)
    if _is_traced(image):
        from .._function import MustRunEagerly
        raise MustRunEagerly(f"tf.io.{op} makes a string")
    if image.dtype in dtypes:
        return image
    return tf.cast(image, dtypes[0])


def encode_jpeg(image, format="", quality=95, progressive=False, optimize_size=False, chroma_downsampling=True,
                density_unit="in", x_density=300, y_density=300, xmp_metadata="", name=None):
    """The bytes of a JPEG file, a string."""
    tf = _tf()
    image = _pixels("encode_jpeg", image, (tf.uint8,))
    wanted = {"": None, "default": None, "grayscale": 1, "rgb": 3}
    if format not in wanted:
        raise _errors.InvalidArgumentError(None, None, f"format must be '', grayscale or rgb, got {format}")
    if wanted[format] and len(image.shape) == 3 and image.shape[2] != wanted[format]:
        raise _errors.InvalidArgumentError(None, None, f"format {format} expects {wanted[format]} channels, got "
                                           f"{list(image.shape)}")
    if density_unit not in ("in", "cm"):
        raise _errors.InvalidArgumentError(None, None, f"density_unit must be 'in' or 'cm', got {density_unit}")
    if xmp_metadata:
        raise NotImplementedError("tf.io.encode_jpeg: xmp_metadata is not covered")
    return tf.constant(_core._encode_jpeg(image, quality, progressive, optimize_size, chroma_downsampling,
                                          density_unit == "cm", x_density, y_density))


def encode_png(image, compression=-1, name=None):
    """The bytes of a PNG file, a string; of a batch of images, as many strings."""
    tf = _tf()
    image = tf.convert_to_tensor(image)
    if image.dtype not in (tf.uint8, tf.uint16):
        raise _errors.InvalidArgumentError(None, None, f"[encode_png] got an image of {image.dtype.name}; uint8 or uint16 "
                                           "are written: tf.image.convert_image_dtype(image, tf.uint8) takes 0 to 1")
    image = _pixels("encode_png", image, (tf.uint8, tf.uint16))
    if len(image.shape) < 4:
        return tf.constant(_core._encode_png(image, compression))
    rows = tf.reshape(image, (-1, *image.shape[-3:]))
    encoded = [_core._encode_png(rows[i], compression) for i in range(rows.shape[0])]
    return tf.reshape(tf.constant(encoded), image.shape[:-3])


def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """The image after it was a JPEG file of that quality."""
    tf = _tf()
    image = tf.convert_to_tensor(image)
    channels = image.shape[-1]
    pixels = tf.image.convert_image_dtype(image, tf.uint8, saturate=True)
    decoded = decode_jpeg(encode_jpeg(pixels, quality=int(jpeg_quality)), channels=channels, dct_method=dct_method)
    return tf.image.convert_image_dtype(decoded, image.dtype, saturate=True)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """adjust_jpeg_quality with a quality drawn from [min_jpeg_quality, max_jpeg_quality)."""
    if not 0 <= min_jpeg_quality < max_jpeg_quality <= 100:
        raise ValueError("jpeg encoding range must be between 0 and 100, and `min_jpeg_quality` must be less than "
                         f"`max_jpeg_quality`. Received: {min_jpeg_quality}, {max_jpeg_quality}")
    tf = _tf()
    quality = tf.random.uniform([], min_jpeg_quality, max_jpeg_quality, dtype=tf.int32, seed=seed)
    return adjust_jpeg_quality(image, int(quality))
