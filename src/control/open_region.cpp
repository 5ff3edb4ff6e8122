#include "control/open_region.h"

#include <algorithm>

#include "gradus/variable.h"
#include "graph/node_sizes.h"
#include "tensor/tensor_impl.h"

namespace gradus {

Tensor read_variable(VariableState& variable) {
  return Variable(variable.shared_from_this()).value();
}

Tensor without_mark(const Tensor& t) { return t.impl()->has(kWeak) ? make_alias(t) : t; }

RegionVariables::RegionVariables(std::vector<VariableInTrace> known)
    : entries_(std::move(known)),
      outer_(std::exchange(thread_context.variables, this)),
      outer_graph_(thread_context.graph),
      outer_mute_(thread_context.mute) {}

VariableInTrace* RegionVariables::find(const VariableState& variable) {
  const auto found = std::ranges::find_if(
      entries_, [&](const VariableInTrace& v) { return v.variable().get() == &variable; });
  return found == entries_.end() ? nullptr : &*found;
}

Tensor RegionVariables::read(VariableState& variable) {
  if (VariableInTrace* const known = find(variable)) return known->read();
  const ThreadContext inside = thread_context;
  thread_context.variables = outer_;
  thread_context.graph = outer_graph_;
  thread_context.mute = outer_mute_;
  const Tensor value = read_variable(variable);
  thread_context = inside;
  entries_.emplace_back(variable, value);
  return value;
}

void RegionVariables::write(VariableState& variable, const Tensor& value) {
  if (!find(variable)) read(variable);
  find(variable)->write(value);
}

std::string OpenRegion::print(const Aval& aval) const {
  std::string text = std::string(name_of(aval.dtype)) + " (";
  for (int i = 0; i < aval.shape.rank(); ++i)
    text += (i > 0 ? ", " : "") + graph->symbols().print(aval.shape[i]);
  return text + (aval.shape.rank() == 1 ? ",)" : ")");
}

OpenRegion open_region(const Graph& outer, std::span<const Aval> inputs,
                       std::span<const std::shared_ptr<VariableState>> variables,
                       const std::function<std::vector<Tensor>(std::vector<Tensor>)>& f) {
  OpenRegion region{Graph::make_like(outer), {}, {}};
  Graph& graph = *region.graph;
  graph.make_region();
  std::vector<Tensor> in;
  for (const Aval& aval : inputs) in.push_back(graph.tensor(graph.add_input(aval)));
  std::vector<VariableInTrace> entries;
  for (std::size_t i = 0; i < variables.size(); ++i)
    entries.emplace_back(*variables[i], in[in.size() - variables.size() + i]);
  in.resize(in.size() - variables.size());

  struct Around {
    explicit Around(const Graph& outer) { graphs().push_back(outer.shared_from_this()); }
    ~Around() { graphs().pop_back(); }
    static std::vector<std::shared_ptr<const Graph>>& graphs() {
      thread_local std::vector<std::shared_ptr<const Graph>> open;
      return open;
    }
  } const here(outer);
  region.around = Around::graphs();
  RegionVariables tracer(std::move(entries));
  const TraceScope scope(graph);
  const Mute insides(0);
  region.out = f(std::move(in));
  region.variables = tracer.take();
  return region;
}

namespace {

// Which of the first `sizes` that inputs of the outermost graph have are spoken of.
class SpokenSizes {
 public:
  explicit SpokenSizes(std::size_t sizes) : spoken_(sizes, false) {}

  void add(const Symbols& symbols, Size size) {
    for (std::size_t i = 0; i < spoken_.size(); ++i)
      if (!spoken_[i] && symbols.depends_on(size, i)) spoken_[i] = true;
  }
  void add(const Graph& g) {
    for (Graph::Value v = 0; v < g.value_count(); ++v)
      for (const Size size : g.info(v).aval.shape) add(g.symbols(), size);
    for (const Graph::Node& n : g.nodes())
      each_size_of(g, n, [&](Size size) { add(g.symbols(), size); });
  }
  // An input has this shape: its sizes are known when the region runs.
  void remove(const Symbols& symbols, const Shape& shape) {
    for (const Size size : shape) {
      const std::int64_t i = symbols.input_of(size);
      if (i >= 0 && i < static_cast<std::int64_t>(spoken_.size()))
        spoken_[static_cast<std::size_t>(i)] = false;
    }
  }
  bool operator[](std::size_t i) const { return spoken_[i]; }
  std::size_t count() const { return spoken_.size(); }

 private:
  std::vector<bool> spoken_;
};

// Something outside that has this size.
Tensor with_size(std::span<const std::shared_ptr<const Graph>> around, std::size_t input) {
  for (std::size_t k = around.size(); k-- > 0;) {
    const Graph& g = *around[k];
    for (Graph::Value v = 0; v < g.value_count(); ++v)
      if (const std::int32_t n = g.info(v).node;
          n == -1 || (n >= 0 && g.nodes()[static_cast<std::size_t>(n)].op->info.find))
        for (const Size size : g.info(v).aval.shape)
          if (g.symbols().input_of(size) == static_cast<std::int64_t>(input))
            return const_cast<Graph&>(g).tensor(v);
  }
  return {};
}

// Every size that a region speaks of is the size of one of its inputs, if need be of one that is
// there for nothing else.
void use_sizes(std::span<const OpenRegion> open, std::vector<Tensor>& used) {
  if (open[0].around.empty()) return;
  SpokenSizes spoken(open[0].around.front()->symbols().input_count());
  if (spoken.count() == 0) return;
  for (const OpenRegion& region : open) spoken.add(*region.graph);
  for (const OpenRegion& region : open)
    for (Graph::Value v : region.graph->inputs())
      spoken.remove(region.graph->symbols(), region.graph->info(v).aval.shape);
  for (const Tensor& t : used) spoken.remove(open[0].graph->symbols(), t.shape());
  for (std::size_t i = 0; i < spoken.count(); ++i) {
    if (!spoken[i]) continue;
    const Tensor t = with_size(open[0].around, i);
    if (!t.defined()) continue;
    used.push_back(t);
    spoken.remove(open[0].graph->symbols(), t.shape());
  }
}

}  // namespace

std::vector<Tensor> close_regions(std::span<OpenRegion> open,
                                  std::vector<std::shared_ptr<Region>>& closed) {
  std::vector<Tensor> used;
  std::vector<std::vector<Graph::Value>> outputs;
  for (OpenRegion& region : open) {
    Graph& g = *region.graph;
    outputs.emplace_back();
    for (const Tensor& t : region.out) outputs.back().push_back(g.value(t));
    for (Graph::Value v = 0; v < g.value_count(); ++v) {
      const Tensor& t = g.info(v).constant;
      if (!t.defined()) continue;
      const TensorImpl& impl = *t.impl();
      if (!impl.has(kNotConcrete) && !impl.has(kTracked) && !impl.has(kHasTangent)) continue;
      const auto same = [&](const Tensor& known) { return known.impl() == &impl; };
      if (std::none_of(used.begin(), used.end(), same)) used.push_back(t);
    }
  }
  use_sizes(open, used);
  for (std::size_t r = 0; r < open.size(); ++r) {
    Graph& g = *open[r].graph;
    std::vector<Graph::Value> inputs = g.inputs();
    for (const Tensor& t : used) inputs.push_back(g.add_constant(t));
    g.set_inputs(std::move(inputs));
    g.set_outputs(std::move(outputs[r]));
    closed.push_back(std::make_shared<Region>(open[r].graph));
  }
  for (Tensor& t : used) t = without_mark(t);
  return used;
}

}  // namespace gradus
