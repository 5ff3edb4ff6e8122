// The C side of gradus.Variable: reading, operators and assignment. Names, initial values that are
// functions and the like are in gradus/_variable.py.
#include <cstddef>
#include <new>
#include <unordered_map>
#include <utility>

#include "errors.h"
#include "function.h"
#include "gradus/ops.h"
#include "graph_program.h"
#include "lines.h"
#include "traced.h"

namespace gradus::python {

namespace {

// The living objects of variables, not counted.
std::unordered_map<VariableState*, PyObject*>& objects() {
  static auto* const map = new std::unordered_map<VariableState*, PyObject*>;
  return *map;
}

VariableObject* object_of(PyObject* self) { return reinterpret_cast<VariableObject*>(self); }

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self) new (&object_of(self)->value) Variable();
  return self;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(object_of(self)->attributes);
  return 0;
}
int clear(PyObject* self) {
  Py_CLEAR(object_of(self)->attributes);
  return 0;
}
void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (object_of(self)->weak_references) PyObject_ClearWeakRefs(self);
  clear(self);
  objects().erase(object_of(self)->value.state());
  object_of(self)->value.~Variable();
  Py_TYPE(self)->tp_free(self);
}

Tensor delta_for(PyObject* self, PyObject* value) {
  return to_tensor(value, variable_of(self).dtype());
}

PyObject* myself(PyObject* self) {
  Py_INCREF(self);
  return self;
}
// Nothing where the new value is not asked for.
PyObject* myself_if(PyObject* self, PyObject* read_value) {
  return myself(to_bool(read_value) ? self : Py_None);
}

const char* const kInit = "_set";
const char* const kInitSignature = "value, name, trainable";
PyObject* initialize(PyObject* self, const Arguments& a) {
  Variable& v = object_of(self)->value;
  if (v.defined()) raise(PyExc_RuntimeError, "The Variable has a value already.");
  v = Variable(value_for_variable(a.tensor(0)), {.name = a.string(1), .trainable = a.boolean(2)});
  objects()[v.state()] = self;
  Py_RETURN_NONE;
}

const char* const kDeclare = "_declare";
const char* const kDeclareSignature = "program, dtype, shape, name, trainable, is_resource";
PyObject* declare(PyObject* self, const Arguments& a) {
  Variable& v = object_of(self)->value;
  if (v.defined()) raise(PyExc_RuntimeError, "The Variable has a value already.");
  v = program_of(a[0]).declare(a.dtype(1, float32), a.shape(2),
                               {.name = a.string(3), .trainable = a.boolean(4)},
                               a.boolean(5) ? VariableKind::resource : VariableKind::reference);
  objects()[v.state()] = self;
  Py_RETURN_NONE;
}

// Which class an error has is TensorFlow's choice: assign looks before, the others while it runs.
void check_shapes(PyObject* self, const Tensor& value) {
  const Variable& v = variable_of(self);
  if (!(v.shape() == value.shape()))
    raise(PyExc_ValueError,
          "Cannot assign value to variable '%s:0': Shape mismatch. The variable shape %s, and the "
          "assigned value shape %s are incompatible.",
          v.name().c_str(), gradus::to_string(v.shape()).c_str(),
          gradus::to_string(value.shape()).c_str());
}
void check_delta(PyObject* self, const Tensor& delta) {
  const Variable& v = variable_of(self);
  if (!(v.shape() == delta.shape()))
    throw InvalidArgumentError("Cannot update variable with shape " + gradus::to_string(v.shape()) +
                               " using a Tensor with shape " + gradus::to_string(delta.shape()) +
                               ", shapes must be equal.");
}

const char* const kAssign = "assign";
const char* const kAssignAdd = "assign_add";
const char* const kAssignSub = "assign_sub";
const char* const kAssignSignature = "value, use_locking=False, name=None, read_value=True";
const char* const kDeltaSignature = "delta, use_locking=False, name=None, read_value=True";
const char* const kAssignUnused = "use_locking: an update is never seen half done";
PyObject* assign(PyObject* self, const Arguments& a) {
  const Tensor value = delta_for(self, a[0]);
  check_shapes(self, value);
  attributed([&] { variable_of(self).assign(value); });
  return myself_if(self, a[3]);
}
PyObject* assign_add(PyObject* self, const Arguments& a) {
  const Tensor delta = delta_for(self, a[0]);
  check_delta(self, delta);
  attributed([&] { on_large(delta, [&] { variable_of(self).assign_add(delta); }); });
  return myself_if(self, a[3]);
}
PyObject* assign_sub(PyObject* self, const Arguments& a) {
  const Tensor delta = delta_for(self, a[0]);
  check_delta(self, delta);
  attributed([&] { on_large(delta, [&] { variable_of(self).assign_sub(delta); }); });
  return myself_if(self, a[3]);
}

const char* const kScatter = "_scatter";
const char* const kScatterSignature = "how, indices, updates";
PyObject* scatter(PyObject* self, const Arguments& a) {
  const Tensor indices = a.tensor(1), updates = delta_for(self, a[2]);
  const std::string how = a.string(0);
  const Variable& v = variable_of(self);
  const auto change = [&] {
    how == "add"   ? v.scatter_add(indices, updates)
    : how == "sub" ? v.scatter_sub(indices, updates)
    : how == "mul" ? v.scatter_mul(indices, updates)
    : how == "div" ? v.scatter_div(indices, updates)
                   : v.scatter_update(indices, updates);
  };
  attributed([&] { on_large(updates, change); });
  return myself(self);
}

PyObject* read(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(attributed([&] { return variable_of(self).value(); })); });
}

PyObject* through_value(PyObject* self, const char* method) {
  const Ref value = Ref::own(wrap(variable_of(self).value()));
  return PyObject_CallMethod(value, method, nullptr);
}
PyObject* as_numpy(PyObject* self, PyObject*) {
  return guarded([&] { return through_value(self, "numpy"); });
}
PyObject* as_array(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    const Ref value = Ref::own(wrap(variable_of(self).value()));
    const Ref method = Ref::own(PyObject_GetAttrString(value, "__array__"));
    return PyObject_Call(method, arguments, keywords);
  });
}

Py_hash_t hash(PyObject*) {
  PyErr_SetString(PyExc_TypeError,
                  "Variable is unhashable. Instead, use variable.ref() as the key.");
  return -1;
}

PyObject* repr(PyObject* self) {
  return guarded(
      [&] { return PyObject_CallOneArg(imported("gradus._text", "variable_repr"), self); });
}

template <class F>
PyCFunction as_method(F f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;
PyMethodDef methods[] = {
    {"_set", as_method(call_method<kInit, kInitSignature, initialize>), kFast, nullptr},
    {"_declare", as_method(call_method<kDeclare, kDeclareSignature, declare>), kFast, nullptr},
    {"assign", as_method(call_method<kAssign, kAssignSignature, assign, kAssignUnused>), kFast,
     "assign($self, value, use_locking=False, name=None, read_value=True)\n--\n\n"
     "Replaces the value. Tensors read before keep the old one."},
    {"assign_add", as_method(call_method<kAssignAdd, kDeltaSignature, assign_add, kAssignUnused>),
     kFast,
     "assign_add($self, delta, use_locking=False, name=None, read_value=True)\n--\n\n"
     "Adds to the value."},
    {"assign_sub", as_method(call_method<kAssignSub, kDeltaSignature, assign_sub, kAssignUnused>),
     kFast,
     "assign_sub($self, delta, use_locking=False, name=None, read_value=True)\n--\n\n"
     "Subtracts from the value."},
    {"_scatter", as_method(call_method<kScatter, kScatterSignature, scatter>), kFast, nullptr},
    {"value", read, METH_NOARGS, "value()\n--\n\nThe value, a Tensor."},
    {"read_value", read, METH_NOARGS, "read_value()\n--\n\nThe value, a Tensor."},
    {"numpy", as_numpy, METH_NOARGS, "numpy()\n--\n\nA copy of the value as a NumPy array."},
    {"__array__", as_method(as_array), METH_VARARGS | METH_KEYWORDS, nullptr},
    {}};

PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] { return wrap_shape(variable_of(self).shape()); });
}
PyObject* get_dtype(PyObject* self, void*) {
  return guarded([&] { return wrap(variable_of(self).dtype()); });
}
PyObject* get_name(PyObject* self, void*) {
  return guarded([&] { return text(variable_of(self).name()).release(); });
}
PyObject* get_trainable(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(variable_of(self).trainable()); });
}
int set_trainable(PyObject* self, PyObject* value, void*) {
  const int truth = value ? PyObject_IsTrue(value) : -1;
  if (truth < 0) return -1;
  return guarded([&] {
    variable_of(self).set_trainable(truth);
    Py_RETURN_NONE;
  })
             ? 0
             : -1;
}
PyObject* get_is_cast(PyObject* self, void*) { return PyBool_FromLong(object_of(self)->is_cast); }
int set_is_cast(PyObject* self, PyObject* value, void*) {
  const int truth = value ? PyObject_IsTrue(value) : -1;
  if (truth < 0) return -1;
  object_of(self)->is_cast = truth != 0;
  return 0;
}
PyObject* get_priority(PyObject*, void*) { return PyLong_FromLong(100); }

PyGetSetDef properties[] = {
    {"shape", get_shape, nullptr, "The sizes along the axes, a TensorShape.", nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
    {"_name", get_name, nullptr, nullptr, nullptr},
    {"trainable", get_trainable, set_trainable, "Whether tapes watch it by themselves.", nullptr},
    {"_autocast", get_is_cast, set_is_cast, nullptr, nullptr},
    {"__array_priority__", get_priority, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {}};

}  // namespace

const Variable& variable_of(PyObject* o) {
  if (!is_variable(o)) raise(PyExc_TypeError, "expected a Variable, got %R", o);
  const Variable& v = object_of(o)->value;
  if (!v.defined())
    raise(PyExc_ValueError, "The Variable has no value yet: its __init__ was not called.");
  return v;
}

namespace {
thread_local std::optional<DType> cast_dtype;
}

std::optional<DType> cast_variables_to(std::optional<DType> dtype) {
  return std::exchange(cast_dtype, dtype);
}

DType dtype_as_read(PyObject* o) {
  const DType own = variable_of(o).dtype();
  return cast_dtype && object_of(o)->is_cast && is_floating(own) ? *cast_dtype : own;
}

Tensor read_variable(PyObject* o) {
  const Tensor value = attributed([&] { return variable_of(o).value(); });
  return cast_dtype && dtype_as_read(o) != value.dtype() ? cast(value, *cast_dtype) : value;
}

PyObject* wrap(const Variable& variable) {
  const auto found = objects().find(variable.state());
  if (found != objects().end()) return Ref::copy(found->second).release();
  auto* type = reinterpret_cast<PyTypeObject*>(class_of("Variable"));
  Ref self = Ref::own(make(type, nullptr, nullptr));
  object_of(self)->value = variable;
  objects()[variable.state()] = self;
  return self.release();
}

PyTypeObject variable_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0)  //
                   .tp_name = "gradus._core.Variable",
    .tp_basicsize = sizeof(VariableObject),
    .tp_dealloc = destroy,
    .tp_repr = repr,
    .tp_as_number = &number_slots,
    .tp_as_sequence = &sequence_slots,
    .tp_as_mapping = &mapping_slots,
    .tp_hash = hash,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_richcompare = compare_tensors,
    .tp_weaklistoffset = offsetof(VariableObject, weak_references),
    .tp_iter = iterate_tensor,
    .tp_methods = methods,
    .tp_getset = properties,
    .tp_dictoffset = offsetof(VariableObject, attributes),
    .tp_new = make,
};

}  // namespace gradus::python
