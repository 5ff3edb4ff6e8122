// How one instruction of a program becomes machine instructions.
//
// In all of these, operands are fetched first (reg() for those that must be in a register, any()
// last, because it may give an address that the next fetch would invalidate). Where a single
// machine instruction makes the result, release() before define() lets it take the register of an
// operand that is not needed any more; where several do, define() comes first.
#include <algorithm>
#include <bit>

#include "expr/machine.h"

namespace gradus::expr {
using Xbyak::Address;
using Xbyak::Operand;
using Xbyak::RegExp;

void Machine::compute() {
  const std::uint16_t v = step_->value;
  const Instr& i = instr(v);
  if (s_.read_back(v, pass_)) return load();
  switch (i.code) {
    case Code::input:
      return load();
    case Code::add:
    case Code::sub:
    case Code::mul:
    case Code::div:
      return arithmetic(i);
    case Code::fma:
      return fused(i);
    case Code::min:
    case Code::max:
      return minmax(i);
    case Code::abs:
      if (i.type != Type::i32) throw NotCovered();
      {
        const Source a = any(i.a);
        release();
        return vpabsd(define(), a.operand());
      }
    case Code::sqrt:
    case Code::round:
    case Code::floor:
    case Code::ceil:
    case Code::trunc:
      return rounding(i);
    case Code::lt:
    case Code::le:
    case Code::eq:
    case Code::ne:
      return compare(i);
    case Code::logical_and:
    case Code::logical_or:
    case Code::logical_xor:
    case Code::bit_and:
    case Code::bit_or:
    case Code::bit_xor:
      return bitwise(i);
    case Code::select:
      return select(i);
    case Code::keep:
    case Code::drop:
      return keep(i);
    case Code::shl:
    case Code::shr:
    case Code::sar:
      return shift(i);
    case Code::convert:
      return convert(i);
    case Code::bitcast:
      return bitcast(i);
    case Code::narrow:
      return narrow(i);
    case Code::assist:
      return assist(i);
    default:
      throw NotCovered();
  }
}

void Machine::arithmetic(const Instr& i) {
  const bool wide = is_wide(i.type);
  if (i.code == Code::mul && wide && is_int(i.type)) return multiply_wide(i);
  if (i.code == Code::div && is_int(i.type)) throw NotCovered();
  std::uint16_t first = i.a, second = i.b;
  const bool commutes = i.code == Code::add || i.code == Code::mul;
  if (commutes && !in_register(first) && in_register(second)) std::swap(first, second);
  const Xmm a = reg(first);
  const Source b = any(second);
  release();
  const Xmm d = define();
  switch (i.code) {
    case Code::add:
      if (i.type == Type::f32) return vaddps(d, a, b.operand());
      if (i.type == Type::f64) return vaddpd(d, a, b.operand());
      return wide ? vpaddq(d, a, b.operand()) : vpaddd(d, a, b.operand());
    case Code::sub:
      if (i.type == Type::f32) return vsubps(d, a, b.operand());
      if (i.type == Type::f64) return vsubpd(d, a, b.operand());
      return wide ? vpsubq(d, a, b.operand()) : vpsubd(d, a, b.operand());
    case Code::mul:
      if (i.type == Type::f32) return vmulps(d, a, b.operand());
      if (i.type == Type::f64) return vmulpd(d, a, b.operand());
      return vpmulld(d, a, b.operand());
    default:
      if (i.type == Type::f32) return vdivps(d, a, b.operand());
      return vdivpd(d, a, b.operand());
  }
}

// The low 64 bits of a product, from 32-bit products.
void Machine::multiply_wide(const Instr& i) {
  const Xmm a = reg(i.a), b = reg(i.b);
  const Xmm d = define();
  if (zmm_) return vpmullq(d, a, b);
  const Xmm t = full(temp()), u = full(temp());
  vpsrlq(t, a, 32);
  vpmuludq(t, t, b);
  vpsrlq(u, b, 32);
  vpmuludq(u, u, a);
  vpaddq(t, t, u);
  vpsllq(t, t, 32);
  vpmuludq(d, a, b);
  vpaddq(d, d, t);
}

// fma overwrites one of its operands: the one that is not needed any more, or a copy.
void Machine::fused(const Instr& i) {
  const bool single = i.type == Type::f32;
  const auto add_product = [&](const Xmm& d, const Xmm& x, const Operand& y) {  // d += x * y
    single ? vfmadd231ps(d, x, y) : vfmadd231pd(d, x, y);
  };
  const auto multiply_add = [&](const Xmm& d, const Xmm& x, const Operand& y) {  // d = d * x + y
    single ? vfmadd213ps(d, x, y) : vfmadd213pd(d, x, y);
  };
  std::uint16_t a = i.a, b = i.b;
  if (dies(b) && !dies(a)) std::swap(a, b);
  if (dies(a)) {
    const Xmm x = reg(a), y = reg(b);
    const Source z = any(i.c);
    if (reuse(a)) return multiply_add(x, y, z.operand());
    const Xmm d = define();
    vmovaps(d, x);
    return multiply_add(d, y, z.operand());
  }
  if (!in_register(a)) std::swap(a, b);
  if (dies(i.c)) {
    const Xmm z = reg(i.c), x = reg(a);
    const Source y = any(b);
    if (reuse(i.c)) return add_product(z, x, y.operand());
    const Xmm d = define();
    vmovaps(d, z);
    return add_product(d, x, y.operand());
  }
  if (in_register(i.c) && !in_register(b)) {  // loading b makes the copy
    const Xmm x = reg(a), z = reg(i.c);
    const Source y = any(b);
    const Xmm d = define();
    vmovups(d, y.operand());
    return multiply_add(d, x, z);
  }
  const Xmm x = reg(a), y = reg(b);
  const Source z = any(i.c);
  const Xmm d = define();
  vmovups(d, z.operand());
  add_product(d, x, y);
}

void Machine::minmax(const Instr& i) {
  const bool max = i.code == Code::max;
  const Xmm a = reg(i.a);
  const Source b = any(i.b);
  if (i.type == Type::i32) {
    release();
    const Xmm d = define();
    return max ? vpmaxsd(d, a, b.operand()) : vpminsd(d, a, b.operand());
  }
  const bool single = i.type == Type::f32;
  const auto simple = [&](const Xmm& d) {  // gives b if either is NaN
    if (single) return max ? vmaxps(d, a, b.operand()) : vminps(d, a, b.operand());
    return max ? vmaxpd(d, a, b.operand()) : vminpd(d, a, b.operand());
  };
  const Instr& first = instr(i.a);
  if (first.code == Code::constant) {
    const double value = single ? std::bit_cast<float>(static_cast<std::uint32_t>(first.bits))
                                : std::bit_cast<double>(first.bits);
    if (value == value) {
      release();
      return simple(define());
    }
  }
  const Xmm d = define();
  simple(d);
  if (zmm_) {
    single ? vcmpps(k1, a, a, kUnordered) : vcmppd(k1, a, a, kUnordered);
    single ? vmovaps(d | k1, a) : vmovapd(d | k1, a);
  } else {
    const Xmm t = vec(i.type, temp());
    single ? vcmpps(t, a, a, kUnordered) : vcmppd(t, a, a, kUnordered);
    vblendvps(d, d, a, t);
  }
}

void Machine::rounding(const Instr& i) {
  if (i.code == Code::sqrt && i.type == Type::f32 && at_.spares_divider)
    return root_by_multiplying(i);
  const Source a = any(i.a);
  release();
  const Xmm d = define();
  const bool single = i.type == Type::f32;
  if (i.code == Code::sqrt) return single ? vsqrtps(d, a.operand()) : vsqrtpd(d, a.operand());
  const int mode = 8 | (static_cast<int>(i.code) - static_cast<int>(Code::round));
  const auto imm = static_cast<std::uint8_t>(mode);
  if (zmm_) return single ? vrndscaleps(d, a.operand(), imm) : vrndscalepd(d, a.operand(), imm);
  single ? vroundps(d, a.operand(), imm) : vroundpd(d, a.operand(), imm);
}

void Machine::compare(const Instr& i) {
  const Type t = instr(i.a).type;
  const bool swap = is_int(t) && i.code == Code::lt && !zmm_;  // there is only "greater"
  const Xmm a = reg(swap ? i.b : i.a);
  const Source b = any(swap ? i.a : i.b);
  release();
  const Xmm d = define();
  const std::uint8_t predicate = i.code == Code::lt   ? kLess
                                 : i.code == Code::le ? kLessEqual
                                 : i.code == Code::eq ? kEqual
                                                      : kNotEqual;
  if (zmm_) {
    if (t == Type::f32)
      vcmpps(k1, a, b.operand(), predicate);
    else if (t == Type::f64)
      vcmppd(k1, a, b.operand(), predicate);
    else if (is_wide(t))
      vpcmpq(k1, a, b.operand(), i.code == Code::lt ? 1 : 0);
    else
      vpcmpd(k1, a, b.operand(), i.code == Code::lt ? 1 : 0);
    return s_.wide ? vpmovm2q(d, k1) : vpmovm2d(d, k1);
  }
  const Xmm r = vec(t, d.getIdx());
  if (t == Type::f32)
    vcmpps(r, a, b.operand(), predicate);
  else if (t == Type::f64)
    vcmppd(r, a, b.operand(), predicate);
  else if (i.code == Code::lt)
    is_wide(t) ? vpcmpgtq(r, a, b.operand()) : vpcmpgtd(r, a, b.operand());
  else
    is_wide(t) ? vpcmpeqq(r, a, b.operand()) : vpcmpeqd(r, a, b.operand());
  if (half_width(t)) vpmovsxdq(d, r);
}

void Machine::bitwise(const Instr& i) {
  std::uint16_t first = i.a, second = i.b;
  if (!in_register(first)) std::swap(first, second);
  const Xmm a = reg(first);
  const Source b = any(second);
  release();
  const Xmm d = define();
  switch (i.code) {
    case Code::logical_and:
    case Code::bit_and:
      return vandps(d, a, b.operand());
    case Code::logical_or:
    case Code::bit_or:
      return vorps(d, a, b.operand());
    default:
      return vxorps(d, a, b.operand());
  }
}

Machine::Xmm Machine::mask_as(std::uint16_t v, Type t) {
  const Xmm m = reg(v);
  if (!half_width(t)) return m;
  const int r = temp();
  if (zmm_) {
    vpmovqd(ymm(r), m);
  } else {
    upper128(r, m.getIdx());
    vshufps(xmm(r), xmm(m.getIdx()), xmm(r), 0x88);
  }
  return vec(t, r);
}

void Machine::select(const Instr& i) {
  const Xmm m = mask_as(i.a, i.type);
  if (!zmm_) {
    const Xmm c = reg(i.c);
    const Source b = any(i.b);
    release();
    return vblendvps(define(), c, b.operand(), m);
  }
  const Xmm b = reg(i.b);
  const Source c = any(i.c);
  const Xmm d = define();
  vmovaps(d, m);
  vpternlogd(d, b, c.operand(), 0xca);  // d ? b : c
}

void Machine::keep(const Instr& i) {
  const Xmm m = mask_as(i.a, i.type);
  const Source b = any(i.b);
  release();
  const Xmm d = define();
  i.code == Code::keep ? vandps(d, m, b.operand()) : vandnps(d, m, b.operand());
}

void Machine::shift(const Instr& i) {
  const bool wide = is_wide(i.type);
  const Xmm a = reg(i.a);
  if (is_constant(i.b)) {
    release();
    const Xmm d = define();
    const auto n = static_cast<std::uint8_t>(std::min<std::uint64_t>(instr(i.b).bits, 255));
    if (i.code == Code::shl) return wide ? vpsllq(d, a, n) : vpslld(d, a, n);
    if (i.code == Code::shr) return wide ? vpsrlq(d, a, n) : vpsrld(d, a, n);
    return vpsrad(d, a, n);
  }
  const Source b = any(i.b);
  release();
  const Xmm d = define();
  if (i.code == Code::shl) return wide ? vpsllvq(d, a, b.operand()) : vpsllvd(d, a, b.operand());
  if (i.code == Code::shr) return wide ? vpsrlvq(d, a, b.operand()) : vpsrlvd(d, a, b.operand());
  vpsravd(d, a, b.operand());
}

void Machine::convert(const Instr& i) {
  const Type from = instr(i.a).type, to = i.type;
  const Xmm a = reg(i.a);
  if (from == Type::i64 && to == Type::i32 && !zmm_) {
    const Xmm d = define();
    upper128(d.getIdx(), a.getIdx());
    return vshufps(d, xmm(a.getIdx()), d, 0x88);
  }
  release();
  const Xmm d = define();
  if (from == Type::f32 && to == Type::i32) return vcvttps2dq(d, a);
  if (from == Type::i32 && to == Type::f32) return vcvtdq2ps(d, a);
  if (from == Type::f32 && to == Type::f64) return vcvtps2pd(d, a);
  if (from == Type::f64 && to == Type::f32) return vcvtpd2ps(d, a);
  if (from == Type::i32 && to == Type::f64) return vcvtdq2pd(d, a);
  if (from == Type::f64 && to == Type::i32) return vcvttpd2dq(d, a);
  if (from == Type::i32 && to == Type::i64) return vpmovsxdq(d, a);
  if (from == Type::i64 && to == Type::i32) return vpmovqd(d, a);
  throw NotCovered();
}

void Machine::bitcast(const Instr& i) {
  if (reuse(i.a)) return;
  const Source a = any(i.a);
  release();
  vmovups(define(), a.operand());
}

void Machine::narrow(const Instr& i) {
  const Xmm a = reg(i.a);
  const Xmm d = define();
  if (static_cast<DType>(i.bits) == DType::float16) {
    const Xmm half = zmm_ && !half_width(i.type) ? ymm(d.getIdx()) : xmm(d.getIdx());
    vcvtps2ph(half, a, 0);
    return vcvtph2ps(d, half);
  }
  if (static_cast<DType>(i.bits) != DType::bfloat16) throw NotCovered();
  round_to_bfloat(d, a);
  vpslld(d, d, 16);
}

// Rounds f32 to the upper 16 bits, to nearest even, as integers 0..65535; a NaN stays one.
void Machine::round_to_bfloat(const Xmm& to, const Xmm& from) {
  const int t = temp();
  const Xmm quiet = vec(Type::f32, t);
  vpsrld(to, from, 16);
  vandps(to, to, pool(1, false));
  vpaddd(to, to, pool(0x7fff, false));
  vpaddd(to, to, from);
  vpsrld(to, to, 16);
  vpsrld(quiet, from, 16);
  vorps(quiet, quiet, pool(0x40, false));
  if (zmm_) {
    vcmpps(k1, from, from, kUnordered);
    vmovaps(to | k1, quiet);
  } else {
    const Xmm nan = vec(Type::f32, temp());
    vcmpps(nan, from, from, kUnordered);
    vblendvps(to, to, quiet, nan);
  }
}

}  // namespace gradus::expr
