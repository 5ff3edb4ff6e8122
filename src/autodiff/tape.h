// The engine's side of tapes: which of them the thread has open, and the reverse sweep.
#pragma once
#include <memory>
#include <vector>

#include "autodiff/recording.h"
#include "autodiff/rules.h"
#include "gradus/gradient.h"

namespace gradus {

struct GradientTape::State {
  std::shared_ptr<Recording> recording;
  Recording::Followers bit = 0;  // this tape's place among the recording's followers
  Level level = 0;
  TapeOptions options;
  bool entered = false, paused = false, used = false;
  std::vector<std::shared_ptr<VariableState>> watched;  // by name, before they are read
};

// Looks over the shoulder of a sweep.
class SweepProbe {
 public:
  virtual void visiting(std::size_t node, std::span<const Cotangent> cts) = 0;
  virtual void added(std::size_t node, int input, const Cotangent& gradient) = 0;

 protected:
  ~SweepProbe() = default;
};

struct SweepRequest {
  std::span<const Tensor> targets;
  std::span<const Cotangent> seeds;                     // one per target
  std::span<const std::vector<Recording::Id>> sources;  // the numbers of each source's reads
  std::span<Cotangent> initial;                         // what each source's sum starts with
  bool release = false;                                 // free saved tensors on the way
  SweepProbe* probe = nullptr;
  bool stop_at_sources = false;  // what lies behind a source does not get its cotangent
  // In place of targets, if they are not at hand: the numbers of values, one for each seed.
  std::span<const Recording::Id> target_ids = {};
};

// The reverse sweep: one loop over the recorded ops, last to first.
std::vector<Cotangent> sweep(Recording& recording, Recording::Followers bit,
                             const SweepRequest& request);

// One call that takes derivatives. A tape that is not persistent stops recording for it, gives up
// what it saved and cannot be used again.
class TapeUse {
 public:
  TapeUse(GradientTape& tape, const char* what);
  ~TapeUse();
  TapeUse(const TapeUse&) = delete;
  bool is_last() const { return last_; }

 private:
  GradientTape& tape_;
  bool last_;
};

// The numbers under which a source was recorded and is followed by the tape.
std::vector<Recording::Id> reads_of(const GradientTape::State& tape, const Source& source);

// Throws if the targets of a gradient and its options do not fit each other.
void check_targets(const char* what, const std::vector<Tensor>& targets, std::size_t sources,
                   const GradientOptions& options);

Gradient to_gradient(const Cotangent& ct);
Cotangent to_cotangent(const Gradient& g);

}  // namespace gradus
