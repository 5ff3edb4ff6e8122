#include "compile/passes/clean.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compile/graph_copy.h"
#include "compile/roles.h"
#include "gradus/ops.h"
#include "graph/bind.h"
#include "graph/needed.h"

namespace gradus {
namespace {

using Value = Graph::Value;
constexpr std::int64_t kMaxFolded = 64 << 10;  // bytes: a larger result costs more than it saves

bool can_fold(const Graph& g, const Graph::Node& n) {
  if (n.op->info.stateful || n.op->info.is_marker) return false;
  std::int64_t bytes = 0;
  for (std::uint32_t i = 0; i < n.out_count; ++i) {
    const Aval& aval = g.info(n.first_out + i).aval;
    if (!aval.shape.is_known()) return false;
    bytes += aval.shape.num_elements() * static_cast<std::int64_t>(size_of(aval.dtype));
  }
  if (bytes > kMaxFolded || names_sizes(n.op->attrs(), g.attrs(n))) return false;
  if (n.in_count == 0)  // one number fuses better than an array of them
    for (const AttrField& f : n.op->attrs().fields)
      if (f.kind == AttrKind::integer || f.kind == AttrKind::size || f.kind == AttrKind::ints)
        return false;
  return true;
}

// Nodes that do what another one does, and more, by the one that they extend.
using Extensions = std::unordered_map<std::uint64_t, std::vector<std::size_t>>;

const Extension* extension(const Graph& g, const Graph::Node& n) {
  return n.op->info.stateful ? nullptr : held_as<Extension>(g, n);
}

Extensions find_extensions(const Graph& g, const std::vector<bool>& needed) {
  Extensions found;
  for (std::size_t k = 0; k < g.nodes().size(); ++k) {
    const Extension* e = needed[k] ? extension(g, g.nodes()[k]) : nullptr;
    if (e && e->extends != 0) found[e->extends].push_back(k);
  }
  return found;
}

// Whether two nodes have the same op, operands and attributes, whatever these hold.
bool same_but_held(const Graph& g, const Graph::Node& a, const Graph::Node& b) {
  if (a.op != b.op || !std::ranges::equal(g.operands(a), g.operands(b))) return false;
  const AttrType& type = a.op->attrs();
  return type.equal(type.with_held(g.attrs(a), *type.held(g.attrs(b))).data(), g.attrs(b));
}

// Where a gradient repeats a loop and keeps more of it, that one does for both.
const Graph::Node& widest(const Graph& g, const Graph::Node& n, const Extensions& extensions) {
  const Graph::Node* widest = &n;
  for (const Graph::Node* wider = widest; wider;) {
    widest = std::exchange(wider, nullptr);
    const auto known = extensions.find(extension(g, *widest)->id);
    if (known == extensions.end()) break;
    for (std::size_t k : known->second)
      if (!wider && same_but_held(g, n, g.nodes()[k])) wider = &g.nodes()[k];
  }
  return *widest;
}

// Loops whose states a derivative asks for: who asks, by loop, and the loop, by who asks.
struct AskedLoops {
  std::unordered_map<std::size_t, std::size_t> asker, loop;
};

// The loop that this node asks for its states, if it does.
const KeepsStates* is_asked(const Graph& g, const Graph::Node& n) {
  const auto* loop = held_as<KeepsStates>(g, n);
  return loop && loop->is_asked_by(*n.op) ? loop : nullptr;
}

AskedLoops find_asked(const Graph& g, const std::vector<bool>& needed) {
  AskedLoops found;
  for (std::size_t k = 0; k < g.nodes().size(); ++k) {
    const Graph::Node& asker = g.nodes()[k];
    const KeepsStates* const asked = needed[k] ? is_asked(g, asker) : nullptr;
    if (!asked) continue;
    for (std::size_t j = 0; j < k; ++j) {
      const Graph::Node& loop = g.nodes()[j];
      if (!needed[j] || held_as<KeepsStates>(g, loop) != asked || !asked->keeping(*loop.op) ||
          !std::ranges::equal(g.operands(asker), g.operands(loop)))
        continue;
      found.asker.emplace(j, k);
      found.loop.emplace(k, j);
      break;
    }
  }
  return found;
}

}  // namespace

std::shared_ptr<Graph> clean(const Graph& graph) {
  const std::vector<bool> needed = needed_for(graph, graph.outputs(), {}, Effects::kept).nodes;
  const Extensions extensions = find_extensions(graph, needed);
  const AskedLoops asked = find_asked(graph, needed);
  std::unordered_map<std::size_t, Value> states;  // by loop
  GraphCopy copy(graph);
  std::vector<Tensor> folded(graph.value_count());  // they come over when somebody uses them
  const auto constant = [&](Value v) -> const Tensor& {
    return folded[v].defined() ? folded[v] : graph.info(v).constant;
  };
  const auto use = [&](Value v) {
    if (folded[v].defined()) copy.map(v, copy.to().add_constant(folded[v]));
    return copy[v];
  };
  for (std::size_t k = 0; k < graph.nodes().size(); ++k) {
    if (!needed[k]) continue;
    const Graph::Node& n = graph.nodes()[k];
    const auto operands = graph.operands(n);
    const bool is_constant =
        std::ranges::all_of(operands, [&](Value v) { return constant(v).defined(); });
    if (is_constant && can_fold(graph, n)) {
      SmallVector<Tensor, 8> values;
      for (Value v : operands) values.push_back(constant(v));
      const Tensors out = n.op->run(values, graph.attrs(n));
      for (std::uint32_t i = 0; i < n.out_count; ++i) folded[n.first_out + i] = out[i];
      continue;
    }
    SmallVector<Value, 8> in;
    for (Value v : operands) in.push_back(use(v));
    if (n.op->info.is_view &&
        is_same(graph.info(n.first_out).aval.shape, graph.info(operands[0]).aval.shape)) {
      copy.map(n.first_out, in[0]);
    } else if (extension(graph, n)) {
      const Graph::Node& more = widest(graph, n, extensions);
      const Graph::Node made = copy.to().add(*more.op, graph.attrs(more), in);
      for (std::uint32_t i = 0; i < n.out_count; ++i) copy.map(n.first_out + i, made.first_out + i);
    } else if (const auto asker = asked.asker.find(k); asker != asked.asker.end()) {
      const AttributeTo line(n.where);
      const Graph::Node made = copy.to().add(*held_as<KeepsStates>(graph, n)->keeping(*n.op),
                                             graph.attrs(graph.nodes()[asker->second]), in);
      for (std::uint32_t i = 0; i < n.out_count; ++i) copy.map(n.first_out + i, made.first_out + i);
      states.emplace(k, made.first_out + n.out_count);
    } else if (is_asked(graph, n)) {
      const auto loop = asked.loop.find(k);
      copy.map(n.first_out, loop != asked.loop.end() ? states.at(loop->second)
                                                     : copy.to().add_constant(zeros({0}, uint8)));
    } else {
      copy.replace(n, *n.op, graph.attrs(n), in);
    }
  }
  for (Value v : graph.outputs()) use(v);
  return copy.finish();
}

}  // namespace gradus
