// Elementwise records at the points where their rules choose between cases: zeros, ones, equal
// arguments. There a rule that is right on both sides can still forget how it varies.
//
// Differences of the order below, taken from the left, from the right and across, tell where the
// function is smooth; there each mix of modes must give their value. Where they differ there is a
// kink, and conventions.cpp says what holds.
#include <gtest/gtest.h>

#include <functional>

#include "ops/record_cases.h"
#include "ops/registry.h"

namespace gradus {
namespace {

using Arguments = std::vector<Tensor>;
using Function = std::function<Tensor(const Arguments&)>;  // element by element
using Direction = std::vector<double>;                     // a number for each argument

Arguments moved(const Arguments& x, const Direction& d, double by) {
  Arguments at = x;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (d[i] != 0) at[i] = x[i] + by * d[i];
  return at;
}

Function forward(const Function& f, const Direction& d) {
  return [=](const Arguments& x) -> Tensor {
    std::vector<std::pair<Source, Tensor>> pairs;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (d[i] != 0) pairs.emplace_back(x[i], d[i] * ones(x[i].shape(), float64));
    const ForwardAccumulator accumulator(pairs);
    return accumulator.jvp(f(x), Unconnected::zero).tensor();
  };
}

Function reverse(const Function& f, const Direction& d) {
  return [=](const Arguments& x) -> Tensor {
    GradientTape tape;
    std::vector<Source> sources;
    std::vector<double> factors;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (d[i] == 0) continue;
      tape.watch(x[i]);
      sources.emplace_back(x[i]);
      factors.push_back(d[i]);
    }
    const Tensor y = f(x);
    const auto gradients =
        tape.gradient(std::vector<Tensor>{y}, sources, {.unconnected = Unconnected::zero});
    Tensor sum = zeros(y.shape(), float64);
    for (std::size_t k = 0; k < sources.size(); ++k) sum = sum + factors[k] * Tensor(gradients[k]);
    return sum;
  };
}

Function nested(Function f, std::span<const Direction> directions, unsigned modes) {
  for (std::size_t k = 0; k < directions.size(); ++k)
    f = modes >> k & 1 ? forward(f, directions[k]) : reverse(f, directions[k]);
  return f;
}

// Every combination of special numbers, each argument as a vector of its own.
Arguments special_points(const ElementwiseRule& rule) {
  const std::vector<double> numbers = rule.arity < 3
                                          ? std::vector<double>{0, 1, -1, 0.5, 2, -2, 3, 8, 20}
                                          : std::vector<double>{0, 1, -1, 2};
  std::size_t count = 1;
  for (int i = 0; i < rule.arity; ++i) count *= numbers.size();
  Arguments points;
  std::size_t step = 1;
  for (int i = 0; i < rule.arity; ++i, step *= numbers.size()) {
    std::vector<double> column;
    for (std::size_t k = 0; k < count; ++k) column.push_back(numbers[k / step % numbers.size()]);
    const Tensor t = Tensor::from(column, {static_cast<std::int64_t>(count)});
    points.push_back(rule.bool_inputs >> i & 1 ? t > 0 : t);
  }
  return points;
}

// The slope of f at each point where it is smooth in this direction, elsewhere NaN. f is not asked
// at the point itself.
Tensor slopes_along(const Function& f, const Arguments& x, const Direction& d) {
  constexpr double h = 1e-4;
  const auto at = [&](double by) { return f(moved(x, d, by * h)); };
  const auto from = [&](double side) {
    return (-5.0 * at(side) + 8.0 * at(2 * side) - 3.0 * at(3 * side)) / (2 * side * h);
  };
  const Tensor right = from(1), left = from(-1), wide = (at(1) - at(-1)) / (2 * h);
  const Tensor across = (4.0 * (at(0.5) - at(-0.5)) / h - wide) / 3.0, size = abs(across);
  const Tensor smooth = logical_and(abs(left - across) < 1e-6 * (1.0 + size),
                                    abs(right - across) < 1e-6 * (1.0 + size));
  return where(logical_and(smooth, size < 1e6), across, std::nan(""));
}

// The slope along d where f is differentiable, elsewhere NaN: slopes along any other direction must
// be sums of those along each argument, and f must have a value.
Tensor slopes(const Function& f, const Arguments& x, const Direction& d, const Direction& moves) {
  std::vector<Tensor> partials;
  const auto sum = [&](const Direction& v) {
    Tensor total = zeros(x[0].shape(), float64);
    for (std::size_t i = 0; i < v.size(); ++i)
      if (v[i] != 0) total = total + v[i] * partials[i];
    return total;
  };
  Direction across(d.size());
  for (std::size_t i = 0; i < d.size(); ++i) {
    Direction alone(d.size(), 0);
    alone[i] = moves[i] != 0 ? 1 : 0;
    across[i] = moves[i] * (i % 2 == 0 ? 1 : -0.5);
    partials.push_back(alone[i] != 0 ? slopes_along(f, x, alone) : Tensor());
  }
  Tensor differentiable = is_finite(f(x));
  for (const Direction& v : {moves, across}) {
    const Tensor straight = slopes_along(f, x, v), added = sum(v);
    differentiable = logical_and(differentiable, abs(straight - added) < 1e-6 * (1.0 + abs(added)));
  }
  return where(differentiable, sum(d), std::nan(""));
}

// TensorFlow's rule: where the first argument is 0, it counts as a constant.
bool has_constant_zeros(const Op& op) {
  const std::string name = op.name();
  return name == "xlogy" || name == "xlog1py" || name == "xdivy";
}

class SpecialPoints : public testing::TestWithParam<const Op*> {};

TEST_P(SpecialPoints, AgreeWithDifferences) {
  const Op& op = *GetParam();
  if (op.kind != Kind::elementwise || !has_derivatives(op)) return;
  if (!(op.info.dtypes & one_dtype(float64))) return;
  const ElementwiseRule& rule = *op.elementwise;
  const Arguments x = special_points(rule);
  const Function value = [&](const Arguments& in) { return op.run_one(in, nullptr); };
  Direction moves;
  for (int i = 0; i < rule.arity; ++i) {
    const bool can = op.is_differentiable_in(i) && !(rule.bool_inputs >> i & 1);
    moves.push_back(can ? 0.75 + 0.25 * i : 0);
  }
  // All inputs at once, then one alone and after it the others.
  for (int alone = -1; alone < (rule.arity == 1 ? 0 : rule.arity); ++alone) {
    std::vector<Direction> directions(3, moves);
    for (std::size_t order = 0; order < 3 && alone >= 0; ++order)
      for (int i = 0; i < rule.arity; ++i)
        if ((order == 0) != (i == alone)) directions[order][static_cast<std::size_t>(i)] = 0;
    for (std::size_t order = 1; order <= 3; ++order) {
      const std::span<const Direction> used(directions.data(), order);
      const Function below = nested(value, used.first(order - 1), static_cast<unsigned>(order));
      const Tensor slope = slopes(below, x, used.back(), moves);
      const std::span<const double> expected(slope.data<double>(), slope.num_elements());
      for (unsigned modes = 0; modes < 1u << order; ++modes) {
        const Tensor got = nested(value, used, modes)(x);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          if (std::isnan(expected[i])) continue;
          if (has_constant_zeros(op) && x[0].data<double>()[i] == 0) continue;
          const double y = got.data<double>()[i];
          std::string point = op.name();
          for (const Tensor& t : x)
            point += " " + std::to_string(cast(t, float64).data<double>()[i]);
          ASSERT_LT(std::abs(y - expected[i]), 1e-6 * (1 + std::abs(expected[i])))
              << point << ": order " << order << " in modes " << modes << " is " << y << ", not "
              << expected[i];
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, SpecialPoints, testing::ValuesIn(all_ops()),
                         [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace gradus
