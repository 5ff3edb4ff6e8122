#include "autodiff/custom_call.h"

#include <algorithm>

#include "autodiff/densify.h"
#include "autodiff/rules.h"
#include "base/check.h"
#include "gradus/ops.h"
#include "graph/batch.h"
#include "graph/context.h"

namespace gradus {
namespace {

struct CustomAttrs {
  Held* held = nullptr;
  static auto fields() { return attr_fields(attr("call", &CustomAttrs::held)); }
  CustomCall& call() const { return *static_cast<CustomCall*>(held); }
};

// The same call, seen from outside a vmap: inputs and results are whole batches.
class BatchedCall final : public CustomCall {
 public:
  BatchedCall(CustomCall& inner, const BatchCall& c)
      : inner_(std::static_pointer_cast<CustomCall>(inner.shared_from_this())),
        level_(c.level),
        size_(c.size) {
    for (std::size_t i = 0; i < c.in.size(); ++i)
      batched_.push_back(c.is_batched(static_cast<int>(i)));
  }

  Tensors run(std::span<const Tensor> in) override {
    const Level level = this->level();
    Tensors out = inner_->run(examples(in, level));
    for (Tensor& t : out) t = unbatch(t, level, size_);
    return out;
  }

  Tensors push(const Site& site, std::span<const Tensor> tangents) override {
    const Examples example(*this, site);
    Tensors out = inner_->push(example.site, examples(tangents, example.level));
    for (Tensor& t : out)
      if (t.defined()) t = unbatch(t, example.level, size_);
    return out;
  }

  SmallVector<Cotangent, 4> pull(const Site& site, std::span<const Tensor> cts) override {
    const Examples example(*this, site);
    Tensors example_cts;
    for (const Tensor& ct : cts) example_cts.push_back(one(ct, example.level));
    SmallVector<Cotangent, 4> grads = inner_->pull(example.site, example_cts);
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (grads[i].is_zero()) continue;
      const Tensor whole = unbatch(dense(grads[i]), example.level, size_);
      // What all examples share gets the gradients of all.
      grads[i] = batched_[i] ? whole : reduce_sum(whole, {0});
    }
    return grads;
  }

  Reads reads() const override { return inner_->reads(); }
  Rule rule() const override { return inner_->rule(); }

 private:
  struct Examples {
    Level level;
    SmallVector<Tensor, 8> in;
    SmallVector<Tensor, 4> out;
    SmallVector<Aval, 4> avals;
    Site site;
    Examples(const BatchedCall& call, const Site& whole)
        : level(call.level()),
          in(call.examples(whole.in, level)),
          out(whole.out.begin(), whole.out.end()),
          avals(whole.args.begin(), whole.args.end()),
          site{whole.op, whole.attrs, in, out, avals} {
      for (Tensor& t : out) t = call.one(t, level);
      for (std::size_t i = 0; i < avals.size(); ++i)
        if (call.batched_[i]) avals[i].shape.erase(0);
    }
    Examples(const Examples&) = delete;
  };

  // What a closure keeps belongs to the vmap that it was made in; a graph keeps nothing.
  Level level() const { return inner_->is_graph() ? next_level() : level_; }
  static Tensor one(const Tensor& t, Level level) {
    return t.defined() ? make_batched(t, level) : t;
  }
  SmallVector<Tensor, 8> examples(std::span<const Tensor> whole, Level level) const {
    SmallVector<Tensor, 8> result;
    for (std::size_t i = 0; i < whole.size(); ++i)
      result.push_back(batched_[i] ? one(whole[i], level) : whole[i]);
    return result;
  }

  std::shared_ptr<CustomCall> inner_;
  Level level_;
  Size size_;
  std::vector<bool> batched_;
};

CustomCall& call_of(const void* attrs) { return static_cast<const CustomAttrs*>(attrs)->call(); }

Op make_op(const char* name, const char* doc, InferFn infer) {
  return composite(
      {.name = name,
       .doc = doc,
       .dtypes = kAnyDType,
       .attrs = &attr_type<CustomAttrs>(),
       .inputs = -1,
       .outputs = -1,
       .infer = infer,
       .batch =
           [](const BatchCall& c) {
             const auto whole = std::make_shared<BatchedCall>(call_of(c.attrs), c);
             return call_custom(*whole, c.in);
           },
       .reads = [](const void* attrs, std::uint32_t) { return call_of(attrs).reads(); }},
      [](const void* attrs, std::span<const Tensor> in) { return call_of(attrs).run(in); },
      [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
        SmallVector<Cotangent, 4> all = call_of(s.attrs).pull(s, cts);
        for (std::size_t i = 0; i < all.size(); ++i) grads[i] = std::move(all[i]);
      },
      [](const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out) {
        Tensors all = call_of(s.attrs).push(s, tangents);
        for (std::size_t i = 0; i < all.size(); ++i) out[i] = std::move(all[i]);
      });
}

// A call as it is made, and one that is a graph and can be a node of another.
const Op custom_call_op = make_op("custom_call", "A function with rules of the user's.", nullptr);
const Op custom_function_op =
    make_op("custom_function", "A traced function with rules of the user's.",
            [](const Call& c, Avals& out) { call_of(c.attrs).infer(c, out); });

}  // namespace

Tensors CustomCall::push_by_transpose(const Site& site, std::span<const Aval> outputs,
                                      std::span<const Tensor> tangents) {
  SmallVector<std::size_t, 8> active;
  std::vector<Cotangent> given;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].defined()) continue;
    active.push_back(i);
    given.emplace_back(tangents[i]);
  }
  const auto gradients = [&](std::span<const Tensor> cts) {
    const auto all = pull(site, cts);
    Tensors wanted;
    for (std::size_t i : active) wanted.push_back(all[i].is_zero() ? Tensor() : dense(all[i]));
    return wanted;
  };
  Tensors out;
  for (const Cotangent& t : transpose_of(gradients, outputs, given))
    out.push_back(t.is_zero() ? Tensor() : dense(t));
  return out;
}

void CustomCall::infer(const Call&, Avals&) const { GRADUS_ASSERT(is_graph()); }

Tensors call_custom(CustomCall& call, std::span<const Tensor> in) {
  if (std::none_of(in.begin(), in.end(), is_traced)) {
    const CustomAttrs attrs{&call};
    return custom_call_op.run(in, &attrs);
  }
  std::vector<Tensor> operands(in.begin(), in.end());
  const auto graph = traced_call(custom_function_op, call, operands);
  const CustomAttrs attrs{graph.get()};
  return custom_function_op.run(operands, &attrs);
}

}  // namespace gradus
