// Forward mode of loops: the loop with tangents as further carries, stacks and captures.
#include "autodiff/rules.h"
#include "base/check.h"
#include "control/loop.h"
#include "gradus/ops.h"
#include "tensor/tensor_impl.h"

namespace gradus {

// A loop with its tangents, and which inputs and results of the body have some.
struct CountedLoop::Push {
  std::shared_ptr<const CountedLoop> loop;
  std::vector<bool> in, out;
};

namespace {

Tensor zeros_of(const Aval& aval) { return zeros(aval.shape, aval.dtype); }

// One iteration with its tangents: (carries, their tangents, xs, theirs, captures, theirs).
struct PushedBody {
  std::shared_ptr<Region> body;
  std::vector<bool> in, out;  // which inputs and results have tangents
};

PushedBody pushed_body(const Region& region, std::size_t carries, std::size_t xs,
                       std::vector<bool> in) {
  for (;;) {
    RegionBuilder b(region.graph());
    std::vector<Tensor> primals(region.input_count()), tangents(region.input_count());
    const auto add = [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) primals[i] = b.add_input(region.input(i));
      for (std::size_t i = first; i < last; ++i)
        if (in[i]) tangents[i] = b.add_input(region.input(i));
    };
    add(0, carries);
    add(carries, carries + xs);
    add(carries + xs, region.input_count());
    Tensors out, moved;
    b.inside([&] {
      out = region(primals);
      moved = jvp_of([&](std::span<const Tensor> x) { return region(x); }, primals, tangents);
    });
    bool more = false;
    for (std::size_t i = 0; i < carries; ++i) {
      if (!moved[i].defined() || in[i]) continue;
      in[i] = more = true;
    }
    if (more) continue;
    std::vector<Tensor> results;
    std::vector<bool> given;
    b.inside([&] {
      for (std::size_t i = 0; i < out.size(); ++i)
        given.push_back(i < carries ? in[i] : moved[i].defined());
      const auto give = [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) results.push_back(out[i]);
        for (std::size_t i = first; i < last; ++i)
          if (given[i])
            results.push_back(moved[i].defined() ? moved[i] : zeros_of(region.output(i)));
      };
      give(0, carries);
      give(carries, out.size());
    });
    return {b.finish(results), in, given};
  }
}

Tensor tangent_or_zero(const Tensor& tangent, const Tensor& like) {
  return tangent.defined() ? tangent : zeros_like(like);
}

void refuse_random(const Region& region) {
  if (region.may_repeat()) return;
  fail<UnimplementedError>(
      "[jvp] the body of a loop draws random numbers, and its derivative, which runs it again, "
      "would draw others; draw them outside and use them inside");
}

// The loop with tangents, where these inputs of the body have some.
std::shared_ptr<const CountedLoop::Push> find_push(const CountedLoop& loop, std::vector<bool> in) {
  {
    const std::lock_guard lock(loop.mutex);
    if (const auto known = loop.pushes.find(in); known != loop.pushes.end()) return known->second;
  }
  refuse_random(*loop.body);
  const auto pure = loop.body->without_effects();
  const PushedBody pushed = pushed_body(pure ? *pure : *loop.body, loop.carries, loop.xs, in);
  const auto push = std::make_shared<CountedLoop::Push>();
  const auto moved = std::make_shared<CountedLoop>();
  push->loop = moved;
  push->in = pushed.in;
  push->out = pushed.out;
  moved->body = pushed.body;
  moved->backwards = loop.backwards;
  moved->memory_limit = loop.memory_limit;
  const auto is_moved = [&](std::size_t i) { return pushed.in[i]; };
  moved->carries = loop.carries;
  for (std::size_t i = 0; i < loop.carries; ++i) moved->carries += is_moved(i);
  std::int32_t firsts = 0;
  for (const bool tangents : {false, true}) {
    for (std::size_t x = 0; x < loop.xs; ++x) {
      if (tangents && !is_moved(loop.carries + x)) continue;
      CountedLoop::Shift shift = loop.shifts[x];
      if (shift.first >= 0) shift.first = firsts++;
      moved->shifts.push_back(shift);
    }
  }
  moved->xs = moved->shifts.size();
  moved->ys = pushed.body->output_count() - moved->carries;
  const std::lock_guard lock(loop.mutex);
  return loop.pushes.try_emplace(std::move(in), push).first->second;
}

}  // namespace

void push_counted(const CountedLoop& loop, Size count, std::span<const Tensor> operands,
                  std::span<const Tensor> tangents, std::span<Tensor> out) {
  const std::size_t xs_at = loop.carries, firsts_at = xs_at + loop.xs,
                    captures_at = loop.captures_at();
  const auto first_at = [&](std::size_t x) {
    return firsts_at + static_cast<std::size_t>(loop.shifts[x].first);
  };
  std::vector<bool> in;
  for (std::size_t i = 0; i < firsts_at; ++i) in.push_back(tangents[i].defined());
  for (std::size_t x = 0; x < loop.xs; ++x)
    if (loop.shifts[x].first >= 0 && tangents[first_at(x)].defined()) in[xs_at + x] = true;
  for (std::size_t i = captures_at; i < operands.size(); ++i) in.push_back(tangents[i].defined());
  const auto push = find_push(loop, in);

  std::vector<Tensor> arguments, first;
  const auto moved = [&](std::size_t i) { return tangent_or_zero(tangents[i], operands[i]); };
  for (std::size_t i = 0; i < loop.carries; ++i) arguments.push_back(operands[i]);
  for (std::size_t i = 0; i < loop.carries; ++i)
    if (push->in[i]) arguments.push_back(moved(i));
  for (std::size_t x = 0; x < loop.xs; ++x) {
    arguments.push_back(operands[xs_at + x]);
    if (loop.shifts[x].first >= 0) first.push_back(operands[first_at(x)]);
  }
  for (std::size_t x = 0; x < loop.xs; ++x) {
    if (!push->in[xs_at + x]) continue;
    arguments.push_back(moved(xs_at + x));
    if (loop.shifts[x].first >= 0) first.push_back(moved(first_at(x)));
  }
  arguments.insert(arguments.end(), first.begin(), first.end());
  for (std::size_t i = captures_at; i < operands.size(); ++i) arguments.push_back(operands[i]);
  for (std::size_t i = captures_at; i < operands.size(); ++i)
    if (tangents[i].defined()) arguments.push_back(tangents[i]);
  const Tensors found = run_counted(push->loop, count, arguments);
  std::size_t next = loop.carries;
  for (std::size_t i = 0; i < loop.carries; ++i)
    if (push->out[i]) out[i] = found[next++];
  next += loop.ys;
  for (std::size_t i = loop.carries; i < loop.carries + loop.ys; ++i)
    if (push->out[i]) out[i] = found[next++];
}

void push_while(const WhileLoop& loop, std::span<const Tensor> operands,
                std::span<const Tensor> tangents, std::span<Tensor> out) {
  refuse_random(*loop.body);
  const std::size_t carries = loop.carries();
  const auto pure = loop.body->without_effects();
  std::vector<bool> given;
  for (const Tensor& tangent : tangents) given.push_back(tangent.defined());
  const PushedBody pushed = pushed_body(pure ? *pure : *loop.body, carries, 0, given);
  const auto moved = std::make_shared<WhileLoop>();
  moved->body = pushed.body;
  moved->maximum_iterations = loop.maximum_iterations;
  RegionBuilder test(loop.body->graph());
  std::vector<Tensor> primals, arguments(operands.begin(), operands.begin() + carries);
  for (std::size_t i = 0; i < carries; ++i) primals.push_back(test.add_input(loop.body->input(i)));
  for (std::size_t i = 0; i < carries; ++i) {
    if (!pushed.in[i]) continue;
    test.add_input(loop.body->input(i));
    arguments.push_back(tangent_or_zero(tangents[i], operands[i]));
  }
  for (std::size_t i = carries; i < operands.size(); ++i) {
    primals.push_back(test.add_input(loop.body->input(i)));
    arguments.push_back(operands[i]);
  }
  for (std::size_t i = carries; i < operands.size(); ++i) {
    if (!tangents[i].defined()) continue;
    test.add_input(loop.body->input(i));
    arguments.push_back(tangents[i]);
  }
  const Tensors answer = test.inside([&] { return (*loop.test)(primals); });
  moved->test = test.finish(answer);
  const auto counted = std::make_shared<CountedLoop>();
  counted->body = moved->body;
  counted->carries = moved->carries();
  counted->memory_limit = loop.counted->memory_limit;
  moved->counted = counted;
  const Tensors found = run_while_node(moved, arguments);
  std::size_t next = carries;
  for (std::size_t i = 0; i < carries; ++i)
    if (pushed.out[i]) out[i] = found[next++];
}

}  // namespace gradus
