// Python values as C++ values, by TensorFlow's rules.
//
// Numbers and lists of numbers are float32, int32 (int64 where they do not fit), bool or
// complex128 unless a dtype is wanted; NumPy arrays and whatever has a buffer keep their dtype.
#pragma once
#include <optional>
#include <vector>

#include "gradus/tracing.h"
#include "types.h"

namespace gradus::python {

// Thrown, with a Python exception set, where a dense tensor of numbers is wanted and the argument
// is of another kind. A function of the module then lets that class do its work (function.cpp).
struct OtherKind : PythonError {
  explicit OtherKind(PyObject* c) : kind(Ref::copy(c)) {}
  Ref kind;
};
PyObject* string_kind();  // the class of string tensors, borrowed

// How strictly a wanted dtype is meant for what already has one.
enum class Wanted {
  exactly,  // a tensor of another dtype is an error; arrays are converted
  hint,     // tensors keep theirs
};
Tensor to_tensor(PyObject* object, std::optional<DType> dtype = {},
                 Wanted wanted = Wanted::exactly);
bool converts_to_tensor(PyObject* object);  // worth trying, as the other operand of an operator

// The dtype that an object which is not a plain number or list of such already has.
std::optional<DType> own_dtype(PyObject* object);
// Several operands of one dtype: those that have one decide for the others.
std::vector<Tensor> to_tensors(PyObject* sequence, const char* op);
std::pair<Tensor, Tensor> to_pair(PyObject* a, PyObject* b);

Tensor from_buffer(PyObject* object);  // copies
// A tensor over the memory of an object with __dlpack__, which nobody may write to while it lives.
Tensor shared_with(PyObject* array);

DType to_dtype(PyObject* object);  // DType, its name, a NumPy dtype or a Python type
std::optional<DType> to_dtype_or_none(PyObject* object);
bool to_bool(PyObject* object);
std::int64_t to_int(PyObject* object);
double to_double(PyObject* object);
// How many elements an op on t computes now; none if t is traced.
inline std::int64_t elements_now(const Tensor& t) { return is_symbolic(t) ? 0 : t.num_elements(); }

Shape to_shape(PyObject* object);  // a TensorShape, a sequence, an integer tensor or one integer
Size to_size(PyObject* object);    // an integer that may be an unknown size
std::vector<Size> to_sizes(PyObject* object);         // the same: sizes may be unknown ones
std::vector<std::int64_t> to_ints(PyObject* object);  // the same: all are known

}  // namespace gradus::python
