#include "control/branch.h"

#include "autodiff/some_inputs.h"
#include "base/check.h"
#include "control/choices.h"
#include "gradus/ops.h"
#include "graph/batch.h"
#include "graph/evaluate.h"

namespace gradus {
namespace {

struct BranchAttrs {
  Held* held = nullptr;
  static auto fields() { return attr_fields(attr("branches", &BranchAttrs::held)); }
};

Branches& branches_of(const void* attrs) {
  return *static_cast<Branches*>(static_cast<const BranchAttrs*>(attrs)->held);
}

void run_chosen(const KernelCall& c) {
  const auto& regions = branches_of(c.attrs).regions();
  const Region& region = *regions[chosen_branch(c.in[0], regions.size())];
  Executable::Runner runner(region.program(), c.in.subspan(1));
  SmallVector<void*, 16> in, out;
  for (const View& v : c.in.subspan(1)) in.push_back(v.data);
  for (const View& v : c.out) out.push_back(v.data);
  runner.run(in, out);
}

void pull(const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
          std::span<Cotangent> grads) {
  const Branches::Derivative d =
      branches_of(s.attrs).pull(wanted_inputs(s, wanted, 1), are_defined(cts));
  if (d.which.empty()) return;
  const Tensors found = run_branches(d.branches, s.in[0], with_defined(s.in.subspan(1), cts));
  for (std::size_t k = 0; k < d.which.size(); ++k) grads[d.which[k] + 1] = found[k];
}

void push(const Site& s, std::span<const Tensor> tangents, std::span<Tensor> out) {
  const auto moved = tangents.subspan(1);
  const Branches::Derivative d = branches_of(s.attrs).push(are_defined(moved));
  if (d.which.empty()) return;
  const Tensors found = run_branches(d.branches, s.in[0], with_defined(s.in.subspan(1), moved));
  for (std::size_t k = 0; k < d.which.size(); ++k) out[d.which[k]] = found[k];
}

// One branch for all examples of a vmap, or each chooses for itself.
Tensors batch_branches(const BatchCall& c) {
  if (!c.is_batched(0)) return batch_loop(c);
  std::vector<bool> rows;
  for (std::size_t i = 1; i < c.in.size(); ++i) rows.push_back(c.is_batched(static_cast<int>(i)));
  return run_choices(branches_of(c.attrs).shared(), c.in[0], c.in.subspan(1), rows);
}

// Few scalar expressions on few elements: both ways are computed, as a part of what is around.
constexpr std::size_t kMostNodes = 32;
constexpr std::int64_t kMostElements = 16;

bool is_tiny(const Aval& aval) {
  return aval.shape.is_known() && aval.shape.num_elements() <= kMostElements;
}

bool is_tiny(const Branches& branches);

bool is_tiny(const Region& region) {
  const Graph& g = region.graph();
  if (g.nodes().size() > kMostNodes) return false;
  for (std::size_t i = 0; i < region.output_count(); ++i)
    if (!is_tiny(region.output(i))) return false;
  return std::ranges::all_of(g.nodes(), [&](const Graph::Node& n) {
    const OpInfo& info = n.op->info;
    if (info.stateful || n.out_count == 0 || !is_tiny(g.info(n.first_out).aval)) return false;
    if (n.op->kind == Kind::elementwise || (info.expression && !info.row_axes)) return true;
    return info.lower && &n.op->attrs() == &attr_type<BranchAttrs>() &&
           is_tiny(branches_of(g.attrs(n)));
  });
}

bool is_tiny(const Branches& branches) {
  return branches.regions().size() == 2 &&
         std::ranges::all_of(branches.regions(), [](const auto& r) { return is_tiny(*r); });
}

Tensors as_select(const void* attrs, std::span<const Tensor> in) {
  const Branches& branches = branches_of(attrs);
  if (in[0].dtype() != bool_ || !is_tiny(branches)) return {};
  const Tensors no = (*branches.regions()[0])(in.subspan(1));
  const Tensors yes = (*branches.regions()[1])(in.subspan(1));
  Tensors out;
  for (std::size_t i = 0; i < no.size(); ++i)
    out.push_back(yes[i].impl() == no[i].impl() ? no[i] : where(in[0], yes[i], no[i]));
  return out;
}

Op make_op(const char* name, bool stateful) {
  return general(
      {.name = name,
       .doc = "One of several functions, chosen when the program runs.",
       .dtypes = kAnyDType,
       .attrs = &attr_type<BranchAttrs>(),
       .inputs = -1,
       .outputs = kAny,
       .differentiable = ~1u,
       .infer =
           [](const Call& c, Avals& out) {
             for (const auto& region : branches_of(c.attrs).regions()) {
               Avals results;  // the same of all, but each may refuse the sizes that it gets
               region->infer(c.in.subspan(1), results);
               if (out.empty()) out = results;
             }
           },
       .kernel = run_chosen,
       .batch = batch_branches,
       .reads =
           [](const void*, std::uint32_t) {
             return Reads{~0u, 0};
           },
       .lower = stateful ? nullptr : as_select,
       .read_held = read_branches,
       .stateful = stateful},
      push, pull);
}

const Op branch_op = make_op("branch", false);
const Op stateful_branch_op = make_op("stateful_branch", true);

// Branches from one traced derivative for each region: results that are zero everywhere drop out.
Branches::Derivative join(std::vector<RegionBuilder>& builders,
                          const std::vector<std::vector<Tensor>>& found,
                          const std::function<const Aval&(std::size_t, std::size_t)>& like) {
  Branches::Derivative d;
  for (std::size_t i = 0; i < found[0].size(); ++i)
    if (std::ranges::any_of(found, [&](const auto& f) { return f[i].defined(); }))
      d.which.push_back(i);
  std::vector<std::shared_ptr<Region>> regions;
  for (std::size_t r = 0; r < builders.size(); ++r) {
    const std::vector<Tensor> out = builders[r].inside([&] {
      std::vector<Tensor> all;
      for (std::size_t i : d.which) {
        const Aval& aval = like(r, i);
        all.push_back(found[r][i].defined() ? found[r][i] : zeros(aval.shape, aval.dtype));
      }
      return all;
    });
    regions.push_back(builders[r].finish(out));
  }
  d.branches = std::make_shared<Branches>(std::move(regions));
  return d;
}

}  // namespace

namespace {

std::vector<Aval> operands_of(const Call& call) {
  std::vector<Aval> in;
  for (const View& v : call.in.subspan(1)) in.push_back({v.dtype, *v.shape});
  return in;
}

}  // namespace

std::int64_t Branches::inner_bytes(const Call& call) const {
  std::int64_t bytes = 0;
  for (const auto& region : regions_) bytes += region->memory_bytes(operands_of(call));
  return bytes;
}

std::shared_ptr<Held> Branches::with_less_memory(const Call& call, double part) const {
  if (inner_bytes(call) == 0) return nullptr;
  std::vector<std::shared_ptr<Region>> smaller;
  for (const auto& region : regions_)
    smaller.push_back(region->with_less_memory(operands_of(call), part));
  return std::make_shared<Branches>(std::move(smaller));
}

bool Branches::is_stateful() const {
  return std::ranges::any_of(regions_, [](const auto& r) { return r->is_stateful(); });
}

bool Branches::may_repeat() const {
  return std::ranges::all_of(regions_, [](const auto& r) { return r->may_repeat(); });
}

std::shared_ptr<const Held> Branches::without_effects() const {
  bool changed = false;
  std::vector<std::shared_ptr<Region>> regions;
  for (const auto& r : regions_) {
    const std::shared_ptr<Region> pure = r->without_effects();
    changed = changed || pure;
    regions.push_back(pure ? pure : r);
  }
  return changed ? std::make_shared<Branches>(std::move(regions)) : nullptr;
}

std::size_t chosen_branch(const View& index, std::size_t count) {
  std::int64_t i = 0;
  if (index.dtype == bool_) i = *index.as<bool>();
  if (index.dtype == int32) i = *index.as<std::int32_t>();
  if (index.dtype == int64) i = *index.as<std::int64_t>();
  const auto last = static_cast<std::int64_t>(count) - 1;
  return static_cast<std::size_t>(i < 0 || i > last ? last : i);
}

std::vector<Tensor> trace_pull(const Region& effective, std::span<const Tensor> in,
                               const std::vector<bool>& wanted, std::span<const Tensor> cts) {
  const std::shared_ptr<Region> pure = effective.without_effects();
  const Region& region = pure ? *pure : effective;
  require_repeatable(region.may_repeat());
  const std::vector<Cotangent> seeds(cts.begin(), cts.end());
  std::vector<Tensor> grads;
  for (const Cotangent& g :
       pull_through([&](std::span<const Tensor> x) { return region(x); }, in, wanted, seeds))
    grads.push_back(g.is_zero() ? Tensor() : dense(g));
  return grads;
}

Branches::Derivative Branches::pull(const std::vector<bool>& wanted,
                                    const std::vector<bool>& given) {
  const Key key(wanted, given);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = pulls_.find(key); known != pulls_.end()) return known->second;
  }
  std::vector<RegionBuilder> builders;
  std::vector<std::vector<Tensor>> found;
  for (const auto& region : regions_) {
    RegionBuilder& b = builders.emplace_back(region->graph());
    std::vector<Tensor> in, cts;
    for (std::size_t i = 0; i < region->input_count(); ++i)
      in.push_back(b.add_input(region->input(i)));
    for (std::size_t i = 0; i < given.size(); ++i)
      cts.push_back(given[i] ? b.add_input(region->output(i)) : Tensor());
    found.push_back(b.inside([&] { return trace_pull(*region, in, wanted, cts); }));
  }
  Derivative d = join(builders, found, [&](std::size_t r, std::size_t i) -> const Aval& {
    return regions_[r]->input(i);
  });
  const std::lock_guard lock(mutex_);
  return pulls_.try_emplace(key, std::move(d)).first->second;
}

Branches::Derivative Branches::push(const std::vector<bool>& given) {
  const Key key(given, {});
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = pushes_.find(key); known != pushes_.end()) return known->second;
  }
  std::vector<RegionBuilder> builders;
  std::vector<std::vector<Tensor>> found;
  for (const auto& region : regions_) {
    RegionBuilder& b = builders.emplace_back(region->graph());
    std::vector<Tensor> in, tangents;
    for (std::size_t i = 0; i < region->input_count(); ++i)
      in.push_back(b.add_input(region->input(i)));
    for (std::size_t i = 0; i < given.size(); ++i)
      tangents.push_back(given[i] ? b.add_input(region->input(i)) : Tensor());
    const std::shared_ptr<Region> pure = region->without_effects();
    found.push_back(b.inside([&] {
      const Tensors out = jvp_of(
          [&](std::span<const Tensor> x) { return (pure ? *pure : *region)(x); }, in, tangents);
      return std::vector<Tensor>(out.begin(), out.end());
    }));
  }
  Derivative d = join(builders, found, [&](std::size_t r, std::size_t i) -> const Aval& {
    return regions_[r]->output(i);
  });
  const std::lock_guard lock(mutex_);
  return pushes_.try_emplace(key, std::move(d)).first->second;
}

Tensors run_branches(const std::shared_ptr<Branches>& branches, const Tensor& index,
                     std::span<const Tensor> operands) {
  const BranchAttrs attrs{branches.get()};
  std::vector<Tensor> in{index};
  in.insert(in.end(), operands.begin(), operands.end());
  return (branches->is_stateful() ? stateful_branch_op : branch_op).run(in, &attrs);
}

}  // namespace gradus
