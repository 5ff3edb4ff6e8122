#include "compile/passes/siblings.h"

#include <algorithm>
#include <map>

#include "compile/graph_copy.h"
#include "graph/product.h"

namespace gradus {
namespace {

using Value = Graph::Value;
using Node = Graph::Node;
using Members = std::vector<std::uint32_t>;  // nodes, in order

class Families {
 public:
  explicit Families(const Graph& g)
      : g_(g), readers_(g.value_count()), place_(g.nodes().size()), family_(g.nodes().size()) {
    for (std::uint32_t k = 0; k < g.nodes().size(); ++k) {
      place_[k] = k;
      for (Value v : g.operands(g.nodes()[k])) readers_[v].push_back(k);
    }
  }

  std::shared_ptr<Graph> run() {
    for (const Members& members : candidates()) unite(members);
    GraphCopy copy(g_);
    for (std::uint32_t k = 0; k < g_.nodes().size(); ++k) {
      if (!family_[k].empty()) emit(copy, family_[k]);
      if (!is_member_[k]) copy.copy(g_.nodes()[k]);
    }
    return copy.finish();
  }

 private:
  Value operand(std::uint32_t node, std::size_t i) const {
    return g_.operands(g_.nodes()[node])[i];
  }

  // Products of one op with the same left operand and attributes.
  std::vector<Members> candidates() const {
    std::map<Value, std::vector<Members>> by_left;
    for (std::uint32_t k = 0; k < g_.nodes().size(); ++k) {
      const Node& n = g_.nodes()[k];
      if (!n.op->info.product || !n.op->info.product->together) continue;
      std::vector<Members>& families = by_left[operand(k, 0)];
      const auto same = std::ranges::find_if(families, [&](const Members& m) {
        const Node& first = g_.nodes()[m[0]];
        return first.op == n.op && n.op->attrs().equal(g_.attrs(first), g_.attrs(n));
      });
      if (same == families.end()) {
        families.push_back({k});
      } else {
        same->push_back(k);
      }
    }
    std::vector<Members> found;
    for (auto& [left, families] : by_left)
      for (Members& m : families)
        if (m.size() > 1) found.push_back(std::move(m));
    return found;
  }

  bool gains(const Members& members) const {
    const Node& first = g_.nodes()[members[0]];
    SmallVector<View, 4> views;
    const auto look = [&](Value v) {
      views.push_back({nullptr, &g_.info(v).aval.shape, g_.info(v).aval.dtype});
    };
    look(operand(members[0], 0));
    for (std::uint32_t k : members) look(operand(k, 1));
    return first.op->info.product->gains_together({*first.op, g_.attrs(first), views});
  }

  // At the place of the first if all operands are there by then, or at that of the last if nobody
  // reads a result before.
  void unite(const Members& members) {
    if (!gains(members)) return;
    const std::uint32_t first = members.front(), last = members.back();
    const bool early = std::ranges::all_of(members, [&](std::uint32_t k) {
      const std::int32_t maker = g_.info(operand(k, 1)).node;
      return maker < 0 || place_[static_cast<std::size_t>(maker)] < first;
    });
    const bool late = std::ranges::all_of(members, [&](std::uint32_t k) {
      return std::ranges::all_of(readers_[g_.nodes()[k].first_out],
                                 [&](std::uint32_t reader) { return place_[reader] > last; });
    });
    if (!early && !late) return;
    const std::uint32_t place = early ? first : last;
    for (std::uint32_t k : members) {
      place_[k] = place;
      is_member_[k] = true;
    }
    family_[place] = members;
  }

  void emit(GraphCopy& copy, const Members& members) {
    const Node& first = g_.nodes()[members[0]];
    const AttributeTo line(first.where);
    std::vector<Tensor> in{copy.to().tensor(copy[operand(members[0], 0)])};
    for (std::uint32_t k : members) in.push_back(copy.to().tensor(copy[operand(k, 1)]));
    const Tensors made = first.op->info.product->together(g_.attrs(first), in);
    for (std::size_t i = 0; i < members.size(); ++i)
      copy.map(g_.nodes()[members[i]].first_out, copy.to().value(made[i]));
  }

  const Graph& g_;
  std::vector<Members> readers_;      // by value
  std::vector<std::uint32_t> place_;  // by node: where it is computed
  std::vector<Members> family_;       // by place: who is computed together there
  std::vector<bool> is_member_ = std::vector<bool>(g_.nodes().size());
};

}  // namespace

std::shared_ptr<Graph> siblings(const Graph& graph) { return Families(graph).run(); }

}  // namespace gradus
