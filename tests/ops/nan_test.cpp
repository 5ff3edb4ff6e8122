// Where an argument is NaN, so is every derivative that depends on it: a gradient must not be made
// of numbers that nobody knows. A derivative that is the same whatever that argument is may stay
// what it is (x y in x, where y is known). The rest that stays finite is listed.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "ops/record_cases.h"
#include "ops/registry.h"

namespace gradus {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Pieces of straight lines: TensorFlow takes one of the pieces at NaN, and so do the records.
const std::map<std::string, std::string> kByConvention = {
    {"maximum", "the second argument gets the gradient, as in TensorFlow"},
    {"minimum", "the second argument gets the gradient, as in TensorFlow"},
    {"clip_by_value", "the lower bound gets the gradient: maximum of it and the minimum"},
    {"relu", "0, as in TensorFlow"},
    {"relu6", "0, as in TensorFlow"},
    {"leaky_relu", "the slope of the negative side, as in TensorFlow"},
    {"elu", "1, as in TensorFlow"},
    {"selu", "the scale, as in TensorFlow"},
    {"hard_sigmoid", "0: it is a relu6"},
    {"soft_shrink", "1: x minus a clipped x"},
};

using Numbers = std::vector<double>;

Numbers derivatives(const Op& op, const Numbers& at, bool forward) {
  const ElementwiseRule& rule = *op.elementwise;
  std::vector<Tensor> x;
  std::vector<bool> active;
  for (int k = 0; k < rule.arity; ++k) {
    const bool mask = rule.bool_inputs >> k & 1;
    const double value = at[static_cast<std::size_t>(k)];
    x.push_back(mask ? Tensor(value > 0) : Tensor(value));
    active.push_back(!mask && op.is_differentiable_in(k));
  }
  Numbers found(x.size(), 0);
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!active[k]) continue;
    if (forward) {
      const ForwardAccumulator accumulator(x[k], Tensor(1.0));
      found[k] = accumulator.jvp(op.run_one(x, nullptr), Unconnected::zero).tensor().item<double>();
    } else {
      GradientTape tape;
      tape.watch(x[k]);
      const Tensor y = op.run_one(x, nullptr);
      const auto gradients = tape.gradient(std::vector<Tensor>{y}, std::vector<Source>{x[k]},
                                           {.unconnected = Unconnected::zero});
      found[k] = gradients[0].tensor().item<double>();
    }
  }
  return found;
}

// Whether the derivative in argument j does not depend on argument i, as far as numbers tell.
bool is_free_of(const Op& op, Numbers at, std::size_t i, std::size_t j, bool forward) {
  at[i] = 0.4;
  const double first = derivatives(op, at, forward)[j];
  for (const double value : {-2.3, -0.7, 1.9, 3.1}) {
    at[i] = value;
    if (derivatives(op, at, forward)[j] != first) return false;
  }
  return true;
}

class AtNan : public testing::TestWithParam<const Op*> {};

TEST_P(AtNan, DerivativesAreNan) {
  const Op& op = *GetParam();
  if (op.kind != Kind::elementwise || !has_derivatives(op)) return;
  if (!(op.info.dtypes & one_dtype(float64))) return;
  const auto arity = static_cast<std::size_t>(op.elementwise->arity);
  int finite = 0;
  for (std::size_t i = 0; i < arity; ++i) {
    if (op.elementwise->bool_inputs >> i & 1) continue;
    for (const double other : {0.0, 0.5, -0.5, 1.0, 2.0, -3.0, kInf, -kInf, kNan}) {
      Numbers at(arity, other);
      at[i] = kNan;
      for (const bool forward : {false, true}) {
        const Numbers found = derivatives(op, at, forward);
        for (std::size_t j = 0; j < arity; ++j) {
          if (std::isnan(found[j]) || is_free_of(op, at, i, j, forward)) continue;
          ++finite;
          EXPECT_TRUE(kByConvention.contains(op.name()))
              << op.name() << ": argument " << i << " is NaN, the others " << other
              << ", and the derivative in " << j << " is " << found[j];
        }
      }
    }
  }
  EXPECT_EQ(finite > 0, kByConvention.contains(op.name())) << op.name();
}

INSTANTIATE_TEST_SUITE_P(Records, AtNan, testing::ValuesIn(all_ops()),
                         [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace gradus
