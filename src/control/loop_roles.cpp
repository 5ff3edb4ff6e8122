// Loops as passes see them (compile/roles.h).
#include <algorithm>

#include "control/loop.h"
#include "control/loop_run.h"

namespace gradus {
namespace {

// Carries that every turn gives back as they came are the same at all turns.
std::vector<std::int32_t> unchanged_carries(const Region& body, std::size_t carries) {
  const Graph& g = body.graph();
  std::vector<std::int32_t> operands;
  for (std::size_t i = 0; i < carries; ++i)
    operands.push_back(g.outputs()[i] == g.inputs()[i] ? static_cast<std::int32_t>(i) : -1);
  return operands;
}

Aval aval_of(const View& v) { return {v.dtype, *v.shape}; }

// Regions whose programs take less memory; none if they take nothing.
std::vector<std::shared_ptr<Region>> smaller_regions(std::span<const HasBodies::Body> bodies,
                                                     double part) {
  std::vector<std::shared_ptr<Region>> smaller;
  std::int64_t bytes = 0;
  for (const HasBodies::Body& b : bodies) {
    bytes += b.region->memory_bytes(b.inputs);
    smaller.push_back(b.region->with_less_memory(b.inputs, part));
  }
  if (bytes == 0) smaller.clear();
  return smaller;
}

// Of carries that an iteration cannot write over themselves: they lie in two places by turns, if
// not in a stack.
std::int64_t second_places(const Region& body, std::span<const View> carries) {
  const auto outputs = std::span(body.program().graph().outputs());
  const auto stacks = outputs.subspan(carries.size());
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < carries.size(); ++i)
    if (!body.program().writes_over_input(i) && !std::ranges::count(stacks, outputs[i]))
      bytes += static_cast<std::int64_t>(bytes_of(carries[i]));
  return bytes;
}

}  // namespace

std::vector<HasBodies::Body> WhileLoop::bodies(const Call& call) const {
  Body each{test, {}, unchanged_carries(*body, carries()), maximum_iterations != 0};
  for (std::size_t i = carries(); i < body->input_count(); ++i)
    each.operands.push_back(static_cast<std::int32_t>(i));
  for (const View& v : call.in) each.inputs.push_back(aval_of(v));
  std::vector<Body> both{each, std::move(each)};
  both[1].region = body;
  both[1].surely_runs = false;
  return both;
}

std::shared_ptr<Held> WhileLoop::with_bodies(
    std::span<const std::shared_ptr<Region>> regions) const {
  auto loop = std::make_shared<WhileLoop>();
  loop->test = regions[0];
  loop->body = regions[1];
  loop->maximum_iterations = maximum_iterations;
  loop->counted = counted->with_body(regions[1]);
  return loop;
}

std::vector<HasBodies::Body> CountedLoop::bodies(const Call& call) const {
  const Size count = count_of(call.attrs);
  const bool runs = count.is_known() && count > 0;
  Body each{body, {}, unchanged_carries(*body, carries), runs};
  for (std::size_t i = 0; i < carries + xs; ++i) {
    each.inputs.push_back(aval_of(call.in[i]));
    if (i < carries) continue;
    each.inputs.back().shape.erase(0);
    each.operands.push_back(-1);
  }
  for (std::size_t i = 0; i < captures(); ++i) {
    each.operands.push_back(static_cast<std::int32_t>(captures_at() + i));
    each.inputs.push_back(aval_of(call.in[captures_at() + i]));
  }
  return {std::move(each)};
}

std::shared_ptr<Held> CountedLoop::with_bodies(
    std::span<const std::shared_ptr<Region>> regions) const {
  return with_body(regions[0]);
}

// The test before the loop, then each turn with the test after it, then perhaps one without.
std::int64_t WhileLoop::inner_bytes(const Call& call) const {
  std::vector<Aval> in;
  for (const View& v : call.in) in.push_back(aval_of(v));
  const std::int64_t last = maximum_iterations > 0 ? body->memory_bytes(in) : 0;
  return test->memory_bytes(in) + step().memory_bytes(in) + last +
         second_places(step(), call.in.first(carries()));
}

std::int64_t CountedLoop::inner_bytes(const Call& call) const {
  return body->memory_bytes(bodies(call)[0].inputs) + second_places(*body, call.in.first(carries));
}

std::shared_ptr<Held> WhileLoop::with_less_memory(const Call& call, double part) const {
  const auto smaller = smaller_regions(bodies(call), part);
  return smaller.empty() ? nullptr : with_bodies(smaller);
}

std::shared_ptr<Held> CountedLoop::with_less_memory(const Call& call, double part) const {
  const auto smaller = smaller_regions(bodies(call), part);
  return smaller.empty() ? nullptr : with_bodies(smaller);
}

}  // namespace gradus
