#include "compile/loop.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "autodiff/rules.h"
#include "base/check.h"
#include "gradus/interrupt.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"
#include "graph/batch.h"
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
  std::int64_t count = 0;
  static auto fields() {
    return attr_fields(attr("loop", &CountedAttrs::held), attr("count", &CountedAttrs::count));
  }
};

const WhileLoop& while_of(const void* attrs) {
  return *static_cast<const WhileLoop*>(static_cast<const WhileAttrs*>(attrs)->held);
}

std::size_t bytes_of(const View& v) {
  return static_cast<std::size_t>(v.count()) * size_of(v.dtype);
}

// Where the carries of a loop are: each in one place if an iteration may write over its own input,
// else in two by turns.
class Carries {
 public:
  Carries(const KernelCall& c, std::size_t count, const Executable::Session& body) : out_(c.out) {
    for (std::size_t i = 0; i < count; ++i) {
      const View& out = c.out[i];
      if (bytes_of(out) > 0) std::memcpy(out.data, c.in[i].data, bytes_of(out));
      now.push_back(out.data);
      next.push_back(out.data);
      if (body.writes_over_input(i)) continue;
      second_.push_back(make_tensor(out.dtype, *out.shape));
      next[i] = second_.back().impl()->data;
    }
  }
  void finish() {
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now[i] != out_[i].data && bytes_of(out_[i]) > 0)
        std::memcpy(out_[i].data, now[i], bytes_of(out_[i]));
  }
  SmallVector<void*, 16> now, next;

 private:
  std::span<const View> out_;
  SmallVector<Tensor, 8> second_;
};

void while_kernel(const KernelCall& c) {
  const WhileLoop& loop = while_of(c.attrs);
  const std::size_t carries = c.out.size();
  Executable::Session test(loop.test->program(), c.in), body(loop.body->program(), c.in);
  Carries at(c, carries, body);
  SmallVector<void*, 16> in(at.now.begin(), at.now.end());
  for (const View& v : c.in.subspan(carries)) in.push_back(v.data);
  bool more = false;
  void* const answer[] = {&more};
  for (std::int64_t done = 0; done != loop.maximum_iterations; ++done) {
    if ((done & 63) == 0) check_interrupt();
    test.run({in.data(), in.size()}, answer);
    if (!more) break;
    body.run({in.data(), in.size()}, {at.next.data(), carries});
    std::swap(at.now, at.next);
    std::copy(at.now.begin(), at.now.end(), in.begin());
  }
  at.finish();
}

void infer_counted(const Call& c, Avals& out) {
  const CountedLoop& loop = counted_loop_of(c.attrs);
  const std::int64_t count = c.get<CountedAttrs>().count;
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

// A stack of rows, and what stands at each iteration.
struct Rows {
  char* base;
  std::size_t bytes;
  std::int64_t count;
  std::int64_t shift = 0;
  void* first = nullptr;  // what stands where a shifted stack has no row
  void* at(std::int64_t i) const {
    i += shift;
    return i < 0 || i >= count ? first : base + static_cast<std::size_t>(i) * bytes;
  }
};

void counted_kernel(const KernelCall& c) {
  const CountedLoop& loop = counted_loop_of(c.attrs);
  const std::int64_t count = c.get<CountedAttrs>().count;
  const std::size_t carries = loop.carries;
  if (count == 0) {
    for (std::size_t i = 0; i < carries; ++i)
      if (bytes_of(c.out[i]) > 0) std::memcpy(c.out[i].data, c.in[i].data, bytes_of(c.out[i]));
    return;
  }
  SmallVector<Shape, 8> shapes;
  SmallVector<Rows, 8> xs, ys;
  SmallVector<View, 16> views(c.in.begin(), c.in.begin() + static_cast<std::ptrdiff_t>(carries));
  const auto rows_of = [&](const View& v) {
    return Rows{v.as<char>(), bytes_of(v) / static_cast<std::size_t>(count), count};
  };
  shapes.reserve(loop.xs);
  for (std::size_t i = 0; i < loop.xs; ++i) {
    const View& x = c.in[carries + i];
    shapes.push_back(*x.shape);
    shapes[i].erase(0);
    views.push_back({nullptr, &shapes[i], x.dtype});
    xs.push_back(rows_of(x));
    if (loop.shifts[i].first < 0) continue;
    xs[i].shift = loop.shifts[i].by;
    xs[i].first = c.in[carries + loop.xs + static_cast<std::size_t>(loop.shifts[i].first)].data;
  }
  for (const View& v : c.in.subspan(loop.captures_at())) views.push_back(v);
  for (const View& v : c.out.subspan(carries)) ys.push_back(rows_of(v));

  Executable& program = loop.body->program();
  Executable::Session body(program, views);
  Carries at(c, carries, body);
  SmallVector<void*, 16> in(at.now.begin(), at.now.end()), out(at.next.begin(), at.next.end());
  in.resize(views.size());
  for (std::size_t i = carries + loop.xs; i < views.size(); ++i) in[i] = views[i].data;
  out.resize(carries + loop.ys);
  // A carry that is also kept in a stack is read from there by the next iteration.
  std::vector<std::int32_t> kept(carries, -1);
  const auto& results = program.graph().outputs();
  for (std::size_t k = 0; k < loop.ys; ++k)
    for (std::size_t i = 0; i < carries; ++i)
      if (results[carries + k] == results[i] && kept[i] < 0) kept[i] = static_cast<std::int32_t>(k);
  for (std::int64_t step = 0; step < count; ++step) {
    if ((step & 63) == 0) check_interrupt();
    const std::int64_t row = loop.backwards ? count - 1 - step : step;
    for (std::size_t i = 0; i < loop.xs; ++i) in[carries + i] = xs[i].at(row);
    for (std::size_t k = 0; k < loop.ys; ++k) out[carries + k] = ys[k].at(row);
    for (std::size_t i = 0; i < carries; ++i) {
      in[i] = at.now[i];
      out[i] = kept[i] >= 0 ? out[carries + static_cast<std::size_t>(kept[i])] : at.next[i];
    }
    body.run({in.data(), in.size()}, {out.data(), out.size()});
    for (std::size_t i = 0; i < carries; ++i) {
      at.next[i] = at.now[i];
      at.now[i] = out[i];
    }
  }
  at.finish();
}

std::vector<bool> wanted_operands(const Site& s, std::uint32_t wanted) {
  std::vector<bool> want;
  for (std::size_t i = 0; i < s.args.size(); ++i)
    want.push_back((wanted >> std::min<std::size_t>(i, 31) & 1) &&
                   is_differentiable(s.args[i].dtype));
  return want;
}

// The gradient of a loop whose number of iterations only the program knows: operands are that
// number, those of the loop, and cotangents; results are the gradients of some of the operands.
struct WhileGradient final : Held {
  std::shared_ptr<const CountedLoop> loop;
  std::size_t operands = 0;
  std::vector<bool> wanted, given;     // operands of the loop, cotangents
  std::vector<std::size_t> gradients;  // by result: the operand
};

const WhileGradient& gradient_of(const void* attrs) {
  return *static_cast<const WhileGradient*>(static_cast<const WhileAttrs*>(attrs)->held);
}

Tensor copy_of(const View& v) {
  Tensor t = make_tensor(v.dtype, *v.shape);
  if (bytes_of(v) > 0) std::memcpy(t.impl()->data, v.data, bytes_of(v));
  return t;
}

// Now the number is known: as outside of a trace.
void gradient_kernel(const KernelCall& c) {
  const WhileGradient& w = gradient_of(c.attrs);
  const PauseTracing at_once;
  const Mute nobody_is_told(0);
  std::vector<Tensor> operands, cts;
  for (const View& v : c.in.subspan(1, w.operands)) operands.push_back(copy_of(v));
  std::size_t next = 1 + w.operands;
  for (bool given : w.given) cts.push_back(given ? copy_of(c.in[next++]) : Tensor());
  std::vector<Cotangent> grads(operands.size());
  pull_counted(w.loop, *c.in[0].as<std::int64_t>(), operands, cts, w.wanted, grads);
  for (std::size_t k = 0; k < w.gradients.size(); ++k) {
    const Cotangent& g = grads[w.gradients[k]];
    if (bytes_of(c.out[k]) == 0) continue;
    if (g.is_zero()) {
      std::memset(c.out[k].data, 0, bytes_of(c.out[k]));
    } else {
      std::memcpy(c.out[k].data, dense(g).impl()->data, bytes_of(c.out[k]));
    }
  }
}

[[noreturn]] void no_second_derivative() {
  fail<UnimplementedError>(
      "[while_loop] inside a traced function, a loop whose number of iterations depends on data "
      "has "
      "a first derivative in reverse mode and none of that one; make the number known, or use "
      "forward mode first");
}

const Op while_gradient_op = general(
    {.name = "while_gradient",
     .doc = "The gradient of a while.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<WhileAttrs>(),
     .inputs = -1,
     .outputs = -1,
     .infer =
         [](const Call& c, Avals& out) {
           for (std::size_t i : gradient_of(c.attrs).gradients)
             out.push_back({c.in[1 + i].dtype, *c.in[1 + i].shape});
         },
     .kernel = gradient_kernel,
     .batch = batch_loop},
    [](const Site&, std::span<const Tensor>, std::span<Tensor>) { no_second_derivative(); },
    [](const Site&, std::span<const Tensor>, std::uint32_t, std::span<Cotangent>) {
      no_second_derivative();
    });

void pull_while(const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
                std::span<Cotangent> grads) {
  const WhileLoop& loop = while_of(s.attrs);
  const std::vector<bool> want = wanted_operands(s, wanted);
  const Tensor& count = s.out[0];
  if (is_concrete(count)) {
    pull_counted(loop.counted, count.item<std::int64_t>(), s.in, cts, want, grads);
    return;
  }
  const auto gradient = std::make_shared<WhileGradient>();
  gradient->loop = loop.counted;
  gradient->operands = s.in.size();
  gradient->wanted = want;
  std::vector<Tensor> operands{count};
  operands.insert(operands.end(), s.in.begin(), s.in.end());
  for (const Tensor& ct : cts) {
    gradient->given.push_back(ct.defined());
    if (ct.defined()) operands.push_back(ct);
  }
  for (std::size_t i : reached_operands(*loop.counted, want, gradient->given))
    if (want[i]) gradient->gradients.push_back(i);
  if (gradient->gradients.empty()) return;
  const WhileAttrs attrs{gradient.get()};
  const Tensors found = while_gradient_op.run(operands, &attrs);
  for (std::size_t k = 0; k < found.size(); ++k) grads[gradient->gradients[k]] = found[k];
}

Op make_while(const char* name, bool stateful) {
  return general(
      {.name = name,
       .doc = "A function repeated until a test on its results fails.",
       .dtypes = kAnyDType,
       .attrs = &attr_type<WhileAttrs>(),
       .inputs = -1,
       .outputs = -1,
       .infer = [](const Call& c, Avals& out) { while_of(c.attrs).body->infer(c.in, out); },
       .kernel = while_kernel,
       .batch = batch_loop,
       .reads =
           [](const void*, std::uint32_t) {
             return Reads{~0u, 1};
           },
       .read_held = read_while,
       .stateful = stateful},
      [](const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out) {
        push_while(while_of(s.attrs), s.in, tangents, out);
      },
      pull_while);
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
       .batch = batch_loop,
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
            s.get<CountedAttrs>().count, s.in, cts, wanted_operands(s, wanted), grads);
      });
}

const Op while_op = make_while("while", false);
const Op stateful_while_op = make_while("stateful_while", true);
const Op stateful_counted_loop_op = make_counted("stateful_counted_loop", true);

}  // namespace

const Op counted_loop_op = make_counted("counted_loop", false);

CountedLoop::CountedLoop() {
  static std::atomic<std::uint64_t> made{0};
  id = ++made;
}

std::shared_ptr<CountedLoop> CountedLoop::with_body(std::shared_ptr<Region> other) const {
  auto loop = std::make_shared<CountedLoop>();
  loop->body = std::move(other);
  loop->carries = carries;
  loop->xs = xs;
  loop->ys = loop->body->output_count() - carries;
  loop->shifts = shifts;
  loop->backwards = backwards;
  return loop;
}

std::shared_ptr<const Held> CountedLoop::without_effects() const {
  auto pure = body->without_effects();
  return pure ? with_body(std::move(pure)) : nullptr;
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

bool same_count(const void* a, const void* b) {
  return static_cast<const CountedAttrs*>(a)->count == static_cast<const CountedAttrs*>(b)->count;
}

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

Tensors run_counted(const std::shared_ptr<const CountedLoop>& loop, std::int64_t count,
                    std::span<const Tensor> operands) {
  const CountedAttrs attrs{const_cast<CountedLoop*>(loop.get()), count};
  return (loop->body->is_stateful() ? stateful_counted_loop_op : counted_loop_op)
      .run(operands, &attrs);
}

}  // namespace gradus
