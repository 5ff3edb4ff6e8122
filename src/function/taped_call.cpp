#include "function/taped_call.h"

#include <algorithm>

#include "autodiff/some_inputs.h"
#include "base/check.h"
#include "compile/graph_copy.h"
#include "control/branch.h"
#include "graph/batch.h"
#include "graph/evaluate.h"
#include "graph/needed.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using Value = Graph::Value;

struct CallAttrs {
  Held* held = nullptr;
  static auto fields() { return attr_fields(attr("function", &CallAttrs::held)); }
};

TapedCall& call_of(const void* attrs) {
  return *static_cast<TapedCall*>(static_cast<const CallAttrs*>(attrs)->held);
}

void run_program(const KernelCall& c) {
  Executable::Runner runner(call_of(c.attrs).region().program(), c.in);
  SmallVector<void*, 16> in, out;
  for (const View& v : c.in) in.push_back(v.data);
  for (const View& v : c.out) out.push_back(v.data);
  runner.run(in, out);
}

Tensors run_derivative(const TapedCall::Derivative& d, const Site& s,
                       std::span<const Tensor> directions) {
  std::vector<Tensor> operands(s.in.begin(), s.in.end());
  for (std::size_t i : d.outputs) operands.push_back(s.out[i]);
  for (const Tensor& t : directions)
    if (t.defined()) operands.push_back(t);
  return run_call(d.call, operands);
}

void pull(const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
          std::span<Cotangent> grads) {
  const TapedCall::Derivative d = call_of(s.attrs).pull(wanted_inputs(s, wanted), are_defined(cts));
  if (!d.call) return;
  const Tensors found = run_derivative(d, s, cts);
  for (const auto& part : d.parts) {
    grads[part.of] = part.rows ? Cotangent::rows(found[part.first], found[part.first + 1],
                                                 s.shape(static_cast<int>(part.of)))
                               : Cotangent(found[part.first]);
  }
}

void push(const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out) {
  const TapedCall::Derivative d = call_of(s.attrs).push(are_defined(tangents));
  if (!d.call) return;
  const Tensors found = run_derivative(d, s, tangents);
  for (const auto& part : d.parts) out[part.of] = found[part.first];
}

const Op taped_call_op = general(
    {.name = "compiled_function",
     .doc = "A function that was traced and compiled, called under a tape.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<CallAttrs>(),
     .inputs = kAny,
     .outputs = kAny,
     .infer = [](const Call& c, Avals& out) { call_of(c.attrs).region().infer(c.in, out); },
     .kernel = run_program,
     .batch = batch_loop,
     .reads =
         [](const void* attrs, std::uint32_t) {
           const std::size_t first = std::min<std::size_t>(call_of(attrs).result_count(), 31);
           return Reads{~0u, ~0u << first};
         }},
    push, pull);

// The part of a graph from some values, which become inputs, to others.
std::shared_ptr<Region> extract(const Graph& from, std::span<const Value> inputs,
                                std::span<const Value> outputs, Effects effects,
                                std::size_t nodes) {
  GraphCopy copy(from, inputs);
  copy.copy_nodes(needed_for(from, outputs, inputs, effects, nodes).nodes);
  return std::make_shared<Region>(copy.finish(outputs));
}

}  // namespace

// The function and its vjp in one graph.
struct TapedCall::Joint {
  std::shared_ptr<Graph> graph;
  std::size_t boundary = 0;  // nodes of the function; those of the vjp follow
  std::vector<Value> inputs, cts, results;
  std::vector<Value> grads;
  std::vector<Derivative::Part> parts;

  void keep_only(const std::vector<bool>& wanted) {
    std::vector<Value> values;
    std::erase_if(parts, [&](Derivative::Part& p) {
      if (!wanted[p.of]) return true;
      const std::size_t first = std::exchange(p.first, values.size());
      for (std::size_t i = first; i <= first + (p.rows ? 1 : 0); ++i) values.push_back(grads[i]);
      return false;
    });
    grads = std::move(values);
  }

  // What the vjp uses of the function's own values; views are made again.
  std::vector<Value> kept() const {
    std::vector<bool> needed(graph->value_count());
    std::vector<Value> found;
    for (Value v : grads) needed[v] = true;
    for (std::size_t k = graph->nodes().size(); k-- > 0;) {
      const Graph::Node& n = graph->nodes()[k];
      const bool copied = k >= boundary || n.op->info.is_view;
      bool used = false;
      for (std::uint32_t i = 0; i < n.out_count; ++i) {
        if (!needed[n.first_out + i]) continue;
        used = true;
        if (!copied) found.push_back(n.first_out + i);
      }
      if (used && copied)
        for (Value v : graph->operands(n)) needed[v] = true;
    }
    return found;
  }
};

TapedCall::Joint TapedCall::trace(const std::vector<bool>& given) const {
  RegionBuilder builder(*traced_);
  Joint joint;
  joint.graph = builder.graph().shared_from_this();
  const auto info = [&](Value v) -> const Aval& { return traced_->info(v).aval; };
  std::vector<Tensor> in;
  for (Value v : traced_->inputs()) {
    in.push_back(builder.add_input(info(v)));
    joint.inputs.push_back(joint.graph->value(in.back()));
  }
  // All cotangents are inputs, so that the function's values have the same numbers in every trace.
  std::vector<Cotangent> seeds(results_);
  for (std::size_t i = 0; i < results_; ++i) {
    const Tensor ct = builder.add_input(info(traced_->outputs()[i]));
    joint.cts.push_back(joint.graph->value(ct));
    if (given[i]) seeds[i] = ct;
  }
  builder.inside([&] {
    const Mute insides(0);
    const auto found = pull_through(
        [&](std::span<const Tensor> x) {
          const std::vector<Tensor> out = evaluate(const_cast<Graph&>(*traced_), x);
          for (const Tensor& t : out) joint.results.push_back(joint.graph->value(t));
          joint.boundary = joint.graph->nodes().size();
          return Tensors(out.begin(), out.end());
        },
        in, followed_, seeds);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Cotangent& g = found[i];
      if (g.is_zero()) continue;
      joint.parts.push_back({i, joint.grads.size(), g.is_rows()});
      if (g.is_rows()) joint.grads.push_back(joint.graph->value(g.indices()));
      joint.grads.push_back(joint.graph->value(g.is_rows() ? g.value() : dense(g)));
    }
  });
  return joint;
}

TapedCall::TapedCall(const Graph& graph, const std::vector<bool>& followed)
    : traced_(graph.shared_from_this()), results_(graph.outputs().size()), followed_(followed) {
  std::vector<bool> given;
  for (Value v : graph.outputs()) given.push_back(is_differentiable(graph.info(v).aval.dtype));
  const Joint joint = trace(given);
  kept_ = joint.kept();
  std::vector<Value> outputs = joint.results;
  outputs.insert(outputs.end(), kept_.begin(), kept_.end());
  region_ = extract(*joint.graph, joint.inputs, outputs, Effects::kept, joint.boundary);
}

// None if it needs what was not kept.
TapedCall::Derivative TapedCall::backward(const std::vector<bool>& wanted,
                                          const std::vector<bool>& given) const {
  Derivative d;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] && !followed_[i]) return d;
  Joint joint = trace(given);
  joint.keep_only(wanted);
  if (joint.parts.empty()) return d;
  std::vector<Value> inputs = joint.inputs;
  for (Value v : joint.kept()) {
    const auto found = std::find(kept_.begin(), kept_.end(), v);
    if (found == kept_.end()) return {};
    d.outputs.push_back(results_ + static_cast<std::size_t>(found - kept_.begin()));
    inputs.push_back(v);
  }
  for (std::size_t i = 0; i < results_; ++i)
    if (given[i]) inputs.push_back(joint.cts[i]);
  d.parts = joint.parts;
  d.call = std::make_shared<TapedCall>(
      extract(*joint.graph, inputs, joint.grads, Effects::left_out, joint.graph->nodes().size()));
  return d;
}

TapedCall::Derivative TapedCall::pull(const std::vector<bool>& wanted,
                                      const std::vector<bool>& given) {
  const Key key(wanted, given);
  const std::lock_guard lock(mutex_);
  if (const auto known = pulls_.find(key); known != pulls_.end()) return known->second;
  const auto none_beyond = [](const std::vector<bool>& flags, std::size_t first) {
    return std::find(flags.begin() + static_cast<std::ptrdiff_t>(first), flags.end(), true) ==
           flags.end();
  };
  Derivative d;
  if (traced_ && none_beyond(given, results_))
    d = backward(wanted, std::vector<bool>(given.begin(),
                                           given.begin() + static_cast<std::ptrdiff_t>(results_)));
  if (!d.call) {
    RegionBuilder builder(region_->graph());
    std::vector<Tensor> in, cts, out;
    for (std::size_t i = 0; i < region_->input_count(); ++i)
      in.push_back(builder.add_input(region_->input(i)));
    for (std::size_t i = 0; i < given.size(); ++i)
      cts.push_back(given[i] ? builder.add_input(region_->output(i)) : Tensor());
    const std::vector<Tensor> found = builder.inside([&] {
      const Mute insides(0);
      return trace_pull(*region_, in, wanted, cts);
    });
    d = {};
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i].defined()) continue;
      d.parts.push_back({i, out.size(), false});
      out.push_back(found[i]);
    }
    if (!out.empty()) d.call = std::make_shared<TapedCall>(builder.finish(out));
  }
  return pulls_.try_emplace(key, std::move(d)).first->second;
}

TapedCall::Derivative TapedCall::push(const std::vector<bool>& given) {
  const Key key(given, {});
  const std::lock_guard lock(mutex_);
  if (const auto known = pushes_.find(key); known != pushes_.end()) return known->second;
  RegionBuilder builder(region_->graph());
  std::vector<Tensor> in, tangents, out;
  for (std::size_t i = 0; i < region_->input_count(); ++i)
    in.push_back(builder.add_input(region_->input(i)));
  for (std::size_t i = 0; i < given.size(); ++i)
    tangents.push_back(given[i] ? builder.add_input(region_->input(i)) : Tensor());
  const Tensors found = builder.inside([&] {
    const Mute insides(0);
    return jvp_of([&](std::span<const Tensor> x) { return (*region_)(x); }, in, tangents);
  });
  Derivative d;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].defined()) continue;
    d.parts.push_back({i, out.size(), false});
    out.push_back(found[i]);
  }
  if (!out.empty()) d.call = std::make_shared<TapedCall>(builder.finish(out));
  return pushes_.try_emplace(key, std::move(d)).first->second;
}

Tensors run_call(const std::shared_ptr<TapedCall>& call, std::span<const Tensor> operands) {
  if (!std::all_of(operands.begin(), operands.end(), is_concrete)) return call->region()(operands);
  const CallAttrs attrs{call.get()};
  return taped_call_op.run(operands, &attrs);
}

}  // namespace gradus
