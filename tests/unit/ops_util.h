// Checks that any function of tensors can be put through: its derivatives in both modes and twice,
// and what it does with a batch.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "gradus/gradus.h"
#include "graph/batch.h"
#include "tensor/tensor_impl.h"

namespace gradus {

using Values = std::vector<double>;
using Function = std::function<Tensor(const std::vector<Tensor>&)>;

inline Values values_of(const Tensor& t) { return cast(t, float64).to_vector<double>(); }
inline std::vector<std::int64_t> integers_of(const Tensor& t) {
  return cast(t, int64).to_vector<std::int64_t>();
}

// Equal up to rounding; NaN equals NaN and infinities equal themselves.
inline ::testing::AssertionResult near(const Values& got, const Values& want,
                                       double tolerance = 1e-9) {
  if (got.size() != want.size()) {
    return ::testing::AssertionFailure() << got.size() << " values, expected " << want.size();
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool same = got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])) ||
                      std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i]));
    if (!same) {
      return ::testing::AssertionFailure()
             << "value " << i << " is " << got[i] << ", expected " << want[i];
    }
  }
  return ::testing::AssertionSuccess();
}
inline ::testing::AssertionResult near(const Tensor& got, const Values& want,
                                       double tolerance = 1e-9) {
  return near(values_of(got), want, tolerance);
}

inline Tensor random_tensor(const Shape& shape, unsigned seed = 1, double low = -2,
                            double high = 2) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Values values(static_cast<std::size_t>(shape.num_elements()));
  for (double& v : values) v = uniform(random);
  return Tensor::from(values, shape);
}

// The gradient of sum(f(x) * w) with respect to one tensor; zeros if it is not connected.
inline Tensor gradient_of(const Function& f, const std::vector<Tensor>& in, std::size_t wrt = 0,
                          const Tensor& w = Tensor()) {
  GradientTape tape;
  tape.watch(in[wrt]);
  const Tensor y = f(in);
  const Tensor target = w.defined() ? reduce_sum(y * w) : y;
  return tape.gradient({target}, {in[wrt]}, {.unconnected = Unconnected::zero})[0].tensor();
}

inline Values finite_differences(const std::function<double(const Tensor&)>& f, const Tensor& x) {
  const double h = 1e-5;
  Values values = values_of(x), slopes;
  for (double& v : values) {
    const double at = v;
    v = at + h;
    const double up = f(Tensor::from(values, x.shape()));
    v = at - h;
    const double down = f(Tensor::from(values, x.shape()));
    v = at;
    slopes.push_back((up - down) / (2 * h));
  }
  return slopes;
}

// Reverse mode against finite differences, forward mode against reverse mode, second order, all
// for float64 inputs (others are left alone); then a batch against its examples.
inline void check_derivatives(const Function& f, const std::vector<Tensor>& in,
                              double tolerance = 1e-5) {
  const Tensor w = random_tensor(f(in).shape(), 7);
  const auto at = [&](std::size_t i, const Tensor& x) {
    std::vector<Tensor> args = in;
    args[i] = x;
    return args;
  };
  const auto dot = [](const Tensor& a, const Tensor& b) {
    return reduce_sum(a * b).item<double>();
  };
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i].dtype() != float64) continue;
    SCOPED_TRACE("input " + std::to_string(i));
    const Tensor g = gradient_of(f, in, i, w);
    EXPECT_EQ(g.shape(), in[i].shape());
    EXPECT_TRUE(
        near(g, finite_differences([&](const Tensor& x) { return dot(f(at(i, x)), w); }, in[i]),
             tolerance));

    const Tensor v = random_tensor(in[i].shape(), 11);
    {
      ForwardAccumulator forward(in[i], v);
      const Tensor y = f(in);
      const Tensor dy = forward.jvp(y, Unconnected::zero);
      EXPECT_TRUE(near(Values{dot(dy, w)}, Values{dot(g, v)})) << "forward mode";
    }
    const auto slope = [&](const std::vector<Tensor>& args) {
      return reduce_sum(gradient_of(f, args, i, w) * v);
    };
    for (std::size_t j = 0; j < in.size(); ++j) {
      if (in[j].dtype() != float64) continue;
      const auto args_at = [&](const Tensor& x) {
        std::vector<Tensor> args = in;
        args[j] = x;
        return args;
      };
      EXPECT_TRUE(
          near(gradient_of(slope, in, j),
               finite_differences([&](const Tensor& x) { return slope(args_at(x)).item<double>(); },
                                  in[j]),
               tolerance))
          << "second order, with input " << j;
    }
  }
}

// f on a batch of two examples of input `which` (the second reversed) is f on each of them.
inline void check_batching(const Function& f, const std::vector<Tensor>& in, std::size_t which) {
  Values first = values_of(in[which]), second(first.rbegin(), first.rend());
  const Tensor other = cast(Tensor::from(second, in[which].shape()), in[which].dtype());
  std::vector<Tensor> args = in;
  args[which] = make_batched(concat({expand_dims(in[which], 0), expand_dims(other, 0)}, 0), 1);
  const Tensor y = unbatch(f(args), 1, 2);
  args[which] = other;
  Values want = values_of(f(in)), more = values_of(f(args));
  want.insert(want.end(), more.begin(), more.end());
  EXPECT_TRUE(near(y, want)) << "batched";
}

}  // namespace gradus
