#include "control/loop.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "autodiff/some_inputs.h"
#include "base/check.h"
#include "control/loop_batch.h"
#include "control/loop_run.h"
#include "gradus/loop_memory.h"
#include "graph/context.h"
#include "graph/symbols.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

struct WhileAttrs {
  Held* held = nullptr;
  static auto fields() { return attr_fields(attr("loop", &WhileAttrs::held)); }
};

struct CountedAttrs {
  Held* held = nullptr;
  Size count = 0;
  static auto fields() {
    return attr_fields(attr("loop", &CountedAttrs::held), attr("count", &CountedAttrs::count));
  }
};

const WhileLoop& while_of(const void* attrs) {
  return *static_cast<const WhileLoop*>(static_cast<const WhileAttrs*>(attrs)->held);
}

void infer_counted(const Call& c, Avals& out) {
  const CountedLoop& loop = counted_loop_of(c.attrs);
  const Size count = c.get<CountedAttrs>().count;
  if (c.in.size() != loop.captures_at() + loop.captures()) {
    fail<InvalidArgumentError>("[loop] got ", c.in.size(), " operands; expected ",
                               loop.captures_at() + loop.captures());
  }
  SmallVector<View, 16> in(c.in.begin(), c.in.begin() + static_cast<std::ptrdiff_t>(loop.carries));
  SmallVector<Shape, 8> rows;
  rows.reserve(loop.xs);
  for (std::size_t i = 0; i < loop.xs; ++i) {
    const View& x = c.in[loop.carries + i];
    rows.push_back(*x.shape);
    if (rows[i].rank() == 0 || !sizes_agree(rows[i][0], count)) {
      fail<InvalidArgumentError>("[loop] got a stack of shape ", *x.shape, " for ", count,
                                 " iterations; its first size must be their number");
    }
    rows[i].erase(0);
    in.push_back({nullptr, &rows[i], x.dtype});
  }
  for (const View& v : c.in.subspan(loop.captures_at())) in.push_back(v);
  loop.body->infer(in, out);
  for (std::size_t i = loop.carries; i < out.size(); ++i) out[i].shape.insert(0, count);
}

void counted_kernel(const KernelCall& c) {
  const CountedLoop& loop = counted_loop_of(c.attrs);
  const Size count = c.get<CountedAttrs>().count;
  SmallVector<void*, 16> carries;
  for (std::size_t i = 0; i < loop.carries; ++i) {
    carries.push_back(c.out[i].data);
    if (bytes_of(c.out[i]) > 0) std::memcpy(c.out[i].data, c.in[i].data, bytes_of(c.out[i]));
  }
  if (count == 0) return;
  SmallVector<LoopRun::Rows, 8> xs, ys;
  const auto rows_of = [&](const View& v) {
    return LoopRun::Rows{v.as<char>(), bytes_of(v) / static_cast<std::size_t>(count), 0, count};
  };
  for (std::size_t i = 0; i < loop.xs; ++i) {
    xs.push_back(rows_of(c.in[loop.carries + i]));
    if (loop.shifts[i].first < 0) continue;
    xs[i].shift = loop.shifts[i].by;
    xs[i].edge = c.in[loop.carries + loop.xs + static_cast<std::size_t>(loop.shifts[i].first)].data;
  }
  for (const View& v : c.out.subspan(loop.carries)) ys.push_back(rows_of(v));
  LoopRun run(loop, c.in);
  run.begin(carries);
  run.run(0, count, xs, ys);
  run.copy_carries(carries);
}

Op make_while(const char* name, bool stateful) {
  return general(
      {.name = name,
       .doc = "A function repeated until a test on its results fails.",
       .dtypes = kAnyDType,
       .attrs = &attr_type<WhileAttrs>(),
       .inputs = -1,
       .outputs = -1,
       .infer = [](const Call& c, Avals& out) { while_of(c.attrs).infer(c.in, out); },
       .kernel = [](const KernelCall& c) { run_while(while_of(c.attrs), c); },
       .batch = [](const BatchCall& c) { return batch_while(while_of(c.attrs), c); },
       .reads =
           [](const void*, std::uint32_t) {
             return Reads{~0u, 1};
           },
       .read_held = read_while,
       .stateful = stateful},
      [](const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out) {
        push_while(while_of(s.attrs), s.in, tangents, out);
      },
      [](const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
         std::span<Cotangent> grads) {
        pull_while(while_of(s.attrs), s.out[0], s.in, cts, wanted_inputs(s, wanted), grads);
      });
}

Op make_counted(const char* name, bool stateful) {
  return general(
      {.name = name,
       .doc = "A function repeated a known number of times, over rows of stacks.",
       .dtypes = kAnyDType,
       .attrs = &attr_type<CountedAttrs>(),
       .inputs = kAny,
       .outputs = kAny,
       .infer = infer_counted,
       .kernel = counted_kernel,
       .batch =
           [](const BatchCall& c) {
             return batch_counted(counted_loop_of(c.attrs), c.get<CountedAttrs>().count, c);
           },
       .reads =
           [](const void*, std::uint32_t) {
             return Reads{~0u, 0};
           },
       .read_held = read_counted,
       .stateful = stateful},
      [](const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out) {
        push_counted(counted_loop_of(s.attrs), s.get<CountedAttrs>().count, s.in, tangents, out);
      },
      [](const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
         std::span<Cotangent> grads) {
        const auto held = s.get<CountedAttrs>().held->shared_from_this();
        pull_counted(
            std::static_pointer_cast<const CountedLoop>(std::const_pointer_cast<const Held>(held)),
            s.get<CountedAttrs>().count, s.in, cts, wanted_inputs(s, wanted), grads);
      });
}

const Op while_op = make_while("while", false);
const Op stateful_while_op = make_while("stateful_while", true);
const Op counted_loop_op = make_counted("counted_loop", false);
const Op stateful_counted_loop_op = make_counted("stateful_counted_loop", true);

}  // namespace

CountedLoop::CountedLoop() : memory_limit(LoopMemoryLimit::of_thread()) {}

std::shared_ptr<CountedLoop> CountedLoop::with_body(std::shared_ptr<Region> other) const {
  auto loop = std::make_shared<CountedLoop>();
  loop->body = std::move(other);
  loop->carries = carries;
  loop->xs = xs;
  loop->ys = loop->body->output_count() - carries;
  loop->shifts = shifts;
  loop->backwards = backwards;
  loop->memory_limit = memory_limit;
  return loop;
}

std::shared_ptr<const Held> CountedLoop::without_effects() const {
  std::call_once(purified_, [&] {
    if (auto pure = body->without_effects()) pure_ = with_body(std::move(pure));
  });
  return pure_;
}

const Region& WhileLoop::step() const {
  std::call_once(made_, [&] {
    RegionBuilder both(body->graph());
    std::vector<Tensor> in;
    for (std::size_t i = 0; i < body->input_count(); ++i)
      in.push_back(both.add_input(body->input(i)));
    Tensors out;
    both.inside([&] {
      out = (*body)(in);
      std::copy(out.begin(), out.end(), in.begin());
      out.push_back((*test)(in)[0]);
    });
    step_ = both.finish(std::vector<Tensor>(out.begin(), out.end()));
    step_->limit_as(*body);
  });
  return *step_;
}

std::shared_ptr<const Held> WhileLoop::without_effects() const {
  const auto pure_test = test->without_effects(), pure_body = body->without_effects();
  if (!pure_test && !pure_body) return nullptr;
  auto pure = std::make_shared<WhileLoop>();
  pure->test = pure_test ? pure_test : test;
  pure->body = pure_body ? pure_body : body;
  pure->maximum_iterations = maximum_iterations;
  pure->counted = counted->with_body(pure->body);
  return pure;
}

bool is_while(const Op& op) { return &op == &while_op || &op == &stateful_while_op; }

Size count_of(const void* attrs) { return static_cast<const CountedAttrs*>(attrs)->count; }

std::size_t CountedLoop::firsts() const {
  std::int64_t last = -1;
  for (const Shift& s : shifts) last = std::max<std::int64_t>(last, s.first);
  return static_cast<std::size_t>(last + 1);
}

const CountedLoop& counted_loop_of(const void* attrs) {
  return *static_cast<const CountedLoop*>(static_cast<const CountedAttrs*>(attrs)->held);
}

Tensors run_while_node(const std::shared_ptr<WhileLoop>& loop, std::span<const Tensor> operands) {
  const WhileAttrs attrs{loop.get()};
  const bool stateful = loop->test->is_stateful() || loop->body->is_stateful();
  return (stateful ? stateful_while_op : while_op).run(operands, &attrs);
}

Tensors run_counted(const std::shared_ptr<const CountedLoop>& loop, Size count,
                    std::span<const Tensor> operands) {
  const CountedAttrs attrs{const_cast<CountedLoop*>(loop.get()), count};
  return (loop->body->is_stateful() ? stateful_counted_loop_op : counted_loop_op)
      .run(operands, &attrs);
}

}  // namespace gradus
