#include "gradus/host_call.h"

#include <algorithm>
#include <cstring>

#include "autodiff/rules.h"
#include "base/check.h"
#include "compile/region.h"
#include "gradus/ops.h"
#include "graph/batch.h"
#include "graph/context.h"
#include "graph/graph.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

class HostCall final : public Held, public Repeatable {
 public:
  HostCall(HostFunction function, std::vector<HostResult> results)
      : function(std::move(function)), results(std::move(results)) {}
  std::string describe() const override { return function.name; }
  bool may_repeat() const override { return function.may_repeat || results.empty(); }

  const HostFunction function;
  const std::vector<HostResult> results;
};

struct HostAttrs {
  Held* held = nullptr;
  static auto fields() { return attr_fields(attr("function", &HostAttrs::held)); }
};

const HostCall& call_of(const void* attrs) {
  return *static_cast<HostCall*>(static_cast<const HostAttrs*>(attrs)->held);
}

thread_local std::uint64_t foreign_calls = 0;

template <class ShapeOf>
Shape shape_of(const HostResult& r, ShapeOf shape_of_argument) {
  return r.like < 0 ? r.shape : shape_of_argument(r.like);
}

void infer_host(const Call& c, Avals& out) {
  for (const HostResult& r : call_of(c.attrs).results)
    out.push_back({r.dtype, shape_of(r, [&](int i) { return c.shape(i); })});
}

void check_results(const HostCall& call, const std::vector<Tensor>& given,
                   std::span<const View> wanted) {
  if (given.size() != wanted.size()) {
    fail<InvalidArgumentError>("[", call.function.name, "] gave ", given.size(),
                               " tensors; expected ", wanted.size());
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const View& w = wanted[i];
    if (given[i].dtype() == w.dtype && given[i].shape() == *w.shape) continue;
    fail<InvalidArgumentError>(
        "[", call.function.name, "] result ", i, " is ", name_of(given[i].dtype()), " of shape ",
        given[i].shape(), ", but ", name_of(w.dtype), " of shape ", *w.shape,
        " was announced when the function was traced; say which shape there will be, in Python ",
        "with a tf.TensorSpec in Tout");
  }
}

void run_host(const KernelCall& c) {
  const HostCall& call = call_of(c.attrs);
  std::vector<Tensor> in;
  for (const View& v : c.in) {
    in.push_back(make_tensor(v.dtype, *v.shape));
    if (in.back().num_bytes() > 0)
      std::memcpy(in.back().impl()->data, v.data, in.back().num_bytes());
  }
  const Mute nobody_is_told(0);
  const std::vector<Tensor> out = call.function.run(in);
  check_results(call, out, c.out);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i].num_bytes() > 0) std::memcpy(c.out[i].data, out[i].raw_data(), out[i].num_bytes());
}

void push_host(const Site& s, std::span<const Tensor>, std::span<Tensor>) {
  fail<UnimplementedError>("[", call_of(s.attrs).function.name,
                           "] code outside of the program has no forward-mode derivative");
}

// The gradient of code that is made of ops, as gradients of host functions are: it runs once more
// under a tape.
HostFunction::Pull pull_of(HostFunction::Run run) {
  return [run = std::move(run)](const std::vector<Tensor>& in, const std::vector<Tensor>& cts) {
    const std::vector<Cotangent> seeds(cts.begin(), cts.end());
    const auto found = vjp_of(
        [&](std::span<const Tensor> x) {
          const std::vector<Tensor> out = run({x.begin(), x.end()});
          return Tensors(out.begin(), out.end());
        },
        in, ~0u, seeds);
    std::vector<Tensor> gradients;
    for (const Cotangent& g : found) gradients.push_back(g.is_zero() ? Tensor() : dense(g));
    return gradients;
  };
}

// The gradient is one more call.
void pull_host(const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
               std::span<Cotangent> grads) {
  const HostCall& call = call_of(s.attrs);
  if (!call.function.pull) return;
  const std::size_t count = s.in.size();
  std::vector<Tensor> operands(s.in.begin(), s.in.end());
  for (std::size_t i = 0; i < cts.size(); ++i) {
    const HostResult& r = call.results[i];
    operands.push_back(
        cts[i].defined() ? cts[i] : zeros(shape_of(r, [&](int k) { return s.shape(k); }), r.dtype));
  }
  std::vector<std::size_t> which;
  std::vector<HostResult> results;
  for (std::size_t i = 0; i < count; ++i) {
    if (!has_position(wanted, i) || !is_differentiable(s.args[i].dtype)) continue;
    which.push_back(i);
    results.push_back({s.args[i].dtype, {}, static_cast<int>(i)});
  }
  const HostFunction::Run run = [pull = call.function.pull, count,
                                 which](const std::vector<Tensor>& all) {
    const auto split = all.begin() + static_cast<std::ptrdiff_t>(count);
    const auto found = pull({all.begin(), split}, {split, all.end()});
    std::vector<Tensor> out;
    for (std::size_t i : which) out.push_back(found[i].defined() ? found[i] : zeros_like(all[i]));
    return out;
  };
  const HostFunction gradient{.name = "gradient of " + call.function.name,
                              .run = run,
                              .pull = pull_of(run),
                              .is_foreign = call.function.is_foreign};
  const std::vector<Tensor> found = host_call(gradient, operands, results);
  for (std::size_t k = 0; k < which.size(); ++k) grads[which[k]] = found[k];
}

const Op host_op = general({.name = "host_call",
                            .doc = "A function of the host program, with its effects.",
                            .dtypes = kAnyDType,
                            .attrs = &attr_type<HostAttrs>(),
                            .inputs = kAny,
                            .outputs = kAny,
                            .infer = infer_host,
                            .kernel = run_host,
                            .batch = batch_loop,
                            .reads =
                                [](const void*, std::uint32_t) {
                                  return Reads{~0u, 0};
                                },
                            .stateful = true},
                           push_host, pull_host);

}  // namespace

std::uint64_t detail::foreign_calls_traced() { return foreign_calls; }

std::vector<Tensor> host_call(HostFunction function, const std::vector<Tensor>& in,
                              const std::vector<HostResult>& results) {
  const bool is_foreign = function.is_foreign;
  const auto call = std::make_shared<HostCall>(std::move(function), results);
  const HostAttrs attrs{call.get()};
  Graph* graph = thread_context.graph;
  if (graph && is_foreign) ++foreign_calls;
  if (graph && std::ranges::all_of(in, is_concrete)) {  // a node in any case
    SmallVector<Graph::Value, 8> values;
    for (const Tensor& t : in) values.push_back(graph->value(t));
    const Graph::Node node = graph->add(host_op, &attrs, values);
    std::vector<Tensor> out;
    for (std::uint32_t i = 0; i < node.out_count; ++i)
      out.push_back(graph->tensor(node.first_out + i));
    return out;
  }
  const Tensors out = host_op.run(in, &attrs);
  return std::vector<Tensor>(out.begin(), out.end());
}

}  // namespace gradus
