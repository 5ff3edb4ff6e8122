// What attributes hold that is made of graphs (branches, loops, custom rules), for those who
// compare programs.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace gradus {

class HasGraphs {
 public:
  struct Inner {
    const Graph* graph;
    std::vector<Graph::Value> results;
    bool names_own_sizes = false;  // by the shapes of its inputs; otherwise as the graph around
  };
  virtual std::vector<Inner> inner_graphs() const = 0;
  virtual std::string besides() const = 0;  // everything else that it does depend on

 protected:
  ~HasGraphs() = default;
};

}  // namespace gradus
