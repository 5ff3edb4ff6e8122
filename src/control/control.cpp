#include "gradus/control.h"

#include <algorithm>

#include "base/check.h"
#include "control/branch.h"
#include "control/open_region.h"
#include "control/sized_flow.h"
#include "gradus/ops.h"
#include "gradus/variable.h"
#include "graph/bind.h"
#include "graph/host_number.h"
#include "graph/node_sizes.h"
#include "tensor/tensor_impl.h"

namespace gradus::detail {
namespace {

// The trace that a choice is a part of. Examples of a vmap choose outside of one too: then the
// branches are traced for that choice alone.
std::shared_ptr<Graph> surroundings(const Tensor& chooser) {
  if (thread_context.graph) return thread_context.graph->shared_from_this();
  if (chooser.impl()->kind == ValueKind::traced) return chooser.impl()->extra()->graph;
  return Graph::make();
}

void check_result(const char* what, std::size_t i, const Tensor& t) {
  if (!t.defined()) {
    fail<InvalidArgumentError>("[", what, "] result ", i,
                               " is an undefined tensor; give zeros instead");
  }
}

// Numbers take the dtype of what the other branches give at their place.
void give_dtypes(const char* what, std::span<OpenRegion> regions) {
  for (std::size_t i = 0; i < regions[0].out.size(); ++i) {
    std::optional<DType> dtype;
    for (const OpenRegion& r : regions) {
      check_result(what, i, r.out[i]);
      if (!r.out[i].impl()->has(kWeak) && !dtype) dtype = r.out[i].dtype();
    }
    for (OpenRegion& r : regions) {
      Tensor& t = r.out[i];
      if (!t.impl()->has(kWeak)) continue;
      r.inside([&] { t = number_as(what, t, dtype ? *dtype : dtype_alone({&t})); });
    }
  }
}

// By result and axis: whether only the run of the branches will know the size, since they do not
// agree or one of them finds it inside.
std::vector<std::vector<bool>> varying_axes(std::span<const std::shared_ptr<Region>> regions,
                                            std::span<const Tensor> operands) {
  SmallVector<View, 8> in;
  for (const Tensor& t : operands) in.push_back({nullptr, &t.shape(), t.dtype()});
  std::vector<std::vector<bool>> varies;
  Avals first;
  regions[0]->results(in, first);
  for (const Aval& aval : first) varies.emplace_back(aval.shape.rank(), false);
  for (const auto& region : regions) {
    Avals results;
    region->results(in, results);
    for (std::size_t i = 0; i < results.size(); ++i)
      for (int a = 0; a < results[i].shape.rank(); ++a)
        if (const Size size = results[i].shape[a];
            is_same(size, kUnbound) || !is_same(size, first[i].shape[a]))
          varies[i][static_cast<std::size_t>(a)] = true;
  }
  return varies;
}

Tensors run_closed(const Tensor& chooser, std::vector<std::shared_ptr<Region>> regions,
                   std::vector<Tensor> operands) {
  auto varies = varying_axes(regions, operands);
  if (std::ranges::none_of(varies, [](const auto& v) { return std::ranges::count(v, true) > 0; }))
    return run_branches(std::make_shared<Branches>(std::move(regions)), chooser, operands);
  const auto flow = std::make_shared<SizedFlow>();
  flow->regions = std::move(regions);
  flow->varies = std::move(varies);
  operands.insert(operands.begin(), chooser);
  return run_sized_flow(flow, operands);
}

// Traced branches with their results become one node.
std::vector<Tensor> choose_among(const char* what, const Tensor& chooser,
                                 std::vector<OpenRegion>& open) {
  for (const OpenRegion& region : open) {
    if (region.out.size() == open[0].out.size()) continue;
    fail<InvalidArgumentError>("[", what, "] the branches give ", open[0].out.size(), " and ",
                               region.out.size(), " tensors; all must give the same");
  }
  give_dtypes(what, open);
  for (std::size_t r = 1; r < open.size(); ++r) {
    for (std::size_t i = 0; i < open[r].out.size(); ++i) {
      const Aval a = open[0].result(i), b = open[r].result(i);
      if (a.dtype == b.dtype && a.shape.rank() == b.shape.rank()) continue;
      fail<InvalidArgumentError>("[", what, "] result ", i, " is ", open[r].print(b), " in branch ",
                                 r == 1 && open.size() == 2 ? "true" : std::to_string(r), " and ",
                                 open[0].print(a), " in branch ", open.size() == 2 ? "false" : "0",
                                 "; dtypes and numbers of axes must agree");
    }
  }
  // Variables that a branch writes are further results of all.
  const std::size_t results = open[0].out.size();
  std::vector<std::shared_ptr<VariableState>> written;
  for (const OpenRegion& r : open)
    for (const auto& e : r.variables)
      if (e.is_written() && !std::ranges::count(written, e.variable()))
        written.push_back(e.variable());
  if (!written.empty() && chooser.impl()->kind == ValueKind::batched) {
    fail<UnimplementedError>("[", what,
                             "] every example of a vmap would decide whether the variable '",
                             written[0]->name, "' is assigned to; return the value instead");
  }
  for (const auto& variable : written) {
    const Tensor before = read_variable(*variable);
    for (OpenRegion& r : open) {
      Tensor now = before;
      for (auto& e : r.variables)
        if (e.variable() == variable && e.is_written()) now = r.inside([&] { return e.read(); });
      r.out.push_back(now);
    }
  }
  std::vector<std::shared_ptr<Region>> regions;
  std::vector<Tensor> operands = close_regions(open, regions);
  const Tensors out = run_closed(without_mark(chooser), std::move(regions), std::move(operands));
  for (std::size_t i = 0; i < written.size(); ++i) Variable(written[i]).assign(out[results + i]);
  return std::vector<Tensor>(out.begin(), out.begin() + results);
}

}  // namespace

std::int64_t known_branch(const char* what, const Tensor& chooser, std::size_t branches) {
  if (!chooser.defined()) fail<InvalidArgumentError>("[", what, "] got an undefined tensor");
  if (branches == 0) fail<InvalidArgumentError>("[", what, "] needs at least one branch");
  const bool is_cond = branches == 2 && std::string_view(what) == "cond";
  const bool is_integer = chooser.dtype() == int32 || chooser.dtype() == int64;
  // A bool of C++ comes as a number.
  const bool fits =
      is_cond ? chooser.dtype() == bool_ || (is_integer && chooser.impl()->has(kWeak)) : is_integer;
  if (chooser.rank() != 0 || !fits) {
    fail<InvalidArgumentError>("[", what, "] got ", name_of(chooser.dtype()), " of shape ",
                               chooser.shape(), "; expected a scalar ",
                               is_cond ? "bool, such as x > 0 or reduce_any(m)" : "int32 or int64");
  }
  if (!is_concrete(chooser)) return -1;
  if (chooser.dtype() == bool_) return chooser.item<bool>();
  if (is_cond) return chooser.item<std::int64_t>() != 0;
  const auto i =
      chooser.dtype() == int32 ? chooser.item<std::int32_t>() : chooser.item<std::int64_t>();
  const auto last = static_cast<std::int64_t>(branches) - 1;
  return i < 0 || i > last ? last : i;
}

Shape shape_outside(const Tensor& inner) {
  if (inner.impl()->kind != ValueKind::traced || inner.shape().is_known()) return inner.shape();
  // Regions copy the names of the sizes around them and go on from there.
  const Symbols& symbols = inner.impl()->extra()->graph->symbols();
  const std::vector<std::int64_t> found = finders(*inner.impl()->extra()->graph);
  Sizes names;
  for (std::size_t i = 0; i < symbols.input_count(); ++i)
    names.push_back(found[i] < 0 ? current_symbols().name_of_input(i) : Size(0));
  return bind_shape(symbols, names, inner.shape());
}

TracedBranch::TracedBranch(const Tensor& chooser, const std::function<void()>& f)
    : region_(std::make_unique<OpenRegion>(
          open_region(*surroundings(chooser), {}, {}, [&](const std::vector<Tensor>&) {
            f();
            return std::vector<Tensor>();
          }))) {}
TracedBranch::~TracedBranch() = default;
TracedBranch::TracedBranch(TracedBranch&&) noexcept = default;

std::vector<Tensor> choose(const char* what, const Tensor& chooser,
                           std::vector<TracedBranch> branches,
                           const std::vector<std::vector<Tensor>>& results) {
  std::vector<OpenRegion> open;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    open.push_back(std::move(*branches[i].region_));
    open.back().out = results[i];
  }
  return choose_among(what, chooser, open);
}

std::vector<Tensor> choose(const char* what, const Tensor& chooser,
                           const std::vector<Branch>& branches) {
  const std::shared_ptr<Graph> around = surroundings(chooser);
  std::vector<OpenRegion> open;
  for (const Branch& branch : branches) {
    open.push_back(
        open_region(*around, {}, {}, [&](const std::vector<Tensor>&) { return branch(); }));
  }
  return choose_among(what, chooser, open);
}

void fail_structure(const char* what, const char* why) {
  fail<InvalidArgumentError>("[", what, "] ", why,
                             "; expected one structure, which the program has to the end");
}

}  // namespace gradus::detail
