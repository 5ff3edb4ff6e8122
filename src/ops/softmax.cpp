// Softmax and its relatives along the last axis, each a fused row kernel with a fused gradient.
#include <cstring>

#include "base/check.h"
#include "expr/math.h"
#include "expr/math_parts.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/makers.h"
#include "gradus/nn.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "ops/rowwise.h"

namespace gradus {
namespace {

using expr::exp;
using expr::exp_of_nonpositive;
using expr::log;
using expr::row_max;
using expr::row_sum;
using Exprs = RowKernel::Exprs;
constexpr auto kRow = RowOperand::row, kPerRow = RowOperand::per_row, kShared = RowOperand::shared;

// A row of nothing but -inf (everything masked) has no largest element to subtract.
Expr safe_max(Expr x) {
  const Expr m = row_max(x);
  return select(expr::is_finite(m), m, 0);
}

void run_rows(const RowKernel& kernel, const KernelCall& c, std::span<const View> out) {
  const std::int64_t cols = c.shape(0).back();
  kernel(cols == 0 ? 0 : c.in[0].count() / cols, cols, c.in, out);
}

template <const RowKernel& kernel>
void last_axis_kernel(const KernelCall& c) {
  run_rows(kernel, c, c.out);
}

const RowKernel softmax_rows({kRow}, {kRow}, [](const Exprs& in) {
  const Expr e = exp_of_nonpositive(in[0] - safe_max(in[0]));
  return Exprs{e * (1 / row_sum(e))};  // one quotient for each row
});
const RowKernel softmax_gradient_rows({kRow, kRow}, {kRow}, [](const Exprs& in) {
  const Expr y = in[0], g = in[1];
  return Exprs{y * (g - row_sum(y * g))};
});
const RowKernel log_softmax_rows({kRow}, {kRow}, [](const Exprs& in) {
  const Expr shifted = in[0] - safe_max(in[0]);
  return Exprs{shifted - log(row_sum(exp_of_nonpositive(shifted)))};
});
const RowKernel log_softmax_gradient_rows({kRow, kRow}, {kRow}, [](const Exprs& in) {
  const Expr y = in[0], g = in[1];
  return Exprs{g - exp(y) * row_sum(g)};
});

std::vector<Sample> row_samples() {
  return {
      {{{{3, 5}}}, nullptr}, {{{{4}}}, nullptr}, {{{{2, 3, 1}}}, nullptr}, {{{{0, 3}}}, nullptr}};
}
std::vector<Sample> pair_samples() {
  return {{{{{3, 5}}, {{3, 5}}}, nullptr}, {{{{2, 2, 4}}, {{2, 2, 4}}}, nullptr}};
}

void check_last_axis(const Call& c, Avals& out) {
  if (c.shape(0).rank() == 0) {
    fail<InvalidArgumentError>("[", c.op.name(), "] needs an axis to work along, got a scalar");
  }
  out.push_back({c.in[0].dtype, c.shape(0)});
}

// Two operands that agree in dtype and shape.
void check_pair(const Call& c, Avals& out) {
  check_last_axis(c, out);
  check_same_dtype(c);
  check_operand_shape(c, 1, c.shape(0));
}

std::vector<Sample> label_samples() {
  return {{{{{3, 5}}, {{3}, 0, 5, Fill::integer}}, nullptr},
          {{{{2, 2, 3}}, {{2, 2}, 0, 3, Fill::integer}}, nullptr}};
}

Tensor last_sum(const Tensor& x) { return reduce_sum(x, {-1}, true); }

}  // namespace

const Op softmax_gradient_op =
    composite({.name = "softmax_gradient",
               .doc = "y * (g - sum(y * g)) along the last axis: what softmax sends back.",
               .inputs = 2,
               .infer = check_pair,
               .kernel = last_axis_kernel<softmax_gradient_rows>,
               .batch = batch_leading,
               .expression = RowKernel::expression<softmax_gradient_rows>,
               .row_axes = last_axis_is_row,
               .samples = pair_samples},
              [](const void*, std::span<const Tensor> in) {
                return Tensors{in[0] * (in[1] - last_sum(in[0] * in[1]))};
              });

const Op softmax_op = general(
    {.name = "softmax",
     .doc = "exp(x) / sum(exp(x)) along the last axis, safe at any scale.",
     .infer = check_last_axis,
     .kernel = last_axis_kernel<softmax_rows>,
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{0, 1};
         },
     .expression = RowKernel::expression<softmax_rows>,
     .row_axes = last_axis_is_row,
     .samples = row_samples,
     .like = "tensorflow.nn.softmax"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      out[0] = softmax_gradient_op(s.out[0], t[0]);  // the Jacobian is symmetric
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      grads[0] = softmax_gradient_op(s.out[0], cts[0]);
    });

const Op log_softmax_gradient_op =
    composite({.name = "log_softmax_gradient",
               .doc = "g - exp(y) * sum(g) along the last axis: what log_softmax sends back.",
               .inputs = 2,
               .infer = check_pair,
               .kernel = last_axis_kernel<log_softmax_gradient_rows>,
               .batch = batch_leading,
               .expression = RowKernel::expression<log_softmax_gradient_rows>,
               .row_axes = last_axis_is_row,
               .samples = pair_samples},
              [](const void*, std::span<const Tensor> in) {
                return Tensors{in[1] - gradus::exp(in[0]) * last_sum(in[1])};
              });

const Op log_softmax_op = general(
    {.name = "log_softmax",
     .doc = "x - log(sum(exp(x))) along the last axis, safe at any scale.",
     .infer = check_last_axis,
     .kernel = last_axis_kernel<log_softmax_rows>,
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{0, 1};
         },
     .expression = RowKernel::expression<log_softmax_rows>,
     .row_axes = last_axis_is_row,
     .samples = row_samples,
     .like = "tensorflow.nn.log_softmax"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      out[0] = t[0] - last_sum(gradus::exp(s.out[0]) * t[0]);
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      grads[0] = log_softmax_gradient_op(s.out[0], cts[0]);
    });

namespace {

// Runs an op that works along the last axis along another one.
Tensor along(const Op& op, const Tensor& x, int axis) {
  const int a = normal_axis(op.name(), axis, std::max(1, x.rank()));
  if (a == x.rank() - 1 || x.rank() == 0) return op(x);
  Ints permutation = all_axes(x.rank());
  std::swap(permutation[a], permutation[x.rank() - 1]);
  return transpose(op(transpose(x, permutation)), permutation);
}

// Cross entropy of rows of logits against rows of probabilities or against labels: the loss per row
// and, because the exponentials are at hand, its gradient with respect to the logits.
const RowKernel cross_entropy_rows({kRow, kRow}, {kPerRow, kRow}, [](const Exprs& in) {
  const Expr x = in[0], p = in[1];
  const Expr shifted = x - safe_max(x), e = exp_of_nonpositive(shifted), total = row_sum(e);
  const Expr mass = row_sum(p);
  // A probability of exactly 0 contributes nothing, whatever the logit.
  const Expr picked = row_sum(select(p == 0, 0, p * shifted));
  return Exprs{log(total) * mass - picked, e * (mass / total) - p};
});
const RowKernel sparse_rows({kRow}, {kPerRow, kRow}, [](const Exprs& in) {
  const Expr m = safe_max(in[0]), e = exp_of_nonpositive(in[0] - m), total = row_sum(e);
  return Exprs{log(total) + m, e * (1 / total)};
});

const RowKernel cross_entropy_at_rows(
    {kRow, kPerRow, kPerRow, kShared}, {kPerRow, kRow}, [](const Exprs& in) {
      const Expr m = safe_max(in[0]), e = exp_of_nonpositive(in[0] - m), total = row_sum(e);
      const Expr at_label = select(in[2] == in[3], 1, constant(e, 0));
      return Exprs{log(total) + m - in[1], e * (1 / total) - at_label};
    });

void clear(const View& v) {
  std::memset(v.data, 0, static_cast<std::size_t>(v.count()) * size_of(v.dtype));
}

Shape without_last(const Shape& s) { return Shape(std::span(s.begin(), s.end() - 1)); }

void infer_cross_entropy(const Call& c, Avals& out) {
  check_last_axis(c, out);
  if (!shapes_agree(c.shape(0), c.shape(1)) || c.in[0].dtype != c.in[1].dtype) {
    fail<InvalidArgumentError>("[softmax_cross_entropy_with_logits] logits of shape ", c.shape(0),
                               " and dtype ", name_of(c.in[0].dtype), " and labels of shape ",
                               c.shape(1), " and dtype ", name_of(c.in[1].dtype), " must agree");
  }
  out[0].shape = without_last(c.shape(0));
  out.push_back({c.in[0].dtype, c.shape(0)});
}

void infer_sparse(const Call& c, Avals& out) {
  check_last_axis(c, out);
  if (!shapes_agree(without_last(c.shape(0)), c.shape(1)) ||
      !(c.in[1].dtype == int32 || c.in[1].dtype == int64)) {
    fail<InvalidArgumentError>("[sparse_softmax_cross_entropy_with_logits] logits of shape ",
                               c.shape(0), " need int32 or int64 labels of shape ",
                               without_last(c.shape(0)), "; got shape ", c.shape(1), " and dtype ",
                               name_of(c.in[1].dtype));
  }
  if (c.shape(0).back() == 0) {
    fail<InvalidArgumentError>("[sparse_softmax_cross_entropy_with_logits] logits of shape ",
                               c.shape(0), " have no classes; at least one is needed");
  }
  out[0].shape = without_last(c.shape(0));
  out.push_back({c.in[0].dtype, c.shape(0)});
}

// Calls f(row, label) for each label of the second input, which must name one of the columns.
template <class Label, class F>
void for_each_label(const KernelCall& c, F f) {
  const std::int64_t cols = c.shape(0).back(), rows = c.in[1].count();
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto label = static_cast<std::int64_t>(c.in[1].as<Label>()[r]);
    if (label < 0 || label >= cols) {
      fail<InvalidArgumentError>("[sparse_softmax_cross_entropy_with_logits] label ", label,
                                 " at row ", r, " is out of range: it must be in [0, ", cols, ")");
    }
    f(r, label);
  }
}

template <class T>
void subtract_labels(const KernelCall& c) {
  const std::int64_t cols = c.shape(0).back();
  const T* logits = c.in[0].as<T>();
  T *loss = c.out[0].as<T>(), *gradient = c.out[1].as<T>();
  const auto subtract = [&](std::int64_t r, std::int64_t label) {
    loss[r] = loss[r] - logits[r * cols + label];
    gradient[r * cols + label] -= T(1);
  };
  c.in[1].dtype == int64 ? for_each_label<std::int64_t>(c, subtract)
                         : for_each_label<std::int32_t>(c, subtract);
}

void sparse_kernel(const KernelCall& c) {
  run_rows(sparse_rows, {{c.op, c.attrs, c.in.first(1)}, c.out}, c.out);
  c.in[0].dtype == float32 ? subtract_labels<float>(c) : subtract_labels<double>(c);
}

template <class T>
void pick_labels(const KernelCall& c) {
  const std::int64_t cols = c.shape(0).back();
  const T* logits = c.in[0].as<T>();
  T *picked = c.out[0].as<T>(), *place = c.out[1].as<T>();
  const auto pick = [&](std::int64_t r, std::int64_t label) {
    picked[r] = logits[r * cols + label];
    place[r] = static_cast<T>(label);
  };
  c.in[1].dtype == int64 ? for_each_label<std::int64_t>(c, pick)
                         : for_each_label<std::int32_t>(c, pick);
}

Tensor column(const Tensor& per_row) { return expand_dims(per_row, -1); }

// 1 where a column is the place of its row, 0 elsewhere.
Tensor indicator(const Tensor& place, std::int64_t cols) {
  return cast(equal(column(place), iota(cols, place.dtype())), place.dtype());
}

// With p the labels and q = softmax(x): loss = -sum(p log q), gradient = q sum(p) - p. Labels given
// as indices are constants with sum(p) = 1.
struct CrossEntropy {
  Tensor q, mass;
  explicit CrossEntropy(const Site& s, bool sparse)
      : q(nn::softmax(s.in[0])), mass(sparse ? Tensor() : last_sum(s.in[1])) {}
  Tensor scale(const Tensor& t) const { return mass.defined() ? t * mass : t; }
};

template <bool sparse>
void cross_entropy_jvp(const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
  const CrossEntropy at(s, sparse);
  if (t[0].defined()) {
    out[0] = reduce_sum(s.out[1] * t[0], {-1});
    out[1] = at.scale(softmax_gradient_op(at.q, t[0]));
  }
  if (!sparse && t[1].defined()) {
    const Tensor loss = reduce_sum(negative(nn::log_softmax(s.in[0])) * t[1], {-1});
    const Tensor gradient = at.q * last_sum(t[1]) - t[1];
    out[0] = out[0].defined() ? out[0] + loss : loss;
    out[1] = out[1].defined() ? out[1] + gradient : gradient;
  }
}

template <bool sparse>
void cross_entropy_vjp(const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
                       std::span<Cotangent> grads) {
  Tensor logits, labels;
  const auto give = [](Tensor& sum, const Tensor& g) { sum = sum.defined() ? sum + g : g; };
  const bool wants_labels = !sparse && (wanted & 2);
  if (cts[0].defined()) {
    if (wanted & 1) give(logits, column(cts[0]) * s.out[1]);
    if (wants_labels) give(labels, column(cts[0]) * negative(nn::log_softmax(s.in[0])));
  }
  if (cts[1].defined()) {
    const CrossEntropy at(s, sparse);
    if (wanted & 1) give(logits, at.scale(softmax_gradient_op(at.q, cts[1])));
    if (wants_labels) give(labels, last_sum(cts[1] * at.q) - cts[1]);
  }
  grads[0] = logits;
  if (!sparse) grads[1] = labels;
}

}  // namespace

const Op cross_entropy_op =
    general({.name = "softmax_cross_entropy_with_logits",
             .doc = "-sum(labels * log_softmax(logits)) along the last axis, and its gradient.",
             .dtypes = kFloating,
             .inputs = 2,
             .outputs = 2,
             .infer = infer_cross_entropy,
             .kernel =
                 [](const KernelCall& c) {
                   run_rows(cross_entropy_rows, c, c.out);
                   if (c.shape(0).back() == 0) clear(c.out[0]);  // a sum of nothing
                 },
             .batch = batch_leading,
             .reads =
                 [](const void*, std::uint32_t) {
                   return Reads{3, 2};
                 },
             .expression = RowKernel::expression<cross_entropy_rows>,
             .row_axes = last_axis_is_row,
             .samples =
                 [] {
                   return std::vector<Sample>{{{{{3, 5}}, {{3, 5}, 0.05, 0.4}}, nullptr},
                                              {{{{2, 2, 3}}, {{2, 2, 3}, 0.1, 0.6}}, nullptr},
                                              {{{{2, 0}}, {{2, 0}}}, nullptr}};
                 },
             .like = "tensorflow.nn.softmax_cross_entropy_with_logits"},
            cross_entropy_jvp<false>, cross_entropy_vjp<false>);

extern const Op label_logits_op;  // its own derivative
const Op label_logits_op = general(
    {.name = "label_logits",
     .doc = "The logit at each label along the last axis, and the label as a number of that dtype.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .inputs = 2,
     .outputs = 2,
     .differentiable = 1,
     .infer =
         [](const Call& c, Avals& out) {
           infer_sparse(c, out);
           out[1].shape = out[0].shape;
         },
     .kernel =
         [](const KernelCall& c) {
           c.in[0].dtype == float32 ? pick_labels<float>(c) : pick_labels<double>(c);
         },
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{2, 2};
         },
     .samples = label_samples},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const Tensor in[] = {t[0], s.in[1]};
      out[0] = label_logits_op.run(in, nullptr)[0];
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      if (cts[0].defined()) grads[0] = column(cts[0]) * indicator(s.out[1], s.shape(0).back());
    });

const Op cross_entropy_at_op = composite(
    {.name = "cross_entropy_at",
     .doc =
         "The cross entropy of rows of logits and its gradient, given the logit and the place of "
         "each label, and the numbers of the columns.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .inputs = 4,
     .outputs = 2,
     .differentiable = 3,
     .infer =
         [](const Call& c, Avals& out) {
           check_last_axis(c, out);
           check_same_dtype(c);
           Shape per_row = c.shape(0);
           per_row[per_row.rank() - 1] = 1;
           check_operand_shape(c, 1, per_row);
           check_operand_shape(c, 2, per_row);
           check_operand_shape(c, 3, Shape{c.shape(0).back()});
           out[0].shape = without_last(c.shape(0));
           out.push_back({c.in[0].dtype, c.shape(0)});
         },
     .kernel = last_axis_kernel<cross_entropy_at_rows>,
     .expression = RowKernel::expression<cross_entropy_at_rows>,
     .row_axes = last_axis_is_row,
     .samples =
         [] {
           return std::vector<Sample>{{{{{3, 5}}, {{3, 1}}, {{3, 1}, 2, 2}, {{5}, 2, 2}}, nullptr},
                                      {{{{2, 1, 4}}, {{2, 1, 1}}, {{2, 1, 1}}, {{4}}}, nullptr}};
         }},
    [](const void*, std::span<const Tensor> in) {
      return Tensors{reduce_logsumexp(in[0], {-1}) - squeeze(in[1], {-1}),
                     nn::softmax(in[0]) - cast(equal(in[2], in[3]), in[0].dtype())};
    });

namespace {

// In ops that fuse with what is around, such as the scale of the loss. Not where a label may not be
// a number of the logits' dtype, or where the count of columns is not known.
Tensors sparse_in_a_loop(const void*, std::span<const Tensor> in) {
  const Size cols = in[0].shape().back();
  if (!cols.is_known() || cols >= 1 << 24) return {};
  const Tensors label = label_logits_op.run(in, nullptr);
  const Tensor at[] = {in[0], column(label[0]), column(label[1]), iota(cols, in[0].dtype())};
  return cross_entropy_at_op.run(at, nullptr);
}

}  // namespace

const Op sparse_cross_entropy_op =
    general({.name = "sparse_softmax_cross_entropy_with_logits",
             .doc = "-log_softmax(logits)[label] along the last axis, and its gradient.",
             .dtypes = one_dtype(float32) | one_dtype(float64),
             .inputs = 2,
             .outputs = 2,
             .differentiable = 1,
             .infer = infer_sparse,
             .kernel = sparse_kernel,
             .batch = batch_leading,
             .reads =
                 [](const void*, std::uint32_t) {
                   return Reads{3, 2};
                 },
             .lower = sparse_in_a_loop,
             .samples = label_samples,
             .like = "tensorflow.nn.sparse_softmax_cross_entropy_with_logits"},
            cross_entropy_jvp<true>, cross_entropy_vjp<true>);

namespace nn {

Tensor softmax(In x, int axis) { return along(softmax_op, x, axis); }
Tensor log_softmax(In x, int axis) { return along(log_softmax_op, x, axis); }

Tensor softmax_cross_entropy_with_logits(In labels, In logits) {
  const Tensor in[] = {logits, labels};
  return std::move(cross_entropy_op.run(in, nullptr)[0]);
}

Tensor sparse_softmax_cross_entropy_with_logits(In labels, In logits) {
  const Tensor in[] = {logits, labels};
  return std::move(sparse_cross_entropy_op.run(in, nullptr)[0]);
}

}  // namespace nn
}  // namespace gradus
