#include "activations.h"

#include <unordered_map>

#include "function.h"

namespace gradus::python {
namespace {

struct Known {
  keras::Activation function;
  PyObject* kind = nullptr;  // interned, if the logits are remembered
};

// By the Python functions, which live as long as the module.
std::unordered_map<PyObject*, Known>& known() {
  static auto* const map = new std::unordered_map<PyObject*, Known>;
  return *map;
}

const Known* find(PyObject* activation) {
  const auto found = known().find(activation);
  return found == known().end() ? nullptr : &found->second;
}

const FunctionEntry entries[] = {
    {"_set_activation", "function, name", "Says which activation a Python function is.",
     [](const Arguments& a) -> PyObject* {
       const std::string name = a.string(1);
       Known entry{keras::Activation(name)};
       if (name == "softmax" || name == "sigmoid")
         entry.kind = PyUnicode_InternFromString(name.c_str());
       Py_INCREF(a[0]);
       known()[a[0]] = std::move(entry);
       Py_RETURN_NONE;
     }},
    {"_with_logits", "probabilities, logits, kind",
     "Notes that probabilities = kind(logits); gives the probabilities.",
     [](const Arguments& a) {
       return Ref::copy(is_tensor(a[0]) ? with_logits(a[0], a.tensor(1), a[2]) : a[0]).release();
     }},
    {"_logits_of", "probabilities, kind",
     "The logits if the probabilities were made by that activation (\"softmax\" or \"sigmoid\"), "
     "else None.",
     [](const Arguments& a) -> PyObject* {
       PyObject* kind = a[1];
       PyObject* origin = is_tensor(a[0]) ? reinterpret_cast<TensorObject*>(a[0])->origin : nullptr;
       if (!origin || !PyUnicode_Check(PyTuple_GET_ITEM(origin, 0)) ||
           PyUnicode_Compare(PyTuple_GET_ITEM(origin, 0), kind) != 0)
         Py_RETURN_NONE;
       return Ref::copy(PyTuple_GET_ITEM(origin, 1)).release();
     }},
};

}  // namespace

PyObject* with_logits(PyObject* probabilities, const Tensor& logits, PyObject* kind) {
  const Ref noted = Ref::own(wrap(logits));  // a new object: no chains of origins
  PyObject*& origin = reinterpret_cast<TensorObject*>(probabilities)->origin;
  Py_XDECREF(std::exchange(origin, Ref::own(PyTuple_Pack(2, kind, noted.get())).release()));
  return probabilities;
}

PyObject* activated(PyObject* activation, const Tensor& x) {
  if (activation == Py_None) return wrap(x);
  const Known* own = find(activation);
  if (!own) return PyObject_CallOneArg(activation, Ref::own(wrap(x)));
  PyObject* y = wrap(on_large(x, [&] { return own->function(x); }));
  return own->kind ? with_logits(y, x, own->kind) : y;
}

keras::Activation as_activation(PyObject* activation) {
  if (activation == Py_None) return {};
  if (const Known* own = find(activation)) return own->function;
  return [activation](const Tensor& x) {
    return to_tensor(Ref::own(PyObject_CallOneArg(activation, Ref::own(wrap(x)))));
  };
}

bool is_native(PyObject* activation) { return activation == Py_None || find(activation); }

void add_activation_functions() { add_functions(entries); }

}  // namespace gradus::python
