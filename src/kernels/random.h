// Filling arrays with random numbers: TensorFlow's numbers for the same generator, bit for bit for
// uniform ones and integers; normal ones agree to 3 units in the last place (98.5 % bit for bit),
// because log, sin and cos are ours (the same bits on every machine). All work is cut by position
// in the stream, so the number of threads does not matter.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"
#include "kernels/philox.h"

namespace gradus::kernels {

// u * (high - low) + low in the arithmetic of t, u in [0, 1). Floating types.
void random_uniform(DType t, const Philox& generator, std::int64_t n, double low, double high,
                    void* out);

// z * stddev + mean; truncated: z is drawn again unless |z| < 2. Floating types.
void random_normal(DType t, const Philox& generator, std::int64_t n, double mean, double stddev,
                   void* out);
void random_truncated_normal(DType t, const Philox& generator, std::int64_t n, double mean,
                             double stddev, void* out);

// low, low + 1, ..., low + range - 1 (modulo 2^bits; range 0 means all values). int32, int64,
// uint32, uint64. As in TensorFlow the remainder is taken, so long ranges are slightly uneven.
void random_integers(DType t, const Philox& generator, std::int64_t n, std::uint64_t low,
                     std::uint64_t range, void* out);

// keep[i] = u_i >= rate, with u of type t: the mask of dropout.
void random_keep_mask(DType t, const Philox& generator, std::int64_t n, double rate, bool* keep);

// The order in which tf.random.shuffle puts n rows: row i of the result is row order[i].
void random_order(const Philox& generator, std::int64_t n, std::int64_t* order);

}  // namespace gradus::kernels
