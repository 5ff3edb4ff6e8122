// Random tensors. The generator is TensorFlow's Philox: with the same seeds come the same numbers.
//
//   gd::random::set_seed(42);
//   auto w = gd::random::normal({784, 128}, {.stddev = 0.05});
//   auto u = gd::random::stateless_uniform({3}, {1, 2});     // a function of its seed alone
#pragma once
#include <optional>
#include <type_traits>

#include "gradus/in.h"

namespace gradus::random {

// Restarts the sequence of op seeds of this thread.
void set_seed(std::int64_t seed);
// The pair of seeds, int64, that the next random op would take: for generators outside of tensors.
Tensor op_seeds(std::optional<std::int64_t> seed = {});

// A parameter of a distribution: a number, or a tensor. Of tensors the numbers drawn have a
// derivative, as functions of what does not depend on them: mean + stddev * z.
class Parameter {
 public:
  template <class N>
  requires std::is_arithmetic_v<N> Parameter(N x)
      : number_(static_cast<double>(x)) {         // NOLINT: implicit by design
    if (number_ >= 0x1p53 || number_ <= -0x1p53)  // beyond that not every integer is a double
      if constexpr (std::is_integral_v<N>) tensor_ = Tensor(static_cast<std::int64_t>(x));
  }
  Parameter(const Tensor& t) : tensor_(t) {}                  // NOLINT
  Parameter(const Variable& v) : tensor_(detail::read(v)) {}  // NOLINT

  bool is_number() const { return !tensor_.defined(); }
  double number() const { return number_; }
  Tensor as(DType dtype) const;

 private:
  double number_ = 0;
  Tensor tensor_;
};

struct UniformOptions {
  // maxval itself is never drawn. Integers need a range of numbers or scalars.
  Parameter minval = 0, maxval = 1;
  DType dtype = float32;
  std::optional<std::int64_t> seed = {};
};
struct NormalOptions {
  Parameter mean = 0, stddev = 1;
  DType dtype = float32;
  std::optional<std::int64_t> seed = {};
};

// Parameters that are tensors broadcast against the shape.
Tensor uniform(const Shape& shape, const UniformOptions& options = {}, CallSite = {});
Tensor normal(const Shape& shape, const NormalOptions& options = {}, CallSite = {});
Tensor truncated_normal(const Shape& shape, const NormalOptions& options = {},
                        CallSite = {});                       // within 2 stddev
Tensor shuffle(In x, std::optional<std::int64_t> seed = {});  // along axis 0

// num_samples class numbers for each row of logits [rows, classes], int64.
Tensor categorical(In logits, std::int64_t num_samples, std::optional<std::int64_t> seed = {});

// Functions of their seed, an integer tensor of shape (2,).
Tensor stateless_uniform(const Shape& shape, In seed, const UniformOptions& options = {});
Tensor stateless_normal(const Shape& shape, In seed, const NormalOptions& options = {});
Tensor stateless_truncated_normal(const Shape& shape, In seed, const NormalOptions& options = {});
Tensor stateless_categorical(In logits, std::int64_t num_samples, In seed);

// Functions of a generator's state, an integer tensor of shape (3,): counter (low, high) and key,
// as tf.random.Generator has it. A call that draws n numbers uses up 256 n of the counter.
// generated_integers are all integers of a dtype, for new seeds and keys.
Tensor generated_integers(const Shape& shape, In state, DType dtype = uint64);
Tensor stateless_integers(const Shape& shape, In seed, DType dtype = int32);
Tensor generated_uniform(const Shape& shape, In state, const UniformOptions& options = {});
Tensor generated_normal(const Shape& shape, In state, const NormalOptions& options = {});
Tensor generated_truncated_normal(const Shape& shape, In state, const NormalOptions& options = {});

// `drawn` itself, numbers of the gamma distribution with shape alpha and scale 1, with the
// derivative in alpha that they have if their places in the distribution stay.
Tensor reparameterised_gamma(In alpha, In drawn);

}  // namespace gradus::random

namespace gradus::nn {

// Zero with probability `rate`, else x / (1 - rate).
Tensor dropout(In x, double rate, std::optional<std::int64_t> seed = {});

}  // namespace gradus::nn
