// Nodes that the compiler makes out of several others, as a program runs them and a plan lays them
// out: what the attributes of such a node hold has the role `Bindable` (roles.h).
#pragma once
#include <memory>
#include <string>

#include "expr/kernel.h"
#include "graph/bind.h"
#include "graph/op.h"

namespace gradus {

// Such a node for operands of known shapes: everything that does not depend on where they lie.
class BoundStep {
 public:
  virtual ~BoundStep() = default;
  virtual void run(std::span<const View> in, std::span<const View> out) const = 0;
  // The one call of a kernel that this is, with its arguments, and what it needs besides; null if
  // it is more than one, or none.
  virtual const expr::Kernel* one_call(std::span<const View>, std::span<const View>,
                                       expr::LoopArgs&) const {
    return nullptr;
  }
  virtual std::size_t scratch_bytes() const { return 0; }
};

class Bindable {
 public:
  // Sizes that are symbols become the numbers that they are in this run.
  virtual std::unique_ptr<BoundStep> bind(const Symbols& symbols, const Sizes& sizes,
                                          std::span<const View> in,
                                          std::span<const View> out) const = 0;
  // Whether a result may be written over one array that all operands marked in `same` are, which
  // has the result's shape.
  virtual bool may_overwrite(const Call& call, const std::vector<bool>& same,
                             std::size_t output) const = 0;
  virtual const std::string& label() const = 0;          // what it is made of, for reports
  virtual const char* fault() const { return nullptr; }  // what contradicts itself in it, or null

 protected:
  ~Bindable() = default;
};

}  // namespace gradus
