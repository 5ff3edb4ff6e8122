"""What tf.signal makes of Fourier transforms: frames, windows, spectra of short pieces."""
import math
import sys


def _tf():
    return sys.modules["gradus"]


def _rolled(x, axes, sign):
    tf = _tf()
    x = tf.convert_to_tensor(x)
    axes = list(range(x.shape.rank)) if axes is None else [axes] if isinstance(axes, int) else list(axes)
    sizes = [tf.shape(x)[a] if x.shape[a] is None else x.shape[a] for a in axes]
    return tf.roll(x, [n // 2 if sign > 0 else (n + 1) // 2 for n in sizes], axes)  # there, and back to where it was


def fftshift(x, axes=None, name=None):
    """The frequency 0 moved to the middle."""
    return _rolled(x, axes, 1)


def ifftshift(x, axes=None, name=None):
    """The inverse of fftshift."""
    return _rolled(x, axes, -1)


def _cosine_window(length, periodic, dtype, a):
    tf = _tf()
    length = int(length)
    dtype = tf.float32 if dtype is None else tf.as_dtype(dtype)
    if length == 1:
        return tf.ones([1], dtype)
    period = length if periodic and length % 2 == 0 else length - 1
    angle = tf.cast(tf.range(length), dtype) * (2 * math.pi / period)
    return a - (1 - a) * tf.cos(angle)


def hann_window(window_length, periodic=True, dtype="float32", name=None):
    """(1 - cos) / 2."""
    return _cosine_window(window_length, periodic, dtype, 0.5)


def hamming_window(window_length, periodic=True, dtype="float32", name=None):
    """0.54 - 0.46 cos."""
    return _cosine_window(window_length, periodic, dtype, 0.54)


def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Pieces of a signal, every frame_step elements, along a new axis before the pieces' own."""
    tf = _tf()
    signal = tf.convert_to_tensor(signal)
    frame_length, frame_step = int(frame_length), int(frame_step)
    axis = axis % signal.shape.rank
    size = signal.shape[axis]
    count = -(-size // frame_step) if pad_end else max(0, 1 + (size - frame_length) // frame_step)
    needed = (count - 1) * frame_step + frame_length if count else 0
    if needed > size:
        paddings = [[0, needed - size if i == axis else 0] for i in range(signal.shape.rank)]
        signal = tf.pad(signal, paddings, constant_values=tf.cast(pad_value, signal.dtype))
    places = tf.range(count)[:, None] * frame_step + tf.range(frame_length)[None, :]
    # Behind another axis: rows of axis 0 would have a sparse gradient, and that of a signal is dense.
    return tf.gather(signal[None], places, axis=axis + 1)[0]


def overlap_and_add(signal, frame_step, name=None):
    """Pieces (the last axis) put every frame_step elements and added where they overlap."""
    tf = _tf()
    signal = tf.convert_to_tensor(signal)
    frame_step = int(frame_step)
    *outer, frames, length = signal.shape.as_list()
    size = (frames - 1) * frame_step + length if frames else 0
    places = tf.reshape(tf.range(frames)[:, None] * frame_step + tf.range(length)[None, :], [-1])
    flat = tf.reshape(signal, [-1, frames * length])
    added = tf.math.unsorted_segment_sum(tf.transpose(flat), places, size)
    return tf.reshape(tf.transpose(added), outer + [size])


def _enclosing_power_of_two(value):
    return 1 << max(0, int(value) - 1).bit_length()


def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None):
    """The spectra of windowed pieces of signals."""
    tf = _tf()
    pieces = frame(signals, frame_length, frame_step, pad_end)
    if window_fn is not None:
        pieces = pieces * window_fn(int(frame_length), dtype=pieces.dtype)
    return tf.signal.rfft(pieces, [_enclosing_power_of_two(frame_length) if fft_length is None else int(fft_length)])


def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None):
    """Signals from the spectra of their pieces."""
    tf = _tf()
    frame_length = int(frame_length)
    length = _enclosing_power_of_two(frame_length) if fft_length is None else int(fft_length)
    pieces = tf.signal.irfft(stfts, [length])
    if frame_length <= length:
        pieces = pieces[..., :frame_length]
    else:
        pieces = tf.pad(pieces, [[0, 0]] * (pieces.shape.rank - 1) + [[0, frame_length - length]])
    if window_fn is not None:
        pieces = pieces * window_fn(frame_length, dtype=pieces.dtype)
    return overlap_and_add(pieces, frame_step)


def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """The window that makes inverse_stft the inverse of stft."""
    def window(frame_length, dtype):
        tf = _tf()
        forward = forward_window_fn(frame_length, dtype=dtype)
        overlaps = -(-frame_length // frame_step)
        power = tf.pad(tf.square(forward), [[0, overlaps * frame_step - frame_length]])
        total = tf.reduce_sum(tf.reshape(power, [overlaps, frame_step]), 0, keepdims=True)
        return forward / tf.reshape(tf.tile(total, [overlaps, 1]), [-1])[:frame_length]
    return window


def dct(input, type=2, n=None, axis=-1, norm=None, name=None):  # noqa: A002
    """The discrete cosine transform of type 1, 2, 3 or 4, as scipy.fft.dct."""
    tf = _tf()
    x = tf.convert_to_tensor(input)
    if axis != -1:
        raise NotImplementedError(f"`axis` must be -1. Received: {axis}")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Received: norm={norm}.")
    if type not in (1, 2, 3, 4):
        raise ValueError(f"Types I, II, III, IV (I)DCT are supported. Received: type={type}.")
    if n is not None:
        x = x[..., :n] if n < x.shape[-1] else tf.pad(x, [[0, 0]] * (x.shape.rank - 1) + [[0, n - x.shape[-1]]])
    size = x.shape[-1]
    if type == 1:
        if norm is not None:
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        return tf.math.real(tf.signal.rfft(tf.concat([x, x[..., -2:0:-1]], -1)))
    if type == 4:
        odd = tf.cast(tf.range(size), x.dtype) + 0.5
        waves = tf.cos(odd[:, tf.newaxis] * odd * (math.pi / size))
        return tf.tensordot(x, waves * (2.0 if norm is None else math.sqrt(2.0 / size)), 1)
    angle = tf.cast(tf.range(size), x.dtype) * (math.pi / (2 * size))
    turn = tf.complex(tf.cos(angle), tf.sin(angle))
    scale = tf.cast(1.0, x.dtype)
    if norm == "ortho":  # makes the transform a rotation
        first = tf.cast(tf.range(size) == 0, x.dtype)
        scale = math.sqrt(0.5 / size) + first * ((0.5 if type == 2 else 1.0) / math.sqrt(size) - math.sqrt(0.5 / size))
    if type == 2:
        return scale * 2.0 * tf.math.real(tf.signal.rfft(x, [2 * size])[..., :size] * tf.math.conj(turn))
    x = scale * x * (2.0 * size)
    return tf.signal.irfft(tf.complex(x, tf.zeros_like(x)) * turn, [2 * size])[..., :size]


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):  # noqa: A002
    """The inverse of dct; without a norm, times 2 n (of type 1: 2 n - 2), as TensorFlow's."""
    return dct(input, {2: 3, 3: 2}.get(type, type), n, axis, norm)


def publish(namespace):
    """Puts these functions where TensorFlow has them."""
    signal = namespace("signal")
    for function in (fftshift, ifftshift, hann_window, hamming_window, frame, overlap_and_add, stft, inverse_stft,
                     inverse_stft_window_fn, dct, idct):
        setattr(signal, function.__name__, function)
