// Forward mode: tangents travel with the values.
//
//   gd::ForwardAccumulator acc(x, v);     // x has tangent v while acc lives
//   auto y = f(x);
//   auto dy = acc.jvp(y);                 // J(x) v
//
//   gd::forward_diff::GradientTape tape;  // a tape that carries all directions of what it watches
//   tape.watch(x);
//   auto J = tape.jacobian(f(x), x);      // cheap where x is small and f(x) is large
//
// Accumulators and tapes nest in each other, in any order: forward over reverse gives products with
// the Hessian, and no level ever sees its own perturbation.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "gradus/gradient.h"
#include "gradus/tensor.h"

namespace gradus {

struct ForwardLevel;

class ForwardAccumulator {
 public:
  ForwardAccumulator(const Source& primal, const Tensor& tangent)
      : ForwardAccumulator(std::vector<std::pair<Source, Tensor>>{{primal, tangent}}) {}
  explicit ForwardAccumulator(const std::vector<std::pair<Source, Tensor>>& primals_and_tangents);
  ~ForwardAccumulator();
  ForwardAccumulator(const ForwardAccumulator&) = delete;

  // The tangent of y; none (undefined) or zeros if y does not depend on the primals.
  Gradient jvp(const Tensor& y, Unconnected unconnected = Unconnected::none) const;
  void stop();  // no more tangents are computed; jvp() may still be called

 private:
  std::unique_ptr<ForwardLevel> level_;
  bool open_ = true;
};

namespace forward_diff {

// The calls of gradus::GradientTape, in forward mode. Every op computes the derivatives of its
// result in all directions of the watched sources that it depends on, as one batch; nothing is
// recorded. Worth it where sources have few elements. Derivatives may be asked for at any time and
// as often as wanted, whether the tape is persistent or not.
class GradientTape : public GradientCalls<GradientTape> {
 public:
  explicit GradientTape(TapeOptions options = {});
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;

  void watch(const Tensor& t);
  void watch(const Variable& v);
  void reset();   // forgets what was watched and starts anew
  void stop();    // no more derivatives are computed; those there are may still be asked for
  void resume();  // goes on after stop(), with what was watched before
  bool is_recording() const;
  std::vector<Variable> watched_variables() const;

  class Pause {
   public:
    explicit Pause(GradientTape& tape);
    ~Pause();
    Pause(const Pause&) = delete;

   private:
    GradientTape* tape_;
  };
  Pause stop_recording() { return Pause(*this); }

  std::vector<Gradient> gradient(const std::vector<Tensor>& targets,
                                 const std::vector<Source>& sources,
                                 const GradientOptions& options = {});
  using GradientCalls<GradientTape>::gradient;
  std::vector<Gradient> jacobian(const Tensor& target, const std::vector<Source>& sources,
                                 Unconnected unconnected = Unconnected::none);
  Gradient jacobian(const Tensor& target, const Source& source,
                    Unconnected unconnected = Unconnected::none);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace forward_diff

}  // namespace gradus
