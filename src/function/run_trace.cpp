#include "function/run_trace.h"

#include <algorithm>

#include "autodiff/thread_tapes.h"
#include "base/check.h"
#include "gradus/elementwise.h"
#include "graph/bind.h"
#include "graph/evaluate.h"
#include "graph/found_size.h"
#include "ops/seed_log.h"
#include "tensor/tensor_impl.h"

namespace gradus::detail {
namespace {

// Runs the program with the variables' values; those it writes are locked meanwhile. The others are
// read first: who holds a lock must not wait for one that is out of order.
std::vector<Tensor> run(Trace& trace, std::vector<Tensor> in) {
  const std::size_t arguments = in.size();
  for (const Trace::VariableUse& use : trace.variables)
    in.push_back(use.output >= 0 ? Tensor() : use.variable->get());
  SmallVector<std::unique_lock<std::mutex>, 8> locks;
  for (std::size_t i : trace.written) locks.emplace_back(trace.variables[i].variable->mutex);
  for (std::size_t i : trace.written)
    in[arguments + i] = std::move(trace.variables[i].variable->value);
  std::vector<Tensor> out(trace.result_count + trace.written.size());
  const auto put_back = [&](bool finished) {
    for (std::size_t i = 0; i < trace.variables.size(); ++i) {
      const Trace::VariableUse& use = trace.variables[i];
      if (use.output < 0) continue;
      use.variable->value =
          finished ? out[static_cast<std::size_t>(use.output)] : std::move(in[arguments + i]);
    }
  };
  try {
    trace.program->run(in, out);
  } catch (...) {
    put_back(false);
    throw;
  }
  put_back(true);
  out.resize(trace.result_count);
  return out;
}

// The same without locks, and with the variables left where they are.
std::vector<Tensor> run_with_foreign_code(Trace& trace, std::vector<Tensor> in) {
  for (const Trace::VariableUse& use : trace.variables) in.push_back(use.variable->get());
  std::vector<Tensor> out(trace.result_count + trace.written.size());
  trace.program->run(in, out);
  for (const Trace::VariableUse& use : trace.variables)
    if (use.output >= 0) Variable(use.variable).assign(out[static_cast<std::size_t>(use.output)]);
  out.resize(trace.result_count);
  return out;
}

bool is_followed(const Tensor& t) { return t.impl()->has(kTracked) || t.impl()->has(kHasTangent); }

bool captures_what_is_followed(const Graph& graph) {
  for (Graph::Value v = 0; v < graph.value_count(); ++v) {
    const Tensor& constant = graph.info(v).constant;
    if (constant.defined() && is_followed(constant)) return true;
  }
  return false;
}

// The function as one op for tapes that follow some inputs; none if one of its ops has no
// derivative inside a trace.
std::shared_ptr<TapedCall> taped_call(Trace& trace, const std::vector<bool>& followed) {
  const std::lock_guard lock(trace.taped_mutex);
  const auto [entry, is_new] = trace.taped.try_emplace(followed);
  if (is_new) {
    try {
      entry->second = std::make_shared<TapedCall>(*trace.graph, followed);
    } catch (const Error&) {  // whoever asks for the gradient is told by the op itself
      entry->second = nullptr;
    }
  }
  return entry->second;
}

// For those who follow the arguments or the variables: as one op if only tapes do. Op by op if
// tangents pass through, if it finds sizes while it runs, if somebody follows a tensor that the
// function captured, if it calls code of the host, if it has effects and there is more than one
// tape (a second derivative would draw other random numbers), or inside recompute_grad.
std::vector<Tensor> run_observed(Trace& trace, std::vector<Tensor> arguments) {
  std::vector<Tensor> in = arguments;
  for (const Trace::VariableUse& use : trace.variables)
    in.push_back(Variable(use.variable).value());
  const bool op_by_op =
      trace.calls_foreign_code || captures_what_is_followed(*trace.graph) ||
      finds_sizes(*trace.graph) ||                    // results of sizes that the tape cannot name
      thread_context.variables ||                     // a second run, with values of its own
      (trace.is_stateful && SeedScope::is_open()) ||  // the same draws in the same order
      (trace.is_stateful && thread_tapes().listeners() > 1) ||
      std::ranges::any_of(in, [](const Tensor& t) { return t.impl()->has(kHasTangent); });
  if (!op_by_op && std::ranges::none_of(in, is_followed)) {
    in.clear();  // variables that nobody else holds are updated in place
    return run(trace, std::move(arguments));
  }
  std::vector<bool> followed;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i < trace.signature.size() && trace.signature[i].weak)
      in[i] = cast(in[i], trace.signature[i].aval.dtype);
    followed.push_back(in[i].impl()->has(kTracked) && is_differentiable(in[i].dtype()));
  }
  std::vector<Tensor> out;
  const auto call = op_by_op ? nullptr : taped_call(trace, followed);
  // The derivative may have asked about sizes what the function itself did not.
  if (call && trace.graph->symbols().guards_hold(*bind_sizes(*trace.graph, in))) {
    const Tensors all = run_call(call, in);
    out.assign(all.begin(), all.end());
  } else {
    out = evaluate(*trace.graph, in);
  }
  for (const Trace::VariableUse& use : trace.variables)
    if (use.output >= 0) Variable(use.variable).assign(out[static_cast<std::size_t>(use.output)]);
  out.resize(trace.result_count);
  return out;
}

}  // namespace

void check_numbers(const Trace& trace, std::span<const Tensor> in, const std::string& name) {
  for (const NarrowedNumbers::Range& r : trace.ranges) {
    if (r.input >= in.size() || !is_number(in[r.input])) continue;  // a size, which fits
    const auto number = in[r.input].item<std::int64_t>();
    if (number >= r.least && number <= r.most) continue;
    fail<InvalidArgumentError>("[", name, "] got the number ", number, ", which it uses as ",
                               name_of(r.dtype), "; expected one from ", r.least, " to ", r.most,
                               "; give it as a tensor of a wider dtype");
  }
}

std::vector<Tensor> run_trace(Trace& trace, const std::vector<Tensor>& in) {
  if (thread_context.observer) return run_observed(trace, in);
  return trace.calls_foreign_code ? run_with_foreign_code(trace, in) : run(trace, in);
}

}  // namespace gradus::detail
