// Small moves that rules are made of.
#pragma once
#include "gradus/tensor.h"
#include "graph/attrs.h"
#include "graph/op.h"

namespace gradus {

// Every element one place further along an axis (or one place back); a zero comes in, the last
// element falls out.
Tensor shift(const Tensor& x, int axis, bool back);

Tensor pad_zeros(const Tensor& x, const Ints& before, const Ints& after);

// Ops and attributes of transpose() and slice(), for who looks at the nodes of a graph.
extern const Op transpose_op;
struct PermutationAttrs {
  Ints permutation;
  static auto fields() { return attr_fields(attr("permutation", &PermutationAttrs::permutation)); }
};

extern const Op slice_op;
struct SliceAttrs {
  Ints begin;
  Shape size;
  static auto fields() {
    return attr_fields(attr("begin", &SliceAttrs::begin), attr("size", &SliceAttrs::size));
  }
};

}  // namespace gradus
