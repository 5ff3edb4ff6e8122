#include "compile/passes/expand.h"

#include "compile/graph_copy.h"

namespace gradus {
namespace {

BodyFn simpler_form(const Op& op) {
  if (op.info.lower) return op.info.lower;
  return op.kind == Kind::composite && !op.info.kernel ? op.body : nullptr;
}

}  // namespace

std::shared_ptr<Graph> expand(const Graph& graph) {
  // Bodies may use composites again: as often as they nest.
  std::shared_ptr<Graph> result;
  bool again = true;
  for (const Graph* from = &graph; again; from = result.get()) {
    again = false;
    GraphCopy copy(*from);
    for (const Graph::Node& n : from->nodes()) {
      const BodyFn body = simpler_form(*n.op);
      if (body && copy.inline_body(n, body)) {
        again = true;
      } else {
        copy.copy(n);
      }
    }
    std::shared_ptr<Graph> next = copy.finish();
    result = std::move(next);
  }
  return result;
}

}  // namespace gradus
