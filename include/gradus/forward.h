// Forward mode: tangents travel with the values.
//
//   gd::ForwardAccumulator acc(x, v);     // x has tangent v while acc lives
//   auto y = f(x);
//   auto dy = acc.jvp(y);                 // J(x) v
//
// Accumulators nest in each other and in tapes, in any order: forward over reverse gives products
// with the Hessian, and no level ever sees its own perturbation.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "gradus/gradient.h"
#include "gradus/tensor.h"

namespace gradus {

struct ForwardLevel;

class ForwardAccumulator {
 public:
  ForwardAccumulator(const Source& primal, const Tensor& tangent)
      : ForwardAccumulator(std::vector<std::pair<Source, Tensor>>{{primal, tangent}}) {}
  explicit ForwardAccumulator(const std::vector<std::pair<Source, Tensor>>& primals_and_tangents);
  ~ForwardAccumulator();
  ForwardAccumulator(const ForwardAccumulator&) = delete;

  // The tangent of y; none (undefined) or zeros if y does not depend on the primals.
  Gradient jvp(const Tensor& y, Unconnected unconnected = Unconnected::none) const;
  void stop();  // no more tangents are computed; jvp() may still be called

 private:
  std::unique_ptr<ForwardLevel> level_;
  bool open_ = true;
};

}  // namespace gradus
