// What a tape holds and costs. Why a gradient is what it is: GradientTape::explain.
//
//   std::cout << tape.report(loss, {w, b});
//   std::cout << tape.explain(loss, w);   // "none: ... is cut by [argmax] at model.cpp:42: ..."
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

#include "gradus/gradient.h"

namespace gradus {

struct TapeReport {
  struct OpLine {
    std::string op;
    std::size_t count = 0;
    std::size_t bytes = 0;  // of tensors that it saved and no op before it
    double flops = 0;       // of the forward pass, estimated
  };

  bool used = false;  // the tape gave up what it recorded
  std::size_t ops = 0;
  std::size_t saved_bytes = 0;  // tensors that are kept for the gradient, each counted once
  std::size_t own_bytes = 0;    // the recording itself, shared with tapes around this one
  std::vector<OpLine> by_op;    // most bytes first

  // Ops without a derivative: "[argmax] at model.cpp:42".
  std::vector<std::string> cut;
  // Ops that do not lie between the sources and the target that were asked about.
  std::vector<std::string> unused;
  std::size_t unused_bytes = 0;
};
std::string to_string(const TapeReport& report);
std::ostream& operator<<(std::ostream& out, const TapeReport& report);

}  // namespace gradus
