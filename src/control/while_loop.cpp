// Loops as users write them: run at once, or traced into a node.
#include <algorithm>
#include <sstream>

#include "base/check.h"
#include "compile/graph_copy.h"
#include "control/loop.h"
#include "control/open_region.h"
#include "control/sized_flow.h"
#include "gradus/control.h"
#include "gradus/interrupt.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"
#include "gradus/variable.h"
#include "graph/ambient_graph.h"
#include "graph/host_number.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

void check_test(const Tensor& t) {
  if (t.defined() && t.dtype() == bool_ && t.rank() == 0) return;
  fail<InvalidArgumentError>("[while_loop] the test gives ",
                             t.defined() ? name_of(t.dtype()) : "an undefined tensor",
                             "; expected a scalar bool, such as i < 10");
}

enum class Stays : std::uint8_t { shape, rank };  // of a loop variable, besides its dtype

[[noreturn]] void fail_carry(const char* what, std::size_t i, const std::string& before,
                             const std::string& after, Stays stays) {
  fail<InvalidArgumentError>("[", what, "] loop variable ", i, " is ", before,
                             " before the body and ", after, " after it; dtypes and ",
                             stays == Stays::shape ? "shapes" : "numbers of axes", " must stay");
}

std::string print(const Tensor& t) {
  if (!t.defined()) return "undefined";
  std::ostringstream text;
  text << name_of(t.dtype()) << " " << t.shape();
  return text.str();
}

void check_carries(const char* what, std::span<const Tensor> before, std::span<const Tensor> after,
                   Stays stays) {
  if (after.size() < before.size())
    fail<InvalidArgumentError>("[", what, "] there are ", before.size(),
                               " loop variables and the body gives ", after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool same = after[i].defined() && before[i].dtype() == after[i].dtype() &&
                      (stays == Stays::shape ? is_same(before[i].shape(), after[i].shape())
                                             : before[i].rank() == after[i].rank());
    if (!same) fail_carry(what, i, print(before[i]), print(after[i]), stays);
  }
}

// Numbers among loop variables become tensors.
void give_dtypes(const char* what, std::vector<Tensor>& vars) {
  for (std::size_t i = 0; i < vars.size(); ++i) {
    if (!vars[i].defined())
      fail<InvalidArgumentError>("[", what, "] loop variable ", i, " is an undefined tensor");
    if (vars[i].impl()->has(kWeak)) vars[i] = number_as(what, vars[i], dtype_alone({&vars[i]}));
  }
}

// Inside a vmap, examples stop at different times: until all have stopped; who has keeps what it
// has. For these the body runs on what they had before they stopped, where it has derivatives.
std::vector<Tensor> run_examples(const detail::LoopTest& test, const detail::LoopBody& body,
                                 std::vector<Tensor> vars, std::int64_t maximum, std::int64_t done,
                                 Tensor active) {
  std::vector<Tensor> going = vars;
  for (; done != maximum && is_true_for_any(active); ++done) {
    check_interrupt();
    for (std::size_t i = 0; i < vars.size(); ++i)
      going[i] = where(active, vars[i], stop_gradient(going[i]));
    const std::vector<Tensor> next = body(going);
    check_carries("while_loop", vars, next, Stays::shape);
    for (std::size_t i = 0; i < vars.size(); ++i) vars[i] = where(active, next[i], vars[i]);
    active = logical_and(active, test(vars));
  }
  return vars;
}

std::vector<Tensor> run_eagerly(const detail::LoopTest& test, const detail::LoopBody& body,
                                std::vector<Tensor> vars, std::int64_t maximum) {
  for (std::int64_t done = 0; done != maximum; ++done) {
    check_interrupt();
    const Tensor more = test(vars);
    check_test(more);
    if (!is_concrete(more)) return run_examples(test, body, std::move(vars), maximum, done, more);
    if (!more.item<bool>()) break;
    std::vector<Tensor> next = body(vars);
    check_carries("while_loop", vars, next, Stays::rank);
    vars = std::move(next);
  }
  return vars;
}

// A body, traced until its carries, which include the variables that it writes, are known.
struct TracedBody {
  OpenRegion region;
  std::vector<Tensor> start;  // of the carries
  std::vector<std::shared_ptr<VariableState>> written;
  std::vector<Aval> carries = {};   // as the body sees them
  detail::VaryingAxes varies = {};  // by carry

  void add_carry(const Tensor& t) {
    carries.push_back({t.dtype(), t.shape()});
    varies.emplace_back(t.rank(), false);
  }
  // The body sees an unknown size here, which each turn decides anew.
  void vary(std::size_t carry, int axis) {
    varies[carry][static_cast<std::size_t>(axis)] = true;
    carries[carry].shape[axis] = thread_context.graph->symbols().fresh_in_each_turn();
  }
  // Others of the same kind, for the test: it runs on sizes that the body need not serve.
  std::vector<Aval> carries_of_test() const {
    std::vector<Aval> avals = carries;
    for (std::size_t i = 0; i < avals.size(); ++i)
      for (int a = 0; a < avals[i].shape.rank(); ++a)
        if (varies[i][static_cast<std::size_t>(a)])
          avals[i].shape[a] = thread_context.graph->symbols().fresh_in_each_turn();
    return avals;
  }
  // Whether there was something to do; then the body has to be traced again.
  bool vary_what_changes(std::size_t count) {
    bool some = false;
    for (std::size_t i = 0; i < std::min(count, region.out.size()); ++i) {
      const Tensor& after = region.out[i];
      if (!after.defined() || after.rank() != carries[i].shape.rank()) continue;
      for (int a = 0; a < after.rank(); ++a) {
        if (varies[i][static_cast<std::size_t>(a)] ||
            is_same(after.shape()[a], carries[i].shape[a]))
          continue;
        vary(i, a);
        some = true;
      }
    }
    return some;
  }
  bool changes_sizes() const {
    return std::ranges::any_of(varies,
                               [](const auto& v) { return std::ranges::count(v, true) > 0; });
  }
};

using Trace = std::function<std::vector<Tensor>(std::vector<Tensor>)>;

// `rows`: further inputs of the body, after the carries of the user and before the variables.
TracedBody trace_body(const char* what, std::vector<Tensor> vars, const std::vector<Aval>& rows,
                      const Trace& body, Stays stays, const detail::VaryingAxes& varying) {
  const std::size_t count = vars.size();
  TracedBody traced{{}, std::move(vars), {}};
  for (const Tensor& t : traced.start) traced.add_carry(t);
  for (std::size_t i = 0; i < std::min(count, varying.size()); ++i)
    for (std::size_t a = 0; a < varying[i].size(); ++a)
      if (varying[i][a]) traced.vary(i, static_cast<int>(a));
  for (bool again = true; again;) {
    again = false;
    std::vector<Aval> in(traced.carries.begin(),
                         traced.carries.begin() + static_cast<std::ptrdiff_t>(count));
    in.insert(in.end(), rows.begin(), rows.end());
    in.insert(in.end(), traced.carries.begin() + static_cast<std::ptrdiff_t>(count),
              traced.carries.end());
    Symbols& symbols = thread_context.graph->symbols();
    const Symbols::Turns turns(symbols);
    const std::size_t guards = symbols.guard_count();
    traced.region = open_region(*thread_context.graph, in, traced.written, body);
    for (const auto& e : traced.region.variables) {
      if (!e.is_written() || std::ranges::count(traced.written, e.variable())) continue;
      traced.written.push_back(e.variable());
      traced.start.push_back(read_variable(*e.variable()));
      traced.add_carry(traced.start.back());
      again = true;
    }
    if (stays == Stays::rank) again = traced.vary_what_changes(count) || again;
    if (again) symbols.forget_guards(guards);
  }
  OpenRegion& region = traced.region;
  if (region.out.size() < count)
    fail<InvalidArgumentError>("[", what, "] there are ", count,
                               " loop variables and the body gives ", region.out.size());
  for (std::size_t i = 0; i < region.out.size(); ++i) {
    Tensor& t = region.out[i];
    if (!t.defined())
      fail<InvalidArgumentError>("[", what, "] result ", i, " of the body is undefined");
    if (!t.impl()->has(kWeak)) continue;
    const DType dtype = i < count ? traced.start[i].dtype() : dtype_alone({&t});
    region.inside([&] { t = number_as(what, t, dtype); });
  }
  std::vector<Tensor> after;
  for (const auto& variable : traced.written)
    for (auto& e : region.variables)
      if (e.variable() == variable) after.push_back(region.inside([&] { return e.read(); }));
  region.out.insert(region.out.begin() + static_cast<std::ptrdiff_t>(count), after.begin(),
                    after.end());
  for (std::size_t i = 0; i < traced.start.size(); ++i) {
    const Aval before{traced.start[i].dtype(), traced.start[i].shape()}, after = region.result(i);
    bool same = before.dtype == after.dtype && before.shape.rank() == after.shape.rank();
    for (int a = 0; same && a < before.shape.rank(); ++a)
      same =
          traced.varies[i][static_cast<std::size_t>(a)] || is_same(before.shape[a], after.shape[a]);
    if (!same) fail_carry(what, i, region.print(before), region.print(after), stays);
  }
  return traced;
}

std::vector<Tensor> take_results(const Tensors& out, const TracedBody& body, std::size_t count) {
  for (std::size_t i = 0; i < body.written.size(); ++i)
    Variable(body.written[i]).assign(out[count + i]);
  std::vector<Tensor> results(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count));
  results.insert(results.end(), out.begin() + static_cast<std::ptrdiff_t>(body.start.size()),
                 out.end());
  return results;
}

// The region with one more input and output before the others: how often it ran.
std::shared_ptr<Region> with_counter(const Region& region, bool counts) {
  GraphCopy copy(region.graph());
  Graph& g = copy.to();
  std::vector<Graph::Value> inputs = g.inputs(), outputs;
  inputs.insert(inputs.begin(), g.add_input({int64, {}}));
  for (const Graph::Node& n : region.graph().nodes()) copy.copy(n);
  const auto graph = copy.finish();
  if (counts) outputs.push_back(g.value(g.tensor(inputs[0]) + 1));
  outputs.insert(outputs.end(), g.outputs().begin(), g.outputs().end());
  g.set_inputs(std::move(inputs));
  g.set_outputs(std::move(outputs));
  return std::make_shared<Region>(graph);
}

std::shared_ptr<CountedLoop> counted(const std::shared_ptr<Region>& body, std::size_t carries) {
  auto loop = std::make_shared<CountedLoop>();
  loop->body = body;
  loop->carries = carries;
  return loop;
}

struct TracedWhile {
  std::shared_ptr<WhileLoop> loop;
  std::vector<Tensor> operands;
  TracedBody body;
};

TracedWhile trace_while(const detail::LoopTest& test, const detail::LoopBody& body,
                        std::vector<Tensor> vars, std::int64_t maximum,
                        const detail::VaryingAxes& varying = {}) {
  const std::size_t count = vars.size();
  if (count == 0) fail<InvalidArgumentError>("[while_loop] there are no loop variables");
  TracedWhile made{std::make_shared<WhileLoop>(),
                   {},
                   trace_body(
                       "while_loop", std::move(vars), {}, [&](auto in) { return body(in); },
                       Stays::rank, varying)};
  TracedBody& traced = made.body;
  if (traced.region.out.size() != traced.start.size())
    fail<InvalidArgumentError>("[while_loop] there are ", count,
                               " loop variables and the body gives ", traced.region.out.size());
  std::vector<OpenRegion> open;
  open.push_back(open_region(*thread_context.graph, traced.carries_of_test(), traced.written,
                             [&](const std::vector<Tensor>& in) { return std::vector{test(in)}; }));
  check_test(open[0].out[0]);
  for (const VariableInTrace& e : open[0].variables) {
    if (e.is_written())
      fail<UnimplementedError>("[while_loop] the test of a traced loop assigns to the variable '",
                               e.variable()->name, "'; assign to it in the body");
  }
  open.push_back(std::move(traced.region));
  std::vector<std::shared_ptr<Region>> regions;
  made.operands = traced.start;
  for (const Tensor& t : close_regions(open, regions)) made.operands.push_back(t);
  made.loop->test = regions[0];
  made.loop->body = regions[1];
  made.loop->maximum_iterations = maximum;
  return made;
}

// A loop of a known count. Counters that nothing else needs are not carried.
Tensors run_known(const WhileLoop& loop, const TripCount& known, std::vector<Tensor> operands) {
  const std::size_t carries = loop.carries();
  std::vector<bool> others, dropped;
  for (const Tensor& last : known.last) others.push_back(!last.defined());
  if (loop.body->is_stateful()) others.assign(carries, true);
  const std::vector<bool> needed = needed_carries(*loop.body, others);
  std::vector<Tensor> kept;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (i >= carries || needed[i]) kept.push_back(operands[i]);
  for (bool n : needed) dropped.push_back(!n);
  const std::size_t rest = carries - (operands.size() - kept.size());
  const auto body = rest == carries ? loop.body : without_carries(*loop.body, dropped);
  Tensors found;
  if (rest > 0) found = run_counted(counted(body, rest), known.count, kept);
  Tensors out;
  for (std::size_t i = 0, next = 0; i < carries; ++i)
    out.push_back(needed[i] ? found[next++] : known.last[i]);
  return out;
}

bool is_decided_later(const detail::LoopTest& test, const std::vector<Tensor>& vars) {
  const Tensor answer = test(vars);
  return answer.defined() && answer.impl()->kind == ValueKind::traced;
}

// A loop whose variables change their sizes.
Tensors run_sized(const WhileLoop& loop, const TracedBody& traced,
                  std::span<const Tensor> operands) {
  const auto flow = std::make_shared<SizedFlow>();
  flow->kind = SizedFlow::Kind::loop;
  flow->regions = {loop.test, loop.body};
  flow->maximum_iterations = loop.maximum_iterations;
  flow->varies = traced.varies;
  return run_sized_flow(flow, operands);
}

}  // namespace

namespace detail {

std::vector<Tensor> run_while(const LoopTest& test, const LoopBody& body, std::vector<Tensor> vars,
                              std::int64_t maximum, const VaryingAxes& varying) {
  give_dtypes("while_loop", vars);
  // The test of a graph program's loop has no value either.
  if (!thread_context.graph && ambient_graph && is_decided_later(test, vars)) {
    const TraceScope graph_program(*ambient_graph);
    return run_while(test, body, std::move(vars), maximum, varying);
  }
  if (!thread_context.graph) return run_eagerly(test, body, std::move(vars), maximum);
  const std::size_t count = vars.size();
  auto [loop, operands, traced] = trace_while(test, body, std::move(vars), maximum, varying);
  const std::size_t carries = traced.start.size();
  if (traced.changes_sizes())
    return take_results(run_sized(*loop, traced, operands), traced, count);
  if (const std::optional<TripCount> known = trip_count(*loop, operands))
    return take_results(run_known(*loop, *known, operands), traced, count);
  loop->test = with_counter(*loop->test, false);
  loop->body = with_counter(*loop->body, true);
  loop->counted = counted(loop->body, carries + 1);
  operands.insert(operands.begin(), Tensor(std::int64_t{0}));
  const Tensors out = run_while_node(loop, operands);
  return take_results(Tensors(out.begin() + 1, out.end()), traced, count);
}

std::vector<Tensor> known_results(const LoopTest& test, const LoopBody& body,
                                  std::vector<Tensor> vars, std::int64_t maximum) {
  if (!thread_context.graph && ambient_graph) {
    const TraceScope graph_program(*ambient_graph);
    return known_results(test, body, std::move(vars), maximum);
  }
  give_dtypes("while_loop", vars);
  const std::size_t count = vars.size();
  const TracedWhile traced = trace_while(test, body, std::move(vars), maximum);
  if (traced.body.changes_sizes()) return std::vector<Tensor>(count);
  const std::optional<TripCount> known = trip_count(*traced.loop, traced.operands);
  if (!known) return std::vector<Tensor>(count);
  return {known->last.begin(), known->last.begin() + static_cast<std::ptrdiff_t>(count)};
}

Size rows_of(const std::vector<Tensor>& xs) {
  if (xs.empty() || !xs[0].defined() || xs[0].rank() == 0)
    fail<InvalidArgumentError>("[scan] got no stack; expected a tensor with rows");
  return xs[0].shape()[0];
}

namespace {

// A scan over no rows: what the function would make of one is found by tracing it.
std::vector<Tensor> with_stacks_of_nothing(const LoopBody& body, std::vector<Tensor> vars,
                                           const std::vector<Aval>& rows) {
  std::vector<Aval> in;
  for (const Tensor& t : vars) in.push_back({t.dtype(), t.shape()});
  in.insert(in.end(), rows.begin(), rows.end());
  const std::size_t count = vars.size();
  const auto graph = Graph::make();
  const TraceScope scope(*graph);
  const OpenRegion region = open_region(*graph, in, {}, [&](const auto& x) { return body(x); });
  const PauseTracing at_once;
  for (std::size_t k = count; k < region.out.size(); ++k) {
    Shape shape = region.out[k].shape();
    shape.insert(0, 0);
    const bool is_number = region.out[k].impl()->has(kWeak);
    vars.push_back(zeros(shape, is_number ? dtype_alone({&region.out[k]}) : region.out[k].dtype()));
  }
  return vars;
}

}  // namespace

std::vector<Tensor> run_scan(const LoopBody& body, std::vector<Tensor> vars,
                             const std::vector<Tensor>& xs, Size length, bool reverse) {
  give_dtypes("scan", vars);
  std::vector<Aval> rows;
  for (const Tensor& x : xs) {
    if (x.rank() == 0) fail<InvalidArgumentError>("[scan] got a scalar; it has no rows");
    if (!sizes_agree(x.shape()[0], length))
      fail<InvalidArgumentError>("[scan] got stacks of different first sizes, ", x.shape()[0],
                                 " and ", length);
    rows.push_back({x.dtype(), x.shape()});
    rows.back().shape.erase(0);
  }
  const std::size_t count = vars.size();
  if (thread_context.graph) {
    std::vector<OpenRegion> open;
    TracedBody traced = trace_body("scan", std::move(vars), rows, body, Stays::shape, {});
    // Variables that the body writes are carries: before the rows.
    if (!traced.written.empty()) {
      Graph& g = *traced.region.graph;
      std::vector<Graph::Value> in = g.inputs();
      const auto first = in.begin() + static_cast<std::ptrdiff_t>(count);
      const auto variables = first + static_cast<std::ptrdiff_t>(rows.size());
      std::rotate(first, variables, variables + static_cast<std::ptrdiff_t>(traced.written.size()));
      g.set_inputs(std::move(in));
    }
    open.push_back(std::move(traced.region));
    const std::size_t ys = open[0].out.size() - traced.start.size();
    std::vector<std::shared_ptr<Region>> regions;
    std::vector<Tensor> operands = traced.start;
    operands.insert(operands.end(), xs.begin(), xs.end());
    for (const Tensor& t : close_regions(open, regions)) operands.push_back(t);
    const auto loop = counted(regions[0], traced.start.size());
    loop->xs = xs.size();
    loop->shifts.resize(xs.size());
    loop->ys = ys;
    loop->backwards = reverse;
    return take_results(run_counted(loop, length, operands), traced, count);
  }
  std::vector<std::vector<Tensor>> made;
  std::vector<std::vector<Tensor>> slices;
  for (const Tensor& x : xs) slices.push_back(unstack(x, 0));
  for (std::int64_t step = 0; step < length; ++step) {
    check_interrupt();
    const auto row = static_cast<std::size_t>(reverse ? std::int64_t{length} - 1 - step : step);
    std::vector<Tensor> in = vars;
    for (const auto& slice : slices) in.push_back(slice[row]);
    std::vector<Tensor> out = body(in);
    check_carries("scan", vars, out, Stays::shape);
    vars.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count));
    made.resize(out.size() - count);
    for (std::size_t k = 0; k < made.size(); ++k) made[k].push_back(out[count + k]);
  }
  if (length == 0) return with_stacks_of_nothing(body, std::move(vars), rows);
  for (auto& column : made) {
    if (reverse) std::reverse(column.begin(), column.end());
    vars.push_back(stack(column, 0));
  }
  return vars;
}

}  // namespace detail
}  // namespace gradus
