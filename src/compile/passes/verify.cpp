#include "compile/passes/verify.h"

#include "base/check.h"
#include "compile/bound_step.h"
#include "compile/node_call.h"
#include "compile/roles.h"
#include "graph/dispatch.h"

namespace gradus {

void verify(const Graph& graph, const char* after) {
  const auto complain = [&](const Graph::Node& n, const char* what) {
    fail<InternalError>("after the pass '", after, "': ", what, " at ", n.op->name(), " -> %",
                        n.first_out, "\n", graph.print());
  };
  const auto symbols = Graph::make_like(graph);  // shape rules may name new sizes
  const TraceScope scope(*symbols);
  for (std::size_t k = 0; k < graph.nodes().size(); ++k) {
    const Graph::Node& n = graph.nodes()[k];
    for (Graph::Value v : graph.operands(n)) {
      if (v >= graph.value_count()) complain(n, "an operand does not exist");
      if (graph.info(v).node >= static_cast<std::int32_t>(k)) complain(n, "an operand comes later");
    }
    Avals out;
    infer_outputs(NodeCall(graph, n), out);
    if (out.size() != n.out_count) complain(n, "another number of results");
    const auto* made = held_as<Bindable>(graph, n);
    if (const char* fault = made ? made->fault() : nullptr) complain(n, fault);
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      const Aval& known = graph.info(n.first_out + i).aval;
      if (out[i].dtype != known.dtype || !is_same(out[i].shape, known.shape))
        complain(n, "another dtype or shape");
    }
    for (std::uint32_t i = 0; i < n.out_count; ++i)
      if (graph.info(n.first_out + i).node != static_cast<std::int32_t>(k))
        complain(n, "a result has another maker");
  }
  for (Graph::Value v : graph.outputs())
    if (v >= graph.value_count()) fail<InternalError>("after the pass '", after, "': no output");
}

}  // namespace gradus
