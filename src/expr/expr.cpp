// The operators of Expr: each checks its operand types and emits one instruction or a few.
#include "expr/expr.h"

#include "base/check.h"
#include "expr/rewrite.h"

namespace gradus::expr {
namespace {

[[noreturn]] void wrong_type(Code code, Type got, const char* expected) {
  fail<InvalidArgumentError>("[expr ", name_of(code), "] got a value of type ", name_of(got),
                             "; expected ", expected, "; use convert()");
}

void check_same(Code code, Expr a, Expr b) {
  GRADUS_ASSERT(&a.builder() == &b.builder());
  if (a.type() != b.type())
    fail<InvalidArgumentError>("[expr ", name_of(code), "] got ", name_of(a.type()), " and ",
                               name_of(b.type()), "; both sides must have one type; use convert()");
}

void check_number(Code code, Expr a) {
  if (a.type() == Type::mask) wrong_type(code, a.type(), "a number");
}
void check_mask(Code code, Expr a) {
  if (a.type() != Type::mask) wrong_type(code, a.type(), "a mask, e.g. from a comparison");
}
void check_int(Code code, Expr a) {
  if (!is_int(a.type())) wrong_type(code, a.type(), "an integer");
}

Expr emit(Code code, Type type, Expr a) { return a.builder().emit({code, type, a.id()}); }
Expr emit(Code code, Type type, Expr a, Expr b) {
  return a.builder().emit({code, type, a.id(), b.id()});
}

Expr arithmetic(Code code, Expr a, Expr b) {
  check_same(code, a, b);
  check_number(code, a);
  return emit(code, a.type(), a, b);
}
Expr compare(Code code, Expr a, Expr b) {
  check_same(code, a, b);
  if (code == Code::lt || code == Code::le) check_number(code, a);
  return emit(code, Type::mask, a, b);
}
Expr logical(Code code, Expr a, Expr b) {
  check_mask(code, a);
  check_mask(code, b);
  return emit(code, Type::mask, a, b);
}
Expr shift(Code code, Expr a, Expr b) {
  check_same(code, a, b);
  check_int(code, a);
  return emit(code, a.type(), a, b);
}
// Rounding an integer changes nothing.
Expr rounding(Code code, Expr a) {
  check_number(code, a);
  return is_int(a.type()) ? a : emit(code, a.type(), a);
}
Expr reduction(Code code, Expr a) {
  check_number(code, a);
  return emit(code, a.type(), a);
}
Type bits_type(Type t) { return is_wide(t) ? Type::i64 : Type::i32; }

}  // namespace

Expr constant(Expr like, double value) { return like.builder().constant(like.type(), value); }
Expr constant_bits(Expr like, Type type, std::uint64_t bits) {
  return like.builder().constant_bits(type, bits);
}

Expr operator+(Expr a, Expr b) { return arithmetic(Code::add, a, b); }
Expr operator-(Expr a, Expr b) { return arithmetic(Code::sub, a, b); }
Expr operator*(Expr a, Expr b) { return arithmetic(Code::mul, a, b); }
Expr operator/(Expr a, Expr b) { return arithmetic(Code::div, a, b); }
Expr rem(Expr a, Expr b) { return arithmetic(Code::rem, a, b); }
Expr min(Expr a, Expr b) { return arithmetic(Code::min, a, b); }
Expr max(Expr a, Expr b) { return arithmetic(Code::max, a, b); }
Expr bit_and(Expr a, Expr b) { return arithmetic(Code::bit_and, a, b); }
Expr bit_or(Expr a, Expr b) { return arithmetic(Code::bit_or, a, b); }
Expr bit_xor(Expr a, Expr b) { return arithmetic(Code::bit_xor, a, b); }

Expr operator-(Expr a) {
  check_number(Code::neg, a);
  return emit(Code::neg, a.type(), a);
}
Expr abs(Expr a) {
  check_number(Code::abs, a);
  return emit(Code::abs, a.type(), a);
}
Expr bit_not(Expr a) {
  check_number(Code::bit_not, a);
  return emit(Code::bit_not, a.type(), a);
}
Expr sqrt(Expr a) {
  if (!is_float(a.type())) wrong_type(Code::sqrt, a.type(), "a float");
  return emit(Code::sqrt, a.type(), a);
}
Expr round(Expr a) { return rounding(Code::round, a); }
Expr floor(Expr a) { return rounding(Code::floor, a); }
Expr ceil(Expr a) { return rounding(Code::ceil, a); }
Expr trunc(Expr a) { return rounding(Code::trunc, a); }

Expr fma(Expr a, Expr b, Expr c) {
  check_same(Code::fma, a, b);
  check_same(Code::fma, a, c);
  check_number(Code::fma, a);
  if (is_int(a.type())) return a * b + c;
  return a.builder().emit({Code::fma, a.type(), a.id(), b.id(), c.id()});
}

Expr operator<(Expr a, Expr b) { return compare(Code::lt, a, b); }
Expr operator<=(Expr a, Expr b) { return compare(Code::le, a, b); }
Expr operator>(Expr a, Expr b) { return compare(Code::lt, b, a); }
Expr operator>=(Expr a, Expr b) { return compare(Code::le, b, a); }
Expr operator==(Expr a, Expr b) { return compare(Code::eq, a, b); }
Expr operator!=(Expr a, Expr b) { return compare(Code::ne, a, b); }
Expr operator&&(Expr a, Expr b) { return logical(Code::logical_and, a, b); }
Expr operator||(Expr a, Expr b) { return logical(Code::logical_or, a, b); }
Expr operator^(Expr a, Expr b) {
  return a.type() == Type::mask ? logical(Code::logical_xor, a, b) : bit_xor(a, b);
}
Expr operator!(Expr a) {
  check_mask(Code::logical_not, a);
  return emit(Code::logical_not, Type::mask, a);
}

Expr select(Expr mask, Expr a, Expr b) {
  check_mask(Code::select, mask);
  check_same(Code::select, a, b);
  return a.builder().emit({Code::select, a.type(), mask.id(), a.id(), b.id()});
}

Expr is_nan(Expr a) { return a != a; }
Expr is_inf(Expr a) { return abs(a) == constant(a, __builtin_inf()); }
Expr is_finite(Expr a) { return abs(a) < constant(a, __builtin_inf()); }
Expr sign_bit(Expr a) { return bitcast(a, bits_type(a.type())) < 0; }
Expr copy_sign(Expr x, Expr of) {
  check_same(Code::bit_and, x, of);
  const std::uint64_t sign = is_wide(x.type()) ? 1ull << 63 : 1ull << 31;
  return bit_or(abs(x), bit_and(of, constant_bits(of, of.type(), sign)));
}

Expr shl(Expr a, Expr b) { return shift(Code::shl, a, b); }
Expr shr(Expr a, Expr b) { return shift(Code::shr, a, b); }
Expr sar(Expr a, Expr b) { return shift(Code::sar, a, b); }

Expr convert(Expr a, Type type) { return emit(Code::convert, type, a); }

Expr bitcast(Expr a, Type type) {
  if (a.type() == Type::mask || type == Type::mask || is_wide(a.type()) != is_wide(type))
    fail<InvalidArgumentError>("[expr bitcast] got ", name_of(a.type()), " to ", name_of(type),
                               "; expected two number types of one size; use convert()");
  return emit(Code::bitcast, type, a);
}

Expr narrow(Expr a, DType dtype) {
  if (a.type() != type_of(dtype))
    fail<InvalidArgumentError>("[expr narrow] got ", name_of(a.type()), " for ",
                               gradus::name_of(dtype), "; expected ", name_of(type_of(dtype)));
  const bool full_size = dtype == DType::bool_ || dtype == DType::int32 || dtype == DType::int64 ||
                         dtype == DType::uint64 || dtype == DType::float32 ||
                         dtype == DType::float64;
  if (full_size) return a;
  return a.builder().emit({.code = Code::narrow,
                           .type = a.type(),
                           .a = a.id(),
                           .bits = static_cast<std::uint64_t>(dtype)});
}

Expr row_sum(Expr a) { return reduction(Code::reduce_sum, a); }
Expr row_max(Expr a) { return reduction(Code::reduce_max, a); }
Expr row_min(Expr a) { return reduction(Code::reduce_min, a); }
Expr row_prod(Expr a) { return reduction(Code::reduce_prod, a); }

}  // namespace gradus::expr
