#include "gradus/shape.h"

#include <ostream>

#include "base/check.h"

namespace gradus {
namespace {

void check_rank(std::size_t rank) {
  if (rank > kMaxRank) {
    fail<InvalidArgumentError>("a tensor of rank ", rank, " was asked for; the highest rank is ",
                               kMaxRank, "; reshape some axes into one");
  }
}

}  // namespace

namespace detail {

void fail_size(std::int64_t a, char operation, std::int64_t b) {
  fail<ResourceExhaustedError>("the size ", a, " ", operation, " ", b, " does not fit into memory");
}

void fail_number(std::int64_t number) {
  fail<InvalidArgumentError>("got ", number, " as a size or position; no tensor is that large");
}

}  // namespace detail

Shape::Shape(std::span<const Size> sizes) {
  check_rank(sizes.size());
  for (const Size size : sizes) sizes_[rank_++] = size;
}

Shape::Shape(std::span<const std::int64_t> sizes) {
  check_rank(sizes.size());
  for (const std::int64_t size : sizes) sizes_[rank_++] = size;
}

std::span<const std::int64_t> Shape::numbers() const {
  GRADUS_ASSERT(is_known());
  static_assert(sizeof(Size) == sizeof(std::int64_t));
  return {reinterpret_cast<const std::int64_t*>(sizes_), static_cast<std::size_t>(rank_)};
}

void Shape::fail_axis(std::int64_t axis) const {
  fail<OutOfRangeError>("[shape] got axis ", axis < 0 ? axis - rank_ : axis, " of the shape ",
                        *this, "; expected one from ", -rank_, " to ", rank_ - 1);
}

void Shape::push_back(Size size) {
  check_rank(static_cast<std::size_t>(rank_) + 1);
  sizes_[rank_++] = size;
}

void Shape::insert(int axis, Size size) {
  push_back(size);
  std::rotate(sizes_ + axis, sizes_ + rank_ - 1, sizes_ + rank_);
}

void Shape::erase(int axis) {
  std::copy(sizes_ + axis + 1, sizes_ + rank_, sizes_ + axis);
  --rank_;
}

std::string to_string(Size size) {
  return size.is_known() ? std::to_string(static_cast<std::int64_t>(size)) : "?";
}

std::ostream& operator<<(std::ostream& out, Size size) { return out << to_string(size); }

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += to_string(shape[i]);
  }
  return text + (shape.rank() == 1 ? ",)" : ")");
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

}  // namespace gradus
