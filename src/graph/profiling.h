// How kernels tell a profile (gradus/profile.h) about themselves.
#pragma once
#include <atomic>
#include <source_location>

#include "graph/op.h"

namespace gradus {

// Hidden, so that looking at it is one instruction: every eager op does.
[[gnu::visibility("hidden")]] inline constinit std::atomic<bool> is_profiling{false};

// Notes the time from its construction to its end as one event of this op; used only while
// is_profiling.
class ProfiledKernel {
 public:
  // `label` names a loop of several ops; null: the op's own name.
  ProfiledKernel(const Op& op, const void* attrs, const char* label, std::source_location where,
                 std::span<const View> in, std::span<const View> out);
  ~ProfiledKernel();
  ProfiledKernel(const ProfiledKernel&) = delete;

 private:
  const char* label_;
  std::source_location where_;
  double bytes_ = 0, flops_ = 0, start_;
};

}  // namespace gradus
