// Attributes of matmul, for who looks at the nodes of a graph.
#pragma once
#include "graph/attrs.h"

namespace gradus {

struct MatmulAttrs {
  bool transpose_a = false, transpose_b = false;
  static auto fields() {
    return attr_fields(attr("transpose_a", &MatmulAttrs::transpose_a),
                       attr("transpose_b", &MatmulAttrs::transpose_b));
  }
};

}  // namespace gradus
