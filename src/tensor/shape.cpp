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

Shape::Shape(std::span<const std::int64_t> sizes) {
  check_rank(sizes.size());
  for (std::int64_t size : sizes) sizes_[rank_++] = size;
}

void Shape::push_back(std::int64_t size) {
  check_rank(static_cast<std::size_t>(rank_) + 1);
  sizes_[rank_++] = size;
}

void Shape::insert(int axis, std::int64_t size) {
  push_back(size);
  std::rotate(sizes_ + axis, sizes_ + rank_ - 1, sizes_ + rank_);
}

void Shape::erase(int axis) {
  std::copy(sizes_ + axis + 1, sizes_ + rank_, sizes_ + axis);
  --rank_;
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] < -(std::int64_t{1} << 39) ? "?" : std::to_string(shape[i]);
  }
  return text + (shape.rank() == 1 ? ",)" : ")");
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

}  // namespace gradus
