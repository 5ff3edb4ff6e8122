"""tf.audio: sound in WAV files of 16 bits."""
import struct
from collections import namedtuple

import numpy as np

from . import errors
from ._strings import StringTensor

__all__ = ["decode_wav", "encode_wav"]

DecodeWav = namedtuple("DecodeWav", ["audio", "sample_rate"])


def _fail(text):
    return errors.InvalidArgumentError(None, None, text)


def _chunks(data):
    """The parts of a RIFF file: (name, content)."""
    at = 12
    while at + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, at)
        yield name, data[at + 8:at + 8 + size]
        at += 8 + size + size % 2


def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """(audio [samples, channels] between -1 and 1, sample rate) of the bytes of a WAV file of 16 bits."""
    import gradus as tf
    data = contents.numpy() if hasattr(contents, "numpy") else contents
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise _fail(f"Header mismatch: Expected RIFF and WAVE but found {data[:4]!r} and {data[8:12]!r}")
    form = samples = None
    for name_, content in _chunks(data):
        if name_ == b"fmt ":
            form = struct.unpack_from("<HHIIHH", content)
        elif name_ == b"data":
            samples = np.frombuffer(content[:len(content) // 2 * 2], "<i2")
    if form is None or samples is None:
        raise _fail("Bad file size for WAV: a part with the format or the data is missing")
    kind, channels, rate, _, _, bits = form
    if kind not in (1, 0xFFFE):
        raise _fail(f"Bad audio format for WAV: Expected 1 (PCM), but got{kind}")
    if bits != 16:
        raise _fail(f"Can only read 16-bit WAV files, but received {bits}")
    audio = samples[:len(samples) // channels * channels].reshape(-1, channels).astype(np.float32) / 32768.0
    if desired_channels > 0:
        audio = audio[:, [min(c, channels - 1) for c in range(desired_channels)]]
    if desired_samples > 0:
        audio = np.pad(audio[:desired_samples], [[0, max(0, desired_samples - len(audio))], [0, 0]])
    return DecodeWav(tf.constant(audio), tf.constant(rate, tf.int32))


def encode_wav(audio, sample_rate, name=None):
    """The bytes of a WAV file of 16 bits, of audio [samples, channels] between -1 and 1."""
    audio, rate = np.asarray(audio, np.float32), int(sample_rate)
    if audio.ndim != 2:
        raise _fail(f"audio must be 2-dimensional: [{', '.join(map(str, audio.shape))}]")
    channels = audio.shape[1]
    data = np.clip(np.round(audio * 32767.0), -32768, 32767).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return StringTensor(b"RIFF" + struct.pack("<I", len(body)) + body)
