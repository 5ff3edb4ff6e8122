// Fourier transforms, over the last axes. Names are those of tf.signal.
#pragma once
#include "gradus/in.h"

namespace gradus::signal {

// Of complex numbers, over the last `axes` axes; ifft divides by the number of elements.
Tensor fft(In input, int axes = 1);
Tensor ifft(In input, int axes = 1);

// Of real numbers: the first n / 2 + 1 numbers along the last axis, which say what the others are.
// The last fft_length.rank() axes are first cut or filled with zeros to these sizes.
Tensor rfft(In input, const Shape& fft_length);
// Back to real numbers of these sizes.
Tensor irfft(In input, const Shape& fft_length);
// The fft_length that irfft of these coefficients has if nobody says another one.
Shape irfft_length(In input, int axes = 1);

}  // namespace gradus::signal
