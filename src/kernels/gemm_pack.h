// Rearranging an operand of a product so that the tile kernel reads it front to back. Elements of
// float16 and bfloat16 become float32 on the way.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"
#include "kernels/isa.h"

namespace gradus::kernels {

// Strides are in bytes. Functions for every float are found by pack_index.
struct PackTable {
  // `tiles` times `height` rows of an A stored as [k, m]: each tile is k times `height` neighbours,
  // and tile_step after the one before.
  void (*tiles[4])(void* to, std::int64_t tile_step, const void* from, std::int64_t stride,
                   std::int64_t k, std::int64_t height, std::int64_t tiles);
  // `cols` columns of a B stored as [n, k]: k times `width` neighbours, the first `cols` written.
  void (*transposed[4])(void* to, const void* from, std::int64_t stride, std::int64_t k,
                        std::int64_t cols, std::int64_t width);
  // A matrix as it lies, of float16, [0], or bfloat16, [1].
  void (*widened[2])(void* to, std::int64_t to_stride, const void* from, std::int64_t stride,
                     std::int64_t rows, std::int64_t cols);
};

const PackTable& pack_table(Isa isa);

constexpr int pack_index(DType dtype) {
  return dtype == DType::float32   ? 0
         : dtype == DType::float64 ? 1
         : dtype == DType::float16 ? 2
                                   : 3;
}

}  // namespace gradus::kernels
