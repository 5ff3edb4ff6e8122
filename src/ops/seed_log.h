// The seeds that random ops of this thread drew, to draw the same ones again: a function that runs
// a second time for its gradient must see the same random numbers.
#pragma once
#include <vector>

#include "base/function_ref.h"
#include "gradus/tensor.h"

namespace gradus {

class Graph;

using SeedLog = std::vector<Tensor>;  // pairs or states; in a trace they are values of its graph

// While it lives, seeds are noted in a log, or come from it, also those of programs that run. A
// function that draws more than the log has gets new ones, which are noted.
class SeedScope {
 public:
  enum class Use { note, repeat };
  SeedScope(SeedLog& log, Use use);
  ~SeedScope();
  SeedScope(const SeedScope&) = delete;

  // Seeds for the next op of this thread.
  static Tensor next(FunctionRef<Tensor()> draw);
  static bool is_open();

 private:
  bool sees_this() const;

  SeedLog& log_;
  Use use_;
  const Graph* graph_;  // other graphs, of functions that are called, draw when they run
  std::size_t used_ = 0;
  SeedScope* outer_;
};

// While it lives, ops that are traced into one graph get seeds that are drawn in the graph around
// it: a graph that runs once for its value and once more for its derivative is given the same ones.
class OuterSeeds {
 public:
  OuterSeeds(const Graph& inner, Graph* outer);
  ~OuterSeeds();
  OuterSeeds(const OuterSeeds&) = delete;

  // Runs `draw` in the outermost graph that the current one takes its seeds from.
  static Tensor draw(FunctionRef<Tensor()> draw);

 private:
  const Graph& inner_;
  Graph* outer_;
  OuterSeeds* around_;
};

// "[who] got ... that draws random numbers in a branch or a loop ..."
[[noreturn]] void fail_not_repeatable(const char* who);

}  // namespace gradus
