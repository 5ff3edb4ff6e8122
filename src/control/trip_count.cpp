// The part of a loop that decides when it ends is often a counter and a constant. It is found by
// walking back from the test, and run while the loop is traced.
#include <cstring>

#include "compile/graph_copy.h"
#include "compile/passes/pipeline.h"
#include "control/loop.h"
#include "graph/found_size.h"
#include "graph/needed.h"
#include "graph/node_sizes.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using Value = Graph::Value;
constexpr std::int64_t kMaxCounted = 1 << 20;  // iterations: about 50 ms
constexpr std::int64_t kMaxBytes = 1 << 12;    // of a carry: decisions are small

bool speaks_of_symbols(const Graph& g, const Graph::Node& n) {
  bool found = false;
  each_size_of(g, n, [&](Size size) { found = found || !size.is_known(); });
  for (std::uint32_t i = 0; i < n.out_count; ++i)
    found = found || !g.info(n.first_out + i).aval.shape.is_known();
  return found;
}

// What is needed does something besides computing, or needs sizes that only a call has.
bool must_wait(const Graph& g, const Needed& needed) {
  for (std::size_t k = 0; k < g.nodes().size(); ++k) {
    const Graph::Node& n = g.nodes()[k];
    if (needed.nodes[k] && (n.op->info.stateful || speaks_of_symbols(g, n))) return true;
  }
  return false;
}

bool is_small_and_known(const Tensor& t) {
  return is_concrete(t) && static_cast<std::int64_t>(t.num_bytes()) <= kMaxBytes;
}

// What the chosen results of a body are computed from.
Needed needed_for_results(const Graph& body, const std::vector<bool>& chosen) {
  std::vector<Value> results;
  for (std::size_t i = 0; i < body.outputs().size() && i < chosen.size(); ++i)
    if (chosen[i]) results.push_back(body.outputs()[i]);
  return needed_for(body, results);
}

// Adds the inputs of a body that the chosen ones depend on, in any number of turns.
std::vector<bool> closed_under_turns(const Graph& body, std::vector<bool> chosen) {
  for (bool changed = true; changed;) {
    changed = false;
    const Needed needed = needed_for_results(body, chosen);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] || !needed.values[body.inputs()[i]]) continue;
      chosen[i] = changed = true;
    }
  }
  return chosen;
}

// Integers that follow from what decides, the size of an array that grows say, are as well known.
void add_followers(const Graph& body, std::span<const Tensor> operands, std::size_t carries,
                   std::vector<bool>& decides) {
  std::vector<bool> known = decides;
  for (std::size_t i = 0; i < carries; ++i)
    known[i] = known[i] || (is_small_and_known(operands[i]) && is_integer(operands[i].dtype()));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < carries; ++i) {
      if (!known[i] || decides[i]) continue;
      const Needed needed = needed_for(body, {&body.outputs()[i], 1});
      bool follows = !must_wait(body, needed);
      for (std::size_t k = 0; k < operands.size(); ++k)
        if (needed.values[body.inputs()[k]]) follows = follows && known[k];
      if (follows) continue;
      known[i] = false;
      changed = true;
    }
  }
  decides = std::move(known);
}

// The operands that decide when a loop ends, and integers that follow from them; none if that
// takes more than a look at constants.
std::optional<std::vector<bool>> find_deciders(const WhileLoop& loop,
                                               std::span<const Tensor> operands) {
  const Graph &test = loop.test->graph(), &body = loop.body->graph();
  const Needed in_test = needed_for(test, test.outputs());
  std::vector<bool> decides(operands.size(), false);
  for (std::size_t i = 0; i < operands.size(); ++i) decides[i] = in_test.values[test.inputs()[i]];
  decides = closed_under_turns(body, std::move(decides));
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (decides[i] && !is_small_and_known(operands[i])) return {};
  if (must_wait(test, in_test) || must_wait(body, needed_for_results(body, decides))) return {};
  add_followers(body, operands, loop.carries(), decides);
  return decides;
}

// Whether there is a first turn.
bool begins(const WhileLoop& loop, std::span<const Tensor> operands,
            const std::vector<bool>& decides) {
  const Graph& test = loop.test->graph();
  const auto start = Graph::make();
  GraphCopy copy(test, start);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (decides[i]) copy.map(test.inputs()[i], start->add_constant(operands[i]));
  copy.copy_nodes(needed_for(test, test.outputs()).nodes);
  Executable program(optimise(copy.finish()));
  std::vector<Tensor> out(1);
  program.run({}, out);
  return out[0].item<bool>();
}

// One turn of what decides: the carries after it, and whether there is another.
std::shared_ptr<Graph> deciding_turn(const WhileLoop& loop, std::span<const Tensor> operands,
                                     const std::vector<bool>& decides) {
  const Graph &test = loop.test->graph(), &body = loop.body->graph();
  const auto step = Graph::make();
  GraphCopy turn(body, step), then(test, step);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!decides[i]) continue;
    if (i < loop.carries()) {
      turn.map(body.inputs()[i], step->add_input({operands[i].dtype(), operands[i].shape()}));
    } else {
      const Value constant = step->add_constant(operands[i]);
      turn.map(body.inputs()[i], constant);
      then.map(test.inputs()[i], constant);
    }
  }
  turn.copy_nodes(needed_for_results(body, decides).nodes);
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < loop.carries(); ++i) {
    if (!decides[i]) continue;
    outputs.push_back(turn[body.outputs()[i]]);
    then.map(test.inputs()[i], outputs.back());
  }
  then.copy_nodes(needed_for(test, test.outputs()).nodes);
  outputs.push_back(then[test.outputs()[0]]);
  step->set_outputs(std::move(outputs));
  return step;
}

}  // namespace

std::vector<bool> needed_carries(const Region& region, std::vector<bool> needed) {
  return closed_under_turns(region.graph(), std::move(needed));
}

std::shared_ptr<Region> without_carries(const Region& region, const std::vector<bool>& dropped) {
  const Graph& g = region.graph();
  const auto rest = [&](std::span<const Value> all) {
    std::vector<Value> values;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i >= dropped.size() || !dropped[i]) values.push_back(all[i]);
    return values;
  };
  const std::vector<Value> outputs = rest(g.outputs());
  GraphCopy copy(g, rest(g.inputs()));
  copy.copy_nodes(needed_for(g, outputs).nodes);
  return std::make_shared<Region>(copy.finish(outputs));
}

std::optional<TripCount> trip_count(const WhileLoop& loop, std::span<const Tensor> operands) {
  if (loop.test->is_stateful()) return {};  // its effects happen at each turn
  if (finds_sizes(loop.test->graph()) || finds_sizes(loop.body->graph())) return {};
  const std::optional<std::vector<bool>> decides = find_deciders(loop, operands);
  if (!decides) return {};

  std::vector<std::size_t> carries;  // that decide
  std::vector<View> views;
  std::vector<Tensor> memory;
  std::vector<void*> now, then;
  for (std::size_t i = 0; i < loop.carries(); ++i) {
    if (!(*decides)[i]) continue;
    const Tensor& t = operands[i];
    carries.push_back(i);
    views.push_back({nullptr, &t.shape(), t.dtype()});
    for (std::vector<void*>* place : {&now, &then}) {
      memory.push_back(make_tensor(t.dtype(), t.shape()));
      place->push_back(memory.back().impl()->data);
    }
    if (t.num_bytes() > 0) std::memcpy(now.back(), t.impl()->data, t.num_bytes());
  }
  bool more = begins(loop, operands, *decides);
  Executable turn(optimise(deciding_turn(loop, operands, *decides)));
  Executable::Runner runner(turn, views);
  std::int64_t count = 0;
  for (; more && count != loop.maximum_iterations; ++count) {
    if (count == kMaxCounted) return {};
    then.push_back(&more);
    runner.run(now, then);
    then.pop_back();
    std::swap(now, then);
  }
  TripCount found{count, std::vector<Tensor>(loop.carries())};
  for (std::size_t k = 0; k < carries.size(); ++k) {
    const Tensor& t = operands[carries[k]];
    Tensor& last = found.last[carries[k]];
    last = make_tensor(t.dtype(), t.shape());
    if (t.num_bytes() > 0) std::memcpy(last.impl()->data, now[k], t.num_bytes());
  }
  return found;
}

}  // namespace gradus
