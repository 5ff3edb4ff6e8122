// The forward-mode tape. Each source has its own level of tangents: one batch with a direction for
// every element, seeded with the identity. All of them have the tape's place in the nesting.
#include <algorithm>

#include "autodiff/rules.h"
#include "autodiff/tape.h"
#include "autodiff/thread_tapes.h"
#include "autodiff/vector_sweeps.h"
#include "base/check.h"
#include "gradus/forward.h"
#include "gradus/ops.h"
#include "graph/batch.h"

namespace gradus::forward_diff {
namespace {

// A source and the derivatives with respect to its elements.
struct Directions : ForwardLevel {
  Directions(Level nesting, const Shape& s, DType t) : ForwardLevel(nesting), shape(s), dtype(t) {}

  const Level batch = next_level();
  const Shape shape;
  const DType dtype;

  std::int64_t count() const { return shape.num_elements(); }
  Tensor seed() const {
    constexpr std::int64_t kMost = 1 << 15;
    if (count() > kMost) {
      fail<ResourceExhaustedError>(
          "[forward_diff.GradientTape] a source of shape ", shape, " has ", count(),
          " elements, and every op would carry a derivative for each; at most ", kMost,
          " are carried. Use gradus::GradientTape for sources this large");
    }
    return make_batched(
        reshape(identity_rows(0, count(), count(), dtype), joined({count()}, shape)), batch);
  }
  // (directions, target...), or undefined.
  Tensor tangents(const Tensor& target) const {
    const Tensor t = tangent_of(target, *this);
    return t.defined() ? unbatch(t, batch, count()) : Tensor();
  }
};

void check_source(const char* what, DType dtype) {
  if (!is_differentiable(dtype)) {
    fail<InvalidArgumentError>("[GradientTape.", what, "] got a tensor of ", name_of(dtype),
                               "; only float and complex tensors have gradients, cast it");
  }
  if (is_complex(dtype)) {
    fail<UnimplementedError>("[forward_diff.GradientTape] a ", name_of(dtype),
                             " source: use gradus::GradientTape for complex ones");
  }
}

}  // namespace

struct GradientTape::State final : VariableListener {
  TapeOptions options;
  Level level = next_level();
  bool open = true, paused = false;
  std::vector<std::unique_ptr<Directions>> sources;

  void add(std::unique_ptr<Directions> source) {
    sources.push_back(std::move(source));
    if (open) thread_tapes().push(sources.back().get());
  }
  void add(VariableState& v) {
    check_source("watch", v.dtype);
    if (find(v)) return;
    auto source = std::make_unique<Directions>(level, v.shape, v.dtype);
    source->variables.emplace_back(v.shared_from_this(), source->seed());
    add(std::move(source));
  }
  Directions* find(const VariableState& v) const {
    for (const auto& s : sources)
      if (!s->variables.empty() && s->variables[0].first.get() == &v) return s.get();
    return nullptr;
  }
  Directions* find(const Source& source) const {
    if (source.is_variable()) return find(*source.variable().state());
    for (const auto& s : sources)
      if (!s->tensors.empty() && s->tensors[0].first.impl() == source.tensor().impl())
        return s.get();
    return nullptr;
  }
  void about_to_read(VariableState& v) override {
    const bool follows = options.watch_accessed_variables && v.trainable && !paused &&
                         is_floating(v.dtype) && !Mute::silences(level);
    if (follows) add(v);
  }
};

GradientTape::GradientTape(TapeOptions options) : state_(std::make_unique<State>()) {
  state_->options = options;
  thread_tapes().add_listener(state_.get());
}

GradientTape::~GradientTape() { stop(); }

void GradientTape::stop() {
  if (!state_->open) return;
  state_->open = false;
  thread_tapes().remove_listener(state_.get());
  for (const auto& s : state_->sources) thread_tapes().pop(s.get());
}

void GradientTape::resume() {
  if (state_->open) return;
  state_->open = true;
  state_->level = next_level();  // inside of what was opened meanwhile
  thread_tapes().add_listener(state_.get());
  for (const auto& s : state_->sources) {
    s->level = state_->level;
    thread_tapes().push(s.get());
  }
}

void GradientTape::reset() {
  const TapeOptions options = state_->options;
  stop();
  state_ = std::make_unique<State>();
  state_->options = options;
  thread_tapes().add_listener(state_.get());
}

bool GradientTape::is_recording() const { return state_->open && !state_->paused; }

GradientTape::Pause::Pause(GradientTape& tape) : tape_(&tape) {
  if (!tape.is_recording()) {
    fail<UsageError>("[GradientTape.stop_recording] the tape is not recording");
  }
  tape.state_->paused = true;
  for (const auto& s : tape.state_->sources) s->paused = true;
}

GradientTape::Pause::~Pause() {
  tape_->state_->paused = false;
  for (const auto& s : tape_->state_->sources) s->paused = false;
}

void GradientTape::watch(const Tensor& t) {
  check_source("watch", t.dtype());
  if (state_->find(Source(t))) return;
  auto source = std::make_unique<Directions>(state_->level, t.shape(), t.dtype());
  source->paused = state_->paused;
  source->tensors.emplace_back(t, source->seed());
  t.impl()->set(kHasTangent);
  state_->add(std::move(source));
}

void GradientTape::watch(const Variable& v) { state_->add(*v.state()); }

std::vector<Variable> GradientTape::watched_variables() const {
  std::vector<Variable> result;
  for (const auto& s : state_->sources)
    if (!s->variables.empty()) result.emplace_back(s->variables[0].first);
  return result;
}

std::vector<Gradient> GradientTape::jacobian(const Tensor& target,
                                             const std::vector<Source>& sources,
                                             Unconnected unconnected) {
  if (!target.defined()) {
    fail<InvalidArgumentError>("[GradientTape.jacobian] the target is an undefined tensor");
  }
  std::vector<Gradient> jacobians;
  for (const Source& source : sources) {
    const Directions* d = state_->find(source);
    const Tensor t = d ? d->tangents(target) : Tensor();
    const Shape shape = joined(target.shape(), source.shape());
    if (t.defined()) {
      jacobians.emplace_back(
          reshape(transpose(reshape(t, {d->count(), target.num_elements()})), shape));
    } else if (unconnected == Unconnected::zero) {
      jacobians.emplace_back(zeros(shape, source.dtype()));
    } else {
      jacobians.emplace_back();
    }
  }
  return jacobians;
}

Gradient GradientTape::jacobian(const Tensor& target, const Source& source,
                                Unconnected unconnected) {
  return jacobian(target, std::vector<Source>{source}, unconnected)[0];
}

std::vector<Gradient> GradientTape::gradient(const std::vector<Tensor>& targets,
                                             const std::vector<Source>& sources,
                                             const GradientOptions& options) {
  check_targets("gradient", targets, sources.size(), options);
  std::vector<Gradient> gradients;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const Directions* d = state_->find(sources[s]);
    Tensor sum;
    for (std::size_t i = 0; d && i < targets.size(); ++i) {
      Tensor t = d->tangents(targets[i]);
      if (!t.defined()) continue;
      if (!options.output_gradients.empty() && options.output_gradients[i].defined()) {
        t = t * options.output_gradients[i];
      }
      Ints axes;
      for (int a = 1; a < t.rank(); ++a) axes.push_back(a);
      const Tensor part = reshape(axes.rank() ? reduce_sum(t, axes) : t, d->shape);
      sum = sum.defined() ? sum + part : part;
    }
    Gradient g(sum);
    if (options.into) {
      GradientBuffer& kept = (*options.into)[s];
      if (sum.defined())
        kept.put(to_gradient(add_cotangents(to_cotangent(kept.take(sources[s])), sum)));
      g = kept.value();
    }
    if (g.is_none() && options.unconnected == Unconnected::zero) {
      g = zeros(sources[s].shape(), sources[s].dtype());
    }
    gradients.push_back(std::move(g));
  }
  return gradients;
}

}  // namespace gradus::forward_diff
