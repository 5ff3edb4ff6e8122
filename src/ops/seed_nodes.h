// Seeds in graphs: the node that asks for the next pair, and random ops that are given a state
// instead, by whoever keeps one for each node (compile/session.cpp).
#pragma once
#include "graph/op.h"

namespace gradus {

struct SeedAttrs {
  bool has_op_seed = false;
  double op_seed = 0;  // an integer; of a type in which no symbol can hide
  static auto fields() {
    return attr_fields(attr("has_op_seed", &SeedAttrs::has_op_seed),
                       attr("op_seed", &SeedAttrs::op_seed));
  }
};
extern const Op next_seeds_op;
extern const Op random_op;

// Changes the attributes of a random op: its operand is a state of three integers.
void draw_from_state(void* attrs);

}  // namespace gradus
