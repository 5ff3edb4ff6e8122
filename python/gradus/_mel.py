"""The mel scale of pitch, and windows that few programs use."""
import math
import sys

import numpy as np


def _tf():
    return sys.modules["gradus"]


def _mel(hertz):
    return 1127.0 * _tf().math.log1p(hertz / 700.0)


def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129, sample_rate=8000, lower_edge_hertz=125.0,
                                upper_edge_hertz=3800.0, dtype="float32", name=None):
    """The matrix [num_spectrogram_bins, num_mel_bins] of triangles that sums spectra over bands of the mel scale."""
    tf = _tf()
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if lower_edge_hertz < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower_edge_hertz}")
    if sample_rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
    if upper_edge_hertz > sample_rate / 2:
        raise ValueError("upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got "
                         f"{upper_edge_hertz} for sample_rate: {sample_rate}")
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError(f"lower_edge_hertz {lower_edge_hertz:.1f} >= upper_edge_hertz {upper_edge_hertz:.1f}")
    rate, lower, upper = (tf.cast(tf.convert_to_tensor(v), "float64") for v in
                          (sample_rate, lower_edge_hertz, upper_edge_hertz))  # tensors keep their gradients
    places = _mel(tf.linspace(tf.zeros_like(rate), rate / 2.0, num_spectrogram_bins)[1:])[:, tf.newaxis]
    edges = tf.linspace(_mel(lower), _mel(upper), num_mel_bins + 2)
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    weights = tf.maximum(0.0, tf.minimum((places - low) / (middle - low), (high - places) / (high - middle)))
    return tf.cast(tf.pad(weights, [[1, 0], [0, 0]]), dtype)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Cepstral coefficients: an orthogonal cosine transform of the logarithms."""
    tf = _tf()
    x = tf.convert_to_tensor(log_mel_spectrograms)
    return tf.signal.dct(x, type=2) * (1.0 / math.sqrt(2.0 * x.shape[-1]))


def kaiser_window(window_length, beta=12.0, dtype="float32", name=None):
    """Kaiser's window: i0(beta sqrt(1 - t^2)) / i0(beta) for t from -1 to 1."""
    tf, count = _tf(), int(window_length)
    beta = tf.cast(tf.convert_to_tensor(beta, None if tf.is_tensor(beta) else "float64"), "float64")
    if count <= 1:
        return tf.ones([count], dtype)
    places = np.sqrt(np.maximum(1.0 - np.linspace(-1.0, 1.0, count) ** 2, 0.0))
    return tf.cast(tf.math.bessel_i0(beta * places) / tf.math.bessel_i0(beta), dtype)


def vorbis_window(window_length, dtype="float32", name=None):
    """The window of Vorbis: sin(pi / 2 sin^2(pi (n + 1/2) / length))."""
    n = np.arange(int(window_length)) + 0.5
    return _tf().constant(np.sin(np.pi / 2 * np.sin(np.pi / int(window_length) * n) ** 2), dtype)
