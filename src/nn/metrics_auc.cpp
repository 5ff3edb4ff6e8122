// The area under a curve over thresholds.
#include <algorithm>
#include <cctype>

#include "gradus/error.h"
#include "gradus/metrics_confusion.h"
#include "gradus/ops.h"
#include "nn/samples.h"
#include "nn/thresholds.h"

namespace gradus::keras::metrics {
namespace {

ConfusionSettings for_auc(const AUCSettings& given) {
  if (given.thresholds.empty()) {
    if (given.num_thresholds <= 1)
      throw InvalidArgumentError(
          "Argument `num_thresholds` must be an integer > 1. Received: num_thresholds=" +
          std::to_string(given.num_thresholds));
    return {.thresholds = even_thresholds(given.num_thresholds, given.epsilon),
            .even = true,
            .multi_label = given.multi_label};
  }
  check_thresholds(given.thresholds);
  std::vector<double> thresholds = given.thresholds;
  std::sort(thresholds.begin(), thresholds.end());
  thresholds.insert(thresholds.begin(), 0);
  thresholds.push_back(1);
  const bool even = are_even(thresholds);
  thresholds.front() = -given.epsilon;
  thresholds.back() = 1 + given.epsilon;
  return {.thresholds = std::move(thresholds), .even = even, .multi_label = given.multi_label};
}

std::string in_case(std::string text, int (*change)(int)) {
  for (char& c : text) c = static_cast<char>(change(static_cast<unsigned char>(c)));
  return text;
}

// Along the first axis: all but the last, all but the first.
Tensor head(In x) { return index(x, {Slice{.end = -1}}); }
Tensor tail(In x) { return index(x, {Slice{.begin = 1}}); }

}  // namespace

AUC::AUC(AUCSettings settings, MetricOptions options)
    : FourCounts(for_auc(settings), std::move(options), "auc"), settings_(std::move(settings)) {
  const std::string curve = in_case(settings_.curve, std::toupper);
  if (curve != "ROC" && curve != "PR")
    throw InvalidArgumentError("Invalid AUC curve value: \"" + settings_.curve +
                               "\". Expected values are [\"PR\", \"ROC\"]");
  const std::string method = in_case(settings_.summation_method, std::tolower);
  if (method != "interpolation" && method != "minoring" && method != "majoring")
    throw InvalidArgumentError("Invalid AUC summation method value: \"" +
                               settings_.summation_method +
                               "\". Expected values are [\"interpolation\", \"majoring\", "
                               "\"minoring\"]");
  settings_.curve = curve;
  settings_.summation_method = method;
  if (!settings_.multi_label)
    declare_counts();
  else if (settings_.num_labels > 0)
    declare_counts(settings_.num_labels);
}

void AUC::update_state(In y_true, In y_pred, const Tensor& sample_weight) {
  if (settings_.multi_label && settings_.num_labels == 0 && y_pred->rank() > 0) {
    settings_.num_labels = y_pred->shape().back();
    declare_counts(settings_.num_labels);
  }
  if (settings_.from_logits)
    FourCounts::update_state(y_true, sigmoid(as_dtype(y_pred, dtype())), sample_weight);
  else
    FourCounts::update_state(y_true, y_pred, sample_weight);
}

// Between two thresholds, true positives are taken to grow evenly with the predicted ones, and
// precision follows from that.
Tensor AUC::interpolated_pr() const {
  const Tensor tp = state(0), predicted = tp + state(1), fn = state(3);
  const Tensor d_tp = head(tp) - tail(tp), d_predicted = head(predicted) - tail(predicted);
  const Tensor slope = div_no_nan(d_tp, maximum(d_predicted, 0));
  const Tensor intercept = tail(tp) - slope * tail(predicted);
  const Tensor both = logical_and(head(predicted) > 0, tail(predicted) > 0);
  const Tensor quotient =
      where(both, div_no_nan(head(predicted), maximum(tail(predicted), 0)), cast(1, dtype()));
  const Tensor positives = maximum(tail(tp) + tail(fn), 0);
  return reduce_sum(div_no_nan(slope * (d_tp + intercept * log(quotient)), positives), {0});
}

Tensor AUC::result() const {
  Tensor areas;
  if (settings_.curve == "PR" && settings_.summation_method == "interpolation") {
    areas = interpolated_pr();
  } else {
    const bool roc = settings_.curve == "ROC";
    const Tensor x = rate(roc ? Rate::false_positive_rate : Rate::recall);
    const Tensor y = rate(roc ? Rate::recall : Rate::precision);
    const Tensor heights = settings_.summation_method == "interpolation" ? (head(y) + tail(y)) / 2
                           : settings_.summation_method == "minoring"    ? minimum(head(y), tail(y))
                                                                      : maximum(head(y), tail(y));
    areas = reduce_sum((head(x) - tail(x)) * heights, {0});
  }
  if (!settings_.multi_label) return areas;
  if (settings_.label_weights.empty()) return reduce_mean(areas);
  const Tensor weights = cast(Tensor::from(settings_.label_weights), dtype());
  return div_no_nan(reduce_sum(areas * weights), reduce_sum(weights));
}

}  // namespace gradus::keras::metrics
