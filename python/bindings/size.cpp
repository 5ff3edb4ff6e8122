// x.shape[0] while a function is traced, where it changes from call to call: an int as far as code
// can tell, since every question about it is answered by the call at hand and noted as a guard
// (gradus/size.h). Given on as a size it stays unknown, so that one program serves all. Kept until
// after the trace, in the shape that a layer was built for say, it is as good as None.
#include "convert.h"
#include "errors.h"
#include "gradus/tracing.h"
#include "types.h"

namespace gradus::python {

namespace {

struct SizeObject {
  PyObject_HEAD Size size;
  const void* trace;
};

bool is_over(PyObject* o) { return reinterpret_cast<SizeObject*>(o)->trace != trace_of_sizes(); }

Size& size_in(PyObject* o) { return reinterpret_cast<SizeObject*>(o)->size; }

PyObject* as_int(PyObject* self) {
  return guarded([&] {
    if (is_over(self))
      raise(PyExc_TypeError, "the size of a tensor is not known after its function was traced");
    return PyLong_FromLongLong(std::int64_t{size_in(self)});
  });
}

bool is_whole(PyObject* o) { return is_size(o) || (PyLong_Check(o) && !PyBool_Check(o)); }
Size whole(PyObject* o) {
  if (!is_size(o)) return to_int(o);
  if (is_over(o)) Ref::own(as_int(o));  // which says so
  return size_in(o);
}

bool is_any_tensor(PyObject* o) { return is_tensor(o) || is_variable(o); }
Ref as_number(PyObject* o) { return is_size(o) ? Ref::own(as_int(o)) : Ref::copy(o); }

template <PyObject* (*python)(PyObject*, PyObject*)>
PyObject* of_numbers(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (is_any_tensor(a) || is_any_tensor(b)) Py_RETURN_NOTIMPLEMENTED;
    return python(as_number(a), as_number(b));
  });
}

// f(a, b) of sizes, if both are whole numbers; otherwise Python's own, of numbers.
template <PyObject* (*python)(PyObject*, PyObject*), class F>
PyObject* compute(PyObject* a, PyObject* b, F f) {
  if (!is_whole(a) || !is_whole(b)) return of_numbers<python>(a, b);
  return guarded([&] { return wrap_size(f(whole(a), whole(b))); });
}

template <PyObject* (*python)(PyObject*)>
PyObject* of_number(PyObject* self) {
  return guarded([&] { return python(Ref::own(as_int(self))); });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulo) {
  return guarded([&]() -> PyObject* {
    if (is_any_tensor(a) || is_any_tensor(b)) Py_RETURN_NOTIMPLEMENTED;
    return PyNumber_Power(as_number(a), as_number(b), modulo);
  });
}

// Quotients of sizes round down, as Python's do; by what is not positive they are left to Python.
PyObject* floor_divide(PyObject* a, PyObject* b) {
  int overflow = 0;
  const bool is_positive =
      is_size(b) || (PyLong_Check(b) && PyLong_AsLongLongAndOverflow(b, &overflow) > 0);
  if (!is_positive) return of_numbers<PyNumber_FloorDivide>(a, b);
  return compute<PyNumber_FloorDivide>(a, b, [](Size x, Size y) { return x / y; });
}

PyObject* compare_sizes(PyObject* a, PyObject* b, int operation) {
  return guarded([&]() -> PyObject* {
    if (is_over(a) || (is_size(b) && is_over(b))) {
      if (operation == Py_EQ || operation == Py_NE)
        return PyBool_FromLong((a == b) == (operation == Py_EQ));
      Py_RETURN_NOTIMPLEMENTED;
    }
    if (is_whole(b)) {
      const Size x = size_in(a), y = whole(b);
      const bool answer = operation == Py_EQ   ? x == y
                          : operation == Py_NE ? x != y
                          : operation == Py_LT ? x < y
                          : operation == Py_LE ? x <= y
                          : operation == Py_GT ? x > y
                                               : x >= y;
      return PyBool_FromLong(answer);
    }
    if (b == Py_None || is_tensor(b) || is_variable(b)) Py_RETURN_NOTIMPLEMENTED;
    return PyObject_RichCompare(Ref::own(as_int(a)), b, operation);
  });
}

int is_not_zero(PyObject* self) {
  return guarded_status([&] { return !is_over(self) && size_in(self) != 0 ? 1 : 0; });
}

Py_hash_t hash(PyObject* self) {
  if (is_over(self)) return PyObject_Hash(Py_None);
  const Ref number = Ref::own(as_int(self));
  return PyObject_Hash(number);
}

PyObject* print(PyObject* self) {
  return is_over(self) ? PyUnicode_FromString("None") : of_number<PyObject_Repr>(self);
}

PyObject* format(PyObject* self, PyObject* how) {
  return guarded([&] { return PyObject_Format(Ref::own(as_int(self)), how); });
}

PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const Ref number = Ref::own(as_int(self));
    return Py_BuildValue("O(O)", &PyLong_Type, number.get());
  });
}

PyNumberMethods numbers = {
    .nb_add =
        [](PyObject* a, PyObject* b) {
          return compute<PyNumber_Add>(a, b, [](Size x, Size y) { return x + y; });
        },
    .nb_subtract =
        [](PyObject* a, PyObject* b) {
          return compute<PyNumber_Subtract>(a, b, [](Size x, Size y) { return x - y; });
        },
    .nb_multiply =
        [](PyObject* a, PyObject* b) {
          return compute<PyNumber_Multiply>(a, b, [](Size x, Size y) { return x * y; });
        },
    .nb_remainder = of_numbers<PyNumber_Remainder>,
    .nb_divmod = of_numbers<PyNumber_Divmod>,
    .nb_power = power,
    .nb_negative = of_number<PyNumber_Negative>,
    .nb_positive =
        [](PyObject* self) {
          Py_INCREF(self);
          return self;
        },
    .nb_absolute = of_number<PyNumber_Absolute>,
    .nb_bool = is_not_zero,
    .nb_invert = of_number<PyNumber_Invert>,
    .nb_lshift = of_numbers<PyNumber_Lshift>,
    .nb_rshift = of_numbers<PyNumber_Rshift>,
    .nb_and = of_numbers<PyNumber_And>,
    .nb_xor = of_numbers<PyNumber_Xor>,
    .nb_or = of_numbers<PyNumber_Or>,
    .nb_int = as_int,
    .nb_float = of_number<PyNumber_Float>,
    .nb_floor_divide = floor_divide,
    .nb_true_divide = of_numbers<PyNumber_TrueDivide>,
    .nb_index = as_int,
};
PyMethodDef methods[] = {
    {"__format__", format, METH_O, nullptr}, {"__reduce__", reduce, METH_NOARGS, nullptr}, {}};

}  // namespace

PyTypeObject size_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0)  //
                   .tp_name = "gradus._core.Size",
    .tp_basicsize = sizeof(SizeObject),
    .tp_repr = print,
    .tp_as_number = &numbers,
    .tp_hash = hash,
    .tp_str = print,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "The size of an axis that changes from call to call, while a function is traced.",
    .tp_richcompare = compare_sizes,
    .tp_methods = methods,
};

bool is_size(PyObject* o) { return Py_TYPE(o) == &size_type; }
Size size_of_object(PyObject* o) { return whole(o); }

PyObject* wrap_size(Size size) {
  if (size.is_known()) return PyLong_FromLongLong(size);
  if (!is_known_to_call(size)) Py_RETURN_NONE;
  PyObject* made = size_type.tp_alloc(&size_type, 0);
  if (made) {
    size_in(made) = size;
    reinterpret_cast<SizeObject*>(made)->trace = trace_of_sizes();
  }
  return made;
}

}  // namespace gradus::python
