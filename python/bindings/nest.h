// Structures of Python objects: lists, tuples, named tuples and mappings, nested in each other.
// Whatever else is a leaf. Mappings are walked by sorted keys, as tf.nest does.
#pragma once
#include <vector>

#include "object.h"

namespace gradus::python {

bool is_structure(PyObject* o);
std::vector<Ref> flatten(PyObject* structure);
// The structure with its leaves replaced, in order.
Ref pack(PyObject* structure, const std::vector<Ref>& leaves);
// Raises ValueError or TypeError if the structures differ.
void check_same(PyObject* a, PyObject* b, bool check_types);

void add_nest_functions();

}  // namespace gradus::python
