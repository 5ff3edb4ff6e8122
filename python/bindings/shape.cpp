// The C side of gradus.TensorShape: a tuple of sizes, of which some may be None, or no tuple at all
// if not even the rank is known.
#include "convert.h"
#include "errors.h"

namespace gradus::python {

namespace {

struct ShapeObject {
  PyObject_HEAD PyObject* sizes;
};

PyObject* sizes_of(PyObject* self) { return reinterpret_cast<ShapeObject*>(self)->sizes; }

PyObject* known_sizes(PyObject* self) {
  if (sizes_of(self) == Py_None) raise(PyExc_ValueError, "The TensorShape has an unknown rank.");
  return sizes_of(self);
}

PyObject* make_from(PyTypeObject* type, Ref sizes) {
  Ref made = Ref::own(type->tp_alloc(type, 0));
  reinterpret_cast<ShapeObject*>(made.get())->sizes = sizes.release();
  return made.release();
}

// One size: None, -1 or an integer that is not negative.
Ref checked_size(PyObject* size) {
  if (size == Py_None || is_size(size)) return Ref::copy(size);
  const Ref number = Ref::own(PyNumber_Index(size));
  const long long n = PyLong_AsLongLong(number);
  if (n == -1 && PyErr_Occurred()) throw PythonError();
  if (n == -1) return Ref::copy(Py_None);
  if (n < 0) raise(PyExc_ValueError, "Dimension %lld must be >= 0", n);
  return number;
}

Ref checked_sizes(PyObject* sizes) {
  if (sizes == Py_None) return Ref::copy(Py_None);
  if (is_shape(sizes)) return Ref::copy(sizes_of(sizes));
  if (is_tensor(sizes)) {
    const std::vector<std::int64_t> values = to_ints(sizes);
    Ref tuple = Ref::own(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
    for (std::size_t i = 0; i < values.size(); ++i)
      PyTuple_SET_ITEM(tuple.get(), i, Ref::own(PyLong_FromLongLong(values[i])).release());
    return checked_sizes(tuple);
  }
  if (PyLong_Check(sizes)) {
    const Ref one = checked_size(sizes);
    return Ref::own(PyTuple_Pack(1, one.get()));
  }
  const Ref list = Ref::own(PySequence_Tuple(sizes));
  Ref tuple = Ref::own(PyTuple_New(PyTuple_GET_SIZE(list.get())));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list.get()); ++i)
    PyTuple_SET_ITEM(tuple.get(), i, checked_size(PyTuple_GET_ITEM(list.get(), i)).release());
  return tuple;
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    static const char* names[] = {"dims", nullptr};
    PyObject* sizes = nullptr;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O", const_cast<char**>(names), &sizes))
      throw PythonError();
    return make_from(type, checked_sizes(sizes));
  });
}

void destroy(PyObject* self) {
  Py_XDECREF(sizes_of(self));
  Py_TYPE(self)->tp_free(self);
}

Py_ssize_t length(PyObject* self) {
  return guarded_status([&] { return static_cast<int>(PyTuple_GET_SIZE(known_sizes(self))); });
}

PyObject* item(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    if (sizes_of(self) == Py_None) Py_RETURN_NONE;
    Ref part = Ref::own(PyObject_GetItem(sizes_of(self), key));
    return PySlice_Check(key) ? make_from(Py_TYPE(self), std::move(part)) : part.release();
  });
}

PyObject* iterate(PyObject* self) {
  return guarded([&] { return PyObject_GetIter(known_sizes(self)); });
}

PyObject* repr(PyObject* self) {
  if (sizes_of(self) == Py_None) return PyUnicode_FromString("TensorShape(None)");
  PyObject* list = PySequence_List(sizes_of(self));
  if (!list) return nullptr;
  PyObject* result = PyUnicode_FromFormat("TensorShape(%R)", list);
  Py_DECREF(list);
  return result;
}

PyObject* str(PyObject* self) {
  return sizes_of(self) == Py_None ? PyUnicode_FromString("<unknown>")
                                   : PyObject_Repr(sizes_of(self));
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject* {
    Ref sizes;
    try {
      sizes = checked_sizes(other);
    } catch (const PythonError&) {
      PyErr_Clear();
      Py_RETURN_NOTIMPLEMENTED;
    }
    return PyObject_RichCompare(sizes_of(self), sizes, operation);
  });
}

Py_hash_t hash(PyObject* self) { return PyObject_Hash(sizes_of(self)); }

PyObject* add(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    const Ref left = checked_sizes(a), right = checked_sizes(b);
    PyTypeObject* type = Py_TYPE(is_shape(a) ? a : b);
    if (left == Py_None || right == Py_None) return make_from(type, Ref::copy(Py_None));
    return make_from(type, Ref::own(PySequence_Concat(left, right)));
  });
}

PyObject* reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("O(O)", Py_TYPE(self), sizes_of(self));
}

PyObject* as_list(PyObject* self, PyObject*) {
  return guarded([&] { return PySequence_List(known_sizes(self)); });
}

PyObject* rank(PyObject* self, void*) {
  if (sizes_of(self) == Py_None) Py_RETURN_NONE;
  return PyLong_FromSsize_t(PyTuple_GET_SIZE(sizes_of(self)));
}

int truth(PyObject* self) { return sizes_of(self) != Py_None; }

// What makes it a sequence to C code: NumPy takes it as the shape of an array.
PyObject* size_at(PyObject* self, Py_ssize_t i) {
  return guarded([&] { return PySequence_GetItem(known_sizes(self), i); });
}

PyNumberMethods numbers = {.nb_add = add, .nb_bool = truth};
PySequenceMethods sequence = {.sq_length = length, .sq_item = size_at};
PyMappingMethods mapping = {.mp_length = length, .mp_subscript = item};
PyMethodDef methods[] = {
    {"as_list", as_list, METH_NOARGS, "The sizes as a list; None where one is not known."},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {}};
PyGetSetDef properties[] = {{"rank", rank, nullptr, "The number of axes, or None.", nullptr},
                            {"ndims", rank, nullptr, "The number of axes, or None.", nullptr},
                            {"_dims",
                             [](PyObject* self, void*) {
                               Py_INCREF(sizes_of(self));
                               return sizes_of(self);
                             },
                             nullptr, nullptr, nullptr},
                            {}};

}  // namespace

PyTypeObject shape_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0)  //
                   .tp_name = "gradus._core.TensorShape",
    .tp_basicsize = sizeof(ShapeObject),
    .tp_dealloc = destroy,
    .tp_repr = repr,
    .tp_as_number = &numbers,
    .tp_as_sequence = &sequence,
    .tp_as_mapping = &mapping,
    .tp_hash = hash,
    .tp_str = str,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_richcompare = compare,
    .tp_iter = iterate,
    .tp_methods = methods,
    .tp_getset = properties,
    .tp_new = make,
};

bool is_shape(PyObject* o) { return PyObject_TypeCheck(o, &shape_type); }
PyObject* shape_sizes(PyObject* o) { return sizes_of(o); }

PyObject* wrap_shape(const Shape& shape) {
  Ref sizes = Ref::own(PyTuple_New(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) {
    const bool none = shape[i].is_known() && shape[i] < 0;
    PyTuple_SET_ITEM(sizes.get(), i,
                     (none ? Ref::copy(Py_None) : Ref::own(wrap_size(shape[i]))).release());
  }
  return make_from(reinterpret_cast<PyTypeObject*>(class_of("TensorShape")), std::move(sizes));
}

}  // namespace gradus::python
