// Ops that pick elements by position, and their opposites.
#pragma once
#include <optional>
#include <vector>

#include "gradus/in.h"

namespace gradus {

// The block that starts at `begin`; a size of -1 reaches to the end of its axis.
Tensor slice(In x, const Shape& begin, const Shape& size);

// What x[...] takes in Python, one entry per axis:
//
//   index(x, {0, Slice{1, 3}})                x[0, 1:3]
//   index(x, {ellipsis, Slice{.step = -1}})   x[..., ::-1]
//   index(x, {Slice{.begin = -2}, new_axis})  x[-2:, None]
//
// A number picks one position, and its axis goes away; it must exist. The ends of a Slice are cut
// to the axis. Negative positions count from the end.
struct Slice {
  std::optional<Size> begin = {}, end = {};
  std::int64_t step = 1;
};
inline constexpr struct Ellipsis {
} ellipsis;  // as many whole axes as are needed, at most once
inline constexpr struct NewAxis {
} new_axis;  // an axis of size 1

class Index {
 public:
  enum class Kind : std::uint8_t { position, slice, ellipsis, new_axis };

  Index(Size position) : kind_(Kind::position), slice_{position} {}  // NOLINT: implicit
  template <std::integral N>
  Index(N position) : Index(Size(position)) {}                      // NOLINT
  Index(const Slice& slice) : kind_(Kind::slice), slice_(slice) {}  // NOLINT
  Index(Ellipsis) : kind_(Kind::ellipsis) {}                        // NOLINT
  Index(NewAxis) : kind_(Kind::new_axis) {}                         // NOLINT

  Kind kind() const { return kind_; }
  const Slice& slice() const { return slice_; }  // a position is its begin

 private:
  Kind kind_;
  Slice slice_ = {};
};
Tensor index(In x, const std::vector<Index>& indices);

// The same as TensorFlow writes it: bit i of a mask is about entry i. A begin or end bit leaves
// that end open, ellipsis, new_axis and shrink_axis say what the entry is; shrink_axis takes
// `begin`.
struct SliceMasks {
  std::uint32_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink_axis = 0;
};
Tensor strided_slice(In x, const Shape& begin, const Shape& end, const Shape& strides,
                     const SliceMasks& masks = {});

// x[start:stop:step] along an axis, by Python's rules, with bounds that a program computes; an
// undefined one is left out.
Tensor slice_between(In x, const Tensor& start, const Tensor& stop, const Tensor& step,
                     int axis = 0);

// Rows (or slices along another axis) by index. The first `batch_dims` axes of params and indices
// belong together; without an axis, the first one behind them is meant. The gradient keeps to the
// rows that were read.
Tensor gather(In params, In indices, std::optional<int> axis = {}, int batch_dims = 0);
// The coordinates of the elements that are true (or not 0), one per row of an int64 matrix; and the
// slices along some axes where a mask is true. How many there are depends on the data: a compiled
// function finds it when it runs. Inside vmap, where it would differ from example to example, give
// the size: so many rows, of zeros where there are fewer.
Tensor where(In condition);
Tensor where(In condition, Size size);
Tensor boolean_mask(In tensor, In mask, int axis = 0);

// Zeros of a shape with the given values added to some rows of axis 0; repeated indices add up.
Tensor scatter_rows(In indices, In values, const Shape& shape);

// Slices by coordinates, which the last axis of the indices holds: [..., depth] picks among the
// first `depth` axes (behind batch_dims shared ones).
Tensor gather_nd(In params, In indices, int batch_dims = 0);
// Zeros of a shape with updates added at coordinates; repeated ones add up.
Tensor scatter_nd(In indices, In updates, const Shape& shape);
// A copy of a tensor, changed at coordinates. Where they repeat, all updates count; of
// tensor_scatter_nd_update the last one. In max and min, all that are equal to the result share its
// gradient.
Tensor tensor_scatter_nd_add(In tensor, In indices, In updates);
Tensor tensor_scatter_nd_sub(In tensor, In indices, In updates);
Tensor tensor_scatter_nd_update(In tensor, In indices, In updates);
Tensor tensor_scatter_nd_max(In tensor, In indices, In updates);
Tensor tensor_scatter_nd_min(In tensor, In indices, In updates);

// A copy of a tensor with one row of axis 0 replaced, or added to. Inside a loop of a compiled
// function that carries the tensor and does not use it otherwise, only the row is written.
Tensor set_row(In tensor, In index, In row);
Tensor add_row(In tensor, In index, In row);

}  // namespace gradus
