// The native module gradus._core: types, functions and a few facts about the engine.
#include <map>

#include "function.h"
#include "gradus/memory.h"
#include "gradus/threads.h"
#include "tape.h"

namespace gradus::python {

void add_math_functions();
void add_reduce_functions();
void add_array_functions();
void add_scatter_functions();
void add_linalg_functions();
void add_diagonal_functions();
void add_signal_functions();
void add_layer_functions();
void add_activation_functions();
void add_loss_functions();
void add_layer_call(PyObject* module);
void add_nn_functions();
void add_random_functions();
void add_transforms();
void add_function_type(PyObject* module);
void add_control_functions();
void add_update_functions();
void add_metric_functions();
void add_schedule_functions();
void add_composed_update_functions();
void add_file_functions();
void add_image_file_functions();
void add_saved_function_functions();
void add_host_functions();
void add_graph_functions();

namespace {

std::map<std::string, PyObject*>& classes() {
  static auto* const map = new std::map<std::string, PyObject*>;
  return *map;
}

const FunctionEntry entries[] = {
    {"_set_class", "name, type", "Says which Python class stands for a C type.",
     [](const Arguments& a) -> PyObject* {
       classes()[a.string(0)] = Ref::copy(a[1]).release();
       Py_RETURN_NONE;
     }},
    {"_check_arguments", "yes", "Whether an argument that a function does not read is an error.",
     [](const Arguments& a) -> PyObject* {
       check_arguments(a.boolean(0));
       Py_RETURN_NONE;
     }},
    {"_unread_for_tests", "x, epsilon=None", "A function that ignores its second argument.",
     [](const Arguments& a) { return Ref::copy(a[0]).release(); }},
    {"_signature_for_tests", "text, unused", "How many parameters a signature has.",
     [](const Arguments& a) {
       return PyLong_FromSize_t(Signature(a.string(0).c_str(), a.string(1).c_str()).size());
     }},
    {"is_tensor", "x", "Whether x is a Tensor or a Variable.",
     [](const Arguments& a) {
       return PyBool_FromLong(is_tensor(a[0]) || is_variable(a[0]) || is_kind(a[0]) ||
                              is_rows(a[0]));
     }},
    {"as_dtype dtypes.as_dtype", "type_value", "The dtype of a name, a NumPy dtype or a type.",
     [](const Arguments& a) { return wrap(to_dtype(a[0])); }},
    {"_cast_variables_to", "dtype", "Variables marked _autocast are read with this dtype, or None.",
     [](const Arguments& a) -> PyObject* {
       const auto before = cast_variables_to(
           a[0] == Py_None ? std::optional<DType>() : std::optional<DType>(to_dtype(a[0])));
       if (before) return wrap(*before);
       Py_RETURN_NONE;
     }},
    {"_share", "array", "A tensor over the memory of an array, without a copy.",
     [](const Arguments& a) { return wrap(shared_with(a[0])); }},
    {"_thread_count", "", "Threads that one operation may use.",
     [](const Arguments&) { return PyLong_FromLong(thread_count()); }},
    {"_set_thread_count", "count", "Sets the number of threads.",
     [](const Arguments& a) -> PyObject* {
       set_thread_count(a.small(0));
       Py_RETURN_NONE;
     }},
    {"_memory", "", "Bytes in use and the most that ever were.",
     [](const Arguments&) {
       const MemoryStats stats = memory_stats();
       return Py_BuildValue("{s:n,s:n}", "current", stats.live, "peak", stats.peak);
     }},
    {"_reset_peak_memory", "", "The peak becomes what is in use.",
     [](const Arguments&) -> PyObject* {
       reset_peak_memory();
       Py_RETURN_NONE;
     }},
};

void prepare(PyObject* module) {
  const std::pair<const char*, PyTypeObject*> types[] = {
      {"Tensor", &tensor_type},
      {"Variable", &variable_type},
      {"DType", &dtype_type},
      {"TensorShape", &shape_type},
      {"Size", &size_type},
      {"GradientTape", &tape_type},
      {"ForwardGradientTape", &forward_tape_type},
      {"ForwardAccumulator", &accumulator_type},
      {"GradientBuffers", &buffers_type}};
  check(PyType_Ready(&pause_type));
  for (const auto& [name, type] : types) {
    check(PyType_Ready(type));
    classes()[name] = reinterpret_cast<PyObject*>(type);
    Py_INCREF(type);
    check(PyModule_AddObject(module, name, reinterpret_cast<PyObject*>(type)));
  }
  add_functions(entries);
  add_nest_functions();
  add_math_functions();
  add_reduce_functions();
  add_array_functions();
  add_scatter_functions();
  add_linalg_functions();
  add_diagonal_functions();
  add_signal_functions();
  add_layer_functions();
  add_activation_functions();
  add_loss_functions();
  add_layer_call(module);
  add_nn_functions();
  add_random_functions();
  add_transforms();
  add_function_type(module);
  add_control_functions();
  add_update_functions();
  add_metric_functions();
  add_schedule_functions();
  add_composed_update_functions();
  add_file_functions();
  add_image_file_functions();
  add_saved_function_functions();
  add_host_functions();
  add_graph_functions();
  install_interrupt_handler();
  prepare_for_the_end();
}

PyObject* functions(PyObject*, PyObject*) {
  return guarded([] { return function_list(); });
}

PyMethodDef methods[] = {
    {"_functions", functions, METH_NOARGS,
     "A list of (names, signature, documentation, function) of all functions in tables."},
    {}};

PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                          .m_name = "gradus._core",
                          .m_doc = "The engine of gradus.",
                          .m_size = -1,
                          .m_methods = methods};

}  // namespace

PyObject* class_of(const char* name) {
  const auto found = classes().find(name);
  if (found == classes().end())
    raise(PyExc_RuntimeError, "the class %s is not registered: import gradus first", name);
  return found->second;
}

namespace {

// Of a Python class, which is registered while the package is imported.
bool is_instance(PyObject* o, const char* name, PyTypeObject*& type) {
  if (!type && classes().count(name)) type = reinterpret_cast<PyTypeObject*>(class_of(name));
  return type && PyObject_TypeCheck(o, type);
}

}  // namespace

bool is_kind(PyObject* o) {
  static PyTypeObject* type = nullptr;
  return is_instance(o, "Kind", type);
}

bool is_rows(PyObject* o) {
  static PyTypeObject* type = nullptr;
  return is_instance(o, "IndexedSlices", type);
}

bool is_composite(PyObject* o) {
  static PyTypeObject* type = nullptr;
  return is_instance(o, "Composite", type);
}

}  // namespace gradus::python

PyMODINIT_FUNC PyInit__core() {
  using namespace gradus::python;
  return guarded([] {
    Ref module = Ref::own(PyModule_Create(&definition));
#ifdef Py_GIL_DISABLED
    PyUnstable_Module_SetGIL(module, Py_MOD_GIL_USED);
#endif
    prepare(module);
    return module.release();
  });
}
