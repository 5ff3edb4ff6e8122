#include "compile/fused_loop.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/thread_pool.h"
#include "expr/expr.h"
#include "kernels/reduce.h"
#include "kernels/scratch.h"

namespace gradus {
namespace {

constexpr std::int64_t kChunk = 16384;  // elements: about 10 us of cheap work
// Rows of a chunk that has sums of its own: enough to be worth a row of sums, and no more than are
// added up without a loss of accuracy.
constexpr std::int64_t kFewestSummed = 16, kMostSummed = 64;

bool all_ones(std::span<const Size> sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](Size s) { return is_same(s, 1); });
}

}  // namespace

RowRole row_role(const Shape& operand, const Shape& domain, int row_axes) {
  if (operand.rank() > domain.rank()) return RowRole::none;
  // Aligned at the end; absent axes count as 1.
  Size sizes[kMaxRank];
  const int missing = domain.rank() - operand.rank();
  for (int a = 0; a < domain.rank(); ++a) sizes[a] = a < missing ? Size(1) : operand[a - missing];
  const auto n = static_cast<std::size_t>(domain.rank()), t = static_cast<std::size_t>(row_axes);
  const std::span<const Size> lead(sizes, n - t), trail(sizes + (n - t), t);
  const auto same = [](Size a, Size b) { return is_same(a, b); };
  const bool lead_full = std::equal(lead.begin(), lead.end(), domain.begin(), same);
  const bool trail_full = std::equal(trail.begin(), trail.end(), domain.begin() + (n - t), same);
  if (lead_full && trail_full) return RowRole::row;
  if (lead_full && all_ones(trail)) return RowRole::per_row;
  if (all_ones(lead) && trail_full) return RowRole::shared;
  if (all_ones(lead) && all_ones(trail)) return RowRole::scalar;
  return RowRole::none;
}

const char* FusedLoop::fault() const {
  if (out.size() != forms.size() || out.size() != program.outputs.size())
    return "a loop with another number of results";
  for (std::size_t i = 0; i < out.size(); ++i) {
    const RowRole role = row_axes > 0 ? row_role(out[i].shape, domain, row_axes) : RowRole::row;
    switch (forms[i]) {
      case ResultForm::element:
        if (!is_same(out[i].shape, domain)) return "a result of a loop that has not its shape";
        break;
      case ResultForm::per_row:
        if (row_axes == 0) return "a result for each row of a loop without rows";
        break;
      case ResultForm::column_sums:
        if (role != RowRole::shared) return "sums over rows that are not one row";
        break;
      case ResultForm::total:
        if (role != RowRole::scalar) return "a sum of everything that is not one number";
        break;
    }
  }
  return nullptr;
}

std::size_t FusedLoop::arithmetic() const {
  return static_cast<std::size_t>(std::ranges::count_if(program.code, [](const expr::Instr& i) {
    return i.code != expr::Code::input && i.code != expr::Code::constant;
  }));
}

const expr::Kernel& FusedLoop::kernel(std::uint32_t per_row) const {
  const std::lock_guard lock(mutex_);
  for (const auto& c : compiled_)
    if (c->per_row == per_row) return c->kernel;
  expr::Builder builder;
  std::vector<expr::Expr> inputs;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    inputs.push_back(builder.input(program.inputs[i].dtype, !(per_row >> i & 1)));
  }
  const std::vector<expr::Expr> results = builder.append(program, inputs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (forms[i] == ResultForm::column_sums)
      builder.output_added(results[i], program.outputs[i].dtype);
    else
      builder.output(results[i], program.outputs[i].dtype, forms[i] != ResultForm::element);
  }
  compiled_.push_back(std::make_unique<Compiled>(Compiled{per_row, compile(builder.finish())}));
  return compiled_.back()->kernel;
}

std::unique_ptr<BoundStep> FusedLoop::bind(const Symbols& symbols, const Sizes& sizes,
                                           std::span<const View> in,
                                           std::span<const View> views_out) const {
  return std::make_unique<BoundLoop>(*this, in, views_out, bind_shape(symbols, sizes, domain));
}

// Where there are no rows, the order of loads and stores does not depend on which operands are
// broadcast, and a single result is stored last.
bool FusedLoop::reads_first(std::size_t port, std::size_t output, std::uint32_t per_row) const {
  return (row_axes == 0 && out.size() == 1) ||
         kernel(per_row).may_share(static_cast<int>(port), static_cast<int>(output));
}

bool FusedLoop::may_overwrite(const Call& call, const std::vector<bool>& same,
                              std::size_t output) const {
  if (forms[output] != ResultForm::element) return false;
  std::uint32_t per_row = 0;
  for (std::size_t i = 0; row_axes > 0 && i < call.in.size(); ++i) {
    const RowRole role = row_role(*call.in[i].shape, domain, row_axes);
    if (role == RowRole::per_row || role == RowRole::scalar) per_row |= 1u << i;
  }
  for (std::size_t i = 0; i < same.size(); ++i)
    if (same[i] && !reads_first(i, output, per_row)) return false;
  return true;
}

BoundLoop::BoundLoop(const FusedLoop& loop, std::span<const View> in, std::span<const View> out,
                     const Shape& domain)
    : nest_(loop.row_axes == 0 ? in : std::span<const View>(), domain),
      by_rows_(loop.row_axes > 0),
      forms_(loop.forms) {
  if (!by_rows_) {
    kernel_ = &loop.kernel(nest_.per_row);
    return;
  }
  rows_ = cols_ = 1;
  for (int a = 0; a < domain.rank(); ++a)
    (a < domain.rank() - loop.row_axes ? rows_ : cols_) *= domain[a];
  std::uint32_t per_row = loop.one_per_row;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const RowRole role = row_role(*in[i].shape, domain, loop.row_axes);
    GRADUS_ASSERT(role != RowRole::none);
    const auto element = static_cast<std::int64_t>(size_of(in[i].dtype));
    const bool is_row = role == RowRole::row, is_per_row = role == RowRole::per_row;
    in_bytes_.push_back(is_row ? element * cols_ : is_per_row ? element : 0);
    if (is_per_row || role == RowRole::scalar) per_row |= 1u << i;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto element = static_cast<std::int64_t>(size_of(out[i].dtype));
    sums_rows_ |= forms_[i] == ResultForm::column_sums || forms_[i] == ResultForm::total;
    out_bytes_.push_back(forms_[i] == ResultForm::element       ? element * cols_
                         : forms_[i] == ResultForm::column_sums ? 0
                                                                : element);
  }
  kernel_ = &loop.kernel(per_row);
}

void BoundLoop::run(std::span<const View> in, std::span<const View> out) const {
  if (by_rows_) {
    run_rows(in, out);
  } else {
    nest_.run(*kernel_, in, out);
  }
}

std::int64_t BoundLoop::rows_per_chunk() const {
  const std::int64_t rows = std::max<std::int64_t>(1, kChunk / std::max<std::int64_t>(1, cols_));
  return sums_rows_ ? std::clamp(rows, kFewestSummed, kMostSummed) : rows;
}

const expr::Kernel* BoundLoop::one_call(std::span<const View> in, std::span<const View> out,
                                        expr::LoopArgs& args) const {
  if (!by_rows_) return nest_.one_call(in, out, args) ? kernel_ : nullptr;
  if (rows_ == 0 || rows_ > rows_per_chunk() || sums_rows_) return nullptr;
  args.rows = rows_;
  args.cols = cols_;
  for (std::size_t i = 0; i < in.size(); ++i) {
    args.in[i] = in[i].data;
    args.in_row_bytes[i] = in_bytes_[i];
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    args.out[i] = out[i].data;
    args.out_row_bytes[i] = out_bytes_[i];
  }
  return kernel_;
}

// What is summed over rows is first a row of sums for each chunk, or a number for each row.
void BoundLoop::run_rows(std::span<const View> in, std::span<const View> out) const {
  if (!sums_rows_) return run_chunks(in, out);
  const std::int64_t per_chunk = rows_per_chunk();
  struct Partial {
    std::int64_t count = 0, width = 0;
    std::size_t offset = 0;
  };
  Partial partial[expr::kMaxOutputs];
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (forms_[i] == ResultForm::column_sums)
      partial[i] = {(rows_ + per_chunk - 1) / per_chunk, cols_, bytes};
    else if (forms_[i] == ResultForm::total)
      partial[i] = {rows_, 1, bytes};
    bytes += static_cast<std::size_t>(partial[i].count * partial[i].width) * size_of(out[i].dtype);
    bytes = (bytes + 63) & ~std::size_t{63};
  }
  const kernels::Scratch scratch(bytes);
  SmallVector<View, 8> views(out.begin(), out.end());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (partial[i].width > 0) views[i].data = scratch.as<char>() + partial[i].offset;
  run_chunks(in, {views.begin(), views.size()});
  for (std::size_t i = 0; i < out.size(); ++i)
    if (partial[i].width > 0)
      kernels::reduce_axis(kernels::Reduction::sum, out[i].dtype, views[i].data, 1,
                           partial[i].count, partial[i].width, out[i].data);
}

void BoundLoop::run_chunks(std::span<const View> in, std::span<const View> out) const {
  if (rows_ == 0) return;
  const std::int64_t per_chunk = rows_per_chunk();
  const std::int64_t chunks = (rows_ + per_chunk - 1) / per_chunk;
  const auto piece = [&](std::int64_t chunk) {
    expr::LoopArgs args;
    const std::int64_t first = chunk * per_chunk;
    args.rows = std::min(per_chunk, rows_ - first);
    args.cols = cols_;
    for (std::size_t i = 0; i < in.size(); ++i) {
      args.in_row_bytes[i] = in_bytes_[i];
      args.in[i] = in[i].as<const char>() + first * in_bytes_[i];
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      args.out_row_bytes[i] = out_bytes_[i];
      args.out[i] = out[i].as<char>() + first * out_bytes_[i];
      if (forms_[i] == ResultForm::column_sums) {
        const std::size_t row = static_cast<std::size_t>(cols_) * size_of(out[i].dtype);
        args.out[i] = out[i].as<char>() + static_cast<std::size_t>(chunk) * row;
        std::memset(args.out[i], 0, row);
      }
    }
    const kernels::Scratch scratch(kernel_->scratch_bytes(cols_));
    args.scratch = scratch.data();
    (*kernel_)(args);
  };
  if (chunks == 1) {
    piece(0);
  } else {
    parallel_for(chunks, piece);
  }
}

const Op fused_op = internal(
    {.name = "fused",
     .doc = "Several ops as one loop; made by the compiler after all derivatives are taken.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<FusedAttrs>(),
     .inputs = kAny,
     .outputs = -1,
     .infer =
         [](const Call& c, Avals& out) {
           for (const Aval& a : c.get<FusedAttrs>().loop().out) out.push_back(a);
         },
     .flops =
         [](const Call& c) {
           double elements =
               1;  // of the largest operand: loops run over what operands broadcast to
           for (const View& v : c.in) elements = std::max(elements, static_cast<double>(v.count()));
           return elements * static_cast<double>(c.get<FusedAttrs>().loop().arithmetic());
         },
     .in_place_ok = true},
    "it is made after differentiation");

}  // namespace gradus
