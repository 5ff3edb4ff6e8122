// The sizes of a tensor along its axes, inline and at most kMaxRank of them.
//
// While a function is traced, sizes may be unknown (gradus/size.h); those of concrete tensors never
// are.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

#include "gradus/size.h"

namespace gradus {

inline constexpr int kMaxRank = 9;

class Shape {
 public:
  Shape() = default;  // a scalar's shape
  Shape(std::initializer_list<Size> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const Size> sizes);
  explicit Shape(std::span<const std::int64_t> sizes);

  int rank() const { return static_cast<int>(rank_); }
  // Negative axes count from the end.
  Size operator[](int axis) const { return sizes_[place_of(axis)]; }
  Size& operator[](int axis) { return sizes_[place_of(axis)]; }
  Size back() const { return sizes_[rank_ - 1]; }
  const Size* begin() const { return sizes_; }
  const Size* end() const { return sizes_ + rank_; }

  // How many elements a tensor of this shape has; 1 for a scalar.
  Size num_elements() const {
    Size n = 1;
    for (const Size size : *this) n *= size;
    return n;
  }
  bool is_known() const {
    return std::all_of(begin(), end(), [](Size size) { return size.is_known(); });
  }
  // The sizes as plain numbers, of a shape that is known.
  std::span<const std::int64_t> numbers() const;

  void push_back(Size size);
  void insert(int axis, Size size);
  void erase(int axis);

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  std::int64_t place_of(std::int64_t axis) const {
    if (axis < 0) axis += rank_;
    if (static_cast<std::uint64_t>(axis) >= static_cast<std::uint64_t>(rank_)) [[unlikely]]
      fail_axis(axis);
    return axis;
  }
  [[noreturn]] void fail_axis(std::int64_t axis) const;

  std::int64_t rank_ = 0;
  Size sizes_[kMaxRank];  // only the first rank_ are meaningful
};

// The same expressions; never a question (gradus/size.h).
inline bool is_same(const Shape& a, const Shape& b) {
  return a.rank() == b.rank() &&
         std::equal(a.begin(), a.end(), b.begin(), [](Size x, Size y) { return is_same(x, y); });
}

std::string to_string(const Shape& shape);  // "(2, 3)"; a size that is not known prints as "?"
std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace gradus
