// A node that runs regions again and again, as a pass sees it who need not know which loop it is.
#pragma once
#include "compile/region.h"

namespace gradus {

// What the attributes of such a node hold.
class Repeated {
 public:
  struct Part {
    std::shared_ptr<Region> region;
    std::vector<Aval> inputs;            // of the region, in the names of the graph around it
    std::vector<std::int32_t> operands;  // by input: the operand it is at every turn; -1: it varies
    bool surely_runs;                    // at least once
  };
  virtual std::vector<Part> parts(const Call& call) const = 0;
  // The same with other regions. All of them have the same further inputs at the end, which are
  // further operands of the node, also at the end.
  virtual std::shared_ptr<Held> with_parts(
      std::span<const std::shared_ptr<Region>> regions) const = 0;

 protected:
  ~Repeated() = default;
};

// What the attributes of a node hold that may do all that another one does, and more: a loop that a
// gradient runs again to keep what it needs. Its results are those of the other and further ones.
class Extension {
 public:
  const std::uint64_t id;     // not 0
  std::uint64_t extends = 0;  // the other's, if there is one

 protected:
  Extension();
  virtual ~Extension() = default;
};

}  // namespace gradus
