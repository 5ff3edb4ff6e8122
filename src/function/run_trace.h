// How the program of a trace runs: with the variables that it reads and writes, and as an op for
// those who follow its arguments.
#pragma once
#include "function/trace.h"

namespace gradus::detail {

// Integers among the arguments fit the dtypes that the program holds them in, or an error that
// names the function.
void check_numbers(const Trace& trace, std::span<const Tensor> in, const std::string& name);

// The results, without what is written to variables: those have it.
std::vector<Tensor> run_trace(Trace& trace, const std::vector<Tensor>& in);

}  // namespace gradus::detail
