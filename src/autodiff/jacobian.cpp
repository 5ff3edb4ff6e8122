// Jacobians from a tape: the rows of the identity, as one batched cotangent, go through one reverse
// sweep.
#include "autodiff/tape.h"
#include "autodiff/vector_sweeps.h"
#include "base/check.h"
#include "gradus/ops.h"

namespace gradus {
namespace {

void check_target(const char* what, const Tensor& target) {
  if (!target.defined()) {
    fail<InvalidArgumentError>("[GradientTape.", what, "] the target is an undefined tensor");
  }
  if (!target.shape().is_known()) {
    fail<UnimplementedError>("[GradientTape.", what, "] a target of shape ", target.shape(),
                             " whose size is not known while tracing; give it a fixed shape");
  }
}

}  // namespace

std::vector<Gradient> GradientTape::jacobian(const Tensor& target,
                                             const std::vector<Source>& sources,
                                             Unconnected unconnected, std::int64_t chunk) {
  check_target("jacobian", target);
  const TapeUse use(*this, "jacobian");
  std::vector<std::vector<Recording::Id>> ids;
  for (const Source& s : sources) ids.push_back(reads_of(*state_, s));
  const std::int64_t n = target.num_elements();
  VectorSweep sweep{*state_->recording, state_->bit, ids, target, chunk, use.is_last()};
  const std::vector<Tensor> rows = sweep.rows(n);
  std::vector<Gradient> jacobians;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const Shape shape = joined(target.shape(), sources[s].shape());
    if (rows[s].defined()) {
      jacobians.emplace_back(reshape(rows[s], shape));
    } else if (unconnected == Unconnected::zero) {
      jacobians.emplace_back(zeros(shape, sources[s].dtype()));
    } else {
      jacobians.emplace_back();
    }
  }
  return jacobians;
}

Gradient GradientTape::jacobian(const Tensor& target, const Source& source, Unconnected unconnected,
                                std::int64_t chunk) {
  return jacobian(target, std::vector<Source>{source}, unconnected, chunk)[0];
}

Gradient GradientTape::batch_jacobian(const Tensor& target, const Source& source,
                                      Unconnected unconnected, std::int64_t chunk) {
  check_target("batch_jacobian", target);
  const Shape &t = target.shape(), &s = source.shape();
  if (t.rank() == 0 || s.rank() == 0 || t[0] != s[0]) {
    fail<InvalidArgumentError>("[GradientTape.batch_jacobian] got a target of shape ", t,
                               " and a source of shape ", s,
                               "; both need the same first axis, the examples");
  }
  const TapeUse use(*this, "batch_jacobian");
  const std::vector<std::vector<Recording::Id>> ids = {reads_of(*state_, source)};
  std::int64_t n = 1;  // rows of one example
  for (int i = 1; i < t.rank(); ++i) n *= t[i];
  VectorSweep sweep{*state_->recording, state_->bit, ids, target, chunk, use.is_last()};
  const Tensor rows = sweep.rows(n)[0];
  const Shape shape = joined(t, std::span(s.begin() + 1, s.end()));
  if (rows.defined()) {  // (n, b, s...): the examples come first
    Shape order{1, 0};
    for (int i = 1; i < s.rank(); ++i) order.push_back(i + 1);
    return reshape(transpose(rows, order), shape);
  }
  return unconnected == Unconnected::zero ? Gradient(zeros(shape, source.dtype())) : Gradient();
}

}  // namespace gradus
