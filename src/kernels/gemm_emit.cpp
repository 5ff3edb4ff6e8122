// Emission of the tile kernel. The shape of the code, for every form and instruction set:
//
//   for each tile of rows                                  emit()
//     accumulators = 0, C is asked for                     fetch_c()
//     for each product of the sum                          product()
//       point at A_i and B_i
//       for k in large steps, then small                   k_loop(), step()
//     for each row: (+ C) (+ bias) (relu) (gate), store    write_back(), finish()
//
// The forms `rows` and `columns` hold one vector of B per register and broadcast single elements of
// A; `dot` holds vectors along k of both and adds up the lanes at the end. In either case a tile of
// R x V accumulators keeps min(R, V) operand vectors in registers and streams the others.
//
// Registers: working vectors are numbered from 0, accumulators follow. The AVX-512 code differs
// from the AVX2 code in the width and number of registers and in using mask registers for what does
// not fill a vector; AVX2 has an instruction sequence for each count instead, because its masked
// store takes dozens of cycles on some processors.
#include "kernels/gemm_emit.h"

#include <xbyak/xbyak.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "base/code_memory.h"

namespace gradus::kernels {
namespace {

using Xbyak::Reg64;
using Xbyak::RegExp;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Xbyak::Zmm;

// Aligned, so that what is aligned in it still is after it was copied to a page.
struct alignas(64) CodeBuffer {
  std::uint8_t bytes[16384];
};
constexpr int kDotGroup = 4;  // columns of a dot tile whose sums are brought together in one vector

class TileEmitter : public Xbyak::CodeGenerator {
 public:
  TileEmitter(const TileSpec& spec, CodeBuffer& buffer)
      : CodeGenerator(sizeof buffer.bytes, buffer.bytes),
        spec_(spec),
        wide_(spec.isa == Isa::avx512),
        dot_(spec.form == TileForm::dot),
        element_(spec.float64 ? 8 : 4),
        lanes_(lanes(spec.isa, spec.float64)),
        vector_bytes_(lanes_ * element_),
        rows_(spec.rows),
        vectors_(dot_ ? spec.cols : (spec.cols + lanes_ - 1) / lanes_),
        hold_a_(rows_ < vectors_),
        first_accumulator_(std::max(std::min(rows_, vectors_) + 1, dot_ && wide_ ? 6 : 2)),
        unroll_(!dot_ || rows_ * vectors_ <= 2 ? 4 : 2),
        sets_(dot_ && first_accumulator_ + rows_ * vectors_ * unroll_ <= registers() ? unroll_
                                                                                     : 1) {
    GRADUS_ASSERT(first_accumulator_ + rows_ * vectors_ <= registers());
    GRADUS_ASSERT(!spec.copy_b || !dot_);
    GRADUS_ASSERT(rows_ <= (dot_ ? 6 : 3 * kRowPointers) && (!dot_ || vectors_ <= 9));
    emit();
  }

 private:
  static constexpr int kRowPointers = 5;  // each reaches three rows: [p], [p + s], [p + 2 s]

  const TileSpec spec_;
  const bool wide_, dot_;
  const int element_, lanes_, vector_bytes_, rows_;
  const int vectors_;  // accumulators in a row: vectors along the columns, or columns of a dot tile
  const bool hold_a_;  // keep the operands of A in registers and stream those of B; or vice versa
  const int first_accumulator_;
  const int unroll_;    // steps of k at a time
  const int sets_;      // of accumulators: small dot tiles give each of these steps its own
  Xbyak::Label masks_;  // lanes_ times all ones, then lanes_ times 0

  const Reg64 args_ = rdi, a_stride_ = rsi, b_ = rdx, b_stride_ = rcx, b_stride3_ = rbp,
              count_ = rax, offsets_ = r12, a_tile_ = r13, b_copy_ = r14, b_ahead_ = r15;
  const Reg64 a_[kRowPointers] = {r8, r9, r10, r11, rbx};
  const Reg64 a_stride3_ = r9;         // form columns has one pointer to A only
  const Reg64 dot_b_[2] = {r11, rbx};  // form dot: B from column 3 and 6; A has up to 6 rows
  const Reg64 dot_mask_ = r10;         // and this is free
  const Reg64 c_ = rdx, bias_ = r8, gate_ = r9;  // when the sums are complete
  static constexpr int kTilesLeft = 0, kProductsLeft = 8, kC = 16, kGate = 24,
                       kLocals = 32;  // stack

  int registers() const { return wide_ ? 32 : 16; }
  Xmm vector(int i) const { return wide_ ? Xmm(Zmm(i)) : Xmm(Ymm(i)); }
  Xmm accumulator(int row, int v, int set = 0) const {
    return vector(first_accumulator_ + (set * rows_ + row) * vectors_ + v);
  }
  Xmm streamed() const { return vector(std::min(rows_, vectors_)); }
  Xbyak::Address arg(std::size_t offset) { return ptr[args_ + offset]; }

  // Elements of the vector v of a row; all of them but in the last one.
  int width(int v) const { return dot_ ? lanes_ : std::min(lanes_, spec_.cols - v * lanes_); }

  // Instructions that exist for both element types.
  void add(const Xmm& to, const Xmm& x, const Xbyak::Operand& y) {
    spec_.float64 ? vaddpd(to, x, y) : vaddps(to, x, y);
  }
  void multiply_add(const Xmm& to, const Xmm& x, const Xbyak::Operand& y) {
    spec_.float64 ? vfmadd231pd(to, x, y) : vfmadd231ps(to, x, y);
  }
  void broadcast(const Xmm& to, const RegExp& from) {
    if (!spec_.float64)
      vbroadcastss(to, ptr[from]);
    else
      vbroadcastsd(wide_ ? Zmm(to.getIdx()) : Ymm(to.getIdx()), ptr[from]);
  }
  void move(const Xmm& to, const RegExp& from) {
    spec_.float64 ? vmovupd(to, ptr[from]) : vmovups(to, ptr[from]);
  }
  void move(const RegExp& to, const Xmm& from) {
    spec_.float64 ? vmovupd(ptr[to], from) : vmovups(ptr[to], from);
  }

  // The first `count` elements; the other lanes become 0 and their memory is not touched. k1 masks
  // the last vector of a row.
  void load(const Xmm& to, const RegExp& from, int count, bool masked) {
    if (count == lanes_) return move(to, from);
    if (masked) return move(to | k1 | T_z, from);
    const int bytes = count * element_;
    const Xmm low(to.getIdx());
    if (bytes == 4) return vmovss(low, ptr[from]);
    if (bytes == 8) return vmovsd(low, ptr[from]);
    if (bytes == 16) return vmovups(low, ptr[from]);
    const Ymm all(to.getIdx());
    if (bytes == 32) return vmovups(all, ptr[from]);
    vmovups(all, ptr[rip + masks_ + (lanes_ - count) * element_]);
    load_masked(all, from);
  }
  void load_masked(const Xmm& mask_to_value, const RegExp& from) {
    if (spec_.float64)
      vmaskmovpd(mask_to_value, mask_to_value, ptr[from]);
    else
      vmaskmovps(mask_to_value, mask_to_value, ptr[from]);
  }

  // Leaves `from` undefined.
  void store(const RegExp& to, const Xmm& from, int count, bool masked) {
    if (count == lanes_) return move(to, from);
    if (masked) {
      spec_.float64 ? vmovupd(ptr[to] | k1, from) : vmovups(ptr[to] | k1, from);
      return;
    }
    const Xmm low(from.getIdx());
    const Ymm all(from.getIdx());
    int bytes = count * element_, done = 0;
    if (bytes == 32) return vmovups(ptr[to], all);
    if (bytes >= 16) {
      vmovups(ptr[to], low);
      if (bytes == 16) return;
      vextractf128(low, all, 1);
      bytes -= 16, done = 16;
    }
    if (bytes >= 8) vmovlps(ptr[to + done], low);
    if (bytes == 4) vmovss(ptr[to + done], low);
    if (bytes == 12) vextractps(ptr[to + done + 8], low, 2);
  }

  void emit() {
    const Reg64 saved[] = {rbx, rbp, r12, r13, r14, r15};
    for (const Reg64& r : saved) push(r);
    sub(rsp, kLocals);
    mov(rax, arg(offsetof(TileArgs, tiles)));
    mov(ptr[rsp + kTilesLeft], rax);
    if (spec_.gate) {
      mov(rax, arg(offsetof(TileArgs, gate)));
      mov(ptr[rsp + kGate], rax);
    }
    mov(a_tile_, arg(offsetof(TileArgs, a)));
    mov(rax, arg(offsetof(TileArgs, c)));
    mov(ptr[rsp + kC], rax);
    mov(a_stride_, arg(offsetof(TileArgs, a_stride)));
    mov(b_stride_, arg(offsetof(TileArgs, b_stride)));
    lea(b_stride3_, ptr[b_stride_ + b_stride_ * 2]);
    if (wide_ && spec_.cols % lanes_ != 0) {
      mov(eax, (1 << spec_.cols % lanes_) - 1);
      kmovw(k1, eax);
    }

    Xbyak::Label next_tile, next_product;
    L(next_tile);
    for (int i = 0; i < rows_ * vectors_ * sets_; ++i) clear(vector(first_accumulator_ + i));
    fetch_c();
    mov(offsets_, arg(offsetof(TileArgs, offsets)));
    mov(rax, arg(offsetof(TileArgs, products)));
    mov(ptr[rsp + kProductsLeft], rax);
    if (spec_.copy_b) mov(b_copy_, arg(offsetof(TileArgs, b_copy)));
    L(next_product);
    product();
    add(offsets_, sizeof(TileOffsets));
    sub(qword[rsp + kProductsLeft], 1);
    jnz(next_product, T_NEAR);
    write_back();
    add(a_tile_, arg(offsetof(TileArgs, a_step)));
    sub(qword[rsp + kTilesLeft], 1);
    jnz(next_tile, T_NEAR);

    add(rsp, kLocals);
    for (int i = std::size(saved) - 1; i >= 0; --i) pop(saved[i]);
    vzeroupper();
    ret();

    align(64);
    L(masks_);
    for (int i = 0; i < 2 * vector_bytes_; ++i) db(i < vector_bytes_ ? 0xff : 0);
  }
  using CodeGenerator::add;

  void clear(const Xmm& v) {
    if (wide_)
      vpxord(v, v, v);
    else
      vxorps(v, v, v);
  }

  // Asks for the lines of C that the tile will write: its rows are too far apart for the processor
  // to see them coming.
  void fetch_c() {
    if (dot_) return;
    const Reg64 c = rax, stride = r8;
    mov(c, ptr[rsp + kC]);
    mov(stride, arg(offsetof(TileArgs, c_stride)));
    for (int r = 0; r < rows_; ++r) {
      if (r > 0) add(c, stride);
      for (int byte = 0; byte < spec_.cols * element_; byte += 64) prefetchw(ptr[c + byte]);
    }
  }

  void product() {
    mov(a_[0], a_tile_);
    add(a_[0], ptr[offsets_ + offsetof(TileOffsets, a)]);
    mov(b_, arg(offsetof(TileArgs, b)));
    add(b_, ptr[offsets_ + offsetof(TileOffsets, b)]);
    if (spec_.form == TileForm::columns) {
      lea(a_stride3_, ptr[a_stride_ + a_stride_ * 2]);
    } else {
      for (int p = 1; p < row_pointers(); ++p) {
        lea(a_[p], ptr[a_[p - 1] + a_stride_ * 2]);
        add(a_[p], a_stride_);
      }
    }
    if (dot_) {
      if (vectors_ > 3) lea(dot_b_[0], ptr[b_ + b_stride3_]);
      if (vectors_ > 6) lea(dot_b_[1], ptr[dot_b_[0] + b_stride3_]);
      dot_loop();
    } else {
      if (spec_.copy_b) lea(b_ahead_, ptr[b_ + b_stride_ * 8]);
      k_loop();
    }
  }

  int row_pointers() const { return spec_.form == TileForm::columns ? 1 : (rows_ + 2) / 3; }

  void k_loop() {
    Xbyak::Label by_many, rest, by_one, done;
    mov(count_, arg(offsetof(TileArgs, k)));
    sub(count_, unroll_);
    jl(rest, T_NEAR);
    align(32);
    L(by_many);
    for (int u = 0; u < unroll_; ++u) step(u);
    advance(unroll_);
    sub(count_, unroll_);
    jge(by_many, T_NEAR);
    L(rest);
    add(count_, unroll_);
    jz(done, T_NEAR);
    align(16);
    L(by_one);
    step(0);
    advance(1);
    sub(count_, 1);
    jnz(by_one, T_NEAR);
    L(done);
  }

  void advance(int steps) {
    if (spec_.form == TileForm::columns) {
      lea(a_[0], ptr[a_[0] + a_stride_ * steps]);
    } else {
      for (int p = 0; p < row_pointers(); ++p) add(a_[p], steps * element_);
    }
    lea(b_, ptr[b_ + b_stride_ * steps]);
    if (spec_.copy_b) {
      lea(b_ahead_, ptr[b_ahead_ + b_stride_ * steps]);
      add(b_copy_, steps * vectors_ * vector_bytes_);
    }
  }

  RegExp times(const Reg64& base, const Reg64& stride, const Reg64& stride3, int n) const {
    return n == 0 ? RegExp(base) : n == 3 ? base + stride3 : base + stride * n;
  }
  RegExp a_at(int row, int u) const {  // element (row, k + u)
    if (spec_.form == TileForm::columns)
      return times(a_[0], a_stride_, a_stride3_, u) + row * element_;
    return times(a_[row / 3], a_stride_, a_stride_, row % 3) + u * element_;
  }
  RegExp b_at(int v, int u) const {  // vector v of row k + u
    return times(b_, b_stride_, b_stride3_, u) + v * vector_bytes_;
  }

  void step(int u) {
    if (hold_a_) {
      for (int r = 0; r < rows_; ++r) broadcast(vector(r), a_at(r, u));
      for (int v = 0; v < vectors_; ++v) {
        if (rows_ == 1 && width(v) == lanes_ && !spec_.copy_b) {
          multiply_add(accumulator(0, v), vector(0), ptr[b_at(v, u)]);
          continue;
        }
        load(streamed(), b_at(v, u), width(v), wide_);
        if (spec_.copy_b) copy(streamed(), v, u);
        for (int r = 0; r < rows_; ++r) multiply_add(accumulator(r, v), vector(r), streamed());
      }
    } else {
      for (int v = 0; v < vectors_; ++v) {
        load(vector(v), b_at(v, u), width(v), wide_);
        if (spec_.copy_b) copy(vector(v), v, u);
      }
      for (int r = 0; r < rows_; ++r) {
        broadcast(streamed(), a_at(r, u));
        for (int v = 0; v < vectors_; ++v) multiply_add(accumulator(r, v), streamed(), vector(v));
      }
    }
  }

  void copy(const Xmm& from, int v, int u) {
    move(b_copy_ + (u * vectors_ + v) * vector_bytes_, from);
    if (v * vector_bytes_ % 64 == 0)
      prefetcht0(ptr[times(b_ahead_, b_stride_, b_stride3_, u) + v * vector_bytes_]);
  }

  RegExp dot_a_at(int row, int u) const {
    return times(a_[row / 3], a_stride_, a_stride_, row % 3) + u * vector_bytes_;
  }
  RegExp dot_b_at(int column, int u) const {
    const Reg64& base = column < 3 ? b_ : dot_b_[column / 3 - 1];
    return times(base, b_stride_, b_stride_, column % 3) + u * vector_bytes_;
  }

  void dot_loop() {
    Xbyak::Label by_many, rest, by_one, tail, done;
    mov(count_, arg(offsetof(TileArgs, k)));
    sub(count_, unroll_ * lanes_);
    jl(rest, T_NEAR);
    align(32);
    L(by_many);
    for (int u = 0; u < unroll_; ++u) dot_step(u, false);
    dot_advance(unroll_);
    sub(count_, unroll_ * lanes_);
    jge(by_many, T_NEAR);
    L(rest);
    add(count_, (unroll_ - 1) * lanes_);
    jl(tail, T_NEAR);
    L(by_one);
    dot_step(0, false);
    dot_advance(1);
    sub(count_, lanes_);
    jge(by_one, T_NEAR);
    L(tail);  // count_ is the number of elements left, less lanes_
    add(count_, lanes_);
    jz(done, T_NEAR);
    if (wide_) {
      mov(dot_mask_.cvt32(), -1);
      bzhi(dot_mask_.cvt32(), dot_mask_.cvt32(), count_.cvt32());
      kmovw(k2, dot_mask_.cvt32());
    } else {
      lea(dot_mask_, ptr[rip + masks_ + vector_bytes_]);
      neg(count_);
      lea(dot_mask_, ptr[dot_mask_ + count_ * element_]);
    }
    dot_step(0, true);
    L(done);
  }

  void dot_advance(int steps) {
    for (int p = 0; p < row_pointers(); ++p) add(a_[p], steps * vector_bytes_);
    add(b_, steps * vector_bytes_);
    if (vectors_ > 3) add(dot_b_[0], steps * vector_bytes_);
    if (vectors_ > 6) add(dot_b_[1], steps * vector_bytes_);
  }

  // The last k: k2 (AVX-512) or the vector at dot_mask_ (AVX2) says which lanes are still there.
  void dot_load(const Xmm& to, const RegExp& from, bool partial) {
    if (!partial) return move(to, from);
    if (wide_) return move(to | k2 | T_z, from);
    move(to, RegExp(dot_mask_));
    load_masked(to, from);
  }

  void dot_step(int u, bool partial) {
    const int set = u % sets_, held = std::min(rows_, vectors_), others = std::max(rows_, vectors_);
    const auto held_at = [&](int i) { return hold_a_ ? dot_a_at(i, u) : dot_b_at(i, u); };
    const auto other_at = [&](int i) { return hold_a_ ? dot_b_at(i, u) : dot_a_at(i, u); };
    for (int i = 0; i < held; ++i) dot_load(vector(i), held_at(i), partial);
    for (int j = 0; j < others; ++j) {
      const auto sum = [&](int i) {
        return hold_a_ ? accumulator(i, j, set) : accumulator(j, i, set);
      };
      if (held == 1 && !partial) {
        multiply_add(sum(0), vector(0), ptr[other_at(j)]);
        continue;
      }
      dot_load(streamed(), other_at(j), partial);
      for (int i = 0; i < held; ++i) multiply_add(sum(i), vector(i), streamed());
    }
  }

  // Brings the lane sums of up to four accumulators together in the first lanes of one register.
  Xmm sum_lanes(int row, int first, int count) {
    Ymm sums[kDotGroup];
    for (int i = 0; i < kDotGroup; ++i) {
      const int index = accumulator(row, first + std::min(i, count - 1)).getIdx();
      sums[i] = Ymm(wide_ ? 2 + i : index);
      if (wide_) {  // vhadd knows the low registers only
        vextractf64x4(Ymm(0), Zmm(index), 1);
        add(sums[i], Ymm(index), Ymm(0));
      }
    }
    if (spec_.float64) {
      vhaddpd(sums[0], sums[0], sums[1]);
      if (count > 2) vhaddpd(sums[2], sums[2], sums[3]);
      vperm2f128(Ymm(0), sums[0], sums[2], 0x20);
      vperm2f128(sums[0], sums[0], sums[2], 0x31);
      vaddpd(sums[0], sums[0], Ymm(0));
    } else {
      vhaddps(sums[0], sums[0], sums[1]);
      if (count > 2) vhaddps(sums[2], sums[2], sums[3]);
      vhaddps(sums[0], sums[0], sums[2]);
      vextractf128(Xmm(0), sums[0], 1);
      vaddps(Xmm(sums[0].getIdx()), Xmm(sums[0].getIdx()), Xmm(0));
    }
    return sums[0];
  }

  void write_back() {
    const Reg64 stride = rax, gate_stride = r10;
    mov(c_, ptr[rsp + kC]);
    mov(stride, arg(offsetof(TileArgs, c_stride)));
    if (spec_.bias) mov(bias_, arg(offsetof(TileArgs, bias)));
    if (spec_.gate) {
      mov(gate_, ptr[rsp + kGate]);
      mov(gate_stride, arg(offsetof(TileArgs, gate_stride)));
    }
    for (int s = 1; s < sets_; ++s)
      for (int r = 0; r < rows_; ++r)
        for (int v = 0; v < vectors_; ++v)
          add(accumulator(r, v), accumulator(r, v), accumulator(r, v, s));
    if (spec_.relu || spec_.gate) clear(vector(1));
    for (int r = 0; r < rows_; ++r) {
      if (dot_) {
        for (int first = 0; first < spec_.cols; first += kDotGroup) {
          const int count = std::min(kDotGroup, spec_.cols - first);
          finish(sum_lanes(r, first, count), first * element_, count, false);
        }
      } else {
        for (int v = 0; v < vectors_; ++v)
          finish(accumulator(r, v), v * vector_bytes_, width(v), wide_);
      }
      add(c_, stride);
      if (spec_.gate) add(gate_, gate_stride);
    }
    mov(ptr[rsp + kC], c_);
    if (spec_.gate) mov(ptr[rsp + kGate], gate_);
  }

  // `x` holds the next `count` values of a row. Vector 0 is free and vector 1 is zero.
  void finish(Xmm x, int offset, int count, bool masked) {
    if (dot_) x = Ymm(x.getIdx());
    const Xmm other = x.isZMM() ? Xmm(Zmm(0)) : Xmm(Ymm(0));
    const Xmm zero = x.isZMM() ? Xmm(Zmm(1)) : Xmm(Ymm(1));
    if (spec_.accumulate) {
      load(other, c_ + offset, count, masked);
      add(x, x, other);
    }
    if (spec_.bias) {
      load(other, bias_ + offset, count, masked);
      add(x, x, other);
    }
    // With a NaN the maximum is its second operand.
    if (spec_.relu) spec_.float64 ? vmaxpd(x, zero, x) : vmaxps(x, zero, x);
    if (spec_.gate) {
      constexpr int kGreater = 0x1e;
      load(other, gate_ + offset, count, masked);
      if (x.isZMM()) {
        spec_.float64 ? vcmppd(k2, other, zero, kGreater) : vcmpps(k2, other, zero, kGreater);
        spec_.float64 ? vmovapd(x | k2 | T_z, x) : vmovaps(x | k2 | T_z, x);
      } else {
        spec_.float64 ? vcmppd(other, other, zero, kGreater) : vcmpps(other, other, zero, kGreater);
        vandps(x, x, other);
      }
    }
    store(c_ + offset, x, count, masked);
  }
};

}  // namespace

TileKernel::Function emit_tile(const TileSpec& spec) {
  CodeBuffer buffer;
  const TileEmitter emitter(spec, buffer);
  const std::shared_ptr<const void> code = executable_copy(buffer.bytes, emitter.getSize());
  if (!code) return nullptr;
  // Never given back: kernels may run until the process ends.
  static std::mutex mutex;
  static auto& kept = *new std::vector<std::shared_ptr<const void>>;
  const std::lock_guard lock(mutex);
  kept.push_back(code);
  return reinterpret_cast<TileKernel::Function>(const_cast<void*>(code.get()));
}

}  // namespace gradus::kernels
