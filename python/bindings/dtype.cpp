// The C side of gradus.DType: one object per dtype, comparison and the properties used most.
#include <array>

#include "convert.h"
#include "errors.h"

namespace gradus::python {

namespace {

struct DTypeObject {
  PyObject_HEAD DType value;
};

std::array<PyObject*, kDTypeCount> objects{};

DType value_of(PyObject* self) { return reinterpret_cast<DTypeObject*>(self)->value; }

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject*) {
  return guarded([&] {
    PyObject* what = nullptr;
    if (!PyArg_ParseTuple(arguments, "O", &what)) throw PythonError();
    const DType dtype = to_dtype(what);
    PyObject*& object = objects[static_cast<int>(dtype)];
    if (!object || Py_TYPE(object) != type) {
      Ref made = Ref::own(type->tp_alloc(type, 0));
      reinterpret_cast<DTypeObject*>(made.get())->value = dtype;
      object = made.release();
    }
    Py_INCREF(object);
    return object;
  });
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  bool same = self == other;
  if (!same && !is_dtype(other)) {
    try {
      same = other != Py_None && to_dtype(other) == value_of(self);
    } catch (const PythonError&) {
      PyErr_Clear();
    }
  }
  return PyBool_FromLong(same == (operation == Py_EQ));
}

Py_hash_t hash(PyObject* self) { return 1 + static_cast<int>(value_of(self)); }

PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("tf.%s", name_of(value_of(self))); }
PyObject* str(PyObject* self) {
  return PyUnicode_FromFormat("<dtype: '%s'>", name_of(value_of(self)));
}
PyObject* reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("O(s)", Py_TYPE(self), name_of(value_of(self)));
}

template <bool (*question)(DType)>
PyObject* ask(PyObject* self, void*) {
  return PyBool_FromLong(question(value_of(self)));
}

PyGetSetDef properties[] = {
    {"name", [](PyObject* s, void*) { return PyUnicode_FromString(name_of(value_of(s))); }, nullptr,
     "The name of this dtype, e.g. 'float32'.", nullptr},
    {"size", [](PyObject* s, void*) { return PyLong_FromSize_t(size_of(value_of(s))); }, nullptr,
     "Bytes of one element.", nullptr},
    {"is_bool", ask<[](DType t) { return is_bool(t); }>, nullptr, nullptr, nullptr},
    {"is_integer", ask<[](DType t) { return is_integer(t); }>, nullptr, nullptr, nullptr},
    {"is_unsigned", ask<[](DType t) { return is_unsigned(t); }>, nullptr, nullptr, nullptr},
    {"is_floating", ask<[](DType t) { return is_floating(t); }>, nullptr, nullptr, nullptr},
    {"is_complex", ask<[](DType t) { return is_complex(t); }>, nullptr, nullptr, nullptr},
    {"_code", [](PyObject* s, void*) { return PyLong_FromLong(static_cast<int>(value_of(s))); },
     nullptr, nullptr, nullptr},
    {}};

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};

}  // namespace

PyTypeObject dtype_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0)  //
                   .tp_name = "gradus._core.DType",
    .tp_basicsize = sizeof(DTypeObject),
    .tp_repr = repr,
    .tp_hash = hash,
    .tp_str = str,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_richcompare = compare,
    .tp_methods = methods,
    .tp_getset = properties,
    .tp_new = make,
};

bool is_dtype(PyObject* o) { return PyObject_TypeCheck(o, &dtype_type); }
DType dtype_of_object(PyObject* o) { return value_of(o); }

PyObject* wrap(DType dtype) {
  PyObject* object = objects[static_cast<int>(dtype)];
  if (object) {
    Py_INCREF(object);
    return object;
  }
  return Ref::own(PyObject_CallFunction(class_of("DType"), "s", name_of(dtype))).release();
}

namespace {

std::optional<DType> named(const char* name) {
  static constexpr std::pair<const char*, DType> others[] = {
      {"half", float16}, {"float", float32}, {"double", float64},
      {"bool_", bool_},  {"long", int64},    {"longlong", int64},
      {"ulong", uint64}, {"intc", int32},    {"ulonglong", uint64}};
  for (int t = 0; t < kDTypeCount; ++t)
    if (std::string(name) == name_of(static_cast<DType>(t))) return static_cast<DType>(t);
  for (const auto& [other, dtype] : others)
    if (std::string(name) == other) return dtype;
  return {};
}

// tf.string, "string", str or bytes.
bool is_string_type(PyObject* o) {
  if (PyUnicode_Check(o)) return PyUnicode_CompareWithASCIIString(o, "string") == 0;
  return is_kind(o) || o == reinterpret_cast<PyObject*>(&PyUnicode_Type) ||
         o == reinterpret_cast<PyObject*>(&PyBytes_Type);
}

}  // namespace

DType to_dtype(PyObject* object) {
  if (is_dtype(object)) return value_of(object);
  std::optional<DType> found;
  if (PyUnicode_Check(object)) {
    found = named(to_string(object).c_str());
  } else if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
    found = float32;
  } else if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) {
    found = bool_;
  } else if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) {
    found = complex128;
  } else if (PyType_Check(object)) {  // numpy.float32
    found =
        named(reinterpret_cast<PyTypeObject*>(object)->tp_name +
              (std::string(reinterpret_cast<PyTypeObject*>(object)->tp_name).rfind("numpy.", 0) == 0
                   ? 6
                   : 0));
    if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) found = int32;
  } else if (object != Py_None && PyObject_HasAttrString(object, "name")) {  // numpy.dtype
    const Ref name = Ref::own(PyObject_GetAttrString(object, "name"));
    if (PyUnicode_Check(name)) found = named(to_string(name).c_str());
  } else if (PyLong_CheckExact(object)) {
    found = std::nullopt;
  }
  if (!found) {
    PyObject* kind = is_string_type(object) ? string_kind() : nullptr;
    PyErr_Format(PyExc_TypeError,
                 "Cannot convert the argument `type_value`: %R to a TensorFlow DType.", object);
    if (kind) throw OtherKind(kind);
    throw PythonError();
  }
  return *found;
}

std::optional<DType> to_dtype_or_none(PyObject* object) {
  if (object == Py_None) return {};
  return to_dtype(object);
}

}  // namespace gradus::python
