// A graph program (session/graph_program.h) as its variables see it.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>

#include "graph/context.h"
#include "graph/variable_state.h"

namespace gradus {

class VariableProgram : public VariableTracer {
 public:
  // A new value that depends on the old one: between the two nobody else writes.
  using Change = std::function<Tensor(const Tensor& now, std::span<const Tensor> with)>;
  virtual void update(VariableState& variable, std::span<const Tensor> with,
                      const Change& change) = 0;

 protected:
  ~VariableProgram() = default;
};

// Who takes part in reads and writes of a variable: the function that is being traced, or the
// program that it belongs to. None: the value itself is used.
std::shared_ptr<VariableTracer> tracer_of(const VariableState& variable);
// As one step where the tracer can do that.
void update_traced(VariableTracer& tracer, VariableState& variable, std::span<const Tensor> with,
                   const VariableProgram::Change& change);

// Programs that are being built: their nodes know the user's lines.
extern constinit std::atomic<int> living_programs;

}  // namespace gradus
