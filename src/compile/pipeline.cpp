#include "compile/pipeline.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/check.h"
#include "compile/absorb.h"
#include "compile/clean.h"
#include "compile/epilogue.h"
#include "compile/expand.h"
#include "compile/fuse.h"
#include "compile/machine_rates.h"
#include "compile/sum_products.h"
#include "compile/verify.h"

namespace gradus {
namespace {

constexpr Pass kPasses[] = {
    {"clean", clean, "first, so that nothing works on what nobody needs"},
    {"expand", expand, "shows what composites are made of"},
    {"sum products", sum_products, "leaves slices that nobody reads any more"},
    {"clean again", clean, "bodies repeat constants and views"},
    {"absorb", absorb, "products stand for themselves here, transposes not in loops"},
    {"fuse", fuse, "late: afterwards ops are loops that no other pass can look into"},
    {"epilogue", epilogue, "last: products take the loops that follow them"},
};

}  // namespace

std::shared_ptr<Graph> optimise(std::shared_ptr<Graph> graph, const std::vector<std::string>& skip,
                                std::vector<PassReport>* report, const Sizes& sizes) {
  const auto cost_now = [&] {
    return sizes.size() < graph->symbols().input_count() ? Cost() : cost_of(*graph, sizes);
  };
  Cost cost = report ? cost_now() : Cost();
  for (const Pass& pass : kPasses) {
    if (std::find(skip.begin(), skip.end(), pass.name) != skip.end()) continue;
    const auto start = std::chrono::steady_clock::now();
    const std::size_t before = graph->nodes().size();
    graph = pass.run(*graph);
#ifndef NDEBUG
    verify(*graph, pass.name);
#endif
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (!report) continue;
    const Cost after = cost_now();
    report->push_back({pass.name, before, graph->nodes().size(), cost, after, time.count()});
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
  }
  return text;
}

}  // namespace gradus
