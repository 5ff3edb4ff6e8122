#include "compile/passes/epilogue.h"

#include <algorithm>
#include <queue>

#include "base/check.h"
#include "compile/blocked_loop.h"
#include "compile/graph_copy.h"
#include "compile/roles.h"
#include "graph/block_kernels.h"

namespace gradus {
namespace {

using Value = Graph::Value;
using Node = Graph::Node;
constexpr std::uint32_t kNone = ~0u;
constexpr std::int32_t kInput = -1;  // Graph::ValueInfo::node
// Arrays of the product's size that a loop may read and write besides the product. More of them
// lose more by being walked over in blocks than the product's way through memory costs: measured in
// docs/design/021.
constexpr int kMostArrays = 2;

// A node and its maker count as one unit, named by the node. As all readers of what the maker makes
// stand behind the node, units in the order of their names are in a possible order.
class Epilogues {
 public:
  explicit Epilogues(const Graph& g)
      : g_(g),
        readers_(g.value_count()),
        is_output_(g.value_count(), false),
        maker_of_(g.nodes().size(), kNone),
        unit_(g.nodes().size()) {
    for (std::uint32_t k = 0; k < g.nodes().size(); ++k) {
      unit_[k] = k;
      for (Value v : g.operands(g.nodes()[k])) readers_[v].push_back(k);
    }
    for (Value v : g.outputs()) is_output_[v] = true;
  }

  std::shared_ptr<Graph> run() {
    for (std::uint32_t k = 0; k < g_.nodes().size(); ++k) join(k);
    GraphCopy copy(g_);
    for (const std::uint32_t k : order()) {
      if (maker_of_[k] == kNone) {
        copy.copy(g_.nodes()[k]);
      } else {
        emit(copy, k);
      }
    }
    return copy.finish();
  }

 private:
  const Shape& shape(Value v) const { return g_.info(v).aval.shape; }
  const FusedLoop& loop_of(const Node& n) const { return *held_as<FusedLoop>(g_, n); }

  bool can_make(std::uint32_t maker, Value v, std::uint32_t node) const {
    const Node& n = g_.nodes()[maker];
    return BlockKernel::of(*n.op) && n.out_count == 1 && !n.op->attrs().holds &&
           !n.op->info.stateful && unit_[maker] == maker && readers_[v].front() == node;
  }

  // Finds the maker whose blocks the loop of node k can follow: of several the last.
  void join(std::uint32_t k) {
    const Node& n = g_.nodes()[k];
    const auto* fused = held_as<FusedLoop>(g_, n);
    if (!fused) return;
    const FusedLoop& loop = *fused;
    if (loop.row_axes != 0 || loop.domain.rank() == 0) return;
    int arrays = static_cast<int>(loop.out.size()) - 1;  // without the product itself
    for (Value v : g_.operands(n)) {
      if (row_role(shape(v), loop.domain, 1) == RowRole::none) return;
      arrays += is_same(shape(v), loop.domain);
    }
    if (arrays > kMostArrays) return;
    std::uint32_t best = kNone;
    for (Value v : g_.operands(n)) {
      if (g_.info(v).node < 0 || !is_same(shape(v), loop.domain)) continue;
      const auto maker = static_cast<std::uint32_t>(g_.info(v).node);
      if (can_make(maker, v, k) && (best == kNone || maker > best)) best = maker;
    }
    if (best == kNone) return;
    maker_of_[k] = best;
    unit_[best] = k;
  }

  // Units, each as early as its first node stood if what it needs can be there by then.
  std::vector<std::uint32_t> order() const {
    const auto count = static_cast<std::uint32_t>(g_.nodes().size());
    std::vector<std::uint32_t> place(count), waiting(count, 0);
    std::vector<std::vector<std::uint32_t>> users(count);
    for (std::uint32_t k = 0; k < count; ++k) place[k] = maker_of_[k] == kNone ? k : maker_of_[k];
    const auto for_needed = [&](std::uint32_t k, const auto& visit) {
      const auto of = [&](std::uint32_t node) {
        for (Value v : g_.operands(g_.nodes()[node])) {
          if (g_.info(v).node < 0) continue;
          const std::uint32_t on = unit_[static_cast<std::uint32_t>(g_.info(v).node)];
          if (on != k) visit(on);
        }
      };
      of(k);
      if (maker_of_[k] != kNone) of(maker_of_[k]);
    };
    const auto depend = [&](std::uint32_t user, std::uint32_t on) {
      users[on].push_back(user);
      ++waiting[user];
    };
    std::uint32_t last_effect = kNone;
    for (std::uint32_t k = 0; k < count; ++k) {
      if (unit_[k] != k) continue;
      for_needed(k, [&](std::uint32_t on) { depend(k, on); });
      if (g_.nodes()[k].op->info.stateful) {
        if (last_effect != kNone) depend(k, last_effect);
        last_effect = k;
      }
      if (maker_of_[k] == kNone) continue;
      for (Value v : g_.operands(g_.nodes()[k])) {  // an input that may be written over
        if (g_.info(v).node != kInput || !is_same(shape(v), loop_of(g_.nodes()[k]).domain))
          continue;
        for (std::uint32_t reader : readers_[v])
          if (unit_[reader] < k) depend(k, unit_[reader]);
      }
    }
    for (std::uint32_t k = count; k-- > 0;)
      if (unit_[k] == k)
        for_needed(k, [&](std::uint32_t on) { place[on] = std::min(place[on], place[k]); });

    using Entry = std::pair<std::uint32_t, std::uint32_t>;  // place, unit
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (std::uint32_t k = 0; k < count; ++k)
      if (unit_[k] == k && waiting[k] == 0) ready.emplace(place[k], k);
    std::vector<std::uint32_t> result;
    while (!ready.empty()) {
      const std::uint32_t k = ready.top().second;
      ready.pop();
      result.push_back(k);
      for (std::uint32_t user : users[k])
        if (--waiting[user] == 0) ready.emplace(place[user], user);
    }
    GRADUS_ASSERT(result.size() + static_cast<std::size_t>(std::ranges::count_if(
                                      maker_of_, [](auto m) { return m != kNone; })) ==
                  count);
    return result;
  }

  void emit(GraphCopy& copy, std::uint32_t k) {
    const Node &n = g_.nodes()[k], &maker = g_.nodes()[maker_of_[k]];
    auto blocked = std::make_shared<BlockedLoop>();
    blocked->maker = maker.op;
    blocked->run = BlockKernel::of(*maker.op);
    const auto* attrs = static_cast<const std::byte*>(g_.attrs(maker));
    blocked->attrs.assign(attrs, attrs + maker.op->attrs().bytes);
    blocked->maker_inputs = maker.in_count;
    blocked->made = g_.info(maker.first_out).aval;
    blocked->loop = &loop_of(n);
    blocked->holds_loop = blocked->loop->shared_from_this();
    blocked->members = std::string(maker.op->name()) + ", " + blocked->loop->members;
    blocked->keeps_made = is_output_[maker.first_out] || readers_[maker.first_out].size() > 1;
    SmallVector<Value, 12> in;
    for (Value v : g_.operands(maker)) in.push_back(copy[v]);
    const auto operands = g_.operands(n);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i] == maker.first_out) {
        blocked->port = static_cast<std::uint32_t>(i);
      } else {
        in.push_back(copy[operands[i]]);
      }
    }
    const BlockedAttrs held{blocked.get()};
    const AttributeTo line(maker.where);
    const Node made = copy.to().add(blocked_op, &held, in);
    for (std::uint32_t i = 0; i < n.out_count; ++i) copy.map(n.first_out + i, made.first_out + i);
    if (blocked->keeps_made) copy.map(maker.first_out, made.first_out + n.out_count);
  }

  const Graph& g_;
  std::vector<std::vector<std::uint32_t>> readers_;  // by value, in order
  std::vector<bool> is_output_;
  std::vector<std::uint32_t> maker_of_;  // by node: the maker in its unit
  std::vector<std::uint32_t> unit_;      // by node
};

}  // namespace

std::shared_ptr<Graph> epilogue(const Graph& graph) { return Epilogues(graph).run(); }

}  // namespace gradus
