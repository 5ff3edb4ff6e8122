// First values of a layer's weights, and seeds that are other ones at each use.
#pragma once
#include <optional>
#include <tuple>

#include "gradus/in.h"
#include "gradus/variable.h"

namespace gradus::keras {

// Glorot's uniform distribution for a kernel of this shape.
Tensor glorot_uniform(const Shape& shape, DType dtype = float32);
// Orthonormal rows, as Keras starts the state's share of recurrent layers.
Tensor orthogonal(std::int64_t rows, std::int64_t columns);

// A variable (seed, count): as Keras's, so that equal seeds give the numbers that Keras draws.
struct SeedGenerator {
  Variable state;
  explicit SeedGenerator(std::optional<std::int64_t> seed = {});
  explicit SeedGenerator(Variable state) : state(std::move(state)) {}
  auto gradus_parts() { return std::tie(state); }
  Tensor next() const;  // two numbers for a stateless function, and one more count
};

}  // namespace gradus::keras
