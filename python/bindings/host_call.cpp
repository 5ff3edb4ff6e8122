// Python functions that a program calls while it runs: tf.print, checks, tf.py_function.
#include "gradus/host_call.h"

#include "convert.h"
#include "errors.h"
#include "function.h"

namespace gradus::python {

namespace {

// A Python object that threads without the GIL may drop.
using Kept = std::shared_ptr<PyObject>;
Kept keep(PyObject* object) {
  Py_INCREF(object);
  return Kept(object, [](PyObject* o) {
    if (!Py_IsInitialized()) return;
    const HoldGil gil;
    Py_DECREF(o);
  });
}

Ref to_list(const std::vector<Tensor>& tensors) {
  Ref list = Ref::own(PyList_New(static_cast<Py_ssize_t>(tensors.size())));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), wrap(tensors[i]));
  return list;
}

// Calls a function with lists of tensors; it returns a list of tensors, or of None where there is
// no gradient.
std::vector<Tensor> call_with(const Kept& function,
                              std::initializer_list<const std::vector<Tensor>*> lists) {
  const HoldGil gil;
  try {
    const Ref arguments = Ref::own(PyTuple_New(static_cast<Py_ssize_t>(lists.size())));
    Py_ssize_t next = 0;
    for (const std::vector<Tensor>* list : lists)
      PyTuple_SET_ITEM(arguments.get(), next++, to_list(*list).release());
    const Ref results = Ref::own(PyObject_CallObject(function.get(), arguments));
    const Ref parts = Ref::own(PySequence_Tuple(results));
    std::vector<Tensor> tensors;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parts.get()); ++i) {
      PyObject* part = PyTuple_GET_ITEM(parts.get(), i);
      tensors.push_back(part == Py_None ? Tensor() : to_tensor(part));
    }
    return tensors;
  } catch (const PythonError&) {
    throw HostFailed();
  }
}

std::vector<HostResult> to_results(PyObject* specs) {
  std::vector<HostResult> results;
  for (Py_ssize_t i = 0; i < PyList_Size(specs); ++i) {
    PyObject *dtype = nullptr, *shape = nullptr;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(specs, i), "OO", &dtype, &shape)) throw PythonError();
    HostResult r{to_dtype(dtype), {}};
    if (PyLong_Check(shape)) {
      r.like = static_cast<int>(to_int(shape));
    } else {
      r.shape = to_shape(shape);
    }
    results.push_back(std::move(r));
  }
  return results;
}

PyObject* call_host(const Arguments& a) {
  HostFunction f;
  f.name = a.string(0);
  f.run = [run = keep(a[1])](const std::vector<Tensor>& in) { return call_with(run, {&in}); };
  if (!a.is_none(4)) {
    f.pull = [pull = keep(a[4])](const std::vector<Tensor>& in, const std::vector<Tensor>& cts) {
      return call_with(pull, {&in, &cts});
    };
  }
  f.is_foreign = a.boolean(5);
  f.may_repeat = a.boolean(6);
  std::vector<Tensor> in;
  for (Py_ssize_t i = 0; i < PyList_Size(a[2]); ++i)
    in.push_back(to_tensor(PyList_GET_ITEM(a[2], i)));
  return to_list(host_call(std::move(f), in, to_results(a[3]))).release();
}

const FunctionEntry entries[] = {
    {"_host_call", "name, function, inputs, results, gradient, is_foreign, may_repeat=True",
     "Calls a function at each run of the program that is being traced.", call_host},
};

}  // namespace

void add_host_functions() { add_functions(entries); }

}  // namespace gradus::python
