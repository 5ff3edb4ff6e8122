// Activations at the end of a layer: the library's own by the Python functions that stand for
// them, others by calling them.
//
// Probabilities remember the logits that they were made from, so that a cross entropy can be
// computed from those: exact where probabilities are rounded to 0 or 1, and one op.
#pragma once
#include "gradus/activations.h"
#include "types.h"

namespace gradus::python {

// activation(x): of None x itself, of a known function without a call of Python.
PyObject* activated(PyObject* activation, const Tensor& x);
// The same as C++ calls it; the Python function must stay alive.
keras::Activation as_activation(PyObject* activation);
bool is_native(PyObject* activation);  // no Python code is called

PyObject* with_logits(PyObject* probabilities, const Tensor& logits, PyObject* kind);

}  // namespace gradus::python
