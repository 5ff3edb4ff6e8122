// Slices with steps and everything else that x[...] can say: begin, extent and step per axis, then
// a reshape for axes that come and go.
#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "graph/symbols.h"
#include "kernels/movement.h"
#include "ops/records.h"

namespace gradus {
namespace {

struct StridedAttrs {
  Ints begin, step;
  Shape extent;  // of the slice
  static auto fields() {
    return attr_fields(attr("begin", &StridedAttrs::begin), attr("step", &StridedAttrs::step),
                       attr("extent", &StridedAttrs::extent));
  }
};

struct SpreadAttrs {
  Ints begin, step;
  Shape shape;  // of the whole
  static auto fields() {
    return attr_fields(attr("begin", &SpreadAttrs::begin), attr("step", &SpreadAttrs::step),
                       attr("shape", &SpreadAttrs::shape));
  }
};

// Sizes that were unknown while tracing may turn out too small.
void check_inside(const char* op, const Ints& begin, const Ints& step, const Shape& extent,
                  const Shape& whole) {
  for (int i = 0; i < whole.rank(); ++i) {
    if (extent[i] == 0) continue;
    const Size last = begin[i] + (extent[i] - 1) * step[i];
    if (begin[i] < 0 || last < 0 || begin[i] >= whole[i] || last >= whole[i]) {
      fail<InvalidArgumentError>("[", op, "] positions ", begin[i], " to ", last, " of axis ", i,
                                 " do not exist in a tensor of shape ", whole,
                                 "; the function was traced with a size that was still unknown");
    }
  }
}

// What a shape rule can know of a slice: one begin, step and extent per axis, inside the tensor
// unless a size is still unknown.
void check_slice(const Call& c, const Ints& begin, const Ints& step, const Shape& extent,
                 const Shape& whole) {
  constexpr std::int64_t kFar = std::int64_t{1} << 31;
  const auto near = [](Size x) { return !x.is_known() || (x > -kFar && x < kFar); };
  const int rank = whole.rank();
  bool fits = begin.rank() == rank && step.rank() == rank && extent.rank() == rank;
  for (int i = 0; fits && i < rank; ++i) {
    fits = near(begin[i]) && near(step[i]) && step[i].is_known() && step[i] != 0 &&
           near(extent[i]) && (extent[i] >= 0 || !extent[i].is_known()) &&
           (whole[i] >= 0 || !whole[i].is_known());
    const bool known = begin[i].is_known() && extent[i].is_known() && whole[i].is_known();
    if (!fits || !known || extent[i] == 0) continue;
    const std::int64_t last = begin[i] + (extent[i] - 1) * step[i];
    fits = begin[i] >= 0 && last >= 0 && begin[i] < whole[i] && last < whole[i];
  }
  if (!fits) {
    fail<InvalidArgumentError>("[", c.op.name(), "] begin ", begin, ", step ", step, " and extent ",
                               extent, " do not describe a slice of a tensor of shape ", whole);
  }
}

template <class Attrs>
Attrs with_batch_axis(const Attrs& attrs) {
  Attrs result = attrs;
  result.begin.insert(0, 0);
  result.step.insert(0, 1);
  return result;
}

}  // namespace

extern const Op spread_slice_op;

const Op strided_slice_op = linear(
    {.name = "strided_slice",
     .doc = "Every step-th element along each axis, forwards or backwards.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<StridedAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           const auto& p = c.get<StridedAttrs>();
           check_slice(c, p.begin, p.step, p.extent, c.shape(0));
           out.push_back({c.in[0].dtype, p.extent});
         },
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<StridedAttrs>();
           check_inside("strided_slice", p.begin, p.step, p.extent, c.shape(0));
           kernels::read_slice(
               size_of(c.in[0].dtype), c.in[0].data, c.shape(0).numbers().data(), c.shape(0).rank(),
               {p.begin.numbers().data(), p.step.numbers().data(), p.extent.numbers().data()},
               c.out[0].data);
         },
     .batch =
         [](const BatchCall& c) {
           StridedAttrs attrs = with_batch_axis(c.get<StridedAttrs>());
           attrs.extent.insert(0, c.size);
           return c.op.run(c.in, &attrs);
         },
     .samples =
         [] {
           return std::vector<Sample>{
               sample<StridedAttrs>({{{4, 5}}}, {{0, 4}, {1, -2}, {4, 3}}),
               sample<StridedAttrs>({{{2, 3, 2}}}, {{0, 2, 1}, {1, -1, 1}, {2, 3, 1}}),
               sample<StridedAttrs>({{{3}}}, {{1}, {2}, {0}})};
         },
     .like = "tensorflow.strided_slice"},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      const auto& p = s.get<StridedAttrs>();
      return spread_slice_op({ct}, SpreadAttrs{p.begin, p.step, s.shape(0)});
    });

const Op spread_slice_op = linear(
    {.name = "spread_slice",
     .doc = "Zeros with every step-th element along each axis given.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<SpreadAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           const auto& p = c.get<SpreadAttrs>();
           check_slice(c, p.begin, p.step, c.shape(0), p.shape);
           out.push_back({c.in[0].dtype, p.shape});
         },
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<SpreadAttrs>();
           check_inside("spread_slice", p.begin, p.step, c.shape(0), p.shape);
           kernels::scatter_slice(
               size_of(c.in[0].dtype), c.in[0].data,
               {p.begin.numbers().data(), p.step.numbers().data(), c.shape(0).numbers().data()},
               p.shape.rank(), c.out[0].data, p.shape.numbers().data());
         },
     .batch =
         [](const BatchCall& c) {
           SpreadAttrs attrs = with_batch_axis(c.get<SpreadAttrs>());
           attrs.shape.insert(0, c.size);
           return c.op.run(c.in, &attrs);
         },
     .samples =
         [] {
           return std::vector<Sample>{sample<SpreadAttrs>({{{4, 3}}}, {{0, 4}, {1, -2}, {4, 5}}),
                                      sample<SpreadAttrs>({{{0}}}, {{1}, {2}, {3}})};
         }},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      const auto& p = s.get<SpreadAttrs>();
      return strided_slice_op({ct}, StridedAttrs{p.begin, p.step, s.shape(0)});
    });

namespace {

// One axis of a slice, resolved by Python's rules. What is asked about sizes that are not known
// becomes a guard: x[:3] of fewer rows is another program.
struct Resolved {
  Size begin, extent;
};

Resolved resolve(const Slice& s, Size n) {
  if (!s.begin && !s.end && s.step == 1) return {0, n};
  const bool up = s.step > 0;
  const Size low = up ? 0 : -1, high = up ? n : n - 1;
  const auto at = [&](Size i) {
    if (i < 0) i = i + n;
    return i < low ? low : high < i ? high : i;
  };
  const Size begin = s.begin ? at(*s.begin) : up ? low : high;
  const Size end = s.end ? at(*s.end) : up ? high : low;
  const Size length = up ? end - begin : begin - end;
  if (length <= 0) return {0, 0};
  const std::int64_t step = std::abs(s.step);
  return {begin, (length + (step - 1)) / step};
}

bool names_axis(const Index& i) {
  return i.kind() == Index::Kind::position || i.kind() == Index::Kind::slice;
}

Tensor index_as_given(const Tensor& x, const std::vector<Index>& indices) {
  const Shape& shape = x.shape();
  int named = 0, ellipses = 0;
  for (const Index& i : indices) {
    named += names_axis(i);
    ellipses += i.kind() == Index::Kind::ellipsis;
  }
  if (named > shape.rank() || ellipses > 1) {
    fail<InvalidArgumentError>("[index] got ", named, " positions and slices and ", ellipses,
                               " ellipses for a tensor of shape ", shape,
                               "; at most one entry per axis and one ellipsis can be given");
  }
  StridedAttrs attrs;
  Shape result;
  bool steps = false;
  const auto take = [&](Size begin, std::int64_t step, Size extent) {
    attrs.begin.push_back(begin);
    attrs.step.push_back(step);
    attrs.extent.push_back(extent);
    steps |= step != 1;
  };
  const auto take_whole_axes = [&](int count) {
    for (; count > 0; --count) {
      const Size n = shape[attrs.begin.rank()];
      take(0, 1, n);
      result.push_back(n);
    }
  };
  for (const Index& i : indices) {
    const int axis = attrs.begin.rank();
    switch (i.kind()) {
      case Index::Kind::new_axis:
        result.push_back(1);
        break;
      case Index::Kind::ellipsis:
        take_whole_axes(shape.rank() - named);
        break;
      case Index::Kind::position: {
        const Size n = shape[axis], at = *i.slice().begin;
        if (at < 0 - n || at >= n) {
          fail<InvalidArgumentError>("[index] position ", at, " of axis ", axis,
                                     " is out of bounds for a tensor of shape ", shape);
        }
        take(at < 0 ? at + n : at, 1, 1);
        break;
      }
      case Index::Kind::slice: {
        if (i.slice().step == 0) {
          fail<InvalidArgumentError>("[index] the step of axis ", axis, " is 0");
        }
        const Resolved r = resolve(i.slice(), shape[axis]);
        take(r.begin, i.slice().step, r.extent);
        result.push_back(r.extent);
      }
    }
  }
  take_whole_axes(shape.rank() - attrs.begin.rank());
  Tensor part = x;
  if (steps) {
    part = strided_slice_op({x}, attrs);
  } else if (!is_same(attrs.extent, shape)) {
    part = slice(x, attrs.begin, attrs.extent);
  }
  return is_same(part.shape(), result) ? part : reshape(part, result);
}

// Whether only the run of a program can say where `at` lies in an axis of size n: an answer from
// the call that is traced would not serve others.
bool is_found(const Symbols& symbols, Size at, Size n) {
  if (at.is_known() || !symbols.has(at)) return false;
  const std::vector<std::optional<std::int64_t>> hints = symbols.hints();
  for (std::size_t i = 0; i < hints.size(); ++i)
    if (!hints[i] && symbols.depends_on(at, i) && (n.is_known() || !symbols.depends_on(n, i)))
      return true;
  return false;
}

// A position or slice whose place is computed by the program: the position is found, or a bound or
// the size of the axis is another one in each turn of a loop.
bool is_computed(const Symbols& symbols, const Index& i, Size n) {
  const Slice& s = i.slice();
  if (i.kind() == Index::Kind::position) return is_found(symbols, *s.begin, n);
  const auto differs = [&](const std::optional<Size>& size) {
    return size && !size->is_known() && symbols.has(*size) && symbols.differs_by_turn(*size);
  };
  const bool is_whole = !s.begin && !s.end && s.step == 1;
  return !is_whole && (differs(n) || differs(s.begin) || differs(s.end));
}

// The element at a position that is found, along an axis that stays.
Tensor cut_out(const Tensor& x, const Tensor& at, int axis) {
  const Tensor n = dynamic_size(x.shape()[axis]);
  return gather(x, reshape(where(at < 0, at + n, at), {1}), axis);
}

// Makes these cuts; their entries then take the whole axis, or its one element.
Tensor cut_as_computed(Tensor x, const Symbols& symbols, std::vector<Index>& indices) {
  const auto bound = [](const std::optional<Size>& size) {
    return size ? dynamic_size(*size) : Tensor();
  };
  int before = 0, behind = static_cast<int>(std::ranges::count_if(indices, names_axis));
  bool is_behind = false;  // the ellipsis
  for (Index& i : indices) {
    is_behind = is_behind || i.kind() == Index::Kind::ellipsis;
    if (!names_axis(i)) continue;
    const int axis = is_behind ? x.rank() - behind : before;
    --behind;
    ++before;
    if (axis < 0 || axis >= x.rank() || !is_computed(symbols, i, x.shape()[axis])) continue;
    const Slice s = i.slice();
    if (i.kind() == Index::Kind::position) {
      x = cut_out(x, bound(s.begin), axis);
      i = Index(0);
    } else {
      x = slice_between(x, bound(s.begin), bound(s.end), Tensor(s.step), axis);
      i = Slice{};
    }
  }
  return x;
}

}  // namespace

Tensor index(In x, const std::vector<Index>& indices) {
  const Symbols* const symbols = symbols_of_trace();
  if (!symbols) return index_as_given(x, indices);
  std::vector<Index> rest = indices;
  const Tensor part = cut_as_computed(x, *symbols, rest);
  return index_as_given(part, rest);
}

Tensor strided_slice(In x, const Shape& begin, const Shape& end, const Shape& strides,
                     const SliceMasks& masks) {
  if (begin.rank() != end.rank() || begin.rank() != strides.rank()) {
    fail<InvalidArgumentError>("[strided_slice] begin ", begin, ", end ", end, " and strides ",
                               strides, " must have the same length");
  }
  std::vector<Index> indices;
  for (int i = 0; i < begin.rank(); ++i) {
    const auto has = [i](std::uint32_t mask) { return (mask >> i & 1) != 0; };
    if (has(masks.ellipsis)) {
      indices.emplace_back(ellipsis);
    } else if (has(masks.new_axis)) {
      indices.emplace_back(new_axis);
    } else if (has(masks.shrink_axis)) {
      if (strides[i] <= 0) {
        fail<InvalidArgumentError>("[strided_slice] the stride of entry ", i, " is ", strides[i],
                                   "; where shrink_axis picks one position it must be 1");
      }
      indices.emplace_back(begin[i]);
    } else {
      Slice slice{begin[i], end[i], strides[i]};
      if (has(masks.begin)) slice.begin.reset();
      if (has(masks.end)) slice.end.reset();
      indices.emplace_back(slice);
    }
  }
  return index(x, indices);
}

}  // namespace gradus
