// Moving elements without computing: transpose, broadcast, slice, pad, tile and the like, on
// contiguous row-major arrays. All are walks of strided_copy.h, so one loop serves every type by
// its size in bytes, and every extent may be zero. Arguments are checked by the caller.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gradus/dtype.h"
#include "kernels/strided_copy.h"

namespace gradus::kernels {

using Extents = const std::int64_t*;  // one number per axis

// out axis i is in axis permutation[i].
void transpose(std::size_t item_size, const void* in, Extents shape, int rank,
               const int* permutation, void* out);

// Axes are aligned at the end; an axis of extent 1, or a missing one, is repeated.
void broadcast_to(std::size_t item_size, const void* in, Extents in_shape, int in_rank, void* out,
                  Extents out_shape, int out_rank);

// [outer, extents[i], inner] for each i, side by side along the middle axis, and back. split skips
// an output that is null.
void concat(std::size_t item_size, const void* const* ins, Extents extents, int count,
            std::int64_t outer, std::int64_t inner, void* out);
void split(std::size_t item_size, const void* in, Extents extents, int count, std::int64_t outer,
           std::int64_t inner, void* const* outs);

// Elements begin, begin + step, ... (extent of them, possibly backwards) of every axis of an array.
struct Slice {
  Extents begin, step, extent;
};
void read_slice(std::size_t item_size, const void* in, Extents shape, int rank, const Slice& slice,
                void* out);
void write_slice(std::size_t item_size, const void* in, const Slice& slice, int rank, void* out,
                 Extents shape);
// The transpose of read_slice: zeros everywhere else.
void scatter_slice(std::size_t item_size, const void* in, const Slice& slice, int rank, void* out,
                   Extents shape);

void pad(std::size_t item_size, const void* in, Extents shape, int rank, Extents before,
         Extents after, const void* value, void* out);

// The border repeats the array mirrored, without (reflect) or with (symmetric) its edge; padding is
// at most extent - 1, or extent.
enum class Mirror : std::uint8_t { reflect, symmetric };
void mirror_pad(Mirror mirror, std::size_t item_size, const void* in, Extents shape, int rank,
                Extents before, Extents after, void* out);
// Its transpose: adds every border element of the padded `in` to the one it mirrors. Any floating
// or complex type.
void mirror_pad_transpose(Mirror mirror, DType t, const void* in, Extents shape, int rank,
                          Extents before, Extents after, void* out);

void tile(std::size_t item_size, const void* in, Extents shape, int rank, Extents multiples,
          void* out);

// Bit i of axes says that axis i runs backwards.
void reverse(std::size_t item_size, const void* in, Extents shape, int rank, std::uint64_t axes,
             void* out);

// Element i goes to (i + shift) modulo the extent, along every axis.
void roll(std::size_t item_size, const void* in, Extents shape, int rank, Extents shifts,
          void* out);

// Keeps row - lower <= column <= row + upper of each [rows, columns] matrix and zeroes the rest; a
// negative lower or upper keeps everything on its side.
void band_part(std::size_t item_size, const void* in, std::int64_t batch, std::int64_t rows,
               std::int64_t columns, std::int64_t lower, std::int64_t upper, void* out);

// out[o, d, i] = on if indices[o, i] == d, else off; indices are int32 or int64 and may lie
// outside.
void one_hot(DType index_type, const void* indices, std::int64_t outer, std::int64_t depth,
             std::int64_t inner, std::size_t item_size, const void* on, const void* off, void* out);

// start, start + step, start + 2 step, ... in the arithmetic of t; integers wrap.
void iota(DType t, const void* start, const void* step, std::int64_t count, void* out);

}  // namespace gradus::kernels
