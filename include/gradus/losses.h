// Losses with Keras 3's names and formulas. Targets come first; those that are not of the
// predictions' dtype are cast.
//
//   gd::Tensor loss = gd::keras::mean_squared_error(y, model(x));     // one number, the mean
//   gd::Tensor each = gd::keras::per_sample::mean_squared_error(y, model(x));
#pragma once
#include <optional>

#include "gradus/in.h"

namespace gradus::keras {

// The small number that keeps divisions and logarithms finite, as keras.config.epsilon.
double epsilon();
void set_epsilon(double value);

struct CrossentropyOptions {
  bool from_logits = true;
  double label_smoothing = 0;
  Shape axis = {-1};  // of the classes
};
struct FocalOptions {
  double alpha = 0.25, gamma = 2;
  bool apply_class_balancing = false;  // of the binary one: alpha for the class 1
  bool from_logits = false;
  double label_smoothing = 0;
  Shape axis = {-1};
};
struct TverskyOptions {
  double alpha = 0.5, beta = 0.5;  // how much false negatives and false positives count
  std::optional<Shape> axes = {};  // none: all
};
struct CircleOptions {
  double gamma = 80, margin = 0.4;
  bool remove_diagonal = true;
};

// One value for each sample: means or sums along the last axis. Predictions of cross entropies are
// logits unless told otherwise, of focal ones probabilities. Python's losses are these.
namespace per_sample {

Tensor mean_squared_error(In targets, In predictions);
Tensor mean_absolute_error(In targets, In predictions);
Tensor mean_absolute_percentage_error(In targets, In predictions);
Tensor mean_squared_logarithmic_error(In targets, In predictions);
Tensor huber(In targets, In predictions, double delta = 1);
Tensor log_cosh(In targets, In predictions);
Tensor poisson(In targets, In predictions);
Tensor cosine_similarity(In targets, In predictions, const Shape& axes = {-1});
Tensor hinge(In targets, In predictions);
Tensor squared_hinge(In targets, In predictions);
Tensor categorical_hinge(In targets, In predictions);
Tensor kl_divergence(In targets, In predictions);
Tensor binary_crossentropy(In targets, In predictions, const CrossentropyOptions& options = {});
Tensor categorical_crossentropy(In targets, In predictions,
                                const CrossentropyOptions& options = {});
Tensor sparse_categorical_crossentropy(In labels, In predictions, bool from_logits = true,
                                       int axis = -1);
Tensor binary_focal_crossentropy(In targets, In predictions, const FocalOptions& options = {});
Tensor categorical_focal_crossentropy(In targets, In predictions, const FocalOptions& options = {});
Tensor categorical_generalized_cross_entropy(In labels, In predictions, double q = 0.5);
Tensor dice(In targets, In predictions, const std::optional<Shape>& axes = {});
Tensor tversky(In targets, In predictions, const TverskyOptions& options = {});
// Of embeddings [n, width] of length 1, beside references with labels of their own or each other.
Tensor circle(In labels, In embeddings, const CircleOptions& options = {},
              const Tensor& reference_labels = {}, const Tensor& references = {});
// Minus the log probability of labels [batch, most], given logits [batch, time, classes] and the
// lengths of both; class `blank` stands between labels.
Tensor ctc(In labels, In logits, In label_lengths, In logit_lengths, std::int64_t blank = 0);

}  // namespace per_sample

// The mean over the batch. Targets [n] go with predictions [n, 1], and class numbers may have a
// last axis of size 1.
Tensor mean_squared_error(In targets, In predictions);
Tensor mean_absolute_error(In targets, In predictions);
Tensor mean_absolute_percentage_error(In targets, In predictions);
Tensor mean_squared_logarithmic_error(In targets, In predictions);
Tensor huber(In targets, In predictions, double delta = 1);
Tensor log_cosh(In targets, In predictions);
Tensor poisson(In targets, In predictions);
Tensor cosine_similarity(In targets, In predictions);  // -1 is the same direction
Tensor hinge(In targets, In predictions);              // targets -1 and 1, or 0 and 1
Tensor squared_hinge(In targets, In predictions);
Tensor categorical_hinge(In targets, In predictions);  // one-hot targets
Tensor kl_divergence(In targets, In predictions);
Tensor binary_crossentropy(In targets, In predictions, const CrossentropyOptions& options = {});
Tensor categorical_crossentropy(In targets, In predictions,
                                const CrossentropyOptions& options = {});
Tensor sparse_categorical_crossentropy(In labels, In predictions, bool from_logits = true);
Tensor binary_focal_crossentropy(In targets, In predictions, const FocalOptions& options = {});
Tensor categorical_focal_crossentropy(In targets, In predictions, const FocalOptions& options = {});
Tensor categorical_generalized_cross_entropy(In labels, In predictions, double q = 0.5);
Tensor dice(In targets, In predictions);
Tensor tversky(In targets, In predictions, const TverskyOptions& options = {});
Tensor circle(In labels, In embeddings, const CircleOptions& options = {});
Tensor ctc(In labels, In logits, In label_lengths, In logit_lengths, std::int64_t blank = 0);

}  // namespace gradus::keras
