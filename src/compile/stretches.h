// A program whose sizes are found while it runs.
//
// What depends on a size can be placed in memory only when the size is known. So the graph is cut
// where sizes are found (graph/found_size.h): the stage of a node is the largest among those of its
// operands and of the sizes that it speaks of, and an op that finds sizes ends a stage. The nodes
// of one stage are a stretch: a graph of its own, which the passes optimise and which runs as any
// program does. It has as inputs what it uses of earlier stretches, and, for each size that it
// speaks of, some value whose shape has it.
//
//   stage 0   c = x > 0; n = count_nonzero(c)          then s1 = found_size(n)
//   stage 1   p = nonzero(c) of shape (s1, 1); y = gather(x, p); sum(y * y)
//
// Elementwise nodes that only later stretches use belong to those, where they fuse.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "compile/executable.h"
#include "compile/passes/pipeline.h"
#include "compile/served_sizes.h"

namespace gradus {

class Stretches {
 public:
  Stretches(std::shared_ptr<Graph> graph, const Target& target,
            const std::vector<std::string>& skip_passes, std::vector<PassReport>* report);

  // As Executable::run.
  void run(std::span<Tensor> in, std::span<Tensor> out);

  Graph& graph() const { return *graph_; }
  std::size_t step_count() const;
  // Of the largest, where the sizes are known.
  std::int64_t arena_bytes(const Sizes& sizes) const;

 private:
  // Where a tensor is while the program runs: an input, a slot, or a constant of the graph.
  struct Source {
    enum class Kind : std::uint8_t { input, slot, constant } kind;
    std::uint32_t index = 0;
    Tensor constant = {};
  };
  struct Finder {
    std::uint32_t node;
    std::vector<Source> in;
    std::vector<std::uint32_t> out;  // slots
  };
  struct Stretch {
    std::shared_ptr<Graph> traced;
    std::unique_ptr<Executable> program;
    std::vector<Source> in;
    std::vector<std::uint32_t> out;      // slots
    std::vector<Finder> finders;         // that run after it
    std::vector<std::uint32_t> is_last;  // slots that nobody needs afterwards
    std::vector<bool> consumes;          // by input: the caller's tensor may be written over
    ServedSizes served;
  };
  class Cutter;

  const Tensor& at(const Source& source, std::span<const Tensor> in,
                   std::span<const Tensor> slots) const;
  void run(Stretch& stretch, std::span<Tensor> in, std::span<Tensor> slots);
  void find(const Finder& finder, std::span<const Tensor> in, std::span<Tensor> slots) const;

  std::shared_ptr<Graph> graph_;
  std::deque<Stretch> stretches_;
  std::size_t slot_count_ = 0;
  std::vector<Source> outputs_;
};

// A graph made ready to run: optimised, and cut where sizes are found.
std::unique_ptr<Executable> compiled(const std::shared_ptr<Graph>& graph, const Target& target = {},
                                     const std::vector<std::string>& skip_passes = {},
                                     std::vector<PassReport>* report = nullptr);

}  // namespace gradus
