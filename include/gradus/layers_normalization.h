// Normalisation: features with mean 0 and variance 1, by the statistics of a batch, of an example,
// or of data seen before.
#pragma once
#include <tuple>
#include <vector>

#include "gradus/in.h"
#include "gradus/variable.h"

namespace gradus::keras {

struct BatchNormalizationOptions {
  int axis = -1;  // of the features; the statistics are over all others
  double momentum = 0.99, epsilon = 1e-3;
};

namespace forms {

// With the statistics of x, where the mask, if there is one, is true. The moving ones follow:
// moving * momentum + statistic * (1 - momentum). Halves are computed in float32, and the result is
// float32 then. gamma and beta may be undefined.
Tensor batch_normalization_in_training(In x, const Tensor& gamma, const Tensor& beta,
                                       const Variable& moving_mean, const Variable& moving_variance,
                                       const BatchNormalizationOptions& options,
                                       const Tensor& mask = {});
// With the moving statistics.
Tensor batch_normalization(In x, const Tensor& gamma, const Tensor& beta, In moving_mean,
                           In moving_variance, const BatchNormalizationOptions& options);

// Each example over some axes. gamma and beta, which may be undefined, have these axes in the order
// in which they are given. With `rms` x is only divided, by its deviation: Keras's rms_scaling.
struct LayerNormalizationOptions {
  Shape axes = {-1};
  double epsilon = 1e-3;
  bool rms = false;
};
Tensor layer_normalization(In x, const Tensor& gamma, const Tensor& beta,
                           const LayerNormalizationOptions& options = {});

// (x - mean) / sqrt(variance) in the dtype of the mean, or with `invert` back.
Tensor normalization(In x, In mean, In variance, bool invert = false);
// x * scale + offset in the dtype of x; integers become float32.
Tensor rescaling(In x, In scale, In offset);

}  // namespace forms

struct BatchNormalization {
  Variable gamma, beta, moving_mean, moving_variance;
  BatchNormalizationOptions options;
  explicit BatchNormalization(std::int64_t channels, BatchNormalizationOptions options = {});
  Tensor operator()(In x, bool training) const;
  std::vector<Variable> variables() const { return {gamma, beta}; }  // what is trained
  auto gradus_parts() { return std::tie(gamma, beta, moving_mean, moving_variance, options); }
};

// Over the last axis.
struct LayerNormalization {
  Variable gamma, beta;
  double epsilon;
  explicit LayerNormalization(std::int64_t width, double epsilon = 1e-3);
  Tensor operator()(In x) const;
  std::vector<Variable> variables() const { return {gamma, beta}; }
  auto gradus_parts() { return std::tie(gamma, beta, epsilon); }
};

// By given statistics, which broadcast against x, or by those of data, for each feature.
struct Normalization {
  Tensor mean, variance;
  bool invert;
  Normalization(const Tensor& mean, const Tensor& variance, bool invert = false)
      : mean(mean), variance(variance), invert(invert) {}
  static Normalization adapted_to(In data, int axis = -1);
  Tensor operator()(In x) const { return forms::normalization(x, mean, variance, invert); }
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tie(mean, variance, invert); }
};

struct Rescaling {
  double scale, offset;
  explicit Rescaling(double scale, double offset = 0) : scale(scale), offset(offset) {}
  Tensor operator()(In x) const { return forms::rescaling(x, scale, offset); }
  std::vector<Variable> variables() const { return {}; }
  auto gradus_parts() { return std::tie(scale, offset); }
};

}  // namespace gradus::keras
