// Products of one matrix with several narrow ones,
//
//   C_i[m, n_i] = op(A) B_i
//
// as one product where that is faster: side by side their columns fill the registers better. The
// operands B_i are then copied, and C_i out of blocks of the wide result. Bits are those of the
// products one by one.
#pragma once
#include <span>

#include "kernels/gemm.h"

namespace gradus::kernels {

// B_i as [k, n] and C_i, without gaps between their rows.
struct Sibling {
  const void* b = nullptr;
  void* c = nullptr;
  std::int64_t n = 0;
};

// `common` says everything but B, C and n; it has no epilogue.
void gemm_siblings(const GemmArgs& common, std::span<const Sibling> siblings);

// Whether these are computed as one.
bool are_joined(const GemmArgs& common, std::span<const Sibling> siblings);

}  // namespace gradus::kernels
