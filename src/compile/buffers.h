// Where the values of a graph are while it runs, before sizes are known: which are the caller's,
// which lie in the arena and from which step to which, and what is written over what.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compile/memory_plan.h"
#include "graph/bind.h"
#include "graph/graph.h"

namespace gradus {

// Output `output` may be written over input `input` if the caller gives the input away.
struct Donation {
  std::uint32_t input, output;
};

enum class Home : std::uint8_t { unused, input, constant, arena, output };

struct BufferPlan {
  struct Place {
    Home home = Home::unused;
    std::uint32_t index = 0;  // of the input, the buffer or the output
    Graph::Value root = 0;    // whose elements these are: a view is another shape of its root
  };
  struct Step {
    std::uint32_t node;
    std::uint32_t first_view;  // its operands, then its results
  };
  struct Buffer {
    Graph::Value value;         // the first of those that are in it, all of one size
    std::uint32_t first, last;  // steps
  };

  std::vector<Place> places;  // by value
  std::vector<Step> steps;    // every node but views
  std::vector<Buffer> buffers;
  std::size_t view_count = 0;
  std::vector<std::int64_t> donor;      // by output: the input it may be written over, or -1
  std::vector<std::uint32_t> made_out;  // by output: the output whose tensor it shares
};

BufferPlan plan_buffers(const Graph& graph, std::span<const Donation> donations = {});

// The buffers of the arena, with these sizes for the symbols.
std::vector<Lifetime> lifetimes(const Graph& graph, const BufferPlan& plan, const Sizes& sizes);

// Of the arena.
std::int64_t arena_bytes(const Graph& graph, const Sizes& sizes,
                         std::span<const Donation> donations);
// Of a value.
std::int64_t bytes_of(const Graph& graph, Graph::Value v, const Sizes& sizes);

}  // namespace gradus
