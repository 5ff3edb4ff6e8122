#include "gradus/initializers.h"

#include <cmath>

#include "gradus/ops.h"

namespace gradus::keras {

Tensor glorot_uniform(const Shape& shape, DType dtype) {
  const int rank = shape.rank();
  std::int64_t field = 1;
  for (int i = 0; i + 2 < rank; ++i) field *= shape[i];
  const std::int64_t outputs = rank > 0 ? std::int64_t{shape.back()} : 1;
  const std::int64_t inputs = rank > 1 ? std::int64_t{shape[rank - 2]} : outputs;
  const double fan_in = static_cast<double>(field * inputs);
  const double fan_out = static_cast<double>(field * outputs);
  const double limit = std::sqrt(6 / (fan_in + fan_out));
  return random::uniform(shape, {.minval = -limit, .maxval = limit, .dtype = dtype});
}

Tensor orthogonal(std::int64_t rows, std::int64_t columns) {
  const auto [q, r] = linalg::qr(random::normal({columns, rows}));
  return transpose(q * sign(linalg::diag_part(r)), {1, 0});
}

SeedGenerator::SeedGenerator(std::optional<std::int64_t> seed)
    : state(stack({seed ? Tensor(*seed) : index(random::op_seeds(), {1}), Tensor(std::int64_t{0})}),
            {.name = "seed_generator_state", .trainable = false}) {}

Tensor SeedGenerator::next() const {
  static const Tensor one_more = Tensor::from(std::vector<std::int64_t>{0, 1});
  const Tensor seed = identity(state);
  state.assign(seed + one_more);
  return seed;
}

}  // namespace gradus::keras
