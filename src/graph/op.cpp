#include "graph/op.h"

#include <mutex>

#include "base/check.h"
#include "graph/dispatch.h"
#include "graph/elementwise.h"
#include "graph/engine_op.h"

namespace gradus {
namespace {

// Ops link themselves in when constructed. Plain data, so that it works during static
// initialisation.
constinit const Op* first_op = nullptr;
constinit const Op* first_of_engine = nullptr;

}  // namespace

struct OpFactory {
  static Op make(const OpInfo& info, Kind kind, Op::Rules rules) { return Op(info, kind, rules); }
  using Rules = Op::Rules;
};

Op::Op(const OpInfo& i, Kind k, Rules rules)
    : info(i),
      kind(k),
      transpose(rules.transpose),
      jvp(rules.jvp),
      vjp(rules.vjp),
      body(rules.body),
      residual(rules.residual),
      pick(rules.pick),
      why_not(rules.why_not),
      elementwise(rules.elementwise) {
  if (rules.derived && !rules.in_traces) return;
  const Op*& newest = i.attrs->holds || rules.in_traces ? first_of_engine : first_op;
  next = newest;
  newest = this;
}

Op::~Op() = default;

Op make_elementwise(const OpInfo& info, std::unique_ptr<ElementwiseRule> rule, bool derived) {
  GRADUS_ASSERT(rule->arity <= expr::kMaxInputs);
  OpInfo full = info;
  full.inputs = rule->arity;
  full.in_place_ok = true;
  return OpFactory::make(full, Kind::elementwise,
                         {.elementwise = rule.release(), .derived = derived});
}

Op linear(const OpInfo& info, TransposeFn transpose) {
  return OpFactory::make(info, Kind::linear, {.transpose = transpose});
}
Op bilinear(const OpInfo& info, TransposeFn transpose) {
  return OpFactory::make(info, Kind::bilinear, {.transpose = transpose});
}
Op selecting(const OpInfo& info, ResidualFn residual, PickFn pick) {
  return OpFactory::make(info, Kind::selecting, {.residual = residual, .pick = pick});
}
Op general(const OpInfo& info, JvpFn jvp, VjpFn vjp) {
  return OpFactory::make(info, Kind::general, {.jvp = jvp, .vjp = vjp});
}
Op composite(const OpInfo& info, BodyFn body, VjpFn vjp, JvpFn jvp) {
  return OpFactory::make(info, Kind::composite, {.jvp = jvp, .vjp = vjp, .body = body});
}
Op engine_composite(const OpInfo& info, BodyFn body, VjpFn vjp, JvpFn jvp) {
  return OpFactory::make(info, Kind::composite,
                         {.jvp = jvp, .vjp = vjp, .body = body, .in_traces = true});
}
Op not_differentiable(const OpInfo& info, const char* why) {
  return OpFactory::make(info, Kind::not_differentiable, {.why_not = why});
}
Op internal(const OpInfo& info, const char* why, Where where) {
  return OpFactory::make(info, Kind::not_differentiable,
                         {.why_not = why, .derived = true, .in_traces = where == Where::traced});
}

// What each kind's rules read when the record does not say: see autodiff/rules.cpp.
Reads Op::reads(const void* attrs, std::uint32_t wanted, int input_count) const {
  if (info.reads) return info.reads(attrs, wanted);
  const std::uint32_t all = input_count >= 32 ? ~0u : (1u << input_count) - 1;
  switch (kind) {
    case Kind::elementwise: {
      Reads reads;
      for (int i = 0; i < input_count; ++i) {
        if (!(wanted >> i & 1)) continue;
        const Reads r = elementwise->vjp(*this, i).reads;
        reads.in |= r.in;
        reads.out |= r.out;
      }
      return reads;
    }
    case Kind::linear:  // indices and the like, never the argument in which it is linear
      return {all & ~info.differentiable, 0};
    case Kind::bilinear: {  // the gradient of one side reads the other
      Reads reads{all & ~3u, 0};
      if (wanted & 1) reads.in |= 2;
      if (wanted & 2) reads.in |= 1;
      return reads;
    }
    case Kind::not_differentiable:
      return {};
    case Kind::composite:
      return vjp ? Reads{all, ~0u} : Reads{all, 0};
    default:
      return {all, ~0u};
  }
}

Tensor Op::operator()(const Tensor& a) const {
  const Tensor* in[] = {&a};
  return dispatch_one(*this, nullptr, in);
}
Tensor Op::operator()(const Tensor& a, const Tensor& b) const {
  const Tensor* in[] = {&a, &b};
  return dispatch_one(*this, nullptr, in);
}
Tensor Op::operator()(const Tensor& a, const Tensor& b, const Tensor& c) const {
  const Tensor* in[] = {&a, &b, &c};
  return dispatch_one(*this, nullptr, in);
}
Tensor Op::run_one(std::span<const Tensor> in, const void* attrs) const {
  SmallVector<const Tensor*, 8> pointers;
  for (const Tensor& t : in) pointers.push_back(&t);
  return dispatch_one(*this, attrs, pointers);
}
Tensors Op::run(std::span<const Tensor> in, const void* attrs) const {
  SmallVector<const Tensor*, 8> pointers;
  for (const Tensor& t : in) pointers.push_back(&t);
  return dispatch(*this, attrs, pointers);
}

const Op* newest_op() { return first_op; }
const Op* newest_of_engine() { return first_of_engine; }

}  // namespace gradus
