#include "autodiff/forward_sweep.h"

#include <algorithm>
#include <cstring>

#include "autodiff/rules.h"
#include "base/check.h"
#include "gradus/interrupt.h"
#include "graph/context.h"

namespace gradus {
namespace {

using Id = Recording::Id;

constexpr std::uint32_t kNeverUsed = 0, kTarget = ~0u;

// For each value, one past the last op that uses it on a way to a target: its tangent is kept until
// then, and an op whose results are never used is not visited.
std::vector<std::uint32_t> last_uses(const Recording& recording, std::size_t nodes,
                                     std::span<const Id> targets) {
  std::vector<std::uint32_t> last(recording.value_count(), kNeverUsed);
  for (Id id : targets)
    if (id != Recording::kNone) last[id] = kTarget;
  for (std::size_t k = nodes; k-- > 0;) {
    const Recording::Node& n = recording.node(k);
    if (n.cut || !n.op) continue;
    bool used = false;
    for (std::uint32_t i = 0; i < n.out_count; ++i) used |= last[n.first_out + i] != kNeverUsed;
    if (!used) continue;
    for (Id in : recording.edges(n))
      if (in != Recording::kNone && last[in] == kNeverUsed)
        last[in] = static_cast<std::uint32_t>(k) + 1;
  }
  return last;
}

}  // namespace

std::vector<Tensor> forward_sweep(const Recording& recording, Recording::Followers bit,
                                  const ForwardRequest& request) {
  const std::size_t nodes = recording.node_count();
  std::vector<Id> targets;
  for (const Tensor& t : request.targets) targets.push_back(recording.find(t));
  const std::vector<std::uint32_t> last = last_uses(recording, nodes, targets);
  std::vector<Tensor> tangents(recording.value_count());
  Id lowest = Recording::kNone;
  for (std::size_t s = 0; s < request.sources.size(); ++s) {
    for (Id id : request.sources[s]) {
      tangents[id] = request.tangents[s];
      lowest = std::min(lowest, id);
    }
  }

  SmallVector<Tensor, 8> in, site_tangents;
  SmallVector<Tensor, 4> out;
  SmallVector<Aval, 4> avals;
  alignas(16) std::byte attrs[512];
  for (std::size_t k = lowest == Recording::kNone ? nodes : 0; k < nodes; ++k) {
    const Recording::Node n = recording.node(k);  // a copy: rules may record and move the arrays
    if (n.cut || !n.op || n.first_out < lowest) continue;
    bool used = false, any = false;
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      used |= last[n.first_out + i] != kNeverUsed && (recording.followers(n.first_out + i) & bit);
    }
    if (!used) continue;
    const SmallVector<Id, 8> edges(recording.edges(n).begin(), recording.edges(n).end());
    site_tangents.clear();
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const bool carries =
          edges[i] != Recording::kNone && n.op->is_differentiable_in(static_cast<int>(i));
      site_tangents.push_back(carries ? tangents[edges[i]] : Tensor());
      any |= site_tangents.back().defined();
    }
    if (any) {
      if ((k & 0xff) == 0) check_interrupt();
      recording.load(n, in, out, avals);
      GRADUS_ASSERT(n.op->attrs().bytes <= sizeof attrs);
      std::memcpy(attrs, recording.attrs(n), n.op->attrs().bytes);
      const AttributeTo line(n.where);
      Tensors results = push_forward({*n.op, attrs, in, out, avals}, site_tangents);
      for (std::uint32_t i = 0; i < n.out_count; ++i) {
        const Id id = n.first_out + i;
        if (last[id] != kNeverUsed && (recording.followers(id) & bit)) {
          tangents[id] = std::move(results[i]);
        }
      }
      in.clear();
      out.clear();
    }
    for (Id id : edges)
      if (id != Recording::kNone && last[id] == k + 1) tangents[id] = Tensor();
  }
  std::vector<Tensor> results;
  for (Id id : targets) results.push_back(id == Recording::kNone ? Tensor() : tangents[id]);
  return results;
}

}  // namespace gradus
