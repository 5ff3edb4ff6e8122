// What the compiler does to a traced graph, in order: one table of passes.
#pragma once
#include <string>
#include <vector>

#include "compile/buffers.h"
#include "graph/cost.h"
#include "graph/graph.h"

namespace gradus {

// What passes may want to know of the calls that a program is made for.
struct Target {
  Sizes sizes = {};  // of such a call; none: costs and bytes are not known
  std::span<const Donation> donations = {};
  std::int64_t memory_limit = 0;  // bytes of temporaries; 0: as many as it takes
};

struct Pass {
  const char* name;
  // A pass that has more to say than its counts adds to the note.
  std::shared_ptr<Graph> (*run)(const std::shared_ptr<Graph>&, const Target&, std::string& note);
  const char* why;
};

// What one pass did.
struct PassReport {
  const char* name;
  std::size_t nodes_before, nodes_after;
  Cost before, after;
  double milliseconds;
  std::string note = {};
};

// Runs all passes but those named in `skip`. In debug builds the graph is verified between them.
std::shared_ptr<Graph> optimise(std::shared_ptr<Graph> graph,
                                const std::vector<std::string>& skip = {},
                                std::vector<PassReport>* report = nullptr,
                                const Target& target = {});

// The names of all passes, in order.
std::vector<std::string> pass_names();

// One line per pass: ops, bytes, FLOPs, estimated time before and after.
std::string to_string(std::span<const PassReport> report);

}  // namespace gradus
