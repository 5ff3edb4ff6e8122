#include "compile/region.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "compile/graph_copy.h"
#include "compile/inner_memory.h"
#include "compile/roles.h"
#include "compile/stretches.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"
#include "graph/bind.h"
#include "graph/evaluate.h"
#include "graph/node_sizes.h"
#include "tensor/tensor_impl.h"

namespace gradus {

Region::Region(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) { graph_->close(); }

bool Region::is_stateful() const {
  return std::any_of(graph_->nodes().begin(), graph_->nodes().end(),
                     [](const Graph::Node& n) { return n.op->info.stateful; });
}

namespace {

const Repeatable* repeatable(const Graph& g, const Graph::Node& n) {
  return n.op->info.stateful ? held_as<Repeatable>(g, n) : nullptr;
}

}  // namespace

bool Region::may_repeat() const {
  return std::ranges::all_of(graph_->nodes(), [&](const Graph::Node& n) {
    const Repeatable* r = repeatable(*graph_, n);
    return !n.op->info.stateful || (r && r->may_repeat());
  });
}

std::shared_ptr<Region> Region::without_effects() const {
  bool changed = false;
  GraphCopy copy(*graph_);
  for (const Graph::Node& n : graph_->nodes()) {
    const Repeatable* r = repeatable(*graph_, n);
    if (r && n.out_count == 0) {
      changed = true;
      continue;
    }
    const std::shared_ptr<const Held> pure = r ? r->without_effects() : nullptr;
    if (!pure) {
      copy.copy(n);
      continue;
    }
    changed = true;
    copy.copy_with(n, *pure);
  }
  return changed ? std::make_shared<Region>(copy.finish()) : nullptr;
}

namespace {

std::optional<Sizes> bind_views(const Graph& graph, std::span<const View> in) {
  SmallVector<Aval, 8> avals;
  for (const View& v : in) avals.push_back({v.dtype, *v.shape});
  return bind_sizes(graph, avals);
}

[[noreturn]] void fail_sizes() {
  fail<InvalidArgumentError>("[loop or branch] the sizes inside do not go together as traced");
}

void bind_results(const Graph& graph, const Sizes& sizes, Avals& out) {
  for (Graph::Value v : graph.outputs()) {
    const Aval& aval = graph.info(v).aval;
    out.push_back({aval.dtype, bind_shape(graph.symbols(), sizes, aval.shape)});
  }
}

}  // namespace

void Region::results(std::span<const View> in, Avals& out) const {
  const std::optional<Sizes> sizes = bind_views(*graph_, in);
  if (!sizes) fail_sizes();
  bind_results(*graph_, *sizes, out);
}

void Region::infer(std::span<const View> in, Avals& out) const {
  const std::optional<Sizes> sizes = bind_views(*graph_, in);
  const bool known = sizes && std::ranges::all_of(*sizes, [](Size s) { return s.is_known(); });
  // A region of another function, in a trace: what it relies on, the trace relies on too.
  const bool foreign = sizes && !known && symbols_of_trace() != &graph_->symbols();
  if (!sizes || (!sizes->empty() && known && !serves(*graph_, *sizes)) ||
      (foreign && !graph_->symbols().guards_hold(*sizes)))
    fail_sizes();
  bind_results(*graph_, *sizes, out);
  for (const Aval& aval : out) {
    if (std::ranges::any_of(aval.shape, [](Size s) { return is_same(s, kUnbound); })) {
      fail<UnimplementedError>(
          "[loop or branch] a result has a size that is found inside; find it outside and use it "
          "inside, or make the result of a known size");
    }
  }
}

Tensors Region::operator()(std::span<const Tensor> in) const {
  const std::vector<Tensor> out = evaluate(*graph_, in);
  return Tensors(out.begin(), out.end());
}

Tensors Region::run(std::vector<Tensor> in) const {
  const std::optional<Sizes> sizes = bind_sizes(*graph_, in);
  if (!sizes) fail_sizes();
  if (!is_worth_a_layout(*sizes, in)) return run_once(*sizes, in);
  if (!sizes->empty()) served_.check(*graph_, *sizes);
  std::vector<Tensor> made(output_count());
  program().run(in, made);
  return Tensors(made.begin(), made.end());
}

bool Region::is_worth_a_layout(const Sizes& sizes, std::span<const Tensor> in) const {
  if (sizes.empty()) return true;
  // Shapes, attributes and memory for new sizes take tens of microseconds: as long as some ops on
  // so many bytes do.
  constexpr std::size_t kLarge = 256 << 10;
  std::size_t bytes = 0;
  for (const Tensor& t : in) bytes += t.num_bytes();
  const std::lock_guard lock(last_mutex_);
  const bool is_same_as_last = sizes == last_;
  if (!is_same_as_last) last_ = sizes;
  return is_same_as_last || bytes > kLarge;
}

Tensors Region::run_once(const Sizes& sizes, std::span<const Tensor> in) const {
  check_guards(*graph_, sizes);
  const PauseTracing here;
  const Mute nobody_is_told(0);
  Tensors out = (*this)(in);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Shape traced = bind_shape(graph_->symbols(), sizes, output(i).shape);
    for (int a = 0; a < traced.rank(); ++a)
      if (traced[a].is_known() && !is_same(traced[a], kUnbound) && traced[a] != out[i].shape()[a])
        fail<BrokenGuard>(
            "a size is 1 and broadcasts, which was not so when the function was traced");
  }
  return out;
}

void require_repeatable(bool may_repeat) {
  if (may_repeat) return;
  fail<UnimplementedError>(
      "[gradient] a branch or a loop body draws random numbers, and its gradient, which runs it "
      "again, would draw others; draw them outside and use them inside");
}

Executable& Region::program() const {
  std::call_once(compiled_, [&] {
    std::vector<Donation> carried;  // the body of a loop may write a carry over what it was
    for (std::uint32_t i = 0; i < std::min(input_count(), output_count()); ++i)
      carried.push_back({i, i});
    const Target target{sizes_, carried, memory_limit_};
    program_ = compiled(graph_, target);
  });
  return *program_;
}

std::int64_t Region::memory_bytes(std::span<const Aval> in) const {
  const std::optional<Sizes> sizes = bind_sizes(*graph_, in);
  GRADUS_ASSERT(sizes.has_value());
  return memory_bytes(*sizes);
}

std::int64_t Region::memory_bytes(const Sizes& sizes) const {
  return program().arena_bytes(sizes) + inner_bytes(program().graph(), sizes);
}

std::shared_ptr<Region> Region::with_less_memory(std::span<const Aval> in, double part) const {
  auto less = std::make_shared<Region>(graph_);
  less->sizes_ = *bind_sizes(*graph_, in);
  less->memory_limit_ = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(part * static_cast<double>(memory_bytes(in))));
  return less;
}

std::shared_ptr<Region> RegionBuilder::finish(std::span<const Tensor> out) {
  std::vector<Graph::Value> outputs;
  for (const Tensor& t : out) outputs.push_back(graph_->value(t));
  graph_->set_outputs(std::move(outputs));
  return std::make_shared<Region>(graph_);
}

}  // namespace gradus
