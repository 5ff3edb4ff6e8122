// What a variable holds after a write, for the derivatives of the program around.
//
// Reading a variable is reading that variable, whatever was assigned to it: derivatives go to the
// variable, as if it were an argument, and not through the assignment to what the assigned value
// was computed from. So it is when ops run one by one, and so it is in TensorFlow.
#pragma once
#include "gradus/tensor.h"

namespace gradus {

// The elements of `value`, with the derivatives of `before`, which is what was read last.
Tensor assigned(const Tensor& value, const Tensor& before);

}  // namespace gradus
