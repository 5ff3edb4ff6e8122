// The batching rule of ops with an `axis` attribute: all operands get the batch's axis in front,
// and the op works along the axis behind.
#pragma once
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "graph/batch.h"

namespace gradus {

template <class Attrs>
Tensors batch_along_axis(const BatchCall& c) {
  Attrs attrs = c.get<Attrs>();
  ++attrs.axis;
  Tensors in;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    Shape shape = c.in[i].shape();
    if (!c.is_batched(static_cast<int>(i))) shape.insert(0, c.size);
    in.push_back(broadcast_to(c.in[i], shape));
  }
  return c.op.run(in, &attrs);
}

}  // namespace gradus
