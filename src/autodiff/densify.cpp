#include "autodiff/densify.h"

#include <algorithm>

#include "base/check.h"
#include "gradus/ops.h"
#include "gradus/sparse.h"
#include "graph/context.h"
#include "graph/places.h"

namespace gradus {
namespace {

constexpr std::size_t kPlaces = 64;

constinit thread_local const Op* rule_of = nullptr;
constinit thread_local int forbidden = 0;

DensifyReport& report() {
  thread_local DensifyReport r;
  return r;
}

std::string who() {
  if (rule_of) return op_at(*rule_of, thread_context.where);
  return "Gradient::tensor(), after the op at " + place(thread_context.where);
}

}  // namespace

RuleOf::RuleOf(const Op& op) : outer_(std::exchange(rule_of, &op)) {}
RuleOf::~RuleOf() { rule_of = outer_; }

ForbidDensify::ForbidDensify() { ++forbidden; }
ForbidDensify::~ForbidDensify() { --forbidden; }

DensifyReport densify_report() { return report(); }
void reset_densify_report() { report() = {}; }

std::string to_string(const DensifyReport& r) {
  std::string text = std::to_string(r.count) + " row gradients were made dense, " +
                     std::to_string(r.bytes) + " bytes\n";
  for (const auto& p : r.places) {
    text += "  " + p.who + ": " + std::to_string(p.count) + " times, " + std::to_string(p.bytes) +
            " bytes\n";
  }
  return text;
}

Tensor densify(const Cotangent& rows) {
  const std::string here = who();
  if (forbidden > 0) {
    fail<FailedPreconditionError>("[ForbidDensify] ", here, " would turn a gradient of ",
                                  rows.indices().num_elements(),
                                  " rows into a dense tensor of shape ", rows.shape(),
                                  "; use rows all the way (gradus/sparse.h), or allow it");
  }
  Tensor dense = scatter_rows(rows.indices(), rows.value(), rows.shape());
  const std::size_t bytes = is_concrete(dense) ? dense.num_bytes() : 0;
  DensifyReport& r = report();
  ++r.count;
  r.bytes += bytes;
  auto place = std::ranges::find(r.places, here, &DensifyReport::Place::who);
  if (place == r.places.end()) {
    if (r.places.size() >= kPlaces) return dense;
    place = r.places.insert(place, {.who = here});
  }
  ++place->count;
  place->bytes += bytes;
  return dense;
}

}  // namespace gradus
