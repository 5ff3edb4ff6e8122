// Loops as passes see them (repeated.h).
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

}  // namespace

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
  Part part{body, {}, unchanged_carries(*body, carries), count_of(call.attrs) > 0};
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

}  // namespace gradus
