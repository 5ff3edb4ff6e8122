// Forward mode along a recording: tangents of the sources go through the recorded ops, first to
// last. The function is not run again, so one recording serves any number of directions, and of
// reverse sweeps.
#pragma once
#include "autodiff/recording.h"

namespace gradus {

struct ForwardRequest {
  std::span<const std::vector<Recording::Id>> sources;  // the numbers of each source's reads
  std::span<const Tensor> tangents;                     // one per source; undefined: zero
  std::span<const Tensor> targets;
};

// Tangents of the targets; undefined where a target does not depend on the sources.
std::vector<Tensor> forward_sweep(const Recording& recording, Recording::Followers bit,
                                  const ForwardRequest& request);

}  // namespace gradus
