#include "compile/pipeline.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "compile/clean.h"
#include "compile/expand.h"
#include "compile/fuse.h"
#include "compile/verify.h"

namespace gradus {
namespace {

constexpr Pass kPasses[] = {
    {"clean", clean, "first, so that nothing works on what nobody needs"},
    {"expand", expand, "shows what composites are made of"},
    {"clean again", clean, "bodies repeat constants and views"},
    {"fuse", fuse, "last: afterwards ops are loops that no other pass can look into"},
};

}  // namespace

std::shared_ptr<Graph> optimise(std::shared_ptr<Graph> graph, const std::vector<std::string>& skip,
                                std::vector<PassReport>* report) {
  for (const Pass& pass : kPasses) {
    if (std::find(skip.begin(), skip.end(), pass.name) != skip.end()) continue;
    const auto start = std::chrono::steady_clock::now();
    const std::size_t before = graph->nodes().size();
    graph = pass.run(*graph);
#ifndef NDEBUG
    verify(*graph, pass.name);
#endif
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (report) report->push_back({pass.name, before, graph->nodes().size(), time.count()});
  }
  return graph;
}

}  // namespace gradus
