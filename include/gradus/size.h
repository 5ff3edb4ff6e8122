// The size of a tensor along an axis: a number, or an expression over sizes that a traced program
// will only know when it runs ("the batch", "twice the batch plus one").
//
//   const gd::Size rows = x.shape()[0];
//   gd::zeros({rows, 2 * rows + 1});  // sizes make sizes: one program serves any number of rows
//   if (rows > 40) ...                // a question: answered for the call that is traced
//
// Arithmetic of sizes gives sizes. A question (a comparison, or the conversion to a number) is
// answered with the size of the call that the function is traced for, and the answer is noted as a
// guard: the program serves exactly those calls that would give the same answers, another call is
// traced anew. So a size can be used like any number, and never makes a program wrong.
//
// A size is as large as a number and costs a comparison more. Expressions lie in a table of the
// trace (graph/symbols.h); what is stored here is their name there.
#pragma once
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace gradus {

class Size;

namespace detail {
// What happens when a name is among the operands: graph/symbols.cpp.
Size unknown_sum(Size a, Size b);
Size unknown_difference(Size a, Size b);
Size unknown_product(Size a, Size b);
Size unknown_quotient(Size a, Size b);
bool unknown_is_equal(Size a, Size b);
bool unknown_is_less(Size a, Size b);
std::int64_t unknown_as_number(Size size);
// Results beyond what any memory holds are ResourceExhaustedError.
[[noreturn]] void fail_size(std::int64_t a, char operation, std::int64_t b);
[[noreturn]] void fail_number(std::int64_t number);
}  // namespace detail

class Size {
 public:
  Size() = default;
  template <std::integral N>
  constexpr Size(N number)
      : bits_(static_cast<std::int64_t>(number)) {  // NOLINT: implicit by design
    if (bits_ <= kLastName) detail::fail_number(bits_);
  }

  constexpr bool is_known() const { return bits_ > kLastName; }
  // The number; of a size that is not known, the one of the call that is traced, with a guard.
  constexpr operator std::int64_t() const {  // NOLINT: implicit by design
    return is_known() ? bits_ : detail::unknown_as_number(*this);
  }
  // The same expression in the same trace; never a question.
  friend constexpr bool is_same(Size a, Size b) { return a.bits_ == b.bits_; }
  std::uint64_t hash() const { return static_cast<std::uint64_t>(bits_); }  // of the same ones

  friend constexpr Size operator+(Size a, Size b) {
    if (!both_known(a, b)) return detail::unknown_sum(a, b);
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.bits_, b.bits_, &sum)) detail::fail_size(a.bits_, '+', b.bits_);
    return sum;
  }
  friend constexpr Size operator-(Size a, Size b) {
    if (!both_known(a, b)) return detail::unknown_difference(a, b);
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.bits_, b.bits_, &difference))
      detail::fail_size(a.bits_, '-', b.bits_);
    return difference;
  }
  friend constexpr Size operator*(Size a, Size b) {
    if (!both_known(a, b)) return detail::unknown_product(a, b);
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.bits_, b.bits_, &product))
      detail::fail_size(a.bits_, '*', b.bits_);
    return product;
  }
  // Rounded down, also where a number is negative. Division by 0 is InvalidArgumentError.
  friend constexpr Size operator/(Size a, Size b) {
    if (!both_known(a, b) || b.bits_ == 0) return detail::unknown_quotient(a, b);
    const std::int64_t quotient = a.bits_ / b.bits_, rest = a.bits_ % b.bits_;
    return rest != 0 && (rest < 0) != (b.bits_ < 0) ? quotient - 1 : quotient;
  }
  friend constexpr Size operator%(Size a, Size b) { return a - a / b * b; }
  friend constexpr Size operator-(Size a) { return Size(0) - a; }
  friend constexpr bool operator==(Size a, Size b) {
    return a.bits_ == b.bits_ || (!both_known(a, b) && detail::unknown_is_equal(a, b));
  }
  friend constexpr bool operator<(Size a, Size b) {
    return both_known(a, b) ? a.bits_ < b.bits_ : detail::unknown_is_less(a, b);
  }
  friend constexpr bool operator>(Size a, Size b) { return b < a; }
  friend constexpr bool operator<=(Size a, Size b) { return !(b < a); }
  friend constexpr bool operator>=(Size a, Size b) { return !(a < b); }

  Size& operator+=(Size b) { return *this = *this + b; }
  Size& operator-=(Size b) { return *this = *this - b; }
  Size& operator*=(Size b) { return *this = *this * b; }
  Size& operator/=(Size b) { return *this = *this / b; }
  Size& operator++() { return *this += Size(1); }
  Size& operator--() { return *this -= Size(1); }

  // With plain numbers; without these, `size * 2` could also mean a product of numbers.
#define GRADUS_SIZE_WITH_NUMBER(RESULT, OP)          \
  template <std::integral N>                         \
  friend constexpr RESULT operator OP(Size a, N b) { \
    return a OP Size(b);                             \
  }                                                  \
  template <std::integral N>                         \
  friend constexpr RESULT operator OP(N a, Size b) { \
    return Size(a) OP b;                             \
  }
  GRADUS_SIZE_WITH_NUMBER(Size, +)
  GRADUS_SIZE_WITH_NUMBER(Size, -)
  GRADUS_SIZE_WITH_NUMBER(Size, *)
  GRADUS_SIZE_WITH_NUMBER(Size, /)
  GRADUS_SIZE_WITH_NUMBER(Size, %)
  GRADUS_SIZE_WITH_NUMBER(bool, <)
  GRADUS_SIZE_WITH_NUMBER(bool, >)
  GRADUS_SIZE_WITH_NUMBER(bool, <=)
  GRADUS_SIZE_WITH_NUMBER(bool, >=)
#undef GRADUS_SIZE_WITH_NUMBER
  template <std::integral N>
  friend constexpr bool operator==(Size a, N b) {
    return a == Size(b);
  }

 private:
  friend class Symbols;  // which makes names and reads them

  static constexpr bool both_known(Size a, Size b) { return a.is_known() && b.is_known(); }

  struct Name {
    std::int64_t bits;
  };
  constexpr explicit Size(Name name) : bits_(name.bits) {}

  // Names are the numbers up to this one, which no size, stride or offset ever is.
  static constexpr std::int64_t kLastName = -(std::int64_t{1} << 62);
  std::int64_t bits_;  // as plain as a number: not set unless it is given one
};

std::string to_string(Size size);  // "3"; what is not known prints as "?"
std::ostream& operator<<(std::ostream& out, Size size);

}  // namespace gradus
