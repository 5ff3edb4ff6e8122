#include "gradus/layers_dropout.h"

#include "gradus/error.h"
#include "gradus/ops.h"

namespace gradus::keras {

namespace forms {

Tensor dropout(In x, double rate, In seed, const Shape& axes) {
  Shape shape = x->shape();
  for (const std::int64_t axis : axes) {
    if (axis < -x->rank() || axis >= x->rank())
      throw InvalidArgumentError("[dropout] got axis " + std::to_string(axis) +
                                 " for a tensor of " + std::to_string(x->rank()) + " axes");
    shape[static_cast<int>(axis < 0 ? axis + x->rank() : axis)] = 1;
  }
  const Tensor drawn = random::stateless_uniform(shape, seed, {.dtype = x->dtype()});
  return where(greater_equal(drawn, rate), x * (1 / (1 - rate)), cast(0.0, x->dtype()));
}

Tensor dropout(In x, double rate, const SeedGenerator& seeds, const Shape& axes) {
  if (rate == 0) return x;
  return rate == 1 ? zeros_like(x) : dropout(x, rate, seeds.next(), axes);
}

}  // namespace forms

Dropout::Dropout(double rate, std::optional<std::int64_t> seed) : rate(rate), seed_generator(seed) {
  if (!(rate >= 0 && rate <= 1))
    throw InvalidArgumentError("[Dropout] got rate " + std::to_string(rate) +
                               "; expected a number from 0 to 1");
}

Tensor Dropout::operator()(In x, bool training) const {
  return training ? forms::dropout(x, rate, seed_generator) : x.tensor();
}

}  // namespace gradus::keras
