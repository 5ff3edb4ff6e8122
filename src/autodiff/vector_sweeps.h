// Sweeps that carry many rows or columns of a Jacobian at once, as batched cotangents or tangents.
// To the rules of the ops they are ordinary sweeps; each op's batching rule does the rest.
#pragma once
#include <functional>

#include "autodiff/recording.h"

namespace gradus {

// Rows [first, first + count) of the n x n identity.
Tensor identity_rows(std::int64_t first, std::int64_t count, std::int64_t n, DType dtype);

// a followed by b.
Shape joined(const Shape& a, std::span<const Size> b);

struct VectorSweep {
  Recording& recording;
  Recording::Followers bit;
  std::span<const std::vector<Recording::Id>> sources;
  const Tensor& target;
  std::int64_t chunk = 0;   // how many at a time; 0: chosen here, and told
  bool last_use = false;    // saved tensors may be freed on the way
  std::int64_t passes = 0;  // counts the sweeps

  // Makes tangents (count, source...).
  using Seed = std::function<Tensor(std::int64_t first, std::int64_t count)>;

  // Reverse: (rows, source...) for each source; undefined if the target does not depend on it. Row
  // j starts with ones at those elements of the target whose number is j modulo `rows`: with fewer
  // rows than elements, each example of the target has its own.
  std::vector<Tensor> rows(std::int64_t rows);
  // Forward, in directions of one source: (columns, target...), or undefined.
  Tensor columns(std::size_t source, std::int64_t columns, const Seed& seed);

 private:
  std::int64_t at_a_time(std::int64_t all);
};

// What one direction costs, estimated from the records of the ops between sources and target.
struct SweepCost {
  double forward_flops = 0, reverse_flops = 0;
  double forward_bytes = 0, reverse_bytes = 0;
  std::size_t ops = 0;

  // One number to compare: a byte moved takes about as long as four flops.
  double forward() const { return forward_flops + 4 * forward_bytes; }
  double reverse() const { return reverse_flops + 4 * reverse_bytes; }
};
SweepCost estimate_cost(const Recording& recording, Recording::Followers bit,
                        std::span<const std::vector<Recording::Id>> sources, const Tensor& target);

}  // namespace gradus
