// Local rewrites that a Builder applies to each instruction before it is added.
#pragma once
#include "expr/expr.h"

namespace gradus::expr {

std::uint64_t bits_of(Type type, double value);

// Identities that hold for every IEEE value. Either gives a value that is already there or simpler,
// or brings the operands into their canonical order and gives an invalid Expr.
Expr simplify(Builder& b, Instr& i);

// Expresses what not every machine has by what every machine has, and expands calls; an invalid
// Expr if there is nothing to do. Used while lowering.
Expr legalise(Builder& b, const Instr& i);

}  // namespace gradus::expr
