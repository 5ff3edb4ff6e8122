// Plain numbers beside tensors. A number that the host language hands to an op has no dtype yet: it
// is kept as float64 or int64 with a mark (kWeak) until it meets a tensor, whose dtype it takes.
// Between the two nothing narrower may stand: 0.99 beside a float64 tensor is the double, 2^40
// beside an int64 tensor all of its bits. What a dtype cannot hold is an error, never a remainder.
#pragma once
#include <limits>
#include <vector>

#include "graph/op.h"

namespace gradus {

// The dtype of numbers that meet no tensor: float32, int32, or int64 if int32 cannot hold them.
DType dtype_alone(std::initializer_list<const Tensor*> numbers);

// A number as a tensor of a dtype; `op` is who asks, for errors.
Tensor number_as(const char* op, const Tensor& number, DType to);

// Gives every number among the operands its dtype; the new tensors are put into `held`.
void give_dtypes(const Op& op, SmallVector<Tensor, 4>& held, SmallVector<const Tensor*, 8>& in);

// The numbers that a function is given when it is called are not known while it is traced. Those
// that became narrow integers are noted here, so that each call can be checked.
class NarrowedNumbers {
 public:
  struct Range {
    std::size_t input;
    std::int64_t least, most;
    DType dtype;
  };
  explicit NarrowedNumbers(const Graph& graph);
  ~NarrowedNumbers();
  NarrowedNumbers(const NarrowedNumbers&) = delete;

  static void note(const Tensor& number, DType to);
  std::vector<Range> ranges;

 private:
  const Graph& graph_;
  NarrowedNumbers* outer_;
};

}  // namespace gradus
