// The node of a cond or switch_case: an index, then the operands that all branches take.
#pragma once
#include <map>

#include "compile/region.h"

namespace gradus {

class Branches : public Held, public Repeatable, public TakesMemory, public HasGraphs {
 public:
  explicit Branches(std::vector<std::shared_ptr<Region>> regions) : regions_(std::move(regions)) {}

  const std::vector<std::shared_ptr<Region>>& regions() const { return regions_; }
  bool is_stateful() const;
  std::shared_ptr<Branches> shared() {
    return std::static_pointer_cast<Branches>(shared_from_this());
  }
  std::string describe() const override;
  std::vector<Inner> inner_graphs() const override;
  std::string besides() const override { return {}; }
  bool may_repeat() const override;
  std::shared_ptr<const Held> without_effects() const override;
  std::int64_t inner_bytes(const Call& call) const override;
  std::shared_ptr<Held> with_less_memory(const Call& call, double part) const override;

  // Branches that take the operands and what is in `given` of cotangents (or tangents), and give
  // the derivatives of the operands (results) in `which`; the others are zero in every branch.
  struct Derivative {
    std::shared_ptr<Branches> branches;
    std::vector<std::size_t> which;
  };
  Derivative pull(const std::vector<bool>& wanted, const std::vector<bool>& given);
  Derivative push(const std::vector<bool>& given);

 private:
  using Key = std::pair<std::vector<bool>, std::vector<bool>>;
  std::vector<std::shared_ptr<Region>> regions_;
  std::mutex mutex_;
  std::map<Key, Derivative> pulls_, pushes_;
};

std::shared_ptr<Held> read_branches(TextReader& reader, Graph& around);  // what describe() wrote

// The branch that an index (bool or integer, a scalar) means: out of range is the last one.
std::size_t chosen_branch(const View& index, std::size_t count);
// Runs the branch that `index` (bool or integer, a scalar) chooses.
Tensors run_branches(const std::shared_ptr<Branches>& branches, const Tensor& index,
                     std::span<const Tensor> operands);

// The derivatives of a region, traced; sizes are named as in the region. Undefined: zero.
std::vector<Tensor> trace_pull(const Region& region, std::span<const Tensor> in,
                               const std::vector<bool>& wanted, std::span<const Tensor> cts);

}  // namespace gradus
