// Arithmetic on sizes that may be symbols.
//
// While a function is traced, a size can be unknown (the batch, say). It is then a very
// negative number that names an entry of a table of the current
// thread's trace: an input's size, or a sum, product or quotient of sizes in a normal form, so that
// equal sizes have equal names. Known sizes take the fast path and never touch the table.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "gradus/shape.h"

namespace gradus {

inline constexpr std::int64_t kFirstSymbol = -(std::int64_t{1} << 40);
inline bool is_symbol(std::int64_t size) { return size <= kFirstSymbol; }

// A polynomial with integer coefficients in atoms: an atom is an input's size, or the floor
// quotient of two sizes that has no simpler form.
class Symbols {
 public:
  std::int64_t fresh();  // a new unknown size
  std::int64_t add(std::int64_t a, std::int64_t b);
  std::int64_t subtract(std::int64_t a, std::int64_t b);
  std::int64_t multiply(std::int64_t a, std::int64_t b);
  std::int64_t floor_divide(std::int64_t a, std::int64_t b);
  // The inputs' sizes may be symbols of the current trace.
  std::int64_t evaluate(std::int64_t size, const std::vector<std::int64_t>& inputs) const;
  // If `size` is the size of an input: which one, else -1.
  std::int64_t input_of(std::int64_t size) const;
  std::int64_t name_of_input(std::size_t input) const;
  std::string print(std::int64_t size) const;
  std::size_t input_count() const { return inputs_; }
  bool has(std::int64_t size) const;  // whether a very negative number is one of our names

 private:
  using Monomial = std::vector<std::uint32_t>;  // sorted atoms, repeated for powers
  struct Term {
    Monomial atoms;
    std::int64_t factor;
    friend bool operator==(const Term&, const Term&) = default;
  };
  using Polynomial = std::vector<Term>;  // sorted by atoms, no zero factors
  struct Atom {
    std::int64_t input = -1;  // number of the input, or
    std::int64_t numerator = 0, denominator = 0;
  };

  Polynomial polynomial(std::int64_t size) const;
  std::int64_t intern(Polynomial p);

  std::vector<Atom> atoms_;
  std::vector<Polynomial> names_;
  std::size_t inputs_ = 0;
};

// The table of the trace that this thread is in. Outside of one a size below zero can only be a
// caller's mistake: InvalidArgumentError.
Symbols& current_symbols();

// Sets the table for a scope.
class SymbolScope {
 public:
  explicit SymbolScope(Symbols& symbols);
  ~SymbolScope();
  SymbolScope(const SymbolScope&) = delete;

 private:
  Symbols* saved_;
};

// Sizes that are equal, or may turn out to be.
inline bool sizes_agree(std::int64_t a, std::int64_t b) {
  return a == b || is_symbol(a) || is_symbol(b);
}
inline bool shapes_agree(const Shape& a, const Shape& b) {
  return a.rank() == b.rank() && std::equal(a.begin(), a.end(), b.begin(), sizes_agree);
}

std::string print_shape(const Shape& shape, const Symbols& symbols);  // "(s0, 3)"

// A size as attributes may hold it: not negative, or a symbol of the current trace.
bool is_size(std::int64_t size);

// Results beyond what any memory holds are ResourceExhaustedError.
[[noreturn]] void fail_size(std::int64_t a, char operation, std::int64_t b);

inline std::int64_t size_add(std::int64_t a, std::int64_t b) {
  if ((a | b) < 0) return current_symbols().add(a, b);
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) fail_size(a, '+', b);
  return sum;
}
inline std::int64_t size_sub(std::int64_t a, std::int64_t b) {
  return (a | b) >= 0 ? a - b : current_symbols().subtract(a, b);
}
inline std::int64_t size_mul(std::int64_t a, std::int64_t b) {
  if ((a | b) < 0) return current_symbols().multiply(a, b);
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) fail_size(a, '*', b);
  return product;
}
inline std::int64_t size_div(std::int64_t a, std::int64_t b) {
  return (a | b) >= 0 && b != 0 ? a / b : current_symbols().floor_divide(a, b);
}
inline std::int64_t num_elements(const Shape& shape) {
  std::int64_t n = 1;
  for (std::int64_t size : shape) n = size_mul(n, size);
  return n;
}

}  // namespace gradus
