#include "gradus/functional.h"

#include "autodiff/forward_sweep.h"
#include "autodiff/private_tape.h"
#include "base/check.h"
#include "gradus/forward.h"
#include "gradus/ops.h"
#include "graph/symbols.h"

namespace gradus::detail {
namespace {

Tensor zeros_like(const Tensor& t) { return zeros(t.shape(), t.dtype()); }

// One for each tensor, of its shape. Sizes that only the program will know may be meant to be the
// same: the program checks that.
std::vector<Tensor> checked(const char* what, std::vector<Tensor> got,
                            const std::vector<Tensor>& like) {
  if (got.size() != like.size()) {
    fail<InvalidArgumentError>("[", what, "] got ", got.size(), " tensors for ", like.size(),
                               "; give one for each");
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!got[i].defined()) continue;
    if (!shapes_agree(got[i].shape(), like[i].shape()) || got[i].dtype() != like[i].dtype()) {
      fail<InvalidArgumentError>("[", what, "] number ", i, " has shape ", got[i].shape(),
                                 " and dtype ", name_of(got[i].dtype()), "; expected shape ",
                                 like[i].shape(), " and dtype ", name_of(like[i].dtype()));
    }
    got[i] = broadcast_to(got[i], like[i].shape());
  }
  return got;
}

}  // namespace

void fail_argument_count(std::size_t takes, std::size_t got) {
  fail<InvalidArgumentError>("the function takes ", takes, " tensors, got ", got);
}

struct Linearization::State {
  PrivateTape tape;
  std::vector<Tensor> at, value;
};

Linearization::Linearization(const Function& f, const std::vector<Tensor>& at)
    : state_(new State{PrivateTape(at, PrivateTape::Sweeps::both), at, {}}) {
  state_->value = f(state_->tape.inputs());
  state_->tape.stop();
}

const std::vector<Tensor>& Linearization::value() const { return state_->value; }

std::vector<Tensor> Linearization::push(const std::vector<Tensor>& tangents) const {
  const std::vector<Tensor> given = checked("linearize", tangents, state_->at);
  PrivateTape& tape = state_->tape;
  std::vector<Tensor> results =
      forward_sweep(tape.recording(), tape.bit(),
                    {.sources = tape.ids(), .tangents = given, .targets = state_->value});
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined() && is_differentiable(state_->value[i].dtype())) {
      results[i] = zeros_like(state_->value[i]);
    }
  }
  return results;
}

std::vector<Tensor> Linearization::pull(const std::vector<Tensor>& cotangents) const {
  const std::vector<Tensor> given = checked("vjp", cotangents, state_->value);
  const std::vector<Cotangent> seeds(given.begin(), given.end());
  return state_->tape.pull_back(state_->value, seeds, false);
}

ValueAndTangent jvp(const Function& f, const std::vector<Tensor>& at,
                    const std::vector<Tensor>& tangents) {
  const std::vector<Tensor> given = checked("jvp", tangents, at);
  std::vector<Tensor> x = at;
  std::vector<std::pair<Source, Tensor>> pairs;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!given[i].defined() || !is_differentiable(at[i].dtype())) continue;
    x[i] = identity(at[i]);  // the same tensor may be two arguments
    pairs.emplace_back(x[i], given[i]);
  }
  const ForwardAccumulator accumulator(pairs);
  ValueAndTangent result{f(x), {}};
  for (const Tensor& y : result.value) {
    result.tangent.push_back(
        is_differentiable(y.dtype()) ? accumulator.jvp(y, Unconnected::zero).tensor() : Tensor());
  }
  return result;
}

std::vector<Tensor> gradient(const Function& f, const std::vector<Tensor>& at) {
  PrivateTape tape(at, PrivateTape::Sweeps::reverse);
  if (tape.is_idle()) {
    fail<InvalidArgumentError>("[grad] got ", at.empty() ? "no tensor" : name_of(at[0].dtype()),
                               "; only float and complex tensors have gradients, cast it");
  }
  const std::vector<Tensor> value = f(tape.inputs());
  tape.stop();
  if (value.empty() || !value[0].defined() || value[0].rank() != 0 ||
      !is_differentiable(value[0].dtype())) {
    fail<InvalidArgumentError>(
        "[grad] the function returned ",
        value.empty() || !value[0].defined()
            ? "no tensor"
            : "shape " + to_string(value[0].shape()) + " and dtype " + name_of(value[0].dtype()),
        "; it must return a float scalar: sum or average, or use jacobian or vjp");
  }
  const Cotangent one(ones({}, value[0].dtype()));
  return tape.pull_back({&value[0], 1}, {&one, 1}, true);
}

}  // namespace gradus::detail
