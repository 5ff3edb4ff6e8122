// Random tensors. The generator is TensorFlow's Philox: with the same seeds come the same numbers.
//
//   gd::random::set_seed(42);
//   auto w = gd::random::normal({784, 128}, {.stddev = 0.05});
//   auto u = gd::random::stateless_uniform({3}, {1, 2});     // a function of its seed alone
#pragma once
#include <optional>

#include "gradus/in.h"

namespace gradus::random {

// Restarts the sequence of op seeds of this thread.
void set_seed(std::int64_t seed);
// The pair of seeds, int64, that the next random op would take: for generators outside of tensors.
Tensor op_seeds(std::optional<std::int64_t> seed = {});

struct UniformOptions {
  double minval = 0, maxval = 1;  // maxval itself is never drawn; integers need a range
  DType dtype = float32;
  std::optional<std::int64_t> seed = {};
};
struct NormalOptions {
  double mean = 0, stddev = 1;
  DType dtype = float32;
  std::optional<std::int64_t> seed = {};
};

Tensor uniform(const Shape& shape, const UniformOptions& options = {});
Tensor normal(const Shape& shape, const NormalOptions& options = {});
Tensor truncated_normal(const Shape& shape, const NormalOptions& options = {});  // within 2 stddev
Tensor shuffle(In x, std::optional<std::int64_t> seed = {});                     // along axis 0

// num_samples class numbers for each row of logits [rows, classes], int64.
Tensor categorical(In logits, std::int64_t num_samples, std::optional<std::int64_t> seed = {});

// Functions of their seed, an integer tensor of shape (2,).
Tensor stateless_uniform(const Shape& shape, In seed, const UniformOptions& options = {});
Tensor stateless_normal(const Shape& shape, In seed, const NormalOptions& options = {});
Tensor stateless_truncated_normal(const Shape& shape, In seed, const NormalOptions& options = {});
Tensor stateless_categorical(In logits, std::int64_t num_samples, In seed);

// Functions of a generator's state, an integer tensor of shape (3,): counter (low, high) and key,
// as tf.random.Generator has it. A call that draws n numbers uses up 256 n of the counter.
Tensor generated_uniform(const Shape& shape, In state, const UniformOptions& options = {});
Tensor generated_normal(const Shape& shape, In state, const NormalOptions& options = {});
Tensor generated_truncated_normal(const Shape& shape, In state, const NormalOptions& options = {});

}  // namespace gradus::random

namespace gradus::nn {

// Zero with probability `rate`, else x / (1 - rate).
Tensor dropout(In x, double rate, std::optional<std::int64_t> seed = {});

}  // namespace gradus::nn
