// The seeds that random ops of this thread drew, to draw the same ones again: a function that runs
// a second time for its gradient must see the same random numbers.
#pragma once
#include <vector>

#include "base/function_ref.h"
#include "gradus/tensor.h"

namespace gradus {

using SeedLog = std::vector<Tensor>;  // pairs or states; in a trace they are values of its graph

// While it lives, seeds are noted in a log, or come from it. A function that draws more than the
// log has gets new ones.
class SeedScope {
 public:
  enum class Use { note, repeat };
  SeedScope(SeedLog& log, Use use);
  ~SeedScope();
  SeedScope(const SeedScope&) = delete;

  // Seeds for the next op of this thread.
  static Tensor next(FunctionRef<Tensor()> draw);

 private:
  SeedLog& log_;
  Use use_;
  std::size_t used_ = 0;
  SeedScope* outer_;
};

}  // namespace gradus
