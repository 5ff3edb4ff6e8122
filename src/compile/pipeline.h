// What the compiler does to a traced graph, in order: one table of passes.
#pragma once
#include <string>
#include <vector>

#include "graph/cost.h"
#include "graph/graph.h"

namespace gradus {

struct Pass {
  const char* name;
  std::shared_ptr<Graph> (*run)(const Graph&);
  const char* why;
};

// What one pass did.
struct PassReport {
  const char* name;
  std::size_t nodes_before, nodes_after;
  Cost before, after;
  double milliseconds;
};

// Runs all passes but those named in `skip`. In debug builds the graph is verified between them.
std::shared_ptr<Graph> optimise(std::shared_ptr<Graph> graph,
                                const std::vector<std::string>& skip = {},
                                std::vector<PassReport>* report = nullptr,
                                const Sizes& sizes = {});  // else the report has no costs

// One line per pass: ops, bytes, FLOPs, estimated time before and after.
std::string to_string(std::span<const PassReport> report);

}  // namespace gradus
