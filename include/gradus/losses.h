// Losses with Keras 3's names and formulas: one number, the mean over the batch. Targets come
// first; those that are not of the predictions' dtype are cast.
#pragma once
#include "gradus/in.h"

namespace gradus::keras {

Tensor mean_squared_error(In targets, In predictions);
Tensor mean_absolute_error(In targets, In predictions);
Tensor mean_absolute_percentage_error(In targets, In predictions);
Tensor mean_squared_logarithmic_error(In targets, In predictions);
Tensor huber(In targets, In predictions, double delta = 1);
Tensor log_cosh(In targets, In predictions);
Tensor poisson(In targets, In predictions);
Tensor cosine_similarity(In targets, In predictions);  // -1 is the same direction
Tensor hinge(In targets, In predictions);              // targets -1 and 1
Tensor squared_hinge(In targets, In predictions);
Tensor categorical_hinge(In targets, In predictions);  // one-hot targets
Tensor kl_divergence(In targets, In predictions);

// Predictions are logits unless told otherwise.
struct CrossentropyOptions {
  bool from_logits = true;
  double label_smoothing = 0;
};
Tensor binary_crossentropy(In targets, In predictions, CrossentropyOptions options = {});
Tensor categorical_crossentropy(In targets, In predictions, CrossentropyOptions options = {});
Tensor sparse_categorical_crossentropy(In labels, In predictions, bool from_logits = true);

}  // namespace gradus::keras
