#include "autodiff/densify.h"

#include "gradus/ops.h"

namespace gradus {

Tensor densify(const Cotangent& rows) {
  return scatter_rows(rows.indices(), rows.value(), rows.shape());
}

}  // namespace gradus
