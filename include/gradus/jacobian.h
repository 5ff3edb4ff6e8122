// Jacobians and Hessians of functions.
//
//   auto J = gd::jacobian(f, x);                     // shape f(x).shape + x.shape
//   std::cout << J.report();                         // which mode, why, and what it cost
//   auto H = gd::hessian(loss, w, {.chunk = 64});    // 64 columns at a time
//
// f runs once. Then either directions of the input go forward or rows of the output go back through
// what it did, many at a time; the cheaper way is chosen from the sizes and from what the ops in
// between cost. Jacobians are differentiable like any other result.
#pragma once
#include <string>

#include "gradus/calling.h"

namespace gradus {

enum class JacobianMode { automatic, forward, reverse };

struct JacobianOptions {
  JacobianMode mode = JacobianMode::automatic;
  std::int64_t chunk = 0;  // directions or rows per pass; 0: as many as memory and caches like
};

struct JacobianReport {
  JacobianMode mode = JacobianMode::automatic;  // what was done: forward or reverse
  std::string reason;
  std::int64_t inputs = 0, outputs = 0;  // numbers of elements
  std::int64_t passes = 0, chunk = 0;    // sweeps, and how many directions or rows each carried
  double flops = 0, bytes = 0;           // estimates for all passes together
};
std::string to_string(const JacobianReport& report);
std::ostream& operator<<(std::ostream& out, const JacobianReport& report);

// One tensor per argument; of a Hessian of k arguments, k times k of them, row by row.
class Jacobian {
 public:
  Jacobian(std::vector<Tensor> blocks, JacobianReport report)
      : blocks_(std::move(blocks)), report_(std::move(report)) {}

  const Tensor& tensor() const;  // if there is just one
  operator const Tensor&() const { return tensor(); }
  const std::vector<Tensor>& blocks() const { return blocks_; }
  const JacobianReport& report() const { return report_; }

 private:
  std::vector<Tensor> blocks_;
  JacobianReport report_;
};

namespace detail {
Jacobian jacobian(const Function& f, const std::vector<Tensor>& at, const JacobianOptions& options);
Jacobian hessian(const Function& f, const std::vector<Tensor>& at, const JacobianOptions& options);
}  // namespace detail

// f gives one tensor.
template <class F, class S = std::vector<Tensor>>
Jacobian jacobian(const F& f, const S& x, const JacobianOptions& options = {}) {
  detail::Flat<F, S> flat(f, x);
  return detail::jacobian(flat.function(), tensors_of(x), options);
}

// f gives one tensor, usually a scalar: shape f(x).shape + x.shape + x.shape.
template <class F, class S = std::vector<Tensor>>
Jacobian hessian(const F& f, const S& x, const JacobianOptions& options = {}) {
  detail::Flat<F, S> flat(f, x);
  return detail::hessian(flat.function(), tensors_of(x), options);
}

}  // namespace gradus
