#include "session/graph_program.h"

#include <algorithm>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "graph/ambient_graph.h"
#include "graph/host_number.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

void infer_variable(const Call& c, Avals& out) {
  const VariableState& v = *variable_use(c.attrs).variable;
  out.push_back({v.dtype, v.shape});
}

}  // namespace

const Op read_variable_op = internal({.name = "read_variable",
                                      .doc = "The value of a variable.",
                                      .attrs = &attr_type<VariableUseAttrs>(),
                                      .inputs = 0,
                                      .infer = infer_variable,
                                      .stateful = true},
                                     "a session makes it an input");
const Op write_variable_op = internal({.name = "assign",
                                       .doc = "The new value of a variable.",
                                       .dtypes = kAnyDType,
                                       .attrs = &attr_type<VariableUseAttrs>(),
                                       .inputs = kAny,
                                       .infer = infer_variable,
                                       .stateful = true},
                                      "a session makes it an output");
const Op graph_constant_op = internal(
    {.name = "const", .doc = "A constant with a name.", .dtypes = kAnyDType, .is_view = true},
    "constants do not depend on anything");
const Op no_op = internal({.name = "no_op",
                           .doc = "Nothing, after other nodes.",
                           .inputs = 0,
                           .outputs = kAny,
                           .infer = [](const Call&, Avals&) {},
                           .stateful = true},
                          "it computes nothing");

Operation::Operation(const Tensor& made_by) {
  if (!made_by.defined() || made_by.impl()->kind != ValueKind::traced) {
    fail<InvalidArgumentError>("[Operation] got a value that no node of a program makes");
  }
  const TensorExtra& extra = *made_by.impl()->extra();
  graph_ = extra.graph;
  node_ = graph_->info(extra.value).node;
}

GraphProgram::State::State() {
  graph->make_program();
  stretches_.push_back({0, {}});
  ++living_programs;
}
GraphProgram::State::~State() {
  --living_programs;
  if (ambient_graph == graph.get()) ambient_graph = nullptr;
}

Tensor GraphProgram::State::read(VariableState& variable) {
  const auto use = std::make_shared<VariableUse>(variable.shared_from_this());
  const VariableUseAttrs attrs{use.get()};
  return graph->tensor(graph->add(read_variable_op, &attrs, {}).first_out);
}

void GraphProgram::State::write(VariableState& variable, const Tensor& value) {
  update(variable, {&value, 1}, {});
}

void GraphProgram::State::update(VariableState& variable, std::span<const Tensor> with,
                                 const Change& change) {
  const auto use = std::make_shared<VariableUse>(variable.shared_from_this(), change);
  const VariableUseAttrs attrs{use.get()};
  SmallVector<Graph::Value, 4> in;
  for (const Tensor& t : with) {
    const Tensor plain = t.impl()->has(kWeak) ? number_as("assign", t, variable.dtype) : t;
    in.push_back(graph->value(plain));
  }
  graph->add(write_variable_op, &attrs, in);
}

const std::vector<std::uint32_t>& GraphProgram::State::after(std::size_t node) const {
  const auto next =
      std::upper_bound(stretches_.begin(), stretches_.end(), node,
                       [](std::size_t n, const Stretch& stretch) { return n < stretch.first; });
  return std::prev(next)->after;
}

void GraphProgram::State::begin(std::vector<std::uint32_t> after) {
  if (stretches_.back().first == graph->nodes().size()) stretches_.pop_back();
  stretches_.push_back({graph->nodes().size(), std::move(after)});
}

void GraphProgram::State::open(std::vector<std::uint32_t> operations, bool forget) {
  if (!forget && !scopes_.empty())
    operations.insert(operations.end(), scopes_.back().begin(), scopes_.back().end());
  scopes_.push_back(operations);
  begin(std::move(operations));
}

void GraphProgram::State::close() {
  scopes_.pop_back();
  begin(scopes_.empty() ? std::vector<std::uint32_t>() : scopes_.back());
}

struct GraphProgram::Scope::Inside {
  explicit Inside(Graph& graph) : trace(graph) {}
  TraceScope trace;
};
GraphProgram::Scope::Scope(const GraphProgram& program)
    : inside_(std::make_unique<Inside>(*program.graph())) {}
GraphProgram::Scope::~Scope() = default;

GraphProgram::After::After(const GraphProgram& program, const std::vector<Operation>& operations)
    : state_(program.state_) {
  std::vector<std::uint32_t> nodes;
  for (const Operation& o : operations) {
    if (o.graph() != state_->graph) {
      fail<InvalidArgumentError>("[After] an operation belongs to another program");
    }
    if (o.node() >= 0) nodes.push_back(static_cast<std::uint32_t>(o.node()));
  }
  state_->open(std::move(nodes), operations.empty());
}
GraphProgram::After::~After() { state_->close(); }

GraphProgram::GraphProgram() : state_(std::make_shared<State>()) {}

void GraphProgram::hide_sizes() const { state_->hides_sizes = true; }

void GraphProgram::make_default() const { ambient_graph = state_->graph.get(); }

const std::shared_ptr<Graph>& GraphProgram::graph() const { return state_->graph; }

Tensor GraphProgram::placeholder(DType dtype, const Shape& shape, const std::string& name) const {
  Graph& g = *state_->graph;
  Shape sizes = shape;
  for (int a = 0; a < sizes.rank(); ++a) {
    if (!sizes[a].is_known() || sizes[a] >= 0) continue;
    sizes[a] = g.symbols().fresh();
  }
  const Graph::Value v = g.add_input({dtype, sizes});
  state_->placeholders[v] = name;
  return g.tensor(v);
}

Tensor GraphProgram::constant(const Tensor& value) const {
  Graph& g = *state_->graph;
  const Graph::Value v = g.value(value);
  return g.tensor(g.add(graph_constant_op, nullptr, {&v, 1}).first_out);
}

Variable GraphProgram::declare(DType dtype, const Shape& shape, VariableOptions options,
                               VariableKind kind) const {
  if (!shape.is_known()) {
    fail<InvalidArgumentError>("[GraphProgram] the variable '", options.name,
                               "' needs known sizes, got ", shape);
  }
  auto v = std::make_shared<VariableState>();
  v->name = std::move(options.name);
  v->trainable = options.trainable;
  v->dtype = dtype;
  v->shape = shape;
  v->is_declared = true;
  v->writes_give_it = kind != VariableKind::value;
  v->reads_give_it = kind == VariableKind::reference;
  v->program = state_;
  return Variable(std::move(v));
}

Variable GraphProgram::variable(const Tensor& initial, VariableOptions options,
                                VariableKind kind) const {
  if (!initial.defined()) fail<InvalidArgumentError>("[GraphProgram] got an undefined tensor");
  const Tensor first = is_concrete(initial) ? constant(initial) : initial;
  const Variable v = declare(first.dtype(), first.shape(), std::move(options), kind);
  state_->initializers.emplace_back(v.state()->shared_from_this(), assign(v, first));
  return v;
}

Operation GraphProgram::assign(const Variable& variable, In value) const {
  variable.assign(value);
  return last();
}

Operation GraphProgram::initializer() const {
  std::vector<Operation> all;
  for (const auto& [variable, operation] : state_->initializers) all.push_back(operation);
  return group(all);
}

Operation GraphProgram::initializer(const Variable& variable) const {
  for (const auto& [known, operation] : state_->initializers)
    if (known.get() == variable.state()) return operation;
  fail<InvalidArgumentError>("[GraphProgram] the variable has no first value here");
}

Operation GraphProgram::group(const std::vector<Operation>& operations) const {
  const bool any = !operations.empty();
  if (any) {
    const After after(*this, operations);
    state_->graph->add(no_op, nullptr, {});
  } else {
    state_->graph->add(no_op, nullptr, {});
  }
  return last();
}

Operation GraphProgram::last() const {
  return {state_->graph, static_cast<std::int64_t>(state_->graph->nodes().size()) - 1};
}

std::size_t GraphProgram::node_count() const { return state_->graph->nodes().size(); }

GraphProgram::NodeInfo GraphProgram::node(std::size_t i) const {
  const Graph& g = *state_->graph;
  const Graph::Node& n = g.nodes().at(i);
  NodeInfo info{n.op->name(), {}, {}, state_->after(i)};
  for (Graph::Value v : g.operands(n)) info.operands.push_back(v);
  for (std::uint32_t k = 0; k < n.out_count; ++k) info.results.push_back(n.first_out + k);
  return info;
}

Tensor GraphProgram::tensor(std::uint32_t value) const { return state_->graph->tensor(value); }

std::uint64_t GraphProgram::number() const { return state_->graph->level(); }

std::optional<GraphPlace> graph_place(const Tensor& t) noexcept {
  if (!t.defined() || t.impl()->kind != ValueKind::traced) return {};
  const TensorExtra& extra = *t.impl()->extra();
  if (!extra.graph->is_program()) return {};
  return GraphPlace{extra.graph->level(), extra.value, extra.graph->info(extra.value).node};
}

void GraphProgram::set_seed(std::optional<std::int64_t> seed) const { state_->seed = seed; }

namespace {

// Reads and writes in the order of a C++ program: a read sees the last write, a write comes after
// all that was done to the variable before.
class InProgramOrder final : public VariableProgram {
 public:
  explicit InProgramOrder(const GraphProgram& program)
      : program_(program), outer_(std::exchange(thread_context.variables, this)) {}
  ~InProgramOrder() { thread_context.variables = outer_; }
  InProgramOrder(const InProgramOrder&) = delete;

  Tensor read(VariableState& variable) override {
    Entry& e = entries_[&variable];
    if (!e.now.defined()) {
      e.now = program_.state().read(variable);
      e.nodes.push_back(program_.last());
    }
    return e.now;
  }
  void write(VariableState& variable, const Tensor& value) override {
    update(variable, {&value, 1}, {});
  }
  void update(VariableState& variable, std::span<const Tensor> with,
              const Change& change) override {
    Entry& e = entries_[&variable];
    const auto make = [&] { program_.state().update(variable, with, change); };
    if (e.nodes.empty()) {
      make();
    } else {
      const GraphProgram::After after(program_, e.nodes);
      make();
    }
    const Operation write = program_.last();
    const Graph::Node& n = program_.graph()->nodes()[static_cast<std::size_t>(write.node())];
    e = {program_.graph()->tensor(n.first_out), {write}};
    writes_.push_back(write);
  }
  const std::vector<Operation>& writes() const { return writes_; }

 private:
  struct Entry {
    Tensor now;
    std::vector<Operation> nodes;
  };
  const GraphProgram& program_;
  VariableTracer* outer_;
  std::map<const VariableState*, Entry> entries_;
  std::vector<Operation> writes_;
};

}  // namespace

Operation GraphProgram::operation(const std::function<void()>& effects) const {
  std::vector<Operation> writes;
  {
    InProgramOrder order(*this);
    const Scope scope(*this);
    effects();
    writes = order.writes();
  }
  return group(writes);
}

}  // namespace gradus
