#include "function/trace.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "compile/stretches.h"
#include "function/traced_variables.h"
#include "gradus/host_call.h"
#include "gradus/tracing.h"
#include "graph/bind.h"
#include "graph/evaluate.h"
#include "graph/needed.h"
#include "tensor/tensor_impl.h"

namespace gradus::detail {
namespace {

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  return time.count();
}

// While a function is traced for a call: what the sizes that its run will find are in that call.
class HintsFromCall {
 public:
  HintsFromCall(Graph& graph, std::span<const Tensor> arguments, const TracedVariables& variables)
      : graph_(graph), arguments_(arguments), variables_(variables) {
    if (std::ranges::all_of(arguments, is_concrete))
      graph.symbols().set_find_hint([this](std::size_t input) { return find(input); });
  }
  ~HintsFromCall() { graph_.symbols().set_find_hint({}); }
  HintsFromCall(const HintsFromCall&) = delete;

 private:
  std::optional<std::int64_t> find(std::size_t input) const {
    for (const Graph::Node& n : graph_.nodes())
      for (std::uint32_t o = 0; n.op->info.find && o < n.out_count; ++o) {
        const Shape& shape = graph_.info(n.first_out + o).aval.shape;
        for (int a = 0; a < shape.rank(); ++a)
          if (Symbols::input_of(shape[a]) == static_cast<std::int64_t>(input))
            return size_in_call(n.first_out + o, a);
      }
    return {};
  }

  // None if something with an effect, random numbers say, would have to run.
  std::optional<std::int64_t> size_in_call(Graph::Value v, int axis) const {
    const Needed needed = needed_with_sizes(graph_, {&v, 1});
    for (std::size_t k = 0; k < graph_.nodes().size(); ++k)
      if (needed.nodes[k] && graph_.nodes()[k].op->info.stateful) return {};
    std::vector<Tensor> in(arguments_.begin(), arguments_.end());
    for (const VariableInTrace& variable : variables_.entries())
      in.push_back(variable.variable()->get());
    if (in.size() != graph_.inputs().size()) return {};
    const PauseTracing at_once;
    const Mute nobody_is_told(0);
    try {
      return evaluate_needed(graph_, in, {&v, 1})[0].shape()[axis];
    } catch (const CancelledError&) {
      throw;
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {  // whoever runs the program is told
      return {};
    }
  }

  Graph& graph_;
  std::span<const Tensor> arguments_;
  const TracedVariables& variables_;
};

}  // namespace

bool is_number(const Tensor& t) { return t.impl()->has(kWeak); }

bool Trace::serves(const Sizes& sizes) {
  if (guards != graph->symbols().guard_count()) served.clear();
  guards = graph->symbols().guard_count();
  if (std::ranges::find(served, sizes) != served.end()) return true;
  if (!gradus::serves(*graph, sizes)) return false;
  if (served.size() > 1024) served.clear();
  served.push_back(sizes);
  return true;
}

bool Trace::matches(std::span<const Tensor> in) const {
  if (in.size() != signature.size()) return false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Argument& a = signature[i];
    const TensorImpl& t = *in[i].impl();
    if (t.dtype != a.aval.dtype || t.shape.rank() != a.aval.shape.rank() ||
        t.has(kWeak) != a.weak) {
      return false;
    }
    for (int k = 0; k < t.shape.rank(); ++k)
      if (a.aval.shape[k].is_known() && t.shape[k] != a.aval.shape[k]) return false;
  }
  return true;
}

std::string print(const Trace::Argument& a, const Symbols* symbols) {
  if (a.weak) return a.aval.dtype == float64 ? "a real number" : "an integer number";
  std::string text = std::string(name_of(a.aval.dtype)) + " (";
  for (int i = 0; i < a.aval.shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += symbols ? symbols->print(a.aval.shape[i]) : to_string(a.aval.shape[i]);
  }
  return text + (a.aval.shape.rank() == 1 ? ",)" : ")");
}

std::shared_ptr<Trace> record(std::vector<Trace::Argument> signature,
                              const std::shared_ptr<Graph>& graph, const FunctionCore::Body& body,
                              const FunctionOptions& options, std::span<const Tensor> arguments) {
  auto trace = std::make_shared<Trace>();
  trace->signature = std::move(signature);
  trace->unknowns = graph->symbols().input_count();
  trace->graph = graph;
  const auto start = std::chrono::steady_clock::now();
  {
    const TraceScope scope(*graph);
    std::vector<Tensor> in;
    for (const Trace::Argument& a : trace->signature) {
      in.push_back(graph->tensor(graph->add_input(a.aval)));
      if (a.weak) in.back().impl()->set(kWeak);
    }
    TracedVariables variables(*graph);
    NarrowedNumbers narrowed(*graph);
    const HintsFromCall hints(*graph, arguments, variables);
    const std::uint64_t foreign = foreign_calls_traced();
    auto [results, structure, settings] = body(in);
    trace->calls_foreign_code = foreign_calls_traced() != foreign;
    trace->ranges = std::move(narrowed.ranges);
    trace->structure = std::make_shared<const std::any>(std::move(structure));
    trace->settings = std::move(settings);
    trace->result_count = results.size();
    std::vector<Graph::Value> outputs;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].defined()) {
        fail<InvalidArgumentError>("[", options.name, "] result ", i,
                                   " is an undefined tensor; a gradient that is none cannot be "
                                   "returned from a compiled function");
      }
      outputs.push_back(graph->value(results[i]));
    }
    std::uint32_t input = static_cast<std::uint32_t>(trace->signature.size());
    for (const VariableInTrace& v : variables.entries()) {
      std::int64_t output = -1;
      if (v.is_written()) {
        output = static_cast<std::int64_t>(outputs.size());
        outputs.push_back(graph->value(v.now()));
        trace->donations.push_back({input, static_cast<std::uint32_t>(output)});
        trace->written.push_back(trace->variables.size());
      }
      trace->variables.push_back({v.variable(), output});
      ++input;
    }
    std::sort(trace->written.begin(), trace->written.end(), [&](std::size_t a, std::size_t b) {
      return trace->variables[a].variable < trace->variables[b].variable;
    });
    graph->set_outputs(std::move(outputs));
    graph->close();
  }
  for (Graph::Value v = 0; v < graph->value_count(); ++v) {
    const Tensor& constant = graph->info(v).constant;
    if (constant.defined() && !is_concrete(constant)) return nullptr;
  }
  trace->is_stateful =
      std::ranges::any_of(graph->nodes(), [](const Graph::Node& n) { return n.op->info.stateful; });
  trace->trace_ms = milliseconds_since(start);
  return trace;
}

void compile(Trace& trace, const FunctionOptions& options, Sizes sizes) {
  const auto start = std::chrono::steady_clock::now();
  trace.sizes = std::move(sizes);
  const Target target{trace.sizes, trace.donations, options.memory_limit};
  trace.program = compiled(trace.graph, target, options.skip_passes, &trace.passes);
  trace.compile_ms = milliseconds_since(start);
}

}  // namespace gradus::detail
