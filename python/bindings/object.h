// Owned references to Python objects, and Python exceptions as C++ exceptions.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>
#include <utility>

namespace gradus::python {

// Thrown when a Python exception has been set.
struct PythonError {};

class Ref {
 public:
  Ref() = default;
  // Takes over a new reference, as most functions of Python return; null means that they raised.
  static Ref own(PyObject* object) {
    if (!object) throw PythonError();
    return Ref(object);
  }
  static Ref copy(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(const Ref& other) : object_(other.object_) { Py_XINCREF(object_); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  operator PyObject*() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  explicit Ref(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

inline void check(int status) {
  if (status < 0) throw PythonError();
}

template <class... A>
[[noreturn]] void raise(PyObject* type, const char* format, const A&... values) {
  PyErr_Format(type, format, values...);
  throw PythonError();
}

inline Ref text(const std::string& s) {
  return Ref::own(PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
}
std::string to_string(PyObject* text);  // of a str

// module.name, imported once and kept.
PyObject* imported(const char* module, const char* name);

}  // namespace gradus::python
