// x[...]: positions, slices, ellipsis, new axes, integer tensors and masks; length and iteration.
#include "convert.h"
#include "errors.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"
#include "lines.h"
#include "traced.h"

namespace gradus::python {

namespace {

[[noreturn]] void fail_key(PyObject* key) {
  raise(PyExc_TypeError,
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        "tf.int32/tf.int64 tensors are valid indices, got %R",
        key);
}

bool is_position(PyObject* key) {
  if (PyBool_Check(key)) return false;
  if (PyLong_Check(key)) return true;
  if (is_tensor(key) || is_variable(key)) {
    const Tensor t = to_tensor(key);
    return is_integer(t.dtype()) && t.rank() == 0;
  }
  return PyIndex_Check(key) && !PyObject_CheckBuffer(key)
             ? true
             : PyIndex_Check(key) && !PySequence_Check(key);
}

// A position that only the program will know.
bool is_traced_position(PyObject* key) {
  return (is_tensor(key) || is_variable(key)) && !has_value(to_tensor(key)) && is_position(key);
}

std::optional<Size> end_of(PyObject* end) {
  if (end == Py_None) return {};
  if (!is_position(end)) fail_key(end);
  if (is_traced_position(end)) return (*sizes_in(to_tensor(end)))[0];
  return is_size(end) ? size_of_object(end) : Size(to_int(end));
}

Index to_index(PyObject* key) {
  if (key == Py_None) return new_axis;
  if (key == Py_Ellipsis) return ellipsis;
  if (PySlice_Check(key)) {
    auto* s = reinterpret_cast<PySliceObject*>(key);
    return Slice{end_of(s->start), end_of(s->stop), s->step == Py_None ? 1 : to_int(s->step)};
  }
  if (!is_position(key)) fail_key(key);
  return to_int(key);
}

// A slice with a bound that is neither a number nor a size.
bool is_traced_slice(PyObject* key) {
  if (!PySlice_Check(key)) return false;
  const auto* s = reinterpret_cast<PySliceObject*>(key);
  const auto is_found = [](PyObject* bound) {
    return is_traced_position(bound) && !sizes_in(to_tensor(bound));
  };
  return is_found(s->start) || is_found(s->stop) || is_traced_position(s->step);
}

Tensor bound_of(PyObject* bound) {
  if (bound == Py_None) return {};
  if (!is_position(bound)) fail_key(bound);
  return is_traced_position(bound) ? to_tensor(bound) : Tensor(to_int(bound));
}

Tensor between_traced(const Tensor& x, PyObject* key, int axis) {
  const auto* s = reinterpret_cast<PySliceObject*>(key);
  return slice_between(x, bound_of(s->start), bound_of(s->stop), bound_of(s->step), axis);
}

// The element or slice at a traced position of one axis; below 0 counts from the end.
Tensor at_traced(const Tensor& x, const Tensor& position, int axis) {
  const Tensor size = cast(dynamic_size(x.shape()[axis]), position.dtype());
  const Tensor from_start = where(position < 0, position + size, position);
  // In a loop the gradient is one row, elsewhere it is as large as x, as TensorFlow's.
  if (axis == 0 && !is_tracing_region()) return gather_nd(x, reshape(from_start, {1}));
  return gather(x, from_start, axis);
}

// x[parts] with traced positions or bounds among the parts: all of an axis first, then what is
// wanted of it.
Tensor index_traced(const Tensor& x, PyObject* parts) {
  const Py_ssize_t count = PyTuple_GET_SIZE(parts);
  int taken = 0;
  for (Py_ssize_t i = 0; i < count; ++i)
    taken += PyTuple_GET_ITEM(parts, i) != Py_None && PyTuple_GET_ITEM(parts, i) != Py_Ellipsis;
  std::vector<Index> indices;
  std::vector<std::pair<int, PyObject*>> later;
  int axis = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* part = PyTuple_GET_ITEM(parts, i);
    if (is_traced_position(part)) {
      indices.push_back(Slice{});
      later.emplace_back(axis++, part);
      continue;
    }
    if (is_traced_slice(part)) {
      indices.push_back(Slice{});
      later.emplace_back(axis++, part);
      continue;
    }
    indices.push_back(to_index(part));
    axis += part == Py_Ellipsis ? x.rank() - taken : part == Py_None || PySlice_Check(part);
  }
  Tensor y = index(x, indices);
  for (std::size_t i = later.size(); i-- > 0;) {
    const auto [at, part] = later[i];
    y = PySlice_Check(part) ? between_traced(y, part, at) : at_traced(y, to_tensor(part), at);
  }
  return y;
}

bool is_mask(PyObject* key) {
  if (is_tensor(key) || is_variable(key)) return *own_dtype(key) == bool_;
  if (PyBool_Check(key) || !PyObject_CheckBuffer(key) || PySequence_Check(key) <= 0) return false;
  return to_tensor(key).dtype() == bool_;
}

// self[key] by positions and slices; that of a variable remembers where it is from.
PyObject* wrap_slice(PyObject* self, PyObject* key, const Tensor& slice) {
  Ref result = Ref::own(wrap(slice));
  if (is_variable(self))
    reinterpret_cast<TensorObject*>(result.get())->origin =
        Ref::own(PyTuple_Pack(2, self, key)).release();
  return result.release();
}

}  // namespace

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&] {
    return attributed([&]() -> PyObject* {
      const Tensor x = to_tensor(self);
      if (PyLong_CheckExact(key)) return wrap_slice(self, key, index(x, {Index(to_int(key))}));
      if (is_mask(key)) return wrap(boolean_mask(x, to_tensor(key)));
      if (is_traced_position(key) || is_traced_slice(key))
        return wrap(index_traced(x, Ref::own(PyTuple_Pack(1, key))));
      std::vector<Index> indices;
      if (PyTuple_Check(key) || PyList_Check(key)) {
        const Ref parts = Ref::own(PySequence_Tuple(key));
        bool traced = false;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parts.get()); ++i)
          traced = traced || is_traced_position(PyTuple_GET_ITEM(parts.get(), i)) ||
                   is_traced_slice(PyTuple_GET_ITEM(parts.get(), i));
        if (traced) return wrap(index_traced(x, parts));
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parts.get()); ++i)
          indices.push_back(to_index(PyTuple_GET_ITEM(parts.get(), i)));
      } else {
        indices.push_back(to_index(key));
      }
      return wrap_slice(self, key, index(x, indices));
    });
  });
}

namespace {

const Shape& shape_of(PyObject* self) {
  return is_tensor(self) ? tensor_of(self).shape() : variable_of(self).shape();
}

Py_ssize_t length(PyObject* self) {
  Py_ssize_t size = 0;
  const int status = guarded_status([&] {
    const Shape& shape = shape_of(self);
    if (shape.rank() == 0) raise(PyExc_TypeError, "Scalar tensor has no `len()`");
    if (is_tensor(self)) refuse_length(tensor_of(self));
    size = static_cast<Py_ssize_t>(shape[0]);
    return 0;
  });
  return status < 0 ? -1 : size;
}

PyObject* item(PyObject* self, Py_ssize_t i) {
  return guarded([&] {
    const Shape& shape = shape_of(self);
    if (shape.rank() == 0 || i < 0 || i >= shape[0]) raise(PyExc_IndexError, "index out of range");
    return wrap(index(to_tensor(self), {Index(std::int64_t{i})}));
  });
}

}  // namespace

PyObject* iterate_tensor(PyObject* self) {
  return guarded([&] {
    if (is_tensor(self)) refuse_iteration(tensor_of(self));
    if (shape_of(self).rank() == 0) raise(PyExc_TypeError, "Cannot iterate over a scalar tensor.");
    if (is_tensor(self)) return PySeqIter_New(self);
    return PySeqIter_New(Ref::own(wrap(variable_of(self).value())));
  });
}

PySequenceMethods sequence_slots = {.sq_length = length, .sq_item = item};
PyMappingMethods mapping_slots = {.mp_length = length, .mp_subscript = subscript};

}  // namespace gradus::python
