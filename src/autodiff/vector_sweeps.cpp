#include "autodiff/vector_sweeps.h"

#include <algorithm>
#include <cstring>

#include "autodiff/diagonal_part.h"
#include "autodiff/forward_sweep.h"
#include "autodiff/tape.h"
#include "base/check.h"
#include "gradus/ops.h"
#include "graph/batch.h"
#include "graph/context.h"

namespace gradus {
namespace {

using Id = Recording::Id;

double elements(const Shape& shape) {
  return shape.is_known() ? static_cast<double>(std::int64_t{shape.num_elements()}) : 0;
}

// The bytes of the largest followed value: one row of the widest batch in a sweep.
std::size_t widest_row(const Recording& recording, Recording::Followers bit) {
  double widest = 1;
  SmallVector<Tensor, 8> in;
  SmallVector<Tensor, 4> out;
  SmallVector<Aval, 4> avals;
  for (std::size_t k = 0; k < recording.node_count(); ++k) {
    const Recording::Node& n = recording.node(k);
    if (!n.op || n.cut || !(recording.followers(n.first_out) & bit)) continue;
    recording.load(n, in, out, avals);
    const std::span<const Id> edges = recording.edges(n);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i] == Recording::kNone || !(recording.followers(edges[i]) & bit)) continue;
      const Aval& a = avals[i];
      widest = std::max(widest, elements(a.shape) * static_cast<double>(size_of(a.dtype)));
    }
  }
  return static_cast<std::size_t>(widest);
}

// Chunks as one tensor, without a second copy of all of them where nobody follows.
class ChunkCollector {
 public:
  explicit ChunkCollector(std::int64_t all) : all_(all) {}
  void add(Tensor part, std::int64_t first) {
    if (part.shape()[0] == all_) {
      whole_ = std::move(part);
    } else if (parts_.empty() && is_plain(part)) {
      if (!whole_.defined()) {
        Shape shape = part.shape();
        shape[0] = all_;
        whole_ = make_tensor(part.dtype(), shape);
      }
      const std::size_t row = part.num_bytes() / static_cast<std::size_t>(part.shape()[0]);
      std::memcpy(mutable_data<char>(whole_) + static_cast<std::size_t>(first) * row,
                  part.raw_data(), part.num_bytes());
    } else {
      GRADUS_ASSERT(!whole_.defined());
      parts_.push_back(std::move(part));
    }
  }
  Tensor take() { return parts_.empty() ? std::move(whole_) : concat(parts_, 0); }

 private:
  std::int64_t all_;
  Tensor whole_;
  std::vector<Tensor> parts_;
};

}  // namespace

Tensor identity_rows(std::int64_t first, std::int64_t count, std::int64_t n, DType dtype) {
  Tensor rows = zeros({count, n}, dtype);
  const Tensor one = ones({}, dtype);
  const std::size_t element = size_of(dtype);
  for (std::int64_t r = 0; r < count; ++r) {
    std::memcpy(mutable_data<char>(rows) + static_cast<std::size_t>(r * n + first + r) * element,
                one.raw_data(), element);
  }
  return rows;
}

Shape joined(const Shape& a, std::span<const Size> b) {
  Shape shape = a;
  for (const Size size : b) shape.push_back(size);
  return shape;
}

// The widest batch stays within reach of the caches, and chunks are equally long.
std::int64_t VectorSweep::at_a_time(std::int64_t all) {
  constexpr std::size_t kBatchBytes = std::size_t{16} << 20;
  if (chunk > 0) return std::clamp<std::int64_t>(chunk, 1, std::max<std::int64_t>(all, 1));
  const auto most = static_cast<std::int64_t>(kBatchBytes / widest_row(recording, bit));
  const std::int64_t sweeps = all <= most ? 1 : (all - 1) / std::max<std::int64_t>(most, 1) + 1;
  return chunk = std::max<std::int64_t>((all + sweeps - 1) / sweeps, 1);
}

std::vector<Tensor> VectorSweep::rows(std::int64_t rows) {
  const std::int64_t step = at_a_time(rows);
  const DiagonalPart start = diagonal_part(recording, bit, sources, target);
  std::vector<ChunkCollector> collected(sources.size(), ChunkCollector(rows));
  std::vector<bool> connected(sources.size(), false);
  for (std::int64_t first = 0; first < rows; first += step, ++passes) {
    const std::int64_t count = std::min(step, rows - first);
    const Level level = next_level();
    std::vector<Cotangent> seeds;
    for (const Tensor& diagonal : start.diagonals)
      seeds.push_back(make_batched(diagonal_rows(diagonal, first, count, rows), level));
    auto results = sweep(recording, bit,
                         {.targets = {},
                          .seeds = seeds,
                          .sources = sources,
                          .initial = {},
                          .release = last_use && first + count == rows,
                          .target_ids = start.values});
    for (std::size_t s = 0; s < results.size(); ++s) {
      if (results[s].is_zero()) continue;
      connected[s] = true;
      collected[s].add(unbatch(dense(std::exchange(results[s], {})), level, count), first);
    }
  }
  std::vector<Tensor> whole;
  for (std::size_t s = 0; s < sources.size(); ++s)
    whole.push_back(connected[s] ? collected[s].take() : Tensor());
  return whole;
}

Tensor VectorSweep::columns(std::size_t source, std::int64_t columns, const Seed& seed) {
  const std::int64_t step = at_a_time(columns);
  ChunkCollector collected(columns);
  for (std::int64_t first = 0; first < columns; first += step, ++passes) {
    const std::int64_t count = std::min(step, columns - first);
    const Level level = next_level();
    const Tensor tangent = make_batched(seed(first, count), level);
    const Tensor result = forward_sweep(recording, bit,
                                        {.sources = sources.subspan(source, 1),
                                         .tangents = {&tangent, 1},
                                         .targets = {&target, 1}})[0];
    if (!result.defined()) return {};
    collected.add(unbatch(result, level, count), first);
  }
  return collected.take();
}

SweepCost estimate_cost(const Recording& recording, Recording::Followers bit,
                        std::span<const std::vector<Id>> sources, const Tensor& target) {
  const Id last = recording.find(target);
  SweepCost cost;
  if (last == Recording::kNone) return cost;
  std::vector<bool> active(recording.value_count(), false), useful(active);
  for (const auto& ids : sources)
    for (Id id : ids) active[id] = true;
  useful[last] = true;
  std::vector<std::size_t> between;
  for (std::size_t k = 0; k < recording.node_count(); ++k) {
    const Recording::Node& n = recording.node(k);
    if (n.cut || !n.op || !(recording.followers(n.first_out) & bit)) continue;
    bool depends = false;
    for (Id in : recording.edges(n)) depends |= in != Recording::kNone && active[in];
    if (!depends) continue;
    for (std::uint32_t i = 0; i < n.out_count; ++i) active[n.first_out + i] = true;
    between.push_back(k);
  }
  SmallVector<Tensor, 8> in;
  SmallVector<Tensor, 4> out;
  SmallVector<Aval, 4> avals;
  for (std::size_t j = between.size(); j-- > 0;) {
    const Recording::Node& n = recording.node(between[j]);
    bool used = false;
    for (std::uint32_t i = 0; i < n.out_count; ++i) used |= useful[n.first_out + i];
    if (!used) continue;
    recording.load(n, in, out, avals);
    SmallVector<View, 4> views;
    double sides = 0, bytes = 0, most = 0;
    const std::span<const Id> edges = recording.edges(n);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      views.push_back({nullptr, &avals[i].shape, avals[i].dtype});
      const double count = elements(avals[i].shape);
      most = std::max(most, count);
      if (edges[i] == Recording::kNone || !active[edges[i]]) continue;
      useful[edges[i]] = true;
      ++sides;
      bytes += count * static_cast<double>(size_of(avals[i].dtype));
    }
    const Op& op = *n.op;
    const Call call{op, recording.attrs(n), views};
    const double flops = op.info.flops ? op.info.flops(call) : op.info.is_view ? 0 : most;
    ++cost.ops;
    // A tangent is read once per side and written once; a cotangent is read once and written, or
    // added to what is there, once per side.
    cost.forward_flops += flops * (op.kind == Kind::bilinear ? sides : 1);
    cost.reverse_flops += flops * std::max(sides, 1.0);
    if (op.info.is_view) continue;
    cost.forward_bytes += bytes;
    cost.reverse_bytes += bytes * 1.5;
  }
  return cost;
}

}  // namespace gradus
