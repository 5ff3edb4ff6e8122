// How elements get from memory into registers and back, and into accumulators.
#include "expr/machine.h"

namespace gradus::expr {

using Xbyak::Address;
using Xbyak::Operand;
using Xbyak::RegExp;

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

void Machine::add_vectors(Type t, const Xmm& to, const Xmm& a, const Operand& b) {
  if (t == Type::f32) return vaddps(to, a, b);
  if (t == Type::f64) return vaddpd(to, a, b);
  is_wide(t) ? vpaddq(to, a, b) : vpaddd(to, a, b);
}

// The sum of a value and the elements that the output holds where the value belongs.
Machine::Xmm Machine::added_to_output(const Xmm& x, const Output& output, int port) {
  const Type t = type_of(output.dtype);
  const Xmm sum(x.getKind(), temp());
  if (at_.masked) {
    load_element(sum, port, output.dtype);
    add_vectors(t, sum, sum, x);
  } else {
    const int bytes = static_cast<int>(size_of(output.dtype));
    add_vectors(t, sum, x, ptr[element(port, bytes, at_.copy * lanes())]);
  }
  return sum;
}

// The registers have the width of b, so that parts of vectors can be combined, too.
void Machine::combine(Code reduction, Type t, int to, int first, const Xmm& b) {
  const Xmm d(b.getKind(), to), a(b.getKind(), first);
  const bool single = t == Type::f32, wide = is_wide(t);
  if (reduction == Code::reduce_sum) return add_vectors(t, d, a, b);
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
