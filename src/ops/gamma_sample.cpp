// Numbers of gamma distributions as functions of the shapes. The place u = P(alpha, x) of a number
// in its distribution stays while alpha moves, so x moves by -(dP / dalpha) / (dP / dx). The rule
// is written with the result x itself, which brings derivatives of all orders.
#include <cstring>

#include "gradus/elementwise.h"
#include "gradus/random.h"
#include "gradus/shaping.h"
#include "gradus/special.h"
#include "graph/batch.h"
#include "graph/dispatch.h"
#include "ops/checks.h"
#include "ops/gamma_integrals.h"
#include "ops/numeric_records.h"

namespace gradus {

const Op gamma_sample_op = general(
    {.name = "gamma_sample",
     .doc = "Numbers of gamma distributions, with their derivative in the shapes alpha.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .inputs = 2,
     .differentiable = 1,
     .infer =
         [](const Call& c, Avals& out) {
           check_same_dtype(c);
           check_operand_shape(c, 1, c.shape(0));
           out.push_back({c.in[0].dtype, c.shape(0)});
         },
     .kernel =
         [](const KernelCall& c) {
           std::memcpy(c.out[0].data, c.in[1].data,
                       static_cast<std::size_t>(c.in[1].count()) * size_of(c.in[1].dtype));
         },
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{1, 1};
         },
     // Random operands are no numbers of the distribution: finite differences see another function.
     .samples =
         [] {
           return std::vector<Sample>{{{{{0}}, {{0}}}, nullptr}};
         }},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const Tensor a = cast(s.in[0], float64), x = cast(s.out[0], float64);
      const Tensor over_density = exp(lgamma(a) + x - (a - 1.0) * log(x));
      out[0] = t[0] * cast(-igamma_slope(a, x) * over_density, s.in[0].dtype());
    });

Tensor random::reparameterised_gamma(In alpha, In drawn) {
  const Shape shape = broadcast_shapes("reparameterised_gamma", alpha->shape(), drawn->shape());
  return gamma_sample_op(broadcast_to(alpha, shape), broadcast_to(drawn, shape));
}

}  // namespace gradus
