// Fourier transforms of any length.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

// out[j] = sum over k of in[k] e^(-2 pi i j k / n), or with +2 pi i, for each of `count` rows of n
// complex64 or complex128 numbers. Not divided by anything. Computes in float64; lengths with small
// prime factors by mixed radix, others as a convolution (Bluestein).
enum class Sign { negative, positive };
void fft(DType t, Sign sign, const void* in, std::int64_t count, std::int64_t n, void* out);

}  // namespace gradus::kernels
