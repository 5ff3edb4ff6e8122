// The value type in which elementwise definitions are written, and the Builder that turns what is
// written into a Program:
//
//   Builder b;
//   Expr x = b.input(float32), y = b.input(float32);
//   b.output(select(x < 0, 0.1 * x, x) + y, float32);
//   Program p = b.finish();
//
// While building, equal values are computed once (value numbering), constants are folded, and
// identities that hold for every IEEE value (x * 1, x - 0, -(-x), ...) are applied. Both operands
// of an operation must have one type; a plain number takes the type of the other side.
#pragma once
#include <span>
#include <vector>

#include "expr/program.h"

namespace gradus::expr {

class Builder;

class Expr {
 public:
  Expr() = default;  // no value; only assignable
  Expr(Builder* builder, std::uint16_t id) : builder_(builder), id_(id) {}
  Builder& builder() const { return *builder_; }
  std::uint16_t id() const { return id_; }
  bool valid() const { return builder_ != nullptr; }
  Type type() const;
  bool same_as(Expr other) const { return builder_ == other.builder_ && id_ == other.id_; }

 private:
  Builder* builder_ = nullptr;
  std::uint16_t id_ = 0;
};

class Builder {
 public:
  Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Expr input(DType dtype, bool varies_along_row = true);
  // per_row writes one element per row; the value must then be the same for all columns.
  void output(Expr value, DType dtype, bool per_row = false);
  // Adds to what the elements hold, which must be stored as it is computed: no halves, no bytes.
  void output_added(Expr value, DType dtype);
  Expr constant(Type type, double value);
  Expr constant_bits(Type type, std::uint64_t bits);

  // Adds the instructions of p with its inputs replaced by `inputs`, where one that p does not read
  // may be no value; gives the values of p's outputs as they would be read back from memory
  // (rounded to their dtypes).
  std::vector<Expr> append(const Program& p, std::span<const Expr> inputs);

  // The program of what the outputs need, in an order that keeps few values alive. The Builder can
  // go on being used.
  Program finish() const;

  const Instr& instr(std::uint16_t id) const { return code_[id]; }
  bool varies(std::uint16_t id) const { return varies_[id]; }
  std::uint16_t size() const { return static_cast<std::uint16_t>(code_.size()); }

  // Adds one instruction, or finds the value it would make. Operand types must already be right.
  Expr emit(Instr instr);

 private:
  friend Program lower(const Program&);
  std::uint16_t insert(const Instr& instr);
  bool fold(Instr& instr) const;
  std::vector<Instr> code_;
  std::vector<bool> varies_;
  std::vector<std::uint32_t> table_;  // open addressing: id + 1, or 0
  std::vector<Port> inputs_;
  std::vector<Output> outputs_;
  bool lowering_ = false;  // calls are expanded and emit() legalises as it goes
};

Expr constant(Expr like, double value);
Expr constant_bits(Expr like, Type type, std::uint64_t bits);

Expr operator+(Expr, Expr);
Expr operator-(Expr, Expr);
Expr operator*(Expr, Expr);
Expr operator/(Expr, Expr);
Expr operator-(Expr);
Expr operator<(Expr, Expr);
Expr operator<=(Expr, Expr);
Expr operator>(Expr, Expr);
Expr operator>=(Expr, Expr);
Expr operator==(Expr, Expr);
Expr operator!=(Expr, Expr);
Expr operator&&(Expr, Expr);
Expr operator||(Expr, Expr);
Expr operator^(Expr, Expr);  // of masks or of integers
Expr operator!(Expr);

inline Expr operator+(Expr a, double b) { return a + constant(a, b); }
inline Expr operator+(double a, Expr b) { return constant(b, a) + b; }
inline Expr operator-(Expr a, double b) { return a - constant(a, b); }
inline Expr operator-(double a, Expr b) { return constant(b, a) - b; }
inline Expr operator*(Expr a, double b) { return a * constant(a, b); }
inline Expr operator*(double a, Expr b) { return constant(b, a) * b; }
inline Expr operator/(Expr a, double b) { return a / constant(a, b); }
inline Expr operator/(double a, Expr b) { return constant(b, a) / b; }
inline Expr operator<(Expr a, double b) { return a < constant(a, b); }
inline Expr operator<(double a, Expr b) { return constant(b, a) < b; }
inline Expr operator<=(Expr a, double b) { return a <= constant(a, b); }
inline Expr operator<=(double a, Expr b) { return constant(b, a) <= b; }
inline Expr operator>(Expr a, double b) { return a > constant(a, b); }
inline Expr operator>(double a, Expr b) { return constant(b, a) > b; }
inline Expr operator>=(Expr a, double b) { return a >= constant(a, b); }
inline Expr operator>=(double a, Expr b) { return constant(b, a) >= b; }
inline Expr operator==(Expr a, double b) { return a == constant(a, b); }
inline Expr operator!=(Expr a, double b) { return a != constant(a, b); }

Expr rem(Expr a, Expr b);
Expr fma(Expr a, Expr b, Expr c);
inline Expr fma(Expr a, Expr b, double c) { return fma(a, b, constant(a, c)); }
inline Expr fma(Expr a, double b, Expr c) { return fma(a, constant(a, b), c); }
inline Expr fma(Expr a, double b, double c) { return fma(a, constant(a, b), constant(a, c)); }
Expr min(Expr a, Expr b);  // NaN if either is NaN
Expr max(Expr a, Expr b);
inline Expr min(Expr a, double b) { return min(a, constant(a, b)); }
inline Expr max(Expr a, double b) { return max(a, constant(a, b)); }
Expr abs(Expr);
Expr sqrt(Expr);
Expr round(Expr);
Expr floor(Expr);
Expr ceil(Expr);
Expr trunc(Expr);
Expr select(Expr mask, Expr a, Expr b);
inline Expr select(Expr mask, Expr a, double b) { return select(mask, a, constant(a, b)); }
inline Expr select(Expr mask, double a, Expr b) { return select(mask, constant(b, a), b); }
Expr is_nan(Expr);
Expr is_inf(Expr);
Expr is_finite(Expr);
Expr sign_bit(Expr);              // mask: true for negative numbers, -0 and NaN with the sign set
Expr copy_sign(Expr x, Expr of);  // |x| with the sign bit of `of`

Expr bit_and(Expr, Expr);  // integers, or floats by their bits
Expr bit_or(Expr, Expr);
Expr bit_xor(Expr, Expr);
Expr bit_not(Expr);
Expr shl(Expr, Expr);
Expr shr(Expr, Expr);
Expr sar(Expr, Expr);
inline Expr shl(Expr a, int n) { return shl(a, constant(a, n)); }
inline Expr shr(Expr a, int n) { return shr(a, constant(a, n)); }
inline Expr sar(Expr a, int n) { return sar(a, constant(a, n)); }

Expr convert(Expr, Type);
Expr bitcast(Expr, Type);
Expr narrow(Expr, DType);  // as if stored with that dtype and loaded again

// Over the columns of a row; the result is one value per row, usable like any other.
Expr row_sum(Expr);
Expr row_max(Expr);
Expr row_min(Expr);
Expr row_prod(Expr);

}  // namespace gradus::expr
