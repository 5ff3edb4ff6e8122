// The type gradus.Function: a Python function that is traced and compiled.
//
// A call places its arguments by the function's signature, walks them into a key (function_key.h)
// and hands the tensors to the engine's FunctionCore, of which there is one per key. Numbers are
// part of the key at first, as in TensorFlow. When one changes, the function is traced once more
// with the number as an input; if that fails, because the function asks for its value (a shape, a
// test), it stays a part of the key for good.
//
// The rest of the class (decorator, specs, concrete functions) is gradus/_function.py.
#include <cstddef>
#include <map>
#include <memory>
#include <new>
#include <unordered_map>

#include "errors.h"
#include "function.h"
#include "function_key.h"
#include "function_results.h"
#include "gradus/ops.h"
#include "lines.h"
#include "nest.h"
#include "traced.h"

#include <structmember.h>  // needs Python.h

namespace gradus::python {

namespace {

// Raised while the function is traced: the engine may try another way, and then drops it.
class BodyFailed : public PythonFailure {};

// The first trace made variables: the function is traced again, when it may not.
struct VariablesCreated {};

// One set of numbers that are part of the key, and all traces for it.
struct Variant {
  explicit Variant(const FunctionOptions& options) : core(options) {}
  detail::FunctionCore core;
};

struct Family {
  explicit Family(const Walked& walked) : key(walked), roles(walked.numbers.size()) {}
  Key key;
  enum class Role : std::uint8_t { seen_one_value, is_input, is_fixed };
  std::vector<Role> roles;  // of the numbers
  std::vector<Number> last;
  std::vector<DType> results;  // what a trace with fixed numbers returned
  std::map<std::string, std::unique_ptr<Variant>> variants;  // by the fixed numbers
  Variant* only = nullptr;                                   // if there are no numbers
};

struct Parameter {
  Ref name, fallback;  // no fallback: required
  bool keyword_only;
};

struct Plan {
  FunctionOptions options;
  std::vector<Parameter> parameters;
  std::size_t positional = 0;
  bool has_signature = false;  // else arguments are taken as they come
  std::vector<Ref> input_signature;
  bool has_input_signature = false, is_prepared = false;
  bool is_traced = false;     // later traces may not create variables
  bool runs_eagerly = false;  // what its body does no program can: MustRunEagerly in _function.py
  std::string why_eagerly;
  std::unordered_multimap<std::size_t, std::unique_ptr<Family>> families;
  Family* last = nullptr;
};

struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* function;
  PyObject* owner;  // of a method: a weak reference to its object
  PyObject* instances;
  PyObject* attributes;
  PyObject* weak_references;
  Plan* plan;
};
FunctionObject* object_of(PyObject* self) { return reinterpret_cast<FunctionObject*>(self); }

bool run_eagerly = false;
// The object whose method was asked for last, until the call: Model().step(x) drops it before.
thread_local PyObject* about_to_be_called = nullptr;
thread_local int variables_created = 0;
thread_local bool may_create = false;

// ------------------------------------------------------------------------------ arguments

[[noreturn]] void fail_binding(const Plan& plan, const char* what, PyObject* about) {
  raise(PyExc_TypeError, "Binding inputs to tf.function failed due to `%s %R` in a call of %s",
        what, about, plan.options.name.c_str());
}

using Places = std::vector<Ref>;

// One object per parameter; without a signature a tuple and a dict.
Places place(const Plan& plan, PyObject* const* arguments, std::size_t count, PyObject* names) {
  const std::size_t named = names ? static_cast<std::size_t>(PyTuple_GET_SIZE(names)) : 0;
  Places places;
  if (!plan.has_signature) {
    Ref all = Ref::own(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (std::size_t i = 0; i < count; ++i)
      PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), Ref::copy(arguments[i]).release());
    Ref by_name = Ref::own(PyDict_New());
    for (std::size_t i = 0; i < named; ++i)
      check(PyDict_SetItem(by_name, PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i)),
                           arguments[count + i]));
    places.push_back(std::move(all));
    places.push_back(std::move(by_name));
    return places;
  }
  const std::vector<Parameter>& parameters = plan.parameters;
  if (count > plan.positional)
    raise(PyExc_TypeError,
          "Binding inputs to tf.function failed due to `too many positional arguments`: %s takes "
          "%zu, %zu were given",
          plan.options.name.c_str(), plan.positional, count);
  places.reserve(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    places.push_back(i < count ? Ref::copy(arguments[i]) : Ref());
  for (std::size_t k = 0; k < named; ++k) {
    PyObject* name = PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(k));
    std::size_t i = 0;
    while (i < parameters.size() && PyUnicode_Compare(parameters[i].name, name) != 0) ++i;
    if (i == parameters.size()) fail_binding(plan, "got an unexpected keyword argument", name);
    if (places[i]) fail_binding(plan, "multiple values for argument", name);
    places[i] = Ref::copy(arguments[count + k]);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (places[i]) continue;
    if (!parameters[i].fallback)
      fail_binding(plan, "missing a required argument:", parameters[i].name);
    places[i] = parameters[i].fallback;
  }
  return places;
}

// An argument as its spec wants it: tensors in place of whatever converts to them.
Ref as_specified(const Plan& plan, PyObject* spec, PyObject* value) {
  if (spec == Py_None) return Ref::copy(value);
  if (PyList_Check(spec) || PyTuple_Check(spec)) {
    if ((!PyList_Check(value) && !PyTuple_Check(value)) ||
        PySequence_Fast_GET_SIZE(value) != PySequence_Fast_GET_SIZE(spec))
      fail_binding(plan, "the structure is not that of the input_signature", value);
    Ref tuple = Ref::own(PyTuple_New(PySequence_Fast_GET_SIZE(value)));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i)
      PyTuple_SET_ITEM(
          tuple.get(), i,
          as_specified(plan, PySequence_Fast_ITEMS(spec)[i], PySequence_Fast_ITEMS(value)[i])
              .release());
    if (PyList_Check(value)) return Ref::own(PySequence_List(tuple));
    if (PyTuple_CheckExact(value)) return tuple;
    return Ref::own(PyObject_CallObject(reinterpret_cast<PyObject*>(Py_TYPE(value)), tuple));
  }
  if (PyDict_Check(spec)) {
    if (!PyDict_Check(value) || PyDict_Size(value) != PyDict_Size(spec))
      fail_binding(plan, "the structure is not that of the input_signature", value);
    Ref result = Ref::own(PyDict_New());
    PyObject *key = nullptr, *part = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(spec, &at, &key, &part);) {
      PyObject* given = PyDict_GetItem(value, key);
      if (!given) fail_binding(plan, "the structure is not that of the input_signature", value);
      check(PyDict_SetItem(result, key, as_specified(plan, part, given)));
    }
    return result;
  }
  const Ref dtype = Ref::own(PyObject_GetAttrString(spec, "dtype"));
  const Ref shape = Ref::own(PyObject_GetAttrString(spec, "shape"));
  Tensor t;
  try {
    t = to_tensor(value, to_dtype(dtype));
  } catch (const PythonError&) {
    PyErr_Clear();
    raise(PyExc_TypeError, "Binding inputs to tf.function failed due to `Can not cast %R to %R`.",
          value, spec);
  }
  PyObject* sizes = shape_sizes(shape);
  bool fits = sizes == Py_None || PyTuple_GET_SIZE(sizes) == t.rank();
  for (int i = 0; fits && sizes != Py_None && i < t.rank(); ++i) {
    PyObject* size = PyTuple_GET_ITEM(sizes, i);
    fits = size == Py_None || !t.shape()[i].is_known() || to_int(size) == t.shape()[i];
  }
  if (!fits)
    raise(PyExc_TypeError,
          "Binding inputs to tf.function failed due to `Can not cast TensorSpec(shape=%s, "
          "dtype=tf.%s, name=None) to %R`.",
          gradus::to_string(t.shape()).c_str(), name_of(t.dtype()), spec);
  return Ref::own(wrap(t));
}

// --------------------------------------------------------------------------------- tracing

Ref call_python(FunctionObject* f, const Plan& plan, const std::vector<Ref>& places) {
  Ref first;
  if (f->owner) {
    first = Ref::own(PyObject_CallNoArgs(f->owner));
    if (first == Py_None)
      raise(PyExc_ReferenceError, "the object of the method %s is gone", plan.options.name.c_str());
  }
  std::vector<Ref> leading;
  Ref by_name;
  if (plan.has_signature) {
    leading.assign(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(plan.positional));
    for (std::size_t i = plan.positional; i < places.size(); ++i) {
      if (!by_name) by_name = Ref::own(PyDict_New());
      check(PyDict_SetItem(by_name, plan.parameters[i].name, places[i]));
    }
  } else {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(places[0].get()); ++i)
      leading.push_back(Ref::copy(PyTuple_GET_ITEM(places[0].get(), i)));
    by_name = places[1];
  }
  const Py_ssize_t shift = first ? 1 : 0;
  const Ref all = Ref::own(PyTuple_New(static_cast<Py_ssize_t>(leading.size()) + shift));
  if (first) PyTuple_SET_ITEM(all.get(), 0, first.release());
  for (std::size_t i = 0; i < leading.size(); ++i)
    PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i) + shift, leading[i].release());
  return Ref::own(PyObject_Call(f->function, all, by_name.get()));
}

// Runs the Python function on traced tensors.
struct Body {
  FunctionObject* self;
  const Places* places;
  const Walked* walked;
  const Family* family;
  const std::vector<bool>* number_is_input;
  bool is_trial = false;
  std::vector<DType>* results;
  Ref* specs = nullptr;  // wanted: the structure of results, as TensorSpecs

  detail::FunctionCore::Made operator()(const std::vector<Tensor>& in) const {
    const HoldGil gil;
    try {
      return run(in);
    } catch (const PythonError&) {
      throw BodyFailed();
    }
  }

 private:
  Places arguments(const std::vector<Tensor>& in) const {
    std::vector<Ref> originals;
    for (const Ref& p : *places)
      for (Ref& leaf : flatten(p, Composites::are_expanded)) originals.push_back(std::move(leaf));
    std::vector<Ref> leaves;
    std::size_t tensor = 0, number = 0, leaf = 0;
    const std::size_t tensors =
        walked->kinds_only ? walked->expected.size() : walked->tensors.size();
    std::size_t number_input = tensors;
    for (const Token& t : walked->tokens) {
      if (t.part == Part::structure || t.part == Part::key) continue;
      if (t.part == Part::tensor) {
        leaves.push_back(Ref::own(wrap(in[tensor++])));
      } else if (t.part == Part::number && (*number_is_input)[number]) {
        const Ref value = Ref::own(wrap(in[number_input++]));
        leaves.push_back(Ref::own(PyObject_CallFunctionObjArgs(
            imported("gradus._function", "TracedNumber"), value.get(),
            walked->numbers[number].is_real ? Py_True : Py_False, nullptr)));
      } else {
        leaves.push_back(originals[leaf]);
      }
      if (t.part == Part::number) ++number;
      ++leaf;
    }
    Places result;
    auto next = leaves.begin();
    for (const Ref& p : *places) {
      const auto count = static_cast<std::ptrdiff_t>(flatten(p, Composites::are_expanded).size());
      result.push_back(pack(p, std::vector<Ref>(next, next + count), Composites::are_expanded));
      next += count;
    }
    return result;
  }

  detail::FunctionCore::Made run(const std::vector<Tensor>& in) const {
    const Plan& plan = *self->plan;
    const int created_before = std::exchange(variables_created, 0);
    const bool could_create = std::exchange(may_create, !plan.is_traced);
    struct Restore {
      int created;
      bool could;
      ~Restore() {
        variables_created += created;
        may_create = could;
      }
    } const restore{created_before, could_create};

    const Ref result = call_python(self, plan, arguments(in));
    if (variables_created > 0) throw VariablesCreated();
    std::shared_ptr<Returned> returned = Returned::make();
    std::vector<Tensor> tensors = take_apart(self->function, result, *returned);
    std::vector<DType> dtypes;
    for (const Tensor& t : tensors) dtypes.push_back(t.dtype());
    if (is_trial && dtypes != family->results)
      raise(PyExc_TypeError, "the results have other dtypes when a number is an input");
    *results = dtypes;
    if (specs) {
      std::vector<Ref> leaves;
      for (const Tensor& t : tensors) {
        const Ref shape = Ref::own(wrap_shape(t.shape())), dtype = Ref::own(wrap(t.dtype()));
        leaves.push_back(Ref::own(PyObject_CallFunctionObjArgs(
            imported("gradus._compositions", "TensorSpec"), shape.get(), dtype.get(), nullptr)));
      }
      bool plain = leaves.size() == returned->leaves.size();
      *specs =
          plain ? pack(returned->structure, leaves, Composites::are_expanded) : Ref::copy(Py_None);
    }
    return {std::move(tensors), std::any(std::move(returned))};
  }
};

// ------------------------------------------------------------------------------------ calls

Family& family_of(Plan& plan, const Walked& walked) {
  if (plan.last && plan.last->key.matches(walked)) return *plan.last;
  const auto [first, end] = plan.families.equal_range(walked.hash);
  for (auto at = first; at != end; ++at)
    if (at->second->key.matches(walked)) return *(plan.last = at->second.get());
  const auto made = plan.families.emplace(walked.hash, std::make_unique<Family>(walked));
  return *(plan.last = made->second.get());
}

std::string variant_name(const Walked& walked, const std::vector<bool>& is_input) {
  std::string name;
  for (std::size_t i = 0; i < walked.numbers.size(); ++i) {
    name += is_input[i] ? 'i' : 'f';
    if (!is_input[i])
      name.append(reinterpret_cast<const char*>(&walked.numbers[i].integer), sizeof(std::int64_t));
  }
  return name;
}

detail::FunctionCore::Results run(Variant& variant, const Walked& walked,
                                  const std::vector<bool>& is_input, const Body& body) {
  std::vector<Tensor> in;
  in.reserve(walked.tensors.size() + walked.numbers.size());
  in = walked.tensors;
  for (std::size_t i = 0; i < is_input.size(); ++i) {
    if (!is_input[i]) continue;
    const Number& n = walked.numbers[i];
    in.push_back(n.is_real ? gradus::detail::weak_number(n.real)
                           : gradus::detail::weak_number(n.integer));
  }
  // Without the GIL, also because the engine locks while it traces, and Python is called then.
  return attributed(
      [&] { return long_work([&] { return variant.core.call(std::move(in), std::cref(body)); }); });
}

// Runs, once more if the first trace created variables.
template <class F>
auto with_variables(Plan& plan, F&& f) {
  try {
    auto results = f();
    plan.is_traced = true;
    return results;
  } catch (const VariablesCreated&) {
    plan.is_traced = true;
    return f();
  }
}

PyObject* call_traced(FunctionObject* self, const Places& places) {
  Plan& plan = *self->plan;
  Walked walked;
  walked.tokens.reserve(16);
  for (const Ref& p : places) walked.walk(p);
  Family& family = family_of(plan, walked);

  std::vector<bool> is_input(walked.numbers.size()), tried(walked.numbers.size());
  bool is_trial = false;
  for (std::size_t i = 0; i < is_input.size(); ++i) {
    is_input[i] = family.roles[i] == Family::Role::is_input;
    if (family.roles[i] == Family::Role::seen_one_value && !family.last.empty() &&
        !(family.last[i] == walked.numbers[i])) {
      is_input[i] = tried[i] = is_trial = true;
    }
  }
  std::vector<DType> dtypes;
  Body body{self, &places, &walked, &family, &is_input, is_trial, &dtypes};
  const auto go = [&](Variant& v) {
    return with_variables(plan, [&] { return run(v, walked, is_input, body); });
  };
  const auto finish = [&](const detail::FunctionCore::Results& results) {
    const auto& returned = std::any_cast<const std::shared_ptr<Returned>&>(*results.structure);
    return put_together(*returned, results.tensors).release();
  };
  if (is_trial) {
    auto variant = std::make_unique<Variant>(plan.options);
    try {
      const auto results = go(*variant);
      for (std::size_t i = 0; i < tried.size(); ++i)
        if (tried[i]) family.roles[i] = Family::Role::is_input;
      family.variants[variant_name(walked, is_input)] = std::move(variant);
      return finish(results);
    } catch (const BodyFailed& e) {
      if (!e.is_ordinary()) throw;
    } catch (const HostFailed&) {
      throw;
    } catch (const CancelledError&) {
      throw;
    } catch (const Error&) {
    }
    for (std::size_t i = 0; i < tried.size(); ++i) {
      if (!tried[i]) continue;
      family.roles[i] = Family::Role::is_fixed;
      is_input[i] = false;
    }
    body.is_trial = false;
  }
  Variant* variant = family.only;
  if (!variant) {
    auto& place = family.variants[variant_name(walked, is_input)];
    if (!place) place = std::make_unique<Variant>(plan.options);
    variant = place.get();
    if (walked.numbers.empty()) family.only = variant;
  }
  const auto results = go(*variant);
  if (!dtypes.empty()) family.results = dtypes;
  if (!walked.numbers.empty()) family.last = walked.numbers;
  return finish(results);
}

// Inside another function: as the plain function, with tensors as results.
PyObject* call_plainly(FunctionObject* self, const Places& places) {
  const Ref result = call_python(self, *self->plan, places);
  if (is_tensor(result)) return Ref(result).release();
  Returned returned;
  const std::vector<Tensor> tensors = take_apart(self->function, result, returned);
  return put_together(returned, tensors).release();
}

Ref prepare(FunctionObject* self, const Places& places) {
  Plan& plan = *self->plan;
  Walked walked;
  walked.kinds_only = true;
  for (const Ref& p : places) walked.walk(p);
  Family& family = family_of(plan, walked);
  const std::vector<bool> is_input(walked.numbers.size());
  auto& variant = family.variants[variant_name(walked, is_input)];
  if (!variant) variant = std::make_unique<Variant>(plan.options);
  if (walked.numbers.empty()) family.only = variant.get();
  std::vector<DType> dtypes;
  Ref specs;
  const Body body{self, &places, &walked, &family, &is_input, false, &dtypes, &specs};
  with_variables(plan, [&] {
    long_work([&] { variant->core.prepare(walked.expected, std::cref(body)); });
    return 0;
  });
  family.results = dtypes;
  if (!walked.numbers.empty()) family.last = walked.numbers;
  return specs;
}

bool has_unknown_size(PyObject* spec) {
  if (spec == Py_None) return false;
  if (is_structure(spec)) {
    for (const Ref& leaf : flatten(spec))
      if (has_unknown_size(leaf)) return true;
    return false;
  }
  const Ref shape = Ref::own(PyObject_GetAttrString(spec, "shape"));
  PyObject* sizes = shape_sizes(shape);
  if (sizes == Py_None) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sizes); ++i)
    if (PyTuple_GET_ITEM(sizes, i) == Py_None) return true;
  return false;
}

// Functions with an input_signature are traced once for all sizes; if they cannot, for each.
void prepare_signature(FunctionObject* self, Places places) {
  Plan& plan = *self->plan;
  plan.is_prepared = true;
  bool unknown = false;
  for (std::size_t i = 0; i < plan.input_signature.size(); ++i) {
    unknown |= has_unknown_size(plan.input_signature[i]);
    if (plan.input_signature[i] != Py_None) places[i] = plan.input_signature[i];
  }
  if (!unknown) return;
  try {
    prepare(self, places);
  } catch (const BodyFailed& e) {
    if (!e.is_ordinary()) throw;
  } catch (const CancelledError&) {
    throw;
  } catch (const Error&) {
  }
}

Places specified(Plan& plan, Places places) {
  for (std::size_t i = 0; i < plan.input_signature.size(); ++i)
    places[i] = as_specified(plan, plan.input_signature[i], places[i]);
  return places;
}

// An error from within the program says which line of the user's it is about.
void name_failed_line() {
  const std::optional<std::source_location> line = take_failed_line();
  if (!line || !PyErr_Occurred()) return;
  PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  PyObject* named = PyObject_CallFunction(imported("gradus._function", "name_line"), "Osi", error,
                                          line->file_name(), static_cast<int>(line->line()));
  if (!named) PyErr_Clear();
  Py_XDECREF(named);
  PyErr_Restore(type, error, trace);
}

PyObject* call_once(PyObject* self, PyObject* const* arguments, std::size_t count,
                    PyObject* names) {
  return guarded([&]() -> PyObject* {
    FunctionObject* f = object_of(self);
    Plan& plan = *f->plan;
    const Ref held = Ref::copy(self);
    PyObject* object = std::exchange(about_to_be_called, nullptr);
    const Ref owner = object ? Ref::own(object) : Ref::copy(Py_None);
    Places places =
        place(plan, arguments, static_cast<std::size_t>(PyVectorcall_NARGS(count)), names);
    if (run_eagerly) return call_python(f, plan, places).release();
    if (plan.has_input_signature) {
      places = specified(plan, std::move(places));
      if (!plan.is_prepared && !is_tracing()) prepare_signature(f, places);
    }
    if (is_tracing()) return call_plainly(f, places);
    if (plan.runs_eagerly) return call_python(f, plan, places).release();
    try {
      take_failed_line();
      return call_traced(f, places);
    } catch (const PythonError&) {
      throw;
    } catch (...) {
      set_python_error();
      name_failed_line();
      throw PythonError();
    }
  });
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t count, PyObject* names) {
  PyObject* result = call_once(self, arguments, count, names);
  if (result || !PyErr_Occurred() || is_tracing()) return result;
  if (!PyErr_ExceptionMatches(class_of("MustRunEagerly"))) return nullptr;
  return guarded([&] {
    PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    const Ref kind = Ref::own(type), reason = Ref::own(error);
    const Ref where = trace ? Ref::own(trace) : Ref::copy(Py_None);
    Plan& plan = *object_of(self)->plan;
    plan.runs_eagerly = true;
    plan.why_eagerly = to_string(Ref::own(PyObject_Str(reason)));
    Ref::own(PyObject_CallFunction(imported("gradus._function", "say_runs_eagerly"), "sOO",
                                   plan.options.name.c_str(), reason.get(), where.get()));
    return call_once(self, arguments, count, names);
  });
}

// ------------------------------------------------------------------------------------- type

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {
        "python_function", "name",         "parameters", "input_signature",
        "owner",           "memory_limit", nullptr};
    PyObject *function = nullptr, *parameters = nullptr, *signature = nullptr, *owner = nullptr;
    const char* name = nullptr;
    long long memory_limit = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OsOOO|L", const_cast<char**>(names),
                                     &function, &name, &parameters, &signature, &owner,
                                     &memory_limit))
      throw PythonError();
    Ref self = Ref::own(type->tp_alloc(type, 0));
    FunctionObject* f = object_of(self);
    f->vectorcall = call;
    f->plan = new Plan;
    f->function = Ref::copy(function).release();
    f->owner = owner == Py_None ? nullptr : Ref::copy(owner).release();
    f->instances = Ref::own(PyDict_New()).release();
    f->plan->options.name = name;
    f->plan->options.memory_limit = memory_limit;
    if (parameters != Py_None) {
      f->plan->has_signature = true;
      for (Py_ssize_t i = 0; i < PyTuple_Size(parameters); ++i) {
        PyObject *parameter = nullptr, *fallback = nullptr;
        int keyword_only = 0;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(parameters, i), "OpO", &parameter, &keyword_only,
                              &fallback))
          throw PythonError();
        const bool required = fallback == Py_Ellipsis;
        f->plan->parameters.push_back(
            {Ref::copy(parameter), required ? Ref() : Ref::copy(fallback), keyword_only != 0});
        if (!keyword_only) ++f->plan->positional;
      }
    }
    if (signature != Py_None) {
      f->plan->has_input_signature = true;
      for (Py_ssize_t i = 0; i < PyTuple_Size(signature); ++i)
        f->plan->input_signature.push_back(Ref::copy(PyTuple_GET_ITEM(signature, i)));
    }
    return self.release();
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  FunctionObject* f = object_of(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(f->function);
  Py_VISIT(f->owner);
  Py_VISIT(f->instances);
  Py_VISIT(f->attributes);
  if (f->plan) {
    for (const auto& [hash, family] : f->plan->families)
      if (const int status = family->key.visit(visit, arg)) return status;
    for (const Parameter& p : f->plan->parameters) Py_VISIT(p.fallback.get());
  }
  return 0;
}

int clear(PyObject* self) {
  FunctionObject* f = object_of(self);
  Py_CLEAR(f->function);
  Py_CLEAR(f->owner);
  Py_CLEAR(f->instances);
  Py_CLEAR(f->attributes);
  delete std::exchange(f->plan, nullptr);
  return 0;
}

void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (object_of(self)->weak_references) PyObject_ClearWeakRefs(self);
  clear(self);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// As a method: one function per object, found by its address; _function.py makes and forgets them.
PyObject* bind(PyObject* self, PyObject* instance, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (!instance || instance == Py_None) return Ref::copy(self).release();
    Py_INCREF(instance);
    Py_XDECREF(std::exchange(about_to_be_called, instance));
    const Ref address = Ref::own(PyLong_FromVoidPtr(instance));
    PyObject* known = PyDict_GetItemWithError(object_of(self)->instances, address);
    if (known) return Ref::copy(known).release();
    if (PyErr_Occurred()) throw PythonError();
    return PyObject_CallFunctionObjArgs(imported("gradus._function", "bind"), self, instance,
                                        object_of(self)->instances, nullptr);
  });
}

PyObject* explain(PyObject* self, PyObject*) {
  return guarded([&] {
    std::string all;
    for (const auto& [hash, family] : object_of(self)->plan->families)
      for (const auto& [name, variant] : family->variants) all += variant->core.explain();
    const Plan& plan = *object_of(self)->plan;
    if (all.empty()) all = plan.options.name + ": 0 traces\n";
    if (plan.runs_eagerly) all += "runs as plain Python, because " + plan.why_eagerly + "\n";
    return text(all).release();
  });
}

// One after the other for all variants that were called, of the program as it was traced or is run.
template <class Show>
PyObject* shown(PyObject* self, const Show& show) {
  return guarded([&] {
    std::string all;
    for (const auto& [hash, family] : object_of(self)->plan->families)
      for (const auto& [name, variant] : family->variants)
        if (variant->core.trace_count() > 0) all += show(variant->core);
    return text(all).release();
  });
}
PyObject* program_text(PyObject* self, PyObject*) {
  return shown(self, [](const auto& core) { return core.text(true); });
}
PyObject* program_dot(PyObject* self, PyObject*) {
  return shown(self, [](const auto& core) { return core.dot(true); });
}
PyObject* program_html(PyObject* self, PyObject*) {
  return shown(self, [](const auto& core) { return core.html(true); });
}
PyObject* program_report(PyObject* self, PyObject*) {
  return shown(self, [](const auto& core) { return core.report(); });
}

PyObject* trace_count(PyObject* self, PyObject*) {
  return guarded([&] {
    long count = 0;
    for (const auto& [hash, family] : object_of(self)->plan->families)
      for (const auto& [name, variant] : family->variants) count += variant->core.trace_count();
    return PyLong_FromLong(count);
  });
}

PyObject* prepare_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                         PyObject* names) {
  return guarded([&]() -> PyObject* {
    FunctionObject* f = object_of(self);
    const Places places = place(*f->plan, arguments, static_cast<std::size_t>(count), names);
    return prepare(f, places).release();
  });
}

PyMethodDef methods[] = {
    {"explain", explain, METH_NOARGS,
     "explain($self)\n--\n\nHow many traces there were, why, what each cost and became."},
    {"program_text", program_text, METH_NOARGS,
     "program_text($self)\n--\n\nThe compiled programs, one line per op."},
    {"program_dot", program_dot, METH_NOARGS,
     "program_dot($self)\n--\n\nThe compiled programs for Graphviz."},
    {"program_html", program_html, METH_NOARGS,
     "program_html($self)\n--\n\nThe compiled program as a page to walk through in a browser."},
    {"program_report", program_report, METH_NOARGS,
     "program_report($self)\n--\n\nWhat each pass of the compiler changed."},
    {"experimental_get_tracing_count", trace_count, METH_NOARGS,
     "experimental_get_tracing_count($self)\n--\n\nHow often the function was traced."},
    {"_prepare", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(prepare_method)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {}};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY,
     nullptr},
    {"python_function", T_OBJECT, offsetof(FunctionObject, function), READONLY,
     "The function that is traced."},
    {}};

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {Py_tp_getset, properties},
                       {0, nullptr}};
PyType_Spec spec = {"gradus.Function", sizeof(FunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

void drop_pause(PyObject* capsule) {
  delete static_cast<PauseTracing*>(PyCapsule_GetPointer(capsule, nullptr));
}

const FunctionEntry entries[] = {
    {"_is_tracing", "", "Whether a function is being traced.",
     [](const Arguments&) { return PyBool_FromLong(is_tracing()); }},
    {"_pause_tracing", "", "Until the result is dropped, nothing is traced.",
     [](const Arguments&) { return PyCapsule_New(new PauseTracing, nullptr, drop_pause); }},
    {"_run_functions_eagerly", "value", "Whether functions are called without being traced.",
     [](const Arguments& a) -> PyObject* {
       const bool before = run_eagerly;
       if (!a.is_none(0)) run_eagerly = a.boolean(0);
       return PyBool_FromLong(before);
     }},
    {"_as_real", "tensor", "A traced number in float64.",
     [](const Arguments& a) { return wrap(cast(tensor_of(a[0]), float64)); }},
    {"_as_integer", "tensor", "A traced number in int64.",
     [](const Arguments& a) { return wrap(cast(tensor_of(a[0]), int64)); }},
};

}  // namespace

Tensor value_for_variable(const Tensor& initial) {
  if (!is_tracing()) return initial;
  if (!may_create)
    raise(PyExc_ValueError,
          "tf.function only supports singleton tf.Variables created on the first call. Make sure "
          "the tf.Variable is only created once or created outside tf.function.");
  const std::optional<Tensor> value = value_before_call(initial);
  if (!value)
    raise(PyExc_ValueError,
          "The initial value of a tf.Variable that is created inside a tf.function depends on the "
          "function's arguments. Create the variable outside, or from values that do not.");
  ++variables_created;
  return *value;
}

void add_function_type(PyObject* module) {
  Ref type = Ref::own(PyType_FromSpec(&spec));
  check(PyModule_AddObject(module, "Function", type.release()));
  add_functions(entries);
}

}  // namespace gradus::python
