// What one step of each optimizer does to an element, as a scalar expression, and the numbers that
// it takes. Everything else (memory, rows, traces) is the same for all: ops/updates.cpp.
#pragma once
#include <vector>

#include "expr/expr.h"
#include "gradus/updates.h"

namespace gradus {

// What is the same for all variables of a step; T is double, or Tensor while a function is traced.
template <class T>
struct StepNumbers {
  T learning_rate, step, product;
  const std::vector<double>& settings;
};

struct RuleDefinition {
  using Exprs = std::vector<expr::Expr>;
  const char* name;
  int state;     // arrays besides the variable and its gradient
  int numbers;   // what the functions below give
  int settings;  // what they take
  bool by_rows;  // a gradient of zero changes nothing, so that rows without one can be left alone
  // (variable, state..., gradient), numbers -> new variable and state
  Exprs (*body)(const Exprs& arrays, const Exprs& numbers);
  std::vector<double> (*now)(const StepNumbers<double>&);
  std::vector<Tensor> (*traced)(const StepNumbers<Tensor>&);
};

const RuleDefinition& definition_of(UpdateRule rule);
inline constexpr int kUpdateRules = 15;

}  // namespace gradus
