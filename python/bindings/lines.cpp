#include "lines.h"

#include <array>
#include <string>
#include <unordered_map>

#include "object.h"
// After Python.h, which "object.h" includes: PyFrame_GetBack of Python 3.9.
#include <frameobject.h>

namespace gradus::python {

namespace {

struct Place {
  PyCodeObject* code = nullptr;
  int instruction = -1;
  const ForeignLine* line = nullptr;
};

#if PY_VERSION_HEX >= 0x030b0000
int instruction_of(PyFrameObject* frame) { return PyFrame_GetLasti(frame); }
#else
int instruction_of(PyFrameObject* frame) { return PyFrame_GetLineNumber(frame); }
#endif

// Lines by file and number. Programs have few; files' names are shared with them.
const ForeignLine& kept(PyCodeObject* code, unsigned number) {
  static auto* const lines = new std::unordered_map<std::string, ForeignLine>;
  Py_ssize_t size = 0;
  const char* file = PyUnicode_AsUTF8AndSize(code->co_filename, &size);
  if (!file) {
    PyErr_Clear();
    file = "?";
  }
  const auto [found, is_new] = lines->try_emplace(std::string(file) + ":" + std::to_string(number));
  if (is_new) {
    const auto* name = new std::string(file);
    found->second = {name->c_str(), "", number, 0};
  }
  return found->second;
}

// The package itself is not the user's program: what it calls belongs to who called it.
bool is_ours(PyCodeObject* code) {
  static const std::string folder = [] {
    const Ref file =
        Ref::own(PyObject_GetAttrString(Ref::own(PyImport_ImportModule("gradus")), "__file__"));
    const std::string path = to_string(file);
    return path.substr(0, path.rfind('/') + 1);
  }();
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (!file) PyErr_Clear();
  return file && std::string(file).rfind(folder, 0) == 0;
}

// A cache by place. It holds on to its code objects, so that no other can have their address. Its
// line is null in code of the package.
Place& place_of(PyFrameObject* frame, PyCodeObject* code) {
  static std::array<Place, 512> places;
  const int instruction = instruction_of(frame);
  Place& place =
      places[(reinterpret_cast<std::uintptr_t>(code) / 64 + static_cast<unsigned>(instruction)) %
             places.size()];
  if (place.code == code && place.instruction == instruction) return place;
  const ForeignLine* line =
      is_ours(code) ? nullptr : &kept(code, static_cast<unsigned>(PyFrame_GetLineNumber(frame)));
  Py_INCREF(code);
  Py_XDECREF(std::exchange(place.code, code));
  place.instruction = instruction;
  place.line = line;
  return place;
}

}  // namespace

const ForeignLine& current_line() {
  static const ForeignLine nowhere{"<python>", "", 0, 0};
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return nowhere;
  const ForeignLine* line = nullptr;
  Ref outer;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const Ref held = Ref::own(reinterpret_cast<PyObject*>(code));
    line = place_of(frame, code).line;
    if (line) return *line;
    frame = PyFrame_GetBack(frame);
    outer = frame ? Ref::own(reinterpret_cast<PyObject*>(frame)) : Ref();
  }
  return nowhere;
}

}  // namespace gradus::python
