// How the reverse of a counted loop is put together (loop_gradient.cpp makes it).
#pragma once
#include "control/loop.h"

namespace gradus {

struct CountedLoop::Pull {
  std::shared_ptr<const CountedLoop> saving, reverse;
  // Of the reverse: carries are cotangents of these carries, then gradients of these captures;
  // stacks that it makes are gradients of these xs.
  std::vector<std::size_t> carries, captures, xs;
  // Stacks that it takes.
  struct Stack {
    enum Kind : std::uint8_t { before, made, given, cotangent } kind;
    std::size_t index;      // the carry, the stack that `saving` makes, the x, or the y
    std::size_t after = 0;  // before: the stack of the carry after each iteration
  };
  std::vector<Stack> stacks;
  std::vector<std::size_t> unchanged;  // carries that are further captures
};

// What the reverse loop gives: cotangents of carries, gradients of captures, gradients of xs. `in`
// is the operands of the loop and the cotangents that are `given`.
// Here with stacks of all iterations; both are one formula, and this one has derivatives.
Tensors reverse_with_stacks(const CountedLoop& loop, const CountedLoop::Pull& pull,
                            const std::vector<bool>& given, Size count, std::span<const Tensor> in);
// The same bits in bounded memory (loop_checkpoints.cpp). States that the loop has kept may follow
// in `in`. `wanted` and `given` are what the pull was found for.
Tensors reverse_with_checkpoints(const std::shared_ptr<const CountedLoop>& loop,
                                 const std::shared_ptr<const CountedLoop::Pull>& pull,
                                 const std::vector<bool>& wanted, const std::vector<bool>& given,
                                 Size count, std::span<const Tensor> in);
// By input of the body and by its result; found once.
std::shared_ptr<const CountedLoop::Pull> find_pull(const CountedLoop& loop,
                                                   const std::vector<bool>& wanted,
                                                   const std::vector<bool>& given);
// Whether stacks of all iterations are more than the loop may keep.
bool needs_checkpoints(const CountedLoop& loop, const CountedLoop::Pull& pull, Size count,
                       std::span<const Tensor> operands);

}  // namespace gradus
