#include "graph/found_size.h"

#include <algorithm>
#include <array>

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

std::int64_t number_in(const View& v) {
  return v.dtype == int32 ? *v.as<std::int32_t>() : *v.as<std::int64_t>();
}

Tensors look(const Call& c) {
  const std::int64_t size = number_in(c.in[0]);
  if (size < 0) {
    fail<InvalidArgumentError>("[size] got ", size,
                               " as the size of a tensor; sizes are not negative");
  }
  return {make_tensor(uint8, {size, 0})};
}

Tensors refuse_examples(const BatchCall&) {
  fail<UnimplementedError>(
      "[vmap] the size of a tensor would differ from example to example; pad to one size and use a "
      "mask, or map with map_fn");
}

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
  if (is_concrete(scalar)) {
    const TensorImpl& t = *scalar.impl();
    if (t.dtype == int32 || t.dtype == int64)
      return look({found_size_op, nullptr, std::array{View{t.data, &t.shape, t.dtype}}})[0]
          .shape()[0];
  }
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

bool finds_sizes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(),
                             [](const Graph::Node& n) { return n.op->info.find != nullptr; });
}

}  // namespace gradus
