// Custom calls inside graphs. A closure cannot be a node: it holds tensors of the trace that made
// it. So the function and the rule that the user wrote are traced once, one behind the other, into
// a small graph of their own; running the node, or its rule, runs the nodes of that graph.
#include <algorithm>
#include <map>

#include "autodiff/custom_call.h"
#include "autodiff/rules.h"
#include "base/check.h"
#include "gradus/ops.h"
#include "graph/bind.h"
#include "graph/context.h"
#include "graph/evaluate.h"
#include "graph/graph.h"
#include "graph/inner_graphs.h"
#include "ops/seed_log.h"
#include "ops/seed_nodes.h"

namespace gradus {
namespace {

constexpr Graph::Value kNothing = ~0u;

// Whether running a graph draws random numbers: then it gives others each time.
bool draws(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [&](const Graph::Node& n) {
    if (n.op == &next_seeds_op) return true;
    for (const AttrField& field : n.op->attrs().fields) {
      if (field.kind != AttrKind::held) continue;
      const auto* at = static_cast<const std::byte*>(graph.attrs(n)) + field.offset;
      const auto* inside = dynamic_cast<const HasGraphs*>(*reinterpret_cast<Held* const*>(at));
      if (!inside) continue;
      for (const HasGraphs::Inner& inner : inside->inner_graphs())
        if (draws(*inner.graph)) return true;
    }
    return false;
  });
}

class TracedCall final : public CustomCall, public HasGraphs {
 public:
  TracedCall(const Op& op, CustomCall& call, std::vector<Tensor>& operands)
      : graph_(Graph::make_beside_trace()), rule_(call.rule()) {
    const OuterSeeds seeds(*graph_, thread_context.graph);
    const TraceScope scope(*graph_);
    for (const Tensor& t : operands) add_input(t.dtype(), t.shape());
    SmallVector<Tensor, 8> in = tensors(inputs_);
    const Tensors out = call.run(in);
    for (const Variable& v : call.variables()) {
      operands.push_back(v.value());
      add_input(v.dtype(), v.shape());
    }
    in = tensors(inputs_);
    for (const Tensor& t : out) results_.push_back(graph_->value(t));
    forward_nodes_ = graph_->nodes().size();
    draws_ = draws(*graph_);

    std::vector<Graph::Value> given;  // cotangents or tangents
    SmallVector<Aval, 4> avals;
    for (Graph::Value v : inputs_) avals.push_back(graph_->info(v).aval);
    const Site site{op, nullptr, in, out, avals};
    if (rule_ == Rule::pull) {
      for (Graph::Value v : results_) given.push_back(graph_->add_input(graph_->info(v).aval));
      for (const Cotangent& g : call.pull(site, tensors(given)))
        derivatives_.push_back(g.is_zero() ? kNothing : graph_->value(dense(g)));
    } else if (rule_ == Rule::push) {
      tangents_ = avals.size();
      for (const Aval& aval : avals) given.push_back(graph_->add_input(aval));
      SmallVector<Tensor, 8> tangents = tensors(given);
      for (Tensor& t : tangents)
        if (!is_differentiable(t.dtype())) t = Tensor();
      for (const Tensor& t : call.push(site, tangents))
        derivatives_.push_back(t.defined() ? graph_->value(t) : kNothing);
    }
    capture(operands);
    std::vector<Graph::Value> all = inputs_;
    all.insert(all.end(), given.begin(), given.end());
    graph_->set_inputs(std::move(all));
    graph_->close();
  }

  Tensors run(std::span<const Tensor> in) override {
    const auto out = evaluate(*graph_, in, results_, forward_nodes_);
    return Tensors(out.begin(), out.end());
  }

  SmallVector<Cotangent, 4> pull(const Site& site, std::span<const Tensor> cts) override {
    check_repeatable();
    SmallVector<Cotangent, 4> grads(site.args.size());
    if (rule_ == Rule::pull) {
      std::vector<Tensor> in(site.in.begin(), site.in.end());
      const Avals out = outputs(site.args);
      for (std::size_t i = 0; i < cts.size(); ++i)
        in.push_back(cts[i].defined() ? cts[i] : zeros(out[i].shape, out[i].dtype));
      const Tensors all = derivatives(in);
      for (std::size_t i = 0; i < all.size(); ++i) grads[i] = all[i];
      return grads;
    }
    SmallVector<std::size_t, 8> active;
    SmallVector<Aval, 4> avals;
    std::uint32_t wanted = 0;
    for (std::size_t i = 0; i < site.args.size(); ++i) {
      if (!is_differentiable(site.args[i].dtype)) continue;
      active.push_back(i);
      avals.push_back(site.args[i]);
      wanted |= position(i);
    }
    const std::vector<Cotangent> seeds(cts.begin(), cts.end());
    if (rule_ == Rule::none) {
      const auto found =
          vjp_of([&](std::span<const Tensor> in) { return run(in); }, site.in, wanted, seeds);
      for (std::size_t i : active) grads[i] = found[i];
      return grads;
    }
    const auto tangents = [&](std::span<const Tensor> t) {
      SmallVector<Tensor, 8> all(site.args.size());
      for (std::size_t k = 0; k < active.size(); ++k) all[active[k]] = t[k];
      return push(site, all);
    };
    auto found = transpose_of(tangents, avals, seeds);
    for (std::size_t k = 0; k < active.size(); ++k) grads[active[k]] = std::move(found[k]);
    return grads;
  }

  Tensors push(const Site& site, std::span<const Tensor> tangents) override {
    check_repeatable();
    if (rule_ == Rule::none)
      return jvp_of([&](std::span<const Tensor> in) { return run(in); }, site.in, tangents);
    if (rule_ == Rule::push) {
      std::vector<Tensor> in(site.in.begin(), site.in.end());
      for (std::size_t i = 0; i < tangents_; ++i) {
        in.push_back(tangents[i].defined() ? tangents[i]
                                           : zeros(site.args[i].shape, site.args[i].dtype));
      }
      return derivatives(in);
    }
    return push_by_transpose(site, outputs(site.args), tangents);
  }

  Reads reads() const override { return {~0u, 0}; }
  Rule rule() const override { return rule_; }
  bool is_graph() const override { return true; }
  std::vector<Inner> inner_graphs() const override {
    Inner inner{graph_.get(), {results_.begin(), results_.end()}, true};
    for (Graph::Value v : derivatives_)
      if (v != kNothing) inner.results.push_back(v);
    return {inner};
  }
  std::string besides() const override {
    std::string text = std::to_string(static_cast<int>(rule_)) + ":";
    for (Graph::Value v : derivatives_) text += v == kNothing ? '0' : '1';
    return text;
  }

  void infer(const Call& call, Avals& out) const override {
    SmallVector<Aval, 4> args;
    for (const View& v : call.in) args.push_back({v.dtype, *v.shape});
    for (const Aval& aval : outputs(args)) out.push_back(aval);
  }

 private:
  // Derivatives run the graph once more.
  void check_repeatable() const {
    if (draws_) fail_not_repeatable(rule_ == Rule::none ? "recompute_grad" : "custom_gradient");
  }

  void add_input(DType dtype, const Shape& shape) {
    inputs_.push_back(graph_->add_input({dtype, shape}));
  }

  SmallVector<Tensor, 8> tensors(std::span<const Graph::Value> values) const {
    SmallVector<Tensor, 8> result;
    for (Graph::Value v : values) result.push_back(graph_->tensor(v));
    return result;
  }

  // Constants that are names elsewhere, or that somebody follows, become inputs.
  void capture(std::vector<Tensor>& operands) {
    for (Graph::Value v = 0; v < graph_->value_count(); ++v) {
      const Tensor t = graph_->info(v).constant;
      if (!t.defined()) continue;
      const TensorImpl& impl = *t.impl();
      if (!impl.has(kNotConcrete) && !impl.has(kTracked) && !impl.has(kHasTangent)) continue;
      if (rule_ == Rule::push && is_differentiable(t.dtype())) {
        fail<InvalidArgumentError>(
            "[custom_jvp] the function uses a watched or traced tensor of shape ", t.shape(),
            " that is not among its arguments, and its rule could give no derivative for it; make "
            "it an argument, or use stop_gradient");
      }
      operands.push_back(t);
      inputs_.push_back(v);
    }
  }

  Avals outputs(std::span<const Aval> args) const {
    const std::optional<Sizes> sizes = bind_sizes(*graph_, args);
    GRADUS_ASSERT(sizes.has_value());
    Avals out;
    for (Graph::Value v : results_) {
      Aval aval = graph_->info(v).aval;
      for (int i = 0; i < aval.shape.rank(); ++i)
        aval.shape[i] = graph_->symbols().evaluate(aval.shape[i], *sizes);
      if (std::ranges::any_of(aval.shape, [](Size s) { return is_same(s, kUnbound); })) {
        fail<UnimplementedError>(
            "[custom_gradient] a result has a size that is found inside of the function; find it "
            "outside, or reduce the result to a known size");
      }
      out.push_back(aval);
    }
    return out;
  }

  Tensors derivatives(std::span<const Tensor> in) const {
    std::vector<Graph::Value> wanted;
    for (Graph::Value v : derivatives_)
      if (v != kNothing) wanted.push_back(v);
    const auto found = evaluate(*graph_, in, wanted, graph_->nodes().size());
    Tensors all;
    std::size_t next = 0;
    for (Graph::Value v : derivatives_) all.push_back(v == kNothing ? Tensor() : found[next++]);
    return all;
  }

  std::shared_ptr<Graph> graph_;
  Rule rule_;
  std::size_t forward_nodes_ = 0, tangents_ = 0;
  bool draws_ = false;  // in a place from where seeds cannot come as operands
  std::vector<Graph::Value> inputs_, results_, derivatives_;
};

}  // namespace

bool is_traced(const Tensor& t) {
  const TensorImpl* impl = t.impl();
  while (impl && impl->kind == ValueKind::batched) impl = impl->extra()->inner.impl();
  return impl && impl->kind == ValueKind::traced;
}

std::shared_ptr<CustomCall> traced_call(const Op& op, CustomCall& call,
                                        std::vector<Tensor>& operands) {
  return std::make_shared<TracedCall>(op, call, operands);
}

}  // namespace gradus
