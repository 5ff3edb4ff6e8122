// How an op takes an argument: a tensor, a variable or a plain number, together with the line of
// the call, so that errors and reports can name it. Numbers take the dtype of the tensor they meet:
// `x * 2` works for every dtype of x. Users never write this type.
#pragma once
#include <concepts>
#include <source_location>

#include "gradus/tensor.h"

namespace gradus {

class Variable;

namespace detail {
void set_call_site(std::source_location where) noexcept;
Tensor weak_number(double x);
Tensor weak_number(std::int64_t x);
Tensor weak_number(Size size);
Tensor read(const Variable& variable);
}  // namespace detail

// Where a call stands. The library's own calls do not count: the line of who called it stays.
#ifdef GRADUS_INSIDE
inline constexpr std::source_location kNowhere{};
#define GRADUS_HERE ::gradus::kNowhere
#else
#define GRADUS_HERE std::source_location::current()
#endif

// The last parameter of public functions without other operands; nobody gives it.
struct CallSite {
  CallSite(std::source_location where = GRADUS_HERE) { detail::set_call_site(where); }  // NOLINT
};

class Operand {
 public:
  using Where = std::source_location;

  Operand(const Tensor& t, Where where = GRADUS_HERE) : tensor_(&t) {  // NOLINT: implicit by design
    detail::set_call_site(where);
  }
  Operand(const Variable& v, Where where = GRADUS_HERE)  // NOLINT
      : owned_(detail::read(v)), tensor_(&owned_) {
    detail::set_call_site(where);
  }
  template <std::floating_point N>
  Operand(N x, Where where = GRADUS_HERE)  // NOLINT
      : owned_(detail::weak_number(static_cast<double>(x))), tensor_(&owned_) {
    detail::set_call_site(where);
  }
  template <std::integral N>
  Operand(N x, Where where = GRADUS_HERE)  // NOLINT
      : owned_(detail::weak_number(static_cast<std::int64_t>(x))), tensor_(&owned_) {
    detail::set_call_site(where);
  }
  Operand(Size size, Where where = GRADUS_HERE)  // NOLINT
      : owned_(detail::weak_number(size)), tensor_(&owned_) {
    detail::set_call_site(where);
  }
  Operand(const Operand&) = delete;

  const Tensor& tensor() const { return *tensor_; }
  operator const Tensor&() const { return *tensor_; }
  const Tensor* operator->() const { return tensor_; }

 private:
  Tensor owned_;
  const Tensor* tensor_;
};

using In = const Operand&;

}  // namespace gradus
