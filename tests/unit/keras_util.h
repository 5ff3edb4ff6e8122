// Layers and losses beside what Keras gives for them (keras_numbers.h).
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gradus/gradus.h"
#include "keras_numbers.h"

namespace gradus {

// As tools/make_layer_numbers.py makes it.
inline Tensor ramp(const Shape& shape, double phase = 0) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.num_elements(); ++i)
    values.push_back(static_cast<float>(std::sin(0.7 * static_cast<double>(i) + phase)));
  return Tensor::from(values, shape);
}

// Weights that are ramps of phases 1, 2, ...
inline void give_ramps(const std::vector<Variable>& weights) {
  double phase = 1;
  for (const Variable& v : weights) v.assign(ramp(v.shape(), phase++));
}

inline void expect_near(const std::string& name, const Tensor& got, const std::vector<double>& want,
                        double tolerance = 2e-5) {
  ASSERT_EQ(static_cast<std::size_t>(got.num_elements()), want.size()) << name;
  const std::vector<float> values = cast(got, float32).to_vector<float>();
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(values[i], want[i], tolerance * (1 + std::abs(want[i]))) << name << " at " << i;
}

inline const std::vector<double>& keras_says(const std::string& name) {
  return kKerasNumbers.at(name);
}

// y = f(x) and the gradient in x are Keras's, eager and compiled.
template <class F>
void expect_as_keras(const std::string& name, const Tensor& x, const F& f) {
  const auto with_gradient = [&](const Tensor& in) {
    GradientTape tape;
    tape.watch(in);
    const Tensor y = f(in);
    const Tensor gradient = tape.gradient(reduce_sum(y * ramp(y.shape(), 9)), in).tensor();
    return std::pair(y, gradient);
  };
  const auto compiled = function(with_gradient);
  for (const auto& [y, gradient] : {with_gradient(x), compiled(x), compiled(x)}) {
    expect_near(name, y, keras_says(name));
    expect_near(name + "/dx", gradient, keras_says(name + "/dx"));
  }
}

}  // namespace gradus
