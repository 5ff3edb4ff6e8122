// Products of operands that lie in memory with their axes in another order: what
//
//   transpose(matmul(transpose(a, order_a), transpose(b, order_b)), order_out)
//
// computes, without the copies. A product can step over matrices as well as over elements, as long
// as one of its two axes is the innermost in memory. Made by a pass of the compiler (absorb.h).
#pragma once
#include "graph/op.h"

namespace gradus {

struct PermutedMatmulAttrs {
  Ints order_a, order_b, order_out;  // permutations, as transpose has them
  bool transpose_a = false, transpose_b = false;
  static auto fields() {
    return attr_fields(attr("order_a", &PermutedMatmulAttrs::order_a),
                       attr("order_b", &PermutedMatmulAttrs::order_b),
                       attr("order_out", &PermutedMatmulAttrs::order_out),
                       attr("transpose_a", &PermutedMatmulAttrs::transpose_a),
                       attr("transpose_b", &PermutedMatmulAttrs::transpose_b));
  }
};
extern const Op permuted_matmul_op;

// Whether matrices that are permuted so have, before that, their rows or columns in one piece.
bool is_readable(const Ints& order);
// The same after it.
bool is_writable(const Ints& order);

}  // namespace gradus
