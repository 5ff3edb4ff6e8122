#include "ops/rowwise.h"

#include "base/thread_pool.h"
#include "kernels/scratch.h"

namespace gradus {
namespace {

// Elements per piece of work: about 10 us of arithmetic.
constexpr std::int64_t kChunk = 16384;

std::int64_t row_bytes(RowOperand kind, DType dtype, std::int64_t cols) {
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  switch (kind) {
    case RowOperand::row:
      return element * cols;
    case RowOperand::per_row:
      return element;
    case RowOperand::shared:
    case RowOperand::scalar:
    case RowOperand::sums:
      break;
  }
  return 0;
}

}  // namespace

RowKernel::RowKernel(std::vector<RowOperand> in, std::vector<RowOperand> out, Body body)
    : in_(std::move(in)), out_(std::move(out)), body_(std::move(body)) {}

const expr::Kernel& RowKernel::kernel(DType dtype) const {
  auto& slot = kernels_[static_cast<std::size_t>(dtype)];
  if (const expr::Kernel* known = slot.load(std::memory_order_acquire)) return *known;
  expr::Builder builder;
  Exprs inputs;
  for (RowOperand kind : in_)
    inputs.push_back(builder.input(dtype, kind == RowOperand::row || kind == RowOperand::shared));
  const Exprs outputs = body_(inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (out_[i] == RowOperand::sums)
      builder.output_added(outputs[i], dtype);
    else
      builder.output(outputs[i], dtype, out_[i] == RowOperand::per_row);
  }
  const expr::Kernel* made =
      new expr::Kernel(compile(builder.finish()));  // lives as long as the op
  const expr::Kernel* expected = nullptr;
  if (slot.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *expected;
}

void RowKernel::operator()(std::int64_t rows, std::int64_t cols, std::span<const View> in,
                           std::span<const View> out) const {
  if (rows == 0) return;
  const DType dtype = in[0].dtype;
  const expr::Kernel& run = kernel(dtype);
  const std::int64_t per_chunk =
      std::max<std::int64_t>(1, kChunk / std::max<std::int64_t>(1, cols));
  const auto piece = [&](std::int64_t chunk) {
    expr::LoopArgs args;
    const std::int64_t first = chunk * per_chunk;
    args.rows = std::min(per_chunk, rows - first);
    args.cols = cols;
    for (std::size_t i = 0; i < in.size(); ++i) {
      args.in_row_bytes[i] = row_bytes(in_[i], dtype, cols);
      args.in[i] = in[i].as<const char>() + first * args.in_row_bytes[i];
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      args.out_row_bytes[i] = row_bytes(out_[i], dtype, cols);
      args.out[i] = out[i].as<char>() + first * args.out_row_bytes[i];
    }
    kernels::Scratch scratch(run.scratch_bytes(cols));
    args.scratch = scratch.data();
    run(args);
  };
  const std::int64_t chunks = (rows + per_chunk - 1) / per_chunk;
  if (chunks == 1) {
    piece(0);
  } else {
    parallel_for(chunks, piece);
  }
}

}  // namespace gradus
