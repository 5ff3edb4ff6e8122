#include "errors.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <new>
#include <thread>

#include "gradus/interrupt.h"
#include "gradus/type_error.h"

namespace gradus::python {

std::string to_string(PyObject* object) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(object, &size);
  if (!data) throw PythonError();
  return {data, static_cast<std::size_t>(size)};
}

PyObject* imported(const char* module, const char* name) {
  static auto* const found = new std::map<std::pair<std::string, std::string>, PyObject*>;
  PyObject*& object = (*found)[{module, name}];
  if (!object) {
    const Ref from = Ref::own(PyImport_ImportModule(module));
    object = Ref::own(PyObject_GetAttrString(from, name)).release();
  }
  return object;
}

namespace {

// An error class of TensorFlow takes (node_def, op, message).
void raise_named(const char* name, const char* message) noexcept {
  try {
    PyObject* type = imported("gradus.errors", name);
    const Ref error = Ref::own(PyObject_CallFunction(type, "OOs", Py_None, Py_None, message));
    PyErr_SetObject(type, error);
  } catch (const PythonError&) {
  }
}

std::atomic<int> long_works{0};
thread_local std::uint64_t long_works_of_thread = 0;
std::atomic<PyOS_sighandler_t> python_handler{nullptr};

void on_interrupt(int signal) {
  if (long_works.load(std::memory_order_relaxed) > 0) request_interrupt();
  if (const PyOS_sighandler_t handler = python_handler.load()) handler(signal);
}

// signal.signal() puts Python's handler in the place of ours, and nobody is told. To ask the system
// at every call would cost more than small calls do. So while there is long work, a thread asks
// from time to time; it sleeps when there has been none for a while.
class HandlerWatch {
 public:
  void wake() {
    const std::lock_guard lock(mutex_);
    sleeps_.store(false, std::memory_order_relaxed);
    if (!runs_) std::thread([this] { run(); }).detach();
    runs_ = true;
    woken_.notify_one();
  }
  bool sleeps() const { return sleeps_.load(std::memory_order_relaxed); }

 private:
  void run() {
    using namespace std::chrono_literals;
    for (;;) {
      for (int idle = 0; idle < 100; ++idle) {
        std::this_thread::sleep_for(10ms);
        if (long_works.load(std::memory_order_relaxed) == 0) continue;
        idle = 0;
        install_interrupt_handler();
      }
      std::unique_lock lock(mutex_);
      sleeps_.store(true, std::memory_order_relaxed);
      woken_.wait(lock, [&] { return !sleeps(); });
    }
  }

  std::mutex mutex_;
  std::condition_variable woken_;
  std::atomic<bool> sleeps_{true};
  bool runs_ = false;
};

// On the heap, where nothing is torn down while threads still run; a child of fork has its own.
HandlerWatch* handler_watch = new HandlerWatch;

// When the interpreter is gone, what the process has left to do must not meet work of threads that
// are still there: it is stopped, and they stay where they are.
void stop_long_work() {
  using namespace std::chrono_literals;
  request_interrupt();
  for (int i = 0; i < 2000 && long_works.load() > 0; ++i) std::this_thread::sleep_for(1ms);
}

}  // namespace

void stay_here() noexcept {
  for (;;) pause();
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (const abi::__forced_unwind&) {
    stay_here();
  } catch (const PythonError&) {
  } catch (const PythonFailure& e) {
    e.restore();
  } catch (const TypeError& e) {
    raise_named("InvalidTypeError", e.message());
  } catch (const InvalidArgumentError& e) {
    raise_named("InvalidArgumentError", e.message());
  } catch (const NotFoundError& e) {
    raise_named("NotFoundError", e.message());
  } catch (const AlreadyExistsError& e) {
    raise_named("AlreadyExistsError", e.message());
  } catch (const OutOfRangeError& e) {
    raise_named("OutOfRangeError", e.message());
  } catch (const FailedPreconditionError& e) {
    raise_named("FailedPreconditionError", e.message());
  } catch (const ResourceExhaustedError& e) {
    raise_named("ResourceExhaustedError", e.message());
  } catch (const UnimplementedError& e) {
    raise_named("UnimplementedError", e.message());
  } catch (const DataLossError& e) {
    raise_named("DataLossError", e.message());
  } catch (const CancelledError& e) {
    if (PyErr_CheckSignals() == 0) raise_named("CancelledError", e.message());
  } catch (const UsageError& e) {
    PyErr_SetString(PyExc_RuntimeError, e.message());
  } catch (const LookupError& e) {
    PyErr_SetString(PyExc_LookupError, e.message());
  } catch (const InternalError& e) {
    raise_named("InternalError", e.message());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "an unknown C++ exception");
  }
}

struct PythonFailure::State {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  ~State() {
    const HoldGil gil;
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  }
};

PythonFailure::PythonFailure()
    : Error("the Python function raised an exception"), state_(std::make_shared<State>()) {
  PyErr_Fetch(&state_->type, &state_->value, &state_->trace);
}

void PythonFailure::restore() const {
  PyErr_Restore(std::exchange(state_->type, nullptr), std::exchange(state_->value, nullptr),
                std::exchange(state_->trace, nullptr));
}

bool PythonFailure::is_ordinary() const {
  return PyErr_GivenExceptionMatches(state_->type, PyExc_Exception) != 0;
}

LongWork::LongWork() : saved_(PyEval_SaveThread()) {
  long_works.fetch_add(1, std::memory_order_relaxed);
  ++long_works_of_thread;
  if (handler_watch->sleeps()) [[unlikely]]
    handler_watch->wake();
}

LongWork::~LongWork() {
  if (long_works.fetch_sub(1, std::memory_order_relaxed) == 1) clear_interrupt();
  try {
    PyEval_RestoreThread(saved_);
  } catch (const abi::__forced_unwind&) {
    stay_here();
  }
}

PyGILState_STATE HoldGil::ensure() noexcept {
  try {
    return PyGILState_Ensure();
  } catch (const abi::__forced_unwind&) {
    stay_here();
  }
}

std::uint64_t long_work_count() { return long_works_of_thread; }

void install_interrupt_handler() {
  const PyOS_sighandler_t handler = PyOS_getsig(SIGINT);
  if (handler == SIG_DFL || handler == SIG_IGN || handler == SIG_ERR || handler == on_interrupt)
    return;
  python_handler.store(handler);
  const PyOS_sighandler_t before = PyOS_setsig(SIGINT, on_interrupt);
  if (before != handler && before != on_interrupt) PyOS_setsig(SIGINT, before);  // meanwhile
}

void prepare_for_the_end() {
  Py_AtExit(stop_long_work);
  pthread_atfork(nullptr, nullptr, [] {
    long_works.store(0);  // those of threads that the child does not have
    handler_watch = new HandlerWatch;
  });
}

}  // namespace gradus::python
