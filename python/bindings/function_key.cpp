#include "function_key.h"

#include "convert.h"
#include "nest.h"

namespace gradus::python {

namespace {

// Guards against endless recursion in structures that contain themselves.
struct Deeper {
  Deeper() {
    if (Py_EnterRecursiveCall(" in the arguments of a function")) throw PythonError();
  }
  ~Deeper() { Py_LeaveRecursiveCall(); }
};

std::size_t hash_of_object(PyObject* o) {
  const Py_hash_t hash = PyObject_Hash(o);
  if (hash != -1) return static_cast<std::size_t>(hash);
  PyErr_Clear();
  return reinterpret_cast<std::size_t>(o);
}

bool same_object(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  const Py_hash_t hash = PyObject_Hash(a);
  const int same = hash == -1 ? -1 : PyObject_RichCompareBool(a, b, Py_EQ);
  if (same < 0) PyErr_Clear();
  return same == 1;
}

bool is_spec(PyObject* o) {
  const int yes = PyObject_IsInstance(o, imported("gradus._compositions", "TensorSpec"));
  check(yes);
  return yes;
}

}  // namespace

void Walked::add(Part part, PyObject* object, const void* identity, std::size_t more) {
  tokens.push_back({part, object, identity});
  hash = (hash ^ (more + static_cast<std::size_t>(part))) * 0x9e3779b97f4a7c15ull;
  hash ^= hash >> 29;
}

void Walked::walk(PyObject* o) {
  const auto add_tensor = [&](const Tensor& t) {
    add(Part::tensor, nullptr, nullptr, 0);
    if (kinds_only) expected.push_back({t.dtype(), t.shape()});
    tensors.push_back(t);
  };
  const auto add_number = [&](Number n) {
    add(Part::number, nullptr, reinterpret_cast<const void*>(std::size_t{n.is_real}), n.is_real);
    numbers.push_back(n);
  };
  if (is_tensor(o)) {
    add_tensor(tensor_of(o));
  } else if (PyFloat_CheckExact(o)) {
    add_number({.is_real = true, .real = PyFloat_AS_DOUBLE(o)});
  } else if (PyLong_CheckExact(o)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) return add(Part::fixed, o, nullptr, hash_of_object(o));
    add_number({.is_real = false, .integer = value});
  } else if (o == Py_None || PyBool_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o)) {
    add(Part::fixed, o, nullptr, hash_of_object(o));
  } else if (is_variable(o)) {
    const void* state = variable_of(o).state();
    add(Part::variable, o, state, reinterpret_cast<std::size_t>(state));
  } else if (PyList_Check(o) || PyTuple_Check(o)) {
    const Deeper deeper;
    const auto size = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(o));
    add(Part::structure, reinterpret_cast<PyObject*>(Py_TYPE(o)),
        reinterpret_cast<const void*>(size), reinterpret_cast<std::size_t>(Py_TYPE(o)) + 31 * size);
    for (std::size_t i = 0; i < size; ++i) {
      held.push_back(Ref::copy(PySequence_Fast_ITEMS(o)[i]));
      walk(held.back());
    }
  } else if (is_composite(o)) {
    const CompositeParts parts(o);
    add(Part::structure, reinterpret_cast<PyObject*>(Py_TYPE(o)), nullptr,
        reinterpret_cast<std::size_t>(Py_TYPE(o)));
    held.push_back(parts.rest);
    add(Part::key, held.back(), nullptr, hash_of_object(held.back()));
    held.push_back(parts.tensors);
    walk(held.back());
  } else if (is_kind(o)) {
    raise(class_of("MustRunEagerly"), "it takes a %s", Py_TYPE(o)->tp_name);
  } else if (is_structure(o)) {
    const Deeper deeper;
    const Ref keys = Ref::own(PyMapping_Keys(o));
    if (PyList_Sort(keys) < 0) {
      PyErr_Clear();
      raise(PyExc_TypeError, "nest only supports dicts with sortable keys.");
    }
    const auto size = static_cast<std::size_t>(PyList_GET_SIZE(keys.get()));
    add(Part::structure, reinterpret_cast<PyObject*>(Py_TYPE(o)),
        reinterpret_cast<const void*>(size), reinterpret_cast<std::size_t>(Py_TYPE(o)) + 31 * size);
    for (std::size_t i = 0; i < size; ++i) {
      held.push_back(Ref::copy(PyList_GET_ITEM(keys.get(), static_cast<Py_ssize_t>(i))));
      PyObject* key = held.back();
      add(Part::key, key, nullptr, hash_of_object(key));
      held.push_back(Ref::own(PyObject_GetItem(o, key)));
      walk(held.back());
    }
  } else if (PyObject_CheckBuffer(o) && !PyByteArray_Check(o)) {
    add_tensor(to_tensor(o));
  } else if (kinds_only && is_spec(o)) {
    const Ref dtype = Ref::own(PyObject_GetAttrString(o, "dtype"));
    const Ref shape = Ref::own(PyObject_GetAttrString(o, "shape"));
    PyObject* sizes = shape_sizes(shape);
    if (sizes == Py_None)
      raise(PyExc_NotImplementedError,
            "a TensorSpec of unknown rank is not covered: give its axes, None where a size is not "
            "known");
    detail::FunctionCore::Expected kind{to_dtype(dtype), {}};
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sizes); ++i) {
      PyObject* size = PyTuple_GET_ITEM(sizes, i);
      kind.shape.push_back(size == Py_None ? -1 : to_int(size));
    }
    add(Part::tensor, nullptr, nullptr, 0);
    expected.push_back(kind);
  } else {
    add(Part::fixed, o, nullptr, hash_of_object(o));
  }
}

Key::Key(const Walked& walked) : tokens_(walked.tokens), hash_(walked.hash) {
  for (const Token& t : tokens_) {
    if (t.part == Part::variable) {
      variables_.push_back(variable_of(t.object));  // its address stays taken
    } else if (t.object) {
      held_.push_back(Ref::copy(t.object));
    }
  }
}

bool Key::matches(const Walked& walked) const {
  if (walked.hash != hash_ || walked.tokens.size() != tokens_.size()) return false;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const Token &a = tokens_[i], &b = walked.tokens[i];
    if (a.part != b.part || a.identity != b.identity) return false;
    if (a.part == Part::structure && a.object != b.object) return false;
    if ((a.part == Part::fixed || a.part == Part::key) && !same_object(a.object, b.object))
      return false;
  }
  return true;
}

int Key::visit(visitproc visit, void* arg) const {
  for (const Ref& object : held_) Py_VISIT(object.get());
  return 0;
}

}  // namespace gradus::python
