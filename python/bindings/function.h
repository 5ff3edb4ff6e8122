// Functions of the module as tables: names, signature, documentation and a C++ function per line.
//
//   {"exp math.exp", "x, name=None", "e to the power x.", unary<exp>},
//
// The signature is Python's own text. It is parsed once: calls with positional and keyword
// arguments fill one slot per parameter, and the function converts what it needs. help(), stubs and
// docs/api-coverage.md read the same text.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "convert.h"
#include "errors.h"

namespace gradus::python {

// Parameters and defaults of one function.
class Signature {
 public:
  explicit Signature(const char* text);

  struct Parameter {
    PyObject* name;      // interned
    PyObject* fallback;  // null: required
  };
  static constexpr std::size_t kMost = 20;

  // Puts arguments where they belong; raises TypeError as Python does.
  void place(const char* function, PyObject* const* arguments, std::size_t count, PyObject* names,
             PyObject** places) const;
  std::size_t size() const { return parameters_.size(); }
  Ref by_name(PyObject* const* places) const;  // a dict of all arguments

 private:
  std::vector<Parameter> parameters_;
};

// The arguments of one call, by position in the signature.
class Arguments {
 public:
  explicit Arguments(PyObject* const* places) : places_(places) {}
  PyObject* operator[](int i) const { return places_[i]; }
  bool is_none(int i) const { return places_[i] == Py_None; }

  Tensor tensor(int i) const { return to_tensor(places_[i]); }
  Tensor tensor(int i, std::optional<DType> dtype) const {
    return to_tensor(places_[i], dtype, Wanted::hint);
  }
  std::vector<Tensor> tensors(int i, const char* op) const { return to_tensors(places_[i], op); }
  std::int64_t integer(int i) const { return to_int(places_[i]); }
  int small(int i) const;  // an axis or another number that fits into an int
  double real(int i) const { return to_double(places_[i]); }
  bool boolean(int i) const { return to_bool(places_[i]); }
  Shape shape(int i) const { return to_shape(places_[i]); }
  std::vector<std::int64_t> integers(int i) const { return to_ints(places_[i]); }
  std::string string(int i) const;
  DType dtype(int i, DType fallback) const { return is_none(i) ? fallback : to_dtype(places_[i]); }
  std::optional<DType> dtype(int i) const { return to_dtype_or_none(places_[i]); }
  std::optional<std::int64_t> integer_or_none(int i) const {
    return is_none(i) ? std::nullopt : std::optional(integer(i));
  }

 private:
  PyObject* const* places_;
};

using Call = PyObject* (*)(const Arguments&);

struct FunctionEntry {
  const char* names;  // separated by spaces, below the module: "exp math.exp"
  const char* signature;
  const char* doc;
  Call call;
};

// A new builtin function object that knows its signature.
Ref make_function(const FunctionEntry& entry, const char* module);
// All functions of all tables, as a list of (names, signature, doc, function).
PyObject* function_list();
void add_functions(std::span<const FunctionEntry> entries);

// Runs without the GIL where that pays.
template <class F>
auto on_large(const Tensor& x, F&& f) {
  return x.num_elements() >= kManyElements ? long_work(f) : f();
}
template <class F>
auto on_large(const Tensor& x, const Tensor& y, F&& f) {
  return on_large(x.num_elements() > y.num_elements() ? x : y, f);
}

using Unary = Tensor (*)(In);
using Binary = Tensor (*)(In, In);

template <Unary op>
PyObject* unary(const Arguments& a) {
  if (is_tensor(a[0])) {
    const Tensor& x = tensor_of(a[0]);
    return wrap(on_large(x, [&] { return op(x); }));
  }
  const Tensor x = a.tensor(0);
  return wrap(on_large(x, [&] { return op(x); }));
}

template <Binary op>
PyObject* binary(const Arguments& a) {
  const auto both = to_pair(a[0], a[1]);
  return wrap(on_large(both.first, both.second, [&] { return op(both.first, both.second); }));
}

// Methods of classes use signatures too.
template <const char* const& name, const char* const& signature, auto method>
PyObject* call_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                      PyObject* names) {
  return guarded([&]() -> PyObject* {
    static const Signature parsed(signature);
    PyObject* places[Signature::kMost];
    parsed.place(name, arguments, static_cast<std::size_t>(count), names, places);
    return method(self, Arguments(places));
  });
}

}  // namespace gradus::python
