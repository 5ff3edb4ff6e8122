// Gradients of rows (TensorFlow's IndexedSlices), from gather to the optimizer without a dense
// tensor in between.
//
//   auto clipped = gd::clip_by_global_norm({tape.gradient(loss, table)}, 1.0).first;
//   gd::sgd_update(table, clipped[0], 0.1);
//
// All of these take dense gradients and none as well, keep each kind, and are differentiable. Norms
// and clips are those of the whole gradient: rows that repeat are added up first (TensorFlow takes
// each by itself).
#pragma once
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "gradus/gradient.h"

namespace gradus {

namespace detail {
Gradient cast_gradient(const Gradient& g, DType dtype);
Gradient add_gradients(const Gradient& a, const Gradient& b);
Gradient clip_gradient(const Gradient& g, double low, double high);
}  // namespace detail

// Every row once, in order of first appearance; in a compiled function, as many rows as before, of
// which some are zeros for row 0.
Gradient combine_rows(const Gradient& g);

Gradient scale(const Gradient& g, In factor);  // a scalar
// (Templates, so that a tensor, which converts to a gradient, still means the op of that name.)
template <std::same_as<Gradient> G>
Gradient cast(const G& g, DType dtype) {
  return detail::cast_gradient(g, dtype);
}
template <std::same_as<Gradient> G>
Gradient add(const G& a, const G& b) {  // rows only if both are
  return detail::add_gradients(a, b);
}
template <std::same_as<Gradient> G>
Gradient clip_by_value(const G& g, double low, double high) {  // low <= 0 <= high for rows
  return detail::clip_gradient(g, low, high);
}
Gradient clip_by_norm(const Gradient& g, double clip_norm);

// The Euclidean norm of all gradients together, float32 or wider; none counts as zero.
Tensor global_norm(const std::vector<Gradient>& gradients);
// All gradients times clip_norm / max(norm, clip_norm), and the norm. If that is not finite, NaN.
std::pair<std::vector<Gradient>, Tensor> clip_by_global_norm(const std::vector<Gradient>& gradients,
                                                             double clip_norm);

// Row gradients that this thread turned into dense tensors, and where.
struct DensifyReport {
  struct Place {
    std::string who;  // "[matmul] at model.cpp:42"
    std::size_t count = 0, bytes = 0;
  };
  std::size_t count = 0, bytes = 0;
  std::vector<Place> places;  // the first 64
};
DensifyReport densify_report();
void reset_densify_report();
std::string to_string(const DensifyReport& report);

// While it lives, whatever would make a dense tensor of rows on this thread throws
// FailedPreconditionError and says who it was.
class ForbidDensify {
 public:
  ForbidDensify();
  ~ForbidDensify();
  ForbidDensify(const ForbidDensify&) = delete;
};

}  // namespace gradus
