#include "autodiff/thread_tapes.h"

#include "autodiff/rules.h"
#include "autodiff/tape.h"
#include "base/check.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

// Recordings whose arrays have already grown, ready for the next tape of this thread.
std::vector<std::shared_ptr<Recording>>& spare_recordings() {
  thread_local std::vector<std::shared_ptr<Recording>> spare;
  return spare;
}

std::shared_ptr<Recording> take_recording() {
  auto& spare = spare_recordings();
  if (spare.empty()) return std::make_shared<Recording>();
  std::shared_ptr<Recording> r = std::move(spare.back());
  spare.pop_back();
  return r;
}

}  // namespace

ThreadTapes& thread_tapes() {
  thread_local ThreadTapes tapes;
  return tapes;
}

void ThreadTapes::update_context() {
  thread_context.observer = open_.empty() && levels_.empty() ? nullptr : this;
}

void ThreadTapes::enter(GradientTape::State& tape) {
  if (open_.empty() || !recording_) recording_ = take_recording();
  tape.recording = recording_;
  tape.bit = recording_->take_bit();
  tape.level = next_level();
  tape.entered = true;
  open_.push_back(&tape);
  update_context();
}

void ThreadTapes::leave(GradientTape::State& tape) {
  if (!tape.entered) return;
  tape.entered = false;
  std::erase(open_, &tape);
  if (open_.empty()) recording_.reset();
  update_context();
}

void ThreadTapes::forget(GradientTape::State& tape) {
  if (!tape.recording) return;
  tape.recording->give_bit_back(tape.bit);
  if (tape.recording.use_count() == 1) {
    tape.recording->clear();
    if (spare_recordings().size() < 4) spare_recordings().push_back(std::move(tape.recording));
  }
  tape.recording.reset();
}

// The tapes that see an op of this level.
Recording::Followers ThreadTapes::told_of(Level op) const {
  Recording::Followers bits = 0;
  for (const GradientTape::State* tape : open_)
    if (!tape->paused && tape->level > op && !Mute::silences(tape->level)) bits |= tape->bit;
  return bits;
}

void ThreadTapes::observe(const Op& op, const void* attrs, std::span<const Tensor* const> in,
                          std::span<Tensor> out) {
  const Level op_level = level_of(out[0]);
  if (recording_) {
    if (const auto bits = told_of(op_level)) recording_->record(op, attrs, in, out, bits);
  }
  // Innermost first, so that its tangents are themselves seen by the outer levels, and only by
  // them: no level sees its own perturbation.
  for (std::size_t k = levels_.size(); k-- > 0;) {
    ForwardLevel& level = *levels_[k];
    if (level.level <= op_level || Mute::silences(level.level)) continue;
    SmallVector<Tensor, 8> tangents(in.size());
    bool any = false;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!in[i]->impl()->has(kHasTangent)) continue;
      tangents[i] = tangent_of(*in[i], level);
      any |= tangents[i].defined();
    }
    if (!any) continue;
    const Mute perturbation(level.level - 1);
    SmallVector<Tensor, 8> primals;
    SmallVector<Aval, 4> avals;
    for (const Tensor* t : in) {
      primals.push_back(*t);
      avals.push_back({t->dtype(), t->shape()});
    }
    const AttributeTo here(thread_context.where);
    const Tensors results = push_forward({op, attrs, primals, out, avals}, tangents);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].defined() && is_differentiable(out[i].dtype())) {
        set_tangent(out[i], level, results[i]);
      }
    }
  }
}

Tensor ThreadTapes::read_variable(VariableState& variable, const Tensor& value) {
  Tensor result = value;
  if (recording_ && is_differentiable(variable.dtype)) {
    Recording::Followers bits = 0;
    for (const GradientTape::State* tape : open_) {
      if (tape->paused) continue;
      bool follows = tape->options.watch_accessed_variables && variable.trainable;
      for (const auto& v : tape->watched) follows |= v.get() == &variable;
      if (follows) bits |= tape->bit;
    }
    if (bits) result = recording_->read_variable(variable, value, bits);
  }
  for (ForwardLevel* level : levels_) {
    for (const auto& [state, tangent] : level->variables) {
      if (state.get() != &variable) continue;
      if (result.impl() == value.impl()) result = make_alias(value);
      set_tangent(result, *level, tangent);
    }
  }
  return result;
}

void ThreadTapes::push(ForwardLevel* level) {
  levels_.push_back(level);
  update_context();
}

void ThreadTapes::pop(ForwardLevel* level) {
  std::erase(levels_, level);
  update_context();
}

Tensor tangent_of(const Tensor& t, const ForwardLevel& level) {
  for (const auto& [watched, tangent] : level.tensors)
    if (watched.impl() == t.impl()) return tangent;
  const TensorExtra* extra = t.impl()->extra();
  if (!extra) return {};
  for (const TangentEntry* e = extra->tangents; e; e = e->next)
    if (e->level == level.level) return e->tangent;
  return {};
}

void set_tangent(const Tensor& t, const ForwardLevel& level, Tensor tangent) {
  TensorExtra& extra = t.impl()->ensure_extra();
  extra.tangents = new TangentEntry{level.level, std::move(tangent), extra.tangents};
  t.impl()->set(kHasTangent);
}

}  // namespace gradus
