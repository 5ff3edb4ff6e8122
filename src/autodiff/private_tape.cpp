#include "autodiff/private_tape.h"

#include "gradus/ops.h"

namespace gradus {

PrivateTape::PrivateTape(const std::vector<Tensor>& arguments, Sweeps sweeps)
    : tape_({.persistent = true, .watch_accessed_variables = false}), inputs_(arguments) {
  if (sweeps == Sweeps::both) recording().keep_for_forward(bit());
  for (Tensor& x : inputs_) {
    ids_.emplace_back();
    if (!x.defined() || !is_differentiable(x.dtype())) continue;
    x = identity(x);
    tape_.watch(x);
    ids_.back() = reads_of(tape_.state(), x);
  }
}

bool PrivateTape::is_idle() const {
  return std::all_of(ids_.begin(), ids_.end(), [](const auto& ids) { return ids.empty(); });
}

std::vector<Tensor> PrivateTape::pull_back(std::span<const Tensor> targets,
                                           std::span<const Cotangent> seeds, bool last_use) {
  const auto results = sweep(
      recording(), bit(),
      {.targets = targets, .seeds = seeds, .sources = ids_, .initial = {}, .release = last_use});
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].is_zero()) {
      gradients.push_back(dense(results[i]));
    } else if (ids_[i].empty()) {
      gradients.emplace_back();
    } else {
      gradients.push_back(zeros(inputs_[i].shape(), inputs_[i].dtype()));
    }
  }
  return gradients;
}

}  // namespace gradus
