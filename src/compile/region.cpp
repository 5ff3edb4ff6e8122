#include "compile/region.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "compile/assigned.h"
#include "compile/graph_copy.h"
#include "compile/held_as.h"
#include "compile/inner_memory.h"
#include "compile/node_sizes.h"
#include "compile/stretches.h"
#include "gradus/ops.h"
#include "gradus/variable.h"
#include "graph/bind.h"
#include "graph/evaluate.h"
#include "tensor/tensor_impl.h"

namespace gradus {

Region::Region(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) { graph_->close(); }

bool Region::is_stateful() const {
  return std::any_of(graph_->nodes().begin(), graph_->nodes().end(),
                     [](const Graph::Node& n) { return n.op->info.stateful; });
}

namespace {

const Repeatable* repeatable(const Graph& g, const Graph::Node& n) {
  return n.op->info.stateful ? held_as<Repeatable>(g, n) : nullptr;
}

}  // namespace

bool Region::may_repeat() const {
  return std::ranges::all_of(graph_->nodes(), [&](const Graph::Node& n) {
    const Repeatable* r = repeatable(*graph_, n);
    return !n.op->info.stateful || (r && r->may_repeat());
  });
}

std::shared_ptr<Region> Region::without_effects() const {
  bool changed = false;
  GraphCopy copy(*graph_);
  for (const Graph::Node& n : graph_->nodes()) {
    const Repeatable* r = repeatable(*graph_, n);
    if (r && n.out_count == 0) {
      changed = true;
      continue;
    }
    const std::shared_ptr<const Held> pure = r ? r->without_effects() : nullptr;
    if (!pure) {
      copy.copy(n);
      continue;
    }
    changed = true;
    SmallVector<Graph::Value, 8> in;
    for (Graph::Value v : graph_->operands(n)) in.push_back(copy[v]);
    std::vector<std::byte> attrs(n.op->attrs().bytes);
    std::memcpy(attrs.data(), graph_->attrs(n), attrs.size());
    const Held* const held = pure.get();  // the first field of nodes with regions
    std::memcpy(attrs.data(), &held, sizeof held);
    copy.replace(n, *n.op, attrs.data(), in);
  }
  return changed ? std::make_shared<Region>(copy.finish()) : nullptr;
}

namespace {

std::optional<Sizes> bind_views(const Graph& graph, std::span<const View> in) {
  SmallVector<Aval, 8> avals;
  for (const View& v : in) avals.push_back({v.dtype, *v.shape});
  return bind_sizes(graph, avals);
}

[[noreturn]] void fail_sizes() {
  fail<InvalidArgumentError>("[loop or branch] the sizes inside do not go together as traced");
}

void bind_results(const Graph& graph, const Sizes& sizes, Avals& out) {
  for (Graph::Value v : graph.outputs()) {
    const Aval& aval = graph.info(v).aval;
    out.push_back({aval.dtype, bind_shape(graph.symbols(), sizes, aval.shape)});
  }
}

}  // namespace

void Region::results(std::span<const View> in, Avals& out) const {
  const std::optional<Sizes> sizes = bind_views(*graph_, in);
  if (!sizes) fail_sizes();
  bind_results(*graph_, *sizes, out);
}

void Region::infer(std::span<const View> in, Avals& out) const {
  const std::optional<Sizes> sizes = bind_views(*graph_, in);
  const bool known = sizes && std::ranges::all_of(*sizes, [](Size s) { return s.is_known(); });
  // A region of another function, in a trace: what it relies on, the trace relies on too.
  const bool foreign = sizes && !known && symbols_of_trace() != &graph_->symbols();
  if (!sizes || (!sizes->empty() && known && !serves(*graph_, *sizes)) ||
      (foreign && !graph_->symbols().guards_hold(*sizes)))
    fail_sizes();
  bind_results(*graph_, *sizes, out);
  for (const Aval& aval : out) {
    if (std::ranges::any_of(aval.shape, [](Size s) { return is_same(s, kUnbound); })) {
      fail<UnimplementedError>(
          "[loop or branch] a result has a size that is found inside; find it outside and use it "
          "inside, or make the result of a known size");
    }
  }
}

Tensors Region::operator()(std::span<const Tensor> in) const {
  const std::vector<Tensor> out = evaluate(*graph_, in);
  return Tensors(out.begin(), out.end());
}

Tensors Region::run(std::vector<Tensor> in) const {
  const std::optional<Sizes> sizes = bind_sizes(*graph_, in);
  if (!sizes) fail_sizes();
  if (!sizes->empty()) served_.check(*graph_, *sizes);
  std::vector<Tensor> made(output_count());
  program().run(in, made);
  return Tensors(made.begin(), made.end());
}

void require_repeatable(bool may_repeat) {
  if (may_repeat) return;
  fail<UnimplementedError>(
      "[gradient] a branch or a loop body draws random numbers, and its gradient, which runs it "
      "again, would draw others; draw them outside and use them inside");
}

Executable& Region::program() const {
  std::call_once(compiled_, [&] {
    std::vector<Donation> carried;  // the body of a loop may write a carry over what it was
    for (std::uint32_t i = 0; i < std::min(input_count(), output_count()); ++i)
      carried.push_back({i, i});
    const Target target{sizes_, carried, memory_limit_};
    program_ = compiled(graph_, target);
  });
  return *program_;
}

std::int64_t Region::memory_bytes(std::span<const Aval> in) const {
  const std::optional<Sizes> sizes = bind_sizes(*graph_, in);
  GRADUS_ASSERT(sizes.has_value());
  return memory_bytes(*sizes);
}

std::int64_t Region::memory_bytes(const Sizes& sizes) const {
  return program().arena_bytes(sizes) + inner_bytes(program().graph(), sizes);
}

std::shared_ptr<Region> Region::with_less_memory(std::span<const Aval> in, double part) const {
  auto less = std::make_shared<Region>(graph_);
  less->sizes_ = *bind_sizes(*graph_, in);
  less->memory_limit_ = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(part * static_cast<double>(memory_bytes(in))));
  return less;
}

std::shared_ptr<Region> RegionBuilder::finish(std::span<const Tensor> out) {
  std::vector<Graph::Value> outputs;
  for (const Tensor& t : out) outputs.push_back(graph_->value(t));
  graph_->set_outputs(std::move(outputs));
  return std::make_shared<Region>(graph_);
}

Tensor read_variable(VariableState& variable) {
  return Variable(variable.shared_from_this()).value();
}

Tensor without_mark(const Tensor& t) { return t.impl()->has(kWeak) ? make_alias(t) : t; }

RegionVariables::RegionVariables(std::vector<Entry> known)
    : entries_(std::move(known)),
      outer_(std::exchange(thread_context.variables, this)),
      outer_graph_(thread_context.graph),
      outer_mute_(thread_context.mute) {}

RegionVariables::Entry* RegionVariables::find(const VariableState& variable) {
  for (Entry& e : entries_)
    if (e.variable.get() == &variable) return &e;
  return nullptr;
}

Tensor RegionVariables::Entry::read() {
  if (!is_seen) seen = assigned(now, seen);
  is_seen = true;
  return seen;
}

Tensor RegionVariables::read(VariableState& variable) {
  if (Entry* e = find(variable)) return e->read();
  const ThreadContext inside = thread_context;
  thread_context.variables = outer_;
  thread_context.graph = outer_graph_;
  thread_context.mute = outer_mute_;
  const Tensor value = read_variable(variable);
  thread_context = inside;
  entries_.push_back({variable.shared_from_this(), value, false, value});
  return value;
}

void RegionVariables::write(VariableState& variable, const Tensor& value) {
  if (!find(variable)) read(variable);
  Entry* const e = find(variable);
  e->now = value;
  e->is_written = true;
  e->is_seen = false;
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
  std::vector<RegionVariables::Entry> entries;
  for (std::size_t i = 0; i < variables.size(); ++i)
    entries.push_back({variables[i], in[in.size() - variables.size() + i], false,
                       in[in.size() - variables.size() + i]});
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
