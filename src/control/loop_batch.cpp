#include "control/loop_batch.h"

#include "gradus/control.h"
#include "gradus/ops.h"
#include "graph/batch.h"
#include "graph/level.h"
#include "graph/symbols.h"

namespace gradus {
namespace {

// A region over batches while it is built: some inputs have the batch as axis 0.
class BatchedRegion {
 public:
  BatchedRegion(const Graph& like, Size size) : builder_(like), size_(size) {}

  // One example of an input, as ops inside see it.
  Tensor add_input(Aval aval, bool batched) {
    if (!batched) return builder_.add_input(aval);
    aval.shape.insert(0, size_);
    return make_batched(builder_.add_input(aval), level_);
  }
  bool is_batched(const Tensor& t) const { return level_of(t) == level_; }
  Tensor whole(const Tensor& t, bool batched) const {
    return batched ? unbatch(t, level_, size_) : t;
  }
  RegionBuilder& builder() { return builder_; }

 private:
  RegionBuilder builder_;
  Size size_;
  Level level_ = next_level();
};

std::vector<bool> batched_operands(const BatchCall& c) {
  std::vector<bool> batched;
  for (std::size_t i = 0; i < c.in.size(); ++i)
    batched.push_back(c.is_batched(static_cast<int>(i)));
  return batched;
}

Tensor broadcast_over(const Tensor& t, Size size) {
  Shape shape = t.shape();
  shape.insert(0, size);
  return broadcast_to(t, shape);
}

// A stack of batches from a batch of stacks, and back.
Tensor swap_two_axes(const Tensor& t) {
  Shape order;
  for (int a = 0; a < t.rank(); ++a) order.push_back(a < 2 ? 1 - a : a);
  return transpose(t, order);
}

// One iteration for all examples. `batched` says which inputs have the batch, and grows by the
// carries that get it in an iteration.
struct BatchedBody {
  std::shared_ptr<Region> body;
  std::vector<bool> out;  // which results have the batch
};
BatchedBody batched_body(const Region& region, std::size_t carries, Size size,
                         std::vector<bool>& batched) {
  for (;;) {
    BatchedRegion batch(region.graph(), size);
    std::vector<Tensor> in, results;
    for (std::size_t i = 0; i < region.input_count(); ++i)
      in.push_back(batch.add_input(region.input(i), batched[i]));
    std::vector<bool> given;
    bool more = false;
    batch.builder().inside([&] {
      const Tensors out = region(in);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const bool has_batch = batch.is_batched(out[i]);
        if (i < carries && has_batch && !batched[i]) batched[i] = more = true;
        given.push_back(i < carries ? batched[i] : has_batch);
        results.push_back(batch.whole(out[i], given.back()));
      }
    });
    if (!more) return {batch.builder().finish(results), given};
  }
}

// Whether the examples of a loop decide by themselves when to stop.
bool stops_by_example(const WhileLoop& loop, const std::vector<bool>& batched, Size size) {
  BatchedRegion batch(loop.test->graph(), size);
  std::vector<Tensor> in;
  for (std::size_t i = 0; i < batched.size(); ++i)
    in.push_back(batch.add_input(loop.test->input(i), batched[i]));
  bool by_example = false;
  batch.builder().inside([&] { by_example = batch.is_batched((*loop.test)(in)[0]); });
  return by_example;
}

// The loop with carries that are whole batches; all stop at the same time.
Tensors run_together(const WhileLoop& loop, const BatchCall& c, std::vector<bool> batched) {
  const auto together = std::make_shared<WhileLoop>();
  together->body = batched_body(*loop.body, loop.carries(), c.size, batched).body;
  together->maximum_iterations = loop.maximum_iterations;
  BatchedRegion test(loop.test->graph(), c.size);
  std::vector<Tensor> in, operands;
  for (std::size_t i = 0; i < batched.size(); ++i) {
    in.push_back(test.add_input(loop.test->input(i), batched[i]));
    operands.push_back(batched[i] && !c.is_batched(static_cast<int>(i))
                           ? broadcast_over(c.in[i], c.size)
                           : c.in[i]);
  }
  together->test = test.builder().finish(
      test.builder().inside([&] { return std::vector<Tensor>{(*loop.test)(in)[0]}; }));
  together->counted = loop.counted->with_body(together->body);
  Tensors out = run_while_node(together, operands);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!batched[i]) out[i] = broadcast_over(out[i], c.size);
  return out;
}

// Carries: how often, which examples go on, then those of the loop, all with the batch.
Tensors run_until_all_stop(const WhileLoop& loop, const BatchCall& c) {
  const std::size_t carries = loop.carries();
  const auto inputs = [&](BatchedRegion& batch) {
    std::vector<Tensor> in;
    for (std::size_t i = 0; i < loop.body->input_count(); ++i)
      in.push_back(
          batch.add_input(loop.body->input(i), i < carries || c.is_batched(static_cast<int>(i))));
    return in;
  };
  const auto until_all = std::make_shared<WhileLoop>();
  until_all->maximum_iterations = loop.maximum_iterations;
  BatchedRegion body(loop.body->graph(), c.size);
  {
    const Tensor turn = body.builder().add_input({int64, {}});
    const Tensor active = body.add_input({bool_, {}}, true);
    std::vector<Tensor> in = inputs(body), results;
    body.builder().inside([&] {
      // Where the body has no derivative, an example that has stopped would make NaN of its zero
      // cotangent. So in its place the body sees one that goes on.
      // There is one: a turn of the loop has some that go on. Of no examples there is no turn.
      const Tensor goes_on = cast(body.whole(active, true), int32);
      const Tensor other = argmax(concat({goes_on, zeros({1}, int32)}, 0), 0);
      std::vector<Tensor> going = in;
      for (Tensor& t : going)
        if (body.is_batched(t))
          t = where(active, t, stop_gradient(gather(body.whole(t, true), other)));
      const Tensors next = (*loop.body)(going);
      for (std::size_t i = 0; i < carries; ++i) in[i] = where(active, next[i], in[i]);
      results = {turn + 1, body.whole(logical_and(active, (*loop.test)(in)[0]), true)};
      for (std::size_t i = 0; i < carries; ++i) results.push_back(body.whole(in[i], true));
    });
    until_all->body = body.builder().finish(results);
  }
  BatchedRegion test(loop.body->graph(), c.size);
  {
    test.builder().add_input({int64, {}});
    const Tensor active = test.add_input({bool_, {}}, true);
    inputs(test);
    until_all->test = test.builder().finish(test.builder().inside(
        [&] { return std::vector<Tensor>{reduce_any(test.whole(active, true))}; }));
  }
  const auto counted = std::make_shared<CountedLoop>();
  counted->body = until_all->body;
  counted->carries = carries + 2;
  counted->memory_limit = loop.counted->memory_limit;
  until_all->counted = counted;

  const Level level = next_level();
  std::vector<Tensor> examples, operands{Tensor(std::int64_t{0}), Tensor()};
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    const bool batched = c.is_batched(static_cast<int>(i));
    examples.push_back(batched ? make_batched(c.in[i], level) : c.in[i]);
    operands.push_back(i < carries && !batched ? broadcast_over(c.in[i], c.size) : c.in[i]);
  }
  operands[1] = unbatch((*loop.test)(examples)[0], level, c.size);
  const Tensors out = run_while_node(until_all, operands);
  return Tensors(out.begin() + 2, out.end());
}

// One example after the other.
Tensors scan_examples(const BatchCall& c) {
  std::vector<Tensor> batches;
  for (std::size_t i = 0; i < c.in.size(); ++i)
    if (c.is_batched(static_cast<int>(i))) batches.push_back(c.in[i]);
  const auto call = [&](const std::vector<Tensor>& examples) {
    Tensors in;
    for (std::size_t i = 0, next = 0; i < c.in.size(); ++i)
      in.push_back(c.is_batched(static_cast<int>(i)) ? examples[next++] : c.in[i]);
    const Tensors out = c.op.run(in, c.attrs);
    return std::vector<Tensor>(out.begin(), out.end());
  };
  const std::vector<Tensor> out = detail::run_scan(call, {}, batches, c.size, false);
  return Tensors(out.begin(), out.end());
}

[[maybe_unused]] const bool is_known_below = (loop_in_program = scan_examples, true);

}  // namespace

Tensors batch_while(const WhileLoop& loop, const BatchCall& c) {
  if (loop.test->is_stateful() || loop.body->is_stateful()) return batch_loop(c);
  std::vector<bool> batched = batched_operands(c);
  batched_body(*loop.body, loop.carries(), c.size, batched);
  return stops_by_example(loop, batched, c.size) ? run_until_all_stop(loop, c)
                                                 : run_together(loop, c, batched);
}

Tensors batch_counted(const CountedLoop& loop, Size count, const BatchCall& c) {
  if (loop.body->is_stateful()) return batch_loop(c);
  const std::size_t firsts_at = loop.carries + loop.xs;
  const auto first_at = [&](std::size_t x) {
    return firsts_at + static_cast<std::size_t>(loop.shifts[x].first);
  };
  std::vector<bool> given = batched_operands(c), inner(given.begin(), given.begin() + firsts_at);
  for (std::size_t x = 0; x < loop.xs; ++x)  // a stack and what stands at its edge
    if (loop.shifts[x].first >= 0 && given[first_at(x)]) inner[loop.carries + x] = true;
  inner.insert(inner.end(), given.begin() + static_cast<std::ptrdiff_t>(loop.captures_at()),
               given.end());
  const BatchedBody batched = batched_body(*loop.body, loop.carries, c.size, inner);
  std::vector<Tensor> operands(c.in.begin(), c.in.end());
  const auto need_batch = [&](std::size_t i) {
    if (!given[i]) operands[i] = broadcast_over(operands[i], c.size);
  };
  for (std::size_t i = 0; i < loop.carries; ++i)
    if (inner[i]) need_batch(i);
  for (std::size_t x = 0; x < loop.xs; ++x) {
    if (!inner[loop.carries + x]) continue;
    need_batch(loop.carries + x);
    operands[loop.carries + x] = swap_two_axes(operands[loop.carries + x]);
    if (loop.shifts[x].first >= 0) need_batch(first_at(x));
  }
  Tensors out = run_counted(loop.with_body(batched.body), count, operands);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!batched.out[i]) {
      out[i] = broadcast_over(out[i], c.size);
    } else if (i >= loop.carries) {
      out[i] = swap_two_axes(out[i]);
    }
  }
  return out;
}

}  // namespace gradus
