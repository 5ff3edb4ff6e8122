// How much memory the gradient of a loop may take.
//
//   const auto step = gd::function([&](const gd::Tensor& x) {
//     const gd::LoopMemoryLimit limit(64 << 20);  // bytes, for each loop from here on
//     ...
//   });
//
// The gradient of a loop inside a traced function reads, from the last iteration to the first, what
// the iterations had. Where stacks of all iterations would take more than the limit, only some
// states are kept and the rest is computed again from them: the result has the same bits, and the
// loop runs once or twice more. Without a limit, a quarter of the machine's memory counts as one.
#pragma once
#include <cstdint>

namespace gradus {

class LoopMemoryLimit {
 public:
  // Loops that this thread traces while this object lives keep the limit.
  explicit LoopMemoryLimit(std::int64_t bytes);
  ~LoopMemoryLimit() { exchange(before_); }
  LoopMemoryLimit(const LoopMemoryLimit&) = delete;

  // The thread's; 0: nobody asked for one. `exchange` gives the one before.
  static std::int64_t of_thread();
  static std::int64_t exchange(std::int64_t bytes);

 private:
  std::int64_t before_;
};

}  // namespace gradus
