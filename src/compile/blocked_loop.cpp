#include "compile/blocked_loop.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/scratch.h"

namespace gradus {

std::unique_ptr<BoundStep> BlockedLoop::bind(const Symbols& symbols, const Sizes& sizes,
                                             std::span<const View> in,
                                             std::span<const View>) const {
  std::vector<std::byte> bound = attrs;
  bind_attrs(symbols, sizes, maker->attrs(), bound.data());
  return std::make_unique<BoundBlocks>(*this, std::move(bound),
                                       bind_shape(symbols, sizes, made.shape), in);
}

// The maker still reads for one block when another one is done.
bool BlockedLoop::may_overwrite(const Call&, const std::vector<bool>& same,
                                std::size_t output) const {
  if (output >= loop->out.size()) return false;
  for (std::size_t i = 0; i < same.size(); ++i) {
    if (!same[i]) continue;
    if (i < maker_inputs) return false;
    const std::size_t at = i - maker_inputs;
    if (!loop->reads_first(at + (at >= port), output)) return false;
  }
  return true;
}

BoundBlocks::BoundBlocks(const BlockedLoop& blocked, std::vector<std::byte> attrs,
                         const Shape& made, std::span<const View> in)
    : blocked_(blocked),
      attrs_(std::move(attrs)),
      made_(made),
      cols_(made.back()),
      element_(static_cast<std::int64_t>(size_of(blocked.made.dtype))) {
  const FusedLoop& loop = *blocked.loop;
  std::uint32_t per_row = 0;
  std::size_t next = blocked.maker_inputs;
  for (std::size_t i = 0; i < loop.program.inputs.size(); ++i) {
    const bool is_made = i == blocked.port;
    const RowRole role = is_made ? RowRole::row : row_role(*in[next].shape, made_, 1);
    GRADUS_ASSERT(role != RowRole::none);
    const auto element = static_cast<std::int64_t>(size_of(loop.program.inputs[i].dtype));
    const bool along = role == RowRole::row || role == RowRole::shared;
    const std::int64_t row = role == RowRole::row       ? cols_ * element
                             : role == RowRole::per_row ? element
                                                        : 0;
    steps_.push_back({row, along ? element : 0});
    if (!along) per_row |= 1u << i;
    if (!is_made) ++next;
  }
  kernel_ = &loop.kernel(per_row);
}

void BoundBlocks::sweep(const Block& block, const char* made, std::int64_t made_row,
                        std::span<const View> in, std::span<const View> out) const {
  constexpr std::int64_t kPiece = 16384;  // elements: about 10 us of cheap work
  const FusedLoop& loop = *blocked_.loop;
  const std::int64_t most = std::max<std::int64_t>(1, kPiece / block.cols);
  const auto piece = [&](std::int64_t i) {
    const std::int64_t first = i * most;
    expr::LoopArgs args;
    args.rows = std::min(most, block.rows - first);
    args.cols = block.cols;
    std::size_t next = blocked_.maker_inputs;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      if (k == blocked_.port) {
        args.in[k] = made + first * made_row;
        args.in_row_bytes[k] = made_row;
      } else {
        args.in[k] = in[next++].as<const char>() + (block.row + first) * steps_[k].row +
                     block.col * steps_[k].col;
        args.in_row_bytes[k] = steps_[k].row;
      }
    }
    for (std::size_t k = 0; k < loop.out.size(); ++k) {
      const auto element = static_cast<std::int64_t>(size_of(out[k].dtype));
      args.out[k] = out[k].as<char>() + ((block.row + first) * cols_ + block.col) * element;
      args.out_row_bytes[k] = cols_ * element;
    }
    (*kernel_)(args);
  };
  const std::int64_t pieces = (block.rows + most - 1) / most;
  if (pieces == 1) return piece(0);
  parallel_for(pieces, piece);  // one by one if the blocks come in parallel
}

void BoundBlocks::run(std::span<const View> in, std::span<const View> out) const {
  const View made{blocked_.keeps_made ? out.back().data : nullptr, &made_, blocked_.made.dtype};
  const auto take = [&](const Block& block, ComputeBlock compute) {
    std::optional<kernels::Scratch> scratch;
    std::int64_t row = cols_ * element_;
    char* to;
    if (blocked_.keeps_made) {
      to = made.as<char>() + block.row * row + block.col * element_;
    } else {
      row = block.cols * element_;
      to = scratch.emplace(static_cast<std::size_t>(block.rows * row)).as<char>();
    }
    compute(to, row);
    sweep(block, to, row, in, out);
  };
  blocked_.run({{*blocked_.maker, attrs_.data(), in.first(blocked_.maker_inputs)}, {&made, 1}},
               take);
}

const Op blocked_op =
    internal({.name = "blocked",
              .doc = "An op and a loop over what it makes, block by block; made by the compiler.",
              .dtypes = kAnyDType,
              .attrs = &attr_type<BlockedAttrs>(),
              .inputs = kAny,
              .outputs = -1,
              .infer =
                  [](const Call& c, Avals& out) {
                    const BlockedLoop& b = c.get<BlockedAttrs>().blocked();
                    for (const Aval& a : b.loop->out) out.push_back(a);
                    if (b.keeps_made) out.push_back(b.made);
                  },
              .flops =
                  [](const Call& c) {
                    const BlockedLoop& b = c.get<BlockedAttrs>().blocked();
                    double elements = 1;
                    for (const View& v : c.in.subspan(b.maker_inputs))
                      elements = std::max(elements, static_cast<double>(v.count()));
                    const Call maker{*b.maker, b.attrs.data(), c.in.first(b.maker_inputs)};
                    const double made = b.maker->info.flops ? b.maker->info.flops(maker) : 0;
                    return made + elements * static_cast<double>(b.loop->arithmetic());
                  },
              .in_place_ok = true},
             "it is made after differentiation");

}  // namespace gradus
