// The losses of tf.nn that are elementwise, and norms that scale.
#include <numbers>

#include "expr/math.h"
#include "gradus/elementwise.h"
#include "gradus/makers.h"
#include "gradus/nn.h"
#include "gradus/reduce.h"
#include "ops/records.h"

namespace gradus {

// max(x, 0) - x z + log(1 + exp(-|x|)), in which nothing large cancels.
const Op sigmoid_cross_entropy_op = elementwise(
    {.name = "sigmoid_cross_entropy_with_logits",
     .doc = "-z log(sigmoid(x)) - (1 - z) log(1 - sigmoid(x)) of logits x and labels z.",
     .like = "tensorflow.nn.sigmoid_cross_entropy_with_logits"},
    [](Expr x, Expr z) { return expr::max(x, 0) - x * z + expr::log1p(expr::exp(-expr::abs(x))); },
    [](Expr g, Expr x, Expr z, Expr) { return expr::scaled(g, expr::sigmoid(x) - z); },
    [](Expr g, Expr x, Expr, Expr) { return -expr::scaled(g, x); });

namespace nn {

Tensor sigmoid_cross_entropy_with_logits(In labels, In logits) {
  return sigmoid_cross_entropy_op(logits, labels);
}

Tensor weighted_cross_entropy_with_logits(In labels, In logits, In pos_weight) {
  const Tensor weight = 1.0 + (labels * pos_weight - labels);
  return (1.0 - labels) * logits + weight * softplus(-logits);
}

Tensor log_poisson_loss(In targets, In log_input, bool compute_full_loss) {
  const Tensor loss = exp(log_input) - log_input * targets;
  if (!compute_full_loss) return loss;
  // Stirling's approximation of log(targets!), which is 0 for 0 and 1.
  const Tensor small = logical_and(greater_equal(targets, 0), less_equal(targets, 1));
  const Tensor safe = where(small, 1.0, targets.tensor());
  const Tensor stirling = safe * log(safe) - safe + 0.5 * log(2 * std::numbers::pi * safe);
  return loss + where(small, 0.0, stirling);
}

Tensor l2_loss(In x) { return 0.5 * reduce_sum(square(x)); }

Tensor l2_normalize(In x, const Shape& axes, double epsilon) {
  return x * rsqrt(maximum(reduce_sum(square(x), axes, true), epsilon));
}

}  // namespace nn
}  // namespace gradus
