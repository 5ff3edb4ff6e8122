#include "gradus/metrics_confusion.h"

#include <cmath>
#include <sstream>

#include "gradus/error.h"
#include "gradus/ops.h"
#include "nn/thresholds.h"

namespace gradus::keras::metrics {

void check_thresholds(const std::vector<double>& thresholds) {
  std::ostringstream bad;
  for (const double t : thresholds) {
    if (!(t >= 0 && t <= 1)) bad << (bad.str().empty() ? "" : ", ") << t;
  }
  if (!bad.str().empty())
    throw InvalidArgumentError("Threshold values must be in [0, 1]. Received: [" + bad.str() + "]");
}

std::vector<double> even_thresholds(std::int64_t count, double epsilon) {
  if (count == 1) return {0.5};
  std::vector<double> thresholds = {-epsilon};
  for (std::int64_t i = 1; i < count - 1; ++i)
    thresholds.push_back(static_cast<double>(i) / static_cast<double>(count - 1));
  thresholds.push_back(1 + epsilon);
  return thresholds;
}

bool are_even(const std::vector<double>& thresholds) {
  if (thresholds.size() < 3) return false;
  const double last = static_cast<double>(thresholds.size() - 1);
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    if (std::abs(thresholds[i] - static_cast<double>(i) / last) > 1e-6) return false;
  }
  return true;
}

namespace {

const char* name_of(Count count) {
  switch (count) {
    case Count::true_positives:
      return "true_positives";
    case Count::false_positives:
      return "false_positives";
    case Count::true_negatives:
      return "true_negatives";
    case Count::false_negatives:
      return "false_negatives";
  }
  return "";
}

Tensor alone_as_scalar(const Tensor& of_thresholds) {
  return of_thresholds.shape()[0] == 1 ? reshape(of_thresholds, {}) : of_thresholds;
}

ConfusionSettings at(std::vector<double> thresholds, double otherwise) {
  if (thresholds.empty()) return {.thresholds = {otherwise}};
  check_thresholds(thresholds);
  const bool even = are_even(thresholds);
  return {.thresholds = std::move(thresholds), .even = even};
}

ConfusionSettings for_ratio(RatioSettings given) {
  ConfusionSettings settings = at(std::move(given.thresholds), given.top_k ? kLowest : 0.5);
  settings.top_k = given.top_k;
  settings.class_id = given.class_id;
  return settings;
}

}  // namespace

void CountingMetric::declare_counts(std::optional<std::int64_t> labels) {
  Shape shape = {static_cast<std::int64_t>(thresholds().size())};
  if (labels) shape.push_back(*labels);
  if (counts_.size() == 1) return declare("accumulator", shape);
  for (const Count count : counts_) declare(name_of(count), shape);
}

void CountingMetric::update_state(In y_true, In y_pred, const Tensor& sample_weight) {
  const std::vector<Tensor> found =
      confusion_counts(y_true, y_pred, sample_weight, settings_, counts_, dtype());
  for (std::size_t i = 0; i < found.size(); ++i) add_to_state(i, found[i]);
}

ConfusionCount::ConfusionCount(Count count, std::vector<double> thresholds, MetricOptions options)
    : CountingMetric({count}, at(std::move(thresholds), 0.5), std::move(options), name_of(count)) {
  declare_counts();
}

Tensor ConfusionCount::result() const { return alone_as_scalar(state(0)); }

PositiveRatio::PositiveRatio(Count other, RatioSettings settings, MetricOptions options,
                             const char* name)
    : CountingMetric({Count::true_positives, other}, for_ratio(std::move(settings)),
                     std::move(options), name) {
  declare_counts();
}

Tensor PositiveRatio::result() const {
  const Tensor true_positives = state(0);
  return alone_as_scalar(div_no_nan(true_positives, true_positives + state(1)));
}

FourCounts::FourCounts(ConfusionSettings settings, MetricOptions options, const char* name)
    : CountingMetric({Count::true_positives, Count::false_positives, Count::true_negatives,
                      Count::false_negatives},
                     std::move(settings), std::move(options), name) {}

Tensor FourCounts::rate(Rate which) const {
  const auto share = [this](Count count, Count other) {
    const Tensor x = state(static_cast<std::size_t>(count));
    return div_no_nan(x, x + state(static_cast<std::size_t>(other)));
  };
  switch (which) {
    case Rate::recall:
      return share(Count::true_positives, Count::false_negatives);
    case Rate::precision:
      return share(Count::true_positives, Count::false_positives);
    case Rate::specificity:
      return share(Count::true_negatives, Count::false_positives);
    case Rate::false_positive_rate:
      return share(Count::false_positives, Count::true_negatives);
  }
  return {};
}

namespace {

ConfusionSettings for_rate(std::int64_t num_thresholds, std::optional<std::int64_t> class_id) {
  if (num_thresholds <= 0)
    throw InvalidArgumentError(
        "Argument `num_thresholds` must be an integer > 0. Received: num_thresholds=" +
        std::to_string(num_thresholds));
  return {.thresholds = even_thresholds(num_thresholds),
          .even = num_thresholds > 1,
          .class_id = class_id};
}

}  // namespace

RateAtRate::RateAtRate(Rate wanted, Rate fixed, double value, std::int64_t num_thresholds,
                       std::optional<std::int64_t> class_id, MetricOptions options, Names names)
    : FourCounts(for_rate(num_thresholds, class_id), std::move(options), names.metric),
      wanted_(wanted),
      fixed_(fixed),
      value_(value) {
  if (!(value >= 0 && value <= 1)) {
    std::ostringstream message;
    message << "Argument `" << names.argument
            << "` must be in the range [0, 1]. Received: " << names.argument << "=" << value;
    throw InvalidArgumentError(message.str());
  }
  declare_counts();
}

Tensor RateAtRate::result() const {
  return reduce_max(where(rate(fixed_) >= value_, rate(wanted_), cast(0, dtype())));
}

}  // namespace gradus::keras::metrics
