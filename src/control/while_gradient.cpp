// Derivatives of a loop whose number of iterations only the program knows.
//
// In the graph a derivative is one node: a function of that number and of tensors, which is run, op
// by op on whole loops, when the number is known. The ops that it runs have derivatives, so the
// derivative of such a node is again one, to any order and in any mode (while_derivative.h).
#include <cstring>

#include "autodiff/some_inputs.h"
#include "base/check.h"
#include "control/kept_states.h"
#include "control/loop_run.h"
#include "control/while_derivative.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"
#include "graph/batch.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

struct DeferredAttrs {
  Held* held = nullptr;
  static auto fields() { return attr_fields(attr("derivative", &DeferredAttrs::held)); }
  const WhileDerivative& of() const { return *static_cast<const WhileDerivative*>(held); }
};

// Now the number is known: as outside of a trace.
void deferred_kernel(const KernelCall& c) {
  const PauseTracing at_once;
  const Mute nobody_is_told(0);
  const auto program = std::make_shared<int>();  // whose memory outlives the tensors in here
  std::vector<Tensor> in;
  for (const View& v : c.in.subspan(1))
    in.push_back(make_foreign(v.dtype, *v.shape, v.data, program));
  const Tensors found = c.get<DeferredAttrs>().of()(*c.in[0].as<std::int64_t>(), in);
  for (std::size_t k = 0; k < c.out.size(); ++k) {
    GRADUS_ASSERT(found[k].num_bytes() == bytes_of(c.out[k]));
    if (bytes_of(c.out[k]) > 0)
      std::memcpy(c.out[k].data, found[k].impl()->data, bytes_of(c.out[k]));
  }
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
                   const WhileDerivative& d = c.get<DeferredAttrs>().of();
                   if (c.in.size() != 1 + d.operands() || c.in[0].dtype != int64 ||
                       c.shape(0).rank() != 0) {
                     fail<InvalidArgumentError>("[while_derivative] got ", c.in.size(),
                                                " operands; expected the number of turns and ",
                                                d.operands(), " tensors");
                   }
                   for (std::size_t i : d.like)
                     out.push_back({c.in[1 + i].dtype, *c.in[1 + i].shape});
                 },
             .kernel = deferred_kernel,
             .batch = batch_loop,
             .read_held = read_while_derivative},
            push_deferred, pull_deferred);

Tensors run_deferred(const std::shared_ptr<WhileDerivative>& d, const Tensor& count,
                     std::span<const Tensor> in) {
  const DeferredAttrs attrs{d.get()};
  std::vector<Tensor> operands{count};
  operands.insert(operands.end(), in.begin(), in.end());
  return while_derivative_op.run(operands, &attrs);
}

// The results that are not zero whatever the number, found by tracing for some number.
std::vector<std::size_t> connected_results(const WhileDerivative& d, std::span<const Tensor> in) {
  std::vector<std::size_t> connected;
  if (!thread_context.graph) return d.results;  // examples of a vmap
  RegionBuilder scratch(*thread_context.graph);
  std::vector<Tensor> names;
  for (const Tensor& t : in) names.push_back(scratch.add_input({t.dtype(), t.shape()}));
  const Tensors found = scratch.inside([&] { return d.all(2, names); });
  for (std::size_t k = 0; k < found.size(); ++k)
    if (found[k].defined()) connected.push_back(k);
  return connected;
}

// What d gives, at once or as a node, which has only those results that may not be zero.
Tensors derivative(const std::shared_ptr<WhileDerivative>& d, const Tensor& count,
                   std::span<const Tensor> in) {
  if (is_concrete(count)) return d->all(count.item<std::int64_t>(), in);
  const std::vector<std::size_t> like = d->like;
  const std::vector<std::size_t> connected = connected_results(*d, in);
  Tensors out(like.size());
  if (connected.empty()) return out;
  d->results = connected;
  d->like.clear();
  for (std::size_t k : connected) d->like.push_back(like[k]);
  const Tensors found = run_deferred(d, count, in);
  for (std::size_t i = 0; i < connected.size(); ++i) out[connected[i]] = found[i];
  return out;
}

void push_deferred(const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out) {
  const WhileDerivative& d = s.get<DeferredAttrs>().of();
  const auto in = s.in.subspan(1);
  const auto pushed = WhileDerivative::make(WhileDerivative::Kind::jvp);
  pushed->of = d.shared();
  pushed->given = are_defined(tangents.subspan(1));
  const std::vector<Tensor> all = with_defined(in, tangents.subspan(1));
  pushed->like_all(d.like);
  const Tensors found = derivative(pushed, s.in[0], all);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = found[k];
}

void pull_deferred(const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
                   std::span<Cotangent> grads) {
  const WhileDerivative& d = s.get<DeferredAttrs>().of();
  const auto in = s.in.subspan(1);
  const auto pulled = WhileDerivative::make(WhileDerivative::Kind::vjp);
  pulled->of = d.shared();
  for (std::size_t i = 0; i < in.size(); ++i)
    if (has_position(wanted, 1 + i) && is_differentiable(in[i].dtype())) pulled->which.push_back(i);
  pulled->given = are_defined(cts);
  const std::vector<Tensor> all = with_defined(in, cts);
  pulled->like_all(pulled->which);
  const std::vector<std::size_t> which = pulled->which;
  const Tensors found = derivative(pulled, s.in[0], all);
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
  const auto pulled = WhileDerivative::make(WhileDerivative::Kind::pull);
  pulled->given = are_defined(cts);
  std::vector<Tensor> all = with_defined(operands, cts);
  for (std::size_t i : reached_operands(*loop.counted, wanted, pulled->given))
    if (wanted[i]) pulled->which.push_back(i);
  if (pulled->which.empty()) return;
  Tensor states;
  if (count.impl()->kind == ValueKind::traced) states = kept_states(loop, operands);
  if (states.defined()) all.push_back(states);
  pulled->loop = loop.counted;
  pulled->wanted = wanted;
  pulled->kept = states.defined();
  pulled->like_all(pulled->which);
  const Tensors found = run_deferred(pulled, count, all);
  for (std::size_t k = 0; k < found.size(); ++k) grads[pulled->which[k]] = found[k];
}

}  // namespace gradus
