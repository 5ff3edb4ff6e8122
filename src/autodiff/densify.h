// Turning row gradients into dense ones is an event that can be asked about, and forbidden
// (gradus/sparse.h).
#pragma once
#include "gradus/gradient.h"
#include "graph/cotangent.h"
#include "graph/op.h"

namespace gradus {

Tensor densify(const Cotangent& rows);

// Says whose rule runs in this scope.
class RuleOf {
 public:
  explicit RuleOf(const Op& op);
  ~RuleOf();
  RuleOf(const RuleOf&) = delete;

 private:
  const Op* outer_;
};

}  // namespace gradus
