// What a compiled function would cost, before it runs.
//
//   auto step = gd::function(...);
//   std::cout << to_string(step.estimate(x, y));
//
// Operations and bytes come from the facts on the op records, memory from the plan of the program.
// The time is the larger of operations over this machine's rate of multiply-adds and bytes over its
// memory rate (one thread; both measured once in a few milliseconds): a floor, not a promise.
#pragma once
#include <cstdint>
#include <string>

namespace gradus {

struct Estimate {
  double flops = 0;  // of one call
  double bytes = 0;  // read and written by all steps, as if nothing stayed in a cache
  double seconds = 0;
  std::int64_t argument_bytes = 0, variable_bytes = 0, constant_bytes = 0, result_bytes = 0;
  std::int64_t temporary_bytes = 0;  // arenas of the program and of its loops and branches
  int steps = 0;

  std::int64_t peak_bytes() const {
    return argument_bytes + variable_bytes + constant_bytes + result_bytes + temporary_bytes;
  }
};

std::string to_string(const Estimate& estimate);

}  // namespace gradus
