#include "ops/seed_log.h"

#include <utility>

#include "base/check.h"
#include "graph/context.h"
#include "graph/graph.h"

namespace gradus {
namespace {

thread_local SeedScope* innermost = nullptr;
thread_local OuterSeeds* innermost_outer = nullptr;

}  // namespace

SeedScope::SeedScope(SeedLog& log, Use use)
    : log_(log), use_(use), graph_(thread_context.graph), outer_(innermost) {
  innermost = this;
}
SeedScope::~SeedScope() { innermost = outer_; }

bool SeedScope::sees_this() const {
  const Graph* graph = thread_context.graph;
  // A region of the graph that repeats: a draw of each turn, which no seed from before can be.
  if (use_ == Use::repeat && graph_ && graph != graph_ && graph && graph->is_region())
    fail_not_repeatable("recompute_grad");
  return graph == graph_;
}

Tensor SeedScope::next(FunctionRef<Tensor()> draw) {
  SeedScope* repeated = innermost;
  while (repeated && !(repeated->sees_this() && repeated->use_ == Use::repeat &&
                       repeated->used_ < repeated->log_.size()))
    repeated = repeated->outer_;
  Tensor pair;
  if (repeated) {
    pair = repeated->log_[repeated->used_++];
  } else {
    struct Closed {  // what draws is an op itself
      SeedScope* const open = std::exchange(innermost, nullptr);
      ~Closed() { innermost = open; }
    } const closed;
    pair = draw();
  }
  for (SeedScope* s = innermost; s != repeated; s = s->outer_) {
    if (!s->sees_this()) continue;
    s->log_.push_back(pair);
    s->used_ = s->log_.size();
  }
  return pair;
}

bool SeedScope::is_open() {
  for (const SeedScope* s = innermost; s; s = s->outer_)
    if (s->graph_ == thread_context.graph) return true;
  return false;
}

void fail_not_repeatable(const char* who) {
  fail<UnimplementedError>(
      "[", who,
      "] got a compiled function that draws random numbers in a branch or a loop, or with "
      "a seed and a size that is not known; expected draws that can be repeated for the "
      "derivative; draw them before, or use stateless random ops");
}

OuterSeeds::OuterSeeds(const Graph& inner, Graph* outer)
    : inner_(inner), outer_(outer), around_(std::exchange(innermost_outer, this)) {}
OuterSeeds::~OuterSeeds() { innermost_outer = around_; }

Tensor OuterSeeds::draw(FunctionRef<Tensor()> draw) {
  for (OuterSeeds* s = innermost_outer; s; s = s->around_) {
    if (!s->outer_ || &s->inner_ != thread_context.graph) continue;
    const TraceScope around(*s->outer_);
    return OuterSeeds::draw(draw);
  }
  return draw();
}

}  // namespace gradus
