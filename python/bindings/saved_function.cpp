// Traced functions as data, for gradus/saved_model.
#include "gradus/saved_function.h"

#include <algorithm>

#include "capsule.h"
#include "function.h"
#include "gradus/function.h"

namespace gradus::python {
namespace {

Ref wrapped(const std::vector<Tensor>& all) {
  Ref list = Ref::own(PyList_New(0));
  for (const Tensor& t : all) check(PyList_Append(list, Ref::own(wrap(t))));
  return list;
}

// What Python raised while it was traced; the engine may try another way, and then drops it.
class BodyFailed : public PythonFailure {};

detail::FunctionCore::Body body_of(PyObject* function) {
  return [function](const std::vector<Tensor>& in) {
    try {
      const Ref arguments = Ref::own(PyList_AsTuple(wrapped(in)));
      const Ref results = Ref::own(PyObject_CallObject(function, arguments));
      return detail::FunctionCore::Made{tensors(results)};
    } catch (const PythonError&) {
      throw BodyFailed();
    }
  };
}

// (text, constants, for each variable its place in `known`)
PyObject* trace(const Arguments& a) {
  std::vector<detail::FunctionCore::Expected> expected;
  for (const Ref& spec : items(a[1])) {
    const std::vector<Ref> parts = items(spec);
    const std::vector<std::int64_t> sizes = to_ints(parts[1]);
    expected.push_back({to_dtype(parts[0]), Shape(std::span(sizes))});
  }
  detail::FunctionCore core({.name = a.string(3)});
  core.prepare(expected, body_of(a[0]), a.boolean(4));
  const SavedFunction saved = core.saved();

  std::vector<Variable> known;
  for (const Ref& item : items(a[2])) known.push_back(variable_of(item));
  Ref places = Ref::own(PyList_New(0));
  for (const Variable& v : saved.sources) {
    const auto found = std::ranges::find(known, v);
    if (found == known.end())
      raise(PyExc_AssertionError,
            "Tried to export a function which references an 'untracked' resource: the variable "
            "'%s' of %S is no attribute of the object that is saved, nor of one that it holds.",
            v.name().c_str(), a[3]);
    check(PyList_Append(places, Ref::own(PyLong_FromSsize_t(found - known.begin()))));
  }
  return Py_BuildValue("(NNN)", text(saved.text).release(), wrapped(saved.constants).release(),
                       places.release());
}

const FunctionEntry entries[] = {
    {"_trace_to_save", "function, specs, known, name, batches_differ=False",
     "The program of function(*tensors), which returns tensors.", trace},
    {"_load_program", "text, constants, variables", "What _trace_to_save gave, to be called.",
     [](const Arguments& a) {
       std::vector<Variable> variables;
       for (const Ref& item : items(a[2])) variables.push_back(variable_of(item));
       return capsule(std::make_unique<LoadedFunction>(
           SavedFunction{.text = a.string(0), .constants = tensors(a[1])}, variables));
     }},
    {"_program_takes", "program, tensors",
     "Whether a loaded program is one for tensors, or shapes.",
     [](const Arguments& a) {
       std::vector<Shape> shapes;
       for (const Ref& item : items(a[1]))
         shapes.push_back(is_tensor(item) ? tensor_of(item).shape() : to_shape(item));
       return PyBool_FromLong(held<LoadedFunction>(a[0]).takes(shapes));
     }},
    {"_call_program", "program, tensors", "The results of a loaded program.",
     [](const Arguments& a) {
       const LoadedFunction& program = held<LoadedFunction>(a[0]);
       std::vector<Tensor> in = tensors(a[1]);
       return wrapped(long_work([&] { return program(std::move(in)); })).release();
     }},
};

}  // namespace

void add_saved_function_functions() { add_functions(entries); }

}  // namespace gradus::python
