#include "compile/stretches.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/check.h"
#include "compile/passes/expand.h"
#include "compile/roles.h"
#include "graph/bind.h"
#include "graph/context.h"
#include "graph/found_size.h"
#include "graph/inner_graphs.h"
#include "graph/node_sizes.h"
#include "tensor/tensor_impl.h"

namespace gradus {

using Value = Graph::Value;

namespace {

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

// What sizes that are not found yet are taken for, where bytes are estimated: an op finds at most
// as many elements as it is given, mostly.
Sizes with_guesses(Sizes sizes) {
  Size largest = 1;
  for (const Size s : sizes)
    if (!is_same(s, kUnbound) && s > largest) largest = s;
  for (Size& s : sizes)
    if (is_same(s, kUnbound)) s = largest;
  return sizes;
}

// Moves into the stretch that uses it, rather than being kept until then.
bool is_cheap(const Graph::Node& n) {
  const OpInfo& info = n.op->info;
  return !info.stateful && !info.find &&
         (n.op->kind == Kind::elementwise || info.is_view || n.in_count == 0);
}

}  // namespace

class Stretches::Cutter {
 public:
  explicit Cutter(const Graph& g)
      : g_(g),
        unknowns_(g.symbols().input_count()),
        finder_(finders(g)),
        known_from_(unknowns_, 0),
        stage_(g.nodes().size(), 0),
        made_at_(g.value_count(), 0),
        slot_(g.value_count(), kNever),
        used_last_(g.value_count(), 0) {
    find_stages();
    find_needed();
    let_cheap_nodes_sink();
  }

  void cut(Stretches& to, const Target& target, const std::vector<std::string>& skip,
           std::vector<PassReport>* report);

 private:
  template <class F>
  void each_unknown(Size size, const F& f) const {
    if (size.is_known()) return;
    for (std::size_t i = 0; i < unknowns_; ++i)
      if (g_.symbols().depends_on(size, i)) f(i);
  }
  // Of its attributes and results.
  template <class F>
  void each_unknown(const Graph::Node& n, const F& f) const {
    each_size_of(g_, n, [&](Size size) { each_unknown(size, f); });
    for (std::uint32_t i = 0; i < n.out_count; ++i)
      for (const Size size : g_.info(n.first_out + i).aval.shape) each_unknown(size, f);
  }

  void find_stages() {
    std::uint32_t last_effect = 0;  // effects keep their order
    for (std::size_t k = 0; k < g_.nodes().size(); ++k) {
      const Graph::Node& n = g_.nodes()[k];
      std::uint32_t stage = 0;
      for (Value v : g_.operands(n)) stage = std::max(stage, made_at_[v]);
      each_unknown(n, [&](std::size_t i) {
        if (finder_[i] != static_cast<std::int64_t>(k)) stage = std::max(stage, known_from_[i]);
      });
      if (n.op->info.stateful) stage = last_effect = std::max(stage, last_effect);
      stage_[k] = stage;
      const std::uint32_t after = n.op->info.find ? stage + 1 : stage;
      for (std::uint32_t o = 0; o < n.out_count; ++o) made_at_[n.first_out + o] = after;
      for (std::size_t i = 0; i < unknowns_; ++i)
        if (finder_[i] == static_cast<std::int64_t>(k)) known_from_[i] = after;
    }
  }

  void find_needed() {
    needed_.assign(g_.nodes().size(), false);
    std::vector<bool> value(g_.value_count(), false), unknown(unknowns_, false);
    const auto need = [&](Value v) {
      value[v] = true;
      for (const Size size : g_.info(v).aval.shape)
        each_unknown(size, [&](std::size_t i) { unknown[i] = true; });
    };
    for (Value v : g_.outputs()) need(v);
    for (const Guard& guard : g_.symbols().guards())  // they are looked at, whoever else needs it
      for (const Size size : {guard.a, guard.b})
        each_unknown(size, [&](std::size_t i) { unknown[i] = true; });
    for (std::size_t k = g_.nodes().size(); k-- > 0;) {
      const Graph::Node& n = g_.nodes()[k];
      bool needed = n.op->info.stateful;
      for (std::uint32_t o = 0; o < n.out_count; ++o) needed = needed || value[n.first_out + o];
      for (std::size_t i = 0; i < unknowns_; ++i)
        needed = needed || (unknown[i] && finder_[i] == static_cast<std::int64_t>(k));
      if (!needed) continue;
      needed_[k] = true;
      for (Value v : g_.operands(n)) need(v);
      each_unknown(n, [&](std::size_t i) { unknown[i] = true; });
    }
  }

  void let_cheap_nodes_sink() {
    std::vector<std::uint32_t> first_use(g_.value_count(), kNever);
    for (std::size_t k = g_.nodes().size(); k-- > 0;) {
      if (!needed_[k]) continue;
      const Graph::Node& n = g_.nodes()[k];
      if (is_cheap(n) && first_use[n.first_out] != kNever) {
        stage_[k] = std::max(stage_[k], first_use[n.first_out]);
        made_at_[n.first_out] = stage_[k];
      }
      for (Value v : g_.operands(n)) first_use[v] = std::min(first_use[v], stage_[k]);
    }
  }

  // Some value whose shape has this unknown; none if nothing does.
  std::optional<Value> witness(std::size_t unknown) const {
    const auto has = [&](Value v) {
      return std::ranges::any_of(g_.info(v).aval.shape, [&](Size size) {
        return Symbols::input_of(size) == static_cast<std::int64_t>(unknown);
      });
    };
    if (finder_[unknown] >= 0) {
      const Graph::Node& n = g_.nodes()[static_cast<std::size_t>(finder_[unknown])];
      for (std::uint32_t o = 0; o < n.out_count; ++o)
        if (has(n.first_out + o)) return n.first_out + o;
      return {};
    }
    const auto found = std::ranges::find_if(g_.inputs(), has);
    return found == g_.inputs().end() ? std::nullopt : std::optional(*found);
  }

  // What the nodes of a stage use of others.
  std::vector<Value> externals(std::uint32_t stage) const {
    std::vector<Value> used;
    std::vector<bool> speaks(unknowns_, false);
    const auto speak = [&](const Shape& shape) {
      for (const Size size : shape) each_unknown(size, [&](std::size_t i) { speaks[i] = true; });
    };
    for (std::size_t k = 0; k < g_.nodes().size(); ++k) {
      const Graph::Node& n = g_.nodes()[k];
      if (!belongs(k, stage)) continue;
      each_unknown(n, [&](std::size_t i) { speaks[i] = true; });
      for (Value v : g_.operands(n)) {
        speak(g_.info(v).aval.shape);
        if (g_.info(v).constant.defined() || is_made_in(v, stage)) continue;
        if (!std::ranges::count(used, v)) used.push_back(v);
      }
    }
    for (Value v : used)  // they say what their sizes are
      for (const Size size : g_.info(v).aval.shape)
        if (const std::int64_t i = Symbols::input_of(size); i >= 0)
          speaks[static_cast<std::size_t>(i)] = false;
    for (std::size_t i = 0; i < unknowns_; ++i) {
      if (!speaks[i]) continue;
      const std::optional<Value> v = witness(i);
      if (v && !std::ranges::count(used, *v)) used.push_back(*v);
    }
    return used;
  }

  bool belongs(std::size_t node, std::uint32_t stage) const {
    return needed_[node] && stage_[node] == stage && !g_.nodes()[node].op->info.find;
  }
  bool is_made_in(Value v, std::uint32_t stage) const {
    const std::int32_t node = g_.info(v).node;
    return node >= 0 && belongs(static_cast<std::size_t>(node), stage);
  }

  Source source(Value v, std::uint32_t stage) {
    if (g_.info(v).constant.defined()) return {Source::Kind::constant, 0, g_.info(v).constant};
    if (const auto input = std::ranges::find(g_.inputs(), v); input != g_.inputs().end())
      return {Source::Kind::input, static_cast<std::uint32_t>(input - g_.inputs().begin())};
    used_last_[v] = std::max(used_last_[v], stage);
    return {Source::Kind::slot, slot(v)};
  }
  std::uint32_t slot(Value v) {
    if (slot_[v] == kNever) slot_[v] = slots_++;
    return slot_[v];
  }

  const Graph& g_;
  std::size_t unknowns_;
  std::vector<std::int64_t> finder_;             // by unknown: the node that finds it, or -1
  std::vector<std::uint32_t> known_from_;        // by unknown: a stage
  std::vector<std::uint32_t> stage_;             // by node; those that find run after the stretch
  std::vector<std::uint32_t> made_at_;           // by value
  std::vector<bool> needed_;                     // by node
  std::vector<std::uint32_t> slot_, used_last_;  // by value
  std::uint32_t slots_ = 0;
};

void Stretches::Cutter::cut(Stretches& to, const Target& target,
                            const std::vector<std::string>& skip, std::vector<PassReport>* report) {
  std::uint32_t last = 0;
  for (std::size_t k = 0; k < g_.nodes().size(); ++k)
    if (needed_[k]) last = std::max(last, stage_[k] + (g_.nodes()[k].op->info.find ? 1 : 0));
  std::vector<std::vector<Value>> used;
  for (std::uint32_t stage = 0; stage <= last; ++stage) {
    Stretch& s = to.stretches_.emplace_back();
    used.push_back(externals(stage));
    for (Value v : used.back()) s.in.push_back(source(v, stage));
    for (std::uint32_t k = 0; k < g_.nodes().size(); ++k) {
      const Graph::Node& n = g_.nodes()[k];
      if (!needed_[k] || !n.op->info.find || stage_[k] != stage) continue;
      Finder& finder = s.finders.emplace_back(Finder{k, {}, {}});
      for (Value v : g_.operands(n)) finder.in.push_back(source(v, stage));
      for (std::uint32_t o = 0; o < n.out_count; ++o) finder.out.push_back(slot(n.first_out + o));
    }
  }
  for (Value v : g_.outputs()) to.outputs_.push_back(source(v, last + 1));

  const Sizes guesses = target.sizes.empty() ? Sizes() : with_guesses(target.sizes);
  for (std::uint32_t stage = 0; stage <= last; ++stage) {
    Stretch& s = to.stretches_[stage];
    s.traced = Graph::make_like(g_);
    std::map<Value, Value> now;
    std::vector<Value> outputs;
    {
      const TraceScope scope(*s.traced);
      for (Value v : used[stage]) now[v] = s.traced->add_input(g_.info(v).aval);
      for (std::size_t k = 0; k < g_.nodes().size(); ++k) {
        if (!belongs(k, stage)) continue;
        const Graph::Node& n = g_.nodes()[k];
        SmallVector<Value, 8> in;
        for (Value v : g_.operands(n))
          in.push_back(g_.info(v).constant.defined() ? s.traced->add_constant(g_.info(v).constant)
                                                     : now.at(v));
        const AttributeTo line(n.where);
        const Graph::Node copy = s.traced->add(*n.op, g_.attrs(n), in);
        for (std::uint32_t o = 0; o < n.out_count; ++o) {
          now[n.first_out + o] = copy.first_out + o;
          if (slot_[n.first_out + o] == kNever) continue;
          s.out.push_back(slot_[n.first_out + o]);
          outputs.push_back(copy.first_out + o);
        }
      }
    }
    s.traced->set_outputs(outputs);
    s.traced->close();
    // Who fails after a variable was written over has lost it: only the last stretch does that.
    s.consumes.assign(s.in.size(), false);
    std::vector<Donation> donations;
    for (const Donation& d : target.donations) {
      const Value from = g_.inputs()[d.input], into = g_.outputs()[d.output];
      const auto input = std::ranges::find(used[stage], from);
      const auto output = std::ranges::find(s.out, slot_[into]);
      if (stage != last || input == used[stage].end() || output == s.out.end() ||
          std::ranges::count(g_.outputs(), from) || std::ranges::count(g_.outputs(), into) != 1)
        continue;
      const auto at = static_cast<std::size_t>(input - used[stage].begin());
      s.consumes[at] = true;
      donations.push_back(
          {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(output - s.out.begin())});
    }
    s.program = compiled(s.traced, {guesses, donations, target.memory_limit}, skip, report);
  }
  for (Value v = 0; v < g_.value_count(); ++v)
    if (slot_[v] != kNever && used_last_[v] <= last)
      to.stretches_[used_last_[v]].is_last.push_back(slot_[v]);
  to.slot_count_ = slots_;
}

Stretches::Stretches(std::shared_ptr<Graph> graph, const Target& target,
                     const std::vector<std::string>& skip_passes, std::vector<PassReport>* report)
    : graph_(std::move(graph)) {
  const OutsideTraces finished;
  Cutter(*graph_).cut(*this, target, skip_passes, report);
}

std::size_t Stretches::step_count() const {
  std::size_t steps = 0;
  for (const Stretch& s : stretches_) steps += s.program->step_count() + s.finders.size();
  return steps;
}

std::int64_t Stretches::arena_bytes(const Sizes& sizes) const {
  const Sizes guesses = with_guesses(sizes);
  std::int64_t most = 0;
  for (const Stretch& s : stretches_)
    most = std::max(most, gradus::arena_bytes(s.program->graph(), guesses, {}));
  return most;
}

const Tensor& Stretches::at(const Source& source, std::span<const Tensor> in,
                            std::span<const Tensor> slots) const {
  if (source.kind == Source::Kind::constant) return source.constant;
  return source.kind == Source::Kind::input ? in[source.index] : slots[source.index];
}

void Stretches::run(Stretch& stretch, std::span<Tensor> in, std::span<Tensor> slots) {
  std::vector<Tensor> given, made(stretch.out.size());
  given.reserve(stretch.in.size());
  for (const Source& source : stretch.in) given.push_back(at(source, in, slots));
  const std::optional<Sizes> sizes = bind_sizes(*stretch.traced, given);
  GRADUS_ASSERT(sizes.has_value());
  stretch.served.check(*stretch.traced, *sizes);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (stretch.consumes[i]) in[stretch.in[i].index] = Tensor();
  const auto give_back = [&] {
    for (std::size_t i = 0; i < given.size(); ++i)
      if (stretch.consumes[i]) in[stretch.in[i].index] = std::move(given[i]);
  };
  try {
    stretch.program->run(given, made);
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
  for (std::size_t i = 0; i < made.size(); ++i) slots[stretch.out[i]] = std::move(made[i]);
}

void Stretches::find(const Finder& finder, std::span<const Tensor> in,
                     std::span<Tensor> slots) const {
  const Graph::Node& n = graph_->nodes()[finder.node];
  SmallVector<Tensor, 8> given;
  for (const Source& source : finder.in) given.push_back(at(source, in, slots));
  try {
    Tensors found = n.op->info.find(graph_->attrs(n), given);
    for (std::size_t i = 0; i < finder.out.size(); ++i) slots[finder.out[i]] = std::move(found[i]);
  } catch (...) {
    name_failed_step(n.where);
    throw;
  }
}

void Stretches::run(std::span<Tensor> in, std::span<Tensor> out) {
  std::vector<Tensor> slots(slot_count_);
  std::vector<BrokenGuard::Found> found;
  std::optional<Sizes> sizes = bind_sizes(*graph_, in);
  GRADUS_ASSERT(sizes.has_value());
  try {
    for (Stretch& stretch : stretches_) {
      run(stretch, in, slots);
      for (const Finder& finder : stretch.finders) {
        find(finder, in, slots);
        const Graph::Node& n = graph_->nodes()[finder.node];
        for (std::uint32_t o = 0; o < n.out_count; ++o)
          bind_found(*graph_, n.first_out + o, slots[finder.out[o]].shape(), *sizes, found);
      }
      if (!stretch.finders.empty()) check_guards(*graph_, *sizes);
      for (const std::uint32_t slot : stretch.is_last) slots[slot] = Tensor();
    }
  } catch (BrokenGuard& e) {
    e.found.insert(e.found.end(), found.begin(), found.end());
    throw;
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = at(outputs_[i], in, slots);
}

namespace {

// Whether a composite, a function with a rule of its own say, finds sizes inside.
bool hides_finders(const Graph& g) {
  return std::ranges::any_of(g.nodes(), [&](const Graph::Node& n) {
    if (n.op->kind != Kind::composite) return false;
    const auto* held = held_as<HasGraphs>(g, n);
    if (!held) return false;
    return std::ranges::any_of(held->inner_graphs(), [](const HasGraphs::Inner& inner) {
      return finds_sizes(*inner.graph) || hides_finders(*inner.graph);
    });
  });
}

}  // namespace

std::unique_ptr<Executable> compiled(const std::shared_ptr<Graph>& graph, const Target& target,
                                     const std::vector<std::string>& skip_passes,
                                     std::vector<PassReport>* report) {
  if (hides_finders(*graph)) return compiled(expand(*graph), target, skip_passes, report);
  if (finds_sizes(*graph)) {
    return std::make_unique<Executable>(
        std::make_unique<Stretches>(graph, target, skip_passes, report));
  }
  return std::make_unique<Executable>(optimise(graph, skip_passes, report, target),
                                      target.donations);
}

}  // namespace gradus
