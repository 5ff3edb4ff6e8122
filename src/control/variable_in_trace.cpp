#include "control/variable_in_trace.h"

#include "graph/context.h"
#include "graph/dispatch.h"
#include "graph/engine_op.h"

namespace gradus {
namespace {

const Op assigned_op = engine_composite(
    {.name = "assigned",
     .doc = "What a variable holds after a write; derivatives go to the variable.",
     .dtypes = kAnyDType,
     .inputs = 2,
     .differentiable = 2u,
     .infer =
         [](const Call& c, Avals& out) {
           out.push_back({c.in[0].dtype, c.shape(0)});
         }},
    [](const void*, std::span<const Tensor> in) { return Tensors{in[0]}; },
    [](const Site&, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      grads[1] = cts[0];
    },
    [](const Site&, std::span<const Tensor> tangents, std::span<Tensor> out) {
      out[0] = tangents[1];
    });

}  // namespace

Tensor VariableInTrace::read() {
  if (!is_seen_) {
    // Tapes inside the function watch what is read, as a variable of its own; they see no link.
    const Mute nobody_is_told(0);
    seen_ = assigned_op(now_, seen_);
  }
  is_seen_ = true;
  return seen_;
}

void VariableInTrace::write(const Tensor& value) {
  now_ = value;
  is_written_ = true;
  is_seen_ = false;
}

}  // namespace gradus
