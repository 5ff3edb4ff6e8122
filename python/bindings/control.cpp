// Branches that depend on a traced tensor: all are traced, the program chooses.
#include "gradus/control.h"

#include "function.h"
#include "function_results.h"
#include "nest.h"

namespace gradus::python {

namespace {

PyObject* choose(const Arguments& a) {
  std::vector<Returned> returned(static_cast<std::size_t>(PyTuple_Size(a[1])));
  std::vector<detail::Branch> branches;
  for (std::size_t i = 0; i < returned.size(); ++i) {
    PyObject* f = PyTuple_GET_ITEM(a[1], static_cast<Py_ssize_t>(i));
    branches.push_back([f, i, &returned] {
      const Ref result = Ref::own(PyObject_CallNoArgs(f));
      returned[i] = Returned();
      std::vector<Tensor> tensors = take_apart(f, result, returned[i]);
      return tensors;
    });
  }
  const std::vector<Tensor> chosen = detail::choose("cond", a.tensor(0), branches);
  for (std::size_t i = 1; i < returned.size(); ++i) {
    check_same(returned[0].structure, returned[i].structure, true);
    if (returned[0].leaves != returned[i].leaves)
      raise(PyExc_TypeError, "true_fn and false_fn must return the same kinds of values");
  }
  return put_together(returned[0], chosen).release();
}

const FunctionEntry entries[] = {
    {"_choose", "index, branches", "The results of the branch that the program will choose.",
     choose},
};

}  // namespace

void add_control_functions() { add_functions(entries); }

}  // namespace gradus::python
