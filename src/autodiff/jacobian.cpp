// Jacobians from a tape: the rows of the identity, as one batched cotangent, go through one reverse
// sweep. To the rules of the ops it is an ordinary sweep; each op's batching rule does the rest.
#include <cstring>

#include "autodiff/tape.h"
#include "base/check.h"
#include "gradus/ops.h"
#include "graph/batch.h"
#include "graph/context.h"

namespace gradus {
namespace {

using Id = Recording::Id;

// Rows [first, first + count) of the n x n identity.
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

// The bytes of the largest followed value: one row of the widest batch in a sweep.
std::size_t widest_row(const Recording& recording, Recording::Followers bit) {
  std::size_t widest = 1;
  SmallVector<Tensor, 8> in;
  SmallVector<Tensor, 4> out;
  SmallVector<Aval, 4> avals;
  for (std::size_t k = 0; k < recording.node_count(); ++k) {
    const Recording::Node& n = recording.node(k);
    if (!n.op || n.cut || !(recording.followers(n.first_out) & bit)) continue;
    recording.load(n, in, out, avals);
    for (const Aval& a : avals) {
      const auto count =
          static_cast<std::size_t>(std::max<std::int64_t>(a.shape.num_elements(), 0));
      widest = std::max(widest, count * size_of(a.dtype));
    }
  }
  return widest;
}

// Rows per sweep: the widest batch stays within reach of the caches, and chunks are equally long.
std::int64_t rows_per_sweep(std::int64_t rows, std::int64_t asked, std::size_t row_bytes) {
  if (rows <= 1) return 1;
  constexpr std::size_t kBatchBytes = std::size_t{16} << 20;
  std::int64_t most = asked > 0 ? asked : static_cast<std::int64_t>(kBatchBytes / row_bytes);
  most = std::clamp<std::int64_t>(most, 1, rows);
  const std::int64_t sweeps = (rows + most - 1) / most;
  return asked > 0 ? most : (rows + sweeps - 1) / sweeps;
}

// Chunks of rows as one tensor, without a second copy of all of them where nobody follows.
class RowCollector {
 public:
  explicit RowCollector(std::int64_t rows) : rows_(rows) {}
  void add(Tensor part, std::int64_t first) {
    if (part.shape()[0] == rows_) {
      whole_ = std::move(part);
    } else if (parts_.empty() && is_plain(part)) {
      if (!whole_.defined()) {
        Shape shape = part.shape();
        shape[0] = rows_;
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
  std::int64_t rows_;
  Tensor whole_;
  std::vector<Tensor> parts_;
};

struct RowSweep {
  Recording& recording;
  Recording::Followers bit;
  const Tensor& target;
  std::span<const std::vector<Id>> sources;
  bool last_use;

  // Sends `rows` seeds back, in chunks; gives (rows, source...) for each source, undefined if the
  // target does not depend on it. `seed(first, count)` makes cotangents (count, target...).
  template <class Seed>
  std::vector<Tensor> run(std::int64_t rows, std::int64_t asked, Seed seed) {
    const std::int64_t chunk = rows_per_sweep(rows, asked, widest_row(recording, bit));
    std::vector<RowCollector> collected(sources.size(), RowCollector(rows));
    std::vector<bool> connected(sources.size(), false);
    for (std::int64_t first = 0; first < rows; first += chunk) {
      const std::int64_t count = std::min(chunk, rows - first);
      const Level level = next_level();
      const Cotangent cotangent = make_batched(seed(first, count), level);
      auto results = sweep(recording, bit,
                           {.targets = {&target, 1},
                            .seeds = {&cotangent, 1},
                            .sources = sources,
                            .initial = {},
                            .release = last_use && first + count == rows});
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
};

Shape joined(const Shape& a, std::span<const std::int64_t> b) {
  Shape shape = a;
  for (std::int64_t size : b) shape.push_back(size);
  return shape;
}

void check_target(const char* what, const Tensor& target) {
  if (!target.defined()) {
    fail<InvalidArgumentError>("[GradientTape.", what, "] the target is an undefined tensor");
  }
  if (target.shape().is_symbolic()) {
    fail<UnimplementedError>("[GradientTape.", what, "] a target of shape ", target.shape(),
                             " whose size is not known while tracing; give it a fixed shape");
  }
}

}  // namespace

std::vector<Gradient> GradientTape::jacobian(const Tensor& target,
                                             const std::vector<Source>& sources,
                                             Unconnected unconnected, std::int64_t chunk) {
  check_target("jacobian", target);
  const TapeUse use(*this, "jacobian");
  std::vector<std::vector<Id>> ids;
  for (const Source& s : sources) ids.push_back(reads_of(*state_, s));
  const std::int64_t n = target.num_elements();
  RowSweep rows{*state_->recording, state_->bit, target, ids, use.is_last()};
  const std::vector<Tensor> results =
      rows.run(n, chunk, [&](std::int64_t first, std::int64_t count) {
        return reshape(identity_rows(first, count, n, target.dtype()),
                       joined({count}, target.shape()));
      });
  std::vector<Gradient> jacobians;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const Shape shape = joined(target.shape(), sources[s].shape());
    if (results[s].defined()) {
      jacobians.emplace_back(reshape(results[s], shape));
    } else if (unconnected == Unconnected::zero) {
      jacobians.emplace_back(zeros(shape, sources[s].dtype()));
    } else {
      jacobians.emplace_back();
    }
  }
  return jacobians;
}

Gradient GradientTape::jacobian(const Tensor& target, const Source& source, Unconnected unconnected,
                                std::int64_t chunk) {
  return jacobian(target, std::vector<Source>{source}, unconnected, chunk)[0];
}

Gradient GradientTape::batch_jacobian(const Tensor& target, const Source& source,
                                      Unconnected unconnected, std::int64_t chunk) {
  check_target("batch_jacobian", target);
  const Shape &t = target.shape(), &s = source.shape();
  if (t.rank() == 0 || s.rank() == 0 || t[0] != s[0]) {
    fail<InvalidArgumentError>("[GradientTape.batch_jacobian] got a target of shape ", t,
                               " and a source of shape ", s,
                               "; both need the same first axis, the examples");
  }
  const TapeUse use(*this, "batch_jacobian");
  const std::vector<std::vector<Id>> ids = {reads_of(*state_, source)};
  std::int64_t n = 1;  // rows of one example
  for (int i = 1; i < t.rank(); ++i) n *= t[i];
  RowSweep rows{*state_->recording, state_->bit, target, ids, use.is_last()};
  const Tensor result = rows.run(n, chunk, [&](std::int64_t first, std::int64_t count) {
    Shape one{count, 1};
    for (int i = 1; i < t.rank(); ++i) one.push_back(t[i]);
    const Tensor seed = reshape(identity_rows(first, count, n, target.dtype()), one);
    return broadcast_to(seed, joined({count}, t));
  })[0];
  const Shape shape = joined(t, std::span(s.begin() + 1, s.end()));
  if (result.defined()) {  // (n, b, s...): the examples come first
    Shape order{1, 0};
    for (int i = 1; i < s.rank(); ++i) order.push_back(i + 1);
    return reshape(transpose(result, order), shape);
  }
  return unconnected == Unconnected::zero ? Gradient(zeros(shape, source.dtype())) : Gradient();
}

}  // namespace gradus
