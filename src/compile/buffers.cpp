#include "compile/buffers.h"

#include <algorithm>

#include "compile/bound_step.h"
#include "compile/node_call.h"
#include "compile/roles.h"

namespace gradus {
namespace {

using Value = Graph::Value;
constexpr std::int64_t kNever = -1;

void find_places(const Graph& g, BufferPlan& plan) {
  plan.places.resize(g.value_count());
  for (Value v = 0; v < g.value_count(); ++v) plan.places[v].root = v;
  for (std::size_t i = 0; i < g.inputs().size(); ++i) {
    plan.places[g.inputs()[i]].home = Home::input;
    plan.places[g.inputs()[i]].index = static_cast<std::uint32_t>(i);
  }
  for (Value v = 0; v < g.value_count(); ++v)
    if (g.info(v).constant.defined()) plan.places[v].home = Home::constant;
  for (std::size_t k = 0; k < g.nodes().size(); ++k) {
    const Graph::Node& n = g.nodes()[k];
    if (n.op->info.is_view) {
      plan.places[n.first_out] = plan.places[g.operands(n)[0]];
      continue;
    }
    plan.steps.push_back(
        {static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(plan.view_count)});
    plan.view_count += n.in_count + n.out_count;
    for (std::uint32_t i = 0; i < n.out_count; ++i) plan.places[n.first_out + i].home = Home::arena;
  }
  for (std::size_t k = 0; k < g.outputs().size(); ++k) {
    BufferPlan::Place& root = plan.places[plan.places[g.outputs()[k]].root];
    if (root.home == Home::arena) {
      root.home = Home::output;
      root.index = static_cast<std::uint32_t>(k);
    }
    plan.made_out.push_back(root.home == Home::output ? root.index : static_cast<std::uint32_t>(k));
  }
  for (BufferPlan::Place& p : plan.places) {  // views lie where their roots do
    const BufferPlan::Place& root = plan.places[p.root];
    p.home = root.home;
    p.index = root.index;
  }
}

// Whether the kernel of a step may write this result over this operand, which nobody reads later.
bool may_overwrite(const Graph& g, const BufferPlan& plan, const BufferPlan::Step& step,
                   Value operand, Value result) {
  const Graph::Node& n = g.nodes()[step.node];
  const Aval &from = g.info(operand).aval, &to = g.info(result).aval;
  if (!n.op->info.in_place_ok || size_of(from.dtype) != size_of(to.dtype) ||
      !is_same(from.shape, to.shape) || is_complex(to.dtype)) {
    return false;
  }
  const auto in = g.operands(n);
  for (Value v : in)  // the same elements under another shape are read at other times
    if (plan.places[v].root == plan.places[operand].root &&
        !is_same(g.info(v).aval.shape, from.shape))
      return false;
  if (n.op->kind == Kind::elementwise) return true;
  const std::size_t place = result - n.first_out;
  std::vector<bool> same;
  for (Value v : in) same.push_back(plan.places[v].root == plan.places[operand].root);
  if (const auto* made = held_as<Bindable>(g, n))
    return made->may_overwrite(NodeCall(g, n), same, place);
  // A kernel of its own: only the operand at the result's place.
  for (std::size_t i = 0; i < same.size(); ++i)
    if (same[i] != (i == place)) return false;
  return place < same.size();
}

void find_buffers(const Graph& g, std::span<const Donation> donations, BufferPlan& plan) {
  std::vector<std::int64_t> last_use(g.value_count(), kNever);  // by root
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    for (Value v : g.operands(g.nodes()[plan.steps[s].node]))
      last_use[plan.places[v].root] = static_cast<std::int64_t>(s);

  plan.donor.assign(g.outputs().size(), kNever);
  std::vector<bool> is_returned(g.value_count(), false);
  for (Value v : g.outputs()) is_returned[plan.places[v].root] = true;
  std::vector<std::uint32_t> step_of(g.value_count(), 0);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Graph::Node& n = g.nodes()[plan.steps[s].node];
    for (std::uint32_t i = 0; i < n.out_count; ++i)
      step_of[n.first_out + i] = static_cast<std::uint32_t>(s);
  }
  for (const Donation& d : donations) {
    const Value input = g.inputs()[d.input], result = plan.places[g.outputs()[d.output]].root;
    const BufferPlan::Place& place = plan.places[result];
    if (place.home != Home::output || place.index != d.output || is_returned[input]) continue;
    const Aval &from = g.info(input).aval, &to = g.info(result).aval;
    if (from.dtype != to.dtype || !is_same(from.shape, to.shape)) continue;
    const std::int64_t made = step_of[result];
    if (last_use[input] > made) continue;
    if (last_use[input] == made &&
        !may_overwrite(g, plan, plan.steps[step_of[result]], input, result))
      continue;
    plan.donor[d.output] = d.input;
  }

  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Graph::Node& n = g.nodes()[plan.steps[s].node];
    SmallVector<Value, 4> taken;
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      const Value result = n.first_out + i;
      if (plan.places[result].home != Home::arena) continue;
      const auto last = static_cast<std::uint32_t>(
          std::max<std::int64_t>(last_use[result], static_cast<std::int64_t>(s)));
      // A buffer that ends here and may be written over is taken on.
      bool reused = false;
      for (Value v : g.operands(n)) {
        const Value root = plan.places[v].root;
        if (plan.places[root].home != Home::arena || root == result ||
            last_use[root] != static_cast<std::int64_t>(s) ||
            std::find(taken.begin(), taken.end(), root) != taken.end() ||
            !may_overwrite(g, plan, plan.steps[s], v, result)) {
          continue;
        }
        plan.places[result].index = plan.places[root].index;
        plan.buffers[plan.places[root].index].last = last;
        taken.push_back(root);
        reused = true;
        break;
      }
      if (reused) continue;
      plan.places[result].index = static_cast<std::uint32_t>(plan.buffers.size());
      plan.buffers.push_back({result, static_cast<std::uint32_t>(s), last});
    }
  }
  for (BufferPlan::Place& p : plan.places) p.index = plan.places[p.root].index;
}

}  // namespace

BufferPlan plan_buffers(const Graph& graph, std::span<const Donation> donations) {
  BufferPlan plan;
  find_places(graph, plan);
  find_buffers(graph, donations, plan);
  return plan;
}

std::int64_t bytes_of(const Graph& graph, Value v, const Sizes& sizes) {
  const Aval& aval = graph.info(v).aval;
  return bind_shape(graph.symbols(), sizes, aval.shape).num_elements() *
         static_cast<std::int64_t>(size_of(aval.dtype));
}

std::vector<Lifetime> lifetimes(const Graph& graph, const BufferPlan& plan, const Sizes& sizes) {
  std::vector<Lifetime> all;
  all.reserve(plan.buffers.size());
  for (const BufferPlan::Buffer& b : plan.buffers)
    all.push_back({bytes_of(graph, b.value, sizes), b.first, b.last});
  return all;
}

std::int64_t arena_bytes(const Graph& graph, const Sizes& sizes,
                         std::span<const Donation> donations) {
  return plan_memory(lifetimes(graph, plan_buffers(graph, donations), sizes)).bytes;
}

}  // namespace gradus
