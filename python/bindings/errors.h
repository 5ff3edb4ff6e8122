// Exceptions and interrupts at the border between C++ and Python.
//
// Every function that Python calls runs inside guarded(): C++ exceptions become Python's, with the
// classes of gradus.errors. Work on large tensors runs inside long_work(), without the GIL; only
// there does Ctrl-C raise the engine's interrupt flag, and the kernel that was running stops.
//
// While the interpreter ends, Python ends every other thread that asks for the GIL: the stack is
// unwound from within that call. It would go through frames that must not be left that way
// (destructors, guarded()), and the process would abort. So such a thread stays where it is until
// the process is gone.
#pragma once
#include <cxxabi.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "gradus/error.h"
#include "object.h"

namespace gradus::python {

// Translates the C++ exception that is being handled.
void set_python_error() noexcept;

// For a thread that Python ends.
[[noreturn]] void stay_here() noexcept;

template <class F>
PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (const abi::__forced_unwind&) {
    stay_here();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
template <class F>
int guarded_status(F&& f) noexcept {
  try {
    return f();
  } catch (const abi::__forced_unwind&) {
    stay_here();
  } catch (...) {
    set_python_error();
    return -1;
  }
}

// Elements from which releasing the GIL, some 50 ns, does not count any more.
inline constexpr std::int64_t kManyElements = 1 << 14;

class LongWork {
 public:
  LongWork();
  ~LongWork();
  LongWork(const LongWork&) = delete;

 private:
  PyThreadState* saved_;
};

// How often this thread has worked long: a tape compares it to know whether its gradient will.
std::uint64_t long_work_count();

template <class F>
auto long_work(F&& f) {
  const LongWork scope;
  return f();
}

// Python code called from within long work, from a rule or a callback.
class HoldGil {
 public:
  HoldGil() : state_(ensure()) {}
  ~HoldGil() { PyGILState_Release(state_); }
  HoldGil(const HoldGil&) = delete;

 private:
  static PyGILState_STATE ensure() noexcept;
  PyGILState_STATE state_;
};

// A pending Python exception on its way through the engine, as one of its errors.
class PythonFailure : public Error {
 public:
  PythonFailure();
  void restore() const;
  bool is_ordinary() const;  // not KeyboardInterrupt, say

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Raised by Python code that a running program called; nobody may try another way.
class HostFailed : public PythonFailure {};

void install_interrupt_handler();
// What happens when the interpreter ends, and in children of fork.
void prepare_for_the_end();

}  // namespace gradus::python
