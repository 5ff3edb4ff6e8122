#include "autodiff/thread_tapes.h"

#include <algorithm>

#include "autodiff/rules.h"
#include "autodiff/tape.h"
#include "base/check.h"
#include "gradus/watched.h"
#include "graph/batch.h"
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
  const bool idle = open_.empty() && levels_.empty() && listeners_.empty();
  thread_context.observer = idle ? nullptr : this;
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

void ThreadTapes::resume(GradientTape::State& tape) {
  if (tape.entered) return;
  if (!tape.recording) return enter(tape);
  if (open_.empty() || !recording_) {
    recording_ = tape.recording;
  } else if (tape.recording != recording_ && !std::ranges::count(others_, tape.recording)) {
    others_.push_back(tape.recording);
  }
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
  std::erase_if(others_, [&](const auto& other) {
    return std::ranges::none_of(open_, [&](const auto* t) { return t->recording == other; });
  });
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
Recording::Followers ThreadTapes::told_of(Level op, const Recording* recording) const {
  Recording::Followers bits = 0;
  for (const GradientTape::State* tape : open_)
    if (!tape->paused && tape->level > op && !Mute::silences(tape->level) &&
        tape->recording.get() == recording)
      bits |= tape->bit;
  return bits;
}

std::size_t ThreadTapes::listeners() const {
  const auto hears = [](const auto* o) { return !o->paused && !Mute::silences(o->level); };
  return static_cast<std::size_t>(std::ranges::count_if(open_, hears) +
                                  std::ranges::count_if(levels_, hears));
}

// Whether one of the tapes that `counts` follows a value, in the recording of that tape.
template <class F>
bool ThreadTapes::is_recorded(const Tensor& t, F&& counts) const {
  if (!t.impl()->has(kTracked)) return false;
  return std::ranges::any_of(open_, [&](const GradientTape::State* tape) {
    if (tape->paused || !counts(*tape)) return false;
    const Recording::Id id = tape->recording->find(t);
    return id != Recording::kNone && (tape->recording->followers(id) & tape->bit);
  });
}

bool ThreadTapes::follows(const Tensor& t) const {
  if (is_recorded(t, [](const GradientTape::State&) { return true; })) return true;
  if (!t.impl()->has(kHasTangent)) return false;
  return std::ranges::any_of(levels_, [&](const ForwardLevel* level) {
    return !level->paused && tangent_of(t, *level).defined();
  });
}

bool is_watched(const Tensor& t) { return t.defined() && thread_tapes().follows(t); }

void ThreadTapes::observe(const Op& op, const void* attrs, std::span<const Tensor* const> in,
                          std::span<Tensor> out) {
  if (Mute::Captured* captured = Mute::captured()) note_captured(in, *captured);
  const Level op_level = level_of(out[0]);
  if (recording_) {
    if (const auto bits = told_of(op_level, recording_.get()))
      recording_->record(op, attrs, in, out, bits);
    for (const auto& other : others_)
      if (const auto bits = told_of(op_level, other.get()))
        other->record(op, attrs, in, out, bits, Recording::Place::beside_another);
  }
  // Outermost first: rules of inner levels may read the result, which then has the tangents of the
  // outer ones. What computes a tangent is seen by outer levels only.
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    const ForwardLevel& level = *levels_[k];
    if (level.paused || level.level <= op_level || Mute::silences(level.level)) continue;
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

void ThreadTapes::note_captured(std::span<const Tensor* const> in, Mute::Captured& captured) const {
  const auto is_muted = [](const GradientTape::State& tape) { return Mute::silences(tape.level); };
  for (const Tensor* t : in) {
    bool followed = is_recorded(*t, is_muted);
    if (t->impl()->has(kHasTangent)) {
      for (const ForwardLevel* level : levels_) {
        followed |=
            !level->paused && Mute::silences(level->level) && tangent_of(*t, *level).defined();
      }
    }
    if (!followed) continue;
    for (const Tensor& seen : operands_seen_as(*t)) {
      const auto same = [&](const Tensor& known) { return known.impl() == seen.impl(); };
      if (std::none_of(captured.begin(), captured.end(), same)) captured.push_back(seen);
    }
  }
}

Tensor ThreadTapes::read_variable(VariableState& variable, const Tensor& value) {
  for (VariableListener* listener : listeners_) listener->about_to_read(variable);
  for (std::size_t i = values_.size(); i-- > 0;)
    if (values_[i].first == &variable) {
      if (!values_[i].second.defined()) break;
      return values_[i].second;
    }
  Tensor result = value;
  const auto read_by = [&](const std::shared_ptr<Recording>& recording, Recording::Place place) {
    Recording::Followers bits = 0;
    for (const GradientTape::State* tape : open_) {
      if (tape->recording != recording || tape->paused || Mute::silences(tape->level)) continue;
      bool follows = tape->options.watch_accessed_variables && variable.trainable;
      for (const auto& v : tape->watched) follows |= v.get() == &variable;
      if (follows) bits |= tape->bit;
    }
    if (!bits) return;
    if (result.impl() == value.impl()) result = make_alias(value);
    recording->read_variable(variable, result, bits, place);
  };
  if (recording_ && is_differentiable(variable.dtype)) {
    read_by(recording_, Recording::Place::alone);
    for (const auto& other : others_) read_by(other, Recording::Place::beside_another);
  }
  for (const ForwardLevel* level : levels_) {
    if (level->paused || Mute::silences(level->level)) continue;
    for (const auto& [state, tangent] : level->variables) {
      if (state.get() != &variable) continue;
      if (result.impl() == value.impl()) result = make_alias(value);
      set_tangent(result, *level, tangent);
    }
  }
  return result;
}

void ThreadTapes::assigned(VariableState& variable, const Tensor& value) {
  for (VariableListener* listener : listeners_) listener->about_to_write(variable);
  if (recording_) recording_->note_assignment(variable, value);
  for (const auto& other : others_) other->note_assignment(variable, value);
}

void ThreadTapes::push(ForwardLevel* level) {
  const auto inside = std::find_if(levels_.begin(), levels_.end(),
                                   [&](const ForwardLevel* l) { return l->level > level->level; });
  levels_.insert(inside, level);
  update_context();
}

void ThreadTapes::pop(ForwardLevel* level) {
  std::erase(levels_, level);
  update_context();
}

void ThreadTapes::add_listener(VariableListener* listener) {
  listeners_.push_back(listener);
  update_context();
}

void ThreadTapes::push_value(const VariableState* variable, Tensor value) {
  values_.emplace_back(variable, std::move(value));
}

void ThreadTapes::forget_value(const VariableState* variable) {
  const auto last = std::find_if(values_.rbegin(), values_.rend(),
                                 [&](const auto& v) { return v.first == variable; });
  if (last != values_.rend()) last->second = Tensor();
}

void ThreadTapes::remove_listener(VariableListener* listener) {
  std::erase(listeners_, listener);
  update_context();
}

Tensor tangent_of(const Tensor& t, const ForwardLevel& level) {
  const auto given = std::ranges::lower_bound(level.tensors, t.impl(), {},
                                              [](const auto& pair) { return pair.first.impl(); });
  if (given != level.tensors.end() && given->first.impl() == t.impl()) return given->second;
  const TensorExtra* extra = t.impl()->extra();
  if (!extra) return {};
  for (const TangentEntry* e = extra->tangents; e; e = e->next)
    if (e->level == level.id) return e->tangent;
  // One example of a vmap inside this level: the tangent belongs to the whole batch.
  if (t.impl()->kind == ValueKind::batched && extra->level > level.level) {
    const Tensor tangent = tangent_of(extra->inner, level);
    if (tangent.defined()) return make_batched(tangent, extra->level);
  }
  return {};
}

void set_tangent(const Tensor& t, const ForwardLevel& level, Tensor tangent) {
  TensorExtra& extra = t.impl()->ensure_extra();
  extra.tangents = new TangentEntry{level.id, std::move(tangent), extra.tangents};
  t.impl()->set(kHasTangent);
}

}  // namespace gradus
