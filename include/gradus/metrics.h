// Metrics with Keras 3's names, formulas, defaults and options: what is measured over batches.
//
//   gd::keras::metrics::SparseCategoricalAccuracy accuracy;
//   const auto step = gd::function([&](const gd::Tensor& x, const gd::Tensor& y) {
//     ...
//     accuracy.update_state(y, predictions);
//   });
//   ... accuracy.result() ... accuracy.reset_state();
//
// Targets and predictions may differ by a last axis of size 1. Weights belong to samples, or to
// their parts.
#pragma once
#include "gradus/metric.h"
#include "gradus/metrics_accuracy.h"
#include "gradus/metrics_confusion.h"
#include "gradus/metrics_losses.h"
#include "gradus/metrics_overlap.h"
#include "gradus/metrics_regression.h"
