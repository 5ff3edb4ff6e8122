// Structures of Python objects: lists, tuples, named tuples and mappings, nested in each other.
// Whatever else is a leaf, also a sparse or ragged tensor unless composites are expanded: then they
// are structures of the tensors they are made of. Mappings are walked by sorted keys, as tf.nest
// does.
#pragma once
#include <vector>

#include "object.h"

namespace gradus::python {

bool is_structure(PyObject* o);
enum class Composites { are_leaves, are_expanded };
std::vector<Ref> flatten(PyObject* structure, Composites composites = Composites::are_leaves);
// The structure with its leaves replaced, in order.
Ref pack(PyObject* structure, const std::vector<Ref>& leaves,
         Composites composites = Composites::are_leaves);
// What a composite is made of: its tensors, a tuple, and whatever else, which can be compared.
struct CompositeParts {
  explicit CompositeParts(PyObject* composite);
  Ref tensors, rest;
};
// Raises ValueError or TypeError if the structures differ.
void check_same(PyObject* a, PyObject* b, bool check_types,
                Composites composites = Composites::are_leaves);

void add_nest_functions();

}  // namespace gradus::python
