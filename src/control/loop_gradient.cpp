// Derivatives of loops are loops.
//
// Reverse mode: the loop once more, with stacks of what its reverse will read (where the loop
// itself is in the same program, it is replaced by this one: compile/passes/clean.cpp), then a loop
// over these stacks from the last row to the first, which carries cotangents and sums of gradients
// of captures.
//
// What is kept: the carries after each iteration (before it: the same, shifted), and results of
// expensive ops. The rest is computed again from these, fused into the reverse. Values that do not
// change from one iteration to the next are captures and are not kept.
#include <algorithm>

#include "autodiff/some_inputs.h"
#include "base/check.h"
#include "compile/graph_copy.h"
#include "control/loop_pull.h"
#include "gradus/ops.h"
#include "graph/evaluate.h"
#include "graph/found_size.h"
#include "tensor/tensor_impl.h"

namespace gradus {

using Value = Graph::Value;

namespace {

// Which values of a region depend on some of its inputs through derivatives.
std::vector<bool> varied_values(const Graph& g, const std::vector<bool>& inputs) {
  std::vector<bool> varied(g.value_count(), false);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]) varied[g.inputs()[i]] = true;
  for (const Graph::Node& n : g.nodes()) {
    const auto in = g.operands(n);
    bool any = false;
    for (std::size_t i = 0; i < in.size(); ++i)
      any = any || (varied[in[i]] && n.op->is_differentiable_in(static_cast<int>(i)));
    for (std::uint32_t i = 0; any && i < n.out_count; ++i)
      varied[n.first_out + i] = is_differentiable(g.info(n.first_out + i).aval.dtype);
  }
  return varied;
}

// Which carries change with what is wanted, in any number of iterations.
std::vector<bool> varied_inputs(const CountedLoop& loop, std::vector<bool> wanted) {
  const Graph& g = loop.body->graph();
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<bool> varied = varied_values(g, wanted);
    for (std::size_t i = 0; i < loop.carries; ++i) {
      if (wanted[i] || !varied[g.outputs()[i]]) continue;
      wanted[i] = changed = true;
    }
  }
  return wanted;
}

// Not worth computing twice.
bool is_expensive(const Graph::Node& n) {
  if (n.op->info.is_view || n.op->info.expression) return false;
  return n.op->kind == Kind::bilinear || n.op->kind == Kind::general ||
         (n.op->kind == Kind::composite && n.op->info.kernel);
}

// The reverse of one iteration, traced; then cut into what is kept and what is computed from it.
class ReverseBody {
 public:
  using Pull = CountedLoop::Pull;

  ReverseBody(const CountedLoop& loop, const std::vector<bool>& varied,
              const std::vector<bool>& carry_cts, const std::vector<bool>& y_cts)
      : loop_(loop), body_(loop.body->graph()), builder_(body_), g_(builder_.graph()) {
    const Region& region = *loop.body;
    std::vector<Tensor> in;
    for (std::size_t i = 0; i < region.input_count(); ++i)
      in.push_back(builder_.add_input(region.input(i)));
    inputs_ = in.size();
    std::vector<Cotangent> cts;
    for (std::size_t i = 0; i < loop.carries + loop.ys; ++i) {
      const bool given = i < loop.carries ? carry_cts[i] : y_cts[i - loop.carries];
      cts.push_back(given ? Cotangent(builder_.add_input(region.output(i))) : Cotangent());
      if (given) (i < loop.carries ? carry_cts_ : y_cts_).push_back(i);
    }
    builder_.inside([&] { trace(in, varied, cts); });
  }

  // Carries whose cotangent before the iteration is not zero.
  const std::vector<bool>& reached() const { return reached_; }

  std::shared_ptr<Pull> finish() {
    auto pull = std::make_shared<Pull>();
    for (std::size_t i : carry_cts_) pull->carries.push_back(i);
    pull->captures = captures_;
    pull->xs = xs_;
    cut(*pull);
    return pull;
  }

 private:
  void trace(const std::vector<Tensor>& in, const std::vector<bool>& varied,
             const std::vector<Cotangent>& cts) {
    std::vector<Value> all;
    for (Value v = 0; v < body_.value_count(); ++v)
      if (body_.info(v).node >= 0) all.push_back(v);
    SmallVector<Tensor, 8> active;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!varied[i]) continue;
      active.push_back(in[i]);
      which.push_back(i);
    }
    const auto found = vjp_of(
        [&](std::span<const Tensor> x) {
          SmallVector<Tensor, 8> primals(in.begin(), in.end());
          for (std::size_t k = 0; k < which.size(); ++k) primals[which[k]] = x[k];
          // Every value of the iteration has a name here, and the reverse below uses these names.
          const std::vector<Tensor> values = evaluate(body_, primals, all, body_.nodes().size());
          std::map<Value, Tensor> made;
          for (std::size_t i = 0; i < all.size(); ++i) {
            forward_.emplace(g_.value(values[i]), all[i]);
            made.emplace(all[i], values[i]);
          }
          for (std::size_t i = 0; i < primals.size(); ++i)
            made.emplace(body_.inputs()[i], primals[i]);
          Tensors out;
          for (Value v : body_.outputs())
            out.push_back(made.contains(v) ? made[v] : body_.info(v).constant);
          return out;
        },
        active, ~0u, cts);
    reached_.assign(loop_.carries, false);
    std::vector<Tensor> carries(loop_.carries), sums, rows;
    for (std::size_t k = 0; k < which.size(); ++k) {
      if (found[k].is_zero()) continue;
      const std::size_t i = which[k];
      if (i < loop_.carries) {
        reached_[i] = true;
        carries[i] = dense(found[k]);
      } else if (i < loop_.carries + loop_.xs) {
        xs_.push_back(i - loop_.carries);
        rows.push_back(dense(found[k]));
      } else {
        captures_.push_back(i - loop_.carries - loop_.xs);
        const Tensor sum = g_.tensor(g_.add_input(loop_.body->input(i)));
        sums.push_back(
            found[k].is_rows()
                ? tensor_scatter_nd_add(sum, expand_dims(found[k].indices(), -1), found[k].value())
                : sum + dense(found[k]));
      }
    }
    const auto give = [&](const Tensor& t) { results_.push_back(g_.value(t)); };
    for (std::size_t i : carry_cts_) {
      const Aval aval = loop_.body->input(i);
      give(carries[i].defined() ? carries[i] : zeros(aval.shape, aval.dtype));
    }
    for (const Tensor& t : sums) give(t);
    for (const Tensor& t : rows) give(t);
  }

  std::vector<bool> depends_on(std::size_t first_input, std::size_t last_input) const {
    std::vector<bool> depends(g_.value_count(), false);
    for (std::size_t i = first_input; i < last_input; ++i) depends[g_.inputs()[i]] = true;
    for (const Graph::Node& n : g_.nodes()) {
      const auto in = g_.operands(n);
      const bool any = std::ranges::any_of(in, [&](Value v) { return depends[v]; });
      for (std::uint32_t i = 0; any && i < n.out_count; ++i) depends[n.first_out + i] = true;
    }
    return depends;
  }

  // The body of the reverse loop: cotangents of carries and sums come first, then rows of stacks,
  // then what is the same in every iteration.
  void cut(Pull& pull) {
    std::vector<Value> cotangents(g_.inputs().begin() + static_cast<std::ptrdiff_t>(inputs_),
                                  g_.inputs().end());
    const auto ys = cotangents.begin() + static_cast<std::ptrdiff_t>(carry_cts_.size());
    std::rotate(ys, ys + static_cast<std::ptrdiff_t>(y_cts_.size()), cotangents.end());
    GraphCopy reverse(g_, cotangents);
    for (std::size_t i : y_cts_) pull.stacks.push_back({Pull::Stack::cotangent, i - loop_.carries});

    Sources sources = find_sources(reverse, pull);
    for (std::size_t i = captures_at(); i < inputs_; ++i) reverse.add_input(g_.inputs()[i]);
    for (std::size_t i : sources.unchanged) {
      reverse.add_input(g_.inputs()[i]);
      pull.unchanged.push_back(i);
    }
    reverse.copy_nodes(sources.computed);
    pull.reverse = reverse_loop(pull, reverse.finish(results_));
    pull.saving = saving(sources.kept);
  }

  // Where the reverse of an iteration takes values of the forward one from, other than stacks.
  struct Sources {
    std::vector<bool> computed;          // nodes: again
    std::vector<Value> kept;             // of the body: further stacks of the saving loop
    std::vector<std::size_t> unchanged;  // carries that every iteration gives back as they came
  };

  // From the results backwards: what is needed, and where it comes from. What the reverse reads of
  // the forward iteration becomes rows of stacks, or is computed again.
  Sources find_sources(GraphCopy& reverse, Pull& pull) {
    Sources sources{std::vector<bool>(g_.nodes().size(), false), {}, {}};
    std::vector<bool> needed(g_.value_count(), false);
    for (Value v : results_) needed[v] = true;
    // What has a size that each iteration finds has no place in a stack: it is computed again, and
    // the size is found again.
    for (const Graph::Node& n : g_.nodes())
      for (std::uint32_t i = 0; n.op->info.find && i < n.out_count; ++i)
        needed[n.first_out + i] = true;
    const auto is_linear = depends_on(inputs_, g_.inputs().size());
    const auto changes = depends_on(0, captures_at());
    const std::map<Value, std::size_t> given_away = results_of_iteration();
    const bool finds = finds_sizes(g_);
    const auto take = [&](Value v, Pull::Stack stack) {
      reverse.add_input(v);
      pull.stacks.push_back(stack);
    };
    const auto is_taken = [&](Value v) {  // false: it is computed here
      if (reverse.has(v) || g_.info(v).constant.defined()) return true;
      if (is_linear[v]) return false;
      if (const auto result = given_away.find(v); result != given_away.end()) {
        const std::size_t k = result->second;
        take(v, {Pull::Stack::made,
                 k < loop_.carries ? keep(sources, body_.outputs()[k]) : k - loop_.carries});
        return true;
      }
      const auto there = forward_.find(v);
      if (there == forward_.end() || !changes[v] || finds) return false;
      if (!is_expensive(g_.nodes()[static_cast<std::size_t>(g_.info(v).node)])) return false;
      take(v, {Pull::Stack::made, keep(sources, there->second)});
      return true;
    };
    for (std::size_t k = g_.nodes().size(); k-- > 0;) {
      const Graph::Node& n = g_.nodes()[k];
      for (Value v = n.first_out; v < n.first_out + n.out_count; ++v)
        if (needed[v] && !is_taken(v)) sources.computed[k] = true;
      if (sources.computed[k])
        for (Value v : g_.operands(n)) needed[v] = true;
    }
    for (std::size_t i = 0; i < captures_at(); ++i) {
      const Value v = g_.inputs()[i];
      if (!needed[v]) continue;
      if (i >= loop_.carries) {
        take(v, {Pull::Stack::given, i - loop_.carries});
      } else if (body_.outputs()[i] == body_.inputs()[i]) {
        sources.unchanged.push_back(i);
      } else {
        take(v, {Pull::Stack::before, i, keep(sources, body_.outputs()[i])});
      }
    }
    return sources;
  }

  // The stack of this value of the body that the saving loop makes.
  std::size_t keep(Sources& sources, Value there) const {
    const auto at = std::ranges::find(sources.kept, there);
    const auto index = static_cast<std::size_t>(at - sources.kept.begin());
    if (at == sources.kept.end()) sources.kept.push_back(there);
    return loop_.ys + index;
  }

  // Values of the forward iteration here that it gives away, and as which of its results.
  std::map<Value, std::size_t> results_of_iteration() const {
    std::map<Value, std::size_t> results;
    for (const auto& [here, there] : forward_)
      for (std::size_t k = 0; k < body_.outputs().size(); ++k)
        if (body_.outputs()[k] == there) results.try_emplace(here, k);
    return results;
  }

  std::shared_ptr<const CountedLoop> reverse_loop(const Pull& pull,
                                                  std::shared_ptr<Graph> body) const {
    const auto reverse = std::make_shared<CountedLoop>();
    reverse->body = std::make_shared<Region>(std::move(body));
    reverse->carries = pull.carries.size() + pull.captures.size();
    reverse->xs = pull.stacks.size();
    reverse->ys = pull.xs.size();
    reverse->backwards = !loop_.backwards;
    reverse->memory_limit = loop_.memory_limit;
    std::int32_t firsts = 0;
    for (const Pull::Stack& s : pull.stacks) {
      CountedLoop::Shift shift;
      if (s.kind == Pull::Stack::given) shift = loop_.shifts[s.index];
      if (s.kind == Pull::Stack::before) shift = {0, loop_.backwards ? 1 : -1};
      if (shift.first >= 0) shift.first = firsts++;
      reverse->shifts.push_back(shift);
    }
    return reverse;
  }

  // The loop, with further stacks as results; null if it needs none.
  std::shared_ptr<const CountedLoop> saving(const std::vector<Value>& kept) const {
    if (kept.empty()) return nullptr;
    GraphCopy copy(body_);
    for (const Graph::Node& n : body_.nodes()) copy.copy(n);
    const auto graph = copy.finish();
    std::vector<Value> outputs = graph->outputs();
    for (Value v : kept) outputs.push_back(copy[v]);
    graph->set_outputs(std::move(outputs));
    const auto loop = loop_.with_body(std::make_shared<Region>(graph));
    loop->extends = loop_.id;
    return loop;
  }

  std::size_t captures_at() const { return loop_.carries + loop_.xs; }  // among the inputs

  const CountedLoop& loop_;
  Graph& body_;
  RegionBuilder builder_;
  Graph& g_;
  std::size_t inputs_ = 0;                      // of the forward iteration
  std::vector<std::size_t> carry_cts_, y_cts_;  // results of the body that have a cotangent
  std::vector<std::size_t> captures_, xs_;      // that get a gradient
  std::vector<bool> reached_;
  std::vector<Value> results_;
  std::map<Value, Value> forward_;  // a value of the forward iteration here -> in the body
};

// What derivatives repeat.
std::shared_ptr<const CountedLoop> without_effects(const std::shared_ptr<const CountedLoop>& loop) {
  const auto pure = loop->body->is_stateful() ? loop->without_effects() : nullptr;
  return pure ? std::static_pointer_cast<const CountedLoop>(pure) : loop;
}

}  // namespace

std::shared_ptr<const CountedLoop::Pull> find_pull(const CountedLoop& loop,
                                                   const std::vector<bool>& wanted,
                                                   const std::vector<bool>& given) {
  const CountedLoop::Key key(wanted, given);
  {
    const std::lock_guard lock(loop.mutex);
    if (const auto known = loop.pulls.find(key); known != loop.pulls.end()) return known->second;
  }
  if (!loop.may_repeat()) {
    fail<UnimplementedError>(
        "[gradient] the body of a loop draws random numbers, and its gradient, which runs it "
        "again, would draw others; draw them outside and use them inside");
  }
  const std::vector<bool> varied = varied_inputs(loop, wanted);
  std::vector<bool> carry_cts, y_cts;
  for (std::size_t i = 0; i < loop.carries; ++i) carry_cts.push_back(given[i] && varied[i]);
  const auto outputs = varied_values(loop.body->graph(), varied);
  for (std::size_t i = 0; i < loop.ys; ++i)
    y_cts.push_back(given[loop.carries + i] &&
                    outputs[loop.body->graph().outputs()[loop.carries + i]]);
  std::shared_ptr<CountedLoop::Pull> pull;
  while (!pull) {  // until no further carry has a cotangent
    ReverseBody reverse(loop, varied, carry_cts, y_cts);
    bool more = false;
    for (std::size_t i = 0; i < loop.carries; ++i) {
      if (!reverse.reached()[i] || carry_cts[i]) continue;
      carry_cts[i] = more = true;
    }
    if (!more) pull = reverse.finish();
  }
  const std::lock_guard lock(loop.mutex);
  return loop.pulls.try_emplace(key, std::move(pull)).first->second;
}

namespace {

// What iterations see of a stack that is shifted by -1: gradients of row 0 are those of the first,
// or zeros if there is none; those from row 1 on belong to the stack, one up. By 1: from the other
// end.
Tensor is_row(Size count, const Tensor& row, int rank) {
  Shape column{count};
  for (int i = 1; i < rank; ++i) column.push_back(1);
  return reshape(equal(iota(count, int64), row), column);
}
Tensor row_at_edge(Size count, bool last) {
  return last ? dynamic_size(count) - 1 : Tensor(std::int64_t{0});
}
Tensor first_of(const Tensor& rows, Size count, std::int32_t by) {
  const Tensor at_edge = is_row(count, row_at_edge(count, by > 0), rows.rank());
  return reduce_sum(where(at_edge, rows, zeros({}, rows.dtype())), {0});
}
Tensor unshifted(const Tensor& rows, Size count, std::int32_t by) {
  const Tensor from = iota(count, int64) - std::int64_t{by};
  const Tensor inside = maximum(minimum(from, dynamic_size(count) - 1), std::int64_t{0});
  const Tensor beyond = is_row(count, row_at_edge(count, by < 0), rows.rank());
  return where(beyond, zeros({}, rows.dtype()), gather(rows, inside));
}

}  // namespace

Tensors reverse_with_stacks(const CountedLoop& loop, const CountedLoop::Pull& pull,
                            const std::vector<bool>& given, Size count,
                            std::span<const Tensor> all) {
  const auto operands = all.first(loop.captures_at() + loop.captures());
  std::vector<Tensor> cts;
  for (std::size_t i = 0, next = operands.size(); i < given.size(); ++i)
    cts.push_back(given[i] ? all[next++] : Tensor());
  Tensors made;
  if (pull.saving) {
    made = run_counted(pull.saving, count, operands);
  } else if (loop.ys > 0) {
    made = run_counted(std::static_pointer_cast<const CountedLoop>(loop.shared_from_this()), count,
                       operands);
  }
  std::vector<Tensor> in, first;
  for (std::size_t i : pull.carries)
    in.push_back(cts[i].defined() ? cts[i] : zeros_like(operands[i]));
  for (std::size_t i : pull.captures) in.push_back(zeros_like(operands[loop.captures_at() + i]));
  using Stack = CountedLoop::Pull::Stack;
  for (const Stack& s : pull.stacks) {
    switch (s.kind) {
      case Stack::before:
        in.push_back(made[loop.carries + s.after]);
        first.push_back(operands[s.index]);
        break;
      case Stack::made:
        in.push_back(made[loop.carries + s.index]);
        break;
      case Stack::given:
        in.push_back(operands[loop.carries + s.index]);
        if (loop.shifts[s.index].first >= 0)
          first.push_back(operands[loop.carries + loop.xs +
                                   static_cast<std::size_t>(loop.shifts[s.index].first)]);
        break;
      case Stack::cotangent:
        in.push_back(cts[loop.carries + s.index]);
    }
  }
  in.insert(in.end(), first.begin(), first.end());
  in.insert(in.end(), operands.begin() + static_cast<std::ptrdiff_t>(loop.captures_at()),
            operands.end());
  for (std::size_t i : pull.unchanged) in.push_back(operands[i]);
  return run_counted(pull.reverse, count, in);
}

void pull_counted(const std::shared_ptr<const CountedLoop>& given, Size count,
                  std::span<const Tensor> operands, std::span<const Tensor> cts,
                  const std::vector<bool>& wanted, std::span<Cotangent> grads,
                  const Tensor& states) {
  const auto loop = without_effects(given);
  const std::size_t captures_at = loop->captures_at();
  // What the body sees: a shifted stack is wanted if its rows or its first row are.
  std::vector<bool> inner;
  for (std::size_t i = 0; i < loop->carries + loop->xs; ++i) inner.push_back(wanted[i]);
  for (std::size_t i = 0; i < loop->xs; ++i)
    if (loop->shifts[i].first >= 0 &&
        wanted[loop->carries + loop->xs + static_cast<std::size_t>(loop->shifts[i].first)])
      inner[loop->carries + i] = true;
  for (std::size_t i = captures_at; i < wanted.size(); ++i) inner.push_back(wanted[i]);
  const auto pull = find_pull(*loop, inner, are_defined(cts));
  if (pull->carries.empty() && pull->captures.empty() && pull->xs.empty()) return;

  std::vector<Tensor> in(operands.begin(), operands.end());
  const std::vector<bool> with_ct = are_defined(cts);
  for (const Tensor& ct : cts)
    if (ct.defined()) in.push_back(ct);
  if (states.defined()) in.push_back(states);
  const Tensors found = needs_checkpoints(*loop, *pull, count, operands)
                            ? reverse_with_checkpoints(loop, pull, inner, with_ct, count, in)
                            : reverse_with_stacks(*loop, *pull, with_ct, count, in);

  std::size_t next = 0;
  for (std::size_t i : pull->carries) {
    if (wanted[i]) grads[i] = found[next];
    ++next;
  }
  for (std::size_t i : pull->captures) grads[captures_at + i] = found[next++];
  for (std::size_t i : pull->xs) {
    const Tensor& rows = found[next++];
    if (loop->shifts[i].first < 0) {
      grads[loop->carries + i] = rows;
      continue;
    }
    const std::size_t at =
        loop->carries + loop->xs + static_cast<std::size_t>(loop->shifts[i].first);
    if (wanted[at]) grads[at] = first_of(rows, count, loop->shifts[i].by);
    if (wanted[loop->carries + i])
      grads[loop->carries + i] = unshifted(rows, count, loop->shifts[i].by);
  }
}

std::vector<std::size_t> reached_operands(const CountedLoop& loop, const std::vector<bool>& wanted,
                                          const std::vector<bool>& given) {
  const auto pure = loop.body->is_stateful() ? loop.without_effects() : nullptr;
  const auto pull = find_pull(pure ? static_cast<const CountedLoop&>(*pure) : loop, wanted, given);
  std::vector<std::size_t> reached = pull->carries;
  for (std::size_t i : pull->captures) reached.push_back(loop.carries + i);
  return reached;
}

}  // namespace gradus
