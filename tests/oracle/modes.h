// Derivatives of derivatives: a word of levels, each of which turns a function of some arrays into
// its derivative along a direction, by one of the ways that Gradus has. The oracle computes the
// same by infinitesimals, one (or two) for each level.
//
//   f ForwardAccumulator        j gd::jvp          l gd::linearize       F forward tape's Jacobian
//   r GradientTape              g gd::grad         v gd::vjp             p forward tape's gradient
//   t a vjp of a vjp            J tape.jacobian    d gd::jacobian        B vmap of tape.gradient
//   h gd::hvp                   H gd::hessian      n Gauss-Newton product
//   m vmap over examples nearby, summed (no derivative)
//
// The letters in the second line need a scalar: before them, a function is contracted with fixed
// weights. Directions may depend on the point, and a level may mix the value into its result: both
// are what makes nested derivatives hard to keep apart.
#pragma once
#include "oracle/program.h"

namespace oracle {

using Fn = std::function<gd::Tensor(const Tensors&)>;

// One array per input: the numbers themselves, times x, or times sin(x).
struct Direction {
  enum Kind { constant, times_x, times_sine };
  Kind kind = constant;
  std::vector<std::vector<std::complex<double>>> numbers;  // of complex inputs; else real parts
};

struct Level {
  char mode = 'r';
  bool compiled = false;       // gd::function around everything up to here
  bool called_before = false;  // outside of any derivative, so that it was traced there
  enum Mix { derivative, plus_value, times_value };
  Mix mix = derivative;
  Direction along, second;  // second: of h, H and n
};
int order_of(char mode);
int order_of(const std::vector<Level>& word);
bool needs_scalar(char mode);

// The function that a word makes of a program, by the engine and by the oracle. `at` is where
// functions are called before.
Fn engine_function(const Program& program, const std::vector<Level>& word, const Tensors& at);
Value oracle_value(const Program& program, const std::vector<Level>& word, const Values& x);

gd::Tensor to_tensor(const Value& base, gd::DType real);  // without infinitesimals

}  // namespace oracle
