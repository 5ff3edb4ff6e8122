// while_loop. The node has the carries, then what test and body use from outside.
#include <algorithm>
#include <cstring>
#include <sstream>

#include "base/check.h"
#include "compile/region.h"
#include "gradus/control.h"
#include "gradus/interrupt.h"
#include "gradus/ops.h"
#include "gradus/variable.h"
#include "graph/batch.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

struct Loop final : Held, Repeatable {
  std::shared_ptr<Region> test, body;
  std::int64_t maximum_iterations = -1;

  bool may_repeat() const override { return test->may_repeat() && body->may_repeat(); }
  std::shared_ptr<const Held> without_effects() const override {
    const auto pure_test = test->without_effects(), pure_body = body->without_effects();
    if (!pure_test && !pure_body) return nullptr;
    auto pure = std::make_shared<Loop>(*this);
    if (pure_test) pure->test = pure_test;
    if (pure_body) pure->body = pure_body;
    return pure;
  }
};

struct LoopAttrs {
  Held* held = nullptr;
  static auto fields() { return attr_fields(attr("loop", &LoopAttrs::held)); }
};

const Loop& loop_of(const void* attrs) {
  return *static_cast<const Loop*>(static_cast<const LoopAttrs*>(attrs)->held);
}

std::size_t bytes_of(const View& v) {
  return static_cast<std::size_t>(v.count()) * size_of(v.dtype);
}

// The carries go back and forth between the results and a second set of buffers.
void run_loop(const KernelCall& c) {
  const Loop& loop = loop_of(c.attrs);
  const std::size_t carries = c.out.size();
  Executable::Session test(loop.test->program(), c.in), body(loop.body->program(), c.in);
  std::vector<Tensor> second;
  SmallVector<void*, 16> now, next, results;
  for (std::size_t i = 0; i < carries; ++i) {
    const View& out = c.out[i];
    second.push_back(make_tensor(out.dtype, *out.shape));
    if (bytes_of(out) > 0) std::memcpy(out.data, c.in[i].data, bytes_of(out));
    now.push_back(out.data);
    results.push_back(out.data);
    next.push_back(second[i].impl()->data);
  }
  for (const View& v : c.in.subspan(carries)) {
    now.push_back(v.data);
    next.push_back(v.data);
  }
  const auto outputs = [&](SmallVector<void*, 16>& all) {
    return std::span<void* const>(all.data(), carries);
  };
  bool more = false;
  void* const answer[] = {&more};
  for (std::int64_t done = 0; done != loop.maximum_iterations; ++done) {
    check_interrupt();
    test.run({now.data(), now.size()}, answer);
    if (!more) break;
    body.run({now.data(), now.size()}, outputs(next));
    std::swap(now, next);
  }
  for (std::size_t i = 0; i < carries; ++i)
    if (now[i] != results[i] && bytes_of(c.out[i]) > 0)
      std::memcpy(results[i], now[i], bytes_of(c.out[i]));
}

[[noreturn]] void no_gradient() {
  fail<UnimplementedError>(
      "[while_loop] a loop inside a traced function has no derivative yet; run it outside of "
      "function, or unroll it");
}

Op make_op(const char* name, bool stateful) {
  return general(
      {.name = name,
       .doc = "A function repeated until a test on its results fails.",
       .dtypes = kAnyDType,
       .attrs = &attr_type<LoopAttrs>(),
       .inputs = -1,
       .outputs = -1,
       .infer = [](const Call& c, Avals& out) { loop_of(c.attrs).body->infer(c.in, out); },
       .kernel = run_loop,
       .batch = batch_loop,
       .reads =
           [](const void*, std::uint32_t) {
             return Reads{~0u, 0};
           },
       .stateful = stateful},
      [](const Site&, std::span<const Tensor>, std::span<Tensor>) { no_gradient(); },
      [](const Site&, std::span<const Tensor>, std::uint32_t, std::span<Cotangent>) {
        no_gradient();
      });
}

const Op while_op = make_op("while", false);
const Op stateful_while_op = make_op("stateful_while", true);

void check_test(const Tensor& t) {
  if (t.defined() && t.dtype() == bool_ && t.rank() == 0) return;
  fail<InvalidArgumentError>("[while_loop] the test gives ",
                             t.defined() ? name_of(t.dtype()) : "an undefined tensor",
                             "; expected a scalar bool, such as i < 10");
}

void check_carry(std::size_t i, const std::string& before, const std::string& after) {
  if (before == after) return;
  fail<InvalidArgumentError>("[while_loop] loop variable ", i, " is ", before,
                             " before the body and ", after,
                             " after it; dtypes and shapes must stay");
}

std::string print(const Tensor& t) {
  std::ostringstream text;
  text << name_of(t.dtype()) << " " << t.shape();
  return text.str();
}

std::vector<Tensor> run_eagerly(const detail::LoopTest& test, const detail::LoopBody& body,
                                std::vector<Tensor> vars, std::int64_t maximum) {
  for (std::int64_t done = 0; done != maximum; ++done) {
    check_interrupt();
    const Tensor more = test(vars);
    check_test(more);
    if (!is_concrete(more)) {
      fail<UnimplementedError>(
          "[while_loop] the examples of a vmap would stop at different times; "
          "put the loop around the vmap");
    }
    if (!more.item<bool>()) break;
    std::vector<Tensor> next = body(vars);
    for (std::size_t i = 0; i < vars.size(); ++i) check_carry(i, print(vars[i]), print(next[i]));
    vars = std::move(next);
  }
  return vars;
}

}  // namespace

namespace detail {

std::vector<Tensor> run_while(const LoopTest& test, const LoopBody& body, std::vector<Tensor> vars,
                              std::int64_t maximum) {
  for (std::size_t i = 0; i < vars.size(); ++i) {
    if (!vars[i].defined())
      fail<InvalidArgumentError>("[while_loop] loop variable ", i, " is an undefined tensor");
    if (vars[i].impl()->has(kWeak))
      vars[i] = cast(vars[i], vars[i].dtype() == float64 ? float32 : int32);
  }
  if (!thread_context.graph) return run_eagerly(test, body, std::move(vars), maximum);
  const std::size_t count = vars.size();
  std::vector<std::shared_ptr<VariableState>> written;  // by the body: further carries
  std::vector<OpenRegion> open;
  for (bool again = true; again;) {
    again = false;
    std::vector<Aval> carries;
    for (const Tensor& t : vars) carries.push_back({t.dtype(), t.shape()});
    open.clear();
    open.push_back(
        open_region(*thread_context.graph, carries, written,
                    [&](const std::vector<Tensor>& in) { return std::vector{test(in)}; }));
    check_test(open[0].out[0]);
    open.push_back(open_region(*thread_context.graph, carries, written,
                               [&](const std::vector<Tensor>& in) { return body(in); }));
    for (const auto& e : open[1].variables) {
      if (!e.is_written || std::ranges::count(written, e.variable)) continue;
      written.push_back(e.variable);
      vars.push_back(read_variable(*e.variable));
      again = true;
    }
  }
  for (const auto& variable : written)
    for (const auto& e : open[1].variables)
      if (e.variable == variable) open[1].out.push_back(e.now);
  for (std::size_t i = 0; i < vars.size(); ++i) {
    check_carry(i, open[1].print({vars[i].dtype(), vars[i].shape()}),
                open[1].print(open[1].result(i)));
  }
  const auto loop = std::make_shared<Loop>();
  std::vector<std::shared_ptr<Region>> regions;
  for (const Tensor& t : close_regions(open, regions)) vars.push_back(t);
  loop->test = regions[0];
  loop->body = regions[1];
  loop->maximum_iterations = maximum;
  const LoopAttrs attrs{loop.get()};
  const bool stateful = loop->test->is_stateful() || loop->body->is_stateful();
  const Tensors out = (stateful ? stateful_while_op : while_op).run(vars, &attrs);
  for (std::size_t i = 0; i < written.size(); ++i) Variable(written[i]).assign(out[count + i]);
  return std::vector<Tensor>(out.begin(), out.begin() + count);
}

}  // namespace detail
}  // namespace gradus
