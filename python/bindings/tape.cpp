// gradus.GradientTape and gradus.forward_diff.GradientTape: one set of methods for both.
#include "tape.h"

#include <algorithm>
#include <memory>

#include "errors.h"
#include "function.h"
#include "gradus/explain.h"
#include "gradus/ops.h"

namespace gradus::python {

Source to_source(PyObject* o) {
  if (is_tensor(o)) return tensor_of(o);
  if (is_variable(o)) return variable_of(o);
  raise(PyExc_ValueError,
        "Passed in object %R of type %R, not tf.Tensor or tf.Variable or ExtensionType.", o,
        reinterpret_cast<PyObject*>(Py_TYPE(o)));
}

Unconnected to_unconnected(PyObject* o) {
  if (o == Py_None) return Unconnected::none;
  const Ref value =
      PyUnicode_Check(o) ? Ref::copy(o) : Ref::own(PyObject_GetAttrString(o, "value"));
  const std::string name = PyUnicode_Check(value) ? to_string(value) : "";
  if (name == "zero") return Unconnected::zero;
  if (name != "none")
    raise(PyExc_ValueError, "Unknown value for unconnected_gradients: '%S'", value.get());
  return Unconnected::none;
}

namespace {

// A shape as a tensor; while a function is traced, of sizes that its calls will have.
Tensor tensor_of_sizes(const Shape& shape) {
  if (shape.is_known()) return Tensor::from(std::vector<std::int32_t>(shape.begin(), shape.end()));
  std::vector<Tensor> sizes;
  for (const Size n : shape) sizes.push_back(reshape(dynamic_size(n), {1}));
  return cast(concat(sizes, 0), int32);
}

}  // namespace

Ref wrap_gradient(const Gradient& gradient) {
  if (gradient.is_none()) return Ref::copy(Py_None);
  if (!gradient.is_rows()) return Ref::own(wrap(gradient.values()));
  const Ref values = Ref::own(wrap(gradient.values())),
            indices = Ref::own(wrap(gradient.indices()));
  const Ref sizes = Ref::own(wrap(tensor_of_sizes(gradient.dense_shape())));
  return Ref::own(PyObject_CallFunctionObjArgs(class_of("IndexedSlices"), values.get(),
                                               indices.get(), sizes.get(), nullptr));
}

Gradient to_gradient(PyObject* o, const Shape* shape) {
  if (o == Py_None) return {};
  if (is_tensor(o)) return tensor_of(o);
  if (is_rows(o)) {
    const auto part = [&](const char* name) { return Ref::own(PyObject_GetAttrString(o, name)); };
    const Ref sizes = part("_dense_shape");
    if (sizes != Py_None || shape)
      return {to_tensor(part("_indices")), to_tensor(part("_values")),
              shape ? *shape : to_shape(sizes)};
  }
  return to_tensor(o);
}

namespace {

struct BuffersObject {
  PyObject_HEAD std::vector<GradientBuffer> buffers;
};
std::vector<GradientBuffer>& buffers_of(PyObject* self) {
  return reinterpret_cast<BuffersObject*>(self)->buffers;
}
// Buffers for so many sources, which the first use decides.
std::vector<GradientBuffer>& buffers_for(PyObject* self, std::size_t count) {
  if (!PyObject_TypeCheck(self, &buffers_type))
    raise(PyExc_TypeError, "`into` must be a gradus.GradientBuffers, got %R", self);
  std::vector<GradientBuffer>& buffers = buffers_of(self);
  if (buffers.empty()) buffers.resize(count);
  if (buffers.size() != count)
    raise(PyExc_ValueError, "The buffers hold gradients of %zu sources; %zu were given.",
          buffers.size(), count);
  return buffers;
}

template <class Tape>
struct TapeObject {
  PyObject_HEAD std::unique_ptr<Tape> tape;  // from the first `with` on
  TapeOptions options;
  std::uint64_t long_works;  // of this thread, when recording began
};

template <class Tape>
class Methods {
 public:
  using Object = TapeObject<Tape>;
  static Object* object_of(PyObject* self) { return reinterpret_cast<Object*>(self); }

  static Tape& tape_of(PyObject* self) {
    if (!object_of(self)->tape)
      raise(PyExc_RuntimeError,
            "The tape has not recorded anything: use it in a `with` statement first.");
    return *object_of(self)->tape;
  }

  static PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
    static const char* names[] = {"persistent", "watch_accessed_variables", nullptr};
    int persistent = 0, watch = 1;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|pp", const_cast<char**>(names),
                                     &persistent, &watch))
      return nullptr;
    PyObject* self = type->tp_alloc(type, 0);
    if (!self) return nullptr;
    new (&object_of(self)->tape) std::unique_ptr<Tape>();
    new (&object_of(self)->options)
        TapeOptions{.persistent = persistent != 0, .watch_accessed_variables = watch != 0};
    return self;
  }

  static void destroy(PyObject* self) {
    object_of(self)->tape.~unique_ptr();
    Py_TYPE(self)->tp_free(self);
  }

  static PyObject* enter(PyObject* self, PyObject*) {
    return guarded([&] {
      Object* object = object_of(self);
      if (object->tape && object->tape->is_recording())
        raise(PyExc_ValueError, "Tape is still recording.");
      if (object->tape) {
        object->tape->resume();
      } else {
        object->tape = std::make_unique<Tape>(object->options);
      }
      object->long_works = long_work_count();
      Py_INCREF(self);
      return self;
    });
  }

  static PyObject* exit(PyObject* self, PyObject* const*, Py_ssize_t) {
    return guarded([&]() -> PyObject* {
      if (object_of(self)->tape) object_of(self)->tape->stop();
      Py_RETURN_NONE;
    });
  }

  static PyObject* watch(PyObject* self, PyObject* what) {
    return guarded([&]() -> PyObject* {
      Tape& tape = tape_of(self);
      for (const Ref& leaf : flatten(what)) {
        const Source source = to_source(leaf);
        if (!is_differentiable(source.dtype())) {
          check(PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                                 "The dtype of the watched tensor must be floating (e.g. "
                                 "tf.float32), got tf.%s",
                                 name_of(source.dtype())));
          continue;
        }
        source.is_variable() ? tape.watch(source.variable()) : tape.watch(source.tensor());
      }
      Py_RETURN_NONE;
    });
  }

  static PyObject* reset(PyObject* self, PyObject*) {
    return guarded([&]() -> PyObject* {
      tape_of(self).reset();
      Py_RETURN_NONE;
    });
  }

  static PyObject* watched_variables(PyObject* self, PyObject*) {
    return guarded([&]() -> PyObject* {
      const std::vector<Variable> variables = tape_of(self).watched_variables();
      Ref tuple = Ref::own(PyTuple_New(static_cast<Py_ssize_t>(variables.size())));
      for (std::size_t i = 0; i < variables.size(); ++i)
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(variables[i]));
      return tuple.release();
    });
  }

  static constexpr const char* kSourcesNone =
      "sources=None: pass the tensors or variables to differentiate with respect to.";

  template <class F>
  static auto run(PyObject* self, F&& f) {
    return object_of(self)->long_works != long_work_count() ? long_work(f) : f();
  }

  static inline const char* const kGradient = "gradient";
  static inline const char* const kGradientSignature =
      "target, sources, output_gradients=None, unconnected_gradients=None, into=None";
  static PyObject* gradient(PyObject* self, const Arguments& a) {
    Tape& tape = tape_of(self);
    GradientOptions options{.unconnected = to_unconnected(a[3])};
    std::vector<Tensor> targets;
    if (is_tensor(a[0])) {
      targets.push_back(tensor_of(a[0]));
    } else {
      if (a.is_none(0))
        raise(PyExc_TypeError,
              "Argument `target` should be a list or nested structure of Tensors, "
              "Variables or CompositeTensors to be differentiated, but received "
              "None.");
      for (const Ref& leaf : flatten(a[0])) targets.push_back(to_tensor(leaf));
    }
    if (!a.is_none(2)) {
      const std::vector<Ref> given = flatten(a[2]);
      if (given.size() != targets.size())
        raise(PyExc_ValueError, "output_gradients has %zu leaves, but there are %zu targets.",
              given.size(), targets.size());
      for (std::size_t i = 0; i < given.size(); ++i)
        options.output_gradients.push_back(
            given[i] == Py_None ? Tensor() : to_tensor(given[i], targets[i].dtype()));
    }
    if (!a.is_none(4)) options.into = &buffers_for(a[4], flatten(a[1]).size());
    if (!is_structure(a[1])) {
      const std::vector<Source> sources{to_source(a[1])};
      return wrap_gradient(run(self, [&] { return tape.gradient(targets, sources, options); })[0])
          .release();
    }
    std::vector<Source> sources;
    for (const Ref& leaf : flatten(a[1])) sources.push_back(to_source(leaf));
    return packed(a[1], run(self, [&] { return tape.gradient(targets, sources, options); }));
  }

  static PyObject* packed(PyObject* structure, const std::vector<Gradient>& gradients) {
    std::vector<Ref> leaves;
    for (const Gradient& g : gradients) leaves.push_back(wrap_gradient(g));
    return pack(structure, leaves).release();
  }

  static inline const char* const kJacobian = "jacobian";
  static inline const char* const kJacobianUnused =
      "parallel_iterations: all rows are computed at once; "
      "experimental_use_pfor: rows are computed at once or one by one, with the same numbers";
  static inline const char* const kJacobianSignature =
      "target, sources, unconnected_gradients=None, parallel_iterations=None, "
      "experimental_use_pfor=True";
  static PyObject* jacobian(PyObject* self, const Arguments& a) {
    Tape& tape = tape_of(self);
    const Tensor target = a.tensor(0);
    std::vector<Source> sources;
    for (const Ref& leaf : flatten(a[1])) sources.push_back(to_source(leaf));
    const Unconnected unconnected = to_unconnected(a[2]);
    return packed(a[1], run(self, [&] { return tape.jacobian(target, sources, unconnected); }));
  }

  static inline const char* const kBatchJacobian = "batch_jacobian";
  static inline const char* const kBatchJacobianSignature =
      "target, source, unconnected_gradients=None, parallel_iterations=None, "
      "experimental_use_pfor=True";
  static PyObject* batch_jacobian(PyObject* self, const Arguments& a) {
    Tape& tape = tape_of(self);
    const Tensor target = a.tensor(0);
    const Source source = to_source(a[1]);
    const Unconnected unconnected = to_unconnected(a[2]);
    return wrap_gradient(
               run(self, [&] { return tape.batch_jacobian(target, source, unconnected); }))
        .release();
  }
};

using Reverse = Methods<GradientTape>;
using Forward = Methods<forward_diff::GradientTape>;

const char* const kExplain = "explain";
const char* const kExplainSignature = "target, source";
PyObject* explain(PyObject* self, const Arguments& a) {
  return text(Reverse::tape_of(self).explain(a.tensor(0), to_source(a[1]))).release();
}

PyObject* report(PyObject* self, PyObject*) {
  return guarded(
      [&] { return text(gradus::to_string(Reverse::tape_of(self).report())).release(); });
}

// ------------------------------------------------------------------- tape.stop_recording()

struct PauseObject {
  PyObject_HEAD PyObject* tape;
  std::unique_ptr<GradientTape::Pause> reverse;
  std::unique_ptr<forward_diff::GradientTape::Pause> forward;
};
PauseObject* pause_of(PyObject* self) { return reinterpret_cast<PauseObject*>(self); }

void destroy_pause(PyObject* self) {
  pause_of(self)->reverse.~unique_ptr();
  pause_of(self)->forward.~unique_ptr();
  Py_DECREF(pause_of(self)->tape);
  PyObject_Free(self);
}

PyObject* enter_pause(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    PauseObject* pause = pause_of(self);
    if (PyObject_TypeCheck(pause->tape, &tape_type))
      pause->reverse = std::make_unique<GradientTape::Pause>(Reverse::tape_of(pause->tape));
    else
      pause->forward =
          std::make_unique<forward_diff::GradientTape::Pause>(Forward::tape_of(pause->tape));
    Py_RETURN_NONE;
  });
}

PyObject* exit_pause(PyObject* self, PyObject* const*, Py_ssize_t) {
  pause_of(self)->reverse.reset();
  pause_of(self)->forward.reset();
  Py_RETURN_NONE;
}

template <class Tape>
PyObject* stop_recording(PyObject* self, PyObject*) {
  return guarded([&] {
    if (!Methods<Tape>::object_of(self)->tape || !Methods<Tape>::tape_of(self).is_recording())
      raise(PyExc_RuntimeError, "Trying to stop recording a tape which is not recording.");
    auto* pause = PyObject_New(PauseObject, &pause_type);
    if (!pause) throw PythonError();
    new (&pause->reverse) std::unique_ptr<GradientTape::Pause>();
    new (&pause->forward) std::unique_ptr<forward_diff::GradientTape::Pause>();
    pause->tape = Ref::copy(self).release();
    return reinterpret_cast<PyObject*>(pause);
  });
}

template <class F>
PyCFunction as_method(F f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;

template <class M, class Tape>
std::vector<PyMethodDef> common_methods() {
  return {
      {"__enter__", M::enter, METH_NOARGS, nullptr},
      {"__exit__", as_method(M::exit), METH_FASTCALL, nullptr},
      {"watch", M::watch, METH_O,
       "watch($self, tensor)\n--\n\nFollows a tensor, a variable or a structure of them."},
      {"reset", M::reset, METH_NOARGS,
       "reset($self)\n--\n\nForgets what was recorded and records on."},
      {"stop_recording", stop_recording<Tape>, METH_NOARGS,
       "stop_recording($self)\n--\n\nA context in which this tape does not record."},
      {"watched_variables", M::watched_variables, METH_NOARGS,
       "watched_variables($self)\n--\n\nThe variables that were read or watched, a tuple."},
      {"gradient", as_method(call_method<M::kGradient, M::kGradientSignature, M::gradient>), kFast,
       "gradient($self, target, sources, output_gradients=None, unconnected_gradients=None, "
       "into=None)\n--\n\nThe gradient of the sum of the targets with respect to each source, in "
       "the "
       "structure\n"
       "of the sources; None where there is no dependence."},
      {"jacobian",
       as_method(call_method<M::kJacobian, M::kJacobianSignature, M::jacobian, M::kJacobianUnused>),
       kFast,
       "jacobian($self, target, sources, unconnected_gradients=None, parallel_iterations=None, "
       "experimental_use_pfor=True)\n--\n\n"
       "d target / d source, of shape target.shape + source.shape, for each source."},
  };
}

PyMethodDef* reverse_methods() {
  static auto* const methods = new std::vector<PyMethodDef>([] {
    auto list = common_methods<Reverse, GradientTape>();
    list.push_back(
        {"batch_jacobian",
         as_method(call_method<Reverse::kBatchJacobian, Reverse::kBatchJacobianSignature,
                               Reverse::batch_jacobian, Reverse::kJacobianUnused>),
         kFast,
         "batch_jacobian($self, target, source, unconnected_gradients=None, "
         "parallel_iterations=None, experimental_use_pfor=True)\n--\n\n"
         "The Jacobian of each example along axis 0 by itself: shape (b, target..., source...)."});
    list.push_back({"explain", as_method(call_method<kExplain, kExplainSignature, explain>), kFast,
                    "explain($self, target, source)\n--\n\n"
                    "Why the gradient of target with respect to source is what it is, in words."});
    list.push_back(
        {"report", report, METH_NOARGS,
         "report($self)\n--\n\n"
         "What was recorded: ops, bytes that are kept, and what cannot have a gradient."});
    list.push_back({});
    return list;
  }());
  return methods->data();
}
PyMethodDef* forward_methods() {
  static auto* const methods = new std::vector<PyMethodDef>([] {
    auto list = common_methods<Forward, forward_diff::GradientTape>();
    list.push_back({});
    return list;
  }());
  return methods->data();
}

PyMethodDef pause_methods[] = {{"__enter__", enter_pause, METH_NOARGS, nullptr},
                               {"__exit__", as_method(exit_pause), METH_FASTCALL, nullptr},
                               {}};

}  // namespace

PyTypeObject tape_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0)  //
                   .tp_name = "gradus.GradientTape",
    .tp_basicsize = sizeof(Reverse::Object),
    .tp_dealloc = Reverse::destroy,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc =
        "GradientTape(persistent=False, watch_accessed_variables=True)\n--\n\n"
        "Records operations for automatic differentiation.",
    .tp_methods = reverse_methods(),
    .tp_new = Reverse::make,
};

PyTypeObject forward_tape_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0)  //
                   .tp_name = "gradus.forward_diff.GradientTape",
    .tp_basicsize = sizeof(Forward::Object),
    .tp_dealloc = Forward::destroy,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc =
        "GradientTape(persistent=False, watch_accessed_variables=True)\n--\n\n"
        "The calls of gradus.GradientTape in forward mode: cheap where sources are small.",
    .tp_methods = forward_methods(),
    .tp_new = Forward::make,
};

PyTypeObject pause_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0)  //
                   .tp_name = "gradus._core.Pause",
    .tp_basicsize = sizeof(PauseObject),
    .tp_dealloc = destroy_pause,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = pause_methods,
};

// ------------------------------------------------------------------- GradientBuffers

namespace {

PyObject* make_buffers(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self) new (&reinterpret_cast<BuffersObject*>(self)->buffers) std::vector<GradientBuffer>();
  return self;
}

void destroy_buffers(PyObject* self) {
  std::destroy_at(&reinterpret_cast<BuffersObject*>(self)->buffers);
  Py_TYPE(self)->tp_free(self);
}

PyObject* buffer_values(PyObject* self, PyObject*) {
  return guarded([&] {
    Ref list = Ref::own(PyList_New(0));
    for (const GradientBuffer& b : buffers_of(self))
      check(PyList_Append(list, wrap_gradient(b.value())));
    return list.release();
  });
}

PyObject* reset_buffers(PyObject* self, PyObject*) {
  for (GradientBuffer& b : buffers_of(self)) b.reset();
  Py_RETURN_NONE;
}

PyMethodDef buffer_methods[] = {
    {"values", buffer_values, METH_NOARGS, "values($self)\n--\n\nThe sums so far, one per source."},
    {"reset", reset_buffers, METH_NOARGS, "reset($self)\n--\n\nBegins anew."},
    {}};

}  // namespace

PyTypeObject buffers_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0)  //
                   .tp_name = "gradus.GradientBuffers",
    .tp_basicsize = sizeof(BuffersObject),
    .tp_dealloc = destroy_buffers,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc =
        "GradientBuffers()\n--\n\n"
        "Gradients that calls of tape.gradient(..., into=buffers) add to, in place where the "
        "memory allows.",
    .tp_methods = buffer_methods,
    .tp_new = make_buffers,
};

// ------------------------------------------------------------------- ForwardAccumulator

namespace {

struct AccumulatorObject {
  PyObject_HEAD std::unique_ptr<ForwardAccumulator> accumulator;  // from `with` on
  std::vector<std::pair<Source, Tensor>> pairs;
};
AccumulatorObject* accumulator_of(PyObject* self) {
  return reinterpret_cast<AccumulatorObject*>(self);
}

PyObject* make_accumulator(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    static const char* names[] = {"primals", "tangents", nullptr};
    PyObject *primals, *tangents;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO", const_cast<char**>(names), &primals,
                                     &tangents))
      throw PythonError();
    std::vector<std::pair<Source, Tensor>> pairs;
    const std::vector<Ref> at = flatten(primals), along = flatten(tangents);
    if (at.size() != along.size())
      raise(PyExc_ValueError, "There are %zu primals and %zu tangents.", at.size(), along.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Source source = to_source(at[i]);
      pairs.emplace_back(source, to_tensor(along[i], source.dtype()));
    }
    PyObject* self = type->tp_alloc(type, 0);
    if (!self) throw PythonError();
    new (&accumulator_of(self)->accumulator) std::unique_ptr<ForwardAccumulator>();
    new (&accumulator_of(self)->pairs) std::vector(std::move(pairs));
    return self;
  });
}

void destroy_accumulator(PyObject* self) {
  accumulator_of(self)->accumulator.~unique_ptr();
  std::destroy_at(&accumulator_of(self)->pairs);
  Py_TYPE(self)->tp_free(self);
}

PyObject* enter_accumulator(PyObject* self, PyObject*) {
  return guarded([&] {
    AccumulatorObject* object = accumulator_of(self);
    object->accumulator.reset();
    object->accumulator = std::make_unique<ForwardAccumulator>(object->pairs);
    Py_INCREF(self);
    return self;
  });
}

PyObject* exit_accumulator(PyObject* self, PyObject* const*, Py_ssize_t) {
  return guarded([&]() -> PyObject* {
    if (accumulator_of(self)->accumulator) accumulator_of(self)->accumulator->stop();
    Py_RETURN_NONE;
  });
}

const char* const kJvp = "jvp";
const char* const kJvpSignature = "primals, unconnected_gradients=None";
PyObject* jvp(PyObject* self, const Arguments& a) {
  if (!accumulator_of(self)->accumulator)
    raise(PyExc_ValueError, "Called jvp() without first entering the accumulator with `with`.");
  const Unconnected unconnected = to_unconnected(a[1]);
  std::vector<Ref> tangents;
  for (const Ref& leaf : flatten(a[0]))
    tangents.push_back(
        wrap_gradient(accumulator_of(self)->accumulator->jvp(to_tensor(leaf), unconnected)));
  return pack(a[0], tangents).release();
}

PyMethodDef accumulator_methods[] = {
    {"__enter__", enter_accumulator, METH_NOARGS, nullptr},
    {"__exit__", as_method(exit_accumulator), METH_FASTCALL, nullptr},
    {"jvp", as_method(call_method<kJvp, kJvpSignature, jvp>), kFast,
     "jvp($self, primals, unconnected_gradients=None)\n--\n\n"
     "The derivatives of `primals` along the tangents given at construction."},
    {}};

}  // namespace

PyTypeObject accumulator_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0)  //
                   .tp_name = "gradus.autodiff.ForwardAccumulator",
    .tp_basicsize = sizeof(AccumulatorObject),
    .tp_dealloc = destroy_accumulator,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc =
        "ForwardAccumulator(primals, tangents)\n--\n\n"
        "Computes Jacobian-vector products while the program runs, in forward mode.",
    .tp_methods = accumulator_methods,
    .tp_new = make_accumulator,
};

}  // namespace gradus::python
