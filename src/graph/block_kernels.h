// Which ops can hand out their result block by block (base/blocks.h), so that a compiler can run
// what comes next on a block in a cache. It is said beside the record:
//
//   const BlockKernel matmul_in_blocks(matmul_op, [](const KernelCall& c, const BlockTaker& t)
//   {...});
//
// The function is the op's kernel with its one result taken block by block instead of written to
// `out`, whose data is null.
#pragma once
#include "base/blocks.h"
#include "graph/op.h"

namespace gradus {

using BlockKernelFn = void (*)(const KernelCall&, const BlockTaker&);

class BlockKernel {
 public:
  BlockKernel(const Op& op, BlockKernelFn run);
  BlockKernel(const BlockKernel&) = delete;

  static BlockKernelFn of(const Op& op);  // null: the op makes its result as a whole

 private:
  const Op& op_;
  const BlockKernelFn run_;
  const BlockKernel* const next_;
};

}  // namespace gradus
