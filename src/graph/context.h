// What the current thread is in the middle of: who observes its ops, and where the user called.
#pragma once
#include <source_location>
#include <span>

#include "graph/level.h"
#include "graph/op.h"

namespace gradus {

class Graph;
class Mute;
struct VariableState;

// Follows the ops that touch values it knows: tapes and forward accumulators
// (autodiff/recording.h). Without one, dispatch runs kernels and nothing else.
class Observer {
 public:
  virtual void observe(const Op& op, const void* attrs, std::span<const Tensor* const> in,
                       std::span<Tensor> out) = 0;
  // A variable was read: returns the tensor to hand out, which may be a tracked alias of `value`.
  virtual Tensor read_variable(VariableState& variable, const Tensor& value) = 0;
  // A variable is about to be changed by means of a value that may be followed.
  virtual void assigned(VariableState& variable, const Tensor& value) = 0;

 protected:
  ~Observer() = default;
};

// Variables behave as inputs and outputs of the program while a function is traced.
class VariableTracer {
 public:
  virtual Tensor read(VariableState& variable) = 0;
  virtual void write(VariableState& variable, const Tensor& value) = 0;

 protected:
  ~VariableTracer() = default;
};

struct ThreadContext {
  Observer* observer = nullptr;
  VariableTracer* variables = nullptr;  // set while a function is traced
  Graph* graph = nullptr;               // the graph being traced into, innermost
  // The user's line. While the engine runs rules for a recorded op, the line of that op stands here
  // and `fixed` keeps the engine's own calls from replacing it.
  std::source_location where;
  bool fixed = false;
  bool in_call = false;        // `where` is of an op that has not come to its end ...
  int open_calls = 0;          // ... which runs others: so many of those, in each other
  const Mute* mute = nullptr;  // innermost
};
extern constinit thread_local ThreadContext thread_context;

// An op has come to its end, or a function that runs none: an error from now on is not of its line.
inline void end_of_call() {
  if (thread_context.open_calls == 0) thread_context.in_call = false;
}

// A function that runs several ops for the user, of whose line errors are until it ends.
class OpenCall {
 public:
  OpenCall() { ++thread_context.open_calls; }
  ~OpenCall() {
    --thread_context.open_calls;
    end_of_call();
  }
  OpenCall(const OpenCall&) = delete;
};

// What happens in this scope is not told to observers that opened after `level` and before the
// scope: the insides of an op that they see as one, or tangents, which only outer levels may see.
class Mute {
 public:
  // What a muted observer follows and the scope uses, if somebody wants to know.
  using Captured = std::vector<Tensor>;

  explicit Mute(Level level, Captured* captured = nullptr)
      : after_(level),
        before_(next_level()),
        captured_(captured),
        outer_(std::exchange(thread_context.mute, this)) {}
  ~Mute() { thread_context.mute = outer_; }
  Mute(const Mute&) = delete;

  static bool silences(Level observer) {
    for (const Mute* m = thread_context.mute; m; m = m->outer_)
      if (m->after_ < observer && observer < m->before_) return true;
    return false;
  }
  static Captured* captured() {
    const Mute* m = thread_context.mute;
    while (m && !m->captured_) m = m->outer_;
    return m ? m->captured_ : nullptr;
  }

 private:
  Level after_, before_;
  Captured* captured_;
  const Mute* outer_;
};

// Whether an op on t is its kernel and nothing else, so that a kernel may be called directly.
inline bool is_plain(const Tensor& t) {
  const std::uint16_t flags = t.impl()->flags.load(std::memory_order_relaxed);
  return flags == 0 || (!thread_context.observer && !(flags & (kNotConcrete | kWeak)));
}

// Attributes everything that the engine does in this scope to one line of the user's.
class AttributeTo {
 public:
  explicit AttributeTo(std::source_location where)
      : saved_(thread_context.where), fixed_(thread_context.fixed) {
    thread_context.where = where;
    thread_context.fixed = true;
  }
  ~AttributeTo() {
    thread_context.where = saved_;
    thread_context.fixed = fixed_;
  }
  AttributeTo(const AttributeTo&) = delete;

 private:
  std::source_location saved_;
  bool fixed_;
};

}  // namespace gradus
