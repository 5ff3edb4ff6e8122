// Dense matrix products over raw pointers, row-major:
//
//   C[m, n] = op(A) op(B)  (+ C)  (+ bias)  (relu)  (gate)
//
// Everything is built on the tile kernel of gemm_tile.h. Work above about 20 us is spread over the
// thread pool. An element is summed by one thread in an order that depends on the sizes alone, so
// bits do not depend on threads.
#pragma once
#include <cstdint>

#include "base/blocks.h"
#include "gradus/dtype.h"
#include "kernels/isa.h"

namespace gradus::kernels {

// Leading dimensions and strides count elements. C must not overlap A, B, bias or gate.
struct GemmArgs {
  DType dtype = DType::float32;  // of all operands: any float; half ones are summed in float32
  bool trans_a = false;          // A is stored as [k, m] instead of [m, k]
  bool trans_b = false;          // B is stored as [n, k] instead of [k, n]
  bool accumulate = false;       // add to C; otherwise C is only written
  std::int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  std::int64_t lda = 0;
  const void* b = nullptr;
  std::int64_t ldb = 0;
  void* c = nullptr;
  std::int64_t ldc = 0;
  // The epilogue, applied to the finished sum in this order.
  const void* bias = nullptr;  // [n], added to every row
  bool relu = false;           // max(x, 0); a NaN stays
  const void* gate = nullptr;  // [m, n]: 0 where it is not > 0, the gradient of relu
  std::int64_t ld_gate = 0;
  // Takes C block by block; `c` and `ldc` are then not looked at, and nothing is added to C.
  const BlockTaker* taker = nullptr;
};

void gemm(const GemmArgs& args);
void gemm(const GemmArgs& args, Isa isa);  // not above isa()

// How many products an element of C adds up, in increasing k, before they are added to those
// before: where it is the same number, so are the bits. 0: it adds in another way.
std::int64_t products_at_once(const GemmArgs& args);

// From one product of a batch to the next; 0 uses an operand again. With c = 0 all products are
// added up in one C (and the epilogue comes after the last). They share the bias.
struct GemmStrides {
  std::int64_t a = 0, b = 0, c = 0, gate = 0;
};

void gemm_batch(const GemmArgs& first, std::int64_t count, const GemmStrides& strides);

}  // namespace gradus::kernels
