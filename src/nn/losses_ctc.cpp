// Connectionist temporal classification: how likely a sequence of labels is, over all its places in
// time. The labels may have blanks between them and stay for several times. Let l be the labels
// with blanks around them; alpha[s] is the probability of all ways that have come to l[s] by now.
#include "gradus/error.h"
#include "gradus/losses.h"
#include "gradus/ops.h"

namespace gradus::keras::per_sample {
namespace {

constexpr double kNever = -1e30;  // the logarithm of a probability of 0, with finite differences

Tensor with_blanks(const Tensor& labels, std::int64_t blank) {
  const Tensor blanks = zeros_like(labels) + blank;
  const Tensor pairs = reshape(stack({blanks, labels}, 2), {-1, 2 * labels.shape()[1]});
  return pad(pairs, {{0, 0}, {0, 1}}, PadMode::constant, blank);
}

// Each row moved to the right, with `value` at its beginning.
Tensor moved(const Tensor& rows, std::int64_t places, In value) {
  const Tensor padded = pad(rows, {{0, 0}, {places, 0}}, PadMode::constant, value);
  return index(padded, {Slice{}, Slice{.end = rows.shape()[1]}});
}

}  // namespace

Tensor ctc(In given_labels, In logits, In label_lengths, In logit_lengths, std::int64_t blank) {
  if (given_labels->rank() != 2 || logits->rank() != 3 || logits->shape()[1] == 0)
    throw InvalidArgumentError("[ctc] got labels of shape " + to_string(given_labels->shape()) +
                               " and logits of shape " + to_string(logits->shape()) +
                               "; expected [batch, most] and [batch, time, classes] with a time");
  const Tensor labels = with_blanks(cast(given_labels, int32), blank);
  const Tensor logs = nn::log_softmax(logits);
  const std::vector<Tensor> steps =  // of each time, the logs of l [batch, 2 labels + 1]
      unstack(gather(transpose(logs, {0, 2, 1}), labels, 1, 1), 2);
  // The blank before a label may be left out unless the label is the one before once more. Which
  // places are labels is told by their number: a label may have the number of the blank.
  const Tensor is_label = equal(floormod(iota(labels.shape()[1]), 2), 1);
  const Tensor may_skip = logical_and(is_label, not_equal(labels, moved(labels, 2, -1)));
  const Tensor skips = where(may_skip, zeros({}, logs.dtype()), kNever);
  const Tensor last = cast(logit_lengths, int32), count = cast(label_lengths, int32);

  Tensor alpha = where(iota(labels.shape()[1]) < 2, steps[0], kNever);
  for (std::size_t t = 1; t < steps.size(); ++t) {
    const Tensor ways = stack({alpha, moved(alpha, 1, kNever), moved(alpha, 2, kNever) + skips});
    const Tensor next = reduce_logsumexp(ways, {0}) + steps[t];
    alpha = where(expand_dims(static_cast<int>(t) < last, 1), next, alpha);
  }
  const Tensor ends = gather(alpha, stack({2 * count, maximum(2 * count - 1, 0)}, 1), 1, 1);
  const Tensor exists = stack({ones_like(count) > 0, count > 0}, 1);  // no labels: only the blank
  return -reduce_logsumexp(where(exists, ends, kNever), {1});
}

}  // namespace gradus::keras::per_sample
