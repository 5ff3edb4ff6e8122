#include "autodiff/diagonal_part.h"

#include "autodiff/vector_sweeps.h"
#include "gradus/ops.h"
#include "graph/dispatch.h"
#include "ops/diagonal_operand.h"

namespace gradus {
namespace {

using Id = Recording::Id;

// Whether each element of the op's result depends, of the operands in `active`, on the elements at
// its own place only.
bool acts_by_element(const Recording& recording, const Recording::Node& n,
                     const std::vector<bool>& active) {
  const Op& op = *n.op;
  if (op.info.is_view) return op.kind == Kind::linear;
  if (op.kind != Kind::elementwise) return false;
  SmallVector<Tensor, 8> in;
  SmallVector<Tensor, 4> out;
  SmallVector<Aval, 4> avals;
  recording.load(n, in, out, avals);
  Shape shape = avals[0].shape;
  for (const Aval& a : avals) shape = broadcast_shapes(op.name(), shape, a.shape);
  const std::span<const Id> edges = recording.edges(n);
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (edges[i] != Recording::kNone && active[edges[i]] && !is_same(avals[i].shape, shape))
      return false;
  return true;
}

// What depends on the sources, op by op.
std::vector<bool> depends_on(const Recording& recording, Recording::Followers bit,
                             std::span<const std::vector<Id>> sources) {
  std::vector<bool> active(recording.value_count(), false);
  for (const auto& ids : sources)
    for (Id id : ids) active[id] = true;
  for (std::size_t k = 0; k < recording.node_count(); ++k) {
    const Recording::Node& n = recording.node(k);
    if (n.cut || !n.op) continue;
    bool depends = false;
    for (Id in : recording.edges(n)) depends |= in != Recording::kNone && active[in];
    for (std::uint32_t i = 0; depends && i < n.out_count; ++i)
      if (recording.followers(n.first_out + i) & bit) active[n.first_out + i] = true;
  }
  return active;
}

// The values at which ops act by element no longer, from the target on.
std::vector<Id> ends_of(const Recording& recording, Recording::Followers bit,
                        std::span<const std::vector<Id>> sources, Id target) {
  const std::vector<bool> active = depends_on(recording, bit, sources);
  std::vector<bool> stays(recording.value_count(), false);  // is no op's result to go through
  for (const auto& ids : sources)
    for (Id id : ids) stays[id] = true;
  for (const auto& [id, tapes] : recording.watched_late())
    if (tapes & bit) stays[id] = true;
  std::vector<bool> reached(recording.value_count(), false), behind(reached);
  reached[target] = true;
  std::vector<Id> ends;
  for (std::size_t k = recording.node_count(); k-- > 0;) {
    const Recording::Node& n = recording.node(k);
    bool is_reached = false, is_behind = false;
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      is_reached |= reached[n.first_out + i];
      is_behind |= behind[n.first_out + i];
    }
    if (!is_reached && !is_behind) continue;
    const Id out = n.first_out;
    const bool goes_through = !is_behind && n.op && !n.cut && n.out_count == 1 && active[out] &&
                              !stays[out] && acts_by_element(recording, n, active);
    for (Id in : recording.edges(n))
      if (in != Recording::kNone && active[in]) (goes_through ? reached : behind)[in] = true;
    for (std::uint32_t i = 0; !goes_through && i < n.out_count; ++i)
      if (reached[out + i]) ends.push_back(out + i);
  }
  return ends;
}

}  // namespace

DiagonalPart diagonal_part(Recording& recording, Recording::Followers bit,
                           std::span<const std::vector<Id>> sources, const Tensor& target) {
  const Id id = recording.find(target);
  if (id == Recording::kNone || !(recording.followers(id) & bit)) return {};
  const std::vector<Id> ends = ends_of(recording, bit, sources, id);
  std::vector<std::vector<Id>> reads;
  for (Id end : ends) reads.push_back({end});
  const Cotangent one = Cotangent::spread(ones({}, target.dtype()), target.shape());
  const auto diagonals = sweep(recording, bit,
                               {.targets = {&target, 1},
                                .seeds = {&one, 1},
                                .sources = reads,
                                .initial = {},
                                .stop_at_sources = true});
  DiagonalPart part;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (diagonals[i].is_zero()) continue;
    part.values.push_back(ends[i]);
    part.diagonals.push_back(dense(diagonals[i]));
  }
  return part;
}

Tensor diagonal_rows(const Tensor& diagonal, std::int64_t first, std::int64_t count,
                     std::int64_t n) {
  const Tensor lines = reshape(diagonal, {n == 0 ? 0 : diagonal.num_elements() / n, n});
  const Shape shape = joined({count}, diagonal.shape());
  if (count < n) {
    const Tensor mask = cast(identity_rows(first, count, n, diagonal.dtype()), bool_);
    return reshape(where(expand_dims(mask, 1), lines, zeros({}, diagonal.dtype())), shape);
  }
  if (lines.shape()[0] == 1) return reshape(diagonal_seed(reshape(lines, {n})), shape);
  return reshape(transpose(diagonal_seed(lines), {1, 0, 2}), shape);
}

}  // namespace gradus
