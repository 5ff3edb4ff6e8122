// Tensors: immutable arrays of one dtype, contiguous and row-major.
//
//   gd::Tensor a = {{1.0f, 2.0f}, {3.0f, 4.0f}};      // nested lists, float32
//   gd::Tensor b(3.0);                                // a float64 scalar
//   auto c = gd::Tensor::from(std::span(v), {2, 3});  // copies the vector v
//   float x = c.item<float>();  const float* p = a.data<float>();
//
// A Tensor is one pointer to a counted header; copying it never copies data. A tensor may also be a
// name for a value without data: inside a traced function, or one example of a batch inside vmap.
// Code that computes with tensors need not know which of these it has.
#pragma once
#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gradus/dtype.h"
#include "gradus/shape.h"

namespace gradus {

struct TensorImpl;  // src/tensor/tensor_impl.h

namespace detail {
void retain(TensorImpl* impl) noexcept;
void release(TensorImpl* impl) noexcept;
}  // namespace detail

// A nested list of numbers, read into a vector with its shape; ragged lists are refused.
template <class T>
class NestedList {
 public:
  template <std::same_as<T> U>     // no conversions: {1.0f} is float32, {1.0} float64, {1} int32
  NestedList(U x) : values_{x} {}  // NOLINT: implicit by design
  NestedList(std::initializer_list<NestedList> rows) { append(rows); }
  const std::vector<T>& values() const { return values_; }
  const Shape& shape() const { return shape_; }

 private:
  void append(std::initializer_list<NestedList> rows);
  std::vector<T> values_;
  Shape shape_;
};

class Tensor {
 public:
  Tensor() = default;  // no value; see defined()
  Tensor(const Tensor& other) noexcept : impl_(other.impl_) {
    if (impl_) detail::retain(impl_);
  }
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor() {
    if (impl_) detail::release(impl_);
  }

  // Scalars take the dtype of the number.
  Tensor(float x);
  Tensor(double x);
  Tensor(bool x);
  Tensor(int x);
  Tensor(std::int64_t x);
  Tensor(std::complex<float> x);
  Tensor(std::complex<double> x);

  // Nested lists: {1.0f, 2.0f} is a vector, {{1.0f}, {2.0f}} a matrix.
  Tensor(std::initializer_list<NestedList<float>> rows);
  Tensor(std::initializer_list<NestedList<double>> rows);
  Tensor(std::initializer_list<NestedList<int>> rows);
  Tensor(std::initializer_list<NestedList<bool>> rows);

  // A copy of the given elements; their number must fit the shape.
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape) {
    return copy_of(values.data(), values.size(), dtype_v<T>, shape);
  }
  template <class T>
  static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return copy_of(values.data(), values.size(), dtype_v<T>, shape);
  }
  template <class T>
  static Tensor from(const std::vector<T>& values) {
    return from(values, {static_cast<std::int64_t>(values.size())});
  }

  // A new tensor whose elements fill(void* elements) writes, all of them.
  template <class Fill>
  static Tensor filled_by(DType dtype, const Shape& shape, Fill&& fill) {
    void* elements = nullptr;
    Tensor t = unwritten(dtype, shape, &elements);
    std::forward<Fill>(fill)(elements);
    return t;
  }

  bool defined() const { return impl_ != nullptr; }
  DType dtype() const;
  const Shape& shape() const;
  int rank() const { return shape().rank(); }
  std::int64_t num_elements() const;
  std::size_t num_bytes() const;

  // The elements, for reading. Throws if the dtype is another, or if there is no data (traced).
  template <class T>
  const T* data() const {
    return static_cast<const T*>(checked_data(dtype_v<T>));
  }
  const void* raw_data() const;
  template <class T>
  std::vector<T> to_vector() const {
    return std::vector<T>(data<T>(), data<T>() + num_elements());
  }
  // The value of a tensor with one element, converted to T.
  template <class T>
  T item() const {
    T value;
    convert_item(dtype_v<T>, &value);
    return value;
  }

  TensorImpl* impl() const { return impl_; }                      // for the engine
  static Tensor adopt(TensorImpl* impl) { return Tensor(impl); }  // takes over one reference

 private:
  explicit Tensor(TensorImpl* impl) : impl_(impl) {}
  static Tensor copy_of(const void* values, std::size_t count, DType dtype, const Shape& shape);
  static Tensor unwritten(DType dtype, const Shape& shape, void** elements);
  const void* checked_data(DType wanted) const;
  void convert_item(DType to, void* value) const;

  TensorImpl* impl_ = nullptr;
};

std::string to_string(const Tensor& tensor);  // as NumPy prints it: "[1. 2.]"
std::string repr(const Tensor& tensor);       // as TensorFlow does: "<tf.Tensor: shape=(2,), ..."
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace gradus
