// Ops whose result has a size that depends on the data: made of records that are told the size, and
// of found_size, which finds it (docs/design/033).
#include <array>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/reduce.h"
#include "gradus/segments.h"
#include "gradus/shaping.h"
#include "gradus/sorting.h"
#include "graph/batch.h"
#include "graph/found_size.h"
#include "kernels/scratch.h"
#include "kernels/unique.h"
#include "ops/axes.h"
#include "ops/records.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

struct NonzeroAttrs {
  Size size = 0;
  static auto fields() { return attr_fields(attr("size", &NonzeroAttrs::size)); }
};

// For each byte, which of its bits are set.
struct SetBits {
  std::uint8_t places[256][8] = {};
  constexpr SetBits() {
    for (int byte = 0; byte < 256; ++byte)
      for (int bit = 0, next = 0; bit < 8; ++bit)
        if (byte >> bit & 1) places[byte][next++] = static_cast<std::uint8_t>(bit);
  }
};
constexpr SetBits kSetBits;

// The positions of the first `most` elements that are true; how many there are. Eight elements are
// looked at together, and eight positions written, of which the next ones overwrite what is not
// one: masks are too random for branches.
std::int64_t positions_of_true(const bool* mask, std::int64_t n, std::int64_t most,
                               std::int64_t* to) {
  std::int64_t i = 0, found = 0;
  for (; i + 8 <= n && found + 8 <= most; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, mask + i, 8);
    // Byte k is bit 8 k; the product brings it to bit 56 + k.
    const auto bits = static_cast<std::uint8_t>((eight * 0x0102040810204080u) >> 56);
    for (int k = 0; k < 8; ++k) to[found + k] = i + kSetBits.places[bits][k];
    found += std::popcount(bits);
  }
  for (; i < n && found < most; ++i)
    if (mask[i]) to[found++] = i;
  return found;
}

void fill_coordinates(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  const int rank = shape.rank();
  const std::int64_t rows = (*c.out[0].shape)[0];
  auto* const to = c.out[0].as<std::int64_t>();
  // The positions come last, where coordinates that are made of them never overwrite one unread.
  std::int64_t* const positions = to + rows * (rank - 1);
  const std::int64_t found =
      positions_of_true(c.in[0].as<bool>(), c.in[0].count(), rows, positions);
  for (std::int64_t row = 0; row < found && rank > 1; ++row) {
    std::int64_t position = positions[row];
    for (int axis = rank - 1; axis > 0; --axis) {
      to[row * rank + axis] = position % shape[axis];
      position /= shape[axis];
    }
    to[row * rank] = position;
  }
  std::fill(to + found * rank, to + rows * rank, 0);
}

// For each element the number of its value, and whether it is the first one that has it.
void number_values(const KernelCall& c) {
  const std::int64_t n = c.in[0].count();
  kernels::Scratch values(static_cast<std::size_t>(n) * size_of(c.in[0].dtype));
  auto* numbers = c.out[0].as<std::int64_t>();
  kernels::unique(c.in[0].dtype, c.in[0].data, n, values.data(), numbers, nullptr);
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    c.out[1].as<bool>()[i] = numbers[i] == seen;
    seen += numbers[i] == seen;
  }
}

}  // namespace

const Op nonzero_op = not_differentiable(
    {.name = "nonzero",
     .doc = "The coordinates of the first `size` elements that are true; zeros where there are "
            "fewer.",
     .dtypes = kBools,
     .attrs = &attr_type<NonzeroAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           if (c.shape(0).rank() == 0)
             fail<InvalidArgumentError>(
                 "[where] got a scalar; a condition with at least one axis expected");
           out.push_back({int64, {c.get<NonzeroAttrs>().size, c.shape(0).rank()}});
         },
     .kernel = fill_coordinates,
     .batch = batch_loop,
     .samples =
         [] {
           const SampleArg mask{{3, 4}, 0, 2, Fill::boolean}, line{{19}, 0, 2, Fill::boolean};
           return std::vector<Sample>{sample<NonzeroAttrs>({mask}, {5}),
                                      sample<NonzeroAttrs>({line}, {25}),
                                      sample<NonzeroAttrs>({line}, {0})};
         }},
    "positions are integers");

static const Op unique_numbers_op = not_differentiable(
    {.name = "unique_numbers",
     .doc = "For each element of a vector the number of its value, in order of first appearance, "
            "and whether it is the first with that value.",
     .dtypes = kReal | kBools,
     .outputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           if (c.shape(0).rank() != 1)
             fail<InvalidArgumentError>("[unique] got shape ", c.shape(0),
                                        "; a vector was expected");
           out.push_back({int64, c.shape(0)});
           out.push_back({bool_, c.shape(0)});
         },
     .kernel = number_values,
     .batch = batch_loop,
     .samples =
         [] {
           return std::vector<Sample>{{{{{12}, -3, 3, Fill::integer}}, nullptr},
                                      {{{{0}}}, nullptr}};
         }},
    "the numbers of values are integers");

Size to_size(In scalar) {
  if (scalar->rank() != 0 || !is_integer(scalar->dtype())) {
    fail<InvalidArgumentError>("[to_size] got ", name_of(scalar->dtype()), " of shape ",
                               scalar->shape(), "; a scalar integer was expected");
  }
  return found_size(scalar->dtype() == int64 ? scalar.tensor() : cast(scalar, int64));
}

namespace {

Tensor as_mask(const Tensor& condition) {
  return condition.dtype() == bool_ ? condition : not_equal(condition, 0);
}

}  // namespace

Tensor where(In condition, Size size) {
  return nonzero_op({as_mask(condition)}, NonzeroAttrs{size});
}

Tensor where(In condition) {
  const Tensor mask = as_mask(condition);
  return where(mask, found_size(count_nonzero(mask)));
}

Tensor boolean_mask(In tensor, In mask, int axis) {
  const Shape &shape = tensor->shape(), &chosen = mask->shape();
  const int at = tensor->rank() ? normal_axis("boolean_mask", axis, tensor->rank()) : 0;
  bool fits = chosen.rank() > 0 && at + chosen.rank() <= shape.rank() && mask->dtype() == bool_;
  for (int i = 0; fits && i < chosen.rank(); ++i) fits = sizes_agree(chosen[i], shape[at + i]);
  if (!fits) {
    fail<InvalidArgumentError>("[boolean_mask] a ", name_of(mask->dtype()), " mask of shape ",
                               chosen, " does not fit a tensor of shape ", shape, " from axis ", at,
                               " on; it must be bool and have at least one axis");
  }
  Shape merged;
  for (int i = 0; i < at; ++i) merged.push_back(shape[i]);
  merged.push_back(mask->shape().num_elements());
  for (int i = at + chosen.rank(); i < shape.rank(); ++i) merged.push_back(shape[i]);
  const Tensor positions = where(reshape(mask, {mask->shape().num_elements()}));
  return gather(reshape(tensor, merged), reshape(positions, {positions.shape()[0]}), at);
}

Tensor slice_between(In x, const Tensor& start, const Tensor& stop, const Tensor& step, int axis) {
  const int at = normal_axis("slice", axis, x->rank());
  const Tensor size = dynamic_size(x->shape()[at]);
  const Tensor by = step.defined() ? cast(step, int64) : Tensor(std::int64_t{1});
  const Tensor down = less(by, 0);
  // Backwards, the places are those from the last one to before the first one.
  const Tensor least = where(down, Tensor(std::int64_t{-1}), Tensor(std::int64_t{0}));
  const Tensor most = size + least;
  const auto bound = [&](const Tensor& given) {
    const Tensor place = cast(given, int64);
    return clip_by_value(where(less(place, 0), place + size, place), least, most);
  };
  const Tensor from = start.defined() ? bound(start) : where(down, most, least);
  const Tensor to = stop.defined() ? bound(stop) : where(down, least, most);
  const Tensor count = maximum(-floordiv(from - to, by), 0);
  // Behind another axis: the gradient of rows of axis 0 would be sparse.
  const Tensor places = from + iota(to_size(count)) * by;
  return squeeze(gather(expand_dims(x, 0), places, at + 1), {0});
}

Unique unique(In x, DType out_idx) {
  const Tensors found = unique_numbers_op.run(std::array{x.tensor()}, nullptr);
  const Tensor first = where(found[1]);
  const Size count = first.shape()[0];
  const Tensor ones_of_all = ones(found[0].shape(), int64);
  return {gather(x, reshape(first, {count})), cast(found[0], out_idx),
          cast(unsorted_segment_sum(ones_of_all, found[0], count), out_idx)};
}

}  // namespace gradus
