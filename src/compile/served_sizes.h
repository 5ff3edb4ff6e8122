// Sizes at which a program was found to serve: its guards hold there and its shape rules say what
// they said when it was traced. Each set of sizes is looked at once.
#pragma once
#include <mutex>
#include <vector>

#include "graph/graph.h"

namespace gradus {

class ServedSizes {
 public:
  // BrokenGuard, or the error of an op, if the graph does not serve these sizes.
  void check(const Graph& graph, const Sizes& sizes);

 private:
  std::mutex mutex_;
  std::vector<Sizes> known_;  // a bounded number of them
};

}  // namespace gradus
