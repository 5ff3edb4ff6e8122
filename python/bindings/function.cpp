#include "function.h"

#include <charconv>
#include <cstring>
#include <limits>

#include "lines.h"

namespace gradus::python {

namespace {

std::string trimmed(std::string s) {
  const auto first = s.find_first_not_of(" \n"), last = s.find_last_not_of(" \n");
  return first == std::string::npos ? std::string() : s.substr(first, last - first + 1);
}

// Defaults are None, True, False, numbers, strings, () and names of dtypes.
PyObject* parse_default(const std::string& text) {
  if (text == "None") return Ref::copy(Py_None).release();
  if (text == "True") return Ref::copy(Py_True).release();
  if (text == "False") return Ref::copy(Py_False).release();
  if (text == "()") return Ref::own(PyTuple_New(0)).release();
  if (text.front() == '\'')
    return Ref::own(PyUnicode_FromStringAndSize(text.data() + 1,
                                                static_cast<Py_ssize_t>(text.size()) - 2))
        .release();
  if (text.find_first_not_of("-0123456789") == std::string::npos)
    return Ref::own(PyLong_FromString(text.c_str(), nullptr, 10)).release();
  if (text.find_first_not_of("-+.e0123456789") == std::string::npos)
    return Ref::own(PyFloat_FromDouble(std::stod(text))).release();
  return wrap(gradus::dtype_of(text));
}

}  // namespace

Signature::Signature(const char* text, const char* unused) {
  std::string rest = text;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string one = trimmed(rest.substr(0, comma));
    rest = comma == std::string::npos ? std::string() : rest.substr(comma + 1);
    const auto equals = one.find('=');
    Parameter p{PyUnicode_InternFromString(one.substr(0, equals).c_str()), nullptr};
    if (equals != std::string::npos) p.fallback = parse_default(one.substr(equals + 1));
    parameters_.push_back(p);
  }
  static_assert(kMost <= 32, "one bit for each slot");
  if (parameters_.size() > kMost)
    raise(PyExc_SystemError, "the signature (%s) has more than %zu parameters: raise kMost", text,
          kMost);
  declare_unused(std::string("name: it is for graphs, and results have none; ") + unused);
}

void Signature::declare_unused(const std::string& reasons) {
  std::string rest = reasons;
  while (!trimmed(rest).empty()) {
    const auto end = rest.find(';');
    const std::string one = trimmed(rest.substr(0, end));
    rest = end == std::string::npos ? std::string() : rest.substr(end + 1);
    const auto colon = one.find(": ");
    if (colon == std::string::npos)
      raise(PyExc_SystemError, "'%s' says no reason for ignoring a parameter", one.c_str());
    const std::string name = one.substr(0, colon);
    bool found = name == "name";
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (PyUnicode_CompareWithASCIIString(parameters_[i].name, name.c_str()) != 0) continue;
      unused_ |= std::uint32_t{1} << i;
      found = true;
    }
    if (!found) raise(PyExc_SystemError, "there is no parameter '%s'", name.c_str());
  }
}

std::uint32_t Signature::place(const char* function, PyObject* const* arguments, std::size_t count,
                               PyObject* names, PyObject** places) const {
  const std::size_t size = parameters_.size();
  if (count > size)
    raise(PyExc_TypeError, "%s() takes at most %zu arguments (%zu given)", function, size, count);
  for (std::size_t i = 0; i < count; ++i) places[i] = arguments[i];
  for (std::size_t i = count; i < size; ++i) places[i] = parameters_[i].fallback;
  std::uint32_t given = (std::uint32_t{1} << count) - 1;
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t k = 0; k < named; ++k) {
    PyObject* name = PyTuple_GET_ITEM(names, k);
    std::size_t i = 0;
    while (i < size && parameters_[i].name != name) ++i;
    if (i == size)
      for (i = 0; i < size && PyUnicode_Compare(parameters_[i].name, name) != 0;) ++i;
    if (i == size)
      raise(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function, name);
    if (i < count)
      raise(PyExc_TypeError, "%s() got multiple values for argument '%U'", function, name);
    places[i] = arguments[count + static_cast<std::size_t>(k)];
    given |= std::uint32_t{1} << i;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (!places[i])
      raise(PyExc_TypeError, "%s() missing required argument: '%U'", function, parameters_[i].name);
  }
  return given;
}

namespace {
bool arguments_are_checked = false;
}
void check_arguments(bool yes) { arguments_are_checked = yes; }

void Signature::report(const char* function, PyObject* const* places, std::uint32_t left) const {
  if (!arguments_are_checked) return;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!(left >> i & 1)) continue;
    PyObject* fallback = parameters_[i].fallback;
    if (fallback && PyObject_RichCompareBool(places[i], fallback, Py_EQ) == 1) continue;
    PyErr_Clear();  // what cannot be compared with the default is not the default
    raise(PyExc_AssertionError,
          "[%s] got %U=%R, which nothing read; use it, refuse it, or declare "
          "it unused in its row",
          function, parameters_[i].name, places[i]);
  }
}

Ref Signature::by_name(PyObject* const* places) const {
  Ref arguments = Ref::own(PyDict_New());
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    check(PyDict_SetItem(arguments, parameters_[i].name, places[i]));
  return arguments;
}

int Arguments::small(int i) const {
  const std::int64_t value = integer(i);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    raise(PyExc_OverflowError, "the number %R is too large here", (*this)[i]);
  return static_cast<int>(value);
}

std::string Arguments::string(int i) const {
  PyObject* value = (*this)[i];
  if (!PyUnicode_Check(value)) raise(PyExc_TypeError, "expected a str, got %R", value);
  return to_string(value);
}

namespace {

// What a builtin function object carries as its `self`.
struct Definition {
  PyObject_HEAD const FunctionEntry* entry;
  Signature* signature;
  std::string* name;
  std::string* doc;
  PyMethodDef method;
};

PyTypeObject definition_type = {
    .ob_base = PyVarObject_HEAD_INIT(nullptr, 0)  //
                   .tp_name = "gradus._core.Definition",
    .tp_basicsize = sizeof(Definition),
    .tp_flags = Py_TPFLAGS_DEFAULT,
};

// The function as the class of an argument that is no dense tensor has it, if it does.
PyObject* call_kind(PyObject* kind, const Definition& definition, PyObject* const* places) {
  PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &error, &trace);  // what is raised if it does not
  const std::string first(definition.entry->names, std::strcspn(definition.entry->names, " "));
  PyObject* result = PyObject_CallMethod(kind, "__gradus_function__", "sO", first.c_str(),
                                         definition.signature->by_name(places).get());
  if (result != Py_NotImplemented) {
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return result;
  }
  Py_DECREF(result);
  PyErr_Restore(type, error, trace);
  return nullptr;
}

PyObject* call(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    auto* definition = reinterpret_cast<Definition*>(self);
    PyObject* places[Signature::kMost];
    const Signature& signature = *definition->signature;
    const std::uint32_t given = signature.place(definition->name->c_str(), arguments,
                                                static_cast<std::size_t>(count), names, places);
    try {
      const Arguments all(places);
      Ref result = Ref::own(attributed([&] { return definition->entry->call(all); }));
      signature.check_read(definition->name->c_str(), places, given, all.read());
      return result.release();
    } catch (const OtherKind& other) {
      return call_kind(other.kind, *definition, places);
    }
  });
}

std::vector<FunctionEntry>& all_entries() {
  static auto* const entries = new std::vector<FunctionEntry>;
  return *entries;
}

}  // namespace

Ref make_function(const FunctionEntry& entry, const char* module) {
  if (!(definition_type.tp_flags & Py_TPFLAGS_READY)) check(PyType_Ready(&definition_type));
  const std::string first(entry.names, std::strcspn(entry.names, " "));
  const auto dot = first.rfind('.');
  auto* definition = PyObject_New(Definition, &definition_type);
  if (!definition) throw PythonError();
  const Ref owned = Ref::own(reinterpret_cast<PyObject*>(definition));
  definition->entry = new FunctionEntry(entry);  // functions live as long as the process
  definition->signature = new Signature(entry.signature, entry.unused);
  definition->name = new std::string(dot == std::string::npos ? first : first.substr(dot + 1));
  definition->doc =
      new std::string(*definition->name + "(" + entry.signature + ")\n--\n\n" + entry.doc);
  definition->method = {definition->name->c_str(),
                        reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)),
                        METH_FASTCALL | METH_KEYWORDS, definition->doc->c_str()};
  const std::string home =
      dot == std::string::npos ? module : std::string(module) + "." + first.substr(0, dot);
  return Ref::own(PyCFunction_NewEx(&definition->method, owned, text(home)));
}

void add_functions(std::span<const FunctionEntry> entries) {
  all_entries().insert(all_entries().end(), entries.begin(), entries.end());
}

PyObject* function_list() {
  Ref list = Ref::own(PyList_New(0));
  for (const FunctionEntry& entry : all_entries()) {
    const Ref function = make_function(entry, "gradus");
    const Ref row =
        Ref::own(Py_BuildValue("(sssO)", entry.names, entry.signature, entry.doc, function.get()));
    check(PyList_Append(list, row));
  }
  return list.release();
}

}  // namespace gradus::python
