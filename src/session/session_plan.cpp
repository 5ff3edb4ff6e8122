#include "session/session_plan.h"

#include <algorithm>
#include <queue>
#include <set>
#include <string_view>

#include "base/check.h"
#include "compile/roles.h"
#include "graph/inner_graphs.h"
#include "graph/node_sizes.h"
#include "ops/seed_nodes.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using Value = Graph::Value;

// As TensorFlow writes them in this message.
const char* short_name(DType dtype) {
  if (dtype == float32) return "float";
  if (dtype == float64) return "double";
  if (dtype == float16) return "half";
  return name_of(dtype);
}

[[noreturn]] void fail_not_fed(const GraphProgram::State& program, Value v) {
  const auto found = program.placeholders.find(v);
  const std::string name = found == program.placeholders.end() ? "?" : found->second;
  const Aval& aval = program.graph->info(v).aval;
  std::string shape;
  for (int a = 0; a < aval.shape.rank(); ++a) {
    if (a > 0) shape += ",";
    shape += to_string(aval.shape[a]);
  }
  fail<InvalidArgumentError>("You must feed a value for placeholder tensor '", name,
                             "' with dtype ", short_name(aval.dtype), " and shape [", shape, "]");
}

Value value_in(const GraphProgram::State& program, const Tensor& t, const char* what) {
  if (!t.defined() || t.impl()->kind != ValueKind::traced ||
      t.impl()->extra()->graph != program.graph) {
    fail<InvalidArgumentError>("[Session] a tensor to ", what, " is not a tensor of the program");
  }
  return t.impl()->extra()->value;
}

bool is_write(const Graph::Node& n) { return n.op == &write_variable_op; }

// The nodes that find the sizes which other nodes speak of.
class FoundBy {
 public:
  explicit FoundBy(const Graph& g) : g_(g) {
    const std::vector<std::int64_t> found = finders(g);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] >= 0) finders_.emplace_back(i, static_cast<std::uint32_t>(found[i]));
  }
  template <class F>
  void each(std::uint32_t node, const F& f) const {
    if (finders_.empty()) return;
    const Graph::Node& n = g_.nodes()[node];
    const auto speaks = [&](Size size) {
      for (const auto& [unknown, finder] : finders_)
        if (finder != node && g_.symbols().depends_on(size, unknown)) f(finder);
    };
    each_size_of(g_, n, speaks);
    for (std::uint32_t o = 0; o < n.out_count; ++o)
      for (const Size size : g_.info(n.first_out + o).aval.shape) speaks(size);
  }

 private:
  const Graph& g_;
  std::vector<std::pair<std::size_t, std::uint32_t>> finders_;
};

}  // namespace

Schedule make_schedule(const GraphProgram::State& program, const Session::Request& request) {
  const Graph& g = *program.graph;
  Schedule s;
  for (const Tensor& t : request.fetches) s.fetches.push_back(value_in(program, t, "fetch"));
  for (const Tensor& t : request.fed) s.fed.push_back(value_in(program, t, "feed"));
  for (const Operation& o : request.operations) {
    if (o.graph() != program.graph)
      fail<InvalidArgumentError>("[Session] an operation belongs to another program");
    if (o.node() >= 0) s.targets.push_back(static_cast<std::uint32_t>(o.node()));
  }
  std::vector<bool> is_fed(g.value_count(), false);
  for (Value v : s.fed) is_fed[v] = true;

  std::vector<bool> needed(g.nodes().size(), false);
  std::vector<std::uint32_t> open;
  const auto need_node = [&](std::uint32_t n) {
    if (needed[n]) return;
    needed[n] = true;
    open.push_back(n);
  };
  const FoundBy found_by(g);
  const auto need = [&](Value v) {
    if (is_fed[v] || g.info(v).constant.defined()) return;
    if (g.info(v).node < 0) fail_not_fed(program, v);
    need_node(static_cast<std::uint32_t>(g.info(v).node));
  };
  for (Value v : s.fetches) need(v);
  for (std::uint32_t n : s.targets) need_node(n);
  while (!open.empty()) {
    const std::uint32_t n = open.back();
    open.pop_back();
    for (Value v : g.operands(g.nodes()[n])) need(v);
    for (std::uint32_t before : program.after(n)) need_node(before);
    found_by.each(n, need_node);
  }

  // The order: what is ready and writes nothing first, then writes, each as they were made.
  std::vector<std::vector<std::uint32_t>> waiting(g.nodes().size());
  std::vector<std::uint32_t> missing(g.nodes().size(), 0);
  using Ready = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
  Ready others, writes;
  const auto is_ready = [&](std::uint32_t n) {
    (is_write(g.nodes()[n]) ? writes : others).push(n);
  };
  for (std::uint32_t n = 0; n < needed.size(); ++n) {
    if (!needed[n]) continue;
    const auto wait_for = [&](std::uint32_t before) {
      waiting[before].push_back(n);
      ++missing[n];
    };
    for (Value v : g.operands(g.nodes()[n]))
      if (!is_fed[v] && g.info(v).node >= 0) wait_for(static_cast<std::uint32_t>(g.info(v).node));
    for (std::uint32_t before : program.after(n)) wait_for(before);
    found_by.each(n, wait_for);
    if (missing[n] == 0) is_ready(n);
  }
  while (!others.empty() || !writes.empty()) {
    Ready& from = others.empty() ? writes : others;
    const std::uint32_t n = from.top();
    from.pop();
    s.nodes.push_back(n);
    for (std::uint32_t next : waiting[n])
      if (--missing[next] == 0) is_ready(next);
  }
  return s;
}

Alias::Alias(const Graph& g, const Schedule& schedule) : of_(g.value_count(), nullptr) {
  std::vector<bool> is_fed(g.value_count(), false);
  for (Value v : schedule.fed) is_fed[v] = true;
  for (std::uint32_t index : schedule.nodes) {
    const Graph::Node& n = g.nodes()[index];
    if (n.op == &no_op || is_fed[n.first_out]) continue;
    if (n.op == &read_variable_op || is_write(n)) {
      VariableState& v = *variable_use(g.attrs(n)).variable;
      if (is_write(n) ? v.writes_give_it : v.reads_give_it) of_[n.first_out] = &v;
    } else if (n.op->info.is_view) {
      of_[n.first_out] = of_[g.operands(n)[0]];
    }
  }
}

namespace {

// The table of sizes of a run: without what is relied on only by nodes that it does not need. Those
// and their questions have the same line. Nodes with graphs inside have the whole table.
std::shared_ptr<Graph> graph_for(const GraphProgram::State& program, const Schedule& schedule) {
  const Graph& from = *program.graph;
  using Line = std::pair<std::string_view, std::uint_least32_t>;
  const auto line = [](const std::source_location& where) {
    return Line(where.line() > 0 ? where.file_name() : "", where.line());
  };
  std::set<Line> needed = {Line("", 0)};
  bool has_regions = false;
  for (const std::uint32_t n : schedule.nodes) {
    needed.insert(line(from.nodes()[n].where));
    has_regions = has_regions || held_as<HasGraphs>(from, from.nodes()[n]);
  }
  if (!program.hides_sizes || has_regions) return Graph::make_like(from);
  return Graph::make_with(
      from.symbols().with_guards([&](const Guard& g) { return needed.contains(line(g.where)); }));
}

class Closing {
 public:
  Closing(const GraphProgram::State& program, const Schedule& schedule)
      : from_(*program.graph),
        program_(program),
        to_(graph_for(program, schedule)),
        scope_(*to_),
        alias_(from_, schedule),
        now_(from_.value_count(), kNone) {
    for (Value v : schedule.fed)
      if (now_[v] == kNone) now_[v] = to_->add_input(from_.info(v).aval);
    for (std::uint32_t n : schedule.nodes) add(n);
    bind_sizes_of_feeds();
  }

  ClosedGraph finish(const Schedule& schedule, const std::vector<Variable>& last) {
    std::vector<Value> outputs;
    for (Value v : schedule.fetches) {
      const bool is_late = alias_[v] && alias_[v]->reads_give_it;
      outputs.push_back(is_late ? (*this)[v] : now(v));
    }
    for (const Variable& v : last) outputs.push_back(to_->value(current(*v.state())));
    result_.fetch_count = outputs.size();
    for (std::size_t i = 0; i < result_.uses.size(); ++i) {
      if (!is_written_[i]) continue;
      result_.uses[i].output = static_cast<std::int64_t>(outputs.size());
      outputs.push_back(to_->value(values_[i]));
    }
    to_->set_outputs(std::move(outputs));
    to_->close();
    result_.graph = to_;
    return std::move(result_);
  }

 private:
  static constexpr Value kNone = ~0u;

  // A value as it is for an op that runs here: of a variable, what the variable is by now.
  Value operator[](Value old) {
    if (!alias_[old]) return now(old);
    const Graph::Node& n = from_.nodes()[static_cast<std::size_t>(from_.info(old).node)];
    if (!n.op->info.is_view) return to_->value(current(*alias_[old]));
    const Value in = (*this)[from_.operands(n)[0]];
    return to_->add(*n.op, from_.attrs(n), {&in, 1}).first_out;
  }

  // A value as it was made.
  Value now(Value old) {
    if (now_[old] == kNone) {
      GRADUS_ASSERT(from_.info(old).constant.defined());
      now_[old] = to_->add_constant(from_.info(old).constant);
    }
    return now_[old];
  }

  std::size_t use_of(VariableState& v) {
    for (std::size_t i = 0; i < result_.uses.size(); ++i)
      if (result_.uses[i].variable.get() == &v) return i;
    result_.uses.push_back({v.shared_from_this()});
    values_.emplace_back();
    is_written_.push_back(false);
    return result_.uses.size() - 1;
  }

  Tensor current(VariableState& v) {
    const std::size_t i = use_of(v);
    if (!values_[i].defined()) {
      result_.uses[i].input = static_cast<std::int64_t>(to_->inputs().size());
      values_[i] = to_->tensor(to_->add_input({v.dtype, v.shape}));
    }
    return values_[i];
  }

  void set(const Graph::Node& n, std::uint32_t i, Value value) {
    if (now_[n.first_out + i] == kNone) now_[n.first_out + i] = value;  // or it is fed
  }

  void add(std::uint32_t index) {
    const Graph::Node& n = from_.nodes()[index];
    const AttributeTo line(n.where);
    if (n.op == &no_op) return;
    if (n.op == &graph_constant_op) return set(n, 0, (*this)[from_.operands(n)[0]]);
    if (n.op == &read_variable_op)
      return set(n, 0, to_->value(current(*variable_use(from_.attrs(n)).variable)));
    if (n.op == &write_variable_op) return write(n);
    if (n.op == &next_seeds_op) return draw(index);
    SmallVector<Value, 8> in;
    for (Value v : from_.operands(n)) in.push_back((*this)[v]);
    alignas(16) std::byte attrs[512];
    GRADUS_ASSERT(n.op->attrs().bytes <= sizeof attrs);
    std::copy_n(static_cast<const std::byte*>(from_.attrs(n)), n.op->attrs().bytes, attrs);
    if (n.op == &random_op) take_state(n, in[0], attrs);
    const Graph::Node copy = to_->add(*n.op, attrs, in);
    for (std::uint32_t i = 0; i < n.out_count; ++i) set(n, i, copy.first_out + i);
  }

  void write(const Graph::Node& n) {
    const VariableUse& use = variable_use(from_.attrs(n));
    SmallVector<Tensor, 4> in;
    for (Value v : from_.operands(n)) in.push_back(to_->tensor((*this)[v]));
    const Tensor value = use.change ? use.change(current(*use.variable), in) : in[0];
    const std::size_t i = use_of(*use.variable);
    values_[i] = value;
    is_written_[i] = true;
    set(n, 0, to_->value(value));
  }

  void draw(std::uint32_t index) {
    const Graph::Node& n = from_.nodes()[index];
    const auto& attrs = *static_cast<const SeedAttrs*>(from_.attrs(n));
    result_.seeds.push_back({index,
                             to_->inputs().size(),
                             {},
                             attrs.has_op_seed,
                             static_cast<std::int64_t>(attrs.op_seed)});
    set(n, 0, to_->add_input({int64, {3}}));
  }

  void take_state(const Graph::Node& n, Value seeds, void* attrs) {
    for (ClosedGraph::Seeds& s : result_.seeds) {
      if (to_->inputs()[s.input] != seeds) continue;
      draw_from_state(attrs);
      s.drawn = from_.info(n.first_out).aval.shape;
    }
  }

  // A size that is used comes with the placeholder that has it.
  void bind_sizes_of_feeds() {
    const Symbols& symbols = to_->symbols();
    if (symbols.input_count() == 0) return;
    std::vector<bool> is_bound(symbols.input_count(), false);
    for (Value v : to_->inputs())
      for (const Size size : to_->info(v).aval.shape)
        if (const std::int64_t s = symbols.input_of(size); s >= 0)
          is_bound[static_cast<std::size_t>(s)] = true;
    for (const auto& [v, name] : program_.placeholders) {
      for (const Size size : from_.info(v).aval.shape) {
        const std::int64_t s = symbols.input_of(size);
        if (s >= 0 && !is_bound[static_cast<std::size_t>(s)] && is_used(s))
          fail_not_fed(program_, v);
      }
    }
  }

  bool is_used(std::int64_t symbol) const {
    const Symbols& symbols = to_->symbols();
    const auto input = static_cast<std::size_t>(symbol);
    for (const Graph::Node& n : to_->nodes()) {
      bool found = false;
      for (std::uint32_t i = 0; i < n.out_count; ++i)
        for (const Size size : to_->info(n.first_out + i).aval.shape)
          found = found || symbols.depends_on(size, input);
      each_size_of(*to_, n, [&](Size size) { found = found || symbols.depends_on(size, input); });
      if (found) return true;
    }
    return false;
  }

  const Graph& from_;
  const GraphProgram::State& program_;
  std::shared_ptr<Graph> to_;
  TraceScope scope_;
  const Alias alias_;
  std::vector<Value> now_;
  ClosedGraph result_;
  std::vector<Tensor> values_;  // by use: what the variable is at this point
  std::vector<bool> is_written_;
};

}  // namespace

ClosedGraph close_graph(const GraphProgram::State& program, const Schedule& schedule,
                        const std::vector<Variable>& last) {
  return Closing(program, schedule).finish(schedule, last);
}

}  // namespace gradus
