// A tape over some arguments of a function, for the functions that differentiate functions. Each
// argument is watched under a name of its own, so the same tensor may be several arguments and
// other tapes are not disturbed.
#pragma once
#include "autodiff/tape.h"

namespace gradus {

class PrivateTape {
 public:
  enum class Sweeps { reverse, both };

  PrivateTape(const std::vector<Tensor>& arguments, Sweeps sweeps);
  void stop() { tape_.stop(); }

  const std::vector<Tensor>& inputs() const { return inputs_; }  // what the function gets
  std::span<const std::vector<Recording::Id>> ids() const { return ids_; }
  bool is_idle() const;  // no argument can have a derivative
  Recording& recording() { return *tape_.state().recording; }
  Recording::Followers bit() { return tape_.state().bit; }

  // Gradients of all arguments: zeros where there is no dependence, undefined for integers.
  std::vector<Tensor> pull_back(std::span<const Tensor> targets, std::span<const Cotangent> seeds,
                                bool last_use);

 private:
  GradientTape tape_;
  std::vector<Tensor> inputs_;
  std::vector<std::vector<Recording::Id>> ids_;
};

}  // namespace gradus
