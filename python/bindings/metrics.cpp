// Metrics of the engine behind those of gradus.keras.metrics. Python has the names, the variables
// and the configs; what a batch adds to the variables, and what they say, is computed here.
#include "gradus/metrics.h"

#include <memory>

#include "function.h"
#include "gradus/makers.h"

namespace gradus::python {
namespace {

using namespace keras::metrics;

constexpr const char* kMetric = "gradus.metric";

PyObject* in_capsule(std::unique_ptr<Metric> metric) {
  PyObject* capsule = PyCapsule_New(metric.get(), kMetric, [](PyObject* c) {
    delete static_cast<Metric*>(PyCapsule_GetPointer(c, kMetric));
  });
  if (!capsule) throw PythonError();
  metric.release();
  return capsule;
}

Metric& metric_of(PyObject* capsule) {
  auto* metric = static_cast<Metric*>(PyCapsule_GetPointer(capsule, kMetric));
  if (!metric) throw PythonError();
  return *metric;
}

template <class M>
M& metric_as(PyObject* capsule) {
  auto* metric = dynamic_cast<M*>(&metric_of(capsule));
  if (!metric) raise(PyExc_TypeError, "the metric takes other arguments");
  return *metric;
}

// The first two arguments of all makers: dtype and variables.
MetricOptions options(const Arguments& a) {
  MetricOptions made{.dtype = to_dtype(a[0])};
  const Ref list = Ref::own(PySequence_Fast(a[1], "expected a list"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i)
    made.variables.push_back(variable_of(PySequence_Fast_GET_ITEM(list.get(), i)));
  return made;
}

std::vector<double> reals(PyObject* sequence) {
  std::vector<double> numbers;
  if (sequence == Py_None) return numbers;
  const Ref list = Ref::own(PySequence_Fast(sequence, "expected a list of numbers"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i)
    numbers.push_back(to_double(PySequence_Fast_GET_ITEM(list.get(), i)));
  return numbers;
}

std::string text_or_empty(const Arguments& a, int i) { return a.is_none(i) ? "" : a.string(i); }

template <class M>
PyObject* plain(const Arguments& a) {
  return in_capsule(std::make_unique<M>(options(a)));
}
template <class M>
PyObject* at_thresholds(const Arguments& a) {
  return in_capsule(std::make_unique<M>(reals(a[2]), options(a)));
}
template <class M>
PyObject* ratio(const Arguments& a) {
  return in_capsule(std::make_unique<M>(
      RatioSettings{reals(a[2]), a.integer_or_none(3), a.integer_or_none(4)}, options(a)));
}
template <class M>
PyObject* rate_at_rate(const Arguments& a) {
  return in_capsule(std::make_unique<M>(a.real(2), a.integer(3), a.integer_or_none(4), options(a)));
}

template <class M>
PyObject* take(const Arguments& a) {
  auto& metric = metric_as<M>(a[0]);
  const Tensor values = a.tensor(1), weight = a.is_none(2) ? Tensor() : a.tensor(2);
  on_large(values, [&] { metric.update_state(values, weight); });
  Py_RETURN_NONE;
}

constexpr const char* kValues = "metric, values, sample_weight=None";
constexpr const char* kPlain = "dtype, variables";
constexpr const char* kThresholds = "dtype, variables, thresholds";
constexpr const char* kRatio = "dtype, variables, thresholds, top_k, class_id";
constexpr const char* kRate = "dtype, variables, value, num_thresholds, class_id";

Shape axes_of(PyObject* axis) {
  const std::vector<std::int64_t> axes = to_ints(axis);
  return Shape(std::span(axes));
}

// The functions of gradus.keras.metrics by their names, as arguments from 2 on give them: name,
// dtype of values that are 0 or 1, Keras's small number, and up to two settings.
MeanMetricWrapper::Function function_of(const Arguments& a) {
  const std::string name = a.string(2);
  const DType dtype = to_dtype(a[3]);
  if (name == "accuracy") return [dtype](In y, In p) { return accuracy(y, p, dtype); };
  if (name == "binary_accuracy")
    return [dtype, threshold = a.real(5)](In y, In p) {
      return binary_accuracy(y, p, threshold, dtype);
    };
  if (name == "categorical_accuracy")
    return [dtype](In y, In p) { return categorical_accuracy(y, p, dtype); };
  if (name == "sparse_categorical_accuracy")
    return [dtype](In y, In p) { return sparse_categorical_accuracy(y, p, dtype); };
  if (name == "top_k_categorical_accuracy")
    return [dtype, k = a.integer(5)](In y, In p) {
      return top_k_categorical_accuracy(y, p, k, dtype);
    };
  if (name == "sparse_top_k_categorical_accuracy")
    return [dtype, k = a.integer(5), from_sorted_ids = a.boolean(6)](In y, In p) {
      return sparse_top_k_categorical_accuracy(y, p, k, from_sorted_ids, dtype);
    };
  if (name == "pearson_correlation")
    return [axes = axes_of(a[5])](In y, In p) { return pearson_correlation(y, p, axes); };
  if (name == "concordance_correlation")
    return [axes = axes_of(a[5]), epsilon = a.real(4)](In y, In p) {
      return concordance_correlation(y, p, axes, epsilon);
    };
  if (name == "cosine_similarity")
    return
        [dtype, axes = axes_of(a[5])](In y, In p) { return cosine_similarity(y, p, axes, dtype); };
  if (auto loss = loss_function(name, dtype)) return loss;
  raise(PyExc_ValueError, "unknown function %R", a[2]);
}

const FunctionEntry entries[] = {
    {"_metric_values", "y_true, y_pred, function, dtype, epsilon, setting=None, second=None",
     "What a function of metrics gives for each sample.",
     [](const Arguments& a) {
       const auto function = function_of(a);
       const Tensor y_pred = a.tensor(1), y_true = a.tensor(0);
       return wrap(on_large(y_pred, [&] { return function(y_true, y_pred); }));
     },
     "epsilon: some functions have none"},
    {"_metric_mean_of",
     "dtype, variables, function, value_dtype, epsilon, setting=None, second=None",
     "The mean of such a function.",
     [](const Arguments& a) {
       return in_capsule(std::make_unique<MeanMetricWrapper>(function_of(a), options(a)));
     },
     "epsilon: some functions have none"},
    {"_metric_mean", kPlain, "The mean of values.", plain<Mean>},
    {"_metric_sum", kPlain, "The sum of values.", plain<Sum>},
    {"_metric_root_mean_squared_error", kPlain, "The root of the mean of squared errors.",
     plain<RootMeanSquaredError>},
    {"_metric_r2_score", "dtype, variables, class_aggregation, num_regressors",
     "The share of the variance that a regression explains.",
     [](const Arguments& a) {
       return in_capsule(std::make_unique<R2Score>(
           R2ScoreSettings{text_or_empty(a, 2), a.integer(3)}, options(a)));
     }},
    {"_metric_true_positives", kThresholds, "A count.", at_thresholds<TruePositives>},
    {"_metric_false_positives", kThresholds, "A count.", at_thresholds<FalsePositives>},
    {"_metric_true_negatives", kThresholds, "A count.", at_thresholds<TrueNegatives>},
    {"_metric_false_negatives", kThresholds, "A count.", at_thresholds<FalseNegatives>},
    {"_metric_precision", kRatio, "The share of true ones among predicted positives.",
     ratio<Precision>},
    {"_metric_recall", kRatio, "The share of predicted ones among true positives.", ratio<Recall>},
    {"_metric_sensitivity_at_specificity", kRate, "The best rate where another has a value.",
     rate_at_rate<SensitivityAtSpecificity>},
    {"_metric_specificity_at_sensitivity", kRate, "The best rate where another has a value.",
     rate_at_rate<SpecificityAtSensitivity>},
    {"_metric_precision_at_recall", kRate, "The best rate where another has a value.",
     rate_at_rate<PrecisionAtRecall>},
    {"_metric_recall_at_precision", kRate, "The best rate where another has a value.",
     rate_at_rate<RecallAtPrecision>},
    {"_metric_auc",
     "dtype, variables, num_thresholds, curve, summation_method, thresholds, multi_label, "
     "num_labels, label_weights, from_logits, epsilon",
     "The area under a curve.",
     [](const Arguments& a) {
       return in_capsule(
           std::make_unique<AUC>(AUCSettings{.num_thresholds = a.integer(2),
                                             .curve = a.string(3),
                                             .summation_method = a.string(4),
                                             .thresholds = reals(a[5]),
                                             .multi_label = a.boolean(6),
                                             .num_labels = a.integer_or_none(7).value_or(0),
                                             .label_weights = reals(a[8]),
                                             .from_logits = a.boolean(9),
                                             .epsilon = a.real(10)},
                                 options(a)));
     }},
    {"_metric_fbeta_score", "dtype, variables, average, beta, threshold",
     "The mean of precision and recall.",
     [](const Arguments& a) {
       FBetaSettings settings{text_or_empty(a, 2), a.real(3), {}};
       if (!a.is_none(4)) settings.threshold = a.real(4);
       return in_capsule(std::make_unique<FBetaScore>(std::move(settings), options(a)));
     }},
    {"_metric_iou",
     "dtype, variables, num_classes, target_class_ids, ignore_class, sparse_y_true, "
     "sparse_y_pred, axis",
     "Intersection over union.",
     [](const Arguments& a) {
       return in_capsule(std::make_unique<IoU>(
           a.integer(2), a.integers(3),
           IoUSettings{a.integer_or_none(4), a.boolean(5), a.boolean(6), a.small(7)}, options(a)));
     }},
    {"_metric_binary_iou", "dtype, variables, target_class_ids, threshold",
     "Intersection over union of two classes.",
     [](const Arguments& a) {
       return in_capsule(std::make_unique<BinaryIoU>(a.integers(2), a.real(3), options(a)));
     }},
    {"_metric_update", "metric, y_true, y_pred, sample_weight=None",
     "Takes in targets and predictions.",
     [](const Arguments& a) -> PyObject* {
       auto& metric = metric_as<Comparison>(a[0]);
       const Tensor y_pred = a.tensor(2), y_true = a.tensor(1);
       const Tensor weight = a.is_none(3) ? Tensor() : a.tensor(3);
       on_large(y_pred, [&] { metric.update_state(y_true, y_pred, weight); });
       Py_RETURN_NONE;
     }},
    {"_metric_add_to_mean", kValues, "Takes in values.", take<Mean>},
    {"_metric_add_to_sum", kValues, "Takes in values.", take<Sum>},
    {"_metric_result", "metric", "The value now.",
     [](const Arguments& a) { return wrap(metric_of(a[0]).result()); }},
    {"_set_zero", "variables", "Makes variables zero.",
     [](const Arguments& a) -> PyObject* {
       const Ref list = Ref::own(PySequence_Fast(a[0], "expected a list"));
       for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
         const Variable& v = variable_of(PySequence_Fast_GET_ITEM(list.get(), i));
         v.assign(zeros(v.shape(), v.dtype()));
       }
       Py_RETURN_NONE;
     }},
};

}  // namespace

void add_metric_functions() { add_functions(entries); }

}  // namespace gradus::python
