// Floating point numbers as decimal text: the fewest digits that read back as the same number of
// the same type, and columns of such numbers aligned as NumPy aligns them.
#pragma once
#include <string>
#include <vector>

#include "gradus/dtype.h"

namespace gradus {

// A finite number as d.ddd x 10^exponent.
struct Decimal {
  bool negative;
  std::string digits;  // one or more; "0" for zero; the last is not 0 otherwise
  int exponent;
};

// The shortest decimal that reads back as x; of several, the one nearest to x. T is half, float or
// double.
template <class T>
Decimal shortest_decimal(T x);

// One number on its own: "0.1", "3.0", "1e-05", "nan"; as str() of a NumPy scalar. `keep_zero`
// leaves the ".0" of whole numbers.
template <class T>
std::string scalar_text(T x, bool keep_zero = true);

// Numbers of one column, as NumPy prints the elements of an array: at most 8 digits after the
// point, points aligned, scientific for all if the range asks for it. `plus` shows the sign of
// positive numbers.
template <class T>
std::vector<std::string> column_text(const std::vector<T>& values, bool plus = false);

}  // namespace gradus
