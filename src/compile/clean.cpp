#include "compile/clean.h"

#include <algorithm>

#include "compile/graph_copy.h"
#include "compile/loop.h"

namespace gradus {
namespace {

using Value = Graph::Value;
constexpr std::int64_t kMaxFolded = 64 << 10;  // bytes: a larger result costs more than it saves

std::vector<bool> needed_nodes(const Graph& g) {
  std::vector<bool> value(g.value_count(), false), node(g.nodes().size(), false);
  for (Value v : g.outputs()) value[v] = true;
  for (std::size_t k = g.nodes().size(); k-- > 0;) {
    const Graph::Node& n = g.nodes()[k];
    bool needed = n.op->info.stateful;
    for (std::uint32_t i = 0; i < n.out_count; ++i) needed = needed || value[n.first_out + i];
    node[k] = needed;
    if (!needed) continue;
    for (Value v : g.operands(n)) value[v] = true;
  }
  return node;
}

bool is_constant(const Graph& g, Value v) { return g.info(v).constant.defined(); }

// Whether an attribute is a size that is known only when the program runs.
bool has_symbols(const AttrType& type, const void* attrs) {
  for (const AttrField& f : type.fields) {
    const std::byte* at = static_cast<const std::byte*>(attrs) + f.offset;
    if (f.kind == AttrKind::ints) {
      const Ints& list = *reinterpret_cast<const Ints*>(at);
      if (std::any_of(list.begin(), list.end(), is_symbol)) return true;
    } else if (f.kind == AttrKind::integer && f.bytes == 8) {
      if (is_symbol(*reinterpret_cast<const std::int64_t*>(at))) return true;
    }
  }
  return false;
}

bool can_fold(const Graph& g, const Graph::Node& n, std::span<const Value> in) {
  if (n.op->info.stateful) return false;
  std::int64_t bytes = 0;
  for (std::uint32_t i = 0; i < n.out_count; ++i) {
    const Aval& aval = g.info(n.first_out + i).aval;
    if (aval.shape.is_symbolic()) return false;
    bytes += aval.shape.num_elements() * static_cast<std::int64_t>(size_of(aval.dtype));
  }
  if (bytes > kMaxFolded || has_symbols(n.op->attrs(), g.attrs(n))) return false;
  if (in.empty())  // one number fuses better than an array of them
    for (const AttrField& f : n.op->attrs().fields)
      if (f.kind == AttrKind::integer || f.kind == AttrKind::ints) return false;
  return true;
}

// Where a gradient repeats a loop and keeps more of it, that one does for both.
const Graph::Node& widest_loop(const Graph& g, const Graph::Node& n,
                               const std::vector<bool>& needed) {
  const Graph::Node* widest = &n;
  for (std::size_t k = 0; k < g.nodes().size(); ++k) {
    const Graph::Node& other = g.nodes()[k];
    if (!needed[k] || other.op != n.op || !same_count(g.attrs(n), g.attrs(other))) continue;
    if (counted_loop_of(g.attrs(other)).extends != counted_loop_of(g.attrs(*widest)).id) continue;
    if (std::ranges::equal(g.operands(n), g.operands(other))) widest = &other;
  }
  return *widest;
}

}  // namespace

std::shared_ptr<Graph> clean(const Graph& graph) {
  const std::vector<bool> needed = needed_nodes(graph);
  GraphCopy copy(graph);
  for (std::size_t k = 0; k < graph.nodes().size(); ++k) {
    if (!needed[k]) continue;
    const Graph::Node& n = graph.nodes()[k];
    SmallVector<Value, 8> in;
    bool constant = true;
    for (Value v : graph.operands(n)) {
      in.push_back(copy[v]);
      constant = constant && is_constant(copy.to(), in.back());
    }
    if (n.op->info.is_view &&
        graph.info(n.first_out).aval.shape == graph.info(graph.operands(n)[0]).aval.shape) {
      copy.map(n.first_out, in[0]);
    } else if (constant && can_fold(graph, n, in)) {
      SmallVector<Tensor, 8> values;
      for (Value v : in) values.push_back(copy.to().info(v).constant);
      const Tensors out = n.op->run(values, graph.attrs(n));
      for (std::uint32_t i = 0; i < n.out_count; ++i)
        copy.map(n.first_out + i, copy.to().add_constant(out[i]));
    } else if (n.op == &counted_loop_op) {
      const Graph::Node& loop = widest_loop(graph, n, needed);
      const Graph::Node made = copy.to().add(*loop.op, graph.attrs(loop), in);
      for (std::uint32_t i = 0; i < n.out_count; ++i)  // carries, then the stacks of both
        copy.map(n.first_out + i, made.first_out + i);
    } else {
      copy.replace(n, *n.op, graph.attrs(n), in);
    }
  }
  return copy.finish();
}

}  // namespace gradus
