#include "control/sized_flow.h"

#include <algorithm>

#include "autodiff/some_inputs.h"
#include "base/check.h"
#include "control/branch.h"
#include "gradus/interrupt.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"
#include "graph/batch.h"
#include "graph/found_size.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

// Attributes are plain data with lists of at most kMaxRank sizes each.
struct SizedAttrs {
  Held* held = nullptr;
  Ints sizes, more_sizes, third_sizes, fourth_sizes;
  static auto fields() {
    return attr_fields(attr("flow", &SizedAttrs::held), attr("sizes", &SizedAttrs::sizes),
                       attr("more_sizes", &SizedAttrs::more_sizes),
                       attr("third_sizes", &SizedAttrs::third_sizes),
                       attr("fourth_sizes", &SizedAttrs::fourth_sizes));
  }
  const SizedFlow& flow() const { return *static_cast<const SizedFlow*>(held); }

  void add(Size size) {
    for (Ints* list : {&sizes, &more_sizes, &third_sizes, &fourth_sizes}) {
      if (list->rank() == kMaxRank) continue;
      list->push_back(size);
      return;
    }
    fail<UnimplementedError>("[loop or branch] more than ", 4 * kMaxRank,
                             " sizes of its results are found when it runs; return fewer tensors");
  }
  SmallVector<Size, 8> all_sizes() const {
    SmallVector<Size, 8> all;
    for (const Ints* list : {&sizes, &more_sizes, &third_sizes, &fourth_sizes})
      for (const Size size : *list) all.push_back(size);
    return all;
  }
};

Tensors push(const SizedFlow& of, std::span<const Tensor> in, std::span<const Tensor> tangents) {
  Tensors results;
  Tensors out =
      jvp_of([&](std::span<const Tensor> x) { return results = of.run_ops(x); }, in, tangents);
  for (std::size_t i = 0; i < out.size(); ++i)  // integers, and what does not move
    if (!out[i].defined()) out[i] = zeros(results[i].shape(), results[i].dtype());
  return out;
}

Tensors pull(const SizedFlow& of, std::span<const Tensor> in, std::span<const Tensor> cts,
             std::span<const std::size_t> which) {
  std::vector<bool> wanted(in.size(), false);
  for (std::size_t i : which) wanted[i] = true;
  const std::vector<Cotangent> seeds(cts.begin(), cts.end());
  const auto found =
      pull_through([&](std::span<const Tensor> x) { return of.run_ops(x); }, in, wanted, seeds);
  Tensors gradients;
  for (std::size_t i : which)
    gradients.push_back(found[i].is_zero() ? zeros_like(in[i]) : dense(found[i]));
  return gradients;
}

// The flow as derivatives run it, which is once more.
std::shared_ptr<const SizedFlow> again(const SizedFlow& flow) {
  require_repeatable(flow.may_repeat());
  const auto pure = flow.without_effects();
  return pure ? std::static_pointer_cast<const SizedFlow>(pure) : flow.shared();
}

Tensors run_node(const SizedFlow& flow, std::span<const Tensor> operands, const SizedAttrs& sizes);

void push_rule(const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out) {
  const SizedAttrs& attrs = s.get<SizedAttrs>();
  const auto flow = std::make_shared<SizedFlow>();
  flow->kind = SizedFlow::Kind::jvp;
  flow->of = again(attrs.flow());
  flow->given = are_defined(tangents);
  const std::vector<Tensor> operands = with_defined(s.in, tangents);
  const Tensors found = run_node(*flow, operands, attrs);  // tangents have the sizes of the values
  for (std::size_t i = 0; i < out.size(); ++i)
    if (is_differentiable(found[i].dtype())) out[i] = found[i];
}

void pull_rule(const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
               std::span<Cotangent> grads) {
  const auto flow = std::make_shared<SizedFlow>();
  flow->kind = SizedFlow::Kind::vjp;
  flow->of = again(s.get<SizedAttrs>().flow());
  flow->given = are_defined(cts);
  flow->which = flow->of->reached(wanted_inputs(s, wanted), flow->given);
  if (flow->which.empty()) return;
  const Tensors found = run_node(*flow, with_defined(s.in, cts), {});
  for (std::size_t k = 0; k < flow->which.size(); ++k) grads[flow->which[k]] = found[k];
}

// Example by example, where their results have the same sizes.
Tensors run_examples(const BatchCall& c) {
  if (!c.size.is_known() || !std::ranges::all_of(c.in, is_concrete) || c.size == 0)
    refuse_sizes_of_examples();
  std::vector<std::vector<Tensor>> examples;
  for (std::size_t i = 0; i < c.in.size(); ++i)
    examples.push_back(c.is_batched(static_cast<int>(i)) ? unstack(c.in[i], 0)
                                                         : std::vector<Tensor>{c.in[i]});
  std::vector<std::vector<Tensor>> results;
  for (std::size_t e = 0; e < static_cast<std::size_t>(c.size); ++e) {
    std::vector<Tensor> in;
    for (const std::vector<Tensor>& column : examples)
      in.push_back(column.size() > 1 ? column[e] : column[0]);
    const Tensors out = c.op.run(in, c.attrs);
    results.resize(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (e > 0 && !(out[i].shape() == results[i][0].shape())) refuse_sizes_of_examples();
      results[i].push_back(out[i]);
    }
  }
  Tensors batches;
  for (const std::vector<Tensor>& column : results) batches.push_back(stack(column, 0));
  return batches;
}

Op make_op(const char* name, bool stateful) {
  return general({.name = name,
                  .doc = "A branch or a loop that finds the sizes of its results.",
                  .dtypes = kAnyDType,
                  .attrs = &attr_type<SizedAttrs>(),
                  .inputs = -1,
                  .outputs = kAny,
                  .infer =
                      [](const Call& c, Avals& out) {
                        const SizedAttrs& attrs = c.get<SizedAttrs>();
                        const auto sizes = attrs.all_sizes();
                        attrs.flow().infer(c.in, {sizes.data(), sizes.size()}, out);
                      },
                  .find =
                      [](const void* attrs, std::span<const Tensor> in) {
                        const PauseTracing at_once;
                        const Mute nobody_is_told(0);
                        return static_cast<const SizedAttrs*>(attrs)->flow().run(in);
                      },
                  .batch = run_examples,
                  .reads =
                      [](const void*, std::uint32_t) {
                        return Reads{~0u, 0};
                      },
                  .read_held = read_sized_flow,
                  .stateful = stateful},
                 push_rule, pull_rule);
}

const Op sized_flow_op = make_op("sized_flow", false);
const Op stateful_sized_flow_op = make_op("stateful_sized_flow", true);

Tensors run_node(const SizedFlow& flow, std::span<const Tensor> operands, const SizedAttrs& sizes) {
  SizedAttrs attrs = sizes;
  attrs.held = const_cast<SizedFlow*>(&flow);
  const Op& op = flow.is_stateful() ? stateful_sized_flow_op : sized_flow_op;
  Graph* const graph = thread_context.graph;
  if (!graph || !std::ranges::all_of(operands, is_concrete)) return op.run(operands, &attrs);
  // No operand says that it belongs to the trace.
  SmallVector<Graph::Value, 8> in;
  for (const Tensor& t : operands) in.push_back(graph->value(t));
  const Graph::Node node = graph->add(op, &attrs, in);
  Tensors out;
  for (std::uint32_t i = 0; i < node.out_count; ++i)
    out.push_back(graph->tensor(node.first_out + i));
  return out;
}

// Marks the inputs of a region through which a derivative goes on from the marked results.
std::vector<bool> reached_inputs(const Region& region, const std::vector<bool>& results) {
  const Graph& g = region.graph();
  std::vector<bool> reached(g.value_count(), false), inputs;
  for (std::size_t i = 0; i < region.output_count(); ++i)
    if (results[i]) reached[g.outputs()[i]] = true;
  for (std::size_t k = g.nodes().size(); k-- > 0;) {
    const Graph::Node& n = g.nodes()[k];
    bool any = false;
    for (std::uint32_t o = 0; o < n.out_count; ++o) any = any || reached[n.first_out + o];
    for (std::size_t i = 0; any && i < n.in_count; ++i)
      if (n.op->is_differentiable_in(static_cast<int>(i))) reached[g.operands(n)[i]] = true;
  }
  for (Graph::Value v : g.inputs())
    inputs.push_back(reached[v] && is_differentiable(g.info(v).aval.dtype));
  return inputs;
}

}  // namespace

std::size_t SizedFlow::operand_count() const {
  switch (kind) {
    case Kind::branch:
      return 1 + regions[0]->input_count();
    case Kind::loop:
      return regions[0]->input_count();
    default:
      return of->operand_count() + static_cast<std::size_t>(std::ranges::count(given, true));
  }
}

std::size_t SizedFlow::result_count() const {
  if (kind == Kind::jvp) return of->result_count();
  return kind == Kind::vjp ? which.size() : varies.size();
}

std::size_t SizedFlow::found_count() const {
  if (kind == Kind::jvp) return of->found_count();
  std::size_t count = 0;
  for (const std::vector<bool>& axes : varies)
    count += static_cast<std::size_t>(std::ranges::count(axes, true));
  return count;
}

void SizedFlow::infer(std::span<const View> in, std::span<const Size> found, Avals& out) const {
  if (in.size() != operand_count() || found.size() != found_count()) {
    fail<InvalidArgumentError>("[loop or branch] got ", in.size(), " operands and ", found.size(),
                               " sizes; expected ", operand_count(), " and ", found_count());
  }
  if (kind == Kind::jvp) return of->infer(in.first(of->operand_count()), found, out);
  if (kind == Kind::vjp) {
    for (std::size_t i : which) out.push_back({in[i].dtype, *in[i].shape});
    return;
  }
  Avals first;  // what does not vary is the same in all branches, and in all turns
  if (kind == Kind::branch) {
    regions[0]->results(in.subspan(1), first);
  } else {
    for (std::size_t i = 0; i < varies.size(); ++i) first.push_back({in[i].dtype, *in[i].shape});
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < varies.size(); ++i) {
    Aval aval = first[i];
    for (int a = 0; a < aval.shape.rank(); ++a)
      if (varies[i][static_cast<std::size_t>(a)]) aval.shape[a] = found[next++];
    out.push_back(aval);
  }
}

template <class Call>
Tensors SizedFlow::choose_or_repeat(std::span<const Tensor> in, const Call& call) const {
  if (kind == Kind::branch) {
    const View index{in[0].impl()->data, &in[0].shape(), in[0].dtype()};
    return call(*regions[chosen_branch(index, regions.size())], {in.begin() + 1, in.end()});
  }
  const auto captures = in.subspan(varies.size());
  std::vector<Tensor> state(in.begin(), in.end());
  for (std::int64_t done = 0; done != maximum_iterations; ++done) {
    check_interrupt();
    if (!regions[0]->run(state)[0].item<bool>()) break;
    const Tensors next = call(*regions[1], std::move(state));
    state.assign(next.begin(), next.end());
    state.insert(state.end(), captures.begin(), captures.end());
  }
  return Tensors(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(varies.size()));
}

Tensors SizedFlow::run(std::span<const Tensor> in) const {
  if (of) return run_ops(in);
  return choose_or_repeat(
      in, [](const Region& r, std::vector<Tensor> x) { return r.run(std::move(x)); });
}

Tensors SizedFlow::run_ops(std::span<const Tensor> in) const {
  if (!of) {
    return choose_or_repeat(in, [](const Region& r, const std::vector<Tensor>& x) { return r(x); });
  }
  const std::size_t n = of->operand_count();
  const std::vector<Tensor> moved = take_defined(in.subspan(n), given);
  return kind == Kind::jvp ? push(*of, in.first(n), moved) : pull(*of, in.first(n), moved, which);
}

std::vector<std::size_t> SizedFlow::reached(const std::vector<bool>& wanted,
                                            const std::vector<bool>& from) const {
  std::vector<bool> reached(operand_count(), false);
  if (of) {
    reached.assign(operand_count(), true);  // what its derivative needs, it can depend on
  } else if (kind == Kind::branch) {
    for (const auto& region : regions) {
      const std::vector<bool> inputs = reached_inputs(*region, from);
      for (std::size_t i = 0; i < inputs.size(); ++i) reached[1 + i] = reached[1 + i] || inputs[i];
    }
  } else {
    std::vector<bool> results = from;
    for (bool more = true; more;) {
      more = false;
      reached = reached_inputs(*regions[1], results);
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (!reached[i] || results[i]) continue;
        results[i] = more = true;
      }
    }
    for (std::size_t i = 0; i < results.size(); ++i) reached[i] = results[i];  // after no turn
  }
  std::vector<std::size_t> operands;
  for (std::size_t i = 0; i < reached.size(); ++i)
    if (wanted[i] && reached[i]) operands.push_back(i);
  return operands;
}

bool SizedFlow::is_stateful() const {
  return std::ranges::any_of(regions, [](const auto& r) { return r->is_stateful(); });
}

bool SizedFlow::may_repeat() const {
  return std::ranges::all_of(regions, [](const auto& r) { return r->may_repeat(); });
}

std::shared_ptr<const Held> SizedFlow::without_effects() const {
  bool changed = false;
  const auto pure = std::make_shared<SizedFlow>();
  for (const auto& region : regions) {
    const std::shared_ptr<Region> other = region->without_effects();
    changed = changed || other;
    pure->regions.push_back(other ? other : region);
  }
  if (!changed) return nullptr;
  pure->kind = kind;
  pure->maximum_iterations = maximum_iterations;
  pure->varies = varies;
  return pure;
}

std::vector<HasGraphs::Inner> SizedFlow::inner_graphs() const {
  if (of) return of->inner_graphs();
  std::vector<Inner> inner;
  for (const auto& region : regions) inner.push_back(region->inner());
  return inner;
}

Tensors run_sized_flow(const std::shared_ptr<const SizedFlow>& flow,
                       std::span<const Tensor> operands) {
  Symbols* symbols = thread_context.graph ? &thread_context.graph->symbols() : symbols_of_trace();
  for (const Tensor& t : operands)
    if (!symbols && t.impl()->kind == ValueKind::traced)
      symbols = &t.impl()->extra()->graph->symbols();
  SizedAttrs attrs;
  for (std::size_t i = 0; i < flow->found_count(); ++i)
    attrs.add(symbols ? symbols->fresh() : Size(0));
  return run_node(*flow, operands, attrs);
}

}  // namespace gradus
