#include <algorithm>
#include <utility>

#include "base/check.h"
#include "gradus/ops.h"
#include "graph/batch.h"
#include "graph/context.h"
#include "graph/dispatch.h"
#include "graph/symbols.h"
#include "tensor/tensor_impl.h"

namespace gradus {

constinit BatchFn loop_in_program = nullptr;

namespace {

// The operands of an op on batches while its rule runs.
struct RunningRule {
  Level level;
  std::span<const Tensor* const> operands;
  const RunningRule* outer;

  explicit RunningRule(Level l, std::span<const Tensor* const> given)
      : level(l), operands(given), outer(std::exchange(innermost, this)) {}
  ~RunningRule() { innermost = outer; }
  RunningRule(const RunningRule&) = delete;

  static constinit thread_local const RunningRule* innermost;
};
constinit thread_local const RunningRule* RunningRule::innermost = nullptr;

// Elementwise: the batch in front, then as many axes of size 1 as make the ranks equal.
Tensors batch_elementwise(const BatchCall& c) {
  int rank = 0;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    rank = std::max(rank, c.in[i].rank() - (c.is_batched(static_cast<int>(i)) ? 1 : 0));
  }
  Tensors in;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    Tensor x = c.in[i];
    if (c.is_batched(static_cast<int>(i)) && x.rank() - 1 < rank) {
      Shape shape = x.shape();
      while (shape.rank() - 1 < rank) shape.insert(1, 1);
      x = reshape(x, shape);
    }
    in.push_back(x);
  }
  return c.op.run(in, c.attrs);
}

}  // namespace

Tensor make_batched(const Tensor& batch, Level level) {
  Shape shape = batch.shape();
  shape.erase(0);
  Tensor t = make_placeholder(ValueKind::batched, batch.dtype(), shape);
  t.impl()->extra()->inner = batch;
  t.impl()->extra()->level = level;
  return t;
}

Tensor unbatch(const Tensor& x, Level level, Size size) {
  const TensorImpl* impl = x.impl();
  if (impl->kind == ValueKind::batched && impl->extra()->level == level)
    return impl->extra()->inner;
  Shape shape = x.shape();
  shape.insert(0, size);
  return broadcast_to(x, shape);
}

SmallVector<Tensor, 2> operands_seen_as(const Tensor& t) {
  SmallVector<Tensor, 2> seen{t};
  for (const RunningRule* rule = RunningRule::innermost; rule; rule = rule->outer) {
    SmallVector<Tensor, 2> outside;
    for (const Tensor& inside : seen) {
      const std::size_t before = outside.size();
      for (const Tensor* operand : rule->operands) {
        const bool is_whole = level_of(*operand) == rule->level &&
                              operand->impl()->extra()->inner.impl() == inside.impl();
        const bool is_known = std::ranges::any_of(
            outside, [&](const Tensor& o) { return o.impl() == operand->impl(); });
        if ((is_whole || operand->impl() == inside.impl()) && !is_known)
          outside.push_back(*operand);
      }
      if (outside.size() == before) outside.push_back(inside);
    }
    seen = std::move(outside);
  }
  return seen;
}

Tensors batch_leading(const BatchCall& c) {
  Tensors in;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    if (c.is_batched(static_cast<int>(i))) {
      in.push_back(c.in[i]);
    } else {
      Shape shape = c.in[i].shape();
      shape.insert(0, c.size);
      in.push_back(broadcast_to(c.in[i], shape));
    }
  }
  return c.op.run(in, c.attrs);
}

namespace {

// What an op makes of no example: nothing, of shapes that follow from its operands'. It still
// depends on them: their gradients are zero, not none.
Tensors of_no_examples(const BatchCall& c) {
  SmallVector<Shape, 8> shapes;
  SmallVector<View, 8> views;
  shapes.reserve(c.in.size());
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    shapes.push_back(c.in[i].shape());
    if (c.is_batched(static_cast<int>(i))) shapes.back().erase(0);
    views.push_back({nullptr, &shapes.back(), c.in[i].dtype()});
  }
  Avals made;
  infer_outputs({c.op, c.attrs, views}, made);
  Tensors out;
  for (Aval& aval : made) {
    aval.shape.insert(0, 0);
    Tensor y = zeros(aval.shape, aval.dtype);
    for (std::size_t i = 0; is_differentiable(aval.dtype) && i < c.in.size(); ++i)
      if (c.op.is_differentiable_in(static_cast<int>(i)) && is_differentiable(c.in[i].dtype()))
        y = y + cast(reduce_sum(c.in[i]), aval.dtype);
    out.push_back(y);
  }
  return out;
}

}  // namespace

Tensors batch_loop(const BatchCall& c) {
  if (!c.size.is_known() && loop_in_program) return loop_in_program(c);
  if (c.size == 0) return of_no_examples(c);
  std::vector<std::vector<Tensor>> columns;
  for (std::int64_t b = 0; b < c.size; ++b) {
    Tensors in;
    for (std::size_t i = 0; i < c.in.size(); ++i) {
      Tensor x = c.in[i];
      if (c.is_batched(static_cast<int>(i))) {
        Shape begin, size = x.shape(), example = x.shape();
        for (int a = 0; a < x.rank(); ++a) begin.push_back(0);
        begin[0] = b;
        size[0] = 1;
        example.erase(0);
        x = reshape(slice(x, begin, size), example);
      }
      in.push_back(x);
    }
    const Tensors out = c.op.run(in, c.attrs);
    columns.resize(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) columns[i].push_back(expand_dims(out[i], 0));
  }
  Tensors out;
  for (const auto& parts : columns) out.push_back(concat(parts, 0));
  return out;
}

Tensors run_batched(const Op& op, const void* attrs, std::span<const Tensor* const> given) {
  Level level = 0;
  for (const Tensor* t : given) level = std::max(level, level_of(*t));
  SmallVector<Tensor, 8> in;
  std::uint32_t batched = 0;
  Size size = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (level_of(*given[i]) == level) {
      in.push_back(given[i]->impl()->extra()->inner);
      size = in.back().shape()[0];
      batched |= position(i);
    } else {
      in.push_back(*given[i]);
    }
  }
  for (std::size_t i = 31; batched >> 31 && i < given.size(); ++i)  // one bit stands for all these
    if (level_of(*given[i]) != level) in[i] = unbatch(in[i], level, size);
  const BatchCall call{op, attrs, in, batched, size, level};
  const RunningRule running(level, given);
  Tensors out;
  if (op.kind == Kind::elementwise) {
    out = batch_elementwise(call);
  } else if (op.info.batch) {
    out = op.info.batch(call);
  } else {
    fail<UnimplementedError>("[", op.name(), "] has no batching rule");
  }
  for (Tensor& t : out) t = make_batched(t, level);
  return out;
}

}  // namespace gradus
