#include "expr/rewrite.h"

#include <bit>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "expr/assist.h"
#include "expr/fn.h"

namespace gradus::expr {
namespace {

bool commutes(Code c) {
  switch (c) {
    case Code::add:
    case Code::mul:
    case Code::fma:
    case Code::eq:
    case Code::ne:
    case Code::logical_and:
    case Code::logical_or:
    case Code::logical_xor:
    case Code::bit_and:
    case Code::bit_or:
    case Code::bit_xor:
      return true;
    default:
      return false;
  }
}

bool idempotent(Code c) {
  return c == Code::min || c == Code::max || c == Code::logical_and || c == Code::logical_or ||
         c == Code::bit_and || c == Code::bit_or;
}

double float_constant(const Instr& i) {
  return i.type == Type::f32 ? std::bit_cast<float>(static_cast<std::uint32_t>(i.bits))
                             : std::bit_cast<double>(i.bits);
}

std::uint64_t sign_mask(Type t) { return is_wide(t) ? 1ull << 63 : 1ull << 31; }
std::uint64_t ones(Type t) { return is_wide(t) ? ~0ull : 0xffffffffull; }

// 1 / c, if that is exact for a power of two and loses nothing to underflow; 0 otherwise.
double exact_reciprocal(const Instr& c) {
  const double value = float_constant(c), reciprocal = 1 / value;
  int exponent;
  if (!std::isfinite(value) || std::fabs(std::frexp(value, &exponent)) != 0.5) return 0;
  const int limit = c.type == Type::f32 ? 125 : 1020;
  return std::abs(exponent) < limit ? reciprocal : 0;
}

bool is_nan_constant(const Instr& c) { return is_float(c.type) && std::isnan(float_constant(c)); }

// a - n b for the truncated quotient n, exactly, with the sign of a, as fmod. While n has fewer
// bits than the type it is right or, where the quotient was rounded up to it, one too large; both a
// - n b and the correction are exact then. An assistant does the rest, and infinite divisors.
Expr float_remainder(Expr a, Expr b) {
  const Expr quotient = a / b, r = fma(-trunc(quotient), b, a);
  const Expr too_far = r != 0 && sign_bit(bit_xor(r, a));
  const Expr y = copy_sign(select(too_far, r + copy_sign(b, a), r), a);
  const double limit = a.type() == Type::f64 ? 0x1p51 : 0x1p22;
  const Expr near = select(abs(quotient) < limit, y, constant(a, __builtin_nan("")));
  return assist(Assistant::rem, near, a, b);
}

// The quotient of two i32, truncated; exact, because the rounding error of the float64 quotient is
// less than its distance to the next integer. x / 0 is 0.
Expr divided(Expr a, Expr b) {
  const Expr quotient = convert(a, Type::f64) / convert(b, Type::f64);
  return select(b == 0, 0, convert(quotient, Type::i32));
}

// i64 to f64: both halves are placed in the mantissas of 2^84 and 2^52 by bits; the difference of
// the large ones is exact, so only the last addition rounds.
Expr to_f64(Expr x) {
  const auto bits = [&](std::uint64_t value) { return constant_bits(x, Type::i64, value); };
  const Expr low =
      bitcast(bit_or(bit_and(x, bits(0xffffffff)), bits(0x4330000000000000)), Type::f64);
  const Expr high = bitcast(bit_xor(shr(x, 32), bits(0x4530000080000000)), Type::f64);
  return (high - constant_bits(x, Type::f64, 0x4530000080100000)) + low;
}

// i64 to f32 through f64. Beyond 2^53 the low bits, far below the last bit of the result, are first
// gathered into one, so that the float64 is exact and the result is rounded once.
Expr to_f32(Expr x) {
  const auto bits = [&](std::uint64_t value) { return constant_bits(x, Type::i64, value); };
  const Expr sticky = select(bit_and(x, bits(0x7ff)) == 0, bits(0), bits(0x800));
  const Expr gathered = bit_or(bit_and(x, bits(~0x7ffull)), sticky);
  const Expr small = x < bits(1ull << 53) && x > bits(-(1ull << 53));
  return convert(to_f64(select(small, x, gathered)), Type::f32);
}

// f64 to i64, truncating: the upper half as an i32, the lower half by the mantissa of 2^52.
Expr to_i64(Expr x) {
  const auto bits = [&](std::uint64_t value) { return constant_bits(x, Type::i64, value); };
  const Expr whole = trunc(x), high = floor(whole * 0x1p-32);
  const Expr low = bitcast(fma(high, -0x1p32, whole) + 0x1p52, Type::i64);
  const Expr upper = shl(convert(convert(high, Type::i32), Type::i64), 32);
  const Expr result = bit_or(upper, bit_and(low, bits(0xffffffff)));
  return select(x >= -0x1p63 && x < 0x1p63, result, bits(1ull << 63));
}

}  // namespace

Expr simplify(Builder& b, Instr& i) {
  const auto at = [&](std::uint16_t id) { return Expr(&b, id); };
  const auto is_constant = [&](std::uint16_t id) { return b.instr(id).code == Code::constant; };
  const auto is = [&](std::uint16_t id, double value) {
    const Instr& c = b.instr(id);
    return c.code == Code::constant && c.bits == bits_of(c.type, value);
  };
  const int count = operand_count(i);

  if (commutes(i.code)) {  // constants second, otherwise by number
    const bool swap = is_constant(i.a) != is_constant(i.b) ? is_constant(i.a) : i.a > i.b;
    if (swap) std::swap(i.a, i.b);
  }
  if (count == 2 && i.a == i.b && idempotent(i.code)) return at(i.a);

  const Instr& a = b.instr(i.a);
  const bool floating = is_float(i.type);
  switch (i.code) {
    case Code::add:
      if (is(i.b, floating ? -0.0 : 0.0)) return at(i.a);
      break;
    case Code::sub:
      if (is(i.b, 0.0)) return at(i.a);
      break;
    case Code::mul:
      if (is(i.b, 1)) return at(i.a);
      if (is(i.b, -1) && i.type != Type::u64) return -at(i.a);
      break;
    case Code::div:
      if (is(i.b, 1)) return at(i.a);
      if (floating && is_constant(i.b))
        if (const double r = exact_reciprocal(b.instr(i.b)); r != 0) return at(i.a) * r;
      break;
    case Code::fma:
      if (is(i.b, 1)) return at(i.a) + at(i.c);
      break;
    case Code::neg:
      if (a.code == Code::neg) return at(a.a);
      break;
    case Code::abs:
      if (a.code == Code::abs) return at(i.a);
      if (a.code == Code::neg) return abs(at(a.a));
      break;
    case Code::round:
    case Code::floor:
    case Code::ceil:
    case Code::trunc:
      if (a.code >= Code::round && a.code <= Code::trunc) return at(i.a);
      break;
    case Code::eq:  // with 0: the sign does not matter
      if (is_float(a.type) && is(i.b, 0) && a.code == Code::neg) return at(a.a) == at(i.b);
      if (is_float(a.type) && is(i.b, 0) && a.code == Code::bit_xor && is(a.b, -0.0))
        return at(a.a) == at(i.b);
      break;
    case Code::logical_not:
      if (a.code == Code::logical_not) return at(a.a);
      break;
    case Code::logical_and:
      if (is_constant(i.b)) return at(b.instr(i.b).bits ? i.a : i.b);
      break;
    case Code::logical_or:
      if (is_constant(i.b)) return at(b.instr(i.b).bits ? i.b : i.a);
      break;
    case Code::logical_xor:
      if (is(i.b, 0)) return at(i.a);
      break;
    case Code::shl:
    case Code::shr:
    case Code::sar:
      if (is(i.b, 0)) return at(i.a);
      break;
    case Code::select:
      if (i.b == i.c) return at(i.b);
      if (is_constant(i.a)) return at(a.bits ? i.b : i.c);
      if (a.code == Code::logical_not) return select(at(a.a), at(i.c), at(i.b));
      break;
    case Code::convert:
      if (a.type == i.type) return at(i.a);
      break;
    case Code::bitcast:
      if (a.type == i.type) return at(i.a);
      if (a.code == Code::bitcast) return bitcast(at(a.a), i.type);
      break;
    case Code::narrow: {
      if (a.code == Code::narrow && a.bits == i.bits) return at(i.a);
      break;
    }
    default:
      break;
  }
  return {};
}

Expr legalise(Builder& b, const Instr& i) {
  const Expr a(&b, i.a), second(&b, i.b), third(&b, i.c);
  const auto bits = [&](Type t, std::uint64_t value) { return b.constant_bits(t, value); };
  const auto is_zero = [&](std::uint16_t id) {
    return b.instr(id).code == Code::constant && b.instr(id).bits == 0;
  };
  const bool floating = is_float(i.type);
  const Type from = operand_count(i) > 0 ? a.type() : i.type;
  switch (i.code) {
    case Code::call: {
      const Expr args[] = {a, second, third};
      const Expr value = i.fn->value(args);
      GRADUS_ASSERT(value.type() == i.type);
      return value;
    }
    case Code::neg:
      return floating ? bit_xor(a, bits(i.type, sign_mask(i.type))) : bits(i.type, 0) - a;
    case Code::abs:
      if (floating) return bit_and(a, bits(i.type, sign_mask(i.type) - 1));
      if (i.type == Type::u64) return a;
      return i.type == Type::i64 ? select(a < 0, 0 - a, a) : Expr();
    case Code::min:
    case Code::max:
      if (is_int(i.type) && is_wide(i.type))
        return i.code == Code::min ? select(a < second, a, second) : select(a < second, second, a);
      // A constant first needs no care for NaN: the machine's min and max give the second operand.
      if (const Instr& c = b.instr(i.b); c.code == Code::constant && !is_nan_constant(c))
        return b.emit({i.code, i.type, i.b, i.a});
      return {};
    case Code::div:
      return i.type == Type::i32 ? divided(a, second) : Expr();
    case Code::rem:
      if (floating) return float_remainder(a, second);
      return i.type == Type::i32 ? select(second == 0, 0, a - divided(a, second) * second) : Expr();
    case Code::logical_not:
      return a ^ bits(Type::mask, 1);
    case Code::bit_not:
      return bit_xor(a, bits(i.type, ones(i.type)));
    case Code::lt:
      if (from == Type::u64) {
        const Expr flip = bits(Type::u64, sign_mask(Type::u64));
        return bitcast(bit_xor(a, flip), Type::i64) < bitcast(bit_xor(second, flip), Type::i64);
      }
      return {};
    case Code::le:
      return is_int(from) ? !(second < a) : Expr();
    case Code::eq:
      return from == Type::mask ? !(a ^ second) : Expr();
    case Code::ne:
      if (from == Type::mask) return a ^ second;
      return is_int(from) ? !(a == second) : Expr();
    case Code::select:
      if (i.type == Type::mask) return (a && second) || (!a && third);
      if (is_zero(i.c)) return b.emit({Code::keep, i.type, i.a, i.b});
      if (is_zero(i.b)) return b.emit({Code::drop, i.type, i.a, i.c});
      return {};
    case Code::sar: {
      if (!is_wide(i.type)) return {};
      const Instr& n = b.instr(i.b);
      if (n.code == Code::constant && n.bits < 64) {
        const Expr sign = bits(i.type, sign_mask(i.type));
        return shr(bit_xor(a, sign), second) - shr(sign, second);
      }
      const Expr flip = select(bitcast(a, Type::i64) < 0, bits(i.type, ~0ull), bits(i.type, 0));
      return bit_xor(shr(bit_xor(a, flip), second), flip);
    }
    case Code::convert:
      if (from == Type::mask) return b.emit({Code::keep, i.type, i.a, b.constant(i.type, 1).id()});
      if (i.type == Type::mask) return a != 0;
      if (is_int(from) && is_int(i.type)) {
        if (from == Type::u64) return convert(bitcast(a, Type::i64), i.type);
        if (i.type == Type::u64) return bitcast(convert(a, Type::i64), Type::u64);
      }
      if (from == Type::i64 && floating) return i.type == Type::f64 ? to_f64(a) : to_f32(a);
      if (i.type == Type::i64 && is_float(from)) return to_i64(convert(a, Type::f64));
      return {};
    case Code::narrow:
      switch (static_cast<DType>(i.bits)) {
        case DType::int8:
          return sar(shl(a, 24), 24);
        case DType::int16:
          return sar(shl(a, 16), 16);
        case DType::uint8:
          return bit_and(a, bits(i.type, 0xff));
        case DType::uint16:
          return bit_and(a, bits(i.type, 0xffff));
        case DType::uint32:
          return bit_and(a, bits(i.type, 0xffffffff));
        default:
          return {};
      }
    default:
      return {};
  }
}

}  // namespace gradus::expr
