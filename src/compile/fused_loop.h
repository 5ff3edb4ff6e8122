// A group of ops as one loop: a scalar program that runs over all elements once, or, if it reduces
// along rows, once for each pass that the reductions need. The fuse pass makes them; in the graph a
// group is a node of `fused_op` whose attribute points here.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "compile/bound_step.h"
#include "graph/loop_nest.h"

namespace gradus {

// What a result of a loop is: one element for each of the domain, one for each row, the sum over
// all rows for each column, or the sum of what each row has, over all rows.
enum class ResultForm : std::uint8_t { element, per_row, column_sums, total };

struct FusedLoop final : Held, Bindable {
  expr::Program program;  // ports in the order of the node's operands, all varying along the row
  std::vector<Aval> out;  // sizes may be symbols
  Shape domain;           // what the elementwise part runs over
  int row_axes = 0;       // how many trailing axes of the domain are one row; 0: no reductions
  // Which operands have one element for each row, a bit for each. At sizes of 1 the shapes alone do
  // not say it any more.
  std::uint32_t one_per_row = 0;
  std::vector<ResultForm> forms;  // by output
  std::string members;            // "multiply, add, tanh", for reports

  std::string describe() const override { return "[" + members + "]"; }
  std::unique_ptr<BoundStep> bind(const Symbols& symbols, const Sizes& sizes,
                                  std::span<const View> in,
                                  std::span<const View> out) const override;
  bool may_overwrite(const Call& call, const std::vector<bool>& same,
                     std::size_t output) const override;
  const std::string& label() const override { return members; }
  // Whether an element of an operand is read before this result is stored to its place; operands in
  // `per_row` are constant along a row.
  bool reads_first(std::size_t port, std::size_t output, std::uint32_t per_row = 0) const;
  const char* fault() const override;
  std::size_t arithmetic() const;  // operations for each element, a function of math counts as one

  // The program with the operands in `per_row` constant along a row; compiled once for each set.
  const expr::Kernel& kernel(std::uint32_t per_row) const;

 private:
  struct Compiled {
    std::uint32_t per_row;
    expr::Kernel kernel;
  };
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Compiled>> compiled_;
};

struct FusedAttrs {
  Held* held = nullptr;
  const FusedLoop& loop() const { return *static_cast<const FusedLoop*>(held); }
  static auto fields() { return attr_fields(attr("loop", &FusedAttrs::held)); }
};
extern const Op fused_op;

// How an operand lies against a domain of rows.
enum class RowRole : std::uint8_t { row, per_row, shared, scalar, none };
RowRole row_role(const Shape& operand, const Shape& domain, int row_axes);

// The loop for operands of known shapes: everything that does not depend on where they lie.
class BoundLoop final : public BoundStep {
 public:
  BoundLoop(const FusedLoop& loop, std::span<const View> in, std::span<const View> out,
            const Shape& domain);
  void run(std::span<const View> in, std::span<const View> out) const override;
  const expr::Kernel* one_call(std::span<const View> in, std::span<const View> out,
                               expr::LoopArgs& args) const override;
  std::size_t scratch_bytes() const override {
    return by_rows_ ? kernel_->scratch_bytes(cols_) : 0;
  }

 private:
  std::int64_t rows_per_chunk() const;
  void run_rows(std::span<const View> in, std::span<const View> out) const;
  void run_chunks(std::span<const View> in, std::span<const View> out) const;

  const expr::Kernel* kernel_;
  LoopNest nest_;  // without row reductions
  std::int64_t rows_ = 0, cols_ = 0;
  bool by_rows_, sums_rows_ = false;
  std::vector<ResultForm> forms_;
  std::vector<std::int64_t> in_bytes_, out_bytes_;  // from row to row
};

}  // namespace gradus
