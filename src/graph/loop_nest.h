// How an elementwise op walks operands of different shapes: axes that all operands treat alike are
// merged, the innermost two become the rows and columns of a kernel call, the rest is looped over.
#pragma once
#include <span>

#include "expr/kernel.h"
#include "graph/op.h"

namespace gradus {

struct LoopNest {
  std::int64_t rows = 1, cols = 1;
  std::uint32_t per_row = 0;  // inputs that do not vary along the columns
  int outer_rank = 0;
  std::int64_t outer[kMaxRank];                          // sizes, outermost first
  std::int64_t outer_bytes[expr::kMaxInputs][kMaxRank];  // steps of each input
  std::int64_t out_outer[kMaxRank];                      // steps of the outputs, in elements
  std::int64_t row_bytes[expr::kMaxInputs], out_row = 0;

  // Inputs that broadcast to the shape of the outputs.
  LoopNest(std::span<const View> in, const Shape& out);

  // Runs the kernel over everything, in parallel when there is enough of it. The pieces depend on
  // the sizes only, never on the number of threads.
  void run(const expr::Kernel& kernel, std::span<const View> in, std::span<const View> out) const;
  // The arguments of the one kernel call that this is; false if it is more, or none.
  bool one_call(std::span<const View> in, std::span<const View> out, expr::LoopArgs& args) const;
};

}  // namespace gradus
