#include "gradus/activations.h"

#include <algorithm>

#include "gradus/error.h"
#include "gradus/ops.h"

namespace gradus::keras {
namespace {

Tensor above(In x, In y) { return nn::relu(subtract(x, y)); }

// The nearest point of the probability simplex, along the last axis.
Tensor sparsemax(In x) {
  const Tensor z = sort(x, -1, Direction::descending);
  const Tensor position = cast(range(1, x->shape().back() + 1), x->dtype());
  const Tensor inside = cast(1 + position * z > cumsum(z, -1), x->dtype());
  const Tensor count = reduce_sum(inside, {-1}, true);
  return above(x, (reduce_sum(z * inside, {-1}, true) - 1) / count);
}

struct Named {
  const char* name;
  Tensor (*function)(In);
};

constexpr Named kNamed[] = {
    {"relu", nn::relu},
    {"tanh", tanh},
    {"sigmoid", sigmoid},
    {"softmax", [](In x) { return nn::softmax(x); }},
    {"gelu", [](In x) { return nn::gelu(x); }},
    {"elu", nn::elu},
    {"selu", nn::selu},
    {"celu", [](In x) { return nn::relu(x) + nn::elu(minimum(x, 0)); }},
    {"silu", nn::silu},
    {"swish", nn::silu},
    {"mish", nn::mish},
    {"leaky_relu", [](In x) { return nn::leaky_relu(x, 0.2); }},
    {"relu6", nn::relu6},
    {"softplus", softplus},
    {"softsign", nn::softsign},
    {"squareplus", [](In x) { return (x + sqrt(square(x) + 4)) / 2; }},
    {"exponential", exp},
    {"log_sigmoid", log_sigmoid},
    {"log_softmax", [](In x) { return nn::log_softmax(x); }},
    {"hard_sigmoid", nn::hard_sigmoid},
    {"hard_silu", [](In x) { return x * nn::hard_sigmoid(x); }},
    {"hard_swish", [](In x) { return x * nn::hard_sigmoid(x); }},
    {"hard_tanh", [](In x) { return clip_by_value(x, -1, 1); }},
    {"hard_shrink", [](In x) { return where(abs(x) > 0.5, x, zeros_like(x)); }},
    {"soft_shrink", [](In x) { return above(x, 0.5) - above(negative(x), 0.5); }},
    {"tanh_shrink", [](In x) { return x - tanh(x); }},
    {"sparse_plus", [](In x) { return where(x >= 1, x, square(nn::relu(x + 1)) / 4); }},
    {"sparse_sigmoid", [](In x) { return clip_by_value((x + 1) / 2, 0, 1); }},
    {"sparsemax", sparsemax},
    {"glu",
     [](In x) {
       const std::vector<Tensor> halves = split(x, 2, -1);
       return halves[0] * sigmoid(halves[1]);
     }},
};

}  // namespace

Activation::Activation(const std::string& name) : name_(name.empty() ? "linear" : name) {
  if (name_ == "linear") return;
  const auto* found = std::find_if(std::begin(kNamed), std::end(kNamed),
                                   [&](const Named& known) { return name_ == known.name; });
  if (found != std::end(kNamed)) {
    function_ = std::make_shared<Function>(found->function);
    return;
  }
  std::string names = "linear";
  for (const Named& known : kNamed) names += std::string(", ") + known.name;
  throw InvalidArgumentError("[Activation] unknown activation '" + name + "'; known are " + names);
}

Tensor LeakyReLU::operator()(In x) const { return nn::leaky_relu(x, negative_slope); }

namespace forms {

Tensor relu(In x, const ReluOptions& options) {
  const auto& [slope, threshold, most] = options;
  if (slope == 0 && threshold == 0) {
    if (!most) return nn::relu(x);
    return *most == 6 ? nn::relu6(x) : clip_by_value(x, 0, *most);
  }
  const Tensor below = slope * (x - threshold);
  return where(threshold == 0 ? x >= threshold : x > threshold,
               most ? minimum(x, *most) : x.tensor(), below);
}

Tensor elu(In x, double alpha) {
  const Tensor y = nn::elu(x);
  return alpha == 1 ? y : where(y > 0, y, alpha * y);
}

Tensor softmax(In x, const Tensor& mask, const Shape& axes) {
  if (mask.defined()) {
    const Tensor kept = cast(mask, x->dtype());
    const double lowest = x->dtype() == float16 ? -3e4 : -1e9;
    return softmax(x + (1 - kept) * lowest, {}, axes) * kept;
  }
  if (axes.rank() == 1) return nn::softmax(x, static_cast<int>(axes[0]));
  const Tensor shifted = exp(x - reduce_max(x, axes, true));
  return shifted / reduce_sum(shifted, axes, true);
}

}  // namespace forms
}  // namespace gradus::keras
