// Elements in and out through Python's buffer protocol, which NumPy arrays speak too.
#include <bit>
#include <cstring>
#include <memory>

#include "convert.h"
#include "errors.h"
#include "gradus/dlpack.h"

namespace gradus::python {

namespace {

// A dtype from a format of the struct module; '<' and '=' are what this machine has.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t itemsize) {
  if (!format) return itemsize == 1 ? std::optional(uint8) : std::nullopt;
  if (*format == '@' || *format == '=' || *format == '<' || *format == '|') ++format;
  const std::string f = format;
  if (f == "?") return bool_;
  if (f == "e") return float16;
  if (f == "f") return float32;
  if (f == "d") return float64;
  if (f == "Zf" || f == "F") return complex64;
  if (f == "Zd" || f == "D") return complex128;
  if (f.size() == 1 && std::strchr("bhilqn", f[0])) {
    if (itemsize == 1) return int8;
    if (itemsize == 2) return int16;
    if (itemsize == 4) return int32;
    if (itemsize == 8) return int64;
  }
  if (f.size() == 1 && std::strchr("BHILQN", f[0])) {
    if (itemsize == 1) return uint8;
    if (itemsize == 2) return uint16;
    if (itemsize == 4) return uint32;
    if (itemsize == 8) return uint64;
  }
  return {};
}

struct Buffer {
  Py_buffer view{};
  bool held = false;
  ~Buffer() {
    if (held) PyBuffer_Release(&view);
  }
};

Tensor from_array_of_bfloat16(PyObject* array) {
  const Ref bits = Ref::own(PyObject_CallMethod(array, "view", "s", "uint16"));
  const Tensor t = from_buffer(bits);
  return Tensor::filled_by(bfloat16, t.shape(),
                           [&](void* to) { std::memcpy(to, t.raw_data(), t.num_bytes()); });
}

}  // namespace

Tensor from_buffer(PyObject* object) {
  Buffer buffer;
  if (PyObject_GetBuffer(object, &buffer.view, PyBUF_FULL_RO) < 0) {
    PyErr_Clear();
    if (PyObject_HasAttrString(object, "dtype")) {
      const Ref dtype = Ref::own(PyObject_GetAttrString(object, "dtype"));
      const Ref name = Ref::own(PyObject_Str(dtype));
      if (to_string(name) == "bfloat16") return from_array_of_bfloat16(object);
    }
    raise(PyExc_ValueError, "Failed to convert %R to a Tensor: its elements are not numbers.",
          object);
  }
  buffer.held = true;
  const std::optional<DType> dtype = dtype_of_format(buffer.view.format, buffer.view.itemsize);
  if (!dtype || static_cast<Py_ssize_t>(size_of(*dtype)) != buffer.view.itemsize) {
    const std::string format = buffer.view.format ? buffer.view.format : "";
    PyObject* kind = !format.empty() && std::strchr("swO", format.back()) ? string_kind() : nullptr;
    PyErr_Format(PyExc_ValueError,
                 "Failed to convert a value of type %R to a Tensor: elements of format '%s' are "
                 "not supported.",
                 reinterpret_cast<PyObject*>(Py_TYPE(object)), format.c_str());
    if (kind) throw OtherKind(kind);
    throw PythonError();
  }
  if (buffer.view.ndim > kMaxRank)
    raise(PyExc_ValueError, "The array has %d axes; at most %d are supported.", buffer.view.ndim,
          kMaxRank);
  Shape shape;
  for (int i = 0; i < buffer.view.ndim; ++i) shape.push_back(buffer.view.shape[i]);
  return Tensor::filled_by(*dtype, shape, [&](void* elements) {
    check(PyBuffer_ToContiguous(elements, &buffer.view, buffer.view.len, 'C'));
  });
}

Tensor shared_with(PyObject* array) {
  const Ref method = Ref::own(PyObject_GetAttrString(array, "__dlpack__"));
  const Ref nothing = Ref::own(PyTuple_New(0));
  const Ref keywords = Ref::own(Py_BuildValue("{s:(ii)}", "max_version", 1, 0));
  const Ref capsule = Ref::own(PyObject_Call(method, nothing, keywords));
  const auto taken = [&](const char* name, const char* used) {
    void* structure = PyCapsule_GetPointer(capsule, name);
    check(structure ? 0 : -1);
    check(PyCapsule_SetName(capsule, used));
    return structure;
  };
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    return from_dlpack(static_cast<DLManagedTensorVersioned*>(
        taken("dltensor_versioned", "used_dltensor_versioned")));
  }
  return from_dlpack(static_cast<DLManagedTensor*>(taken("dltensor", "used_dltensor")));
}

// ------------------------------------------------------------------- a tensor as a buffer

namespace {

const char* format_of(DType dtype) {
  static constexpr const char* formats[kDTypeCount] = {"?", "b", "h", "i", "l", "B",  "H", "I",
                                                       "L", "e", "H", "f", "d", "Zf", "Zd"};
  return formats[static_cast<int>(dtype)];
}

}  // namespace

int fill_buffer(PyObject* self, Py_buffer* view, int flags) {
  return guarded_status([&] {
    const Tensor& t = tensor_of(self);
    if (flags & PyBUF_WRITABLE)
      raise(PyExc_BufferError, "Tensors are immutable; copy the elements with numpy().");
    void* elements = const_cast<void*>(t.raw_data());
    const int rank = t.rank();
    auto* extents = static_cast<Py_ssize_t*>(PyMem_Malloc(sizeof(Py_ssize_t) * 2 * (rank + 1)));
    if (!extents) throw std::bad_alloc();
    Py_ssize_t stride = static_cast<Py_ssize_t>(size_of(t.dtype()));
    for (int i = rank - 1; i >= 0; --i) {
      extents[i] = t.shape()[i];
      extents[rank + i] = stride;
      stride *= extents[i];
    }
    *view = {.buf = elements,
             .obj = self,
             .len = static_cast<Py_ssize_t>(t.num_bytes()),
             .itemsize = static_cast<Py_ssize_t>(size_of(t.dtype())),
             .readonly = 1,
             .ndim = rank,
             .format = flags & PyBUF_FORMAT ? const_cast<char*>(format_of(t.dtype())) : nullptr,
             .shape = flags & PyBUF_ND ? extents : nullptr,
             .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? extents + rank : nullptr,
             .suboffsets = nullptr,
             .internal = extents};
    Py_INCREF(self);
    return 0;
  });
}

void release_buffer(PyObject*, Py_buffer* view) { PyMem_Free(view->internal); }

}  // namespace gradus::python
