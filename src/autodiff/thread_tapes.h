// The tapes and forward accumulators that are open on a thread; the Observer behind dispatch.
#pragma once
#include <memory>
#include <vector>

#include "autodiff/recording.h"
#include "gradus/gradient.h"
#include "graph/context.h"

namespace gradus {

// An open forward accumulator: autodiff/forward.h.
struct ForwardLevel {
  Level level = next_level();
  // What the user gave a tangent: variables, whose reads then carry it, and tensors, whose headers
  // other threads may share. Results of ops carry their tangents in their own headers.
  std::vector<std::pair<std::shared_ptr<VariableState>, Tensor>> variables;
  std::vector<std::pair<Tensor, Tensor>> tensors;
};

class ThreadTapes final : public Observer {
 public:
  void observe(const Op& op, const void* attrs, std::span<const Tensor* const> in,
               std::span<Tensor> out) override;
  Tensor read_variable(VariableState& variable, const Tensor& value) override;

  // Tapes share the recording of the outermost one that is open.
  void enter(GradientTape::State& tape);
  void leave(GradientTape::State& tape);
  static void forget(GradientTape::State& tape);  // the tape is done with its recording

  void push(ForwardLevel* level);
  void pop(ForwardLevel* level);

 private:
  Recording::Followers told_of(Level op) const;
  void update_context();

  std::shared_ptr<Recording> recording_;
  std::vector<GradientTape::State*> open_;
  std::vector<ForwardLevel*> levels_;  // outermost first
};

ThreadTapes& thread_tapes();

// The tangent that a level gave to a tensor, or an undefined tensor.
Tensor tangent_of(const Tensor& t, const ForwardLevel& level);
void set_tangent(const Tensor& t, const ForwardLevel& level, Tensor tangent);

}  // namespace gradus
