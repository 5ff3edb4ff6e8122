// Is a gradient right? Compares it with what small steps of the arguments do to the function.
//
//   std::cout << gd::check_gradient(loss, w);
//   ASSERT_TRUE(gd::check_gradient(f, {x, y}));
//
// Results of more than one element are weighted with fixed numbers and added up: what is shown then
// are derivatives of that sum.
// Use float64: of float32, differences leave three digits at best.
#pragma once
#include <iosfwd>
#include <string>

#include "gradus/calling.h"

namespace gradus {

struct CheckOptions {
  double tolerance = 0;           // relative; 0: what the dtype allows
  double step = 0;                // relative; 0: what the dtype allows
  std::int64_t per_tensor = 200;  // how many elements of a tensor are tried, evenly spread
};

struct GradientCheck {
  bool right = true;
  std::int64_t checked = 0, wrong = 0;  // numbers of derivatives
  // The worst of them.
  std::size_t input = 0;  // which tensor among the arguments
  Shape at;               // which element of it
  double analytic = 0, numeric = 0, error = 0;
  double from_below = 0, from_above = 0;  // one-sided slopes
  bool kink = false;                      // they differ: the function has a kink or a jump there
  bool modes_differ = false;              // reverse and forward mode do not agree
  DType dtype = float64;                  // of that tensor

  explicit operator bool() const { return right; }
};
std::string to_string(const GradientCheck& check);
std::ostream& operator<<(std::ostream& out, const GradientCheck& check);

namespace detail {
GradientCheck check_gradient(const Function& f, const std::vector<Tensor>& at,
                             const CheckOptions& options);
}

template <class F, class S = std::vector<Tensor>>
GradientCheck check_gradient(const F& f, const S& x, const CheckOptions& options = {}) {
  detail::Flat<F, S> flat(f, x);
  return detail::check_gradient(flat.function(), tensors_of(x), options);
}

}  // namespace gradus
