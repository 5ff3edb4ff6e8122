// What a node is besides an application of its op: attributes can hold something (graph/attrs.h)
// that has a role, as a class that it derives from. Passes ask for roles, not for ops, so that they
// need not know which branches and loops there are (control/).
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace gradus {

class Region;

template <class Role>
const Role* held_as(const Graph& g, const Graph::Node& n) {
  if (!n.op->attrs().holds) return nullptr;
  return dynamic_cast<const Role*>(n.op->attrs().held(g.attrs(n)).get());
}

// A node with an effect that says whether it may run again, as derivatives of regions do.
class Repeatable {
 public:
  virtual bool may_repeat() const = 0;  // it draws no random numbers, say
  // The same without printing and the like; null: there is nothing of that in it.
  virtual std::shared_ptr<const Held> without_effects() const { return nullptr; }

 protected:
  ~Repeatable() = default;
};

// A node that runs regions again and again: a loop.
class HasBodies {
 public:
  struct Body {
    std::shared_ptr<Region> region;
    std::vector<Aval> inputs;            // of the region, in the names of the graph around it
    std::vector<std::int32_t> operands;  // by input: the operand it is at every turn; -1: it varies
    bool surely_runs;                    // at least once
  };
  virtual std::vector<Body> bodies(const Call& call) const = 0;
  // The same with other regions. All of them have the same further inputs at the end, which are
  // further operands of the node, also at the end.
  virtual std::shared_ptr<Held> with_bodies(
      std::span<const std::shared_ptr<Region>> regions) const = 0;

 protected:
  ~HasBodies() = default;
};

// A node that may do all that another one does, and more: a loop that a gradient runs again to keep
// what it needs. Its results are those of the other and further ones.
class Extension {
 public:
  const std::uint64_t id;     // not 0
  std::uint64_t extends = 0;  // the other's, if there is one

 protected:
  Extension();
  virtual ~Extension() = default;
};

// A loop that gives its states as a further result where a derivative has asked for them. Who asks
// is a node too: it holds the same loop and takes the same operands.
class KeepsStates {
 public:
  virtual bool is_asked_by(const Op& op) const = 0;
  // The op that also gives the states, after its other results, and takes the attributes of who
  // asks; null: this one cannot.
  virtual const Op* keeping(const Op& op) const = 0;

 protected:
  ~KeepsStates() = default;
};

// A node with programs inside. They keep their memory between runs, as the program around does.
class TakesMemory {
 public:
  // While it runs on operands of these shapes, besides operands and results.
  virtual std::int64_t inner_bytes(const Call& call) const = 0;
  // The same whose programs, each by computing values again, take about this part of what they do;
  // null: it cannot say.
  virtual std::shared_ptr<Held> with_less_memory(const Call&, double) const { return nullptr; }

 protected:
  ~TakesMemory() = default;
};

}  // namespace gradus
