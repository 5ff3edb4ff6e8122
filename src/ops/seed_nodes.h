// Seeds in graphs: the node that asks for the next ones, and random ops that are given a state
// instead, by whoever keeps one for each node (session/session.cpp).
//
// An op without a seed draws from a stream of its own, of which it takes the next pair of seeds. An
// op with a seed goes on where the last draw of its stream ended, as TensorFlow's kernels do: eager
// ops of one kind, dtype and seed have one stream, and each op of a program has its own.
#pragma once
#include "graph/op.h"

namespace gradus {

struct SeedAttrs {
  bool has_op_seed = false;
  double op_seed = 0;  // an integer below 2^31; of a type in which no symbol can hide
  double stream = -1;  // of the op that draws; < 0: the pair is wanted, not a state of its stream
  Shape drawn = {};    // how many numbers it takes
  bool is_order = false;  // they are an order of rows
  static auto fields() {
    return attr_fields(attr("has_op_seed", &SeedAttrs::has_op_seed),
                       attr("op_seed", &SeedAttrs::op_seed), attr("stream", &SeedAttrs::stream),
                       attr("drawn", &SeedAttrs::drawn), attr("is_order", &SeedAttrs::is_order));
  }
};
extern const Op next_seeds_op;
extern const Op random_op;

// Changes the attributes of a random op: its operand is a state of three integers.
void draw_from_state(void* attrs);

}  // namespace gradus
