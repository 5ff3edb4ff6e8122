// Working memory of a kernel. Each thread keeps a few blocks for reuse, because fresh pages cost
// more than the work done in them; a block above kMaxKept bytes is returned to the system.
#pragma once
#include <cstddef>

namespace gradus::kernels {

class Scratch {
 public:
  static constexpr std::size_t kMaxKept = std::size_t{4} << 20;

  explicit Scratch(std::size_t bytes);  // aligned to 64; throws ResourceExhaustedError
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* data() { return data_; }
  template <class T>
  T* as() {
    return static_cast<T*>(data_);
  }

 private:
  void* data_;
  std::size_t capacity_;
};

}  // namespace gradus::kernels
