// The part of a loop that decides when it ends is often a counter and a constant. It is found by
// walking back from the test, and run while the loop is traced.
#include <cstring>

#include "compile/graph_copy.h"
#include "compile/node_sizes.h"
#include "compile/passes/pipeline.h"
#include "control/loop.h"
#include "graph/found_size.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using Value = Graph::Value;
constexpr Value kNone = ~0u;
constexpr std::int64_t kMaxCounted = 1 << 20;  // iterations: about 50 ms
constexpr std::int64_t kMaxBytes = 1 << 12;    // of a carry: decisions are small

// Which values some values are computed from.
std::vector<bool> needed_for(const Graph& g, std::vector<bool> needed) {
  for (std::size_t k = g.nodes().size(); k-- > 0;) {
    const Graph::Node& n = g.nodes()[k];
    bool any = false;
    for (std::uint32_t i = 0; i < n.out_count; ++i) any = any || needed[n.first_out + i];
    for (Value v : g.operands(n)) needed[v] = needed[v] || any;
  }
  return needed;
}

bool speaks_of_symbols(const Graph& g, const Graph::Node& n) {
  bool found = false;
  each_size_of(g, n, [&](Size size) { found = found || !size.is_known(); });
  for (std::uint32_t i = 0; i < n.out_count; ++i)
    found = found || !g.info(n.first_out + i).aval.shape.is_known();
  return found;
}

// What is needed does something besides computing, or needs sizes that only a call has.
bool must_wait(const Graph& g, const std::vector<bool>& needed) {
  for (const Graph::Node& n : g.nodes())
    for (std::uint32_t i = 0; i < n.out_count; ++i)
      if (needed[n.first_out + i] && (n.op->info.stateful || speaks_of_symbols(g, n))) return true;
  return false;
}

// Copies what is needed into another graph.
void copy_needed(const Graph& from, const std::vector<bool>& needed, std::vector<Value>& now,
                 Graph& to) {
  for (const Graph::Node& n : from.nodes()) {
    bool any = false;
    for (std::uint32_t i = 0; i < n.out_count; ++i) any = any || needed[n.first_out + i];
    if (!any) continue;
    const AttributeTo line(n.where);
    SmallVector<Value, 8> in;
    for (Value v : from.operands(n)) {
      if (now[v] == kNone) now[v] = to.add_constant(from.info(v).constant);
      in.push_back(now[v]);
    }
    const Graph::Node copy = to.add(*n.op, from.attrs(n), in);
    for (std::uint32_t i = 0; i < n.out_count; ++i) now[n.first_out + i] = copy.first_out + i;
  }
}

bool is_small_and_known(const Tensor& t) {
  return is_concrete(t) && static_cast<std::int64_t>(t.num_bytes()) <= kMaxBytes;
}

// Integers that follow from what decides, the size of an array that grows say, are as well known.
void add_followers(const Graph& body, std::span<const Tensor> operands, std::size_t carries,
                   std::vector<bool>& decides, std::vector<bool>& in_body) {
  std::vector<bool> known = decides;
  for (std::size_t i = 0; i < carries; ++i)
    known[i] = known[i] || (is_small_and_known(operands[i]) && is_integer(operands[i].dtype()));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < carries; ++i) {
      if (!known[i] || decides[i]) continue;
      std::vector<bool> needed(body.value_count(), false);
      needed[body.outputs()[i]] = true;
      needed = needed_for(body, std::move(needed));
      bool follows = !must_wait(body, needed);
      for (std::size_t k = 0; k < operands.size(); ++k)
        if (needed[body.inputs()[k]]) follows = follows && known[k];
      if (follows) continue;
      known[i] = false;
      changed = true;
    }
  }
  for (std::size_t i = 0; i < carries; ++i)
    if (known[i]) in_body[body.outputs()[i]] = true;
  in_body = needed_for(body, std::move(in_body));
  decides = std::move(known);
}

}  // namespace

std::vector<bool> needed_carries(const Region& region, std::vector<bool> needed) {
  const Graph& g = region.graph();
  std::vector<bool> values(g.value_count(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (needed[i]) values[g.outputs()[i]] = true;
    values = needed_for(g, std::move(values));
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (needed[i] || !values[g.inputs()[i]]) continue;
      needed[i] = changed = true;
    }
  }
  return needed;
}

std::shared_ptr<Region> without_carries(const Region& region, const std::vector<bool>& dropped) {
  const Graph& g = region.graph();
  const auto graph = Graph::make_like(g);
  std::vector<Value> now(g.value_count(), kNone), outputs;
  std::vector<bool> kept(g.value_count(), false);
  for (std::size_t i = 0; i < g.inputs().size(); ++i)
    if (i >= dropped.size() || !dropped[i])
      now[g.inputs()[i]] = graph->add_input(g.info(g.inputs()[i]).aval);
  for (std::size_t i = 0; i < g.outputs().size(); ++i)
    if (i >= dropped.size() || !dropped[i]) kept[g.outputs()[i]] = true;
  const TraceScope scope(*graph);
  copy_needed(g, needed_for(g, kept), now, *graph);
  for (std::size_t i = 0; i < g.outputs().size(); ++i) {
    if (i < dropped.size() && dropped[i]) continue;
    Value& v = now[g.outputs()[i]];
    if (v == kNone) v = graph->add_constant(g.info(g.outputs()[i]).constant);
    outputs.push_back(v);
  }
  graph->set_outputs(std::move(outputs));
  return std::make_shared<Region>(graph);
}

std::optional<TripCount> trip_count(const WhileLoop& loop, std::span<const Tensor> operands) {
  if (loop.test->is_stateful()) return {};  // its effects happen at each turn
  const Graph &test = loop.test->graph(), &body = loop.body->graph();
  if (finds_sizes(test) || finds_sizes(body)) return {};
  const std::size_t carries = loop.carries();
  std::vector<bool> in_test(test.value_count(), false), in_body(body.value_count(), false);
  in_test[test.outputs()[0]] = true;
  in_test = needed_for(test, std::move(in_test));
  std::vector<bool> decides(operands.size(), false);
  for (std::size_t i = 0; i < operands.size(); ++i) decides[i] = in_test[test.inputs()[i]];
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < carries; ++i)
      if (decides[i]) in_body[body.outputs()[i]] = true;
    in_body = needed_for(body, std::move(in_body));
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (decides[i] || !in_body[body.inputs()[i]]) continue;
      decides[i] = changed = true;
    }
  }
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (decides[i] && !is_small_and_known(operands[i])) return {};
  if (must_wait(test, in_test) || must_wait(body, in_body)) return {};
  add_followers(body, operands, carries, decides, in_body);

  // One step: the deciding carries after an iteration, and whether there is another.
  const auto step = Graph::make(), start = Graph::make();
  std::vector<Tensor> state;
  std::vector<Value> before(body.value_count(), kNone), tested(test.value_count(), kNone),
      first(test.value_count(), kNone), outputs;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!decides[i]) continue;
    const Value constant = start->add_constant(operands[i]);
    first[test.inputs()[i]] = constant;
    if (i < carries) {
      before[body.inputs()[i]] = step->add_input({operands[i].dtype(), operands[i].shape()});
      state.push_back(operands[i]);
    } else {
      before[body.inputs()[i]] = tested[test.inputs()[i]] = step->add_constant(operands[i]);
    }
  }
  {
    const TraceScope scope(*start);
    copy_needed(test, in_test, first, *start);
    const Value answer = test.outputs()[0];
    if (first[answer] == kNone) first[answer] = start->add_constant(test.info(answer).constant);
    start->set_outputs({first[answer]});
  }
  {
    const TraceScope scope(*step);
    copy_needed(body, in_body, before, *step);
    for (std::size_t i = 0; i < carries; ++i) {
      if (!decides[i]) continue;
      Value& after = before[body.outputs()[i]];
      if (after == kNone) after = step->add_constant(body.info(body.outputs()[i]).constant);
      tested[test.inputs()[i]] = after;
      outputs.push_back(after);
    }
    copy_needed(test, in_test, tested, *step);
    const Value answer = test.outputs()[0];
    if (tested[answer] == kNone) tested[answer] = step->add_constant(test.info(answer).constant);
    outputs.push_back(tested[answer]);
    step->set_outputs(outputs);
  }
  Executable begin(optimise(start)), next(optimise(step));
  std::vector<Tensor> out(1);
  begin.run({}, out);
  bool more = out[0].item<bool>();
  std::vector<View> views;
  std::vector<Tensor> memory;
  std::vector<void*> now, then;
  for (const Tensor& t : state) {
    views.push_back({nullptr, &t.shape(), t.dtype()});
    for (std::vector<void*>* place : {&now, &then}) {
      memory.push_back(make_tensor(t.dtype(), t.shape()));
      place->push_back(memory.back().impl()->data);
    }
    if (t.num_bytes() > 0) std::memcpy(now.back(), t.impl()->data, t.num_bytes());
  }
  Executable::Runner runner(next, views);
  std::int64_t count = 0;
  for (; more && count != loop.maximum_iterations; ++count) {
    if (count == kMaxCounted) return {};
    then.push_back(&more);
    runner.run(now, then);
    then.pop_back();
    std::swap(now, then);
  }
  TripCount found{count, std::vector<Tensor>(carries)};
  for (std::size_t i = 0, next = 0; i < carries; ++i) {
    if (!decides[i]) continue;
    found.last[i] = make_tensor(operands[i].dtype(), operands[i].shape());
    if (operands[i].num_bytes() > 0)
      std::memcpy(found.last[i].impl()->data, now[next], operands[i].num_bytes());
    ++next;
  }
  return found;
}

}  // namespace gradus
