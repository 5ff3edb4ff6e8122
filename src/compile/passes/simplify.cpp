#include "compile/passes/simplify.h"

#include <unordered_map>

#include "compile/graph_copy.h"
#include "ops/identities.h"

namespace gradus {
namespace {

using Rules = std::unordered_map<const Op*, std::vector<const Identity*>>;

const Rules& rules() {
  static const Rules all = [] {
    Rules by_op;
    for (const Op* op = newest_op(); op; op = op->next)
      for (const Identity& i : identities())
        if (std::string_view(i.op) == op->name()) by_op[op].push_back(&i);
    return by_op;
  }();
  return all;
}

bool is_like(const Tensor& t, const Aval& aval) {
  return t.dtype() == aval.dtype && is_same(t.shape(), aval.shape);
}

}  // namespace

std::shared_ptr<Graph> simplify(const Graph& graph) {
  GraphCopy copy(graph);
  for (const Graph::Node& n : graph.nodes()) {
    const auto known = rules().find(n.op);
    bool done = false;
    if (known != rules().end()) {
      SmallVector<Graph::Value, 8> in;
      for (Graph::Value v : graph.operands(n)) in.push_back(copy[v]);
      const Applied applied(copy.to(), *n.op, graph.attrs(n), in);
      const AttributeTo line(n.where);
      for (const Identity* i : known->second) {
        const Tensor simpler = i->simpler(applied);
        if (!simpler.defined() || !is_like(simpler, graph.info(n.first_out).aval)) continue;
        copy.map(n.first_out, copy.to().value(simpler));
        done = true;
        break;
      }
    }
    if (!done) copy.copy(n);
  }
  return copy.finish();
}

}  // namespace gradus
