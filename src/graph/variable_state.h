// What a Variable points to.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "gradus/tensor.h"

namespace gradus {

class VariableProgram;

struct VariableState : std::enable_shared_from_this<VariableState> {
  std::string name;
  bool trainable = true;
  DType dtype;
  Shape shape;

  Tensor get() const {
    const std::lock_guard lock(mutex);
    return value;
  }
  void set(Tensor t) {
    {
      const std::lock_guard lock(mutex);
      std::swap(value, t);
    }  // the old value is freed outside the lock
  }
  // Runs an update with exclusive access to the value, which it may replace or, if nobody else has
  // it, write over.
  void update(const std::function<void(Tensor& value)>& change) {
    const std::lock_guard lock(mutex);
    change(value);
  }

  // A variable of a program that is built by hand has no value here but one in each session; reads
  // and writes are nodes of the program.
  bool is_declared = false;
  std::weak_ptr<VariableProgram> program;
  // Whether what a write gives, and what a read gives, is the variable itself: looked at by each op
  // that uses it, when that op runs (VariableKind of gradus/graph_program.h).
  bool writes_give_it = false, reads_give_it = false;

  mutable std::mutex mutex;
  Tensor value;
};

}  // namespace gradus
