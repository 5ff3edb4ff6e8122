// Metrics that count true and false positives and negatives at thresholds.
//
//   gd::keras::metrics::AUC auc({.curve = "PR"});
//   gd::keras::metrics::Precision precision({.thresholds = {0.3, 0.5}, .class_id = 2});
#pragma once
#include <optional>
#include <span>

#include "gradus/metric.h"

namespace gradus::keras::metrics {

enum class Count : std::uint8_t {
  true_positives,
  false_positives,
  true_negatives,
  false_negatives
};

struct ConfusionSettings {
  std::vector<double> thresholds = {0.5};
  // If so, thresholds lie evenly from 0 to 1 (the outermost perhaps a little outside), and so do
  // predictions, as if they were clipped: they are sorted into buckets, not compared with each.
  bool even = false;
  bool multi_label = false;  // counts for each label apart
  // Only the k highest predictions of a sample are positive; only one class counts.
  std::optional<std::int64_t> top_k = {}, class_id = {};
};

// The wanted counts of a batch, which are sums of weights: of shape (thresholds), or
// (thresholds, labels) with multi_label. A prediction above a threshold is positive.
std::vector<Tensor> confusion_counts(In y_true, In y_pred, const Tensor& sample_weight,
                                     const ConfusionSettings& settings,
                                     std::span<const Count> wanted, DType dtype = float32);

// Metrics whose state is counts.
class CountingMetric : public Comparison {
 public:
  void update_state(In y_true, In y_pred, const Tensor& sample_weight = {}) override;
  const std::vector<double>& thresholds() const { return settings_.thresholds; }

 protected:
  CountingMetric(std::vector<Count> counts, ConfusionSettings settings, MetricOptions options,
                 const char* name)
      : Comparison(std::move(options), name),
        counts_(std::move(counts)),
        settings_(std::move(settings)) {}
  void declare_counts(std::optional<std::int64_t> labels = {});
  const ConfusionSettings& settings() const { return settings_; }

 private:
  std::vector<Count> counts_;
  ConfusionSettings settings_;
};

// One of the four counts, at 0.5 unless thresholds in [0, 1] are given. Of one threshold the result
// is a scalar, here and below.
class ConfusionCount : public CountingMetric {
 public:
  Tensor result() const override;

 protected:
  ConfusionCount(Count count, std::vector<double> thresholds, MetricOptions options);
};
class TruePositives : public ConfusionCount {
 public:
  explicit TruePositives(std::vector<double> thresholds = {}, MetricOptions options = {})
      : ConfusionCount(Count::true_positives, std::move(thresholds), std::move(options)) {}
};
class FalsePositives : public ConfusionCount {
 public:
  explicit FalsePositives(std::vector<double> thresholds = {}, MetricOptions options = {})
      : ConfusionCount(Count::false_positives, std::move(thresholds), std::move(options)) {}
};
class TrueNegatives : public ConfusionCount {
 public:
  explicit TrueNegatives(std::vector<double> thresholds = {}, MetricOptions options = {})
      : ConfusionCount(Count::true_negatives, std::move(thresholds), std::move(options)) {}
};
class FalseNegatives : public ConfusionCount {
 public:
  explicit FalseNegatives(std::vector<double> thresholds = {}, MetricOptions options = {})
      : ConfusionCount(Count::false_negatives, std::move(thresholds), std::move(options)) {}
};

// True positives divided by those and another count. With top_k and no thresholds, the k highest
// predictions are positive whatever their values.
struct RatioSettings {
  std::vector<double> thresholds = {};
  std::optional<std::int64_t> top_k = {}, class_id = {};
};
class PositiveRatio : public CountingMetric {
 public:
  Tensor result() const override;

 protected:
  PositiveRatio(Count other, RatioSettings settings, MetricOptions options, const char* name);
};
class Precision : public PositiveRatio {
 public:
  explicit Precision(RatioSettings settings = {}, MetricOptions options = {})
      : PositiveRatio(Count::false_positives, std::move(settings), std::move(options),
                      "precision") {}
};
class Recall : public PositiveRatio {
 public:
  explicit Recall(RatioSettings settings = {}, MetricOptions options = {})
      : PositiveRatio(Count::false_negatives, std::move(settings), std::move(options), "recall") {}
};

// All four counts, and what follows from them.
class FourCounts : public CountingMetric {
 protected:
  enum class Rate : std::uint8_t { recall, precision, specificity, false_positive_rate };
  FourCounts(ConfusionSettings settings, MetricOptions options, const char* name);
  Tensor rate(Rate which) const;
};

// The best of one rate where another has at least some value in [0, 1].
class RateAtRate : public FourCounts {
 public:
  Tensor result() const override;

 protected:
  struct Names {
    const char *metric, *argument;
  };
  RateAtRate(Rate wanted, Rate fixed, double value, std::int64_t num_thresholds,
             std::optional<std::int64_t> class_id, MetricOptions options, Names names);

 private:
  Rate wanted_, fixed_;
  double value_;
};
class SensitivityAtSpecificity : public RateAtRate {
 public:
  explicit SensitivityAtSpecificity(double specificity, std::int64_t num_thresholds = 200,
                                    std::optional<std::int64_t> class_id = {},
                                    MetricOptions options = {})
      : RateAtRate(Rate::recall, Rate::specificity, specificity, num_thresholds, class_id,
                   std::move(options), {"sensitivity_at_specificity", "specificity"}) {}
};
class SpecificityAtSensitivity : public RateAtRate {
 public:
  explicit SpecificityAtSensitivity(double sensitivity, std::int64_t num_thresholds = 200,
                                    std::optional<std::int64_t> class_id = {},
                                    MetricOptions options = {})
      : RateAtRate(Rate::specificity, Rate::recall, sensitivity, num_thresholds, class_id,
                   std::move(options), {"specificity_at_sensitivity", "sensitivity"}) {}
};
class PrecisionAtRecall : public RateAtRate {
 public:
  explicit PrecisionAtRecall(double recall, std::int64_t num_thresholds = 200,
                             std::optional<std::int64_t> class_id = {}, MetricOptions options = {})
      : RateAtRate(Rate::precision, Rate::recall, recall, num_thresholds, class_id,
                   std::move(options), {"precision_at_recall", "recall"}) {}
};
class RecallAtPrecision : public RateAtRate {
 public:
  explicit RecallAtPrecision(double precision, std::int64_t num_thresholds = 200,
                             std::optional<std::int64_t> class_id = {}, MetricOptions options = {})
      : RateAtRate(Rate::recall, Rate::precision, precision, num_thresholds, class_id,
                   std::move(options), {"recall_at_precision", "precision"}) {}
};

// The area under a curve: of recall over false positives ("ROC") or precision over recall ("PR"),
// summed by "interpolation", or by the lower ("minoring") or higher ("majoring") of two points.
struct AUCSettings {
  std::int64_t num_thresholds = 200;
  std::string curve = "ROC", summation_method = "interpolation";
  std::vector<double> thresholds = {};  // in [0, 1]; two a little outside are added
  bool multi_label = false;             // the mean of the areas of the labels
  std::int64_t num_labels = 0;          // 0: as many as the first batch has
  std::vector<double> label_weights = {};
  bool from_logits = false;
  double epsilon = 1e-7;  // how little outside
};
class AUC : public FourCounts {
 public:
  explicit AUC(AUCSettings settings = {}, MetricOptions options = {});
  void update_state(In y_true, In y_pred, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  Tensor interpolated_pr() const;
  AUCSettings settings_;
};

}  // namespace gradus::keras::metrics
