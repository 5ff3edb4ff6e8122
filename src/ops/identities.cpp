#include "ops/identities.h"

#include <algorithm>

#include "gradus/ops.h"

namespace gradus {
namespace {

template <int number>
Tensor neutral_on_the_right(const Applied& y) {
  return y.is_all(1, number) ? y.operand(0) : Tensor();
}
template <int number>
Tensor neutral_on_both_sides(const Applied& y) {
  if (y.is_all(1, number)) return y.operand(0);
  return y.is_all(0, number) ? y.operand(1) : Tensor();
}

// -0 changes no float; 0 changes no integer.
Tensor add_nothing(const Applied& y) {
  const double nothing = is_integer(y.aval(0).dtype) ? 0.0 : -0.0;
  if (y.is_all(1, nothing)) return y.operand(0);
  return y.is_all(0, nothing) ? y.operand(1) : Tensor();
}

Tensor twice_is_nothing(const Applied& y) {
  const auto x = y.made(0);
  return x && y.same_attrs(*x) ? x->operand(0) : Tensor();
}
Tensor twice_is_once(const Applied& y) {
  const auto x = y.made(0);
  return x && y.same_attrs(*x) ? y.operand(0) : Tensor();
}
// The inner one does not matter: f(f(x; a); b) = f(x; b).
Tensor only_the_last(const Applied& y) {
  const auto x = y.made(0);
  return x && &x->op() == &y.op() ? y.on(x->operand(0)) : Tensor();
}
Tensor ignores_sign(const Applied& y) {
  const auto x = y.made(0);
  return x && (x->is("negative") || x->is("abs")) ? y.on(x->operand(0)) : Tensor();
}
Tensor of_equals(const Applied& y) {
  return y.same_operands(y.count() - 1, y.count() - 2) ? y.operand(y.count() - 1) : Tensor();
}

template <class A>
bool is_zero(const A& list) {
  return std::all_of(list.begin(), list.end(), [](Size i) { return is_same(i, 0); });
}

Tensor to_the_same_shape(const Applied& y) {
  return is_same(y.attr<Shape>("shape"), y.aval(0).shape) ? y.operand(0) : Tensor();
}
Tensor whole_slice(const Applied& y) {
  return is_same(y.attr<Shape>("size"), y.aval(0).shape) ? y.operand(0) : Tensor();
}
Tensor pad_by_nothing(const Applied& y) {
  return is_zero(y.attr<Ints>("before")) && is_zero(y.attr<Ints>("after")) ? y.operand(0)
                                                                           : Tensor();
}
Tensor join_one(const Applied& y) { return y.count() == 1 ? y.operand(0) : Tensor(); }
Tensor over_no_axes(const Applied& y) {
  return y.attr<Ints>("axes").rank() == 0 ? y.operand(0) : Tensor();
}

bool is_signed(DType t) { return t == int8 || t == int16 || t == int32 || t == int64; }

// Whether every number of a dtype is one of another.
bool holds_all(DType wide, DType narrow) {
  const auto digits = [](DType t) {
    return t == float64 ? 53 : t == float32 ? 24 : t == float16 ? 11 : t == bfloat16 ? 8 : 0;
  };
  const auto bits = [](DType t) { return static_cast<int>(8 * size_of(t)); };
  if (is_complex(wide) || is_complex(narrow)) return false;
  if (narrow == bool_) return true;
  if (wide == bool_) return false;
  if (is_floating(narrow)) return is_floating(wide) && size_of(wide) > size_of(narrow);
  if (is_floating(wide)) return digits(wide) >= bits(narrow);
  return bits(wide) > bits(narrow) && (is_signed(wide) || !is_signed(narrow));
}

Tensor cast_back(const Applied& y) {
  const DType to = y.attr<DType>("dtype");
  if (to == y.aval(0).dtype) return y.operand(0);
  const auto x = y.made(0);
  if (!x || !x->is("cast")) return {};
  const DType from = x->aval(0).dtype, between = y.aval(0).dtype;
  return to == from && holds_all(between, from) ? x->operand(0) : Tensor();
}

Tensor transpose_once(const Applied& y) {
  Ints order = y.attr<Ints>("permutation");
  Tensor x = y.operand(0);
  const auto before = y.made(0);
  const bool twice = before && before->is("transpose");
  if (twice) {
    const Ints& first = before->attr<Ints>("permutation");
    for (int i = 0; i < order.rank(); ++i) order[i] = first[static_cast<int>(order[i])];
    x = before->operand(0);
  }
  // Axes of size 1 may be anywhere: if the others keep their order, no element moves.
  std::int64_t last = -1;
  bool moves = false;
  Shape shape;
  for (std::int64_t axis : order) {
    const Size size = x.shape()[static_cast<int>(axis)];
    shape.push_back(size);
    if (is_same(size, 1)) continue;
    moves = moves || axis < last;
    last = axis;
  }
  if (!moves) return is_same(x.shape(), shape) ? x : reshape(x, shape);
  return twice ? transpose(x, order) : Tensor();
}

// Whether an operand is a matrix, or many, with rows and columns exchanged.
bool is_exchanged(const std::optional<Applied>& x) {
  if (!x || !x->is("transpose")) return false;
  const Ints& order = x->attr<Ints>("permutation");
  const int rank = order.rank();
  if (rank < 2 || order[rank - 1] != rank - 2 || order[rank - 2] != rank - 1) return false;
  for (int i = 0; i < rank - 2; ++i)
    if (order[i] != i) return false;
  return true;
}

Tensor transposes_into_flags(const Applied& y) {
  const auto a = y.made(0), b = y.made(1);
  const bool in_a = is_exchanged(a), in_b = is_exchanged(b);
  if (!in_a && !in_b) return {};
  return matmul(in_a ? a->operand(0) : y.operand(0), in_b ? b->operand(0) : y.operand(1),
                {.transpose_a = y.attr<bool>("transpose_a") != in_a,
                 .transpose_b = y.attr<bool>("transpose_b") != in_b});
}

Tensor square_of(const Applied& y) { return y.is_all(1, 2) ? square(y.operand(0)) : Tensor(); }

Tensor log_of_softmax(const Applied& y) {
  const auto p = y.made(0);
  return p && p->is("softmax") ? nn::log_softmax(p->operand(0)) : Tensor();
}
Tensor log_of_sum_of_exp(const Applied& y) {
  const auto sum = y.made(0);
  if (!sum || !sum->is("reduce_sum")) return {};
  const auto e = sum->made(0);
  if (!e || !e->is("exp")) return {};
  const Ints axes = sum->attr<Ints>("axes");
  return reduce_logsumexp(e->operand(0), axes, sum->attr<bool>("keepdims"));
}

constexpr Identity kIdentities[] = {
    // Arithmetic.
    {"add", "x + (-0) = x; x + 0 = x for integers", add_nothing},
    {"subtract", "x - 0 = x", neutral_on_the_right<0>},
    {"multiply", "x * 1 = x", neutral_on_both_sides<1>},
    {"divide", "x / 1 = x", neutral_on_the_right<1>},
    {"pow", "x ** 1 = x", neutral_on_the_right<1>},
    {"pow", "x ** 2 = x * x, more exact", square_of},
    {"negative", "-(-x) = x", twice_is_nothing},
    {"logical_not", "not not x = x", twice_is_nothing},
    {"conj", "conj(conj(x)) = x", twice_is_nothing},
    {"abs", "|-x| = ||x|| = |x|", ignores_sign},
    {"square", "(-x)^2 = |x|^2 = x^2", ignores_sign},
    {"relu", "relu(relu(x)) = relu(x)", twice_is_once},
    {"floor", "floor(floor(x)) = floor(x)", twice_is_once},
    {"ceil", "ceil(ceil(x)) = ceil(x)", twice_is_once},
    {"round", "round(round(x)) = round(x)", twice_is_once},
    {"sign", "sign(sign(x)) = sign(x)", twice_is_once},
    {"maximum", "max(x, x) = x", of_equals},
    {"minimum", "min(x, x) = x", of_equals},
    {"where", "where(c, x, x) = x", of_equals},
    // Shapes and dtypes.
    {"cast", "a cast to the same dtype, or to a wider one and back, is nothing", cast_back},
    {"reshape", "of two reshapes the last counts", only_the_last},
    {"broadcast_to", "to the same shape is nothing", to_the_same_shape},
    {"broadcast_to", "of two broadcasts the last counts", only_the_last},
    {"transpose", "two are one; one that moves no element is a reshape", transpose_once},
    {"reverse", "twice along the same axes is nothing", twice_is_nothing},
    {"slice", "the whole is x", whole_slice},
    {"pad_zeros", "by nothing is x", pad_by_nothing},
    {"pad_constant", "by nothing is x", pad_by_nothing},
    {"concat", "of one is x", join_one},
    {"reduce_sum", "over no axes is x", over_no_axes},
    {"reduce_max", "over no axes is x", over_no_axes},
    {"reduce_min", "over no axes is x", over_no_axes},
    {"reduce_mean", "over no axes is x", over_no_axes},
    // Products.
    {"matmul", "transposed operands are flags", transposes_into_flags},
    // Softmax.
    {"log", "log(softmax(x)) = log_softmax(x), more exact", log_of_softmax},
    {"log", "log(sum(exp(x))) = logsumexp(x), more exact", log_of_sum_of_exp},
};

}  // namespace

std::span<const Identity> identities() { return kIdentities; }

}  // namespace gradus
