// The tapes and forward accumulators that are open on a thread; the Observer behind dispatch.
#pragma once
#include <memory>
#include <vector>

#include "autodiff/recording.h"
#include "gradus/gradient.h"
#include "graph/context.h"

namespace gradus {

// Tangents that travel with values: those of one accumulator, or of one source of a forward tape.
// Sources of the same tape have the same level, so none sees the others' perturbations.
struct ForwardLevel {
  explicit ForwardLevel(Level l) : level(l) {}

  Level level;                    // the place in the nesting
  const Level id = next_level();  // marks the tangents
  bool paused = false;
  // What the user gave a tangent: variables, whose reads then carry it, and tensors, whose headers
  // other threads may share. Results of ops carry their tangents in their own headers.
  std::vector<std::pair<std::shared_ptr<VariableState>, Tensor>> variables;
  std::vector<std::pair<Tensor, Tensor>> tensors;  // sorted by address
};

// Is told of variables before they are read or written.
class VariableListener {
 public:
  virtual void about_to_read(VariableState& variable) = 0;
  virtual void about_to_write(VariableState&) {}

 protected:
  ~VariableListener() = default;
};

class ThreadTapes final : public Observer {
 public:
  void observe(const Op& op, const void* attrs, std::span<const Tensor* const> in,
               std::span<Tensor> out) override;
  Tensor read_variable(VariableState& variable, const Tensor& value) override;
  void assigned(VariableState& variable, const Tensor& value) override;

  // Tapes share the recording of the outermost one that is open. One that records on brings its
  // own, which is then one more.
  void enter(GradientTape::State& tape);
  void resume(GradientTape::State& tape);
  void leave(GradientTape::State& tape);
  static void forget(GradientTape::State& tape);  // the tape is done with its recording

  std::size_t listeners() const;  // who hear of ops in this scope
  bool follows(const Tensor& t) const;

  void push(ForwardLevel* level);
  void pop(ForwardLevel* level);
  void add_listener(VariableListener* listener);
  void remove_listener(VariableListener* listener);
  // Reads of a variable give this tensor until the matching pop: the value it had before.
  void push_value(const VariableState* variable, Tensor value);
  void pop_value() { values_.pop_back(); }
  void forget_value(const VariableState* variable);  // it was written: reads are plain again

 private:
  Recording::Followers told_of(Level op, const Recording* recording) const;
  template <class F>
  bool is_recorded(const Tensor& t, F&& counts) const;
  void note_captured(std::span<const Tensor* const> in, Mute::Captured& captured) const;
  void update_context();

  std::shared_ptr<Recording> recording_;
  std::vector<std::shared_ptr<Recording>> others_;  // of tapes that record on inside of others
  std::vector<GradientTape::State*> open_;
  std::vector<ForwardLevel*> levels_;  // outermost first
  std::vector<VariableListener*> listeners_;
  std::vector<std::pair<const VariableState*, Tensor>> values_;
};

ThreadTapes& thread_tapes();

// The tangent that a level gave to a tensor, or an undefined tensor.
Tensor tangent_of(const Tensor& t, const ForwardLevel& level);
void set_tangent(const Tensor& t, const ForwardLevel& level, Tensor tangent);

}  // namespace gradus
