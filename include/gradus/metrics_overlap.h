// F-scores and intersections over unions.
#pragma once
#include <optional>

#include "gradus/metric.h"

namespace gradus::keras::metrics {

// The mean of precision and recall, in which recall counts beta times as much. Targets and
// predictions are [batch, classes]; without a threshold, the highest prediction is the positive
// one. `average`: "" (each class apart), "micro" (all counted together), "macro", "weighted".
struct FBetaSettings {
  std::string average = "";
  double beta = 1;
  std::optional<double> threshold = {};
};
class FBetaScore : public Comparison {
 public:
  explicit FBetaScore(FBetaSettings settings = {}, MetricOptions options = {},
                      const char* name = "fbeta_score");
  void update_state(In y_true, In y_pred, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  FBetaSettings settings_;
};
class F1Score : public FBetaScore {
 public:
  explicit F1Score(std::string average = "", std::optional<double> threshold = {},
                   MetricOptions options = {})
      : FBetaScore({std::move(average), 1, threshold}, std::move(options), "f1_score") {}
};

// Intersection over union of predicted and true classes, averaged over some classes that occur.
// Targets and predictions that are not sparse have an axis of classes, of which the highest counts.
struct IoUSettings {
  std::optional<std::int64_t> ignore_class = {};
  bool sparse_y_true = true, sparse_y_pred = true;
  int axis = -1;
};
class IoU : public Comparison {
 public:
  IoU(std::int64_t num_classes, std::vector<std::int64_t> target_class_ids,
      IoUSettings settings = {}, MetricOptions options = {.dtype = int64},
      const char* name = "io_u");
  void update_state(In y_true, In y_pred, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  std::int64_t num_classes_;
  std::vector<std::int64_t> target_class_ids_;
  IoUSettings settings_;
};
class MeanIoU : public IoU {  // over all classes
 public:
  explicit MeanIoU(std::int64_t num_classes, IoUSettings settings = {},
                   MetricOptions options = {.dtype = int64}, const char* name = "mean_io_u");
};
class BinaryIoU : public IoU {  // of two classes that a threshold separates
 public:
  explicit BinaryIoU(std::vector<std::int64_t> target_class_ids = {0, 1}, double threshold = 0.5,
                     MetricOptions options = {.dtype = int64})
      : IoU(2, std::move(target_class_ids), {}, std::move(options), "binary_io_u"),
        threshold_(threshold) {}
  void update_state(In y_true, In y_pred, const Tensor& sample_weight = {}) override;

 private:
  double threshold_;
};
class OneHotIoU : public IoU {
 public:
  OneHotIoU(std::int64_t num_classes, std::vector<std::int64_t> target_class_ids,
            std::optional<std::int64_t> ignore_class = {}, bool sparse_y_pred = false,
            int axis = -1, MetricOptions options = {.dtype = int64})
      : IoU(num_classes, std::move(target_class_ids), {ignore_class, false, sparse_y_pred, axis},
            std::move(options), "one_hot_io_u") {}
};
class OneHotMeanIoU : public MeanIoU {
 public:
  explicit OneHotMeanIoU(std::int64_t num_classes, std::optional<std::int64_t> ignore_class = {},
                         bool sparse_y_pred = false, int axis = -1,
                         MetricOptions options = {.dtype = int64})
      : MeanIoU(num_classes, {ignore_class, false, sparse_y_pred, axis}, std::move(options),
                "one_hot_mean_io_u") {}
};

}  // namespace gradus::keras::metrics
