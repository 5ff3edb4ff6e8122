// The base of metrics, and those that are a sum or a mean. All metrics: gradus/metrics.h.
//
// A metric keeps its state in variables: it can be updated eagerly and inside gd::function. Names,
// order and shapes of the variables are Keras's.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gradus/in.h"
#include "gradus/variable.h"

namespace gradus::keras::metrics {

// What all metrics take besides their own settings.
struct MetricOptions {
  std::string name = {};                 // without one, Keras's name for the class
  DType dtype = float32;                 // of the state, and of what is computed
  std::vector<Variable> variables = {};  // a state that is there already; without it, zeros
};

class Metric {
 public:
  virtual ~Metric() = default;

  virtual Tensor result() const = 0;  // the value now
  void reset_state() const;           // zeros, as at the start of an epoch

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  // Those whose sizes follow from the data are made by the first update.
  const std::vector<Variable>& variables() const { return variables_; }

 protected:
  Metric(MetricOptions options, const char* name);

  // Makes the next variable, unless it was given.
  void declare(const char* name, const Shape& shape = {});
  Tensor state(std::size_t i) const;
  void add_to_state(std::size_t i, In delta) const;  // of exactly the variable's shape

  // A state that is a mean: total and count, variables 0 and 1.
  void declare_mean();
  void add_to_mean(In values, const Tensor& sample_weight) const;
  Tensor mean() const;  // 0 before the first value

 private:
  const Variable& variable(std::size_t i) const;

  std::string name_;
  DType dtype_;
  std::vector<Variable> variables_;
  std::size_t declared_ = 0;
};

// Of values. There is a weight for each sample, or for each of its parts.
class Sum : public Metric {
 public:
  explicit Sum(MetricOptions options = {});
  void update_state(In values, const Tensor& sample_weight = {}) const;
  Tensor result() const override { return state(0); }
};

class Mean : public Metric {
 public:
  explicit Mean(MetricOptions options = {});
  void update_state(In values, const Tensor& sample_weight = {}) const {
    add_to_mean(values, sample_weight);
  }
  Tensor result() const override { return mean(); }
};

// A metric of targets and predictions.
class Comparison : public Metric {
 public:
  virtual void update_state(In y_true, In y_pred, const Tensor& sample_weight = {}) = 0;

 protected:
  using Metric::Metric;
};

// The mean of a function that gives one value per sample, or one for each of its parts.
class MeanMetricWrapper : public Comparison {
 public:
  using Function = std::function<Tensor(const Tensor& y_true, const Tensor& y_pred)>;
  explicit MeanMetricWrapper(Function fn, MetricOptions options = {},
                             const char* name = "mean_metric_wrapper");
  void update_state(In y_true, In y_pred, const Tensor& sample_weight = {}) override;
  Tensor result() const override { return mean(); }

 private:
  Function function_;
};

}  // namespace gradus::keras::metrics
