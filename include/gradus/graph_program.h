// Programs that are built as graphs, node by node, and run in sessions.
//
//   gd::GraphProgram program;
//   const gd::Tensor x = program.placeholder(gd::float32, {-1, 3}), y = program.placeholder(...);
//   const gd::Variable w = program.variable(gd::zeros({3, 1}), {.name = "w"});
//   const gd::Tensor loss = gd::reduce_mean(gd::square(gd::matmul(x, w) - y));
//   const gd::Tensor dw = gd::gradients(loss, w);
//   const gd::Operation step = program.operation([&] { w.assign_sub(0.1 * dw); });
//
//   gd::Session session(program);
//   session.run(program.initializer());
//   const gd::Tensor l = session.run({loss}, {{x, batch}, {y, labels}}, {step})[0];
//
// Ops on tensors of a program become its nodes. A run computes what the fetched tensors and the
// operations need and nothing else, compiled once for each choice of fetches and feeds; sizes of
// -1 are symbols, so one program serves all of them. Any tensor can be fed. Variables have a value
// in each session.
//
// Order. A node runs after its operands and after what gd::GraphProgram::After named when it was
// made. What that leaves open is decided by one rule: whatever does not write a variable comes
// first, and writes come in the order in which they were made. A gradient uses the values that the
// ops it belongs to have read, whatever was written since, unless the variable is of another kind
// (VariableKind). Session::explain names the reads and writes whose order only this rule decides.
#pragma once
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradus/gradient.h"

namespace gradus {

class Graph;
class GraphProgram;

// A node of a program, to be run for its effect or to be waited for.
class Operation {
 public:
  Operation(const Tensor& made_by);  // NOLINT: implicit by design
  Operation(std::shared_ptr<Graph> graph, std::int64_t node)
      : graph_(std::move(graph)), node_(node) {}
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  std::int64_t node() const { return node_; }  // below 0: an input, which does nothing

 private:
  std::shared_ptr<Graph> graph_;
  std::int64_t node_ = -1;
};

// Where a tensor stands in a program; none if it belongs to no program.
struct GraphPlace {
  std::uint64_t program;  // no two programs have the same number
  std::uint32_t value;
  std::int64_t node;  // that makes it, or below 0
};
std::optional<GraphPlace> graph_place(const Tensor& t) noexcept;

// When the value of a program's variable is looked at.
enum class VariableKind {
  value,      // where it is read; what an assignment gives is the value assigned
  resource,   // where it is read; what an assignment gives is looked at where it is used
  reference,  // wherever what a read or an assignment gave is used: by each op when it runs, by the
              // gradients of an op once more. TensorFlow 1's variables.
};

class GraphProgram {
 public:
  GraphProgram();

  // A value that each run is given. A size of -1 is any size. Ops take unknown sizes to be as they
  // need them, equal say; a run that needs such an op at other sizes is an error.
  Tensor placeholder(DType dtype, const Shape& shape = {},
                     const std::string& name = "Placeholder") const;
  // A value as a node of the program, so that ops on it are nodes and it can be fed.
  Tensor constant(const Tensor& value) const;
  // A variable; its first value may be a tensor of the program, e.g. random numbers.
  Variable variable(const Tensor& initial, VariableOptions options = {},
                    VariableKind kind = VariableKind::value) const;
  Variable declare(DType dtype, const Shape& shape, VariableOptions options = {},
                   VariableKind kind = VariableKind::value) const;

  Operation assign(const Variable& variable, In value) const;
  // Gives variables of variable() their first values; all of them, or one.
  Operation initializer() const;
  Operation initializer(const Variable& variable) const;
  Operation group(const std::vector<Operation>& operations) const;
  // What a function assigns to variables, as one operation; inside of it reads see what was written
  // before, as in a C++ program.
  Operation operation(const std::function<void()>& effects) const;
  // The node made last.
  Operation last() const;
  // Its author does not look at unknown sizes (in Python they are None), so that only ops rely on
  // what they are. A run then minds only what the ops that it needs rely on.
  void hide_sizes() const;

  // For those who look at programs: the nodes in the order in which they were made.
  struct NodeInfo {
    std::string op;
    std::vector<std::uint32_t> operands, results;  // values
    std::vector<std::uint32_t> after;              // nodes
  };
  std::size_t node_count() const;
  NodeInfo node(std::size_t i) const;
  Tensor tensor(std::uint32_t value) const;
  std::uint64_t number() const;  // as in GraphPlace

  // Random ops draw from streams that start at (seed, the op's own seed); each session has its own.
  void set_seed(std::optional<std::int64_t> seed) const;

  // Functions without operands (random numbers, say) make nodes of the program in this scope.
  class Scope;
  // Nodes made in this scope run after these operations; an empty list forgets outer scopes.
  class After;

  // Outside of scopes too, what this thread asks of sizes is asked of this program.
  void make_default() const;

  struct State;
  State& state() const { return *state_; }
  const std::shared_ptr<Graph>& graph() const;

 private:
  std::shared_ptr<State> state_;
};

class GraphProgram::Scope {
 public:
  explicit Scope(const GraphProgram& program);
  ~Scope();
  Scope(const Scope&) = delete;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

class GraphProgram::After {
 public:
  After(const GraphProgram& program, const std::vector<Operation>& operations);
  ~After();
  After(const After&) = delete;

 private:
  std::shared_ptr<State> state_;
};

// Gradients as nodes: of the sum of ys with respect to each of xs, tensors or variables of the same
// program.
struct GraphGradientOptions {
  std::vector<Tensor> grad_ys = {};         // one per y; undefined means ones
  std::vector<Tensor> stop_gradients = {};  // taken to be constants
  Unconnected unconnected = Unconnected::none;
};
std::vector<Gradient> gradients(const std::vector<Tensor>& ys, const std::vector<Source>& xs,
                                const GraphGradientOptions& options = {});
inline Gradient gradients(const Tensor& y, const Source& x) {
  return gradients(std::vector<Tensor>{y}, std::vector<Source>{x})[0];
}
// d y / d x, of shape y.shape + x.shape; sizes must be known.
Tensor graph_jacobian(const Tensor& y, const Source& x);

// The values of a program's variables, and runs of it. Runs of one session wait for each other.
class Session {
 public:
  explicit Session(const GraphProgram& program);
  ~Session();
  Session(const Session&) = delete;

  using Feeds = std::vector<std::pair<Tensor, Tensor>>;  // a tensor of the program and its value
  struct Request {
    std::vector<Tensor> fetches;
    std::vector<Tensor> fed = {};
    std::vector<Operation> operations = {};
    std::vector<Variable> variables = {};  // fetched when everything else is done
  };

  std::vector<Tensor> run(const std::vector<Tensor>& fetches, const Feeds& feeds = {},
                          const std::vector<Operation>& operations = {});
  template <std::same_as<Operation> O>  // a list in braces is always one of fetches
  void run(const O& operation, const Feeds& feeds = {}) {
    run({}, feeds, {operation});
  }

  // The same in two steps: the plan of a request is made once.
  struct Plan;
  std::shared_ptr<Plan> prepare(const Request& request);
  std::vector<Tensor> run(Plan& plan, std::vector<Tensor> values);  // one for each fed tensor

  bool is_initialized(const Variable& variable) const;
  Tensor value(const Variable& variable) const;
  void set_value(const Variable& variable, const Tensor& value);

  // What a request runs, what it became, and which reads and writes of a variable nothing but the
  // rule above puts in order.
  std::string explain(const Request& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gradus
