// Working memory of a kernel. Freed blocks are kept for reuse, because fresh pages cost more than
// the work done in them: small ones by each thread, large ones (in huge pages where the system has
// them) for all threads, up to kMaxKept bytes together.
#pragma once
#include <cstddef>

namespace gradus::kernels {

class Scratch {
 public:
  static constexpr std::size_t kLarge = std::size_t{1} << 20;
  static constexpr std::size_t kMaxKept = std::size_t{128} << 20;

  explicit Scratch(std::size_t bytes);  // aligned to 64; throws ResourceExhaustedError
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_;
  std::size_t capacity_;
};

}  // namespace gradus::kernels
