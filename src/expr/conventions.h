// What the scalar functions do at kinks, poles and infinities, as data: the documentation is made
// from it, and a test evaluates every row. TensorFlow's choice is followed; a row whose `note` says
// otherwise is one where TensorFlow gives NaN although a finite answer is right.
#pragma once
#include <span>

namespace gradus::expr {

struct Convention {
  const char* fn;
  const char* point;       // the arguments, separated by commas
  const char* value;       //
  const char* derivative;  // with respect to each argument, separated by commas
  const char* note = "";
};

std::span<const Convention> conventions();

}  // namespace gradus::expr
