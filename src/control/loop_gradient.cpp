// Derivatives of loops are loops.
//
// Reverse mode: the loop once more, with stacks of what its reverse will read (where the loop
// itself is in the same program, it is replaced by this one: merge_loops.h), then a loop over these
// stacks from the last row to the first, which carries cotangents and sums of gradients of
// captures.
//
// What is kept: the carries after each iteration (before it: the same, shifted), and results of
// expensive ops. The rest is computed again from these, fused into the reverse. Values that do not
// change from one iteration to the next are captures and are not kept.
#include <algorithm>

#include "autodiff/rules.h"
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

std::vector<bool> are_defined(std::span<const Tensor> tensors) {
  std::vector<bool> defined;
  for (const Tensor& t : tensors) defined.push_back(t.defined());
  return defined;
}

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

  // What the reverse reads of the forward iteration becomes rows of stacks, or is computed again.
  void cut(Pull& pull) {
    const auto linear = depends_on(inputs_, g_.inputs().size());
    const auto changing = depends_on(0, loop_.carries + loop_.xs);
    const std::size_t xs_at = loop_.carries, captures_at = loop_.carries + loop_.xs;
    std::vector<std::int64_t> input_of(g_.value_count(), -1);
    for (std::size_t i = 0; i < inputs_; ++i)
      input_of[g_.inputs()[i]] = static_cast<std::int64_t>(i);
    std::map<Value, std::size_t> output_of;  // forward values that the iteration gives away
    for (const auto& [here, there] : forward_)
      for (std::size_t k = 0; k < body_.outputs().size(); ++k)
        if (body_.outputs()[k] == there) output_of.try_emplace(here, k);

    const auto result = Graph::make_like(g_);
    std::vector<Value> now(g_.value_count(), kNone);
    for (std::size_t k = 0; k < pull.carries.size(); ++k)  // cotangents of carries, then sums
      now[g_.inputs()[inputs_ + k]] = result->add_input(g_.info(g_.inputs()[inputs_ + k]).aval);
    const std::size_t sums_at = inputs_ + carry_cts_.size() + y_cts_.size();
    for (std::size_t k = 0; k < pull.captures.size(); ++k)
      now[g_.inputs()[sums_at + k]] = result->add_input(g_.info(g_.inputs()[sums_at + k]).aval);
    const auto take = [&](Value v, Pull::Stack stack) {
      now[v] = result->add_input(g_.info(v).aval);
      pull.stacks.push_back(stack);
    };
    for (std::size_t k = 0; k < y_cts_.size(); ++k)
      take(g_.inputs()[inputs_ + carry_cts_.size() + k],
           {Pull::Stack::cotangent, y_cts_[k] - loop_.carries});

    // From the results backwards: what is needed, and where it comes from.
    std::vector<Value> kept;  // of the body: further stacks of the saving loop
    const auto keep = [&](Value there) {
      const auto at = std::ranges::find(kept, there);
      if (at == kept.end()) kept.push_back(there);
      return loop_.ys + static_cast<std::size_t>(std::ranges::find(kept, there) - kept.begin());
    };
    std::vector<bool> needed(g_.value_count(), false);
    for (Value v : results_) needed[v] = true;
    // What has a size that each iteration finds has no place in a stack: it is computed again, and
    // the size is found again.
    const bool finds = finds_sizes(g_);
    for (const Graph::Node& n : g_.nodes())
      for (std::uint32_t i = 0; n.op->info.find && i < n.out_count; ++i)
        needed[n.first_out + i] = true;
    std::vector<std::pair<Value, std::size_t>> unchanged;
    const auto visit = [&](Value v) {  // false: it is computed here
      if (now[v] != kNone || g_.info(v).constant.defined()) return true;
      if (linear[v]) return false;
      const std::int64_t input = input_of[v];
      if (input >= static_cast<std::int64_t>(captures_at)) return true;
      if (input >= static_cast<std::int64_t>(xs_at)) {
        take(v, {Pull::Stack::given, static_cast<std::size_t>(input) - xs_at});
        return true;
      }
      if (input >= 0) {
        const auto i = static_cast<std::size_t>(input);
        if (body_.outputs()[i] == body_.inputs()[i]) {
          unchanged.emplace_back(v, i);
        } else {
          take(v, {Pull::Stack::before, i, keep(body_.outputs()[i])});
        }
        return true;
      }
      const auto given_away = output_of.find(v);
      if (given_away != output_of.end()) {
        const std::size_t k = given_away->second;
        take(v,
             {Pull::Stack::made, k < loop_.carries ? keep(body_.outputs()[k]) : k - loop_.carries});
        return true;
      }
      const auto there = forward_.find(v);
      if (there == forward_.end() || !changing[v] || finds) return false;
      if (!is_expensive(g_.nodes()[static_cast<std::size_t>(g_.info(v).node)])) return false;
      take(v, {Pull::Stack::made, keep(there->second)});
      return true;
    };
    std::vector<bool> computed(g_.nodes().size(), false);
    for (std::size_t k = g_.nodes().size(); k-- > 0;) {
      const Graph::Node& n = g_.nodes()[k];
      for (std::uint32_t i = 0; i < n.out_count; ++i) {
        const Value v = n.first_out + i;
        if (needed[v] && !visit(v)) computed[k] = true;
      }
      if (computed[k])
        for (Value v : g_.operands(n)) needed[v] = true;
    }
    for (std::size_t i = 0; i < inputs_; ++i)
      if (needed[g_.inputs()[i]]) visit(g_.inputs()[i]);
    for (std::size_t i = captures_at; i < inputs_; ++i)
      now[g_.inputs()[i]] = result->add_input(g_.info(g_.inputs()[i]).aval);
    for (const auto& [v, i] : unchanged) {
      now[v] = result->add_input(g_.info(v).aval);
      pull.unchanged.push_back(i);
    }

    const TraceScope scope(*result);
    const auto mapped = [&](Value v) {
      if (now[v] == kNone) now[v] = result->add_constant(g_.info(v).constant);
      return now[v];
    };
    for (std::size_t k = 0; k < g_.nodes().size(); ++k) {
      if (!computed[k]) continue;
      const Graph::Node& n = g_.nodes()[k];
      const AttributeTo line(n.where);
      SmallVector<Value, 8> in;
      for (Value v : g_.operands(n)) in.push_back(mapped(v));
      const Graph::Node copy = result->add(*n.op, g_.attrs(n), in);
      for (std::uint32_t i = 0; i < n.out_count; ++i)
        if (now[n.first_out + i] == kNone) now[n.first_out + i] = copy.first_out + i;
    }
    std::vector<Value> outputs;
    for (Value v : results_) outputs.push_back(mapped(v));
    result->set_outputs(std::move(outputs));

    const auto reverse = std::make_shared<CountedLoop>();
    reverse->body = std::make_shared<Region>(result);
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
    pull.reverse = reverse;
    pull.saving = saving(kept);
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

  static constexpr Value kNone = ~0u;
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
