#include "autodiff/rules.h"

#include "autodiff/cotangent_table.h"
#include "autodiff/densify.h"
#include "autodiff/slopes.h"
#include "autodiff/thread_tapes.h"
#include "base/check.h"
#include "gradus/ops.h"
#include "graph/context.h"
#include "graph/dispatch.h"
#include "graph/elementwise.h"
#include "graph/graph.h"
#include "ops/records.h"
#include "ops/unbroadcast.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using Args = SmallVector<Tensor, 8>;

bool is_wanted(std::uint32_t wanted, std::size_t i) { return has_position(wanted, i); }

// A holomorphic function with real coefficients has f(conj x) = conj f(x): feeding conjugates to
// the partials gives the conjugate partials that reverse mode needs.
Tensor conjugated(const Tensor& t) { return is_complex(t.dtype()) ? conj(t) : t; }

// What a derived elementwise op takes after the cotangent or the tangents.
void push_reads(Args& args, const Reads& reads, const Site& site, bool conjugate) {
  for (std::size_t i = 0; i < site.args.size(); ++i) {
    if (reads.in >> i & 1) args.push_back(conjugate ? conjugated(site.in[i]) : site.in[i]);
  }
  if (reads.out) args.push_back(conjugate ? conjugated(site.out[0]) : site.out[0]);
}

// Rows pass through an elementwise op that scales by numbers: what it reads must be scalars.
bool keeps_rows(const Reads& reads, const Site& site) {
  for (std::size_t i = 0; i < site.args.size(); ++i) {
    if ((reads.in >> i & 1) && site.args[i].shape.rank() > 0) return false;
  }
  return !reads.out;
}

void pull_back_elementwise(const Site& site, Cotangent& ct, std::uint32_t wanted,
                           GradientSink& sink) {
  const ElementwiseRule& rule = *site.op.elementwise;
  for (int i = 0; i < rule.arity; ++i) {
    if (!is_wanted(wanted, static_cast<std::size_t>(i))) continue;
    const ElementwiseRule::Derived& d = rule.vjp(site.op, i);
    if (d.is_zero) continue;
    const bool rows =
        ct.is_rows() && is_same(site.args[i].shape, ct.shape()) && keeps_rows(d.reads, site);
    if (ct.is_rows() && !rows) ct = dense(ct);
    Tensor g = ct.value();
    if (!d.is_identity) {
      Args args{g};
      push_reads(args, d.reads, site, true);
      g = scale_by_derivative(d, args);
    }
    sink.add(i, rows ? Cotangent::rows(ct.indices(), std::move(g), ct.shape())
                     : unbroadcast(std::move(g), ct.shape(), site.args[i].shape));
  }
}

void pull_back_transposed(const Site& site, Cotangent& ct, std::uint32_t wanted,
                          GradientSink& sink) {
  if (site.op.info.is_view && ct.is_spread() && is_same(ct.value().shape().num_elements(), 1)) {
    sink.add(0, Cotangent::spread(reshape(ct.value(), {}), site.args[0].shape));
    return;
  }
  const Tensor whole = dense(ct);
  // A sum inside the kernel is seen by nobody: not for values that someone follows.
  bool plain = is_plain(whole);
  for (const Tensor& t : site.in) plain &= !t.defined() || is_plain(t);
  for (std::size_t i = 0; i < site.args.size(); ++i) {
    const int input = static_cast<int>(i);
    if (!is_wanted(wanted, i) || !site.op.is_differentiable_in(input)) continue;
    const Tensor* sum = plain && site.op.info.accumulate ? sink.accumulator(input) : nullptr;
    if (sum) {
      site.op.info.accumulate(site, input, whole, *sum);
    } else {
      sink.add(input, site.op.transpose(site, input, whole));
    }
  }
}

void pull_back_vjp(const Site& site, std::span<Cotangent> cts, std::uint32_t wanted,
                   GradientSink& sink) {
  Tensors whole;
  for (const Cotangent& ct : cts) whole.push_back(ct.is_zero() ? Tensor() : dense(ct));
  SmallVector<Cotangent, 4> grads(site.args.size());
  site.op.vjp(site, whole, wanted, grads);
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (is_wanted(wanted, i)) sink.add(static_cast<int>(i), std::move(grads[i]));
  }
}

// Through the transpose of the op's jvp, traced with the primal values as constants.
void pull_back_linearised(const Site& site, std::span<const Cotangent> cts, std::uint32_t wanted,
                          GradientSink& sink) {
  SmallVector<std::size_t, 8> active;
  SmallVector<Aval, 4> avals;
  for (std::size_t i = 0; i < site.args.size(); ++i) {
    if (!is_wanted(wanted, i)) continue;
    active.push_back(i);
    avals.push_back(site.args[i]);
  }
  auto grads = transpose_of(
      [&](std::span<const Tensor> t) {
        Args tangents(site.args.size());
        for (std::size_t k = 0; k < active.size(); ++k) tangents[active[k]] = t[k];
        return push_forward(site, tangents);
      },
      avals, cts);
  for (std::size_t k = 0; k < active.size(); ++k) {
    sink.add(static_cast<int>(active[k]), std::move(grads[k]));
  }
}

// A fused gradient that is not itself differentiable will do if nobody follows the values of this
// rule and no cotangent has arrived at an output that it leaves out.
bool first_order_suffices(const Site& site, std::span<const Cotangent> cts) {
  const auto followed = [](const Tensor& t) {
    return t.defined() && (t.impl()->has(kTracked) || t.impl()->has(kHasTangent));
  };
  bool watched = false;
  for (const Tensor& t : site.in) watched |= followed(t);
  for (std::size_t i = 0; i < cts.size(); ++i) {
    if (cts[i].is_zero()) continue;
    if (!(site.op.info.first_order_outputs >> i & 1)) return false;
    watched |= followed(cts[i].value());
  }
  return !watched || !thread_context.observer || thread_tapes().listeners() == 0;
}

void pull_back_body(const Site& site, std::span<const Cotangent> cts, std::uint32_t wanted,
                    GradientSink& sink) {
  auto grads = vjp_of([&](std::span<const Tensor> in) { return site.op.body(site.attrs, in); },
                      site.in, wanted, cts);
  for (std::size_t i = 0; i < grads.size(); ++i) sink.add(static_cast<int>(i), std::move(grads[i]));
}

Tensors push_forward_elementwise(const Site& site, std::span<const Tensor> tangents) {
  std::uint32_t active = 0;
  Args args;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].defined()) continue;
    active |= 1u << i;
    args.push_back(tangents[i]);
  }
  const ElementwiseRule::Derived& d = site.op.elementwise->jvp(site.op, active);
  if (d.is_zero) return Tensors(1);
  if (!d.is_identity) push_reads(args, d.reads, site, false);
  Tensor t = d.is_identity ? args[0] : d.run(args);
  Shape shape = site.args[0].shape;
  for (const Aval& a : site.args.subspan(1)) {
    if (!is_same(a.shape, shape)) shape = broadcast_shapes(site.op.name(), shape, a.shape);
  }
  return {is_same(t.shape(), shape) ? t : broadcast_to(t, shape)};
}

Tensors push_forward_linear(const Site& site, std::span<const Tensor> tangents) {
  Args args;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (tangents[i].defined()) {
      args.push_back(tangents[i]);
    } else if (site.op.is_differentiable_in(static_cast<int>(i))) {
      args.push_back(zeros(site.args[i].shape, site.args[i].dtype));
    } else {
      args.push_back(site.in[i]);
    }
  }
  return site.op.run(args, site.attrs);
}

Tensors push_forward_bilinear(const Site& site, std::span<const Tensor> tangents) {
  Tensor sum;
  for (int side = 0; side < 2; ++side) {
    if (!tangents[side].defined()) continue;
    Args args(site.in.begin(), site.in.end());
    args[side] = tangents[side];
    Tensor term = site.op.run_one(args, site.attrs);
    sum = sum.defined() ? add(sum, term) : std::move(term);
  }
  return {sum};
}

}  // namespace

void pull_back(const Site& site, std::span<Cotangent> cts, std::uint32_t wanted,
               GradientSink& sink) {
  const Op& op = site.op;
  const RuleOf rule(op);
  if (op.vjp && (op.info.first_order_outputs == 0 || first_order_suffices(site, cts))) {
    return pull_back_vjp(site, cts, wanted, sink);
  }
  switch (op.kind) {
    case Kind::elementwise:
      return pull_back_elementwise(site, cts[0], wanted, sink);
    case Kind::linear:
    case Kind::bilinear:
      return pull_back_transposed(site, cts[0], wanted, sink);
    case Kind::selecting:
    case Kind::general:
      return pull_back_linearised(site, cts, wanted, sink);
    case Kind::composite:
      return op.jvp ? pull_back_linearised(site, cts, wanted, sink)
                    : pull_back_body(site, cts, wanted, sink);
    case Kind::not_differentiable:
      return;
  }
}

Tensors push_forward(const Site& site, std::span<const Tensor> tangents) {
  const Op& op = site.op;
  switch (op.kind) {
    case Kind::elementwise:
      return push_forward_elementwise(site, tangents);
    case Kind::linear:
      return push_forward_linear(site, tangents);
    case Kind::bilinear:
      return push_forward_bilinear(site, tangents);
    case Kind::selecting:
      return {op.pick(site, op.residual(site), tangents[0])};
    case Kind::general:
    case Kind::composite: {
      if (op.jvp) {
        Tensors out(site.out.size());
        op.jvp(site, tangents, out);
        return out;
      }
      return jvp_of([&](std::span<const Tensor> in) { return op.body(site.attrs, in); }, site.in,
                    tangents);
    }
    case Kind::not_differentiable:
      break;
  }
  return Tensors(site.out.size());
}

Tensor dense(const Cotangent& ct) {
  if (ct.is_rows()) return densify(ct);
  return ct.is_spread() ? broadcast_to(ct.value(), ct.shape()) : ct.value();
}

Cotangent add_cotangents(Cotangent a, Cotangent b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  if (a.is_rows() && b.is_rows()) {
    return Cotangent::rows(concat({a.indices(), b.indices()}, 0), concat({a.value(), b.value()}, 0),
                           a.shape());
  }
  if (a.is_rows()) std::swap(a, b);
  if (b.is_rows()) {
    // A loop of a program adds the rows where the sum is.
    if (dense(a).impl()->kind == ValueKind::traced)
      return tensor_scatter_nd_add(dense(a), expand_dims(b.indices(), -1), b.value());
    return add_cotangents(dense(a), dense(b));
  }
  const Shape shape = a.shape();
  Tensor x = a.take_value(), y = b.take_value();
  if (is_same(x.shape(), y.shape()) && is_unique(x) && is_plain(x) && is_plain(y)) {
    const Tensor* in[] = {&x, &y};
    run_kernel(add_op, nullptr, in, {&x, 1});
    return Cotangent::spread(std::move(x), shape);
  }
  return Cotangent::spread(add(x, y), shape);
}

std::vector<Cotangent> transpose_of(const TensorFunction& linear_map, std::span<const Aval> in,
                                    std::span<const Cotangent> cts) {
  const auto graph = Graph::make_beside_trace();
  SmallVector<Tensor, 8> tangents;
  std::vector<Graph::Value> wrt;
  for (const Aval& aval : in) {
    wrt.push_back(graph->add_input(aval));
    tangents.push_back(graph->tensor(wrt.back()));
  }
  const Tensors out = linear_map(tangents);

  std::vector<bool> depends(graph->value_count(), false);
  for (Graph::Value v : wrt) depends[v] = true;
  for (const Graph::Node& n : graph->nodes()) {
    for (Graph::Value v : graph->operands(n)) {
      if (!depends[v]) continue;
      for (std::uint32_t i = 0; i < n.out_count; ++i) depends[n.first_out + i] = true;
    }
  }
  CotangentTable table(graph->value_count());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool traced = out[i].defined() && out[i].impl()->kind == ValueKind::traced &&
                        out[i].impl()->extra()->graph == graph;
    if (traced && !cts[i].is_zero()) table.add(out[i].impl()->extra()->value, cts[i]);
  }

  struct Sink : GradientSink {
    CotangentTable& table;
    std::span<const Graph::Value> operands;
    explicit Sink(CotangentTable& t) : table(t) {}
    void add(int input, Cotangent g) override {
      table.add(operands[static_cast<std::size_t>(input)], std::move(g));
    }
    const Tensor* accumulator(int input) override {
      return table.accumulator(operands[static_cast<std::size_t>(input)]);
    }
  } sink(table);
  for (std::size_t k = graph->nodes().size(); k-- > 0;) {
    const Graph::Node n = graph->nodes()[k];
    SmallVector<Cotangent, 4> node_cts;
    bool any = false;
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      node_cts.push_back(table.take(n.first_out + i));
      any |= !node_cts.back().is_zero();
    }
    if (!any) continue;
    Args args;
    SmallVector<Aval, 4> avals;
    Tensors outs;
    std::uint32_t wanted = 0;
    sink.operands = graph->operands(n);
    for (std::size_t i = 0; i < sink.operands.size(); ++i) {
      args.push_back(graph->tensor(sink.operands[i]));
      avals.push_back(graph->info(sink.operands[i]).aval);
      if (depends[sink.operands[i]]) wanted |= position(i);
    }
    for (std::uint32_t i = 0; i < n.out_count; ++i) outs.push_back(graph->tensor(n.first_out + i));
    pull_back({*n.op, graph->attrs(n), args, outs, avals}, node_cts, wanted, sink);
  }
  graph->close();
  std::vector<Cotangent> grads;
  for (Graph::Value v : wrt) grads.push_back(table.take(v));
  return grads;
}

}  // namespace gradus
