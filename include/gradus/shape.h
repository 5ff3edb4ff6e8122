// The sizes of a tensor along its axes, inline and at most kMaxRank of them.
//
// While a function is traced, a size may be unknown: it is then a symbol, stored as a very
// negative number, with arithmetic in graph/symbols.h. Concrete tensors never have symbolic sizes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

namespace gradus {

inline constexpr int kMaxRank = 9;

class Shape {
 public:
  Shape() = default;  // a scalar's shape
  Shape(std::initializer_list<std::int64_t> sizes)
      : Shape(std::span(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const std::int64_t> sizes);

  int rank() const { return rank_; }
  std::int64_t operator[](int axis) const { return sizes_[axis]; }
  std::int64_t& operator[](int axis) { return sizes_[axis]; }
  std::int64_t back() const { return sizes_[rank_ - 1]; }
  const std::int64_t* begin() const { return sizes_; }
  const std::int64_t* end() const { return sizes_ + rank_; }

  // How many elements a tensor of this shape has; 1 for a scalar, -1 if a size is a symbol.
  std::int64_t num_elements() const {
    std::int64_t n = 1;
    for (std::int64_t size : *this) {
      if (size < 0) return -1;
      n *= size;
    }
    return n;
  }
  bool is_symbolic() const {
    return std::any_of(begin(), end(), [](auto s) { return s < 0; });
  }

  void push_back(std::int64_t size);
  void insert(int axis, std::int64_t size);
  void erase(int axis);

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  std::int64_t rank_ = 0;
  std::int64_t sizes_[kMaxRank];  // only the first rank_ are meaningful
};

std::string to_string(const Shape& shape);  // "(2, 3)"; a symbol prints as "?"
std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace gradus
