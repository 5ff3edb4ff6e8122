#include "compile/passes/hoist.h"

#include <algorithm>

#include "base/check.h"
#include "compile/graph_copy.h"
#include "compile/node_call.h"
#include "compile/region.h"
#include "compile/roles.h"
#include "graph/bind.h"
#include "graph/found_size.h"

namespace gradus {
namespace {

using Value = Graph::Value;
using Node = Graph::Node;
using Body = HasBodies::Body;

// Whether an op is defined for all values of its operands. What can be wrong with values are
// indices and the like, which have no derivative, and matrices that cannot be decomposed.
bool cannot_fail(const Op& op, std::uint32_t inputs) {
  if (op.kind == Kind::elementwise || op.info.expression || op.info.is_view) return true;
  if (op.kind != Kind::linear && op.kind != Kind::bilinear && op.kind != Kind::selecting)
    return false;
  for (std::uint32_t i = 0; i < inputs; ++i)
    if (!op.is_differentiable_in(static_cast<int>(i))) return false;
  return true;
}

// An op that a fused loop computes on the way, from operands that are all smaller than its result.
bool grows_on_the_way(const Graph& g, const Node& n) {
  const bool fuses =
      n.op->kind == Kind::elementwise || (n.op->info.expression && !n.op->info.row_axes);
  return fuses && std::ranges::none_of(g.operands(n), [&](Value v) {
           return is_same(g.info(v).aval.shape, g.info(n.first_out).aval.shape);
         });
}

enum class Fate : std::uint8_t { stays, moves, is_dropped };

// What one region of a loop gives away.
struct Share {
  std::vector<Fate> fates;     // by node
  std::vector<Value> further;  // values that moved ops make and others use
};

Share invariants(const Graph& g, const Body& body) {
  std::vector<bool> same(g.value_count());
  for (Value v = 0; v < g.value_count(); ++v) same[v] = g.info(v).constant.defined();
  for (std::size_t i = 0; i < body.operands.size(); ++i)
    same[g.inputs()[i]] = body.operands[i] >= 0;
  Share share{std::vector<Fate>(g.nodes().size(), Fate::stays), {}};
  if (finds_sizes(g)) return share;  // what its sizes hang on is not among the operands
  for (std::size_t k = 0; k < g.nodes().size(); ++k) {
    const Node& n = g.nodes()[k];
    if (n.op->info.stateful || !(body.surely_runs || cannot_fail(*n.op, n.in_count))) continue;
    if (!std::ranges::all_of(g.operands(n), [&](Value v) { return same[v]; })) continue;
    share.fates[k] = Fate::moves;
    for (std::uint32_t i = 0; i < n.out_count; ++i) same[n.first_out + i] = true;
  }
  // From the users back: who needs what is known by then.
  std::vector<bool> used_inside(g.value_count()), used_outside(g.value_count());
  for (Value v : g.outputs()) used_inside[v] = true;
  for (std::size_t k = g.nodes().size(); k-- > 0;) {
    const Node& n = g.nodes()[k];
    Fate& fate = share.fates[k];
    bool inside = false, outside = false;
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      inside = inside || used_inside[n.first_out + i];
      outside = outside || used_outside[n.first_out + i];
    }
    if (!inside && !outside && !n.op->info.stateful) fate = Fate::is_dropped;
    if (inside && !outside && (n.op->info.is_view || grows_on_the_way(g, n))) fate = Fate::stays;
    if (fate == Fate::is_dropped) continue;
    std::vector<bool>& used = fate == Fate::moves ? used_outside : used_inside;
    for (Value v : g.operands(n)) used[v] = true;
  }
  for (std::size_t k = 0; k < g.nodes().size(); ++k) {
    const Node& n = g.nodes()[k];
    for (std::uint32_t i = 0; share.fates[k] == Fate::moves && i < n.out_count; ++i)
      if (used_inside[n.first_out + i]) share.further.push_back(n.first_out + i);
  }
  return share;
}

class Hoister {
 public:
  explicit Hoister(const Graph& g) : copy_(g) {}

  // Null: nothing moves.
  std::shared_ptr<Graph> run() {
    bool any = false;
    for (const Node& n : copy_.from().nodes()) {
      const auto* loop = held_as<HasBodies>(copy_.from(), n);
      const bool moved = loop && move_out(n, *loop);
      if (!moved) copy_.copy(n);
      any = any || moved;
    }
    return any ? copy_.finish() : nullptr;
  }

 private:
  bool move_out(const Node& n, const HasBodies& loop);
  bool run_before(const Node& loop, const Body& body, const Graph& g, const Share& share);

  GraphCopy copy_;
  std::vector<Value> further_;  // what the loop at hand captures besides
};

// The moved ops, in the graph around the loop.
bool Hoister::run_before(const Node& loop, const Body& body, const Graph& g, const Share& share) {
  const std::optional<Sizes> sizes = bind_sizes(g, body.inputs);
  if (!sizes) return false;
  Graph& around = copy_.to();
  std::vector<Value> now(g.value_count(), ~0u);
  for (std::size_t i = 0; i < body.operands.size(); ++i)
    if (body.operands[i] >= 0)
      now[g.inputs()[i]] =
          copy_[copy_.from().operands(loop)[static_cast<std::size_t>(body.operands[i])]];
  alignas(16) std::byte attrs[512];
  for (std::size_t k = 0; k < g.nodes().size(); ++k) {
    if (share.fates[k] != Fate::moves) continue;
    const Node& n = g.nodes()[k];
    GRADUS_ASSERT(n.op->attrs().bytes <= sizeof attrs);
    std::copy_n(static_cast<const std::byte*>(g.attrs(n)), n.op->attrs().bytes, attrs);
    bind_attrs(g.symbols(), *sizes, n.op->attrs(), attrs);
    SmallVector<Value, 8> in;
    for (Value v : g.operands(n)) {
      if (g.info(v).constant.defined()) now[v] = around.add_constant(g.info(v).constant);
      in.push_back(now[v]);
    }
    const AttributeTo line(n.where);
    const Node made = around.add(*n.op, attrs, in);
    for (std::uint32_t i = 0; i < n.out_count; ++i) now[n.first_out + i] = made.first_out + i;
  }
  for (Value v : share.further) further_.push_back(now[v]);
  return true;
}

// A region without what moved; the results of that are further inputs, and so are those of the
// other regions of the loop.
std::shared_ptr<Region> rest(const Graph& g, const Share& share, std::span<const Graph* const> all,
                             std::span<const Share> shares) {
  GraphCopy copy(g);
  Sizes names;
  for (std::size_t i = 0; i < g.symbols().input_count(); ++i)
    names.push_back(g.symbols().name_of_input(i));
  for (std::size_t p = 0; p < all.size(); ++p) {
    for (Value v : shares[p].further) {
      Aval aval = all[p]->info(v).aval;
      aval.shape = bind_shape(all[p]->symbols(), names, aval.shape);
      const Value input = copy.to().add_input(aval);
      if (all[p] == &g) copy.map(v, input);
    }
  }
  for (std::size_t k = 0; k < g.nodes().size(); ++k)
    if (share.fates[k] == Fate::stays) copy.copy(g.nodes()[k]);
  return std::make_shared<Region>(copy.finish());
}

bool Hoister::move_out(const Node& n, const HasBodies& loop) {
  const Graph& from = copy_.from();
  const std::vector<Body> bodies = loop.bodies(NodeCall(from, n));

  std::vector<std::shared_ptr<const Graph>> inner;  // the regions, after their own loops
  std::vector<const Graph*> graphs;
  std::vector<Share> shares;
  bool any = false;
  for (const Body& body : bodies) {
    const std::shared_ptr<const Graph> changed = Hoister(body.region->graph()).run();
    inner.push_back(changed ? changed : body.region->graph().shared_from_this());
    graphs.push_back(inner.back().get());
    if (graphs.back()->symbols().input_count() != graphs[0]->symbols().input_count()) return false;
    shares.push_back(invariants(*graphs.back(), body));
    any = any || changed || !shares.back().further.empty();
  }
  if (!any) return false;
  further_.clear();
  for (std::size_t p = 0; p < bodies.size(); ++p)
    if (!run_before(n, bodies[p], *graphs[p], shares[p])) return false;
  std::vector<std::shared_ptr<Region>> regions;
  for (std::size_t p = 0; p < bodies.size(); ++p)
    regions.push_back(rest(*graphs[p], shares[p], graphs, shares));

  const std::shared_ptr<Held> held = loop.with_bodies(regions);
  const std::vector<std::byte> attrs = n.op->attrs().with_held(from.attrs(n), *held);
  SmallVector<Value, 16> in;
  for (Value v : from.operands(n)) in.push_back(copy_[v]);
  for (Value v : further_) in.push_back(v);
  copy_.replace(n, *n.op, attrs.data(), in);
  return true;
}

}  // namespace

std::shared_ptr<Graph> hoist(const std::shared_ptr<Graph>& graph) {
  auto changed = Hoister(*graph).run();
  return changed ? changed : graph;
}

}  // namespace gradus
