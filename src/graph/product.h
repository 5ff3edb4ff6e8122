// What a compiler wants to know of an op that is a product of two arrays, f(a, b): a fact of its
// record (OpInfo::product).
#pragma once
#include "graph/op.h"

namespace gradus {

struct ProductFacts {
  // An operand's axis along which products are added up, and the one that lives on in the result:
  //
  //   f([a c], [b d]) = f(a, b) + f(c, d)      joined along `summed`
  //   f(a, [b d])     = [f(a, b) f(a, d)]      joined along `kept`, the result along its last axis
  //
  // An element of one operand takes part in as many products as the other's kept axis is long, one
  // of the result in as many as the summed axes are.
  struct Axes {
    int summed, kept;
  };
  Axes (*axes)(const Call&, int operand);

  // The product of operands, and to a result, whose axes lie in another order in memory,
  //
  //   transpose(f(transpose(a, orders[0]), transpose(b, orders[1])), orders[2])
  //
  // without copies. Which orders an application can read and write; null: none.
  bool (*reads)(const Call&, int operand, const Ints& order) = nullptr;
  bool (*writes)(const Call&, const Ints& order) = nullptr;
  Tensor (*permuted)(const void* attrs, std::span<const Tensor> in,
                     std::span<const Ints> orders) = nullptr;

  // f(a, b), f(a, c), ... of one a in one go, with the bits of one by one. Whether that is faster,
  // as far as sizes are known, is asked with a, b, c, ... as operands; null: not known how.
  bool (*gains_together)(const Call&) = nullptr;
  Tensors (*together)(const void* attrs, std::span<const Tensor> in) = nullptr;
};

}  // namespace gradus
