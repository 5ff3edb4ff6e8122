// A program that is built by hand: one graph that stays open, and what its nodes do besides
// computing.
//
// Reads and writes of variables are nodes whose attributes hold the variable. They have no kernels:
// a session puts the nodes that it needs in one order and threads the variables' values through
// (session/session.cpp), after which there are inputs and outputs and nothing else.
#pragma once
#include <map>
#include <string>

#include "gradus/graph_program.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "graph/variable_program.h"

namespace gradus {

class VariableUse final : public Held {
 public:
  explicit VariableUse(std::shared_ptr<VariableState> v, VariableProgram::Change c = {})
      : variable(std::move(v)), change(std::move(c)) {}
  std::string describe() const override { return variable->name; }

  const std::shared_ptr<VariableState> variable;
  const VariableProgram::Change change;  // of a write; empty: the operand is the new value
};

struct VariableUseAttrs {
  Held* held = nullptr;
  static auto fields() { return attr_fields(attr("variable", &VariableUseAttrs::held)); }
};
inline const VariableUse& variable_use(const void* attrs) {
  return *static_cast<const VariableUse*>(static_cast<const VariableUseAttrs*>(attrs)->held);
}

extern const Op read_variable_op, write_variable_op, graph_constant_op, no_op;

struct GraphProgram::State final : VariableProgram, std::enable_shared_from_this<State> {
  State();
  ~State();

  Tensor read(VariableState& variable) override;
  void write(VariableState& variable, const Tensor& value) override;
  void update(VariableState& variable, std::span<const Tensor> with, const Change& change) override;

  // The nodes that a node was told to run after.
  const std::vector<std::uint32_t>& after(std::size_t node) const;
  void open(std::vector<std::uint32_t> operations, bool forget);
  void close();

  const std::shared_ptr<Graph> graph = Graph::make();
  std::map<Graph::Value, std::string> placeholders;  // their names
  std::vector<std::pair<std::shared_ptr<VariableState>, Operation>> initializers;
  std::optional<std::int64_t> seed;
  bool hides_sizes = false;  // from its author: all questions about them come from ops

 private:
  struct Stretch {  // nodes from here on
    std::size_t first;
    std::vector<std::uint32_t> after;
  };
  void begin(std::vector<std::uint32_t> after);

  std::vector<Stretch> stretches_;
  std::vector<std::vector<std::uint32_t>> scopes_;  // what is open, outermost first, added up
};

}  // namespace gradus
