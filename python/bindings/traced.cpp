#include "traced.h"

#include "gradus/ops.h"

namespace gradus::python {

namespace {

[[noreturn]] void refuse(const char* module, const char* type, const std::string& message) {
  PyErr_SetString(imported(module, type), message.c_str());
  throw PythonError();
}

std::string name_of_traced(const Tensor& t) { return traced_name(t) + ":0"; }

}  // namespace

// The text knows what AutoGraph did with the function that asked.
[[noreturn]] static void refuse_in_graph(const char* what) {
  const Ref text =
      Ref::own(PyObject_CallFunction(imported("gradus.autograph._convert", "refusal"), "s", what));
  refuse("gradus.errors", "OperatorNotAllowedInGraphError", to_string(text));
}

void refuse_truth(const Tensor& t) {
  if (is_symbolic(t)) refuse_in_graph("Using a symbolic `tf.Tensor` as a Python `bool`");
}

void refuse_iteration(const Tensor& t) {
  if (!is_symbolic(t) || (t.rank() > 0 && t.shape()[0].is_known())) return;
  refuse_in_graph("Iterating over a symbolic `tf.Tensor` of unknown size");
}

void refuse_length(const Tensor& t) {
  if (!is_symbolic(t) || t.rank() == 0 || t.shape()[0].is_known()) return;
  refuse("builtins", "TypeError",
         "len is not well defined for a symbolic Tensor (" + name_of_traced(t) +
             "). Please call `x.shape` rather than `len(x)` for shape information.");
}

void refuse_number(const Tensor& t, const char* wanted) {
  if (!is_symbolic(t)) return;
  refuse("builtins", "TypeError",
         std::string("a symbolic tf.Tensor (") + name_of_traced(t) + ") has no value to be made " +
             wanted + " while the function is traced");
}

void refuse_array(const Tensor& t) {
  if (!is_symbolic(t)) return;
  refuse("builtins", "NotImplementedError",
         "Cannot convert a symbolic tf.Tensor (" + name_of_traced(t) +
             ") to a numpy array. This error may indicate that you're trying to pass a Tensor to a "
             "NumPy call, which is not supported.");
}

void refuse_numpy_method(const Tensor& t) {
  if (!is_symbolic(t)) return;
  refuse("builtins", "AttributeError",
         "'SymbolicTensor' object has no attribute 'numpy': " + name_of_traced(t) +
             " has no value while the function is traced");
}

bool is_traced_number(PyObject* o) { return PyObject_HasAttrString(o, "__gradus_number__"); }

Tensor from_traced_number(PyObject* o, std::optional<DType> dtype) {
  const Ref value = Ref::own(PyObject_GetAttrString(o, "__gradus_number__"));
  const Tensor& t = tensor_of(value);
  if (!dtype) return cast(t, t.dtype() == float64 ? float32 : int32);
  if (t.dtype() == float64 && !is_differentiable(*dtype))
    raise(PyExc_TypeError, "Cannot convert a float to a Tensor of dtype %s", name_of(*dtype));
  return cast(t, *dtype);
}

}  // namespace gradus::python
