#include "compile/passes/pipeline.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/check.h"
#include "compile/inner_memory.h"
#include "compile/machine_rates.h"
#include "compile/passes/absorb.h"
#include "compile/passes/clean.h"
#include "compile/passes/epilogue.h"
#include "compile/passes/expand.h"
#include "compile/passes/fuse.h"
#include "compile/passes/hoist.h"
#include "compile/passes/remat.h"
#include "compile/passes/siblings.h"
#include "compile/passes/simplify.h"
#include "compile/passes/sum_products.h"
#include "compile/passes/verify.h"

namespace gradus {
namespace {

using GraphPtr = std::shared_ptr<Graph>;

template <std::shared_ptr<Graph> (*pass)(const Graph&)>
GraphPtr simple(const GraphPtr& graph, const Target&, std::string&) {
  return pass(*graph);
}

bool knows_sizes(const Graph& graph, const Target& target) {
  return target.sizes.size() >= graph.symbols().input_count();
}

GraphPtr remat(const GraphPtr& graph, const Target& target, std::string& note) {
  if (target.memory_limit <= 0 || !knows_sizes(*graph, target)) return graph;
  const std::int64_t limit = target.memory_limit;
  // The programs inside give up as large a part of their memory as this one has to.
  const std::int64_t inside_before = inner_bytes(*graph, target.sizes);
  GraphPtr smaller;
  std::int64_t inside = inside_before;
  if (inside > 0) {
    const std::int64_t all = inside + arena_bytes(*graph, target.sizes, target.donations);
    if (all > limit)
      smaller = with_less_inner_memory(*graph, target.sizes,
                                       static_cast<double>(limit) / static_cast<double>(all));
    if (smaller) inside = inner_bytes(*smaller, target.sizes);
  }
  const GraphPtr& now = smaller ? smaller : graph;
  const Rematerialised made = rematerialise(*now, target.sizes, target.donations,
                                            std::max<std::int64_t>(limit - inside, 0));
  char text[300];
  const auto mb = [](std::int64_t bytes) { return 1e-6 * static_cast<double>(bytes); };
  std::snprintf(text, sizeof text,
                "temporaries %.3f -> %.3f MB, the limit of %.3f MB is %s: %zu ops run again, %.3f "
                "MFLOP",
                mb(made.bytes_before + inside_before), mb(made.bytes + inside), mb(limit),
                made.bytes + inside <= limit ? "kept" : "not reached", made.repeated,
                1e-6 * made.flops);
  note = text;
  if (inside_before > 0) {
    std::snprintf(text, sizeof text, "; of these in loops and branches %.3f -> %.3f MB",
                  mb(inside_before), mb(inside));
    note += text;
  }
  return made.graph ? made.graph : now;
}

GraphPtr hoist_loops(const GraphPtr& graph, const Target&, std::string&) { return hoist(graph); }

constexpr Pass kPasses[] = {
    {"clean", simple<clean>, "first, so that nothing works on what nobody needs"},
    {"hoist", hoist_loops, "then bodies are smaller, and what left them takes part in the rest"},
    {"expand", simple<expand>, "shows what composites are made of"},
    {"simplify", simple<simplify>, "what composites and gradients are made of has simpler forms"},
    {"sum products", simple<sum_products>, "leaves slices that nobody reads any more"},
    {"clean again", simple<clean>, "drops what the passes before left over"},
    {"siblings", simple<siblings>, "products that are left now have the operands they will have"},
    {"absorb", simple<absorb>, "products stand for themselves here, transposes not in loops"},
    {"fuse", simple<fuse>, "late: afterwards ops are loops that no other pass can look into"},
    {"epilogue", simple<epilogue>, "products take the loops that follow them"},
    {"remat", remat, "last: what is alive at the same time is known only now"},
};

}  // namespace

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : kPasses) names.emplace_back(pass.name);
  return names;
}

GraphPtr optimise(GraphPtr graph, const std::vector<std::string>& skip,
                  std::vector<PassReport>* report, const Target& target) {
  const OutsideTraces finished;
  const auto cost_now = [&] {
    return knows_sizes(*graph, target) ? cost_of(*graph, target.sizes) : Cost();
  };
  const auto check = [&](const char* after) {
#ifdef NDEBUG
    (void)after;
#else
    verify(*graph, after);
#endif
  };
  check("tracing");
  Cost cost = report ? cost_now() : Cost();
  for (const Pass& pass : kPasses) {
    if (std::find(skip.begin(), skip.end(), pass.name) != skip.end()) continue;
    const auto start = std::chrono::steady_clock::now();
    const std::size_t before = graph->nodes().size();
    std::string note;
    graph = pass.run(graph, target, note);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    check(pass.name);
    if (!report) continue;
    const Cost after = cost_now();
    report->push_back(
        {pass.name, before, graph->nodes().size(), cost, after, time.count(), std::move(note)});
    cost = after;
  }
  return graph;
}

std::string to_string(std::span<const PassReport> report) {
  const MachineRates& rates = machine_rates();
  std::string text =
      "pass             ops            MB moved           MFLOP              at least us     took "
      "ms\n";
  for (const PassReport& p : report) {
    char line[200];
    const auto time = [&](const Cost& c) { return 1e6 * rates.seconds(c.flops, c.bytes); };
    std::snprintf(line, sizeof line,
                  "%-12s %5zu -> %-5zu %8.3f -> %-8.3f %8.3f -> %-8.3f %7.1f -> %-7.1f %7.2f\n",
                  p.name, p.nodes_before, p.nodes_after, 1e-6 * p.before.bytes,
                  1e-6 * p.after.bytes, 1e-6 * p.before.flops, 1e-6 * p.after.flops, time(p.before),
                  time(p.after), p.milliseconds);
    text += line;
    if (!p.note.empty()) text += "             " + p.note + "\n";
  }
  return text;
}

}  // namespace gradus
