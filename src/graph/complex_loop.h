// Elementwise ops on complex numbers: the op's own expression, interpreted over std::complex. One
// definition serves real and complex tensors alike; named functions are looked up among those that
// have a complex counterpart.
#pragma once
#include "expr/program.h"
#include "graph/op.h"

namespace gradus {

// `program` was built with float64 in place of every complex dtype. Throws InvalidArgumentError if
// it contains something without a meaning for complex numbers, such as an ordering.
void run_complex(const char* op, const expr::Program& program, std::span<const View> in,
                 const View& out);

}  // namespace gradus
