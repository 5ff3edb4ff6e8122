// A loaded function is its text, read into a graph that an ordinary compiled function runs op by op
// while it is traced: sizes, tapes and threads are as for any other.
#include "gradus/saved_function.h"

#include <algorithm>
#include <mutex>

#include "base/check.h"
#include "gradus/function.h"
#include "graph/bind.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "ops/registry.h"

namespace gradus {
namespace {

constexpr std::int64_t kVersion = 1;

// A program that only loads functions names no op, and a linker leaves out what nobody names.
[[gnu::used]] std::vector<const Op*> (*const all_records)() = all_ops;

}  // namespace

struct LoadedFunction::State {
  std::shared_ptr<Graph> graph;  // inputs: the arguments, then the variables
  std::size_t results = 0;
  std::vector<Variable> variables;
  std::vector<std::int64_t> outputs;  // by variable: where its new value is, or -1
  mutable detail::FunctionCore core{{.name = "loaded function"}};
  mutable std::mutex mutex;
  mutable std::vector<Sizes> checked;  // for which the shapes are what the program took them for

  std::size_t argument_count() const { return graph->inputs().size() - variables.size(); }
  std::vector<Tensor> run(std::vector<Tensor> in) const;
  bool holds_for(const Sizes& sizes) const;
};

namespace {

// Whether an argument may have a shape, of which some sizes may be unknown to the program.
bool may_have(const Shape& given, const Shape& expected) {
  bool fits = given.rank() == expected.rank();
  for (int i = 0; fits && i < given.rank(); ++i)
    fits = !expected[i].is_known() || sizes_agree(given[i], expected[i]);
  return fits;
}

// What sizes the program was traced with, and what it relies on.
void read_sizes(TextReader& reader, Symbols& symbols) {
  while (reader.accept("size")) {
    const std::int64_t hint = reader.integer();
    symbols.fresh(hint >= 0 ? std::optional(hint) : std::nullopt);
  }
  while (reader.accept("guard")) {
    Guard guard{Guard::Question::equal, reader.size(symbols), 0, true, {}};
    if (reader.accept("!=")) {
      guard.answer = false;
    } else if (!reader.accept("==")) {
      guard.question = Guard::Question::less;
      guard.answer = !reader.accept(">=");
      if (guard.answer) reader.expect("<");
    }
    guard.b = reader.size(symbols);
    symbols.add(guard);
  }
}

}  // namespace

LoadedFunction::LoadedFunction(const SavedFunction& saved) : LoadedFunction(saved, {}) {}

LoadedFunction::LoadedFunction(const SavedFunction& saved, std::vector<Variable> variables)
    : state_(std::make_shared<State>()) {
  TextReader reader(saved.text, saved.constants);
  reader.expect("gradus function");
  const std::int64_t version = reader.integer();
  if (version != kVersion) {
    fail<UnimplementedError>("this function was saved in version ", version,
                             " of the format; this Gradus reads version ", kVersion);
  }
  reader.expect("results");
  const std::int64_t results = reader.integer();
  const bool has_own = variables.empty();
  state_->variables = std::move(variables);
  while (reader.accept("variable")) {
    const std::string name = reader.quoted();
    reader.expect("->");
    const std::size_t i = state_->outputs.size();
    state_->outputs.push_back(reader.integer());
    if (i == (has_own ? saved.variables.size() : state_->variables.size()))
      reader.refuse("its value is missing");
    if (has_own) state_->variables.emplace_back(saved.variables[i], VariableOptions{.name = name});
  }
  if (state_->outputs.size() != state_->variables.size()) reader.refuse("too many variables");
  state_->graph = Graph::make();
  Graph& graph = *state_->graph;
  read_sizes(reader, graph.symbols());
  reader.graph(graph);
  if (!reader.at_end()) reader.refuse("there is more after 'return'");
  graph.close();

  const auto outputs = static_cast<std::int64_t>(graph.outputs().size());
  if (results < 0 || results > outputs) reader.refuse("not as many results");
  if (graph.inputs().size() < state_->variables.size()) reader.refuse("not as many inputs");
  state_->results = static_cast<std::size_t>(results);
  for (std::size_t i = 0; i < state_->variables.size(); ++i) {
    const auto same = [&](Graph::Value v) {
      const Aval& aval = graph.info(v).aval;
      return aval.dtype == state_->variables[i].dtype() &&
             aval.shape == state_->variables[i].shape();
    };
    const std::int64_t output = state_->outputs[i];
    if (output >= outputs || !same(graph.inputs()[state_->argument_count() + i]) ||
        (output >= 0 && !same(graph.outputs()[static_cast<std::size_t>(output)])))
      reader.refuse("a variable has another dtype or shape than the program");
  }
}

std::vector<Tensor> LoadedFunction::State::run(std::vector<Tensor> in) const {
  for (const Variable& v : variables) in.push_back(v.value());
  std::vector<Tensor> out = evaluate(*graph, in);
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (outputs[i] >= 0) variables[i].assign(out[static_cast<std::size_t>(outputs[i])]);
  out.resize(results);
  return out;
}

bool LoadedFunction::State::holds_for(const Sizes& sizes) const {
  // What this program relies on, a trace around it that does not know the sizes relies on too.
  if (sizes.empty()) return true;
  if (std::ranges::any_of(sizes, [](Size s) { return !s.is_known(); }))
    return graph->symbols().guards_hold(sizes);
  const std::lock_guard lock(mutex);
  if (std::ranges::find(checked, sizes) != checked.end()) return true;
  if (!serves(*graph, sizes)) return false;
  if (checked.size() > 1024) checked.clear();
  checked.push_back(sizes);
  return true;
}

bool LoadedFunction::takes(const std::vector<Shape>& shapes) const {
  const State& s = *state_;
  if (shapes.size() != s.argument_count()) return false;
  std::vector<Aval> avals;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    avals.push_back({s.graph->info(s.graph->inputs()[i]).aval.dtype, shapes[i]});
  const std::optional<Sizes> sizes = bind_sizes(*s.graph, avals);
  return sizes && s.holds_for(*sizes);
}

std::vector<Tensor> LoadedFunction::operator()(std::vector<Tensor> in) const {
  const State& s = *state_;
  if (in.size() != s.argument_count()) {
    fail<InvalidArgumentError>("[loaded function] got ", in.size(), " arguments, expected ",
                               s.argument_count());
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Graph::Value input = s.graph->inputs()[i];
    const Aval& expected = s.graph->info(input).aval;
    if (!in[i].defined() || in[i].dtype() != expected.dtype ||
        !may_have(in[i].shape(), expected.shape)) {
      fail<InvalidArgumentError>("[loaded function] argument ", i, " is ",
                                 in[i].defined() ? name_of(in[i].dtype()) : "undefined", " ",
                                 in[i].defined() ? to_string(in[i].shape()) : "", ", expected ",
                                 s.graph->describe(input));
    }
  }
  std::vector<Shape> shapes;
  for (const Tensor& t : in) shapes.push_back(t.shape());
  if (!takes(shapes)) {
    std::string text;
    for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + to_string(shape);
    std::vector<Aval> avals;
    for (const Tensor& t : in) avals.push_back({t.dtype(), t.shape()});
    const std::optional<Sizes> sizes = bind_sizes(*s.graph, avals);
    const auto broken = sizes ? s.graph->symbols().broken_guard(*sizes) : std::nullopt;
    fail<InvalidArgumentError>("[loaded function] got arguments of shapes ", text,
                               "; in the program that was saved these sizes do not go together",
                               broken ? ": it serves " + s.graph->symbols().print(*broken) : "");
  }
  return s.core
      .call(std::move(in),
            [&s](const std::vector<Tensor>& arguments) {
              return detail::FunctionCore::Made{s.run(arguments)};
            })
      .tensors;
}

const std::vector<Variable>& LoadedFunction::variables() const { return state_->variables; }
std::string LoadedFunction::text() const { return state_->graph->print(); }

}  // namespace gradus
