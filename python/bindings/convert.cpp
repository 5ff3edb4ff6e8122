#include "convert.h"

#include <cmath>
#include <limits>

#include "errors.h"
#include "gradus/ops.h"
#include "gradus/watched.h"
#include "traced.h"

namespace gradus::python {

namespace {

// What the numbers of a nested list are; a later kind holds the earlier ones.
enum class Kind { nothing, boolean, integer, real, complex };

struct Numbers {
  Shape shape;
  Kind kind = Kind::nothing;
  bool wide = false;         // an integer does not fit into int32
  bool has_tensors = false;  // parts that are tensors or arrays: the list is stacked
};

bool is_list(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }

bool is_number(PyObject* o) {
  return PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) ||
         PyComplex_CheckExact(o);
}

[[noreturn]] void fail_type(PyObject* o) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
  PyObject* kind = is_kind(o)                               ? type
                   : PyUnicode_Check(o) || PyBytes_Check(o) ? string_kind()
                                                            : nullptr;
  PyErr_Format(PyExc_ValueError,
               "Attempt to convert a value (%R) with an unsupported type (%R) to a Tensor.", o,
               type);
  if (kind) throw OtherKind(kind);
  throw PythonError();
}
[[noreturn]] void fail_ragged() {
  raise(PyExc_ValueError, "Can't convert non-rectangular Python sequence to Tensor.");
}

void look_at_number(PyObject* o, Numbers& n) {
  Kind kind = Kind::real;
  if (PyBool_Check(o)) {
    kind = Kind::boolean;
  } else if (PyLong_Check(o)) {
    kind = Kind::integer;
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow)
      raise(PyExc_ValueError, "Can't convert Python sequence with out-of-range integer to Tensor.");
    n.wide |= value != static_cast<std::int32_t>(value);
  } else if (PyComplex_Check(o)) {
    kind = Kind::complex;
  }
  n.kind = std::max(n.kind, kind);
}

// Shape and kind of a nested list, from its first elements down; `fill` checks that the rest fits.
void look_at(PyObject* o, Numbers& n, int depth, bool first) {
  if (is_list(o)) {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(o);
    if (depth == kMaxRank)
      raise(PyExc_ValueError, "The list is nested more than %d deep.", kMaxRank);
    if (first) {
      n.shape.push_back(size);
    } else if (depth >= n.shape.rank() || n.shape[depth] != size) {
      fail_ragged();
    }
    for (Py_ssize_t i = 0; i < size; ++i)
      look_at(PySequence_Fast_ITEMS(o)[i], n, depth + 1, first && i == 0);
  } else if (is_number(o)) {
    if (!first && depth != n.shape.rank() && !n.has_tensors) fail_ragged();
    look_at_number(o, n);
  } else if (o == Py_None) {
    fail_type(o);
  } else {
    n.has_tensors = true;
  }
}

DType dtype_of_numbers(const Numbers& n) {
  switch (n.kind) {
    case Kind::boolean:
      return bool_;
    case Kind::integer:
      return n.wide ? int64 : int32;
    case Kind::complex:
      return complex128;
    default:
      return float32;
  }
}

[[noreturn]] void fail_number(PyObject* o, DType dtype) {
  raise(PyExc_TypeError, "Cannot convert %R to EagerTensor of dtype %s", o, name_of(dtype));
}

template <class T>
T number(PyObject* o, DType dtype) {
  if constexpr (std::is_same_v<T, bool>) {
    if (PyBool_Check(o)) return o == Py_True;
    fail_number(o, dtype);
  } else if constexpr (std::is_integral_v<T>) {
    if (!PyLong_Check(o)) fail_number(o, dtype);
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      const unsigned long long value = PyLong_AsUnsignedLongLong(o);
      if (PyErr_Occurred()) {
        PyErr_Clear();
        fail_number(o, dtype);
      }
      return value;
    } else {
      int overflow = 0;
      const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
      if (overflow || value < static_cast<long long>(std::numeric_limits<T>::min()) ||
          value > static_cast<long long>(std::numeric_limits<T>::max()))
        fail_number(o, dtype);
      return static_cast<T>(value);
    }
  } else if constexpr (is_complex(dtype_v<T>)) {
    const Py_complex value = PyComplex_AsCComplex(o);
    if (PyErr_Occurred()) throw PythonError();
    using Part = typename T::value_type;
    return T(static_cast<Part>(value.real), static_cast<Part>(value.imag));
  } else {
    if (PyComplex_Check(o)) fail_number(o, dtype);
    const double value = PyFloat_AsDouble(o);
    if (PyErr_Occurred()) throw PythonError();
    if constexpr (sizeof(T) == 2) {
      return T(static_cast<float>(value));
    } else {
      return static_cast<T>(value);
    }
  }
}

template <class T>
void fill(PyObject* o, int depth, const Shape& shape, DType dtype, T*& out) {
  if (depth == shape.rank()) {
    if (is_list(o)) fail_ragged();
    *out++ = number<T>(o, dtype);
    return;
  }
  // The list may change while it is read, by the code of objects in it.
  if (!is_list(o) || PySequence_Fast_GET_SIZE(o) != shape[depth]) fail_ragged();
  for (Py_ssize_t i = 0; i < shape[depth]; ++i)
    fill(PySequence_Fast_ITEMS(o)[i], depth + 1, shape, dtype, out);
}

Tensor from_numbers(PyObject* o, const Shape& shape, DType dtype) {
  return Tensor::filled_by(dtype, shape, [&](void* elements) {
    visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      T* out = static_cast<T*>(elements);
      fill<T>(o, 0, shape, dtype, out);
    });
  });
}

std::optional<DType> dtype_within(PyObject* o, int depth = 0) {
  if (is_list(o) && depth <= kMaxRank) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
      if (auto found = dtype_within(PySequence_Fast_ITEMS(o)[i], depth + 1)) return found;
    return {};
  }
  return own_dtype(o);
}

// A tensor that is an element of a list is a value, and takes the dtype that is wanted of the list,
// as a number does: but no fraction and no large integer is lost.
Tensor element_as(const Tensor& t, DType dtype, PyObject* o) {
  if (t.dtype() == dtype) return t;
  const bool to_less = is_integer(dtype) && !is_integer(t.dtype()) && !is_bool(t.dtype());
  const bool fits = !to_less && !is_bool(dtype) && (is_complex(dtype) || !is_complex(t.dtype()));
  if (!fits)
    raise(PyExc_ValueError, "Tensor conversion requested dtype %s for Tensor with dtype %s: %R",
          name_of(dtype), name_of(t.dtype()), o);
  const Tensor as = cast(t, dtype);
  if (is_integer(dtype) && is_integer(t.dtype()) && has_value(t) &&
      !reduce_all(equal(cast(as, t.dtype()), t)).item<bool>())
    raise(PyExc_ValueError,
          "[convert_to_tensor] got %R, which dtype %s cannot hold; expected "
          "smaller numbers; cast it first",
          o, name_of(dtype));
  return as;
}

Tensor stacked(PyObject* list, std::optional<DType> dtype, bool convert) {
  std::vector<Tensor> parts;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    PyObject* part = PySequence_Fast_ITEMS(list)[i];
    if (convert && own_dtype(part))
      parts.push_back(element_as(to_tensor(part), *dtype, part));
    else
      parts.push_back(to_tensor(part, dtype));
  }
  return stack(parts, 0);
}

// Whether a tensor of this dtype can hold the number. If not, the number that meets a tensor keeps
// its own dtype, and the op says that they differ.
bool holds(DType dtype, PyObject* number) {
  if (PyComplex_Check(number)) return is_complex(dtype);
  if (PyFloat_Check(number)) return !is_integer(dtype) && !is_bool(dtype);
  return !is_bool(dtype) || PyBool_Check(number);
}

Tensor checked_dtype(Tensor t, std::optional<DType> dtype, Wanted wanted, PyObject* o) {
  if (dtype && t.dtype() != *dtype && wanted == Wanted::exactly) {
    raise(PyExc_ValueError, "Tensor conversion requested dtype %s for Tensor with dtype %s: %R",
          name_of(*dtype), name_of(t.dtype()), o);
  }
  return t;
}

}  // namespace

PyObject* string_kind() { return imported("gradus._strings", "StringTensor"); }

Tensor to_tensor(PyObject* o, std::optional<DType> dtype, Wanted wanted) {
  if (is_tensor(o)) return checked_dtype(tensor_of(o), dtype, wanted, o);
  if (is_variable(o)) return checked_dtype(read_variable(o), dtype, wanted, o);
  if (is_number(o)) {
    if (!dtype) {
      Numbers n;
      look_at_number(o, n);
      dtype = dtype_of_numbers(n);
    } else if (wanted == Wanted::hint && !holds(*dtype, o)) {
      return to_tensor(o);
    }
    return from_numbers(o, {}, *dtype);
  }
  if (is_list(o)) {
    Numbers n;
    look_at(o, n, 0, true);
    if (n.has_tensors) {
      const bool wanted_by_caller = dtype.has_value();
      if (!dtype) dtype = dtype_within(o);
      return stacked(o, dtype, wanted_by_caller);
    }
    return from_numbers(o, n.shape, dtype ? *dtype : dtype_of_numbers(n));
  }
  if (is_kind(o)) fail_type(o);
  if (PyObject_CheckBuffer(o) && !PyBytes_Check(o)) {
    Tensor t = from_buffer(o);
    return dtype && t.dtype() != *dtype ? cast(t, *dtype) : t;
  }
  if (is_shape(o)) {
    if (shape_sizes(o) == Py_None) fail_type(o);
    return to_tensor(shape_sizes(o), dtype ? dtype : int32);
  }
  if (is_size(o)) {
    const Tensor size = dynamic_size(size_of_object(o));
    return cast(size, dtype ? *dtype : int32);
  }
  if (is_traced_number(o)) return from_traced_number(o, dtype);
  if (is_rows(o) || PyObject_HasAttrString(o, "__gradus_tensor__")) {
    const Ref method = Ref::own(PyObject_GetAttrString(o, "__gradus_tensor__"));
    const Ref whole = Ref::own(PyObject_CallNoArgs(method));
    return to_tensor(whole, dtype, wanted);
  }
  if (PyFloat_Check(o) || PyLong_Check(o)) {
    const Ref plain = Ref::own(PyFloat_Check(o) ? PyNumber_Float(o) : PyNumber_Long(o));
    if (is_number(plain)) return to_tensor(plain, dtype, wanted);
  }
  if (PyObject_HasAttrString(o, "__array__") && !PyType_Check(o)) {
    const Ref array = Ref::own(PyObject_CallMethod(o, "__array__", nullptr));
    if (!PyObject_CheckBuffer(array)) fail_type(o);
    Tensor t = from_buffer(array);
    return dtype && t.dtype() != *dtype ? cast(t, *dtype) : t;
  }
  if (PyRange_Check(o)) {
    const Ref list = Ref::own(PySequence_List(o));
    return to_tensor(list, dtype, wanted);
  }
  fail_type(o);
}

bool converts_to_tensor(PyObject* o) {
  return is_tensor(o) || is_number(o) || is_list(o) || is_variable(o) ||
         (PyObject_CheckBuffer(o) && !PyBytes_Check(o)) || PyFloat_Check(o) || PyLong_Check(o) ||
         is_shape(o) || is_size(o) || is_rows(o) ||
         (!is_kind(o) && PyObject_HasAttrString(o, "__array__") && !PyType_Check(o));
}

std::optional<DType> own_dtype(PyObject* o) {
  if (is_tensor(o)) return tensor_of(o).dtype();
  if (is_variable(o)) return dtype_as_read(o);
  return {};
}

std::pair<Tensor, Tensor> to_pair(PyObject* a, PyObject* b) {
  if (is_tensor(a) && is_tensor(b)) return {tensor_of(a), tensor_of(b)};
  std::optional<DType> dtype = own_dtype(a);
  if (!dtype) dtype = own_dtype(b);
  Tensor x = to_tensor(a, dtype, Wanted::hint);
  if (!dtype && !is_list(b) && !is_number(b)) return {x, to_tensor(b, x.dtype(), Wanted::hint)};
  return {x, to_tensor(b, dtype ? *dtype : x.dtype(), Wanted::hint)};
}

std::vector<Tensor> to_tensors(PyObject* sequence, const char* op) {
  if (is_tensor(sequence) || is_variable(sequence)) {
    const Tensor all = to_tensor(sequence);
    if (all.rank() == 0)
      raise(PyExc_ValueError, "[%s] got a scalar; expected a list of tensors", op);
    return unstack(all, 0);
  }
  const Ref list = Ref::own(PySequence_List(sequence));
  std::optional<DType> dtype;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()) && !dtype; ++i)
    dtype = own_dtype(PyList_GET_ITEM(list.get(), i));  // before what is inside of lists
  if (!dtype) dtype = dtype_within(list);
  if (!dtype) {
    Numbers n;
    bool plain = true;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
      PyObject* part = PyList_GET_ITEM(list.get(), i);
      plain &= is_list(part) || is_number(part);
      if (!plain) break;
      Numbers of_part;
      look_at(part, of_part, 0, true);
      plain &= !of_part.has_tensors;
      n.kind = std::max(n.kind, of_part.kind);
      n.wide |= of_part.wide;
    }
    if (plain && n.kind != Kind::nothing) dtype = dtype_of_numbers(n);
  }
  std::vector<Tensor> tensors;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
    tensors.push_back(to_tensor(PyList_GET_ITEM(list.get(), i), dtype, Wanted::hint));
    if (!dtype) dtype = tensors.back().dtype();
  }
  return tensors;
}

bool to_bool(PyObject* o) {
  const int truth = PyObject_IsTrue(o);
  check(truth);
  return truth;
}

std::int64_t to_int(PyObject* o) {
  const Ref number = Ref::own(PyNumber_Index(o));
  const long long value = PyLong_AsLongLong(number);
  if (value == -1 && PyErr_Occurred()) throw PythonError();
  return value;
}

double to_double(PyObject* o) {
  if ((is_tensor(o) || is_variable(o)) && is_watched(to_tensor(o))) {
    raise(PyExc_TypeError,
          "Expected a number, got %R, which a tape watches: its gradient would be lost. Give "
          "float(x) if it is meant as a constant.",
          o);
  }
  const double value = PyFloat_AsDouble(o);
  if (value == -1 && PyErr_Occurred()) throw PythonError();
  return value;
}

Size to_size(PyObject* o) {
  if (is_tensor(o) && !has_value(tensor_of(o)) && is_integer(tensor_of(o).dtype()) &&
      tensor_of(o).rank() == 0)
    return found_sizes(tensor_of(o))[0];
  return is_size(o) ? size_of_object(o) : Size(to_int(o));
}

std::vector<Size> to_sizes(PyObject* o) {
  if (is_tensor(o) || is_variable(o) || PyObject_CheckBuffer(o)) {
    const Tensor t = to_tensor(o);
    if (!is_integer(t.dtype()) || t.rank() > 1)
      raise(PyExc_TypeError, "Expected a list of integers, got %R", o);
    if (!has_value(t)) return found_sizes(t);
    const auto numbers = cast(t, int64).to_vector<std::int64_t>();
    return {numbers.begin(), numbers.end()};
  }
  if (is_shape(o)) {
    if (shape_sizes(o) == Py_None)
      raise(PyExc_ValueError, "Cannot convert a shape of unknown rank.");
    o = shape_sizes(o);
  }
  if (PyIndex_Check(o)) return {to_size(o)};
  std::vector<Size> values;
  const Ref list = Ref::own(PySequence_Tuple(o));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(list.get(), i);
    if (item == Py_None)
      raise(PyExc_ValueError, "Cannot convert a partially known TensorShape %R to a Tensor.", o);
    values.push_back(to_size(item));
  }
  return values;
}

std::vector<std::int64_t> to_ints(PyObject* o) {
  const std::vector<Size> sizes = to_sizes(o);
  return {sizes.begin(), sizes.end()};
}

Shape to_shape(PyObject* o) { return Shape(std::span<const Size>(to_sizes(o))); }

}  // namespace gradus::python
