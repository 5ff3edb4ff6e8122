#include "gradus/function.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "autodiff/thread_tapes.h"
#include "base/check.h"
#include "compile/executable.h"
#include "compile/inner_memory.h"
#include "compile/machine_rates.h"
#include "compile/stretches.h"
#include "compile/taped_call.h"
#include "compile/traced_variables.h"
#include "gradus/elementwise.h"
#include "gradus/host_call.h"
#include "gradus/shaping.h"
#include "graph/bind.h"
#include "graph/cost.h"
#include "graph/evaluate.h"
#include "graph/found_size.h"
#include "graph/host_number.h"
#include "graph/picture.h"
#include "graph/text.h"
#include "ops/seed_log.h"
#include "tensor/tensor_impl.h"

namespace gradus::detail {
namespace {

constexpr std::size_t kMaxTraces = 64;  // the oldest is forgotten

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  return time.count();
}

bool is_weak(const Tensor& t) { return t.impl()->has(kWeak); }

}  // namespace

// What was traced for one signature, compiled.
struct Trace {
  struct Argument {
    Aval aval;  // sizes may be symbols
    bool weak;
  };
  std::vector<Argument> signature;
  std::size_t unknowns = 0;                    // among the sizes of the arguments
  std::vector<NarrowedNumbers::Range> ranges;  // of integers among the arguments
  std::string key;                             // what the arguments are besides their tensors
  std::shared_ptr<Graph> graph;                // as traced: what a tape follows
  std::unique_ptr<Executable> program;
  std::shared_ptr<const std::any> structure;
  std::string settings;  // what the results are besides their tensors
  std::size_t result_count = 0;
  struct VariableUse {
    std::shared_ptr<VariableState> variable;
    std::int64_t output;  // where its new value is, or -1
  };
  std::vector<VariableUse> variables;  // in the order of the inputs after the arguments
  std::vector<Donation> donations;
  std::vector<std::size_t> written;  // those with an output, by address: the order of locking
  bool calls_foreign_code = false;   // which may read or write variables while the program runs

  std::string reason;
  double trace_ms = 0, compile_ms = 0;
  std::vector<PassReport> passes;
  Sizes sizes;  // of the call that it was made for

  bool is_stateful = false;
  // What a tape sees, by the inputs that it follows; none: op by op.
  std::mutex taped_mutex;
  std::map<std::vector<bool>, std::shared_ptr<TapedCall>> taped;

  // The last sizes that it was found to serve, and how many guards there were.
  std::vector<Sizes> served;
  std::size_t guards = 0;

  bool serves(const Sizes& sizes) {
    if (guards != graph->symbols().guard_count()) served.clear();
    guards = graph->symbols().guard_count();
    if (std::ranges::find(served, sizes) != served.end()) return true;
    if (!gradus::serves(*graph, sizes)) return false;
    if (served.size() > 1024) served.clear();
    served.push_back(sizes);
    return true;
  }
  bool matches(std::span<const Tensor> in) const {
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
};

// Sizes of arguments, by argument and axis, that the function wants as numbers: each has traces of
// its own, in which the size is known.
using Pinned = std::set<std::pair<std::size_t, int>>;

// What a call has tried: a trace may turn out not to serve the sizes that its run finds. It is then
// traced with those as hints.
struct Attempts {
  std::vector<std::shared_ptr<Trace>> failed = {};
  std::vector<std::optional<std::int64_t>> found = {};  // in the order in which they are made
};

struct FunctionCore::State {
  FunctionOptions options;
  mutable std::recursive_mutex mutex;        // a function may ask about itself while it is traced
  std::list<std::shared_ptr<Trace>> traces;  // used last first
  std::vector<std::string> log;
  int count = 0;
  int refusals = 0;  // of unknown sizes: a call of no rows may be the reason, or the function
  Pinned pinned;

  // Notes the sizes that the function asks to be numbers; whether there are new ones.
  bool pin(const Trace& trace);

  void keep(const std::shared_ptr<Trace>& trace, const std::string& reason);
  std::shared_ptr<Trace> find(const std::vector<Tensor>& in, const Body& body,
                              const std::string& key, const Attempts& attempts = {});
};

FunctionCore::FunctionCore(FunctionOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}
FunctionCore::~FunctionCore() = default;

namespace {

std::string print(const Trace::Argument& a, const Symbols* symbols) {
  if (a.weak) return a.aval.dtype == float64 ? "a real number" : "an integer number";
  std::string text = std::string(name_of(a.aval.dtype)) + " (";
  for (int i = 0; i < a.aval.shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += symbols ? symbols->print(a.aval.shape[i]) : to_string(a.aval.shape[i]);
  }
  return text + (a.aval.shape.rank() == 1 ? ",)" : ")");
}

}  // namespace

void FunctionCore::State::keep(const std::shared_ptr<Trace>& trace, const std::string& reason) {
  trace->reason = reason;
  ++count;
  std::ostringstream line;
  line << "trace " << count << ": " << reason << "\n  signature:";
  for (const Trace::Argument& a : trace->signature)
    line << " " << print(a, &trace->graph->symbols());
  line << "\n  traced in " << trace->trace_ms << " ms, compiled in " << trace->compile_ms << " ms:";
  for (const PassReport& p : trace->passes)
    line << " " << p.name << " " << p.nodes_before << " -> " << p.nodes_after << ",";
  line << " " << trace->program->step_count() << " steps, " << trace->variables.size()
       << " variables (" << trace->written.size() << " written)";
  for (const PassReport& p : trace->passes)
    if (!p.note.empty()) line << "\n  " << p.name << ": " << p.note;
  const Symbols& symbols = trace->graph->symbols();
  for (const Guard& g : symbols.guards()) line << "\n  only where " << symbols.print(g);
  log.push_back(line.str());
  traces.push_front(trace);
  if (traces.size() > kMaxTraces) traces.pop_back();
}

namespace {

// Why none of the traces fits: what is different from the one used last.
std::string reason_against(const Trace& last, std::span<const Tensor> in) {
  std::ostringstream text;
  if (last.signature.size() != in.size()) {
    text << "called with " << in.size() << " tensors instead of " << last.signature.size();
    return text.str();
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Trace::Argument was = last.signature[i];
    const Trace::Argument now{{in[i].dtype(), in[i].shape()}, is_weak(in[i])};
    const std::string before = print(was, &last.graph->symbols()), after = print(now, nullptr);
    if (before != after) {
      text << (text.str().empty() ? "" : "; ") << "argument " << i << " was " << before
           << " and is " << after;
    }
  }
  return text.str().empty() ? "the sizes do not go together as they did" : text.str();
}

// The signature of new arguments. Sizes in which they differ from a trace become symbols; sizes
// that changed together get one.
std::vector<Trace::Argument> signature_of(std::span<const Tensor> in, const Trace* like,
                                          const Pinned& pinned, Symbols& symbols) {
  std::vector<Trace::Argument> signature;
  for (const Tensor& t : in) signature.push_back({{t.dtype(), t.shape()}, is_weak(t)});
  if (!like || like->signature.size() != in.size()) return signature;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Trace::Argument& was = like->signature[i];
    if (was.aval.dtype != signature[i].aval.dtype || was.weak != signature[i].weak ||
        was.aval.shape.rank() != signature[i].aval.shape.rank()) {
      return signature;
    }
  }
  struct Changed {
    Size was, is, symbol;
  };
  std::vector<Changed> seen;
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (int a = 0; a < in[i].rank(); ++a) {
      const Size was = like->signature[i].aval.shape[a], is = in[i].shape()[a];
      if (is_same(was, is) || pinned.contains({i, a})) continue;
      auto known = std::ranges::find_if(
          seen, [&](const Changed& c) { return is_same(c.was, was) && is_same(c.is, is); });
      if (known == seen.end())
        known = seen.insert(seen.end(), {was, is, symbols.fresh(std::int64_t{is})});
      signature[i].aval.shape[a] = known->symbol;
    }
  }
  return signature;
}

// Runs the function on names. None if it uses values of a trace or vmap around it: then it is part
// of those.
std::shared_ptr<Trace> record(std::vector<Trace::Argument> signature,
                              const std::shared_ptr<Graph>& graph, const FunctionCore::Body& body,
                              const FunctionOptions& options) {
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
    for (const TracedVariables::Entry& e : variables.entries()) {
      std::int64_t output = -1;
      if (e.is_written) {
        output = static_cast<std::int64_t>(outputs.size());
        outputs.push_back(graph->value(e.now));
        trace->donations.push_back({input, static_cast<std::uint32_t>(output)});
        trace->written.push_back(trace->variables.size());
      }
      trace->variables.push_back({e.variable, output});
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

// An integer that the program holds in a narrow dtype must fit it, at each call.
void check_numbers(const Trace& trace, std::span<const Tensor> in, const std::string& name) {
  for (const NarrowedNumbers::Range& r : trace.ranges) {
    if (r.input >= in.size() || !is_weak(in[r.input])) continue;  // a size, which fits
    const auto number = in[r.input].item<std::int64_t>();
    if (number >= r.least && number <= r.most) continue;
    fail<InvalidArgumentError>("[", name, "] got the number ", number, ", which it uses as ",
                               name_of(r.dtype), "; expected one from ", r.least, " to ", r.most,
                               "; give it as a tensor of a wider dtype");
  }
}

void compile(Trace& trace, const FunctionOptions& options, Sizes sizes) {
  const auto start = std::chrono::steady_clock::now();
  trace.sizes = std::move(sizes);
  const Target target{trace.sizes, trace.donations, options.memory_limit};
  trace.program = compiled(trace.graph, target, options.skip_passes, &trace.passes);
  trace.compile_ms = milliseconds_since(start);
}

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

bool FunctionCore::State::pin(const Trace& trace) {
  const Symbols& symbols = trace.graph->symbols();
  bool found = false;
  for (const Guard& g : symbols.guards()) {
    if (g.question != Guard::Question::equal || !g.answer || !g.b.is_known()) continue;
    for (std::size_t i = 0; i < trace.signature.size(); ++i)
      for (int a = 0; a < trace.signature[i].aval.shape.rank(); ++a)
        if (is_same(trace.signature[i].aval.shape[a], g.a))
          found = pinned.insert({i, a}).second || found;
  }
  return found;
}

// The trace for these arguments, made if there is none. None if the function uses values of a trace
// or vmap around it.
std::shared_ptr<Trace> FunctionCore::State::find(const std::vector<Tensor>& in, const Body& body,
                                                 const std::string& key, const Attempts& attempts) {
  State& s = *this;
  const auto fits = [&](const std::shared_ptr<Trace>& t) {
    if (t->key != key || !t->matches(in)) return false;
    if (std::ranges::find(attempts.failed, t) != attempts.failed.end()) return false;
    const Symbols& symbols = t->graph->symbols();
    if (symbols.input_count() == 0) return true;
    const auto sizes = bind_sizes(*t->graph, in);
    return sizes && t->serves(*sizes);
  };
  if (const auto found = std::ranges::find_if(s.traces, fits); found != s.traces.end()) {
    s.traces.splice(s.traces.begin(), s.traces, found);
    return s.traces.front();
  }
  const auto same = std::ranges::find_if(s.traces, [&](const auto& t) { return t->key == key; });
  const bool none = same == s.traces.end();
  constexpr int kMostRefusals = 3;
  const Trace* like = none || s.refusals >= kMostRefusals ? nullptr : same->get();
  const std::string reason = s.traces.empty() ? "the first call"
                             : none ? "another variable, text or number of parts was given"
                             : !attempts.failed.empty()
                                 ? "the run found sizes that it does not serve"
                                 : reason_against(**same, in);
  const auto traced = [&](const Trace* as) -> std::shared_ptr<Trace> {
    auto graph = Graph::make();
    auto signature = signature_of(in, as, s.pinned, graph->symbols());
    if (as && graph->symbols().input_count() == 0) return nullptr;
    graph->symbols().expect(attempts.found);
    return record(std::move(signature), graph, body, s.options);
  };
  std::shared_ptr<Trace> trace;
  std::string refused;
  // The sizes that differ are unknowns. Once more if that shows that some are wanted as numbers.
  for (bool again = like != nullptr; again;) {
    again = false;
    try {
      trace = traced(like);
      again = trace && s.pin(*trace);
      if (trace && (again || !trace->serves(*bind_sizes(*trace->graph, in)))) trace = nullptr;
    } catch (const Error& e) {  // perhaps an op that must know its sizes
      refused = e.what();
    }
  }
  if (!trace) trace = traced(nullptr);
  if (!trace) return nullptr;
  compile(*trace, s.options, *bind_sizes(*trace->graph, in));
  if (!refused.empty()) {  // and not because the call itself is wrong
    ++s.refusals;
    s.log.push_back("  sizes stay known, because with symbols: " + refused);
  }
  trace->key = key;
  s.keep(trace, reason);
  return trace;
}

FunctionCore::Results FunctionCore::call(std::vector<Tensor> in, const Body& body,
                                         const std::string& key) {
  State& s = *state_;
  bool plain = !thread_context.graph;
  for (const Tensor& t : in) {
    if (!t.defined()) fail<InvalidArgumentError>("[", s.options.name, "] got an undefined tensor");
    plain = plain && is_concrete(t);
  }
  const auto inlined = [&]() -> Results {
    auto [tensors, structure, settings] = body(in);
    return {std::move(tensors), std::make_shared<const std::any>(std::move(structure))};
  };
  if (!plain) return inlined();  // part of a larger function
  constexpr std::size_t kMostAttempts = 16;
  for (Attempts attempts;;) {
    std::shared_ptr<Trace> trace;
    {
      const std::lock_guard lock(s.mutex);
      trace = s.find(in, body, key, attempts);
    }
    if (!trace) return inlined();
    check_numbers(*trace, in, s.options.name);
    try {
      const bool observed = thread_context.observer != nullptr;
      std::vector<Tensor> out = observed                    ? run_observed(*trace, in)
                                : trace->calls_foreign_code ? run_with_foreign_code(*trace, in)
                                                            : run(*trace, in);
      return {std::move(out), trace->structure};
    } catch (const BrokenGuard& e) {
      // A part that was compiled only now, the body of a loop say, asked about sizes what the trace
      // did not: at these it is another program. Other sizes than these go on using it.
      const std::optional<Sizes> sizes = bind_sizes(*trace->graph, in);
      if (sizes && !trace->graph->symbols().guards_hold(*sizes)) continue;
      // Or it found sizes for which it is another program. It has changed nothing yet.
      const auto is_ours = [&](const BrokenGuard::Found& f) {
        return f.table == &trace->graph->symbols();
      };
      if (std::ranges::none_of(e.found, is_ours) || attempts.failed.size() == kMostAttempts) throw;
      attempts.failed.push_back(trace);
      attempts.found.assign(trace->graph->symbols().input_count() - trace->unknowns, std::nullopt);
      for (const BrokenGuard::Found& f : e.found)
        if (is_ours(f) && f.input >= trace->unknowns)
          attempts.found[f.input - trace->unknowns] = f.size;
    }
  }
}

void FunctionCore::prepare(const std::vector<Expected>& arguments, const Body& body,
                           bool batches_differ) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  auto graph = Graph::make();
  std::optional<Size> first;
  std::vector<Trace::Argument> signature;
  for (const Expected& e : arguments) {
    signature.push_back({{e.dtype, e.shape}, false});
    for (int a = 0; a < e.shape.rank(); ++a) {
      if (e.shape[a] >= 0) continue;
      Size& size = signature.back().aval.shape[a];
      const bool is_batch = a == 0 && !batches_differ;
      size = is_batch && first ? *first : graph->symbols().fresh();
      if (is_batch) first = size;
    }
  }
  const std::shared_ptr<Trace> trace = record(std::move(signature), graph, body, s.options);
  if (!trace) {
    fail<InvalidArgumentError>("[", s.options.name,
                               "] uses values of a trace or vmap around it; call it there instead");
  }
  // Nobody knows the sizes yet; reports take each for this.
  constexpr std::int64_t kExample = 32;
  compile(*trace, s.options, Sizes(trace->graph->symbols().input_count(), kExample));
  s.keep(trace, "asked for");
}

std::string FunctionCore::explain() const {
  const std::lock_guard lock(state_->mutex);
  std::ostringstream text;
  text << state_->options.name << ": " << state_->count << " trace"
       << (state_->count == 1 ? "" : "s") << "\n";
  for (const std::string& line : state_->log) text << line << "\n";
  return text.str();
}

namespace {

const Graph& graph_of(const std::list<std::shared_ptr<Trace>>& traces, const std::string& name,
                      bool optimised) {
  if (traces.empty()) {
    fail<FailedPreconditionError>("[", name, "] was not called yet, so there is nothing to show");
  }
  return optimised ? traces.front()->program->graph() : *traces.front()->graph;
}

}  // namespace

std::string FunctionCore::text(bool optimised) const {
  const std::lock_guard lock(state_->mutex);
  return graph_of(state_->traces, state_->options.name, optimised).print();
}

std::string FunctionCore::dot(bool optimised) const {
  const std::lock_guard lock(state_->mutex);
  return to_dot(graph_of(state_->traces, state_->options.name, optimised), state_->options.name);
}

std::string FunctionCore::html(bool optimised) const {
  const std::lock_guard lock(state_->mutex);
  return to_html(graph_of(state_->traces, state_->options.name, optimised), state_->options.name);
}

std::string FunctionCore::report() const {
  const std::lock_guard lock(state_->mutex);
  graph_of(state_->traces, state_->options.name, true);
  return to_string(std::span<const PassReport>(state_->traces.front()->passes));
}

Estimate FunctionCore::estimate(const std::vector<Tensor>& in, const Body& body,
                                const std::string& key) {
  const std::lock_guard lock(state_->mutex);
  const std::shared_ptr<Trace> trace = state_->find(in, body, key);
  if (!trace) {
    fail<InvalidArgumentError>("[", state_->options.name,
                               "] uses values of a trace or vmap around it; estimate that instead");
  }
  const Graph& graph = trace->program->graph();
  const Sizes sizes = *bind_sizes(*trace->graph, in);
  const Cost cost = cost_of(graph, sizes);
  Estimate e{.flops = cost.flops,
             .bytes = cost.bytes,
             .seconds = machine_rates().seconds(cost.flops, cost.bytes),
             .temporary_bytes = trace->program->arena_bytes(sizes) + inner_bytes(graph, sizes),
             .steps = static_cast<int>(trace->program->step_count())};
  const auto bytes = [&](Graph::Value v) {
    const Aval& aval = graph.info(v).aval;
    return bind_shape(graph.symbols(), sizes, aval.shape).num_elements() *
           static_cast<std::int64_t>(size_of(aval.dtype));
  };
  for (std::size_t i = 0; i < graph.inputs().size(); ++i)
    (i < in.size() ? e.argument_bytes : e.variable_bytes) += bytes(graph.inputs()[i]);
  for (Graph::Value v = 0; v < graph.value_count(); ++v)
    if (graph.info(v).constant.defined()) e.constant_bytes += bytes(v);
  for (std::size_t i = 0; i < trace->result_count; ++i) e.result_bytes += bytes(graph.outputs()[i]);
  return e;
}

SavedFunction FunctionCore::saved() const {
  const std::lock_guard lock(state_->mutex);
  const Graph& graph = graph_of(state_->traces, state_->options.name, false);
  const Trace& trace = *state_->traces.front();
  std::ostringstream text;
  SavedFunction saved;
  text << "gradus function 1\nresults " << trace.result_count << "\n";
  for (const Trace::VariableUse& use : trace.variables) {
    text << "variable " << in_quotes(use.variable->name) << " -> " << use.output << "\n";
    saved.variables.push_back(use.variable->get());
    saved.sources.emplace_back(use.variable);
  }
  for (const std::optional<std::int64_t>& hint : graph.symbols().hints())
    text << "size " << hint.value_or(-1) << "\n";
  for (const Guard& g : graph.symbols().guards()) {
    const bool equal = g.question == Guard::Question::equal;
    text << "guard " << graph.symbols().print(g.a)
         << (equal ? (g.answer ? " == " : " != ") : (g.answer ? " < " : " >= "))
         << graph.symbols().print(g.b) << "\n";
  }
  text << to_text(graph, &saved.constants);
  saved.text = text.str();
  (void)LoadedFunction(saved);  // says what cannot be saved
  return saved;
}

int FunctionCore::trace_count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->count;
}

}  // namespace gradus::detail

namespace gradus {

std::string to_string(const Estimate& e) {
  const auto mb = [](auto bytes) { return 1e-6 * static_cast<double>(bytes); };
  char text[600];
  std::snprintf(text, sizeof text,
                "%d steps, %.3f MFLOP, %.3f MB moved: at least %.1f us on one thread\n"
                "peak %.3f MB: arguments %.3f, variables %.3f, constants %.3f, results %.3f, "
                "temporaries %.3f\n",
                e.steps, 1e-6 * e.flops, 1e-6 * e.bytes, 1e6 * e.seconds, mb(e.peak_bytes()),
                mb(e.argument_bytes), mb(e.variable_bytes), mb(e.constant_bytes),
                mb(e.result_bytes), mb(e.temporary_bytes));
  return text;
}

}  // namespace gradus
