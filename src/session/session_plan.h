// From a program to what one run of it is: which nodes are needed, in which order, and the closed
// graph that they make once variables, feeds and seeds are inputs.
#pragma once
#include "session/graph_program.h"

namespace gradus {

// The nodes that a request needs, in the order in which they run (gradus/graph_program.h).
struct Schedule {
  std::vector<Graph::Value> fetches, fed;
  std::vector<std::uint32_t> targets;
  std::vector<std::uint32_t> nodes;
};
Schedule make_schedule(const GraphProgram::State& program, const Session::Request& request);

// Reads and writes of a variable that no dependency puts in order, in words; empty if there are
// none.
std::string describe_races(const GraphProgram::State& program, const Schedule& schedule);

// The variable that a value is: what a read or a write of it gave, or a view of that, where the
// variable's kind says that users look at the variable. Null: the value is a value.
class Alias {
 public:
  Alias(const Graph& graph, const Schedule& schedule);
  VariableState* operator[](Graph::Value v) const { return of_[v]; }

 private:
  std::vector<VariableState*> of_;
};

struct ClosedGraph {
  struct Use {
    std::shared_ptr<VariableState> variable;
    std::int64_t input = -1;   // where its value comes in, or -1
    std::int64_t output = -1;  // where its new value is, or -1
  };
  struct Seeds {  // an input of three integers: the state of a random node's stream
    std::uint32_t node;
    std::size_t input;
    Shape drawn;  // what the node draws; sizes may be symbols
    bool has_op_seed;
    std::int64_t op_seed;
  };
  std::shared_ptr<Graph> graph;  // inputs: what is fed, then the others; outputs: fetches first
  std::size_t fetch_count = 0;
  std::vector<Use> uses;
  std::vector<Seeds> seeds;
};
// `last` are variables that are fetched when everything is done.
ClosedGraph close_graph(const GraphProgram::State& program, const Schedule& schedule,
                        const std::vector<Variable>& last);

}  // namespace gradus
