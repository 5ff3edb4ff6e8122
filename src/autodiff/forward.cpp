#include "gradus/forward.h"

#include <algorithm>

#include "autodiff/rules.h"
#include "autodiff/thread_tapes.h"
#include "base/check.h"
#include "gradus/ops.h"
#include "graph/symbols.h"
#include "tensor/tensor_impl.h"

namespace gradus {

ForwardAccumulator::ForwardAccumulator(
    const std::vector<std::pair<Source, Tensor>>& primals_and_tangents)
    : level_(std::make_unique<ForwardLevel>(next_level())) {
  for (const auto& [primal, given] : primals_and_tangents) {
    Tensor tangent = given;
    if (!shapes_agree(tangent.shape(), primal.shape()) || tangent.dtype() != primal.dtype()) {
      fail<InvalidArgumentError>("[ForwardAccumulator] a tangent of shape ", tangent.shape(),
                                 " and dtype ", name_of(tangent.dtype()),
                                 " was given for a primal ", "of shape ", primal.shape(),
                                 " and dtype ", name_of(primal.dtype()), "; they must agree");
    }
    tangent = broadcast_to(tangent, primal.shape());  // whose sizes may be other names of the same
    if (!is_differentiable(primal.dtype())) {
      fail<InvalidArgumentError>("[ForwardAccumulator] a primal of dtype ", name_of(primal.dtype()),
                                 " has no tangent; cast it to a float dtype");
    }
    if (primal.is_variable()) {
      level_->variables.emplace_back(primal.variable().state()->shared_from_this(), tangent);
    } else {
      level_->tensors.emplace_back(primal.tensor(), tangent);
      primal.tensor().impl()->set(kHasTangent);
    }
  }
  auto& tensors = level_->tensors;
  std::ranges::sort(tensors, {}, [](const auto& pair) { return pair.first.impl(); });
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i - 1].first.impl() == tensors[i].first.impl()) {
      fail<InvalidArgumentError>("[ForwardAccumulator] a primal of shape ",
                                 tensors[i].first.shape(),
                                 " was given two tangents; add them up and give one");
    }
  }
  thread_tapes().push(level_.get());
}

void ForwardAccumulator::stop() {
  if (open_) thread_tapes().pop(level_.get());
  open_ = false;
}

ForwardAccumulator::~ForwardAccumulator() { stop(); }

Gradient ForwardAccumulator::jvp(const Tensor& y, Unconnected unconnected) const {
  Tensor t = tangent_of(y, *level_);
  if (!t.defined() && unconnected == Unconnected::zero) t = zeros(y.shape(), y.dtype());
  return t;
}

Tensors jvp_of(const TensorFunction& f, std::span<const Tensor> primals,
               std::span<const Tensor> tangents) {
  std::vector<std::pair<Source, Tensor>> pairs;
  SmallVector<Tensor, 8> in;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    in.push_back(tangents[i].defined() ? identity(primals[i]) : primals[i]);
    if (tangents[i].defined()) pairs.emplace_back(in.back(), tangents[i]);
  }
  const ForwardAccumulator accumulator(pairs);
  const Tensors out = f(in);
  Tensors results;
  for (const Tensor& y : out) results.push_back(accumulator.jvp(y).values());
  return results;
}

}  // namespace gradus
