// The quick way through a call of a Keras layer: one tensor like one that went well before, and
// nothing that needs care, goes straight to the layer's `call`. Everything else is Python's
// (`_call_in_full` in keras/_layer.py).
#include "errors.h"
#include "function.h"

namespace gradus::python {
namespace {

// What Keras shares with us: the context of this thread's call, and the masks of tensors.
PyObject *context = nullptr, *masks = nullptr;

struct Names {
  PyObject *quick, *call, *training, *call_container, *call_in_full, *failed, *only_training;
};
const Names& names() {
  static const Names interned = [] {
    const auto text = PyUnicode_InternFromString;
    Names n{text("_quick"),
            text("call"),
            text("training"),
            text("_call_container"),
            text("_call_in_full"),
            text("_quick_call_failed"),
            nullptr};
    n.only_training = PyTuple_Pack(1, n.training);
    return n;
  }();
  return interned;
}

// The layer says where an error happened, or has words of its own about an input that does not fit.
PyObject* explained(PyObject* self, PyObject* args, PyObject* keywords) {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  if (trace) PyException_SetTraceback(error, trace);
  const Ref none = keywords ? Ref() : Ref::own(PyDict_New());
  PyObject* checked = PyObject_CallMethodObjArgs(self, names().failed, error, args,
                                                 keywords ? keywords : none.get(), nullptr);
  if (checked) {
    Py_DECREF(checked);
    PyErr_Restore(type, error, trace);
    return nullptr;
  }
  PyObject *other_type, *other, *other_trace;
  PyErr_Fetch(&other_type, &other, &other_trace);
  PyErr_NormalizeException(&other_type, &other, &other_trace);
  PyException_SetContext(other, error);  // takes the reference
  Py_XDECREF(type);
  Py_XDECREF(trace);
  PyErr_Restore(other_type, other, other_trace);
  return nullptr;
}

// Null if the call is not a quick one; else what `call` gave, null too with an exception set.
PyObject* call_quickly(PyObject* self, PyObject* args, PyObject* keywords) {
  const Names& n = names();
  PyObject* x = PyTuple_GET_ITEM(args, 0);
  const Ref quick = Ref::own(PyObject_GetAttr(self, n.quick));
  if (quick == Py_None) return nullptr;
  const Tensor& tensor = tensor_of(x);
  if (tensor.dtype() != dtype_of_object(PyTuple_GET_ITEM(quick.get(), 0)) ||
      tensor.rank() != PyLong_AsLong(PyTuple_GET_ITEM(quick.get(), 1)))
    return nullptr;
  Ref training;
  if (!keywords || PyDict_GET_SIZE(keywords) == 0) {
    training = Ref::own(PyObject_GetAttr(context, n.training));
  } else {
    PyObject* given =
        PyDict_GET_SIZE(keywords) == 1 ? PyDict_GetItemWithError(keywords, n.training) : nullptr;
    if (!given || !PyBool_Check(given)) return nullptr;
    training = Ref::copy(given);
  }
  PyObject *has_training = PyTuple_GET_ITEM(quick.get(), 2),
           *contains = PyTuple_GET_ITEM(quick.get(), 3);
  if (contains == Py_True)
    return PyObject_CallMethodObjArgs(self, n.call_container, x, training.get(), has_training,
                                      nullptr);
  PyObject* result;
  if (training != Py_None && has_training == Py_True) {
    PyObject* const arguments[] = {self, x, training};
    result = PyObject_VectorcallMethod(n.call, arguments, 2, n.only_training);
  } else {
    result = PyObject_CallMethodOneArg(self, n.call, x);
  }
  return result ? result : explained(self, args, keywords);
}

PyObject* call(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    if (PyTuple_GET_SIZE(args) == 1 && is_tensor(PyTuple_GET_ITEM(args, 0)) && masks &&
        PyDict_GET_SIZE(masks) == 0) {
      PyObject* result = call_quickly(self, args, keywords);
      if (result || PyErr_Occurred()) return result;
    }
    const Ref none = keywords ? Ref() : Ref::own(PyDict_New());
    return PyObject_CallMethodObjArgs(self, names().call_in_full, args,
                                      keywords ? keywords : none.get(), nullptr);
  });
}

const FunctionEntry entries[] = {
    {"_share_with_layers", "context, masks",
     "Shows the context of calls and the table of masks to QuickCall.",
     [](const Arguments& a) -> PyObject* {
       context = Ref::copy(a[0]).release();
       masks = Ref::copy(a[1]).release();
       Py_RETURN_NONE;
     }},
};

PyType_Slot slots[] = {
    {Py_tp_call, reinterpret_cast<void*>(call)},
    {Py_tp_doc, const_cast<char*>(
                    "A base of classes whose objects are called quickly if nothing needs care.")},
    {0, nullptr}};
// A type on the heap: it takes part in Python's inheritance like a class that is written there.
PyType_Spec quick_call = {"gradus._core.QuickCall", sizeof(PyObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

}  // namespace

void add_layer_call(PyObject* module) {
  add_functions(entries);
  check(PyModule_AddObject(module, "QuickCall", Ref::own(PyType_FromSpec(&quick_call)).release()));
}

}  // namespace gradus::python
