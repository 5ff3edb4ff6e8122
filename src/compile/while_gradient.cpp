// Derivatives of a loop whose number of iterations only the program knows.
//
// In the graph a derivative is one node: a function of that number and of tensors, which is run, op
// by op on whole loops, when the number is known. The ops that it runs have derivatives, so the
// derivative of such a node is again one, to any order and in any mode. What is expensive about
// them, the traced bodies and their programs, is kept with the loops.
#include <cstring>

#include "autodiff/rules.h"
#include "compile/kept_states.h"
#include "compile/loop_run.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"
#include "graph/batch.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using OfCount = std::function<Tensors(std::int64_t count, std::span<const Tensor> in)>;

struct Deferred final : Held {
  OfCount f;
  std::vector<std::size_t> like;  // by result: the tensor whose dtype and shape it has
};

struct DeferredAttrs {
  Held* held = nullptr;
  static auto fields() { return attr_fields(attr("derivative", &DeferredAttrs::held)); }
  const Deferred& of() const { return *static_cast<const Deferred*>(held); }
};

// Now the number is known: as outside of a trace.
void deferred_kernel(const KernelCall& c) {
  const PauseTracing at_once;
  const Mute nobody_is_told(0);
  const auto program = std::make_shared<int>();  // whose memory outlives the tensors in here
  std::vector<Tensor> in;
  for (const View& v : c.in.subspan(1))
    in.push_back(make_foreign(v.dtype, *v.shape, v.data, program));
  const Tensors found = c.get<DeferredAttrs>().of().f(*c.in[0].as<std::int64_t>(), in);
  for (std::size_t k = 0; k < c.out.size(); ++k)
    if (bytes_of(c.out[k]) > 0)
      std::memcpy(c.out[k].data, found[k].impl()->data, bytes_of(c.out[k]));
}

void push_deferred(const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out);
void pull_deferred(const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
                   std::span<Cotangent> grads);

const Op while_derivative_op =
    general({.name = "while_derivative",
             .doc = "A derivative of a while.",
             .dtypes = kAnyDType,
             .attrs = &attr_type<DeferredAttrs>(),
             .inputs = -1,
             .outputs = -1,
             .infer =
                 [](const Call& c, Avals& out) {
                   for (std::size_t i : c.get<DeferredAttrs>().of().like)
                     out.push_back({c.in[1 + i].dtype, *c.in[1 + i].shape});
                 },
             .kernel = deferred_kernel,
             .batch = batch_loop},
            push_deferred, pull_deferred);

Tensors run_deferred(OfCount f, std::vector<std::size_t> like, const Tensor& count,
                     std::span<const Tensor> in) {
  const auto deferred = std::make_shared<Deferred>();
  deferred->f = std::move(f);
  deferred->like = std::move(like);
  const DeferredAttrs attrs{deferred.get()};
  std::vector<Tensor> operands{count};
  operands.insert(operands.end(), in.begin(), in.end());
  return while_derivative_op.run(operands, &attrs);
}

// The results of f that are not zero whatever the number, found by tracing it for some number.
std::vector<std::size_t> connected_results(const OfCount& f, std::size_t results,
                                           std::span<const Tensor> in) {
  std::vector<std::size_t> connected;
  if (!thread_context.graph) {  // examples of a vmap
    for (std::size_t k = 0; k < results; ++k) connected.push_back(k);
    return connected;
  }
  RegionBuilder scratch(*thread_context.graph);
  std::vector<Tensor> names;
  for (const Tensor& t : in) names.push_back(scratch.add_input({t.dtype(), t.shape()}));
  const Tensors found = scratch.inside([&] { return f(2, names); });
  for (std::size_t k = 0; k < found.size(); ++k)
    if (found[k].defined()) connected.push_back(k);
  return connected;
}

// Some results of f, none of them undefined.
OfCount only(const OfCount& f, const std::vector<std::size_t>& results,
             const std::vector<std::size_t>& like) {
  return [=](std::int64_t count, std::span<const Tensor> in) {
    const Tensors all = f(count, in);
    Tensors some;
    for (std::size_t k = 0; k < results.size(); ++k)
      some.push_back(all[results[k]].defined() ? all[results[k]] : zeros_like(in[like[k]]));
    return some;
  };
}

// f(count, in), at once or as a node, which has only those results that may not be zero.
Tensors derivative(const OfCount& f, std::span<const std::size_t> like, const Tensor& count,
                   std::span<const Tensor> in) {
  if (is_concrete(count)) return f(count.item<std::int64_t>(), in);
  const std::vector<std::size_t> connected = connected_results(f, like.size(), in);
  Tensors out(like.size());
  if (connected.empty()) return out;
  std::vector<std::size_t> kinds;
  for (std::size_t k : connected) kinds.push_back(like[k]);
  const Tensors found = run_deferred(only(f, connected, kinds), kinds, count, in);
  for (std::size_t i = 0; i < connected.size(); ++i) out[connected[i]] = found[i];
  return out;
}

// Values and those of their tangents or cotangents that are there, as operands of one function.
std::vector<Tensor> with_defined(std::span<const Tensor> values, std::span<const Tensor> moved,
                                 std::vector<bool>& defined) {
  std::vector<Tensor> all(values.begin(), values.end());
  for (const Tensor& t : moved) {
    defined.push_back(t.defined());
    if (t.defined()) all.push_back(t);
  }
  return all;
}
std::vector<Tensor> take_defined(std::span<const Tensor> given, const std::vector<bool>& defined) {
  std::vector<Tensor> tensors;
  std::size_t next = 0;
  for (bool is_there : defined) tensors.push_back(is_there ? given[next++] : Tensor());
  return tensors;
}

void push_deferred(const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out) {
  const Deferred& d = s.get<DeferredAttrs>().of();
  const auto in = s.in.subspan(1);
  std::vector<bool> defined;
  const std::vector<Tensor> all = with_defined(in, tangents.subspan(1), defined);
  const OfCount pushed = [f = d.f, defined, n = in.size()](std::int64_t count,
                                                           std::span<const Tensor> given) {
    return jvp_of([&](std::span<const Tensor> x) { return f(count, x); }, given.first(n),
                  take_defined(given.subspan(n), defined));
  };
  const Tensors found = derivative(pushed, d.like, s.in[0], all);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = found[k];
}

void pull_deferred(const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
                   std::span<Cotangent> grads) {
  const Deferred& d = s.get<DeferredAttrs>().of();
  const auto in = s.in.subspan(1);
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < in.size(); ++i)
    if ((wanted >> std::min<std::size_t>(1 + i, 31) & 1) && is_differentiable(in[i].dtype()))
      which.push_back(i);
  std::vector<bool> defined;
  const std::vector<Tensor> all = with_defined(in, cts, defined);
  const OfCount pulled = [f = d.f, defined, which, n = in.size()](std::int64_t count,
                                                                  std::span<const Tensor> given) {
    std::vector<Tensor> active;
    for (std::size_t i : which) active.push_back(given[i]);
    std::vector<Cotangent> cotangents;
    for (const Tensor& ct : take_defined(given.subspan(n), defined))
      cotangents.push_back(ct.defined() ? Cotangent(ct) : Cotangent());
    const auto found = vjp_of(
        [&](std::span<const Tensor> x) {
          std::vector<Tensor> primals(given.begin(),
                                      given.begin() + static_cast<std::ptrdiff_t>(n));
          for (std::size_t k = 0; k < which.size(); ++k) primals[which[k]] = x[k];
          return f(count, primals);
        },
        active, ~0u, cotangents);
    Tensors gradients;
    for (const Cotangent& g : found) gradients.push_back(g.is_zero() ? Tensor() : dense(g));
    return gradients;
  };
  const Tensors found = derivative(pulled, which, s.in[0], all);
  for (std::size_t k = 0; k < which.size(); ++k)
    if (found[k].defined()) grads[1 + which[k]] = found[k];
}

}  // namespace

void pull_while(const WhileLoop& loop, const Tensor& count, std::span<const Tensor> operands,
                std::span<const Tensor> cts, const std::vector<bool>& wanted,
                std::span<Cotangent> grads) {
  if (is_concrete(count)) {
    pull_counted(loop.counted, count.item<std::int64_t>(), operands, cts, wanted, grads);
    return;
  }
  std::vector<bool> given;
  std::vector<Tensor> all = with_defined(operands, cts, given);
  std::vector<std::size_t> which;
  for (std::size_t i : reached_operands(*loop.counted, wanted, given))
    if (wanted[i]) which.push_back(i);
  if (which.empty()) return;
  Tensor states;
  if (count.impl()->kind == ValueKind::traced) states = kept_states(loop, operands);
  if (states.defined()) all.push_back(states);
  const OfCount pulled = [counted = loop.counted, wanted, given, which, n = operands.size(),
                          kept = states.defined()](std::int64_t number,
                                                   std::span<const Tensor> in) {
    std::vector<Cotangent> found(n);
    pull_counted(counted, number, in.first(n), take_defined(in.subspan(n), given), wanted, found,
                 kept ? in.back() : Tensor());
    Tensors gradients;
    for (std::size_t i : which) gradients.push_back(dense(found[i]));
    return gradients;
  };
  const Tensors found = run_deferred(pulled, which, count, all);
  for (std::size_t k = 0; k < found.size(); ++k) grads[which[k]] = found[k];
}

}  // namespace gradus
