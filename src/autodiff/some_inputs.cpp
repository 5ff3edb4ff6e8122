#include "autodiff/some_inputs.h"

namespace gradus {

std::vector<bool> are_defined(std::span<const Tensor> tensors) {
  std::vector<bool> defined;
  for (const Tensor& t : tensors) defined.push_back(t.defined());
  return defined;
}

std::vector<Tensor> with_defined(std::span<const Tensor> values, std::span<const Tensor> moved) {
  std::vector<Tensor> all(values.begin(), values.end());
  for (const Tensor& t : moved)
    if (t.defined()) all.push_back(t);
  return all;
}

std::vector<Tensor> take_defined(std::span<const Tensor> given, const std::vector<bool>& defined) {
  std::vector<Tensor> tensors;
  std::size_t next = 0;
  for (bool is_there : defined) tensors.push_back(is_there ? given[next++] : Tensor());
  return tensors;
}

std::vector<bool> wanted_inputs(const Site& s, std::uint32_t wanted, std::size_t first) {
  std::vector<bool> inputs;
  for (std::size_t i = first; i < s.args.size(); ++i)
    inputs.push_back(has_position(wanted, i) && is_differentiable(s.args[i].dtype));
  return inputs;
}

std::vector<Cotangent> pull_through(const TensorFunction& f, std::span<const Tensor> in,
                                    const std::vector<bool>& wanted,
                                    std::span<const Cotangent> cts) {
  std::vector<std::size_t> which;
  std::vector<Tensor> active;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!wanted[i]) continue;
    which.push_back(i);
    active.push_back(in[i]);
  }
  const std::vector<Cotangent> found = vjp_of(
      [&](std::span<const Tensor> x) {
        std::vector<Tensor> all(in.begin(), in.end());
        for (std::size_t k = 0; k < which.size(); ++k) all[which[k]] = x[k];
        return f(all);
      },
      active, ~0u, cts);
  std::vector<Cotangent> gradients(in.size());
  for (std::size_t k = 0; k < which.size(); ++k) gradients[which[k]] = found[k];
  return gradients;
}

}  // namespace gradus
