// Branches and loops that depend on traced tensors: all is traced once, the program chooses and
// repeats.
#include "gradus/control.h"

#include "function.h"
#include "function_results.h"
#include "gradus/loop_memory.h"
#include "gradus/ops.h"
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

Ref to_tuple(const std::vector<Tensor>& tensors) {
  Ref tuple = Ref::own(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     tensors[i].defined() ? wrap(tensors[i]) : Ref::copy(Py_None).release());
  return tuple;
}

detail::LoopTest loop_test(PyObject* f) {
  return [f](const std::vector<Tensor>& vars) {
    const Ref answer = Ref::own(PyObject_CallObject(f, to_tuple(vars)));
    return to_tensor(answer);
  };
}

detail::LoopBody loop_body(PyObject* f) {
  return [f](const std::vector<Tensor>& vars) {
    const Ref next = Ref::own(PyObject_CallObject(f, to_tuple(vars)));
    return to_tensors(next, "while_loop");
  };
}

// By loop variable a tuple of bools, one for each axis.
detail::VaryingAxes to_axes(PyObject* lists) {
  detail::VaryingAxes axes;
  for (Py_ssize_t i = 0; i < PyTuple_Size(lists); ++i) {
    PyObject* list = PyTuple_GET_ITEM(lists, i);
    axes.emplace_back();
    for (Py_ssize_t k = 0; k < PyTuple_Size(list); ++k)
      axes.back().push_back(PyTuple_GET_ITEM(list, k) == Py_True);
  }
  return axes;
}

PyObject* loop(const Arguments& a) {
  return to_tuple(detail::run_while(loop_test(a[0]), loop_body(a[1]),
                                    to_tensors(a[2], "while_loop"), a.integer(3), to_axes(a[4])))
      .release();
}

PyObject* known_results(const Arguments& a) {
  return to_tuple(detail::known_results(loop_test(a[0]), loop_body(a[1]),
                                        to_tensors(a[2], "while_loop"), a.integer(3)))
      .release();
}

PyObject* scan_rows(const Arguments& a) {
  const auto body = [&](const std::vector<Tensor>& in) {
    const Ref next = Ref::own(PyObject_CallObject(a[0], to_tuple(in)));
    return to_tensors(next, "scan");
  };
  const std::vector<Tensor> xs = to_tensors(a[2], "scan");
  return to_tuple(detail::run_scan(body, to_tensors(a[1], "scan"), xs, detail::rows_of(xs),
                                   a.boolean(3)))
      .release();
}

// A loop of the program begins with an array whose rows are like what its body will write.
PyObject* zero_rows(const Arguments& a) {
  const Tensor row = a.tensor(1);
  Shape shape = detail::shape_outside(row);
  shape.insert(0, a.integer(0));
  return wrap(zeros(shape, row.dtype()));
}

// Something like a row of an array, which may have none.
PyObject* row_like(const Arguments& a) {
  const Tensor rows = a.tensor(0);
  Shape shape = rows.shape();
  shape.erase(0);
  return wrap(zeros(shape, rows.dtype()));
}

// Branches whose results Python compares (gradus/autograph) before they become a part of the
// program.
void drop_branch(PyObject* capsule) {
  delete static_cast<detail::TracedBranch*>(PyCapsule_GetPointer(capsule, nullptr));
}

PyObject* trace_branch(const Arguments& a) {
  auto branch = std::make_unique<detail::TracedBranch>(
      a.tensor(0), [&] { Ref::own(PyObject_CallNoArgs(a[1])); });
  return Ref::own(PyCapsule_New(branch.release(), nullptr, drop_branch)).release();
}

PyObject* join_branches(const Arguments& a) {
  std::vector<detail::TracedBranch> branches;
  std::vector<std::vector<Tensor>> results;
  for (Py_ssize_t i = 0; i < PyTuple_Size(a[1]); ++i) {
    PyObject* capsule = PyTuple_GET_ITEM(a[1], i);
    branches.push_back(
        std::move(*static_cast<detail::TracedBranch*>(PyCapsule_GetPointer(capsule, nullptr))));
    results.push_back(to_tensors(PyTuple_GET_ITEM(a[2], i), "cond"));
  }
  const auto chosen = detail::choose("cond", a.tensor(0), std::move(branches), results);
  Ref list = Ref::own(PyList_New(static_cast<Py_ssize_t>(chosen.size())));
  for (std::size_t i = 0; i < chosen.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), wrap(chosen[i]));
  return list.release();
}

const FunctionEntry entries[] = {
    {"_trace_branch", "index, function", "A function traced as a branch, not yet used.",
     trace_branch},
    {"_join_branches", "index, branches, results", "The results of the branch that will be chosen.",
     join_branches},
    {"_choose", "index, branches", "The results of the branch that the program will choose.",
     choose},
    {"_loop", "test, body, loop_vars, maximum_iterations, varying_axes",
     "body(*loop_vars) repeated while test(*loop_vars) holds, as a part of the program.", loop},
    {"_known_results", "test, body, loop_vars, maximum_iterations",
     "Those results of a loop that follow from constants; None for the others.", known_results},
    {"_scan_rows", "body, loop_vars, xs, reverse",
     "The last *loop_vars, *rows = body(*loop_vars, *rows of xs), and all rows as stacks.",
     scan_rows},
    {"_exchange_loop_memory_limit", "bytes", "Sets the limit of this thread; gives the one before.",
     [](const Arguments& a) {
       return PyLong_FromLongLong(LoopMemoryLimit::exchange(a.integer(0)));
     }},
    {"_zero_rows", "size, row", "Zeros for so many rows like this one.", zero_rows},
    {"_row_like", "rows", "Zeros like one of these rows.", row_like},
    {"_set_row", "tensor, index, row", "The tensor with one row replaced.",
     [](const Arguments& a) { return wrap(set_row(a.tensor(0), a.tensor(1), a.tensor(2))); }},
};

}  // namespace

void add_control_functions() { add_functions(entries); }

}  // namespace gradus::python
