// A gradient on its way through a reverse sweep (and a tangent through a forward one).
//
//   zero       nothing: never materialised
//   dense      a tensor; it may have a smaller shape that broadcasts to `shape`, as the gradient of
//              a sum does, and stays small until a rule needs all of it
//   rows       TensorFlow's IndexedSlices: values for some rows of axis 0, repeats are summed
#pragma once
#include "gradus/tensor.h"

namespace gradus {

class Cotangent {
 public:
  enum class Kind : std::uint8_t { zero, dense, rows };

  Cotangent() = default;
  Cotangent(Tensor dense)  // NOLINT: implicit by design
      : kind_(dense.defined() ? Kind::dense : Kind::zero), value_(std::move(dense)) {
    if (value_.defined()) shape_ = value_.shape();
  }
  static Cotangent spread(Tensor value, const Shape& shape) {
    Cotangent c(std::move(value));
    c.shape_ = shape;
    return c;
  }
  static Cotangent rows(Tensor indices, Tensor values, const Shape& shape) {
    Cotangent c(std::move(values));
    c.kind_ = Kind::rows;
    c.indices_ = std::move(indices);
    c.shape_ = shape;
    return c;
  }

  Kind kind() const { return kind_; }
  bool is_zero() const { return kind_ == Kind::zero; }
  bool is_rows() const { return kind_ == Kind::rows; }
  bool is_spread() const { return kind_ == Kind::dense && !is_same(value_.shape(), shape_); }
  const Tensor& value() const { return value_; }      // dense: the tensor; rows: the values
  const Tensor& indices() const { return indices_; }  // rows only
  const Shape& shape() const { return shape_; }       // of the whole gradient

  Tensor take_value() { return std::move(value_); }

 private:
  Kind kind_ = Kind::zero;
  Tensor value_, indices_;
  Shape shape_;
};

}  // namespace gradus
