// Counts of indices, as sums over segments.
#include "gradus/counting.h"

#include <algorithm>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/reduce.h"
#include "gradus/segments.h"
#include "gradus/shaping.h"
#include "graph/symbols.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

// One more than the largest of some indices; no size at all if one is negative.
Tensor one_above(const Tensor& indices) {
  const Tensor numbers = cast(indices, int64);
  return where(reduce_any(less(numbers, 0)), -1, maximum(reduce_max(numbers), -1) + 1);
}

void check_vector(const char* op, const char* what, const Tensor& t) {
  if (t.rank() == 1 && (t.dtype() == int32 || t.dtype() == int64)) return;
  fail<InvalidArgumentError>("[", op, "] got ", what, " of shape ", t.shape(), " and dtype ",
                             name_of(t.dtype()), "; an int32 or int64 vector was expected");
}

}  // namespace

Tensor bincount(In arr, const BincountOptions& o) {
  if (arr->dtype() != int32 && arr->dtype() != int64) {
    fail<InvalidArgumentError>("[bincount] got dtype ", name_of(arr->dtype()),
                               "; int32 or int64 was expected");
  }
  const Tensor ids = reshape(arr, {num_elements(arr->shape())});
  if (is_concrete(ids) && ids.num_elements() > 0 &&
      cast(reduce_min(ids), int64).item<std::int64_t>() < 0) {
    fail<InvalidArgumentError>("[bincount] got a negative number; only 0 and above are counted");
  }
  const bool is_limited = o.maxlength && !(o.maxlength->is_known() && *o.maxlength < 0);
  Size size = is_limited ? *o.maxlength : Size(0);
  if (!is_limited || arr->impl()->kind != ValueKind::batched) {
    const Tensor above = one_above(arr);
    const Tensor needed = where(less(above, 0), above, maximum(above, o.minlength));
    size = to_size(is_limited ? minimum(needed, *o.maxlength) : needed);
  }
  const Tensor inside = where(less(ids, cast(dynamic_size(size), ids.dtype())), ids, -1);
  if (!o.weights.defined()) {
    return unsorted_segment_sum(ones(ids.shape(), o.dtype), inside, size);
  }
  if (!shapes_agree(o.weights.shape(), arr->shape())) {
    fail<InvalidArgumentError>("[bincount] got weights of shape ", o.weights.shape(),
                               " for numbers of shape ", arr->shape(), "; they must agree");
  }
  return unsorted_segment_sum(reshape(o.weights, ids.shape()), inside, size);
}

Tensor confusion_matrix(In labels, In predictions, Size num_classes, In weights, DType dtype) {
  check_vector("confusion_matrix", "labels", labels);
  check_vector("confusion_matrix", "predictions", predictions);
  if (!shapes_agree(labels->shape(), predictions->shape())) {
    fail<InvalidArgumentError>("[confusion_matrix] got ", labels->shape()[0], " labels and ",
                               predictions->shape()[0], " predictions; they must be as many");
  }
  if (num_classes.is_known() && num_classes < 0)
    num_classes = to_size(maximum(one_above(labels), one_above(predictions)));
  const Tensor places = stack({cast(labels, int64), cast(predictions, int64)}, 1);
  const Tensor each = broadcast_to(cast(weights, dtype), labels->shape());
  return scatter_nd(places, each, {num_classes, num_classes});
}

Tensor in_top_k(In targets, In predictions, std::int64_t k) {
  check_vector("in_top_k", "targets", targets);
  if (predictions->rank() != 2 || !sizes_agree(predictions->shape()[0], targets->shape()[0])) {
    fail<InvalidArgumentError>("[in_top_k] got predictions of shape ", predictions->shape(),
                               " for targets of shape ", targets->shape(),
                               "; one row for each target was expected");
  }
  const Size classes = predictions->shape()[1];
  if (classes == 0) return zeros(targets->shape(), bool_);
  const Tensor last = cast(dynamic_size(classes - 1), targets->dtype());
  const Tensor valid = logical_and(greater_equal(targets, 0), less_equal(targets, last));
  const Tensor column = expand_dims(minimum(maximum(targets, 0), last), 1);
  const Tensor chosen = gather(predictions, column, 1, 1);
  const Tensor above = reduce_sum(cast(greater(predictions, chosen), int64), {1});
  const Tensor known = reduce_all(is_finite(predictions), {1});
  return logical_and(logical_and(valid, known), less(above, k));
}

}  // namespace gradus
