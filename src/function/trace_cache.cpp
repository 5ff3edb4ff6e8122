#include "function/trace_cache.h"

#include <algorithm>
#include <sstream>

#include "base/check.h"
#include "graph/bind.h"

namespace gradus::detail {
namespace {

constexpr std::size_t kMaxTraces = 64;  // the oldest is forgotten

// Why none of the traces fits: what is different from the one used last.
std::string reason_against(const Trace& last, std::span<const Tensor> in) {
  std::ostringstream text;
  if (last.signature.size() != in.size()) {
    text << "called with " << in.size() << " tensors instead of " << last.signature.size();
    return text.str();
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Trace::Argument was = last.signature[i];
    const Trace::Argument now{{in[i].dtype(), in[i].shape()}, is_number(in[i])};
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
  for (const Tensor& t : in) signature.push_back({{t.dtype(), t.shape()}, is_number(t)});
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
    return record(std::move(signature), graph, body, s.options, in);
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
      refused = e.message();
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

}  // namespace gradus::detail
