// The type gradus.Tensor: life, attributes and methods. Its operators are in operators.cpp and
// subscript.cpp.
#include <cstddef>
#include <cstring>
#include <new>

#include "convert.h"
#include "errors.h"
#include "function.h"
#include "gradus/dlpack.h"
#include "gradus/graph_program.h"
#include "gradus/ops.h"
#include "traced.h"

namespace gradus::python {

int fill_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

namespace {

// Dead tensor objects, kept for reuse: making one costs less than a trip to Python's allocator.
#ifdef Py_GIL_DISABLED
constexpr int kSpare = 0;
#else
constexpr int kSpare = 256;
#endif
TensorObject* spare[kSpare + 1];
int spare_count = 0;

void destroy(PyObject* self) {
  auto* object = reinterpret_cast<TensorObject*>(self);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  Py_XDECREF(object->origin);
  object->value.~Tensor();
  if (spare_count < kSpare) {
    spare[spare_count++] = object;
  } else {
    PyObject_Free(object);
  }
}

}  // namespace

PyObject* wrap(Tensor t) {
  TensorObject* object;
  if (spare_count > 0) {
    object = spare[--spare_count];
    PyObject_Init(reinterpret_cast<PyObject*>(object), &tensor_type);
  } else {
    object = PyObject_New(TensorObject, &tensor_type);
    if (!object) throw PythonError();
  }
  new (&object->value) Tensor(std::move(t));
  object->weak_references = nullptr;
  object->origin = nullptr;
  return reinterpret_cast<PyObject*>(object);
}

PyObject* wrap(const std::vector<Tensor>& list) {
  Ref result = Ref::own(PyList_New(static_cast<Py_ssize_t>(list.size())));
  for (std::size_t i = 0; i < list.size(); ++i)
    PyList_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), wrap(list[i]));
  return result.release();
}

namespace {

// NumPy's view of the elements: not writable, without a copy.
Ref view_as_array(PyObject* self) {
  const Ref memory = Ref::own(PyMemoryView_FromObject(self));
  Ref array = Ref::own(PyObject_CallOneArg(imported("numpy", "asarray"), memory));
  if (tensor_of(self).dtype() == bfloat16) {
    return Ref::own(PyObject_CallMethod(array, "view", "O", imported("gradus._numpy", "bfloat16")));
  }
  return array;
}

const char* const kArray = "__array__";
const char* const kArraySignature = "dtype=None, copy=None";
PyObject* array_method(PyObject* self, const Arguments& a) {
  refuse_array(tensor_of(self));
  PyObject *dtype = a[0], *copy = a[1];
  Ref array = view_as_array(self);
  if (dtype != Py_None)
    array = Ref::own(PyObject_CallMethod(array, "astype", "OsOOO", dtype, "K",
                                         imported("gradus._numpy", "unsafe"), Py_True,
                                         copy == Py_True ? Py_True : Py_False));
  else if (copy == Py_True)
    array = Ref::own(PyObject_CallMethod(array, "copy", nullptr));
  return array.release();
}

// numpy.dtype of elements that NumPy has itself.
PyObject* numpy_dtype(DType dtype) {
  static PyObject* known[kDTypeCount] = {};
  PyObject*& object = known[static_cast<int>(dtype)];
  if (!object)
    object =
        Ref::own(PyObject_CallFunction(imported("numpy", "dtype"), "s", name_of(dtype))).release();
  return object;
}

// A new array with the elements. Reading a buffer costs NumPy a microsecond; being filled does not.
Ref copy_as_array(const Tensor& t) {
  static PyObject* const empty = imported("numpy", "empty");
  const Ref shape = Ref::own(PyTuple_New(t.rank()));
  for (int i = 0; i < t.rank(); ++i)
    PyTuple_SET_ITEM(shape.get(), i, Ref::own(PyLong_FromLongLong(t.shape()[i])).release());
  PyObject* arguments[] = {shape.get(), numpy_dtype(t.dtype())};
  Ref array = Ref::own(PyObject_Vectorcall(empty, arguments, 2, nullptr));
  Py_buffer elements;
  check(PyObject_GetBuffer(array, &elements, PyBUF_WRITABLE));
  if (t.num_bytes() > 0) std::memcpy(elements.buf, t.raw_data(), t.num_bytes());
  PyBuffer_Release(&elements);
  return array;
}

PyObject* numpy_method(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    refuse_numpy_method(t);
    Ref array = t.dtype() == bfloat16
                    ? Ref::own(PyObject_CallMethod(view_as_array(self), "copy", nullptr))
                    : copy_as_array(t);
    if (t.rank() > 0) return array.release();
    static PyObject* const nothing = Ref::own(PyTuple_New(0)).release();
    return PyObject_GetItem(array, nothing);
  });
}

PyObject* describe(PyObject* self, const char* how) {
  return guarded([&] { return PyObject_CallOneArg(imported("gradus._text", how), self); });
}
PyObject* repr(PyObject* self) { return describe(self, "tensor_repr"); }
PyObject* str(PyObject* self) { return describe(self, "tensor_str"); }

Py_hash_t hash(PyObject* self) {
  if (const auto place = graph_place(tensor_of(self)))  // a node of a graph stays what it is
    return static_cast<Py_hash_t>((place->program * 1000003 + place->value) & 0x7fffffffffffffff);
  PyErr_SetString(PyExc_TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.");
  return -1;
}

PyObject* format_method(PyObject* self, PyObject* spec) {
  return guarded([&]() -> PyObject* {
    return PyObject_CallFunctionObjArgs(imported("gradus._text", "tensor_format"), self, spec,
                                        nullptr);
  });
}

// What tensors of a graph program have besides, in Python.
PyObject* in_graph(PyObject* self, const char* what) {
  return guarded(
      [&] { return PyObject_CallOneArg(imported("gradus.compat.v1._graph", what), self); });
}

PyObject* get_shape(PyObject* self, void*) {
  if (graph_place(tensor_of(self))) return in_graph(self, "tensor_shape");
  return guarded([&] { return wrap_shape(tensor_of(self).shape()); });
}
PyObject* get_dtype(PyObject* self, void*) {
  return guarded([&] { return wrap(tensor_of(self).dtype()); });
}
PyObject* get_rank(PyObject* self, void*) { return PyLong_FromLong(tensor_of(self).rank()); }
PyObject* get_device(PyObject*, void*) {
  return PyUnicode_FromString("/job:localhost/replica:0/task:0/device:CPU:0");
}
PyObject* get_priority(PyObject*, void*) { return PyLong_FromLong(100); }

PyObject* undefined_when_eager(PyObject* self, void* name) {
  if (graph_place(tensor_of(self)))
    return in_graph(self, (std::string("tensor_") + static_cast<const char*>(name)).c_str());
  return PyErr_Format(PyExc_AttributeError,
                      "Tensor.%s is undefined when eager execution is enabled.",
                      static_cast<const char*>(name));
}

PyObject* shape_method(PyObject* self, PyObject*) { return get_shape(self, nullptr); }

const char* const kSetShape = "set_shape";
const char* const kSetShapeSignature = "shape";
PyObject* set_shape(PyObject* self, const Arguments& a) {
  return PyObject_CallFunctionObjArgs(imported("gradus._text", "check_shape"), self, a[0], nullptr);
}

PyObject* reference(PyObject* self, PyObject*) {
  return guarded(
      [&] { return PyObject_CallOneArg(imported("gradus._reference", "Reference"), self); });
}

PyObject* same(PyObject* self, PyObject*) {
  Py_INCREF(self);
  return self;
}

PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    const Ref bytes = Ref::own(PyBytes_FromStringAndSize(static_cast<const char*>(t.raw_data()),
                                                         static_cast<Py_ssize_t>(t.num_bytes())));
    const Ref shape = Ref::own(wrap_shape(t.shape()));
    return Py_BuildValue("O(OsO)", imported("gradus._reference", "restored_tensor"), bytes.get(),
                         name_of(t.dtype()), shape_sizes(shape));
  });
}

void free_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor"))
    release_dlpack(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
}
void free_versioned_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
    release_dlpack(static_cast<DLManagedTensorVersioned*>(
        PyCapsule_GetPointer(capsule, "dltensor_versioned")));
}

const char* const kDlpack = "__dlpack__";
const char* const kDlpackSignature = "stream=None, max_version=None, dl_device=None, copy=None";
PyObject* dlpack(PyObject* self, const Arguments& a) {
  if (!a.is_none(0))
    raise(PyExc_BufferError, "[dlpack] got stream %R; expected None on a CPU", a[0]);
  if (!a.is_none(2) && to_ints(a[2]) != std::vector<std::int64_t>{1, 0})
    raise(PyExc_BufferError, "[dlpack] got dl_device %R; expected (1, 0), the CPU", a[2]);
  Tensor t = tensor_of(self);
  if (!a.is_none(3) && a.boolean(3)) {
    const Tensor original = t;
    t = Tensor::filled_by(original.dtype(), original.shape(), [&](void* to) {
      std::memcpy(to, original.raw_data(), static_cast<std::size_t>(original.num_bytes()));
    });
  }
  const bool versioned =
      PyTuple_Check(a[1]) && PyTuple_GET_SIZE(a[1]) > 0 && to_int(PyTuple_GET_ITEM(a[1], 0)) >= 1;
  return versioned
             ? PyCapsule_New(to_dlpack_versioned(t), "dltensor_versioned", free_versioned_capsule)
             : PyCapsule_New(to_dlpack(t), "dltensor", free_capsule);
}

PyObject* dlpack_device(PyObject*, PyObject*) { return Py_BuildValue("(ii)", 1, 0); }

PyObject* complex_method(PyObject* self, PyObject*) {
  return guarded([&] {
    const auto z = tensor_of(self).item<std::complex<double>>();
    return PyComplex_FromDoubles(z.real(), z.imag());
  });
}

// Called when nothing else is found: the assign of a slice of a variable, or a word on what a NumPy
// user should write.
PyObject* attribute(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError) || !PyUnicode_Check(name))
    return found;
  PyObject* origin = reinterpret_cast<TensorObject*>(self)->origin;
  if (origin && is_variable(PyTuple_GET_ITEM(origin, 0)) &&
      PyUnicode_CompareWithASCIIString(name, "assign") == 0) {
    PyErr_Clear();
    return guarded(
        [&] { return PyObject_CallOneArg(imported("gradus._variable", "SliceAssign"), origin); });
  }
  if (graph_place(tensor_of(self))) {
    for (const char* known : {"eval", "consumers", "value_index"}) {
      if (PyUnicode_CompareWithASCIIString(name, known) != 0) continue;
      PyErr_Clear();
      return in_graph(self, (std::string("tensor_") + known).c_str());
    }
  }
  static constexpr const char* numpy_names[] = {"T",    "astype", "ravel",  "transpose", "reshape",
                                                "clip", "size",   "tolist", "data"};
  for (const char* known : numpy_names) {
    if (PyUnicode_CompareWithASCIIString(name, known) == 0) {
      PyErr_Format(PyExc_AttributeError,
                   "Tensor object has no attribute '%s'. It belongs to NumPy arrays: use a "
                   "function of the module (tf.transpose, tf.cast, tf.reshape, ...) or .numpy().%s",
                   known, known);
      return nullptr;
    }
  }
  return nullptr;
}

template <class F>
PyCFunction as_method(F f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

PyMethodDef methods[] = {
    {"numpy", numpy_method, METH_NOARGS, "numpy()\n--\n\nA copy of the elements as a NumPy array."},
    {"_numpy", numpy_method, METH_NOARGS, nullptr},
    {"__array__", as_method(call_method<kArray, kArraySignature, array_method>),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"__format__", format_method, METH_O, nullptr},
    {"get_shape", shape_method, METH_NOARGS, "get_shape()\n--\n\nThe shape, a TensorShape."},
    {"set_shape", as_method(call_method<kSetShape, kSetShapeSignature, set_shape>),
     METH_FASTCALL | METH_KEYWORDS,
     "set_shape($self, shape)\n--\n\nChecks that the tensor has this shape."},
    {"ref", reference, METH_NOARGS, "ref()\n--\n\nA hashable reference to this tensor."},
    {"experimental_ref", reference, METH_NOARGS, nullptr},
    {"cpu", same, METH_NOARGS, nullptr},
    {"gpu", same, METH_NOARGS, nullptr},
    {"__copy__", same, METH_NOARGS, nullptr},
    {"__deepcopy__", same, METH_O, nullptr},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"__complex__", complex_method, METH_NOARGS, nullptr},
    {"__dlpack__", as_method(call_method<kDlpack, kDlpackSignature, dlpack>),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, nullptr},
    {}};

char name_text[] = "name", op_text[] = "op", graph_text[] = "graph";
// The mask that a layer of Keras gave to the tensor: it stands in a table of gradus.keras.
PyObject* get_mask(PyObject* self, void*) {
  return guarded([&] {
    Ref mask = Ref::own(PyObject_CallOneArg(imported("gradus.keras._state", "get_mask"), self));
    if (mask == Py_None)
      raise(PyExc_AttributeError, "'Tensor' object has no attribute '_keras_mask'");
    return mask.release();
  });
}
int set_mask(PyObject* self, PyObject* mask, void*) {
  return guarded_status([&] {
    Ref::own(PyObject_CallFunctionObjArgs(imported("gradus.keras._state", "set_mask"), self,
                                          mask ? mask : Py_None, nullptr));
    return 0;
  });
}

PyGetSetDef properties[] = {
    {"shape", get_shape, nullptr, "The sizes along the axes, a TensorShape.", nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
    {"ndim", get_rank, nullptr, "The number of axes.", nullptr},
    {"device", get_device, nullptr, nullptr, nullptr},
    {"backing_device", get_device, nullptr, nullptr, nullptr},
    {"name", undefined_when_eager, nullptr, nullptr, name_text},
    {"op", undefined_when_eager, nullptr, nullptr, op_text},
    {"graph", undefined_when_eager, nullptr, nullptr, graph_text},
    {"__array_priority__", get_priority, nullptr, nullptr, nullptr},
    {"_keras_mask", get_mask, set_mask, nullptr, nullptr},
    {}};

PyBufferProcs buffer_slots = {fill_buffer, release_buffer};

}  // namespace

PyTypeObject tensor_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0)  //
                   .tp_name = "gradus.Tensor",
    .tp_basicsize = sizeof(TensorObject),
    .tp_dealloc = destroy,
    .tp_repr = repr,
    .tp_as_number = &number_slots,
    .tp_as_sequence = &sequence_slots,
    .tp_as_mapping = &mapping_slots,
    .tp_hash = hash,
    .tp_str = str,
    .tp_getattro = attribute,
    .tp_as_buffer = &buffer_slots,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "An array of numbers of one dtype; immutable. Made by constant() and by every op.",
    .tp_richcompare = compare_tensors,
    .tp_weaklistoffset = offsetof(TensorObject, weak_references),
    .tp_iter = iterate_tensor,
    .tp_methods = methods,
    .tp_getset = properties,
};

}  // namespace gradus::python
