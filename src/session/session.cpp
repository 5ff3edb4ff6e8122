#include <algorithm>
#include <list>
#include <mutex>
#include <random>
#include <sstream>
#include <unordered_map>

#include "base/check.h"
#include "compile/executable.h"
#include "compile/stretches.h"
#include "graph/bind.h"
#include "graph/context.h"
#include "kernels/philox.h"
#include "session/session_plan.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

constexpr std::size_t kMaxPlans = 256;           // the oldest is forgotten
constexpr std::int64_t kNoGraphSeed = 87654321;  // TensorFlow's, for ops that have one of their own

struct Stream {
  std::int64_t key = 0, high = 0;
  std::uint64_t low = 0;
};

}  // namespace

struct Session::Plan {
  std::string key;
  ClosedGraph closed;
  std::unique_ptr<Executable> program;
  struct Use {
    Tensor* cell;
    std::int64_t input, output;
  };
  std::vector<Use> uses;
  std::vector<Sizes> checked;
  std::size_t fed = 0;
  std::vector<PassReport> passes;
};

struct Session::State {
  explicit State(const GraphProgram& p) : program(p) {}
  Stream& stream(const ClosedGraph::Seeds& seeds);

  const GraphProgram program;
  mutable std::recursive_mutex mutex;  // what a run calls may ask the session
  struct Cell {
    std::shared_ptr<const VariableState> variable;  // its address stays its own
    Tensor value;
  };
  std::unordered_map<const VariableState*, std::unique_ptr<Cell>> values;
  std::unordered_map<std::uint32_t, Stream> streams;
  std::list<std::shared_ptr<Plan>> plans;  // used last first

  Tensor& cell(const VariableState& v) {
    auto& cell = values[&v];
    if (!cell) cell = std::make_unique<Cell>(Cell{v.shared_from_this(), {}});
    return cell->value;
  }
};

// As TensorFlow: the pair of seeds is where a stream starts; without an op seed it is the number of
// the node.
Stream& Session::State::stream(const ClosedGraph::Seeds& s) {
  const auto [found, is_new] = streams.try_emplace(s.node);
  if (is_new) {
    const std::optional<std::int64_t> graph_seed = program.state().seed;
    Stream& stream = found->second;
    if (!graph_seed && !s.has_op_seed) {
      std::random_device entropy;
      stream.key = static_cast<std::int64_t>(entropy()) << 31 | entropy();
      stream.high = static_cast<std::int64_t>(entropy()) << 31 | entropy();
    } else {
      stream.key = graph_seed.value_or(kNoGraphSeed);
      stream.high = s.has_op_seed ? s.op_seed : static_cast<std::int64_t>(s.node);
      if (stream.key == 0 && stream.high == 0) stream.high = (std::int64_t{1} << 31) - 1;
    }
  }
  return found->second;
}

Session::Session(const GraphProgram& program) : state_(std::make_unique<State>(program)) {}
Session::~Session() = default;

namespace {

std::string key_of(const Schedule& s, const Session::Request& request) {
  std::string key;
  const auto add = [&](const auto& list) {
    const std::size_t size = list.size();
    key.append(reinterpret_cast<const char*>(&size), sizeof size);
    key.append(reinterpret_cast<const char*>(list.data()), size * sizeof list[0]);
  };
  add(s.fetches);
  add(s.fed);
  add(s.targets);
  std::vector<const VariableState*> last;
  for (const Variable& v : request.variables) last.push_back(v.state());
  add(last);
  return key;
}

}  // namespace

std::shared_ptr<Session::Plan> Session::prepare(const Request& request) {
  const GraphProgram::State& program = state_->program.state();
  const Schedule schedule = make_schedule(program, request);
  const std::string key = key_of(schedule, request);
  const std::lock_guard lock(state_->mutex);
  auto& plans = state_->plans;
  for (auto it = plans.begin(); it != plans.end(); ++it) {
    if ((*it)->key != key) continue;
    plans.splice(plans.begin(), plans, it);
    return plans.front();
  }
  auto plan = std::make_shared<Plan>();
  plan->key = key;
  plan->fed = schedule.fed.size();
  plan->closed = close_graph(program, schedule, request.variables);
  std::vector<Donation> donations;
  for (const ClosedGraph::Use& use : plan->closed.uses) {
    plan->uses.push_back({&state_->cell(*use.variable), use.input, use.output});
    if (use.input >= 0 && use.output >= 0)
      donations.push_back(
          {static_cast<std::uint32_t>(use.input), static_cast<std::uint32_t>(use.output)});
  }
  plan->program = compiled(plan->closed.graph, {.donations = donations}, {}, &plan->passes);
  plans.push_front(plan);
  if (plans.size() > kMaxPlans) plans.pop_back();
  return plan;
}

namespace {

// Whether the sizes that are fed go together as the graph takes them to.
Sizes checked_sizes(const Graph& graph, std::span<const Tensor> in, std::vector<Sizes>& known) {
  if (graph.symbols().input_count() == 0) return {};
  std::optional<Sizes> sizes = bind_sizes(graph, in);
  if (!sizes) {
    fail<InvalidArgumentError>(
        "[Session] the sizes that are fed do not go together as the program takes them to");
  }
  if (std::find(known.begin(), known.end(), *sizes) != known.end()) return *sizes;
  if (!serves(graph, *sizes)) {
    const auto broken = graph.symbols().broken_guard(*sizes);
    fail<InvalidArgumentError>(
        "[Session] these sizes do not go together: the program was built for unknown sizes that "
        "are equal or do not broadcast",
        broken ? " (" + graph.symbols().print(*broken) + ")" : std::string(),
        "; say in the placeholder's shape where a size is 1");
  }
  if (known.size() > 1024) known.clear();
  known.push_back(*sizes);
  return *sizes;
}

void check_fed(const Graph& graph, const Tensor& t, std::size_t i) {
  const Aval& aval = graph.info(graph.inputs()[i]).aval;
  bool fits =
      t.defined() && is_concrete(t) && t.dtype() == aval.dtype && t.rank() == aval.shape.rank();
  for (int a = 0; fits && a < t.rank(); ++a)
    fits = !aval.shape[a].is_known() || t.shape()[a] == aval.shape[a];
  if (fits) return;
  fail<InvalidArgumentError>("[Session] value ", i, " to feed must be ",
                             graph.describe(graph.inputs()[i]), ", got ", name_of(t.dtype()), " ",
                             t.shape());
}

}  // namespace

std::vector<Tensor> Session::run(Plan& plan, std::vector<Tensor> values) {
  const std::lock_guard lock(state_->mutex);
  end_of_call();
  const ClosedGraph& closed = plan.closed;
  const Graph& graph = *closed.graph;
  if (values.size() != plan.fed) {
    fail<InvalidArgumentError>("[Session] got ", values.size(), " values for ", plan.fed,
                               " tensors that are fed");
  }
  for (std::size_t i = 0; i < plan.fed; ++i) check_fed(graph, values[i], i);
  std::vector<Tensor> in = std::move(values);
  in.resize(graph.inputs().size());
  for (std::size_t i = 0; i < plan.uses.size(); ++i) {
    const Plan::Use& use = plan.uses[i];
    if (use.input < 0) continue;
    if (!use.cell->defined()) {
      fail<FailedPreconditionError>("Attempting to use uninitialized value ",
                                    closed.uses[i].variable->name);
    }
    in[static_cast<std::size_t>(use.input)] = *use.cell;
  }
  const Sizes sizes = checked_sizes(graph, std::span(in).first(plan.fed), plan.checked);
  for (const ClosedGraph::Seeds& s : closed.seeds) {
    Stream& stream = state_->stream(s);
    in[s.input] = Tensor::filled_by(int64, {3}, [&](void* to) {
      auto* three = static_cast<std::int64_t*>(to);
      three[0] = static_cast<std::int64_t>(stream.low);
      three[1] = stream.high;
      three[2] = stream.key;
    });
    const Shape drawn = bind_shape(graph.symbols(), sizes, s.drawn);
    stream.low += kernels::Philox::reserved(static_cast<std::uint64_t>(drawn.num_elements()));
  }
  for (const Plan::Use& use : plan.uses)  // what is written is given away
    if (use.input >= 0 && use.output >= 0) *use.cell = Tensor();
  std::vector<Tensor> out(graph.outputs().size());
  try {
    plan.program->run(in, out);
  } catch (...) {
    for (const Plan::Use& use : plan.uses)
      if (use.input >= 0 && use.output >= 0)
        *use.cell = std::move(in[static_cast<std::size_t>(use.input)]);
    throw;
  }
  for (const Plan::Use& use : plan.uses)
    if (use.output >= 0) *use.cell = std::move(out[static_cast<std::size_t>(use.output)]);
  out.resize(closed.fetch_count);
  return out;
}

std::vector<Tensor> Session::run(const std::vector<Tensor>& fetches, const Feeds& feeds,
                                 const std::vector<Operation>& operations) {
  Request request{.fetches = fetches, .operations = operations};
  std::vector<Tensor> values;
  for (const auto& [tensor, value] : feeds) {
    request.fed.push_back(tensor);
    values.push_back(value);
  }
  return run(*prepare(request), std::move(values));
}

bool Session::is_initialized(const Variable& variable) const {
  const std::lock_guard lock(state_->mutex);
  return state_->cell(*variable.state()).defined();
}

Tensor Session::value(const Variable& variable) const {
  const std::lock_guard lock(state_->mutex);
  const Tensor& value = state_->cell(*variable.state());
  if (!value.defined()) {
    fail<FailedPreconditionError>("Attempting to use uninitialized value ", variable.name());
  }
  return value;
}

void Session::set_value(const Variable& variable, const Tensor& value) {
  if (!value.defined() || value.dtype() != variable.dtype() ||
      !(value.shape() == variable.shape())) {
    fail<InvalidArgumentError>("[Session] '", variable.name(), "' has shape ", variable.shape(),
                               " and dtype ", name_of(variable.dtype()),
                               "; got another kind of value");
  }
  const std::lock_guard lock(state_->mutex);
  state_->cell(*variable.state()) = value;
}

std::string Session::explain(const Request& request) {
  const GraphProgram::State& program = state_->program.state();
  const Schedule schedule = make_schedule(program, request);
  const std::shared_ptr<Plan> plan = prepare(request);
  std::ostringstream text;
  text << schedule.nodes.size() << " of " << program.graph->nodes().size() << " nodes:";
  for (const PassReport& p : plan->passes)
    text << " " << p.name << " " << p.nodes_before << " -> " << p.nodes_after << ",";
  std::size_t read = 0, written = 0;
  for (const Plan::Use& use : plan->uses) {
    read += use.input >= 0;
    written += use.output >= 0;
  }
  text << " " << plan->program->step_count() << " steps; " << read << " variables read, " << written
       << " written\n"
       << describe_races(program, schedule);
  return text.str();
}

}  // namespace gradus
