// Metrics against values of Keras 3.15, which the name of each row asks it for: the result of a
// batch, and of the same batch with weights behind it. Each row also runs compiled.
#include "gradus/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "gradus/gradus.h"

namespace gradus::keras::metrics {
namespace {

using Values = std::vector<double>;

Values values_of(const Tensor& t) { return cast(t, float64).to_vector<double>(); }

void expect_near(const Values& got, const Values& want, const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 2e-6 * (1 + std::abs(want[i]))) << what << " [" << i << "]";
}

struct Batch {
  Tensor y_true, y_pred, sample_weight;
};
Batch binary() {
  return {{0.f, 1.f, 0.f, 1.f, 1.f, 0.f},
          {.1f, .5f, .5f, .9f, .3f, .75f},
          {1.f, 2.f, 0.f, .5f, 3.f, 1.f}};
}
Tensor of_classes() { return {{.6f, .3f, .1f}, {.2f, .5f, .3f}, {.1f, .8f, .1f}, {.4f, .2f, .4f}}; }
Batch sparse() { return {{0, 2, 1, 1}, of_classes(), {1.f, .5f, 2.f, 0.f}}; }
Batch one_hot() {
  return {gradus::one_hot(Tensor{0, 2, 1, 1}, 3), of_classes(), {1.f, .5f, 2.f, 0.f}};
}
Batch ids() {
  return {{0, 2, 1, 1}, {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}}, {1.f, .5f, 2.f, 0.f}};
}
Batch classes() { return {{0, 1, 2, 2, 1, 0}, {0, 2, 2, 1, 1, 0}, {1.f, 2.f, 3.f, 1.f, 1.f, 2.f}}; }
Batch values() {
  return {{{1.f, 2.f}, {3.f, 4.f}, {-1.f, .5f}},
          {{1.5f, 2.f}, {2.f, 4.5f}, {-1.f, -.5f}},
          {1.f, .5f, 2.f}};
}

struct Row {
  const char* keras;
  Batch batch;
  std::function<Comparison*()> make;
  Values first, second;
};

const std::vector<Row>& rows() {
  static const auto* const table = new std::vector<Row>{
      {"Accuracy()", binary(), [] { return new Accuracy(); }, {0}, {0}},
      {"BinaryAccuracy()", binary(), [] { return new BinaryAccuracy(); }, {0.5}, {0.333333343}},
      {"BinaryAccuracy(threshold=0.3)",
       binary(),
       [] { return new BinaryAccuracy(0.3); },
       {0.5},
       {0.481481493}},
      {"TruePositives()", binary(), [] { return new TruePositives(); }, {1}, {1.5}},
      {"TrueNegatives()", binary(), [] { return new TrueNegatives(); }, {2}, {3}},
      {"FalsePositives()", binary(), [] { return new FalsePositives(); }, {1}, {2}},
      {"FalseNegatives()", binary(), [] { return new FalseNegatives(); }, {2}, {7}},
      {"TruePositives(thresholds=[0.2,0.5])",
       binary(),
       [] {
         return new TruePositives({0.2, 0.5});
       },
       {3, 1},
       {8.5, 1.5}},
      {"FalsePositives(thresholds=[0.,.1,.2,.3,.4,.5,.6,.7,.8,.9,1.])",
       binary(),
       [] {
         return new FalsePositives({0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1});
       },
       {3, 2, 2, 2, 2, 1, 1, 1, 0, 0, 0},
       {5, 3, 3, 3, 3, 2, 2, 2, 0, 0, 0}},
      {"Precision()", binary(), [] { return new Precision(); }, {0.5}, {0.428571433}},
      {"Recall()", binary(), [] { return new Recall(); }, {0.333333343}, {0.176470593}},
      {"Recall(thresholds=[0.2,0.5,0.7])",
       binary(),
       [] {
         return new Recall({.thresholds = {0.2, 0.5, 0.7}});
       },
       {1, 0.333333343, 0.333333343},
       {1, 0.176470593, 0.176470593}},
      {"SensitivityAtSpecificity(0.5)",
       binary(),
       [] { return new SensitivityAtSpecificity(0.5); },
       {0.333333343},
       {0.176470593}},
      {"SpecificityAtSensitivity(0.5)",
       binary(),
       [] { return new SpecificityAtSensitivity(0.5); },
       {0.333333343},
       {0.400000006}},
      {"PrecisionAtRecall(0.5)",
       binary(),
       [] { return new PrecisionAtRecall(0.5); },
       {0.600000024},
       {0.739130437}},
      {"RecallAtPrecision(0.6)", binary(), [] { return new RecallAtPrecision(0.6); }, {1}, {1}},
      {"RecallAtPrecision(0.6,num_thresholds=1)",
       binary(),
       [] { return new RecallAtPrecision(0.6, 1); },
       {0},
       {0}},
      {"PrecisionAtRecall(0.5,num_thresholds=2)",
       binary(),
       [] { return new PrecisionAtRecall(0.5, 2); },
       {0.5},
       {0.629629612}},
      {"AUC()", binary(), [] { return new AUC(); }, {0.611111104}, {0.541176438}},
      {"AUC(curve='PR')",
       binary(),
       [] { return new AUC({.curve = "PR"}); },
       {0.684570968},
       {0.685248494}},
      {"AUC(summation_method='minoring')",
       binary(),
       [] { return new AUC({.summation_method = "minoring"}); },
       {0.555555522},
       {0.505882323}},
      {"AUC(summation_method='majoring')",
       binary(),
       [] { return new AUC({.summation_method = "majoring"}); },
       {0.666666687},
       {0.576470554}},
      {"AUC(curve='PR',summation_method='minoring')",
       binary(),
       [] { return new AUC({.curve = "PR", .summation_method = "minoring"}); },
       {0.333333313},
       {0.433613449}},
      {"AUC(curve='PR',summation_method='majoring')",
       binary(),
       [] { return new AUC({.curve = "PR", .summation_method = "majoring"}); },
       {0.699999988},
       {0.736061394}},
      {"AUC(num_thresholds=3)",
       binary(),
       [] { return new AUC({.num_thresholds = 3}); },
       {0.49999997},
       {0.388235331}},
      {"AUC(thresholds=[0.1,0.5,0.3])",
       binary(),
       [] {
         return new AUC({.thresholds = {0.1, 0.5, 0.3}});
       },
       {0.555555582},
       {0.505882323}},
      {"AUC(from_logits=True)",
       binary(),
       [] { return new AUC({.from_logits = true}); },
       {0.611111104},
       {0.541176438}},
      {"BinaryIoU()", binary(), [] { return new BinaryIoU(); }, {0.324999988}, {0.292929292}},
      {"BinaryIoU([1],threshold=0.3)",
       binary(),
       [] { return new BinaryIoU({1}, 0.3); },
       {0.599999964},
       {0.727272689}},
      {"CategoricalAccuracy()",
       one_hot(),
       [] { return new CategoricalAccuracy(); },
       {0.5},
       {0.666666687}},
      {"TopKCategoricalAccuracy(k=2)",
       one_hot(),
       [] { return new TopKCategoricalAccuracy(2); },
       {0.75},
       {0.866666675}},
      {"Precision(top_k=2)",
       one_hot(),
       [] { return new Precision({.top_k = 2}); },
       {0.375},
       {0.433333337}},
      {"Precision(class_id=1)", one_hot(), [] { return new Precision({.class_id = 1}); }, {1}, {1}},
      {"Recall(top_k=1,class_id=1)",
       one_hot(),
       [] { return new Recall({.top_k = 1, .class_id = 1}); },
       {0.5},
       {0.75}},
      {"Precision(top_k=2,thresholds=0.35)",
       one_hot(),
       [] { return new Precision({.thresholds = {0.35}, .top_k = 2}); },
       {0.400000006},
       {0.588235319}},
      {"RecallAtPrecision(0.5,num_thresholds=5,class_id=1)",
       one_hot(),
       [] { return new RecallAtPrecision(0.5, 5, 1); },
       {1},
       {1}},
      {"AUC(multi_label=True)",
       one_hot(),
       [] { return new AUC({.multi_label = true}); },
       {0.722222149},
       {0.861111104}},
      {"AUC(multi_label=True,num_labels=3,label_weights=[1.,2.,.5],num_thresholds=20)",
       one_hot(),
       [] {
         return new AUC({.num_thresholds = 20,
                         .multi_label = true,
                         .num_labels = 3,
                         .label_weights = {1, 2, .5}});
       },
       {0.666666627},
       {0.833333373}},
      {"F1Score()",
       one_hot(),
       [] { return new F1Score(); },
       {0.666666567, 0.49999994, 0},
       {0.799999952, 0.705882251, 0}},
      {"FBetaScore(beta=2.0)",
       one_hot(),
       [] { return new FBetaScore({.beta = 2}); },
       {0.833333194, 0.5, 0},
       {0.909090936, 0.731707275, 0}},
      {"F1Score(average='micro')",
       one_hot(),
       [] { return new F1Score("micro"); },
       {0.444444418},
       {0.625}},
      {"F1Score(average='macro')",
       one_hot(),
       [] { return new F1Score("macro"); },
       {0.388888836},
       {0.501960754}},
      {"F1Score(average='weighted')",
       one_hot(),
       [] { return new F1Score("weighted"); },
       {0.416666627},
       {0.589803934}},
      {"F1Score(threshold=0.35)",
       one_hot(),
       [] { return new F1Score("", 0.35); },
       {0.666666567, 0.49999994, 0},
       {0.799999952, 0.705882251, 0}},
      {"OneHotIoU(3,[0,2])",
       one_hot(),
       [] {
         return new OneHotIoU(3, {0, 2});
       },
       {0.25},
       {0.333333343}},
      {"OneHotMeanIoU(3)",
       one_hot(),
       [] { return new OneHotMeanIoU(3); },
       {0.277777791},
       {0.422222227}},
      {"PearsonCorrelation()",
       one_hot(),
       [] { return new PearsonCorrelation(); },
       {0.182170197},
       {0.47358036}},
      {"ConcordanceCorrelation()",
       one_hot(),
       [] { return new ConcordanceCorrelation(); },
       {0.283448189},
       {0.485136926}},
      {"SparseCategoricalAccuracy()",
       sparse(),
       [] { return new SparseCategoricalAccuracy(); },
       {0.5},
       {0.666666687}},
      {"SparseTopKCategoricalAccuracy(k=2)",
       sparse(),
       [] { return new SparseTopKCategoricalAccuracy(2); },
       {0.75},
       {0.866666675}},
      {"MeanIoU(3,sparse_y_pred=False)",
       sparse(),
       [] { return new MeanIoU(3, {.sparse_y_pred = false}); },
       {0.277777791},
       {0.422222227}},
      {"SparseTopKCategoricalAccuracy(k=2,from_sorted_ids=True)",
       ids(),
       [] { return new SparseTopKCategoricalAccuracy(2, true); },
       {0.5},
       {0.666666687}},
      {"Accuracy()", classes(), [] { return new Accuracy(); }, {0.666666687}, {0.6875}},
      {"MeanIoU(3)", classes(), [] { return new MeanIoU(3); }, {0.555555582}, {0.576719582}},
      {"MeanIoU(4)", classes(), [] { return new MeanIoU(4); }, {0.555555582}, {0.576719582}},
      {"IoU(3,[0,1])",
       classes(),
       [] {
         return new IoU(3, {0, 1});
       },
       {0.666666687},
       {0.642857134}},
      {"MeanIoU(3,ignore_class=1)",
       classes(),
       [] { return new MeanIoU(3, {.ignore_class = 1}); },
       {0.5},
       {0.555555582}},
      {"RootMeanSquaredError()",
       values(),
       [] { return new RootMeanSquaredError(); },
       {0.645497203},
       {0.643009722}},
      {"R2Score()", values(), [] { return new R2Score(); }, {0.82052362}, {0.803768277}},
      {"R2Score(class_aggregation=None)",
       values(),
       [] { return new R2Score({.class_aggregation = ""}); },
       {0.84375, 0.797297239},
       {0.879629612, 0.727907002}},
      {"R2Score(class_aggregation='variance_weighted_average')",
       values(),
       [] { return new R2Score({.class_aggregation = "variance_weighted_average"}); },
       {0.823529422},
       {0.81477803}},
      {"R2Score(num_regressors=1)",
       values(),
       [] { return new R2Score({.num_regressors = 1}); },
       {0.775654554},
       {0.784145117}},
      {"ConcordanceCorrelation()",
       values(),
       [] { return new ConcordanceCorrelation(); },
       {0.587301493},
       {0.556776464}},
      {"MeanSquaredError()",
       values(),
       [] { return new MeanSquaredError(); },
       {0.416666657},
       {0.413461536}},
      {"MeanAbsoluteError()",
       values(),
       [] { return new MeanAbsoluteError(); },
       {0.5},
       {0.480769217}},
      {"MeanAbsolutePercentageError()",
       values(),
       [] { return new MeanAbsolutePercentageError(); },
       {49.3055573},
       {59.1346169}},
      {"LogCoshError()", values(), [] { return new LogCoshError(); }, {0.18463181}, {0.182493448}},
      {"CosineSimilarity()",
       values(),
       [] { return new CosineSimilarity(); },
       {0.852867365},
       {0.804590523}},
      {"CosineSimilarity(axis=1)",
       values(),
       [] { return new CosineSimilarity({1}); },
       {0.852867365},
       {0.804590523}},
      {"MeanSquaredLogarithmicError()",
       one_hot(),
       [] { return new MeanSquaredLogarithmicError(); },
       {0.085630618},
       {0.062463358}},
      {"Poisson()", one_hot(), [] { return new Poisson(); }, {0.628948212}, {0.560287833}},
      {"KLDivergence()",
       one_hot(),
       [] { return new KLDivergence(); },
       {0.886842072},
       {0.680861056}},
      {"Hinge()", one_hot(), [] { return new Hinge(); }, {1.01666665}, {0.955555558}},
      {"SquaredHinge()", one_hot(), [] { return new SquaredHinge(); }, {1.18833327}, {1.08133328}},
      {"CategoricalHinge()",
       one_hot(),
       [] { return new CategoricalHinge(); },
       {0.850000024},
       {0.706666708}},
      {"BinaryCrossentropy()",
       one_hot(),
       [] { return new BinaryCrossentropy(); },
       {0.513173163},
       {0.402613312}},
      {"BinaryCrossentropy(label_smoothing=0.1)",
       one_hot(),
       [] { return new BinaryCrossentropy(false, 0.1); },
       {0.551483035},
       {0.457002997}},
      {"BinaryCrossentropy(from_logits=True)",
       one_hot(),
       [] { return new BinaryCrossentropy(true); },
       {0.720572889},
       {0.691830575}},
      {"CategoricalCrossentropy()",
       one_hot(),
       [] { return new CategoricalCrossentropy(); },
       {0.886844993},
       {0.680863917}},
      {"CategoricalCrossentropy(from_logits=True,label_smoothing=0.1)",
       one_hot(),
       [] { return new CategoricalCrossentropy(true, 0.1); },
       {0.993949413},
       {0.919571579}},
      {"SparseCategoricalCrossentropy()",
       sparse(),
       [] { return new SparseCategoricalCrossentropy(); },
       {0.886844993},
       {0.680863917}},
      {"SparseCategoricalCrossentropy(from_logits=True)",
       sparse(),
       [] { return new SparseCategoricalCrossentropy(true); },
       {0.979782701},
       {0.896238208}},
      {"SparseCategoricalCrossentropy(ignore_class=1)",
       sparse(),
       [] { return new SparseCategoricalCrossentropy(false, 1); },
       {0.428699613},
       {0.514110982}},
  };
  return *table;
}

TEST(Metrics, GiveKerasValues) {
  for (const Row& row : rows()) {
    const std::unique_ptr<Comparison> metric(row.make());
    metric->update_state(row.batch.y_true, row.batch.y_pred);
    expect_near(values_of(metric->result()), row.first, row.keras);
    metric->update_state(row.batch.y_true, row.batch.y_pred, row.batch.sample_weight);
    expect_near(values_of(metric->result()), row.second, row.keras);
    metric->reset_state();
    for (const Variable& v : metric->variables())
      EXPECT_EQ(reduce_sum(abs(v.value())).item<double>(), 0) << row.keras;
    metric->update_state(row.batch.y_true, row.batch.y_pred);
    expect_near(values_of(metric->result()), row.first, row.keras);
  }
}

// The same state compiled, also where the size of the batch is a symbol.
TEST(Metrics, AreTheSameCompiled) {
  for (const Row& row : rows()) {
    const std::unique_ptr<Comparison> eager(row.make()), compiled(row.make());
    const auto plain = function([&](const Tensor& y_true, const Tensor& y_pred) {
      compiled->update_state(y_true, y_pred);
      return compiled->result();
    });
    const auto weighted =
        function([&](const Tensor& y_true, const Tensor& y_pred, const Tensor& w) {
          compiled->update_state(y_true, y_pred, w);
          return compiled->result();
        });
    const std::int64_t n = row.batch.y_true.shape()[0];
    for (const std::int64_t rows : {n, n - 1, n}) {
      const auto some = [rows](const Tensor& x) { return index(x, {Slice{.end = rows}}); };
      const Tensor y_true = some(row.batch.y_true), y_pred = some(row.batch.y_pred);
      const Tensor w = some(row.batch.sample_weight);
      eager->update_state(y_true, y_pred);
      expect_near(values_of(plain(y_true, y_pred)), values_of(eager->result()), row.keras);
      eager->update_state(y_true, y_pred, w);
      expect_near(values_of(weighted(y_true, y_pred, w)), values_of(eager->result()), row.keras);
    }
    ASSERT_EQ(compiled->variables().size(), eager->variables().size()) << row.keras;
    for (std::size_t i = 0; i < eager->variables().size(); ++i)
      expect_near(values_of(compiled->variables()[i]), values_of(eager->variables()[i]), row.keras);
  }
}

TEST(Metrics, MeansAndSumsOfValues) {
  const Tensor matrix = {{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}};
  Mean mean;
  EXPECT_EQ(mean.result().item<float>(), 0);
  mean.update_state(Tensor{1.f, 3.f, 5.f});
  mean.update_state(Tensor{{1.f, 2.f}, {3.f, 5.f}});  // 1.5 and 4
  EXPECT_FLOAT_EQ(mean.result().item<float>(), 14.5f / 5);
  mean.reset_state();
  mean.update_state(matrix, Tensor{1.f, 2.f});
  EXPECT_FLOAT_EQ(mean.result().item<float>(), 4);
  mean.reset_state();
  mean.update_state(matrix, Tensor{{1.f, 2.f, 3.f}, {1.f, 2.f, 3.f}});
  EXPECT_FLOAT_EQ(mean.result().item<float>(), 46.f / 12);
  mean.reset_state();
  mean.update_state(3, Tensor(2.f));
  mean.update_state(1);
  EXPECT_FLOAT_EQ(mean.result().item<float>(), 7.f / 3);
  Sum sum;
  sum.update_state(Tensor{1.f, 3.f, 5.f});
  sum.update_state(Tensor{{1.f, 2.f}, {3.f, 5.f}}, Tensor{1.f, 2.f});
  EXPECT_FLOAT_EQ(sum.result().item<float>(), 28);
  Mean of_integers({.dtype = int32});
  of_integers.update_state(Tensor{1, 2});
  EXPECT_FLOAT_EQ(of_integers.result().item<float>(), 1.5f);
}

TEST(Metrics, NothingAddsNothing) {
  for (const Row& row : rows()) {
    const std::unique_ptr<Comparison> metric(row.make());
    const auto none = [](const Tensor& x) { return index(x, {Slice{.end = 0}}); };
    metric->update_state(row.batch.y_true, row.batch.y_pred);
    const Values before = values_of(metric->result());
    metric->update_state(none(row.batch.y_true), none(row.batch.y_pred));
    metric->update_state(none(row.batch.y_true), none(row.batch.y_pred),
                         none(row.batch.sample_weight));
    expect_near(values_of(metric->result()), before, row.keras);
  }
}

TEST(Metrics, NaNTiesAndThresholds) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = INFINITY;
  BinaryAccuracy accuracy;  // NaN is not above the threshold, nor is the threshold itself
  accuracy.update_state(Tensor{0.f, 1.f, 0.f, 1.f}, Tensor{nan, nan, .5f, .5f});
  EXPECT_FLOAT_EQ(accuracy.result().item<float>(), .5f);
  Mean mean;
  mean.update_state(Tensor{1.f, nan});
  EXPECT_TRUE(std::isnan(mean.result().item<float>()));
  CategoricalAccuracy first_of_equals;
  first_of_equals.update_state(Tensor{{1.f, 0.f}, {0.f, 1.f}}, Tensor{{.5f, .5f}, {.5f, .5f}});
  EXPECT_FLOAT_EQ(first_of_equals.result().item<float>(), .5f);
  TruePositives positives({0, 1});
  positives.update_state(Tensor{1.f, 1.f, 1.f, 1.f}, Tensor{0.f, 1.f, -inf, inf});
  expect_near(values_of(positives.result()), {2, 1}, "TruePositives");
  // Even thresholds see predictions between 0 and 1; whether 0 is above the first one depends on
  // it.
  const Tensor all = ones({5}), around = {0.f, 1.f, 2.f, -1.f, .5f};
  const auto true_positives = [&](Comparison&& metric) {
    metric.update_state(all, around);
    return values_of(metric.variables()[0]);
  };
  expect_near(true_positives(TruePositives({0, .5, 1})), {3, 2, 0}, "even");
  expect_near(true_positives(TruePositives({0, .4, 1})), {3, 3, 1}, "uneven");
  expect_near(true_positives(PrecisionAtRecall(.5, 5)), {3, 3, 2, 2, 0}, "even");
  expect_near(true_positives(AUC({.thresholds = {.25, .5, .75}})), {5, 3, 2, 2, 0}, "even");
  expect_near(true_positives(AUC({.thresholds = {.25, .5, .7}})), {4, 3, 2, 2, 1}, "uneven");
  AUC by_label({.num_thresholds = 5, .multi_label = true});
  by_label.update_state(expand_dims(all, 1), expand_dims(around, 1));
  expect_near(values_of(by_label.variables()[0]), {5, 3, 2, 2, 0}, "even, by label");
  TopKCategoricalAccuracy top(1);  // rows that are not finite are never right
  top.update_state(Tensor{{1.f, 0.f}, {1.f, 0.f}}, Tensor{{nan, 0.f}, {1.f, 1.f}});
  EXPECT_FLOAT_EQ(top.result().item<float>(), .5f);
}

TEST(Metrics, TargetsAndPredictionsMayDifferByAnAxisOfOne) {
  const Batch b = binary();
  for (int which = 0; which < 4; ++which) {
    BinaryAccuracy accuracy;
    Precision precision;
    const Tensor y_true = which & 1 ? expand_dims(b.y_true, -1) : b.y_true;
    const Tensor y_pred = which & 2 ? expand_dims(b.y_pred, -1) : b.y_pred;
    accuracy.update_state(y_true, y_pred, b.sample_weight);
    precision.update_state(y_true, y_pred, b.sample_weight);
    EXPECT_FLOAT_EQ(accuracy.result().item<float>(), 1.5f / 7.5f) << which;
    EXPECT_FLOAT_EQ(precision.result().item<float>(), .5f / 1.5f) << which;
  }
}

TEST(Metrics, StateHasKerasNamesAndShapes) {
  const auto described = [](const Metric& metric) {
    std::string text;
    for (const Variable& v : metric.variables()) text += v.name() + to_string(v.shape()) + " ";
    return text;
  };
  EXPECT_EQ(described(Mean({.name = "m"})), "m/total() m/count() ");
  EXPECT_EQ(described(Recall({.thresholds = {0.1, 0.2}})),
            "recall/true_positives(2,) recall/false_negatives(2,) ");
  EXPECT_EQ(described(FalseNegatives()), "false_negatives/accumulator(1,) ");
  EXPECT_EQ(described(AUC({.num_thresholds = 3, .multi_label = true, .num_labels = 2})),
            "auc/true_positives(3, 2) auc/false_positives(3, 2) auc/true_negatives(3, 2) "
            "auc/false_negatives(3, 2) ");
  EXPECT_EQ(described(MeanIoU(2)), "mean_io_u/total_confusion_matrix(2, 2) ");
  EXPECT_EQ(MeanIoU(2).variables()[0].dtype(), int64);
  R2Score r2;
  EXPECT_EQ(described(r2), "r2_score/num_samples() ");
  r2.update_state(values().y_true, values().y_pred);
  EXPECT_EQ(described(r2),
            "r2_score/num_samples() r2_score/squared_sum(2,) r2_score/sum(2,) "
            "r2_score/residual(2,) r2_score/count(2,) ");
  const Variable total(Tensor(3.f)), count(Tensor(2.f));
  const Mean with_state({.variables = {total, count}});
  EXPECT_FLOAT_EQ(with_state.result().item<float>(), 1.5f);
  with_state.update_state(7);
  EXPECT_FLOAT_EQ(total.value().item<float>(), 10);
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

TEST(Metrics, Refuse) {
  EXPECT_EQ(message_of([] { BinaryAccuracy(1.0); }),
            "Invalid value for argument `threshold`. Expected a value in interval (0, 1). "
            "Received: threshold=1.000000");
  EXPECT_EQ(message_of([] {
              Precision({.thresholds = {0.5, 2}});
            }),
            "Threshold values must be in [0, 1]. Received: [2]");
  EXPECT_EQ(message_of([] { AUC({.curve = "x"}); }),
            "Invalid AUC curve value: \"x\". Expected values are [\"PR\", \"ROC\"]");
  EXPECT_EQ(message_of([] { AUC({.num_thresholds = 1}); }),
            "Argument `num_thresholds` must be an integer > 1. Received: num_thresholds=1");
  EXPECT_EQ(message_of([] { RecallAtPrecision(1.5); }),
            "Argument `precision` must be in the range [0, 1]. Received: precision=1.5");
  EXPECT_EQ(message_of([] {
              IoU(2, {0, 2});
            }),
            "Target class id 2 is out of range, which is [0, 2).");
  EXPECT_EQ(message_of([] { F1Score("all"); }),
            "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', "
            "'weighted'}. Received: average=all");
  EXPECT_EQ(message_of([] { F1Score().result(); }),
            "[f1_score] has no state yet; the first update makes it");
  EXPECT_EQ(message_of([] {
              F1Score score;
              score.update_state(ones({2, 3}), ones({2, 3}));
              score.update_state(ones({2, 1}), ones({2, 1}));
            }),
            "Cannot update variable with shape (3,) using a Tensor with shape (1,), shapes must be "
            "equal.");
  EXPECT_EQ(message_of([] { MeanMetricWrapper(loss_function("no such")); }),
            "[mean_metric_wrapper] got no function to take the mean of");
  EXPECT_EQ(message_of([] {
              F1Score score("", {}, {.variables = {Variable(zeros({3}))}});
              score.update_state(ones({2, 3}), ones({2, 3}));
            }),
            "[f1_score] has no state yet; the first update makes it");
}

TEST(Metrics, ClassesBeyondTheMatrixAreNotCountedInTheNextRow) {
  for (const Tensor& predicted : {Tensor{3, 1}, Tensor{-1, 1}}) {
    MeanIoU iou(3);
    EXPECT_NE(message_of([&] { iou.update_state(Tensor{1, 1}, predicted); }), "");
  }
}

}  // namespace
}  // namespace gradus::keras::metrics
