// Python's operators on tensors and variables. Two tensors go straight to the engine; a number, a
// list or an array takes the dtype of the tensor it meets, as in TensorFlow.
#include "convert.h"
#include "errors.h"
#include "gradus/graph_program.h"
#include "gradus/ops.h"
#include "lines.h"
#include "ops.h"
#include "traced.h"

namespace gradus::python {

namespace {

using Binary = Tensor (*)(In, In);
using Unary = Tensor (*)(In);

bool is_operand(PyObject* o) { return is_tensor(o) || is_variable(o); }

template <class T>
Tensor scalar(DType dtype, T value) {
  return Tensor::filled_by(dtype, {}, [&](void* to) { *static_cast<T*>(to) = value; });
}

// The other operand, as a tensor of this dtype; the numbers that are most common by hand.
Tensor other_operand(PyObject* o, DType dtype) {
  if (PyFloat_CheckExact(o)) {
    if (dtype == float32) return scalar(dtype, static_cast<float>(PyFloat_AS_DOUBLE(o)));
    if (dtype == float64) return scalar(dtype, PyFloat_AS_DOUBLE(o));
  } else if (PyLong_CheckExact(o) && (dtype == float32 || dtype == float64)) {
    const double value = PyLong_AsDouble(o);
    if (value == -1 && PyErr_Occurred()) throw PythonError();
    return dtype == float32 ? scalar(dtype, static_cast<float>(value)) : scalar(dtype, value);
  }
  return to_tensor(o, dtype, Wanted::hint);
}

template <class F>
Tensor on_large(std::int64_t count, F&& f) {
  return count >= kManyElements ? long_work(f) : f();
}

PyObject* apply(Binary op, const Tensor& a, const Tensor& b) {
  return attributed([&] {
    return wrap(on_large(std::max(elements_now(a), elements_now(b)), [&] { return op(a, b); }));
  });
}

template <Binary op>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (a == Py_None || b == Py_None) return wrap(to_tensor(Py_None));  // which says what it was
    if (is_tensor(a)) {
      const Tensor& x = tensor_of(a);
      if (is_tensor(b)) return apply(op, x, tensor_of(b));
      if (!converts_to_tensor(b)) Py_RETURN_NOTIMPLEMENTED;
      return apply(op, x, other_operand(b, x.dtype()));
    }
    if (is_tensor(b)) {
      if (!converts_to_tensor(a)) Py_RETURN_NOTIMPLEMENTED;
      return apply(op, other_operand(a, tensor_of(b).dtype()), tensor_of(b));
    }
    if (!converts_to_tensor(a) || !converts_to_tensor(b)) Py_RETURN_NOTIMPLEMENTED;
    const auto [x, y] = to_pair(a, b);
    return apply(op, x, y);
  });
}

template <Unary op>
PyObject* unary(PyObject* a) {
  return guarded([&] {
    return attributed([&] {
      const Tensor x = to_tensor(a);
      return wrap(on_large(elements_now(x), [&] { return op(x); }));
    });
  });
}

// x ** 2 is a square, which is also exact for integers.
PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  if (is_operand(a) &&
      ((PyLong_CheckExact(b) && PyLong_AsLong(b) == 2) ||
       (PyFloat_CheckExact(b) && PyFloat_AS_DOUBLE(b) == 2 && is_differentiable(*own_dtype(a)))))
    return unary<square>(a);
  PyErr_Clear();  // of an integer that does not fit into a long
  return binary<gradus::pow>(a, b);
}

template <Binary on_bools, Binary on_integers>
Tensor logical(In x, In y) {
  return is_bool(x->dtype()) ? on_bools(x, y) : on_integers(x, y);
}

PyObject* invert(PyObject* a) {
  return guarded([&] {
    const Tensor x = to_tensor(a);
    return wrap(is_bool(x.dtype()) ? logical_not(x) : bitwise::invert(x));
  });
}

PyObject* positive(PyObject* a) {
  return guarded([&] { return wrap(to_tensor(a)); });
}

void need_one_element(const Tensor& t) {
  if (t.rank() != 0)
    raise(PyExc_TypeError, "only 0-dimensional arrays can be converted to Python scalars");
}

int truth(PyObject* a) {
  return guarded_status([&] {
    const Tensor t = to_tensor(a);
    refuse_truth(t);
    if (t.num_elements() > 1)
      raise(PyExc_ValueError,
            "The truth value of an array with more than one element is ambiguous. Use a.any() or "
            "a.all()");
    return t.num_elements() == 0 ? 0 : static_cast<int>(not_equal(t, zeros_like(t)).item<bool>());
  });
}

Ref python_number(const Tensor& t) {
  switch (t.dtype()) {
    case DType::bool_:
      return Ref::own(PyBool_FromLong(t.item<bool>()));
    case DType::uint64:
      return Ref::own(PyLong_FromUnsignedLongLong(t.item<std::uint64_t>()));
    case DType::complex64:
    case DType::complex128: {
      const auto z = t.item<std::complex<double>>();
      return Ref::own(PyComplex_FromDoubles(z.real(), z.imag()));
    }
    default:
      return Ref::own(is_integer(t.dtype()) ? PyLong_FromLongLong(t.item<std::int64_t>())
                                            : PyFloat_FromDouble(t.item<double>()));
  }
}

PyObject* as_float(PyObject* a) {
  return guarded([&] {
    const Tensor t = to_tensor(a);
    refuse_number(t, "a float");
    need_one_element(t);
    return PyNumber_Float(python_number(t));
  });
}

PyObject* as_int(PyObject* a) {
  return guarded([&] {
    const Tensor t = to_tensor(a);
    refuse_number(t, "an int");
    need_one_element(t);
    return PyNumber_Long(python_number(t));
  });
}

PyObject* as_index(PyObject* a) {
  return guarded([&] {
    const Tensor t = to_tensor(a);
    if (!is_integer(t.dtype()) || t.rank() != 0)
      raise(PyExc_TypeError, "only integer scalar tensors can be converted to an index, got %R", a);
    refuse_number(t, "an int");
    return python_number(t).release();
  });
}

Tensor compare(const Tensor& x, const Tensor& y, int operation) {
  switch (operation) {
    case Py_EQ:
      return equal(x, y);
    case Py_NE:
      return not_equal(x, y);
    case Py_LT:
      return less(x, y);
    case Py_LE:
      return less_equal(x, y);
    case Py_GT:
      return greater(x, y);
    default:
      return greater_equal(x, y);
  }
}

bool shapes_meet(const Shape& a, const Shape& b) {
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const Size x = a[a.rank() - i], y = b[b.rank() - i];
    if (x.is_known() && y.is_known() && x != y && x != 1 && y != 1) return false;
  }
  return true;
}

}  // namespace

PyObject* compare_tensors(PyObject* a, PyObject* b, int operation) {
  const bool equality = operation == Py_EQ || operation == Py_NE;
  if (equality && b == Py_None) return PyBool_FromLong(operation == Py_NE);
  if (equality && is_tensor(a)) {  // nodes of a graph are compared as objects
    if (const auto place = graph_place(tensor_of(a))) {
      const auto other = is_tensor(b) ? graph_place(tensor_of(b)) : std::nullopt;
      const bool same = other && other->program == place->program && other->value == place->value;
      return PyBool_FromLong(same == (operation == Py_EQ));
    }
  }
  return guarded([&]() -> PyObject* {
    if (!converts_to_tensor(b)) {
      if (equality && PyUnicode_Check(b))
        raise(PyExc_TypeError, "Cannot convert %R to EagerTensor of dtype %s", b,
              name_of(*own_dtype(a)));
      Py_RETURN_NOTIMPLEMENTED;
    }
    const auto [x, y] = to_pair(a, b);
    if (equality && !shapes_meet(x.shape(), y.shape())) return wrap(Tensor(operation == Py_NE));
    return attributed([&, &u = x, &v = y] {
      return wrap(on_large(std::max(elements_now(u), elements_now(v)),
                           [&] { return compare(u, v, operation); }));
    });
  });
}

PyNumberMethods number_slots = {
    .nb_add = binary<add>,
    .nb_subtract = binary<subtract>,
    .nb_multiply = binary<multiply>,
    .nb_remainder = binary<floormod>,
    .nb_power = power,
    .nb_negative = unary<negative>,
    .nb_positive = positive,
    .nb_absolute = unary<gradus::abs>,
    .nb_bool = truth,
    .nb_invert = invert,
    .nb_and = binary<logical<logical_and, bitwise::bitwise_and>>,
    .nb_xor = binary<logical<logical_xor, bitwise::bitwise_xor>>,
    .nb_or = binary<logical<logical_or, bitwise::bitwise_or>>,
    .nb_int = as_int,
    .nb_float = as_float,
    .nb_floor_divide = binary<floordiv>,
    .nb_true_divide = binary<ops::truediv>,
    .nb_index = as_index,
    .nb_matrix_multiply = binary<[](In a, In b) { return matmul(a, b); }>,
};

}  // namespace gradus::python
