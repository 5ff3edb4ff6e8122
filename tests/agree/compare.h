// When two results are the same.
#pragma once
#include <map>
#include <optional>

#include "agree/call.h"

namespace agree {

// What tools/agree_reference.py says of one result: some elements, a random projection of all of
// them, the largest, and how much the program amplifies rounding errors.
struct Expected {
  double amplification, projection, largest;
  Shape shape;
  std::vector<double> samples;
};
// By program, then by "v0", "g1", "h0": values, gradients, products with the Hessian.
using References = std::map<std::string, std::map<std::string, Expected>>;
References read_references(const std::string& path);

// Of one element, relative to the largest; and how many of them results may differ by.
double epsilon_of(gd::DType t);
constexpr double kUnits = 40;

// "" if they agree, else what differs. Integers and bools must be equal. Errors are relative to the
// largest element, or to `least`.
std::string differs(const Tensor& got, const Expected& expected);
std::string differs(const Tensor& got, const Tensor& expected, double amplification, double least);
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace agree
