#include "compile/inner_memory.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "compile/graph_copy.h"
#include "compile/roles.h"
#include "graph/bind.h"

namespace gradus {
namespace {

// A node as it runs at these sizes.
class BoundNode {
 public:
  BoundNode(const Graph& g, const Graph::Node& n, const Sizes& sizes) : op_(*n.op) {
    shapes_.reserve(n.in_count);  // views point to them
    for (Graph::Value v : g.operands(n)) {
      shapes_.push_back(bind_shape(g.symbols(), sizes, g.info(v).aval.shape));
      views_.push_back({nullptr, &shapes_.back(), g.info(v).aval.dtype});
    }
    GRADUS_ASSERT(op_.attrs().bytes <= sizeof attrs_);
    std::memcpy(attrs_, g.attrs(n), op_.attrs().bytes);
    bind_attrs(g.symbols(), sizes, op_.attrs(), attrs_);
  }
  Call call() const { return {op_, attrs_, {views_.data(), views_.size()}}; }

 private:
  const Op& op_;
  SmallVector<Shape, 8> shapes_;
  SmallVector<View, 8> views_;
  alignas(16) std::byte attrs_[512];
};

}  // namespace

std::int64_t inner_bytes(const Graph& graph, const Sizes& sizes) {
  std::int64_t bytes = 0;
  for (const Graph::Node& n : graph.nodes())
    if (const auto* inside = held_as<TakesMemory>(graph, n))
      bytes += inside->inner_bytes(BoundNode(graph, n, sizes).call());
  return bytes;
}

std::shared_ptr<Graph> with_less_inner_memory(const Graph& graph, const Sizes& sizes, double part) {
  bool any = false;
  GraphCopy copy(graph);
  copy.to().keep_equal_nodes();
  for (const Graph::Node& n : graph.nodes()) {
    const auto* inside = held_as<TakesMemory>(graph, n);
    const std::shared_ptr<Held> held =
        inside ? inside->with_less_memory(BoundNode(graph, n, sizes).call(), part) : nullptr;
    if (!held) {
      copy.copy(n);
      continue;
    }
    any = true;
    copy.copy_with(n, *held);
  }
  return any ? copy.finish() : nullptr;
}

}  // namespace gradus
