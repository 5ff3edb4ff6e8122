// An op whose result comes block by block, with a fused loop that runs on each block while it is
// still in a cache: a product with its bias and activation, with the mask of an activation's
// gradient, or with the update of the weight whose gradient it is. The pass `epilogue` makes them;
// in the graph one is a node of `blocked_op` whose attribute points here.
//
// Operands are those of the maker, then those of the loop without the one that the maker makes.
// Results are those of the loop, then what the maker makes if somebody else reads it: otherwise it
// never exists as a whole.
#pragma once
#include <vector>

#include "compile/fused_loop.h"
#include "graph/block_kernels.h"

namespace gradus {

struct BlockedLoop final : Held, Bindable {
  const Op* maker;
  BlockKernelFn run;
  std::vector<std::byte> attrs;  // of the maker
  std::uint32_t maker_inputs;
  Aval made;
  const FusedLoop* loop;
  std::shared_ptr<const Held> holds_loop;
  std::uint32_t port;  // the operand of the loop that the maker makes
  bool keeps_made;
  std::string members;  // "matmul, add, relu"

  std::string describe() const override { return "[" + members + "]"; }
  std::unique_ptr<BoundStep> bind(const Symbols& symbols, const Sizes& sizes,
                                  std::span<const View> in,
                                  std::span<const View> out) const override;
  bool may_overwrite(const Call& call, const std::vector<bool>& same,
                     std::size_t output) const override;
  const std::string& label() const override { return members; }
};

struct BlockedAttrs {
  Held* held = nullptr;
  const BlockedLoop& blocked() const { return *static_cast<const BlockedLoop*>(held); }
  static auto fields() { return attr_fields(attr("blocks", &BlockedAttrs::held)); }
};
extern const Op blocked_op;

// For operands of known shapes: everything that does not depend on where they lie.
class BoundBlocks final : public BoundStep {
 public:
  // `attrs` are the maker's, with numbers for symbols.
  BoundBlocks(const BlockedLoop& blocked, std::vector<std::byte> attrs, const Shape& made,
              std::span<const View> in);
  void run(std::span<const View> in, std::span<const View> out) const override;

 private:
  void sweep(const Block& block, const char* made, std::int64_t made_row, std::span<const View> in,
             std::span<const View> out) const;

  const BlockedLoop& blocked_;
  std::vector<std::byte> attrs_;
  Shape made_;
  std::int64_t cols_ = 1, element_;
  const expr::Kernel* kernel_;
  // By operand of the loop: how far it moves from row to row and from column to column, in bytes.
  struct Step {
    std::int64_t row, col;
  };
  std::vector<Step> steps_;
};

}  // namespace gradus
