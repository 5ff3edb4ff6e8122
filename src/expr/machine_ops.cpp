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

namespace {

// Predicates of vcmpps and vcmppd.
enum Predicate : std::uint8_t {
  kEqual = 0,
  kUnordered = 3,
  kNotEqual = 4,
  kLess = 17,
  kLessEqual = 18
};

}  // namespace

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
    default:
      throw NotCovered();
  }
}

void Machine::arithmetic(const Instr& i) {
  const bool wide = is_wide(i.type);
  if (i.code == Code::mul && wide && is_int(i.type)) return multiply_wide(i);
  if (i.code == Code::div && is_int(i.type)) throw NotCovered();
  std::uint16_t first = i.a, second = i.b;
  const auto in_register = [&](std::uint16_t v) { return pinned_[v] >= 0 || reg_[v] >= 0; };
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
  const auto in_register = [&](std::uint16_t v) { return pinned_[v] >= 0 || reg_[v] >= 0; };
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
  if (pinned_[first] < 0 && reg_[first] < 0) std::swap(first, second);
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

// Loads and stores ------------------------------------------------------------------------------

void Machine::load() {
  const std::uint16_t v = step_->value;
  const Instr& i = instr(v);
  const Xmm d = define();
  if (s_.read_back(v, pass_))
    return load_element(d, scratch_port(s_.scratch[v]),
                        is_wide(i.type) ? DType::float64 : DType::float32);
  const DType dtype = p_.inputs[i.a].dtype;
  if (s_.varies[v]) return load_element(d, i.a, dtype);
  const Address one = ptr[row_element(i.a)];  // one element per row: to all lanes
  const Xmm half = d.isZMM() ? ymm(d.getIdx()) : xmm(d.getIdx());
  switch (size_of(dtype)) {
    case 8:
      return vpbroadcastq(d, one);
    case 4:
      vbroadcastss(dtype == DType::uint32 ? half : d, one);
      if (dtype == DType::uint32) extend(d, dtype, half);
      return;
    case 2:
      vpbroadcastw(half, one);
      return extend(d, dtype, half);
    default:
      vpbroadcastb(xmm(d.getIdx()), one);
      return extend(d, dtype, xmm(d.getIdx()));
  }
}

void Machine::load_element(const Xmm& to, int port, DType dtype) {
  const int bytes = static_cast<int>(size_of(dtype));
  const RegExp where = element(port, bytes, at_.copy * lanes());
  const Xmm low = xmm(to.getIdx());
  if (!at_.masked) return extend(to, dtype, ptr[where]);
  if (zmm_) return extend(to | tail() | T_z, dtype, ptr[where]);
  if (bytes >= 4) {
    const Xmm part = dtype == DType::uint32 ? low : to;
    load_mask(part, bytes);
    bytes == 8 ? vmaskmovpd(part, part, ptr[where]) : vmaskmovps(part, part, ptr[where]);
    if (dtype == DType::uint32) extend(to, dtype, low);
    return;
  }
  Xbyak::Label done;
  vxorps(low, low, low);
  for (int k = 0; k < lanes() - 1; ++k) {  // fewer than lanes() elements are left
    if (k > 0) {
      cmp(remaining, k);
      jbe(done);
    }
    const auto lane = static_cast<std::uint8_t>(k);
    bytes == 2 ? vpinsrw(low, low, ptr[where + k * 2], lane)
               : vpinsrb(low, low, ptr[where + k], lane);
  }
  L(done);
  extend(to, dtype, low);
}

// From storage to the register type. `to` may carry a mask for the load.
void Machine::extend(const Xmm& to, DType dtype, const Operand& from) {
  const Xmm d = Xmm(to.getKind(), to.getIdx());
  switch (dtype) {
    case DType::bool_:
      s_.wide ? vpmovzxbq(to, from) : vpmovzxbd(to, from);
      if (zmm_) {
        s_.wide ? vptestmq(k1, d, d) : vptestmd(k1, d, d);
        s_.wide ? vpmovm2q(d, k1) : vpmovm2d(d, k1);
      } else {
        const Xmm zero = full(temp());
        vpxor(zero, zero, zero);
        s_.wide ? vpcmpgtq(d, d, zero) : vpcmpgtd(d, d, zero);
      }
      return;
    case DType::int8:
      return vpmovsxbd(to, from);
    case DType::uint8:
      return vpmovzxbd(to, from);
    case DType::int16:
      return vpmovsxwd(to, from);
    case DType::uint16:
      return vpmovzxwd(to, from);
    case DType::uint32:
      return vpmovzxdq(to, from);
    case DType::float16:
      return vcvtph2ps(to, from);
    case DType::bfloat16:
      vpmovzxwd(to, from);
      return vpslld(d, d, 16);
    case DType::float64:
    case DType::int64:
    case DType::uint64:
      return vmovupd(to, from);
    default:
      return vmovups(to, from);
  }
}

// From the register type to elements of storage side by side, in the register that is returned.
Machine::Xmm Machine::pack(const Xmm& from, DType dtype) {
  const std::size_t bytes = size_of(dtype);
  const bool float16 = dtype == DType::float16, bfloat16 = dtype == DType::bfloat16;
  if (bytes == 8 || (bytes == 4 && dtype != DType::uint32)) return from;
  const int r = temp();
  const Xmm x = xmm(r), same = Xmm(from.getKind(), r);
  const Xmm half = from.isZMM() ? ymm(r) : x;
  if (float16) {
    vcvtps2ph(half, from, 0);
    return half;
  }
  if (bfloat16) round_to_bfloat(same, from);
  if (zmm_) {
    if (dtype == DType::uint32)
      vpmovqd(half, from);
    else if (bfloat16)
      vpmovdw(half, same);
    else if (bytes == 2)
      vpmovdw(half, from);
    else if (dtype == DType::bool_ && s_.wide)
      vpmovqb(x, from);
    else
      vpmovdb(x, from);
    if (dtype == DType::bool_) vpabsb(x, x);
    return bytes == 1 ? x : half;
  }
  const Xmm low = xmm(from.getIdx());
  if (dtype == DType::uint32) {
    upper128(r, from.getIdx());
    vshufps(x, low, x, 0x88);
    return x;
  }
  if (dtype == DType::bool_) {
    upper128(r, from.getIdx());
    if (s_.wide)
      vshufps(x, low, x, 0x88), vpackssdw(x, x, x);
    else
      vpackssdw(x, low, x);
    vpacksswb(x, x, x);
    vpabsb(x, x);
    return x;
  }
  if (!bfloat16) vpand(same, from, pool(bytes == 1 ? 0xff : 0xffff, false));
  if (from.isYMM()) {
    const Xmm high = xmm(temp());
    upper128(high.getIdx(), r);
    vpackusdw(x, x, high);
  } else {
    vpackusdw(x, x, x);
  }
  if (bytes == 1) vpackuswb(x, x, x);
  return x;
}

void Machine::store_vector(const Xmm& from, int port, int element_bytes) {
  const RegExp where = element(port, element_bytes, at_.copy * lanes());
  if (at_.masked && !zmm_) {
    const int copy = temp();
    vmovaps(Xmm(from.getKind(), copy), from);
    lea(address, ptr[where]);
    return store_some(Xmm(from.getKind(), copy), element_bytes);
  }
  if (at_.masked) {
    const Address some = ptr[where] | tail();
    switch (element_bytes) {
      case 8:
        return vmovupd(some, from);
      case 4:
        return vmovups(some, from);
      case 2:
        return vmovdqu16(some, from);
      default:
        return vmovdqu8(some, from);
    }
  }
  switch (lanes() * element_bytes) {
    case 8:
      return vmovq(ptr[where], xmm(from.getIdx()));
    case 4:
      return vmovd(ptr[where], xmm(from.getIdx()));
    case 16:
      return vmovups(ptr[where], xmm(from.getIdx()));
    default:
      return vmovups(ptr[where], from);
  }
}

// The first `remaining` elements of a register to `address`, in pieces of 16, 8, 4, 2 and 1 bytes:
// masked stores are slow on many processors, and do not exist for small elements. Destroys `from`.
void Machine::store_some(const Xmm& from, int element_bytes) {
  const Xmm x = xmm(from.getIdx());
  for (int piece = 16; piece >= element_bytes; piece /= 2) {
    if (piece >= lanes() * element_bytes) continue;
    Xbyak::Label skip;
    test(remaining.cvt32(), piece / element_bytes);
    jz(skip);
    if (piece == 16) vmovups(ptr[address], x);
    if (piece == 8) vmovq(ptr[address], x);
    if (piece == 4) vmovd(ptr[address], x);
    if (piece == 2) vpextrw(ptr[address], x, 0);
    if (piece == 1) vpextrb(ptr[address], x, 0);
    if (piece > element_bytes) {
      if (piece == 16)
        upper128(x.getIdx(), x.getIdx());
      else
        vpsrldq(x, x, static_cast<std::uint8_t>(piece));
      add(address, piece);
    }
    L(skip);
  }
}

void Machine::store_first(const Xmm& from, int port, int element_bytes) {
  const Address one = ptr[row_element(port)];
  const Xmm x = xmm(from.getIdx());
  switch (element_bytes) {
    case 8:
      return vmovq(one, x);
    case 4:
      return vmovd(one, x);
    case 2:
      return vpextrw(one, x, 0);
    default:
      return vpextrb(one, x, 0);
  }
}

// Reductions ------------------------------------------------------------------------------------

// The registers have the width of b, so that parts of vectors can be combined, too.
void Machine::combine(Code reduction, Type t, int to, int first, const Xmm& b) {
  const Xmm d(b.getKind(), to), a(b.getKind(), first);
  const bool single = t == Type::f32, wide = is_wide(t);
  if (reduction == Code::reduce_sum) {
    if (single) return vaddps(d, a, b);
    if (t == Type::f64) return vaddpd(d, a, b);
    return wide ? vpaddq(d, a, b) : vpaddd(d, a, b);
  }
  if (reduction == Code::reduce_prod) {
    if (single) return vmulps(d, a, b);
    if (t == Type::f64) return vmulpd(d, a, b);
    if (wide) throw NotCovered();
    return vpmulld(d, a, b);
  }
  const bool max = reduction == Code::reduce_max;
  if (t == Type::i32) return max ? vpmaxsd(d, a, b) : vpminsd(d, a, b);
  const Xmm r(d.getKind(), temp());
  if (t == Type::i64) {
    if (zmm_) return free_temp(r.getIdx()), max ? vpmaxsq(d, a, b) : vpminsq(d, a, b);
    max ? vpcmpgtq(r, a, b) : vpcmpgtq(r, b, a);
    vblendvpd(d, b, a, r);
    return free_temp(r.getIdx());
  }
  if (is_int(t)) throw NotCovered();
  if (single)
    max ? vmaxps(r, a, b) : vminps(r, a, b);
  else
    max ? vmaxpd(r, a, b) : vminpd(r, a, b);
  if (zmm_) {
    single ? vcmpps(k1, a, a, kUnordered) : vcmppd(k1, a, a, kUnordered);
    single ? vmovaps(r | k1, a) : vmovapd(r | k1, a);
    vmovaps(d, r);
  } else {
    const Xmm nan(d.getKind(), temp());
    single ? vcmpps(nan, a, a, kUnordered) : vcmppd(nan, a, a, kUnordered);
    vblendvps(d, r, a, nan);
    free_temp(nan.getIdx());
  }
  free_temp(r.getIdx());
}

void Machine::accumulate(const Accumulator& acc) {
  const Instr& i = instr(acc.value);
  const Xmm x = reg(step_->value);
  const int offset = acc.slot + at_.copy * vector_bytes();
  const int r = acc.reg >= 0 ? acc.reg + at_.copy : temp();
  const Xmm a = vec(i.type, r);
  if (acc.reg < 0) vmovups(a, slot(offset));
  if (!at_.masked) {
    combine(i.code, i.type, r, r, x);
  } else {
    const Xmm sum = vec(i.type, temp());
    combine(i.code, i.type, sum.getIdx(), r, x);
    if (zmm_) {
      is_wide(i.type) ? vmovapd(a | tail(), sum) : vmovaps(a | tail(), sum);
    } else {
      const Xmm mask = vec(i.type, temp());
      load_mask(mask, is_wide(i.type) ? 8 : 4);
      vblendvps(a, a, sum, mask);
    }
  }
  if (acc.reg < 0) vmovups(slot(offset), a);
}

}  // namespace gradus::expr
