// What operators and tables of functions share that is not the engine's.
#pragma once
#include "gradus/in.h"

namespace gradus::python::ops {

// No number of a dtype is below the first, none above the second.
Tensor least_of(DType dtype);
Tensor largest_of(DType dtype);

Tensor truediv(In x, In y);  // integers are divided as float64 (float32 if they are small)

}  // namespace gradus::python::ops
