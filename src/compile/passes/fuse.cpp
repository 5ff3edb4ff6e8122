#include "compile/passes/fuse.h"

#include <algorithm>
#include <queue>

#include "base/check.h"
#include "compile/fused_loop.h"
#include "compile/graph_copy.h"
#include "expr/expr.h"
#include "graph/block_kernels.h"
#include "graph/elementwise.h"
#include "graph/row_sums.h"

namespace gradus {
namespace {

using Value = Graph::Value;
using Node = Graph::Node;
using expr::Expr;

constexpr std::size_t kMaxNodes = 48;
constexpr std::int64_t kMaxSerialRow = 1 << 15;  // elements that one thread reduces alone
// Sums over rows: how long the rows may be, and how many there are at least.
constexpr std::int64_t kShortestSummed = 32, kLongestSummed = 8192, kFewestSummed = 32;

// How the fuser sees one op.
struct Expressible {
  bool yes = false;      // an expression over its domain, in a loop of its own if need be
  bool row_sum = false;  // a sum over rows: can end in a loop that is there
  int row_axes = 0;      // of a sum of everything 0: whatever the rows are
  const Shape* domain = nullptr;
};

// How many rows a domain has and how long they are; -1: known at run time only.
struct Rows {
  std::int64_t count = 1, length = 1;
  Rows(const Shape& domain, int row_axes) {
    for (int a = 0; a < domain.rank(); ++a) {
      std::int64_t& product = a < domain.rank() - row_axes ? count : length;
      product = !domain[a].is_known() || product < 0 ? -1 : product * std::int64_t{domain[a]};
    }
  }
};

struct Group {
  const Shape* domain;
  int row_axes = 0;
  std::int64_t stage = 0;
  std::vector<std::uint32_t> nodes;
  std::vector<Value> external;  // operands made elsewhere, each once
};

class Fuser {
 public:
  explicit Fuser(const Graph& g)
      : g_(g),
        group_of_(g.nodes().size(), kNone),
        stage_(g.nodes().size(), 0),
        reader_(g.value_count(), kNone),
        form_(g.value_count(), ResultForm::element) {}

  std::shared_ptr<Graph> run() {
    for (std::uint32_t k = 0; k < g_.nodes().size(); ++k) place(k);
    return emit();
  }

 private:
  static constexpr std::uint32_t kNone = ~0u;

  const Shape& shape(Value v) const { return g_.info(v).aval.shape; }
  bool is_constant(Value v) const { return g_.info(v).constant.defined(); }
  bool is_number(Value v) const {
    return is_constant(v) && shape(v).num_elements() == 1 && !is_complex(g_.info(v).aval.dtype);
  }
  // The group that makes a value, or kNone.
  std::uint32_t group(Value v) const {
    const std::int32_t maker = g_.info(v).node;
    return maker < 0 ? kNone : group_of_[static_cast<std::size_t>(maker)];
  }

  bool is_per_row(Value v) const { return form_[v] == ResultForm::per_row; }
  bool is_sum(Value v) const {
    return form_[v] == ResultForm::column_sums || form_[v] == ResultForm::total;
  }

  Expressible classify(const Node& n) const;
  Expressible classify_sum(const Node& n, const Call& call) const;
  bool is_per_row_form(const Shape& s, const Shape& domain, int row_axes) const;
  bool operands_fit(const Group& g, const Node& n, int row_axes) const;
  bool externals_fit(const Group& g, int row_axes) const;
  bool fits(std::uint32_t g, const Node& n, const Expressible& e) const;
  static int row_axes_with(const Group& g, const Expressible& e);
  bool sum_fits(const Group& g, const Node& n, const Expressible& e) const;
  bool merge(std::uint32_t into, std::uint32_t other);
  std::uint32_t sibling(const Node& n, const Expressible& e, std::int64_t stage) const;
  void join(std::uint32_t g, std::uint32_t k, const Expressible& e);
  void place(std::uint32_t k);

  // One unit of the new order: a node alone or a group.
  struct Unit {
    std::vector<std::uint32_t> nodes;
    std::uint32_t group = kNone;
  };
  std::vector<Unit> units_in_order() const;
  std::shared_ptr<Graph> emit();
  bool emit_loop(GraphCopy& copy, const Group& group, std::span<const std::uint32_t> nodes,
                 const std::vector<bool>& wanted);
  bool follows_blocks(const Group& group, std::span<const Value> operands) const;
  void emit_nodes(GraphCopy& copy, const Group& group, std::span<const std::uint32_t> nodes,
                  std::vector<bool>& wanted);

  const Graph& g_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_of_;  // by node
  std::vector<std::int64_t> stage_;      // by node
  std::vector<std::uint32_t> reader_;    // by value: the last group that reads it from outside
  std::vector<ResultForm> form_;         // by value: what it is in its group
  std::int64_t last_effect_ = -1;        // the stage of the last stateful node
};

Expressible Fuser::classify(const Node& n) const {
  Expressible e;
  for (Value v : g_.operands(n))
    if (is_complex(g_.info(v).aval.dtype)) return e;
  for (std::uint32_t i = 0; i < n.out_count; ++i)
    if (is_complex(g_.info(n.first_out + i).aval.dtype)) return e;
  if (n.in_count > expr::kMaxInputs || n.out_count > expr::kMaxOutputs) return e;
  e.domain = &shape(n.first_out);
  if (n.op->kind == Kind::elementwise) {
    e.yes = true;
    return e;
  }
  if (!n.op->info.expression) return e;
  if (n.op->info.row_axes) {
    SmallVector<View, 4> views;
    for (Value v : g_.operands(n)) views.push_back({nullptr, &shape(v), g_.info(v).aval.dtype});
    const Call call{*n.op, g_.attrs(n), views};
    e.row_axes = n.op->info.row_axes(call);
    if (e.row_axes < 0) return classify_sum(n, call);
    e.domain = &shape(g_.operands(n)[0]);
    const Rows rows(*e.domain, e.row_axes);
    const bool few_rows = e.row_axes == e.domain->rank() || (rows.count >= 0 && rows.count < 8);
    if (few_rows && (rows.length < 0 || rows.length > kMaxSerialRow)) return classify_sum(n, call);
  }
  e.yes = true;
  return e;
}

Expressible Fuser::classify_sum(const Node& n, const Call& call) const {
  Expressible e;
  const RowAxesFn leading_axes = RowSum::of(*n.op);
  const DType dtype = g_.info(n.first_out).aval.dtype;
  if (!leading_axes || (dtype != float32 && dtype != float64)) return e;
  e.domain = &shape(g_.operands(n)[0]);
  const int leading = leading_axes(call);
  e.row_sum = leading > 0 && e.domain->rank() > 1;
  e.row_axes = e.domain->rank() - leading;
  return e;
}

// The leading axes of the domain, with the axes of the row absent or 1.
bool Fuser::is_per_row_form(const Shape& s, const Shape& domain, int row_axes) const {
  const int lead = domain.rank() - row_axes;
  if (s.rank() != lead && s.rank() != domain.rank()) return false;
  for (int a = 0; a < s.rank(); ++a)
    if (a < lead ? s[a] != domain[a] : s[a] != 1) return false;
  return true;
}

bool Fuser::externals_fit(const Group& g, int row_axes) const {
  return std::all_of(g.external.begin(), g.external.end(), [&](Value v) {
    return row_role(shape(v), *g.domain, row_axes) != RowRole::none;
  });
}

// Operands of an op over the whole domain: those from outside must lie well against the rows, those
// of the group that have one element per row must broadcast along it.
bool Fuser::operands_fit(const Group& g, const Node& n, int row_axes) const {
  for (Value v : g_.operands(n)) {
    if (is_number(v)) continue;
    if (group(v) != kNone && &groups_[group(v)] == &g) {
      if (is_per_row(v)) {
        const RowRole role = row_role(shape(v), *g.domain, row_axes);
        if (role != RowRole::per_row && role != RowRole::scalar) return false;
      }
    } else if (row_axes > 0 && row_role(shape(v), *g.domain, row_axes) == RowRole::none) {
      return false;
    }
  }
  return true;
}

bool Fuser::fits(std::uint32_t id, const Node& n, const Expressible& e) const {
  const Group& g = groups_[id];
  if (g.nodes.size() >= kMaxNodes) return false;
  std::size_t external = g.external.size();
  for (Value v : g_.operands(n)) {
    if (group(v) == id && is_sum(v)) return false;  // known when the loop is done
    if (is_number(v) || group(v) == id) continue;
    external += std::find(g.external.begin(), g.external.end(), v) == g.external.end();
  }
  if (external > expr::kMaxInputs) return false;

  if (e.row_sum) return sum_fits(g, n, e);
  if (!e.yes) {  // a view between the two forms of one element per row
    return n.op->info.is_view && g.row_axes > 0 && is_per_row(g_.operands(n)[0]) &&
           is_per_row_form(shape(n.first_out), *g.domain, g.row_axes);
  }
  if (e.row_axes > 0) {
    if (!is_same(*e.domain, *g.domain) || (g.row_axes != 0 && g.row_axes != e.row_axes))
      return false;
    if (g.row_axes == 0 && !externals_fit(g, e.row_axes)) return false;
    return operands_fit(g, n, e.row_axes);
  }
  if (is_same(shape(n.first_out), *g.domain)) return operands_fit(g, n, g.row_axes);
  if (g.row_axes == 0 || !is_per_row_form(shape(n.first_out), *g.domain, g.row_axes)) return false;
  for (Value v : g_.operands(n)) {
    if (is_number(v)) continue;
    if (group(v) == id) {
      if (!is_per_row(v) || !is_same(shape(v), shape(n.first_out))) return false;
    } else {
      const RowRole role = row_role(shape(v), *g.domain, g.row_axes);
      const bool aligned = role == RowRole::per_row && is_same(shape(v), shape(n.first_out));
      if (!aligned && role != RowRole::scalar) return false;
    }
  }
  return true;
}

// The axes of a row once the op is in the group.
int Fuser::row_axes_with(const Group& g, const Expressible& e) {
  if (!e.row_sum || e.row_axes > 0) return std::max(g.row_axes, e.row_axes);
  return g.row_axes > 0 ? g.row_axes : 1;
}

bool Fuser::sum_fits(const Group& g, const Node& n, const Expressible& e) const {
  const int row_axes = row_axes_with(g, e);
  if (!is_same(*e.domain, *g.domain) || (g.row_axes != 0 && g.row_axes != row_axes)) return false;
  const Rows rows(*g.domain, row_axes);
  if (rows.length < kShortestSummed || rows.length > kLongestSummed) return false;
  if (rows.count >= 0 && rows.count < kFewestSummed) return false;
  if (g.row_axes == 0 && (follows_blocks(g, g.external) || !externals_fit(g, row_axes)))
    return false;
  return operands_fit(g, n, row_axes);
}

// Two groups of one stage have no path between them.
bool Fuser::merge(std::uint32_t into, std::uint32_t other) {
  Group &a = groups_[into], &b = groups_[other];
  if (!is_same(*a.domain, *b.domain) || a.nodes.size() + b.nodes.size() >= kMaxNodes) return false;
  const int row_axes = std::max(a.row_axes, b.row_axes);
  if (a.row_axes != b.row_axes) {
    if (a.row_axes != 0 && b.row_axes != 0) return false;
    if (!externals_fit(a, row_axes) || !externals_fit(b, row_axes)) return false;
  }
  std::vector<Value> external = a.external;
  for (Value v : b.external)
    if (std::find(external.begin(), external.end(), v) == external.end()) external.push_back(v);
  if (external.size() > expr::kMaxInputs) return false;
  a.row_axes = row_axes;
  a.external = std::move(external);
  for (Value v : b.external) reader_[v] = into;
  for (std::uint32_t k : b.nodes) group_of_[k] = into;
  a.nodes.insert(a.nodes.end(), b.nodes.begin(), b.nodes.end());
  b = Group{a.domain, 0, a.stage, {}, {}};
  return true;
}

// A group of the same stage that reads one of the node's operands: then it is read once for both.
// Nobody in a group waits for a sum over its rows, so that one can join a later stage, too.
std::uint32_t Fuser::sibling(const Node& n, const Expressible& e, std::int64_t stage) const {
  if (!e.yes && !e.row_sum) return kNone;
  for (Value v : g_.operands(n)) {
    const std::uint32_t id = reader_[v];
    if (id == kNone || !is_same(shape(v), *groups_[id].domain)) continue;
    const std::int64_t there = groups_[id].stage;
    if ((there == stage || (e.row_sum && there > stage)) && fits(id, n, e)) return id;
  }
  return kNone;
}

void Fuser::join(std::uint32_t id, std::uint32_t k, const Expressible& e) {
  const Node& n = g_.nodes()[k];
  Group& g = groups_[id];
  g.row_axes = row_axes_with(g, e);
  for (Value v : g_.operands(n)) {
    if (is_number(v) || group(v) == id) continue;
    if (std::find(g.external.begin(), g.external.end(), v) == g.external.end())
      g.external.push_back(v);
    reader_[v] = id;
  }
  g.nodes.push_back(k);
  group_of_[k] = id;
  stage_[k] = g.stage;
  for (std::uint32_t i = 0; i < n.out_count; ++i) {
    const bool element = is_same(shape(n.first_out + i), *g.domain);
    form_[n.first_out + i] = e.row_sum
                                 ? e.row_axes > 0 ? ResultForm::column_sums : ResultForm::total
                             : element ? ResultForm::element
                                       : ResultForm::per_row;
  }
}

void Fuser::place(std::uint32_t k) {
  const Node& n = g_.nodes()[k];
  const Expressible e = n.op->info.stateful ? Expressible{} : classify(n);
  std::vector<std::uint32_t> candidates;
  std::int64_t stage = 0;
  for (Value v : g_.operands(n)) {
    const std::int32_t maker = g_.info(v).node;
    if (maker < 0) continue;
    const std::uint32_t id = group(v);
    if (id != kNone && fits(id, n, e)) {
      candidates.push_back(id);
      stage = std::max(stage, groups_[id].stage);
    } else {
      stage = std::max(stage, stage_[static_cast<std::size_t>(maker)] + 1);
    }
  }
  if (n.op->info.stateful) {
    stage = std::max(stage, last_effect_ + 1);
    last_effect_ = stage;
  }
  std::uint32_t home = kNone;
  for (std::uint32_t id : candidates) {
    if (groups_[id].stage != stage || id == home) continue;
    if (home == kNone) {
      home = id;
    } else if (!merge(home, id)) {
      home = kNone;
      ++stage;  // behind both
      break;
    }
  }
  // A merge may have changed what fits.
  if (home != kNone && !fits(home, n, e)) {
    home = kNone;
    ++stage;
  }
  if (home == kNone) home = sibling(n, e, stage);
  if (home == kNone) {
    if (!e.yes) {
      stage_[k] = stage;
      return;
    }
    // A row op brings its own domain; results must have one element per row or per element.
    groups_.push_back({e.domain, e.row_axes, stage, {}, {}});
    home = static_cast<std::uint32_t>(groups_.size() - 1);
    bool clean = operands_fit(groups_[home], n, e.row_axes);
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      const Shape& s = shape(n.first_out + i);
      clean &= is_same(s, *e.domain) || is_per_row_form(s, *e.domain, e.row_axes);
    }
    if (!clean) {
      groups_.pop_back();
      stage_[k] = stage;
      return;
    }
  }
  join(home, k, e);
}

// The order of the old graph, as far as groups allow: each unit stands where its last node stood.
std::vector<Fuser::Unit> Fuser::units_in_order() const {
  std::vector<Unit> units;
  std::vector<std::uint32_t> unit_of(g_.nodes().size());
  std::vector<std::uint32_t> unit_of_group(groups_.size(), kNone);
  for (std::uint32_t k = 0; k < g_.nodes().size(); ++k) {
    const std::uint32_t id = group_of_[k];
    if (id != kNone && unit_of_group[id] != kNone) {
      unit_of[k] = unit_of_group[id];
    } else {
      unit_of[k] = static_cast<std::uint32_t>(units.size());
      if (id != kNone) unit_of_group[id] = unit_of[k];
      units.push_back({{}, id});
    }
    units[unit_of[k]].nodes.push_back(k);
  }
  std::vector<std::vector<std::uint32_t>> users(units.size());
  std::vector<std::uint32_t> waiting(units.size(), 0);
  const auto depend = [&](std::uint32_t user, std::uint32_t on) {
    if (user == on) return;
    users[on].push_back(user);
    ++waiting[user];
  };
  std::uint32_t last_effect = kNone;
  for (std::uint32_t k = 0; k < g_.nodes().size(); ++k) {
    const Node& n = g_.nodes()[k];
    for (Value v : g_.operands(n))
      if (g_.info(v).node >= 0)
        depend(unit_of[k], unit_of[static_cast<std::size_t>(g_.info(v).node)]);
    if (!n.op->info.stateful) continue;
    if (last_effect != kNone) depend(unit_of[k], last_effect);
    last_effect = unit_of[k];
  }
  using Entry = std::pair<std::uint32_t, std::uint32_t>;  // last node, unit
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (std::uint32_t u = 0; u < units.size(); ++u)
    if (waiting[u] == 0) ready.emplace(units[u].nodes.back(), u);
  std::vector<Unit> order;
  while (!ready.empty()) {
    const std::uint32_t u = ready.top().second;
    ready.pop();
    for (std::uint32_t user : users[u])
      if (--waiting[user] == 0) ready.emplace(units[user].nodes.back(), user);
    order.push_back(std::move(units[u]));
  }
  GRADUS_ASSERT(order.size() == units.size());
  return order;
}

std::vector<Expr> expressions(const Graph& g, const Node& n, expr::Builder& builder,
                              std::span<const Expr> in) {
  if (n.op->info.is_view) return {in[0]};
  if (n.op->kind == Kind::elementwise) {
    // Built apart and then put in place: a derivative must not see that operands depend on each
    // other.
    SmallVector<DType, 8> dtypes;
    for (Value v : g.operands(n)) dtypes.push_back(g.info(v).aval.dtype);
    const expr::Program alone = n.op->elementwise->program({dtypes.begin(), dtypes.size()},
                                                           g.info(n.first_out).aval.dtype, 0);
    return builder.append(alone, in);
  }
  SmallVector<View, 4> views;
  for (Value v : g.operands(n))
    views.push_back({nullptr, &g.info(v).aval.shape, g.info(v).aval.dtype});
  return n.op->info.expression({*n.op, g.attrs(n), views}, in);
}

// The value as it would be read back from memory.
Expr as_stored(Expr value, DType dtype) {
  if (value.type() != expr::type_of(dtype)) value = convert(value, expr::type_of(dtype));
  return narrow(value, dtype);
}

Expr number(expr::Builder& builder, const Tensor& t) {
  const expr::Type type = expr::type_of(t.dtype());
  if (!is_integer(t.dtype())) return builder.constant(type, t.item<double>());
  const auto bits = t.dtype() == uint64 ? t.item<std::uint64_t>()
                                        : static_cast<std::uint64_t>(t.item<std::int64_t>());
  return builder.constant_bits(type, expr::is_wide(type) ? bits : bits & 0xffffffffu);
}

// One loop for these nodes of a group. False if they need more operands or results than a loop has,
// or lie badly once they stand alone.
bool Fuser::emit_loop(GraphCopy& copy, const Group& group, std::span<const std::uint32_t> nodes,
                      const std::vector<bool>& wanted) {
  auto loop = std::make_shared<FusedLoop>();
  loop->domain = *group.domain;
  loop->row_axes = group.row_axes;
  expr::Builder builder;
  std::vector<std::pair<Value, Expr>> known;
  std::vector<Value> operands, results;
  const auto find = [&](Value v) -> const Expr* {
    for (const auto& [value, e] : known)
      if (value == v) return &e;
    return nullptr;
  };
  for (std::uint32_t k : nodes) {
    const Node& n = g_.nodes()[k];
    SmallVector<Expr, 8> in;
    for (Value v : g_.operands(n)) {
      const Expr* e = find(v);
      if (!e) {
        const DType dtype = g_.info(v).aval.dtype;
        if (is_number(v)) {
          known.emplace_back(v, number(builder, g_.info(v).constant));
        } else {
          if (operands.size() == expr::kMaxInputs) return false;
          if (group.row_axes > 0) {
            const RowRole role = row_role(shape(v), *group.domain, group.row_axes);
            // From the other half: [n] against [n, n] looks like a row, but has one for each.
            const bool of_group = this->group(v) != kNone && &groups_[this->group(v)] == &group;
            const bool mistaken =
                of_group && is_per_row(v) && role != RowRole::per_row && role != RowRole::scalar;
            if (role == RowRole::none || mistaken) return false;
            if (role == RowRole::per_row || role == RowRole::scalar)
              loop->one_per_row |= 1u << operands.size();
          }
          operands.push_back(v);
          known.emplace_back(v, builder.input(dtype));
        }
        e = &known.back().second;
      }
      in.push_back(*e);
    }
    const ResultForm form = form_[n.first_out];
    const std::vector<Expr> out = form == ResultForm::column_sums ? std::vector<Expr>{in[0]}
                                  : form == ResultForm::total
                                      ? std::vector<Expr>{expr::row_sum(in[0])}
                                      : expressions(g_, n, builder, {in.begin(), in.size()});
    if (!loop->members.empty()) loop->members += ", ";
    loop->members += n.op->name();
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      const Value v = n.first_out + i;
      known.emplace_back(v, as_stored(out[i], g_.info(v).aval.dtype));
      if (wanted[v]) results.push_back(v);
    }
  }
  if (results.size() > expr::kMaxOutputs) return false;
  for (Value v : results) {
    builder.output(*find(v), g_.info(v).aval.dtype);
    loop->out.push_back(g_.info(v).aval);
    loop->forms.push_back(form_[v]);
  }
  loop->program = builder.finish();
  SmallVector<Value, 8> in;
  for (Value v : operands) in.push_back(copy[v]);
  const FusedAttrs attrs{loop.get()};
  const AttributeTo line(g_.nodes()[nodes.back()].where);
  const Graph::Node made = copy.to().add(fused_op, &attrs, in);
  for (std::size_t i = 0; i < results.size(); ++i)
    copy.map(results[i], made.first_out + static_cast<Value>(i));
  return true;
}

// Whether one of these operands is what another op can hand out block by block: as a loop it can
// follow there (epilogue.h).
bool Fuser::follows_blocks(const Group& group, std::span<const Value> operands) const {
  return group.row_axes == 0 && std::ranges::any_of(operands, [&](Value v) {
           const std::int32_t maker = g_.info(v).node;
           return maker >= 0 && is_same(shape(v), *group.domain) &&
                  BlockKernel::of(*g_.nodes()[static_cast<std::size_t>(maker)].op);
         });
}

// As one loop, or as two halves where that is too much for one, or op by op.
void Fuser::emit_nodes(GraphCopy& copy, const Group& group, std::span<const std::uint32_t> nodes,
                       std::vector<bool>& wanted) {
  const Node& first = g_.nodes()[nodes[0]];
  bool alone = nodes.size() == 1 && (first.op->info.kernel || first.op->info.is_view) &&
               !follows_blocks(group, g_.operands(first));
  for (std::uint32_t i = 0; i < first.out_count; ++i) alone &= wanted[first.first_out + i];
  if (!alone && emit_loop(copy, group, nodes, wanted)) return;
  if (nodes.size() == 1) return copy.copy(first);
  const auto front = nodes.first(nodes.size() / 2), back = nodes.subspan(nodes.size() / 2);
  for (std::uint32_t k : back)
    for (Value v : g_.operands(g_.nodes()[k])) wanted[v] = true;
  emit_nodes(copy, group, front, wanted);
  emit_nodes(copy, group, back, wanted);
}

std::shared_ptr<Graph> Fuser::emit() {
  // Values that someone outside of their group reads.
  std::vector<bool> wanted(g_.value_count(), false);
  for (Value v : g_.outputs()) wanted[v] = true;
  for (std::uint32_t k = 0; k < g_.nodes().size(); ++k)
    for (Value v : g_.operands(g_.nodes()[k]))
      if (group(v) == kNone || group(v) != group_of_[k]) wanted[v] = true;

  GraphCopy copy(g_);
  for (const Unit& unit : units_in_order()) {
    if (unit.group == kNone) {
      copy.copy(g_.nodes()[unit.nodes[0]]);
    } else {
      emit_nodes(copy, groups_[unit.group], unit.nodes, wanted);
    }
  }
  return copy.finish();
}

}  // namespace

std::shared_ptr<Graph> fuse(const Graph& graph) { return Fuser(graph).run(); }

}  // namespace gradus
