// Rearranging an operand of a product so that the tile kernel reads it front to back.
#pragma once
#include <cstdint>

#include "kernels/isa.h"

namespace gradus::kernels {

// Both functions exist for elements of 4 bytes, [0], and of 8, [1]. Strides are in bytes.
struct PackTable {
  // `tiles` times `height` rows of an A stored as [k, m]: each tile is k times `height` neighbours.
  void (*tiles[2])(void* to, const void* from, std::int64_t stride, std::int64_t k,
                   std::int64_t height, std::int64_t tiles);
  // `cols` columns of a B stored as [n, k]: k times `width` neighbours, the first `cols` written.
  void (*transposed[2])(void* to, const void* from, std::int64_t stride, std::int64_t k,
                        std::int64_t cols, std::int64_t width);
};

const PackTable& pack_table(Isa isa);

}  // namespace gradus::kernels
