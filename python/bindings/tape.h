// GradientTape and ForwardAccumulator as Python types, and what they share.
#pragma once
#include "gradus/forward.h"
#include "gradus/gradient.h"
#include "nest.h"
#include "types.h"

namespace gradus::python {

extern PyTypeObject tape_type, forward_tape_type, pause_type, accumulator_type, buffers_type;

Source to_source(PyObject* o);
Unconnected to_unconnected(PyObject* o);
Ref wrap_gradient(const Gradient& gradient);  // a Tensor, an IndexedSlices or None
// The same back; rows that do not say of how many belong to a tensor of the shape that is given.
Gradient to_gradient(PyObject* o, const Shape* shape = nullptr);

}  // namespace gradus::python
