// What Python code meets while a function is traced: tensors without elements, and variables that
// may be created only once.
#pragma once
#include "convert.h"
#include "gradus/tracing.h"

namespace gradus::python {

// Raise what TensorFlow raises when a symbolic tensor is used as a Python value.
void refuse_truth(const Tensor& t);
void refuse_iteration(const Tensor& t);
void refuse_length(const Tensor& t);
void refuse_number(const Tensor& t, const char* wanted);
void refuse_array(const Tensor& t);
void refuse_numpy_method(const Tensor& t);

// The value to create a variable with; while a function is traced, only its first trace may.
Tensor value_for_variable(const Tensor& initial);

// A number that was given to a function, while it is traced: gradus._function.TracedNumber.
bool is_traced_number(PyObject* o);
Tensor from_traced_number(PyObject* o, std::optional<DType> dtype);

}  // namespace gradus::python
