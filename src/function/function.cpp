#include "gradus/function.h"

#include <algorithm>

#include "base/check.h"
#include "function/run_trace.h"
#include "function/trace_cache.h"
#include "graph/bind.h"
#include "graph/context.h"
#include "graph/found_size.h"
#include "ops/seed_log.h"
#include "tensor/tensor_impl.h"

namespace gradus::detail {

FunctionCore::FunctionCore(FunctionOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}
FunctionCore::~FunctionCore() = default;

FunctionCore::Results FunctionCore::call(std::vector<Tensor> in, const Body& body,
                                         const std::string& key) {
  State& s = *state_;
  end_of_call();
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
  SeedLog seeds;  // of random numbers: another attempt draws the same
  for (Attempts attempts;;) {
    std::shared_ptr<Trace> trace;
    {
      const std::lock_guard lock(s.mutex);
      trace = s.find(in, body, key, attempts);
    }
    if (!trace) return inlined();
    check_numbers(*trace, in, s.options.name);
    std::optional<SeedScope> drawn;
    if (trace->is_stateful && finds_sizes(*trace->graph)) {
      using Use = SeedScope::Use;
      drawn.emplace(seeds, seeds.empty() ? Use::note : Use::repeat);
    }
    try {
      return {run_trace(*trace, in), trace->structure};
    } catch (const BrokenGuard& e) {
      // A part that was compiled only now, the body of a loop say, asked about sizes what the trace
      // did not: at these it is another program. Other sizes than these go on using it.
      const std::optional<Sizes> sizes = bind_sizes(*trace->graph, in);
      if (sizes && !trace->graph->symbols().guards_hold(*sizes)) continue;
      // Or it found sizes for which it is another program. Variables are as they were; what it has
      // called of the host is called again.
      const auto is_ours = [&](const BrokenGuard::Found& f) {
        return f.table == &trace->graph->symbols();
      };
      if (std::ranges::none_of(e.found, is_ours)) throw;
      if (attempts.failed.size() == kMostAttempts) {
        drawn.reset();
        drawn.emplace(seeds, SeedScope::Use::repeat);
        return inlined();
      }
      attempts.failed.push_back(trace);
      // What earlier attempts found stays: branches that are over do not say it again.
      attempts.found.resize(trace->graph->symbols().input_count() - trace->unknowns);
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

}  // namespace gradus::detail
