#include "function_results.h"

#include "convert.h"
#include "errors.h"
#include "nest.h"

namespace gradus::python {

std::shared_ptr<Returned> Returned::make() {
  return std::shared_ptr<Returned>(new Returned, [](Returned* r) {
    const HoldGil gil;
    delete r;
  });
}

namespace {

[[noreturn]] void fail_result(PyObject* function, PyObject* leaf) {
  PyErr_Clear();
  raise(PyExc_TypeError,
        "To be compatible with tf.function, Python functions must return zero or more Tensors or "
        "ExtensionTypes or None values; in compilation of %R, found return value of type %s, which "
        "is not a Tensor or ExtensionType.",
        function, Py_TYPE(leaf)->tp_name);
}

}  // namespace

std::vector<Tensor> take_apart(PyObject* function, PyObject* result, Returned& returned) {
  std::vector<Tensor> tensors;
  returned.is_one_tensor = is_tensor(result);
  std::vector<Ref> leaves = flatten(result, Composites::are_expanded);
  for (Ref& leaf : leaves) {
    using Leaf = Returned::Leaf;
    Leaf kind = Leaf::tensor;
    if (leaf == Py_None || PyUnicode_Check(leaf.get()) || PyBytes_Check(leaf.get()) ||
        is_kind(leaf)) {
      kind = Leaf::fixed;
    } else if (is_tensor(leaf)) {
      tensors.push_back(tensor_of(leaf));
    } else if (is_rows(leaf)) {
      kind = Leaf::rows;
      for (const char* part : {"values", "indices", "dense_shape"}) {
        const Ref value = Ref::own(PyObject_GetAttrString(leaf, part));
        if (value == Py_None) continue;
        if (part[0] == 'd') kind = Leaf::rows_with_shape;
        tensors.push_back(to_tensor(value));
      }
    } else {
      try {
        tensors.push_back(to_tensor(leaf));
      } catch (const PythonError&) {
        fail_result(function, leaf);
      }
    }
    returned.leaves.push_back(kind);
    returned.fixed.push_back(kind == Leaf::fixed ? leaf : Ref());
    if (kind != Leaf::fixed) leaf = Ref::copy(Py_None);
  }
  returned.structure = pack(result, leaves, Composites::are_expanded);
  return tensors;
}

Ref put_together(const Returned& returned, const std::vector<Tensor>& tensors) {
  if (returned.is_one_tensor) return Ref::own(wrap(tensors[0]));
  std::vector<Ref> leaves;
  std::size_t next = 0;
  for (std::size_t i = 0; i < returned.leaves.size(); ++i) {
    using Leaf = Returned::Leaf;
    switch (returned.leaves[i]) {
      case Leaf::tensor:
        leaves.push_back(Ref::own(wrap(tensors[next++])));
        break;
      case Leaf::fixed:
        leaves.push_back(returned.fixed[i]);
        break;
      default: {
        const bool has_shape = returned.leaves[i] == Leaf::rows_with_shape;
        const Ref values = Ref::own(wrap(tensors[next])), rows = Ref::own(wrap(tensors[next + 1]));
        const Ref shape = has_shape ? Ref::own(wrap(tensors[next + 2])) : Ref::copy(Py_None);
        next += has_shape ? 3 : 2;
        leaves.push_back(Ref::own(PyObject_CallFunctionObjArgs(
            class_of("IndexedSlices"), values.get(), rows.get(), shape.get(), nullptr)));
      }
    }
  }
  return pack(returned.structure, leaves, Composites::are_expanded);
}

}  // namespace gradus::python
