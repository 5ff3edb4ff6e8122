// Functions of the module as tables: names, signature, documentation and a C++ function per line.
//
//   {"exp math.exp", "x, name=None", "e to the power x.", unary<exp>},
//
// The signature is Python's own text. It is parsed once: calls with positional and keyword
// arguments fill one slot per parameter, and the function converts what it needs. help(), stubs and
// docs/api-coverage.md read the same text.
//
// A call knows which slots its function has read (one bit each). An argument that was given and
// that nothing read would be an answer to another question, so the tests let such a call fail
// (check_arguments). A row that has no use for a parameter says so, and why:
//
//   {"gather", "params, indices, validate_indices=None, ...", "...", gathered,
//    "validate_indices: indices are always checked"},
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convert.h"
#include "errors.h"

namespace gradus::python {

// Parameters and defaults of one function.
class Signature {
 public:
  // `unused` are parameters that the function has no use for, each with a reason:
  // "layout: there is one device; var: ...". `name` is for graphs, and never needed.
  explicit Signature(const char* text, const char* unused = "");

  struct Parameter {
    PyObject* name;      // interned
    PyObject* fallback;  // null: required
  };
  static constexpr std::size_t kMost = 20;

  // Puts arguments where they belong and returns which slots were given, one bit each; raises
  // TypeError as Python does.
  std::uint32_t place(const char* function, PyObject* const* arguments, std::size_t count,
                      PyObject* names, PyObject** places) const;
  // Called after a call: what was given and neither read nor declared unused may be an error.
  void check_read(const char* function, PyObject* const* places, std::uint32_t given,
                  std::uint32_t read) const {
    if (const std::uint32_t left = given & ~(read | unused_)) report(function, places, left);
  }
  std::size_t size() const { return parameters_.size(); }
  Ref by_name(PyObject* const* places) const;  // a dict of all arguments

 private:
  void declare_unused(const std::string& reasons);
  void report(const char* function, PyObject* const* places, std::uint32_t left) const;

  std::vector<Parameter> parameters_;
  std::uint32_t unused_ = 0;
};

// Whether a call fails that was given an argument which nothing read: on in the tests.
void check_arguments(bool yes);

// The arguments of one call, by position in the signature.
class Arguments {
 public:
  explicit Arguments(PyObject* const* places) : places_(places) {}
  PyObject* operator[](int i) const {
    read_ |= std::uint32_t{1} << i;
    return places_[i];
  }
  std::uint32_t read() const { return read_; }
  bool is_none(int i) const { return (*this)[i] == Py_None; }

  Tensor tensor(int i) const { return to_tensor((*this)[i]); }
  Tensor tensor(int i, std::optional<DType> dtype) const {
    return to_tensor((*this)[i], dtype, Wanted::hint);
  }
  std::vector<Tensor> tensors(int i, const char* op) const { return to_tensors((*this)[i], op); }
  std::int64_t integer(int i) const { return to_int((*this)[i]); }
  Size size(int i) const { return to_size((*this)[i]); }  // which may be unknown
  int small(int i) const;  // an axis or another number that fits into an int
  double real(int i) const { return to_double((*this)[i]); }
  bool boolean(int i) const { return to_bool((*this)[i]); }
  Shape shape(int i) const { return to_shape((*this)[i]); }
  std::vector<Size> sizes(int i) const { return to_sizes((*this)[i]); }
  std::vector<std::int64_t> integers(int i) const { return to_ints((*this)[i]); }
  std::string string(int i) const;
  DType dtype(int i, DType fallback) const { return is_none(i) ? fallback : to_dtype((*this)[i]); }
  std::optional<DType> dtype(int i) const { return to_dtype_or_none((*this)[i]); }
  std::optional<std::int64_t> integer_or_none(int i) const {
    return is_none(i) ? std::nullopt : std::optional(integer(i));
  }

 private:
  PyObject* const* places_;
  mutable std::uint32_t read_ = 0;
};

using Call = PyObject* (*)(const Arguments&);

struct FunctionEntry {
  const char* names;  // separated by spaces, below the module: "exp math.exp"
  const char* signature;
  const char* doc;
  Call call;
  const char* unused = "";  // parameters that it has no use for, each with a reason
};

// A new builtin function object that knows its signature.
Ref make_function(const FunctionEntry& entry, const char* module);
// All functions of all tables, as a list of (names, signature, doc, function).
PyObject* function_list();
void add_functions(std::span<const FunctionEntry> entries);

// Runs without the GIL where that pays.
template <class F>
auto on_large(const Tensor& x, F&& f) {
  return elements_now(x) >= kManyElements ? long_work(f) : f();
}
template <class F>
auto on_large(const Tensor& x, const Tensor& y, F&& f) {
  return on_large(elements_now(x) > elements_now(y) ? x : y, f);
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

// Of IndexedSlices the function keeps the rows as they are held: their class calls it for the
// values.
template <Call function>
PyObject* by_rows(const Arguments& a) {
  if (!is_tensor(a[0]) && is_rows(a[0]))
    throw OtherKind(reinterpret_cast<PyObject*>(Py_TYPE(a[0])));
  return function(a);
}

// Methods of classes use signatures too.
inline constexpr const char* kAllUsed = "";
template <const char* const& name, const char* const& signature, auto method,
          const char* const& unused = kAllUsed>
PyObject* call_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                      PyObject* names) {
  return guarded([&]() -> PyObject* {
    static const Signature parsed(signature, unused);
    PyObject* places[Signature::kMost];
    const std::uint32_t given =
        parsed.place(name, arguments, static_cast<std::size_t>(count), names, places);
    const Arguments all(places);
    Ref result = Ref::own(method(self, all));
    parsed.check_read(name, places, given, all.read());
    return result.release();
  });
}

}  // namespace gradus::python
