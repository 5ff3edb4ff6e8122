// Functions that transform Python functions: custom gradients, recomputation, products with
// Jacobians, Jacobians and Hessians, maps over examples. Here a function takes and gives flat lists
// of tensors; gradus/_transforms.py makes them from structures.
#include <memory>

#include "function.h"
#include "gradus/custom.h"
#include "gradus/functional.h"
#include "gradus/jacobian.h"
#include "gradus/tracing.h"
#include "gradus/vmap.h"
#include "tape.h"

namespace gradus::python {
namespace {

// A Python object that may be kept and released by threads which do not hold the GIL.
using Shared = std::shared_ptr<PyObject>;
Shared share(PyObject* object) {
  Py_INCREF(object);
  return {object, [](PyObject* o) {
            if (!Py_IsInitialized()) return;
            const HoldGil gil;
            Py_DECREF(o);
          }};
}

std::vector<Tensor> from_list(PyObject* list) {
  const Ref items = Ref::own(PySequence_List(list));
  std::vector<Tensor> tensors;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i)
    tensors.push_back(to_tensor(PyList_GET_ITEM(items.get(), i)));
  return tensors;
}

detail::Function from_python(PyObject* callable) {
  return [f = share(callable)](const std::vector<Tensor>& x) {
    const HoldGil gil;
    const Ref arguments = Ref::own(wrap(x));
    return from_list(Ref::own(PyObject_CallOneArg(f.get(), arguments)));
  };
}

// forward(list of tensors) gives (list of results, backward, whether it takes variables);
// backward(list of cotangents, list of variables) a list of gradients.
PyObject* custom(const Arguments& a) {
  const auto forward = [f = share(a[0])](const std::vector<Tensor>& x) {
    const HoldGil gil;
    const Ref arguments = Ref::own(wrap(x));
    const Ref result = Ref::own(PyObject_CallOneArg(f.get(), arguments));
    detail::CustomForward made;
    made.value = from_list(PyTuple_GET_ITEM(result.get(), 0));
    made.takes_variables = to_bool(PyTuple_GET_ITEM(result.get(), 2));
    made.backward = [back = share(PyTuple_GET_ITEM(result.get(), 1))](
                        const std::vector<Tensor>& cotangents,
                        const std::vector<Variable>& variables) {
      const HoldGil gil_of_backward;
      const Ref cts = Ref::own(wrap(cotangents));
      const Ref read = Ref::own(PyList_New(0));
      for (const Variable& v : variables) check(PyList_Append(read, Ref::own(wrap(v))));
      const Ref given =
          Ref::own(PyObject_CallFunctionObjArgs(back.get(), cts.get(), read.get(), nullptr));
      std::vector<Gradient> gradients;
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(given.get()); ++i)
        gradients.push_back(to_gradient(PyList_GET_ITEM(given.get(), i)));
      return gradients;
    };
    return made;
  };
  return wrap(detail::call_custom_gradient(forward, from_list(a[1])));
}

PyObject* linearized(const Arguments& a) {
  const detail::Linearization at(from_python(a[0]), from_list(a[1]));
  const Ref value = Ref::own(wrap(at.value()));
  auto* kept = new detail::Linearization(at);
  const Ref capsule = Ref::own(PyCapsule_New(kept, "gradus.linearization", [](PyObject* c) {
    delete static_cast<detail::Linearization*>(PyCapsule_GetPointer(c, "gradus.linearization"));
  }));
  return PyTuple_Pack(2, value.get(), capsule.get());
}

PyObject* products(const Arguments& a, bool pull) {
  auto* at =
      static_cast<detail::Linearization*>(PyCapsule_GetPointer(a[0], "gradus.linearization"));
  if (!at) throw PythonError();
  return wrap(pull ? at->pull(from_list(a[1])) : at->push(from_list(a[1])));
}

JacobianOptions jacobian_options(const Arguments& a) {
  const std::string mode = a.string(2);
  if (mode != "automatic" && mode != "forward" && mode != "reverse")
    raise(PyExc_ValueError, "mode must be 'automatic', 'forward' or 'reverse', got %R", a[2]);
  return {.mode = mode == "forward"   ? JacobianMode::forward
                  : mode == "reverse" ? JacobianMode::reverse
                                      : JacobianMode::automatic,
          .chunk = a.integer(3)};
}

PyObject* wrap_jacobian(const Jacobian& jacobian) {
  const Ref blocks = Ref::own(wrap(jacobian.blocks()));
  return Py_BuildValue("(OO)", blocks.get(), text(gradus::to_string(jacobian.report())).get());
}

constexpr const char* kMapping = "gradus.mapping";
detail::Mapping& mapping_of(PyObject* capsule) {
  auto* mapping = static_cast<detail::Mapping*>(PyCapsule_GetPointer(capsule, kMapping));
  if (!mapping) throw PythonError();
  return *mapping;
}

const FunctionEntry entries[] = {
    {"_call_custom_gradient", "forward, arguments", "See custom() in transforms.cpp.", custom},
    {"_call_recomputed", "f, arguments", "f, of which tapes keep only the arguments.",
     [](const Arguments& a) {
       return wrap(detail::call_recomputed(from_python(a[0]), from_list(a[1])));
     }},
    {"_gradient", "f, arguments", "The gradient of the first result, a scalar.",
     [](const Arguments& a) { return wrap(detail::gradient(from_python(a[0]), from_list(a[1]))); }},
    {"_jvp", "f, arguments, tangents", "Value and derivative along the tangents.",
     [](const Arguments& a) {
       const auto both = detail::jvp(from_python(a[0]), from_list(a[1]), from_list(a[2]));
       const Ref value = Ref::own(wrap(both.value)), tangent = Ref::own(wrap(both.tangent));
       return PyTuple_Pack(2, value.get(), tangent.get());
     }},
    {"_linearize", "f, arguments", "Value and a handle for _push and _pull.",
     [](const Arguments& a) { return linearized(a); }},
    {"_push", "handle, tangents", "J v.", [](const Arguments& a) { return products(a, false); }},
    {"_pull", "handle, cotangents", "J^T w.", [](const Arguments& a) { return products(a, true); }},
    {"_jacobian", "f, arguments, mode, chunk", "Blocks and a report.",
     [](const Arguments& a) {
       return wrap_jacobian(
           detail::jacobian(from_python(a[0]), from_list(a[1]), jacobian_options(a)));
     }},
    {"_hessian", "f, arguments, mode, chunk", "Blocks and a report.",
     [](const Arguments& a) {
       return wrap_jacobian(
           detail::hessian(from_python(a[0]), from_list(a[1]), jacobian_options(a)));
     }},
    {"_mapping", "arguments", "One call of a mapped function.",
     [](const Arguments& a) {
       auto* mapping = new detail::Mapping({}, static_cast<std::size_t>(a.integer(0)));
       return PyCapsule_New(mapping, kMapping, [](PyObject* c) {
         delete static_cast<detail::Mapping*>(PyCapsule_GetPointer(c, kMapping));
       });
     }},
    {"_traced_name", "tensor", "The name of a traced tensor, or None.",
     [](const Arguments& a) -> PyObject* {
       if (!is_tensor(a[0]) || !is_symbolic(tensor_of(a[0]))) Py_RETURN_NONE;
       return text(traced_name(tensor_of(a[0]))).release();
     }},
    {"_has_value", "x",
     "Whether this is known now: no traced tensor and no example of a vectorized_map.",
     [](const Arguments& a) {
       return PyBool_FromLong(!is_tensor(a[0]) || has_value(tensor_of(a[0])));
     }},
    {"_is_example", "tensor", "Whether this is one example of a vectorized_map.",
     [](const Arguments& a) { return PyBool_FromLong(is_example(a.tensor(0))); }},
    {"_is_true_for_any", "tensor", "Whether a bool is true for one example at least.",
     [](const Arguments& a) { return PyBool_FromLong(is_true_for_any(a.tensor(0))); }},
    {"_mapping_split", "mapping, argument, batch", "One example of a batch.",
     [](const Arguments& a) {
       return wrap(mapping_of(a[0]).example(static_cast<std::size_t>(a.integer(1)), a.tensor(2)));
     }},
    {"_mapping_join", "mapping, example", "The batch of an example.",
     [](const Arguments& a) { return wrap(mapping_of(a[0]).batch(a.tensor(1))); }},
};

}  // namespace

void add_transforms() { add_functions(entries); }

}  // namespace gradus::python
