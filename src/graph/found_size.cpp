#include "graph/found_size.h"

#include <algorithm>

#include "base/check.h"
#include "graph/context.h"
#include "graph/dispatch.h"
#include "graph/dynamic_size.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

struct FoundAttrs {
  Size size = 0;
  static auto fields() { return attr_fields(attr("size", &FoundAttrs::size)); }
};

Tensors look(const void*, std::span<const Tensor> in) {
  const std::int64_t size =
      in[0].dtype() == int32 ? in[0].item<std::int32_t>() : in[0].item<std::int64_t>();
  if (size < 0) {
    fail<InvalidArgumentError>("[size] got ", size,
                               " as the size of a tensor; sizes are not negative");
  }
  return {make_tensor(uint8, {size, 0})};
}

Tensors refuse_examples(const BatchCall&) { refuse_sizes_of_examples(); }

}  // namespace

const Op found_size_op =
    internal({.name = "found_size",
              .doc = "A number as a size: a tensor without elements whose first axis is so long.",
              .dtypes = one_dtype(int32) | one_dtype(int64),
              .attrs = &attr_type<FoundAttrs>(),
              .infer =
                  [](const Call& c, Avals& out) {
                    if (c.shape(0).rank() != 0)
                      fail<InvalidArgumentError>("[size] got a tensor of shape ", c.shape(0),
                                                 " as one size; a scalar was expected");
                    out.push_back({uint8, {c.get<FoundAttrs>().size, 0}});
                  },
              .find = look,
              .batch = refuse_examples},
             "sizes are integers", Where::traced);

Size found_size(const Tensor& scalar) {
  if (is_concrete(scalar) && (scalar.dtype() == int32 || scalar.dtype() == int64))
    return look(nullptr, {&scalar, 1})[0].shape()[0];
  Graph* const graph = scalar.impl()->extra()->graph.get();
  // The node belongs where the number is made, also if a branch or a loop inside asks for it: what
  // is inside sees the size as one of its surroundings.
  if (scalar.impl()->kind == ValueKind::traced) {
    const Graph::Value v = graph->value(scalar);
    if (const std::int32_t maker = graph->info(v).node; maker >= 0) {
      const Graph::Node& n = graph->nodes()[static_cast<std::size_t>(maker)];
      if (n.op == &dynamic_size_op) return size_of_node(graph->attrs(n));  // it was a size before
    }
    for (const Graph::Node& n : graph->nodes())
      if (n.op == &found_size_op && graph->operands(n)[0] == v)
        return graph->info(n.first_out).aval.shape[0];
    const FoundAttrs attrs{graph->symbols().fresh()};
    const TraceScope scope(*graph);
    return graph->info(graph->add(found_size_op, &attrs, {&v, 1}).first_out).aval.shape[0];
  }
  const FoundAttrs attrs;
  return found_size_op({scalar}, attrs).shape()[0];  // an example of a vmap: refused
}

void refuse_sizes_of_examples() {
  fail<UnimplementedError>(
      "[vmap] the size of a tensor would differ from example to example; pad to one size (where(c, "
      "size) does) and use a mask, or take the examples one by one (map_fn in Python)");
}

bool finds_sizes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(),
                             [](const Graph::Node& n) { return n.op->info.find != nullptr; });
}

}  // namespace gradus
