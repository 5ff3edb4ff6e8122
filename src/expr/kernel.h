// A compiled Program: one function that runs it over rows x cols elements.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "expr/program.h"

namespace gradus::expr {

// An input that varies along the row is contiguous along it; a row starts in_row_bytes after the
// previous one (0: every row reads the same elements, which broadcasts over rows). An input that
// does not vary gives one element per row. Outputs likewise; per-row outputs get one element per
// row. An output that adds to what is there sums over rows if its step from row to row is 0, and is
// none of the inputs. Any other output may be one of the inputs (same pointer, strides and element
// size) where may_share says so; the only output of a program without reductions may be any.
// `scratch` holds scratch_bytes(cols) bytes, and is not needed where that is 0.
struct LoopArgs {
  std::int64_t rows = 1, cols = 0;
  void* scratch = nullptr;
  const void* in[kMaxInputs];
  std::int64_t in_row_bytes[kMaxInputs];
  void* out[kMaxOutputs];
  std::int64_t out_row_bytes[kMaxOutputs];
};

enum class Isa { interpreter, avx2, avx512 };
const char* name_of(Isa);
// The widest one this processor has; GRADUS_ISA=interpreter|avx2|avx512 in the environment asks for
// a narrower one. Decided at the first call.
Isa best_isa();
// What this processor can run, whatever the environment says.
bool supported(Isa);

class Kernel {
 public:
  using Entry = void (*)(const LoopArgs*, const void* state);
  struct Parts {
    Entry entry = nullptr;
    std::shared_ptr<const void> state;  // owns the machine code or the interpreter's plan
    Isa isa = Isa::interpreter;
    std::size_t code_bytes = 0;
    int scratch_rows = 0;
    bool one_pass = true;
    std::vector<Port> inputs;
    std::vector<Output> outputs;
    std::vector<std::size_t> last_read, written;  // steps, by input and by output
  };

  Kernel() = default;
  explicit Kernel(std::shared_ptr<const Parts> parts)
      : entry_(parts->entry), state_(parts->state.get()), parts_(std::move(parts)) {}

  void operator()(const LoopArgs& args) const {
    if (args.rows == 1 || !run_as_one_row(args)) entry_(&args, state_);
  }
  std::size_t scratch_bytes(std::int64_t cols) const {
    return static_cast<std::size_t>(parts_->scratch_rows) *
           ((static_cast<std::size_t>(cols) * 8 + 63) & ~std::size_t{63});
  }
  // Whether this output may be written over this input: no later step reads the input again.
  bool may_share(int input, int output) const {
    return parts_->last_read[static_cast<std::size_t>(input)] <=
           parts_->written[static_cast<std::size_t>(output)];
  }
  Isa isa() const { return parts_->isa; }
  bool emitted() const { return parts_->isa != Isa::interpreter; }
  std::size_t code_bytes() const { return parts_->code_bytes; }
  explicit operator bool() const { return entry_ != nullptr; }

 private:
  bool run_as_one_row(const LoopArgs& args) const;  // contiguous rows are one long row
  Entry entry_ = nullptr;
  const void* state_ = nullptr;
  std::shared_ptr<const Parts> parts_;
};

// Lowers p if that was not done, and emits machine code; what the emitter does not cover is
// interpreted. Thread safe; does not throw for valid programs.
Kernel compile(const Program& p, Isa isa = best_isa());

}  // namespace gradus::expr
