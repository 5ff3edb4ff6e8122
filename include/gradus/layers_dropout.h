// Dropout.
#pragma once
#include "gradus/initializers.h"

namespace gradus::keras {

namespace forms {

// Zero with probability `rate`, else x / (1 - rate); along `axes` all alike. The numbers follow
// from `seed`, an integer tensor of shape (2,).
Tensor dropout(In x, double rate, In seed, const Shape& axes = {});
// The same with the generator's next seed, if one is needed.
Tensor dropout(In x, double rate, const SeedGenerator& seeds, const Shape& axes = {});

}  // namespace forms

// In training; otherwise x itself.
struct Dropout {
  double rate;
  SeedGenerator seed_generator;
  explicit Dropout(double rate, std::optional<std::int64_t> seed = {});
  Tensor operator()(In x, bool training) const;
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tie(rate, seed_generator); }
};

}  // namespace gradus::keras
