#include "compile/passes/remat.h"

#include <algorithm>

#include "compile/graph_copy.h"
#include "graph/cost.h"

namespace gradus {
namespace {

using Value = Graph::Value;
using Node = Graph::Node;
using Time = std::uint32_t;  // a node of the graph as it was; what is repeated belongs to who asks

constexpr Time kNone = ~0u;
constexpr std::size_t kMaxCone = 64;    // ops that come back for one value
constexpr std::size_t kMaxUsers = 256;  // of a value that may come back: one with more is in use
constexpr int kMaxRounds = 8;           // of choosing and measuring, for one size of segments

// One way to lay out the program, measured.
struct Attempt {
  std::shared_ptr<Graph> graph;
  std::vector<Time> times;              // by node of that graph
  std::vector<std::vector<Time>> uses;  // by node as it was: who reads its first life
  std::int64_t bytes = 0;
  Time peak = 0;
  std::size_t repeated = 0;
  double flops = 0;
};

class Search {
 public:
  Search(const Graph& g, const Sizes& sizes, std::span<const Donation> donations,
         std::int64_t limit);
  Rematerialised run();

 private:
  struct Candidate {
    Time node, split, late;
    double gain;  // bytes for an operation
    std::int64_t bytes;
  };
  struct Cone {
    std::vector<Time> nodes;
    std::int64_t bytes = 0;
    double flops = 0;
  };

  // Who made what a value is a view of; kNone: an input or a constant.
  Time maker(Value v) const {
    const std::int32_t node = g_.info(plan_.places[v].root).node;
    return node < 0 ? kNone : static_cast<Time>(node);
  }
  bool comes_back(Value v, Time now) const {
    const std::int32_t node = g_.info(v).node;
    return node >= 0 && split_[static_cast<std::size_t>(node)] < now;
  }

  Attempt measure();
  void repeat(Time node, Time now, GraphCopy& copy, Attempt& attempt);
  void add_node(Time node, Time now, GraphCopy& copy, Attempt& attempt);
  Value use(Value v, Time now, GraphCopy& copy, Attempt& attempt);

  bool choose(const Attempt& attempt, std::int64_t segment_bytes);
  std::vector<Candidate> candidates(const Attempt& attempt);
  bool find_cone(const Attempt& attempt, Time node, Time late, Cone& cone);
  bool join_segments(const Cone& cone, std::int64_t segment_bytes);
  Time segment(Time node);

  const Graph& g_;
  const Sizes& sizes_;
  const std::span<const Donation> donations_;
  const std::int64_t limit_;
  const BufferPlan plan_;
  // By node.
  std::vector<std::int64_t> bytes_;
  std::vector<double> flops_;
  std::vector<bool> repeatable_;
  std::vector<std::vector<Time>> users_;
  std::vector<Time> split_;   // who comes later reads the second life; kNone: there is none
  std::vector<Time> parent_;  // segments, as a forest
  std::vector<std::int64_t> segment_bytes_;  // by its root
  std::vector<Value> again_;                 // by value: its second life
  std::vector<Time> overwritten_;            // by value: when an input's memory becomes a result
  std::vector<std::uint32_t> mark_;          // of the cone that was looked at last
  std::uint32_t marks_ = 0;
};

Search::Search(const Graph& g, const Sizes& sizes, std::span<const Donation> donations,
               std::int64_t limit)
    : g_(g),
      sizes_(sizes),
      donations_(donations),
      limit_(limit),
      plan_(plan_buffers(g, donations)),
      bytes_(g.nodes().size(), 0),
      flops_(g.nodes().size(), 0),
      repeatable_(g.nodes().size()),
      users_(g.nodes().size()),
      overwritten_(g.value_count(), kNone),
      mark_(g.nodes().size(), 0) {
  for (std::size_t k = 0; k < plan_.donor.size(); ++k) {
    if (plan_.donor[k] < 0) continue;
    const Value input = g.inputs()[static_cast<std::size_t>(plan_.donor[k])];
    overwritten_[input] = maker(g.outputs()[k]);
  }
  for (Time k = 0; k < g.nodes().size(); ++k) {
    const Node& n = g.nodes()[k];
    if (n.op->info.is_view) continue;
    repeatable_[k] = !n.op->info.stateful && n.out_count > 0;
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      if (plan_.places[n.first_out + i].home == Home::output) repeatable_[k] = false;
      bytes_[k] += bytes_of(g, n.first_out + i, sizes);
    }
    flops_[k] = cost_of(g, n, sizes).flops;
    for (Value v : g.operands(n))
      if (maker(v) != kNone) users_[maker(v)].push_back(k);
  }
  for (Time k = 0; k < g.nodes().size(); ++k)
    if (users_[k].size() > kMaxUsers) repeatable_[k] = false;
}

Value Search::use(Value v, Time now, GraphCopy& copy, Attempt& attempt) {
  if (comes_back(v, now)) return again_[v];
  if (maker(v) != kNone) attempt.uses[maker(v)].push_back(now);
  return copy[v];
}

void Search::add_node(Time node, Time now, GraphCopy& copy, Attempt& attempt) {
  const Node& n = g_.nodes()[node];
  const AttributeTo line(n.where);
  SmallVector<Value, 8> in;
  for (Value v : g_.operands(n)) in.push_back(use(v, now, copy, attempt));
  const Node made = copy.to().add(*n.op, g_.attrs(n), in);
  attempt.times.push_back(now);
  for (std::uint32_t i = 0; i < n.out_count; ++i) {
    if (node == now) {
      copy.map(n.first_out + i, made.first_out + i);
    } else {
      again_[n.first_out + i] = made.first_out + i;
    }
  }
}

// The second life of what a node makes, after those of its operands that need one.
void Search::repeat(Time node, Time now, GraphCopy& copy, Attempt& attempt) {
  std::vector<Time> open{node};
  while (!open.empty()) {
    const Time top = open.back();
    const Node& n = g_.nodes()[top];
    bool ready = true;
    for (Value v : g_.operands(n)) {
      if (!comes_back(v, now) || again_[v] != kNone) continue;
      open.push_back(static_cast<Time>(g_.info(v).node));
      ready = false;
    }
    if (!ready) continue;
    open.pop_back();
    if (again_[n.first_out] != kNone) continue;
    add_node(top, now, copy, attempt);
    if (n.op->info.is_view || split_[top] == top) continue;
    ++attempt.repeated;
    attempt.flops += flops_[top];
  }
}

Attempt Search::measure() {
  Attempt attempt;
  attempt.uses.resize(g_.nodes().size());
  again_.assign(g_.value_count(), kNone);
  for (Time k = 0; k < g_.nodes().size(); ++k) {  // views live as what they look at
    const Node& n = g_.nodes()[k];
    if (n.op->info.is_view)
      split_[k] = maker(n.first_out) == kNone ? kNone : split_[maker(n.first_out)];
  }
  GraphCopy copy(g_);
  copy.to().keep_equal_nodes();
  for (Time k = 0; k < g_.nodes().size(); ++k) {
    const Node& n = g_.nodes()[k];
    if (split_[k] == k || (n.op->info.is_view && split_[k] < k)) continue;  // nobody reads it yet
    for (Value v : g_.operands(n))
      if (comes_back(v, k) && again_[v] == kNone)
        repeat(static_cast<Time>(g_.info(v).node), k, copy, attempt);
    add_node(k, k, copy, attempt);
  }
  attempt.graph = copy.finish();

  const BufferPlan plan = plan_buffers(*attempt.graph, donations_);
  const std::vector<Lifetime> buffers = lifetimes(*attempt.graph, plan, sizes_);
  attempt.bytes = plan_memory(buffers).bytes;
  std::vector<std::int64_t> change(plan.steps.size() + 1, 0);
  for (const Lifetime& b : buffers) {
    change[b.first] += b.bytes;
    change[b.last + 1] -= b.bytes;
  }
  std::int64_t alive = 0, most = -1;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    alive += change[s];
    if (alive <= most) continue;
    most = alive;
    attempt.peak = attempt.times[plan.steps[s].node];
  }
  return attempt;
}

// Values that lie idle when most memory is in use.
std::vector<Search::Candidate> Search::candidates(const Attempt& attempt) {
  std::vector<Candidate> found;
  for (Time k = 0; k < attempt.peak; ++k) {
    if (!repeatable_[k] || split_[k] != kNone || bytes_[k] == 0) continue;
    const std::vector<Time>& uses = attempt.uses[k];
    const auto late = std::upper_bound(uses.begin(), uses.end(), attempt.peak);
    if (late == uses.end()) continue;
    const Time split = late == uses.begin() ? k : *std::prev(late);
    if (split == attempt.peak) continue;
    Cone cone;
    if (!find_cone(attempt, k, *late, cone)) continue;
    const double gain = static_cast<double>(bytes_[k]) / (cone.flops + 1);
    found.push_back({k, split, *late, gain, bytes_[k]});
  }
  std::ranges::stable_sort(found, std::greater(), &Candidate::gain);
  return found;
}

// What has to run again so that a node can at `late`; false: something cannot, or it is too much.
bool Search::find_cone(const Attempt& attempt, Time node, Time late, Cone& cone) {
  ++marks_;
  cone = {{node}, 0, 0};
  mark_[node] = marks_;
  for (std::size_t i = 0; i < cone.nodes.size(); ++i) {
    const Time k = cone.nodes[i];
    cone.bytes += bytes_[k];
    cone.flops += flops_[k];
    for (Value v : g_.operands(g_.nodes()[k])) {
      const BufferPlan::Place& place = plan_.places[v];
      if (overwritten_[place.root] < late) return false;
      if (place.home != Home::arena) continue;
      const Time from = maker(v);
      const bool alive = !attempt.uses[from].empty() && attempt.uses[from].back() >= late;
      if (alive || split_[from] != kNone || mark_[from] == marks_) continue;
      if (!repeatable_[from] || cone.nodes.size() == kMaxCone) return false;
      mark_[from] = marks_;
      cone.nodes.push_back(from);
    }
  }
  return true;
}

Time Search::segment(Time node) {
  while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
  return node;
}

// Makes the cone a part of the segments that it touches, unless that would be too large a one: all
// of it may be alive at once when it comes back.
bool Search::join_segments(const Cone& cone, std::int64_t segment_bytes) {
  std::vector<Time> touched;
  const auto touch = [&](Time k) {
    if (split_[k] == kNone) return;
    const Time root = segment(k);
    if (std::ranges::find(touched, root) == touched.end()) touched.push_back(root);
  };
  for (Time k : cone.nodes) {
    for (Value v : g_.operands(g_.nodes()[k]))
      if (maker(v) != kNone) touch(maker(v));
    for (Time user : users_[k]) touch(user);
  }
  std::int64_t bytes = cone.bytes;
  for (Time root : touched) bytes += segment_bytes_[root];
  if (bytes > segment_bytes) return false;
  const Time root = cone.nodes[0];
  for (Time k : cone.nodes) parent_[k] = root;
  for (Time k : touched) parent_[k] = root;
  segment_bytes_[root] = bytes;
  return true;
}

bool Search::choose(const Attempt& attempt, std::int64_t segment_bytes) {
  std::int64_t missing = attempt.bytes - limit_;
  bool any = false;
  for (const Candidate& c : candidates(attempt)) {
    if (missing <= 0) break;
    Cone cone;
    if (split_[c.node] != kNone || !find_cone(attempt, c.node, c.late, cone) ||
        !join_segments(cone, segment_bytes)) {
      continue;
    }
    for (Time k : cone.nodes) split_[k] = attempt.uses[k].empty() ? k : attempt.uses[k].back();
    split_[c.node] = c.split;
    missing -= c.bytes;
    any = true;
  }
  return any;
}

Rematerialised Search::run() {
  const std::size_t nodes = g_.nodes().size();
  const auto start_again = [&] {
    split_.assign(nodes, kNone);
    segment_bytes_.assign(nodes, 0);
    parent_.assign(nodes, kNone);
  };
  start_again();
  const Attempt as_it_was = measure();
  Rematerialised best{nullptr, as_it_was.bytes, as_it_was.bytes, 0, 0};
  // Small segments need little memory when they come back, large ones leave little in between: the
  // smallest that does is the cheapest.
  const std::int64_t smallest = std::max<std::int64_t>((as_it_was.bytes - limit_) / 16, 64);
  for (std::int64_t segment = smallest; best.bytes > limit_ && segment < as_it_was.bytes;
       segment *= 2) {
    start_again();
    Attempt attempt = as_it_was;
    for (int round = 0; round < kMaxRounds && attempt.bytes > limit_; ++round) {
      if (!choose(attempt, segment)) break;
      attempt = measure();
      if (attempt.bytes < best.bytes)
        best = {attempt.graph, as_it_was.bytes, attempt.bytes, attempt.repeated, attempt.flops};
    }
  }
  return best;
}

}  // namespace

Rematerialised rematerialise(const Graph& graph, const Sizes& sizes,
                             std::span<const Donation> donations, std::int64_t limit) {
  return Search(graph, sizes, donations, limit).run();
}

}  // namespace gradus
