// Fused kernels over rows: several passes over the last axis with reductions between them, written
// as one expression. Softmax, normalisation and their gradients are such programs:
//
//   const RowKernel softmax_rows({row}, {row}, [](Exprs x) {
//     const Expr e = exp(x[0] - row_max(x[0]));
//     return Exprs{e / row_sum(e)};
//   });
//
// The program is compiled once per dtype; rows are spread over the threads in pieces that depend on
// the sizes only.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <vector>

#include "expr/expr.h"
#include "expr/kernel.h"
#include "graph/op.h"

namespace gradus {

enum class RowOperand : std::uint8_t {
  row,      // [rows, cols]
  per_row,  // [rows]: one number for each row
  shared,   // [cols]: the same for every row
  scalar,   // one number for everything
  sums,     // [cols], of a result: every row adds to it; all rows must be one piece of work
};

class RowKernel {
 public:
  using Exprs = std::vector<expr::Expr>;
  using Body = std::function<Exprs(const Exprs& in)>;

  RowKernel(std::vector<RowOperand> in, std::vector<RowOperand> out, Body body);

  // For records: OpInfo::expression of an op whose operands are those of the kernel.
  template <const RowKernel& kernel>
  static std::vector<expr::Expr> expression(const Call&, std::span<const expr::Expr> in) {
    return kernel.body_(Exprs(in.begin(), in.end()));
  }

  // Operands in the order of the constructor. `cols` is the length of the reduced axis.
  void operator()(std::int64_t rows, std::int64_t cols, std::span<const View> in,
                  std::span<const View> out) const;

 private:
  const expr::Kernel& kernel(DType dtype) const;

  std::vector<RowOperand> in_, out_;
  Body body_;
  mutable std::array<std::atomic<const expr::Kernel*>, kDTypeCount> kernels_ = {};
};

// OpInfo::row_axes of ops along the last axis.
inline int last_axis_is_row(const Call&) { return 1; }

}  // namespace gradus
