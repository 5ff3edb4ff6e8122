#include "graph/loop_nest.h"

#include "base/thread_pool.h"

namespace gradus {
namespace {

// About 10 us of cheap work: below this, handing out work costs more than it brings.
constexpr std::int64_t kChunk = 16384;

}  // namespace

LoopNest::LoopNest(std::span<const View> in, const Shape& shape) {
  // Merged axes, innermost first. `varies` has bit i set where input i is not broadcast.
  struct Axis {
    std::int64_t size;
    std::uint32_t varies;
  };
  Axis axes[kMaxRank];
  int rank = 0;
  for (int axis = shape.rank() - 1, from_end = 1; axis >= 0; --axis, ++from_end) {
    if (shape[axis] == 1) continue;
    std::uint32_t varies = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Shape& s = *in[i].shape;
      if (s.rank() >= from_end && s[s.rank() - from_end] != 1) varies |= 1u << i;
    }
    if (rank > 0 && axes[rank - 1].varies == varies) {
      axes[rank - 1].size *= shape[axis];
    } else {
      axes[rank++] = {shape[axis], varies};
    }
  }
  if (rank == 0) axes[rank++] = {1, ~0u};

  std::int64_t step[expr::kMaxInputs], out_step = 1;
  for (std::size_t i = 0; i < in.size(); ++i)
    step[i] = static_cast<std::int64_t>(size_of(in[i].dtype));
  for (int a = 0; a < rank; ++a) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      const bool varies = axes[a].varies >> i & 1;
      const std::int64_t bytes = varies ? step[i] : 0;
      if (a == 0) {
        if (!varies) per_row |= 1u << i;
        row_bytes[i] = 0;
      } else if (a == 1) {
        row_bytes[i] = bytes;
      } else {
        outer_bytes[i][rank - 1 - a] = bytes;
      }
      if (varies) step[i] *= axes[a].size;
    }
    if (a == 1) out_row = out_step;
    if (a >= 2) out_outer[rank - 1 - a] = out_step;
    out_step *= axes[a].size;
  }
  cols = axes[0].size;
  if (rank > 1) rows = axes[1].size;
  outer_rank = rank > 2 ? rank - 2 : 0;
  for (int a = 2; a < rank; ++a) outer[rank - 1 - a] = axes[a].size;
}

bool LoopNest::one_call(std::span<const View> in, std::span<const View> out,
                        expr::LoopArgs& args) const {
  if (outer_rank > 0 || rows * cols == 0 || rows * cols > 2 * kChunk) return false;
  args.rows = rows;
  args.cols = cols;
  for (std::size_t i = 0; i < in.size(); ++i) {
    args.in[i] = in[i].data;
    args.in_row_bytes[i] = row_bytes[i];
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    args.out[i] = out[i].data;
    args.out_row_bytes[i] = out_row * static_cast<std::int64_t>(size_of(out[i].dtype));
  }
  return true;
}

void LoopNest::run(const expr::Kernel& kernel, std::span<const View> in,
                   std::span<const View> out) const {
  std::int64_t blocks = 1;
  for (int a = 0; a < outer_rank; ++a) blocks *= outer[a];
  if (blocks == 0 || rows == 0 || cols == 0) return;

  // One block is a rows x cols call at some place of the outer axes.
  const auto block_args = [&](std::int64_t block) {
    expr::LoopArgs args;
    args.rows = rows;
    args.cols = cols;
    std::int64_t place = 0;  // of the outputs, in elements
    for (std::size_t i = 0; i < in.size(); ++i) {
      args.in[i] = in[i].data;
      args.in_row_bytes[i] = row_bytes[i];
    }
    for (int a = outer_rank - 1; a >= 0; --a) {
      const std::int64_t at = block % outer[a];
      block /= outer[a];
      place += at * out_outer[a];
      for (std::size_t i = 0; i < in.size(); ++i) {
        args.in[i] = static_cast<const char*>(args.in[i]) + at * outer_bytes[i][a];
      }
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto element = static_cast<std::int64_t>(size_of(out[i].dtype));
      args.out[i] = out[i].as<char>() + place * element;
      args.out_row_bytes[i] = out_row * element;
    }
    return args;
  };

  const std::int64_t block_size = rows * cols;
  if (blocks * block_size <= 2 * kChunk) {
    for (std::int64_t b = 0; b < blocks; ++b) kernel(block_args(b));
  } else if (block_size >= kChunk) {
    // Cut each block along its rows, or along its columns if it has few rows.
    const bool by_rows = rows >= 4 || cols < kChunk;
    const std::int64_t length = by_rows ? rows : cols, unit = by_rows ? cols : rows;
    const std::int64_t per_chunk = std::max<std::int64_t>(1, kChunk / unit);
    const std::int64_t chunks = (length + per_chunk - 1) / per_chunk;
    parallel_for(blocks * chunks, [&](std::int64_t piece) {
      expr::LoopArgs args = block_args(piece / chunks);
      const std::int64_t first = piece % chunks * per_chunk;
      const std::int64_t n = std::min(per_chunk, length - first);
      (by_rows ? args.rows : args.cols) = n;
      const auto advance = [&](auto*& p, std::int64_t row_step, std::size_t element, bool varies) {
        const std::int64_t step =
            by_rows ? row_step : (varies ? static_cast<std::int64_t>(element) : 0);
        p = const_cast<char*>(static_cast<const char*>(p)) + first * step;
      };
      for (std::size_t i = 0; i < out.size(); ++i) {
        advance(args.out[i], args.out_row_bytes[i], size_of(out[i].dtype), true);
      }
      for (std::size_t i = 0; i < in.size(); ++i) {
        advance(args.in[i], row_bytes[i], size_of(in[i].dtype), !(per_row >> i & 1));
      }
      kernel(args);
    });
  } else {
    const std::int64_t per_chunk = std::max<std::int64_t>(1, kChunk / block_size);
    parallel_for((blocks + per_chunk - 1) / per_chunk, [&](std::int64_t piece) {
      const std::int64_t last = std::min(blocks, (piece + 1) * per_chunk);
      for (std::int64_t b = piece * per_chunk; b < last; ++b) kernel(block_args(b));
    });
  }
}

}  // namespace gradus
