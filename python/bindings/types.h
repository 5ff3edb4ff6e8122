// The Python types of the module and how C++ values go in and out of them.
//
// Tensor, Variable and the tapes are C types whose slots are filled directly. What of a class is
// rarely called is written in Python, in a subclass that the module registers (`set_class`).
#pragma once
#include <optional>

#include "gradus/tensor.h"
#include "gradus/variable.h"
#include "object.h"

namespace gradus::python {

struct TensorObject {
  PyObject_HEAD Tensor value;
  PyObject* weak_references;
  // What it was made of, where that is asked for later: (variable, key) of variable[key], which can
  // be assigned to, and ("softmax", logits) of probabilities (activations.h). Usually null.
  PyObject* origin;
};
extern PyTypeObject tensor_type;
inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == &tensor_type; }
inline const Tensor& tensor_of(PyObject* o) { return reinterpret_cast<TensorObject*>(o)->value; }
PyObject* wrap(Tensor t);
PyObject* wrap(const std::vector<Tensor>& list);  // a Python list

struct VariableObject {
  PyObject_HEAD Variable value;
  PyObject* weak_references;
  PyObject* attributes;
  bool is_cast;  // read with the dtype of `cast_variables_to`, where one is set
};
extern PyTypeObject variable_type;
inline bool is_variable(PyObject* o) {
  return Py_TYPE(o) != &tensor_type && PyObject_TypeCheck(o, &variable_type);
}
const Variable& variable_of(PyObject* o);
// As a layer of mixed precision reads its weights: those marked `_autocast` are cast.
Tensor read_variable(PyObject* o);
DType dtype_as_read(PyObject* o);
std::optional<DType> cast_variables_to(
    std::optional<DType> dtype);           // of this thread; the one before
PyObject* wrap(const Variable& variable);  // the object that it belongs to

extern PyTypeObject dtype_type;
PyObject* wrap(DType dtype);  // a new reference to the one object of that dtype
bool is_dtype(PyObject* o);
DType dtype_of_object(PyObject* o);  // of a DType object

extern PyTypeObject shape_type;
PyObject* wrap_shape(const Shape& shape);  // a TensorShape
bool is_shape(PyObject* o);
PyObject* shape_sizes(PyObject* o);  // its tuple, borrowed; None if the rank is unknown

// A size that changes from call to call, while a function is traced.
extern PyTypeObject size_type;
PyObject* wrap_size(Size size);  // an int if it is known, None if not even this call knows it
bool is_size(PyObject* o);
Size size_of_object(PyObject* o);

// Number, comparison, sequence and mapping slots that tensors and variables share.
extern PyNumberMethods number_slots;
extern PySequenceMethods sequence_slots;
extern PyMappingMethods mapping_slots;
PyObject* compare_tensors(PyObject* a, PyObject* b, int operation);
PyObject* iterate_tensor(PyObject* self);
PyObject* subscript(PyObject* self, PyObject* key);

// Values that are not one dense tensor of numbers, such as strings and sparse tensors, are objects
// of Python classes derived from gradus._kinds.Kind. A composite is made of tensors.
bool is_kind(PyObject* o);
bool is_rows(PyObject* o);  // an IndexedSlices
bool is_composite(PyObject* o);

// The Python class that stands for a C type, e.g. gradus.Variable for variable_type.
PyObject* class_of(const char* name);

bool prepare_types(PyObject* module);

}  // namespace gradus::python
