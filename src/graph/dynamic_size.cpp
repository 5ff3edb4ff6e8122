#include "graph/dynamic_size.h"

#include "base/check.h"
#include "graph/ambient_graph.h"
#include "graph/context.h"
#include "graph/graph.h"

namespace gradus {
namespace {

struct SizeAttrs {
  Size size = 0;
  static auto fields() { return attr_fields(attr("size", &SizeAttrs::size)); }
};

}  // namespace

const Op dynamic_size_op = not_differentiable(
    {.name = "dynamic_size",
     .doc = "A size that is known when the program runs.",
     .attrs = &attr_type<SizeAttrs>(),
     .inputs = 0,
     .infer =
         [](const Call&, Avals& out) {
           out.push_back({int64, {}});
         },
     .kernel = [](const KernelCall& c) { *c.out[0].as<std::int64_t>() = c.get<SizeAttrs>().size; },
     .samples = [] { return std::vector<Sample>{sample<SizeAttrs>({}, {3})}; }},
    "sizes are integers");

Size size_of_node(const void* attrs) { return static_cast<const SizeAttrs*>(attrs)->size; }

Tensor traced_size(Size size) {
  Graph* inside = thread_context.graph ? thread_context.graph : ambient_graph;
  GRADUS_ASSERT(inside != nullptr);
  Graph& graph = *inside;
  const SizeAttrs attrs{size};
  return graph.tensor(graph.add(dynamic_size_op, &attrs, {}).first_out);
}

}  // namespace gradus
