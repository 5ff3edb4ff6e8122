// How loops run: a counted one on memory of the caller, any part of its iterations at a time; a
// while on that of its node.
#pragma once
#include "control/loop.h"

namespace gradus {

class LoopRun {
 public:
  // A stack as iterations see it. Rows may be those of a part of the loop only.
  struct Rows {
    char* data = nullptr;  // of row `first`
    std::size_t bytes = 0;
    std::int64_t first = 0, last = 0;  // the rows that there are, the last one excluded
    std::int64_t shift = 0;
    void* edge = nullptr;  // stands where a shifted stack has no row

    void* at(std::int64_t i) const {
      i += shift;
      return i < first || i >= last ? edge : data + (i - first) * static_cast<std::int64_t>(bytes);
    }
  };

  enum class Results : bool { stacks, last_row };  // last_row: each row is written over the other

  // `operands` are those of the node; only dtypes, shapes and the data of captures are looked at.
  LoopRun(const CountedLoop& loop, std::span<const View> operands,
          Results results = Results::stacks);

  // Carries begin with what is here, and may be written there.
  void begin(std::span<void* const> carries);
  // Iterations over the rows from `first` to before `last`, in the direction of the loop.
  void run(std::int64_t first, std::int64_t last, std::span<const Rows> xs,
           std::span<const Rows> ys);
  void* carry(std::size_t i) const { return now_[i]; }
  std::size_t carry_bytes(std::size_t i) const { return bytes_[i]; }
  void copy_carries(std::span<void* const> to) const;

 private:
  void run_alike(std::int64_t first, std::int64_t count, std::span<const Rows> xs,
                 std::span<const Rows> ys);

  const CountedLoop& loop_;
  SmallVector<Shape, 8> row_shapes_;
  SmallVector<View, 16> views_;  // of the body's inputs
  std::optional<Executable::Runner> body_;
  SmallVector<void*, 16> now_, next_;  // equal where an iteration writes a carry over itself
  SmallVector<std::size_t, 16> bytes_;
  SmallVector<std::int32_t, 16> kept_;  // by carry: the stack that it lives in, or -1
  SmallVector<Tensor, 8> second_;
  SmallVector<Executable::Runner::Track, 16> in_, out_;
};

class KeptStates;
// Its first results are the carries; it keeps states on the way where asked to (while_run.cpp).
void run_while(const WhileLoop& loop, const KernelCall& c, KeptStates* states = nullptr);

std::size_t bytes_of(const View& v);

}  // namespace gradus
