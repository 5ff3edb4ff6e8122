#include "nest.h"

#include "function.h"

namespace gradus::python {

namespace {

bool is_mapping(PyObject* o) {
  if (PyDict_Check(o)) return true;
  if (is_tensor(o) || !PyMapping_Check(o) || PySequence_Check(o)) return false;
  const int yes = PyObject_IsInstance(o, imported("collections.abc", "Mapping"));
  check(yes);
  return yes;
}

bool is_namedtuple(PyObject* o) {
  return PyTuple_Check(o) && !PyTuple_CheckExact(o) && PyObject_HasAttrString(o, "_fields");
}

Ref sorted_keys(PyObject* mapping) {
  Ref keys = Ref::own(PyMapping_Keys(mapping));
  if (PyList_Sort(keys) < 0) {
    PyErr_Clear();
    raise(PyExc_TypeError, "nest only supports dicts with sortable keys.");
  }
  return keys;
}

// Guards against endless recursion in structures that contain themselves.
class Deeper {
 public:
  Deeper() {
    if (Py_EnterRecursiveCall(" in a nested structure")) throw PythonError();
  }
  ~Deeper() { Py_LeaveRecursiveCall(); }
};

void flatten_into(PyObject* o, Composites composites, std::vector<Ref>& leaves) {
  if (PyList_Check(o) || PyTuple_Check(o)) {
    const Deeper deeper;
    const Ref held = Ref::copy(o);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
      flatten_into(Ref::copy(PySequence_Fast_ITEMS(o)[i]), composites, leaves);
  } else if (is_mapping(o)) {
    const Deeper deeper;
    const Ref keys = sorted_keys(o);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys.get()); ++i)
      flatten_into(Ref::own(PyObject_GetItem(o, PyList_GET_ITEM(keys.get(), i))), composites,
                   leaves);
  } else if (composites == Composites::are_expanded && is_composite(o)) {
    flatten_into(CompositeParts(o).tensors, composites, leaves);
  } else {
    leaves.push_back(Ref::copy(o));
  }
}

Ref rebuilt(PyObject* like, Ref items) {
  if (PyList_Check(like)) return Ref::own(PySequence_List(items));
  if (is_namedtuple(like)) {
    return Ref::own(PyObject_CallObject(reinterpret_cast<PyObject*>(Py_TYPE(like)), items));
  }
  return items;
}

Ref pack_from(PyObject* o, Composites composites, const std::vector<Ref>& leaves,
              std::size_t& next) {
  if (PyList_Check(o) || PyTuple_Check(o)) {
    const Deeper deeper;
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(o);
    Ref items = Ref::own(PyTuple_New(size));
    for (Py_ssize_t i = 0; i < size; ++i)
      PyTuple_SET_ITEM(items.get(), i,
                       pack_from(PySequence_Fast_ITEMS(o)[i], composites, leaves, next).release());
    return rebuilt(o, std::move(items));
  }
  if (is_mapping(o)) {
    const Deeper deeper;
    const Ref keys = sorted_keys(o);
    const Ref values = Ref::own(PyDict_New());
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys.get()); ++i) {
      PyObject* key = PyList_GET_ITEM(keys.get(), i);
      const Ref part = Ref::own(PyObject_GetItem(o, key));
      check(PyDict_SetItem(values, key, pack_from(part, composites, leaves, next)));
    }
    // The result has the order and the type of the original.
    Ref result =
        Ref::own(PyDict_CheckExact(o)                ? PyDict_New()
                 : PyObject_HasAttrString(o, "copy") ? PyObject_CallMethod(o, "copy", nullptr)
                                                     : PyDict_New());
    const Ref original = Ref::own(PyMapping_Keys(o));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(original.get()); ++i) {
      PyObject* key = PyList_GET_ITEM(original.get(), i);
      check(PyObject_SetItem(result, key, PyDict_GetItem(values, key)));
    }
    return result;
  }
  if (composites == Composites::are_expanded && is_composite(o)) {
    const CompositeParts parts(o);
    const Ref tensors = pack_from(parts.tensors, composites, leaves, next);
    return Ref::own(PyObject_CallMethod(reinterpret_cast<PyObject*>(Py_TYPE(o)), "_from_parts",
                                        "OO", tensors.get(), parts.rest.get()));
  }
  if (next >= leaves.size())
    raise(PyExc_ValueError, "The structure has more leaves than the %zu given.", leaves.size());
  return leaves[next++];
}

}  // namespace

bool is_structure(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o) || is_mapping(o); }

CompositeParts::CompositeParts(PyObject* composite) {
  const Ref both = Ref::own(PyObject_CallMethod(composite, "_parts", nullptr));
  PyObject *first = nullptr, *second = nullptr;
  if (!PyArg_ParseTuple(both, "O!O", &PyTuple_Type, &first, &second)) throw PythonError();
  tensors = Ref::copy(first);
  rest = Ref::copy(second);
}

std::vector<Ref> flatten(PyObject* structure, Composites composites) {
  std::vector<Ref> leaves;
  flatten_into(structure, composites, leaves);
  return leaves;
}

Ref pack(PyObject* structure, const std::vector<Ref>& leaves, Composites composites) {
  std::size_t next = 0;
  Ref result = pack_from(structure, composites, leaves, next);
  if (next != leaves.size())
    raise(PyExc_ValueError, "The structure has %zu leaves; %zu were given.", next, leaves.size());
  return result;
}

void check_same(PyObject* a, PyObject* b, bool check_types, Composites composites) {
  if (composites == Composites::are_expanded && is_composite(a) && is_composite(b)) {
    if (check_types && Py_TYPE(a) != Py_TYPE(b))
      raise(PyExc_TypeError, "The two structures don't have the same type: %R and %R",
            reinterpret_cast<PyObject*>(Py_TYPE(a)), reinterpret_cast<PyObject*>(Py_TYPE(b)));
    return check_same(CompositeParts(a).tensors, CompositeParts(b).tensors, check_types,
                      composites);
  }
  const bool deep = is_structure(a);
  if (deep != is_structure(b))
    raise(PyExc_ValueError,
          "The two structures don't have the same nested structure.\n\nFirst structure: %R\n\n"
          "Second structure: %R",
          a, b);
  if (!deep) return;
  const Deeper deeper;
  const bool mapping = is_mapping(a);
  if (check_types && Py_TYPE(a) != Py_TYPE(b) && !(mapping && is_mapping(b)))
    raise(PyExc_TypeError,
          "The two structures don't have the same sequence type. First structure has type %R, "
          "while second structure has type %R.",
          reinterpret_cast<PyObject*>(Py_TYPE(a)), reinterpret_cast<PyObject*>(Py_TYPE(b)));
  if (mapping != is_mapping(b) || PyObject_Size(a) != PyObject_Size(b))
    raise(PyExc_ValueError,
          "The two structures don't have the same number of elements or the same keys.\n\nFirst "
          "structure: %R\n\nSecond structure: %R",
          a, b);
  if (mapping) {
    const Ref keys = sorted_keys(a), others = sorted_keys(b);
    const int same = PyObject_RichCompareBool(keys, others, Py_EQ);
    check(same);
    if (!same)
      raise(PyExc_ValueError, "The two dictionaries don't have the same set of keys: %R, %R",
            keys.get(), others.get());
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys.get()); ++i) {
      PyObject* key = PyList_GET_ITEM(keys.get(), i);
      check_same(Ref::own(PyObject_GetItem(a, key)), Ref::own(PyObject_GetItem(b, key)),
                 check_types, composites);
    }
    return;
  }
  for (Py_ssize_t i = 0; i < PyObject_Size(a); ++i)
    check_same(PySequence_Fast_ITEMS(a)[i], PySequence_Fast_ITEMS(b)[i], check_types, composites);
}

namespace {

Ref as_list(const std::vector<Ref>& leaves) {
  Ref list = Ref::own(PyList_New(static_cast<Py_ssize_t>(leaves.size())));
  for (std::size_t i = 0; i < leaves.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), Ref(leaves[i]).release());
  return list;
}

std::vector<Ref> from_list(PyObject* list) {
  const Ref tuple = Ref::own(PySequence_Tuple(list));
  std::vector<Ref> leaves;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i)
    leaves.push_back(Ref::copy(PyTuple_GET_ITEM(tuple.get(), i)));
  return leaves;
}

Composites expanded(const Arguments& a, int i) {
  return a.boolean(i) ? Composites::are_expanded : Composites::are_leaves;
}

const FunctionEntry entries[] = {
    {"nest.is_nested", "seq", "Whether it is a list, a tuple or a mapping.",
     [](const Arguments& a) { return PyBool_FromLong(is_structure(a[0])); }},
    {"nest.flatten", "structure, expand_composites=False",
     "The leaves of a structure as a list; mappings by sorted keys.",
     [](const Arguments& a) { return as_list(flatten(a[0], expanded(a, 1))).release(); }},
    {"nest.pack_sequence_as", "structure, flat_sequence, expand_composites=False",
     "The structure with its leaves replaced, in the order of flatten.",
     [](const Arguments& a) { return pack(a[0], from_list(a[1]), expanded(a, 2)).release(); }},
    {"nest.assert_same_structure", "nest1, nest2, check_types=True, expand_composites=False",
     "Raises an error if two structures differ in more than their leaves.",
     [](const Arguments& a) -> PyObject* {
       check_same(a[0], a[1], a.boolean(2), expanded(a, 3));
       Py_RETURN_NONE;
     }},
    {"_nest_map", "func, structures, check_types, expand_composites",
     "map_structure without its keywords.",
     [](const Arguments& a) {
       PyObject *function = a[0], *first = PyTuple_GET_ITEM(a[1], 0);
       const bool check_types = a.boolean(2);
       const Composites composites = expanded(a, 3);
       std::vector<std::vector<Ref>> all;
       for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a[1]); ++i) {
         PyObject* other = PyTuple_GET_ITEM(a[1], i);
         if (i > 0) check_same(first, other, check_types, composites);
         all.push_back(flatten(other, composites));
       }
       std::vector<Ref> results;
       for (std::size_t k = 0; k < all[0].size(); ++k) {
         std::vector<PyObject*> values;
         for (const auto& leaves : all) values.push_back(leaves[k]);
         results.push_back(
             Ref::own(PyObject_Vectorcall(function, values.data(), values.size(), nullptr)));
       }
       return pack(first, results, composites).release();
     }},
};

}  // namespace

void add_nest_functions() { add_functions(entries); }

}  // namespace gradus::python
