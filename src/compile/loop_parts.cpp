// Loops as passes see them (repeated.h, inner_memory.h).
#include <atomic>

#include "compile/loop.h"

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
std::vector<std::shared_ptr<Region>> smaller_regions(std::span<const Repeated::Part> parts,
                                                     double part) {
  std::vector<std::shared_ptr<Region>> smaller;
  std::int64_t bytes = 0;
  for (const Repeated::Part& p : parts) {
    bytes += p.region->memory_bytes(p.inputs);
    smaller.push_back(p.region->with_less_memory(p.inputs, part));
  }
  if (bytes == 0) smaller.clear();
  return smaller;
}

}  // namespace

Extension::Extension()
    : id([] {
        static std::atomic<std::uint64_t> made{0};
        return ++made;
      }()) {}

std::vector<Repeated::Part> WhileLoop::parts(const Call& call) const {
  Part part{test, {}, unchanged_carries(*body, carries()), maximum_iterations != 0};
  for (std::size_t i = carries(); i < body->input_count(); ++i)
    part.operands.push_back(static_cast<std::int32_t>(i));
  for (const View& v : call.in) part.inputs.push_back(aval_of(v));
  std::vector<Part> both{part, std::move(part)};
  both[1].region = body;
  both[1].surely_runs = false;
  return both;
}

std::shared_ptr<Held> WhileLoop::with_parts(
    std::span<const std::shared_ptr<Region>> regions) const {
  auto loop = std::make_shared<WhileLoop>();
  loop->test = regions[0];
  loop->body = regions[1];
  loop->maximum_iterations = maximum_iterations;
  loop->counted = counted->with_body(regions[1]);
  return loop;
}

std::vector<Repeated::Part> CountedLoop::parts(const Call& call) const {
  const Size count = count_of(call.attrs);
  const bool runs = count.is_known() && count > 0;
  Part part{body, {}, unchanged_carries(*body, carries), runs};
  for (std::size_t i = 0; i < carries + xs; ++i) {
    part.inputs.push_back(aval_of(call.in[i]));
    if (i < carries) continue;
    part.inputs.back().shape.erase(0);
    part.operands.push_back(-1);
  }
  for (std::size_t i = 0; i < captures(); ++i) {
    part.operands.push_back(static_cast<std::int32_t>(captures_at() + i));
    part.inputs.push_back(aval_of(call.in[captures_at() + i]));
  }
  return {std::move(part)};
}

std::shared_ptr<Held> CountedLoop::with_parts(
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
  return body->memory_bytes(parts(call)[0].inputs) + second_places(*body, call.in.first(carries));
}

std::shared_ptr<Held> WhileLoop::with_less_memory(const Call& call, double part) const {
  const auto smaller = smaller_regions(parts(call), part);
  return smaller.empty() ? nullptr : with_parts(smaller);
}

std::shared_ptr<Held> CountedLoop::with_less_memory(const Call& call, double part) const {
  const auto smaller = smaller_regions(parts(call), part);
  return smaller.empty() ? nullptr : with_parts(smaller);
}

}  // namespace gradus
