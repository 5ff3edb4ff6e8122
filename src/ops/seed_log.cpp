#include "ops/seed_log.h"

namespace gradus {
namespace {

thread_local SeedScope* innermost = nullptr;

}  // namespace

SeedScope::SeedScope(SeedLog& log, Use use) : log_(log), use_(use), outer_(innermost) {
  innermost = this;
}
SeedScope::~SeedScope() { innermost = outer_; }

Tensor SeedScope::next(FunctionRef<Tensor()> draw) {
  SeedScope* repeated = innermost;
  while (repeated && !(repeated->use_ == Use::repeat && repeated->used_ < repeated->log_.size()))
    repeated = repeated->outer_;
  const Tensor pair = repeated ? repeated->log_[repeated->used_++] : draw();
  for (SeedScope* s = innermost; s != repeated; s = s->outer_)
    if (s->use_ == Use::note) s->log_.push_back(pair);
  return pair;
}

}  // namespace gradus
