#include "compile/inner_memory.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "compile/graph_copy.h"
#include "compile/held_as.h"
#include "compile/loop_run.h"

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
  copy.to().make_program();  // equal nodes stay apart
  for (const Graph::Node& n : graph.nodes()) {
    const auto* inside = held_as<TakesMemory>(graph, n);
    const std::shared_ptr<Held> held =
        inside ? inside->with_less_memory(BoundNode(graph, n, sizes).call(), part) : nullptr;
    if (!held) {
      copy.copy(n);
      continue;
    }
    any = true;
    std::vector<std::byte> attrs(n.op->attrs().bytes);
    std::memcpy(attrs.data(), graph.attrs(n), attrs.size());
    for (const AttrField& f : n.op->attrs().fields) {
      Held* const pointer = held.get();
      if (f.kind == AttrKind::held) std::memcpy(attrs.data() + f.offset, &pointer, sizeof pointer);
    }
    SmallVector<Graph::Value, 8> in;
    for (Graph::Value v : graph.operands(n)) in.push_back(copy[v]);
    copy.replace(n, *n.op, attrs.data(), in);
  }
  return any ? copy.finish() : nullptr;
}

std::int64_t second_places(const Region& body, std::span<const View> carries) {
  const auto outputs = std::span(body.program().graph().outputs());
  const auto stacks = outputs.subspan(carries.size());
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < carries.size(); ++i)
    if (!body.program().writes_over_input(i) && !std::ranges::count(stacks, outputs[i]))
      bytes += static_cast<std::int64_t>(bytes_of(carries[i]));
  return bytes;
}

}  // namespace gradus
