// Registers and memory of the Machine.
#include "expr/machine.h"

#include <algorithm>

#include "base/check.h"

namespace gradus::expr {

using Xbyak::Address;
using Xbyak::Operand;
using Xbyak::RegExp;

Machine::Machine(std::vector<std::uint8_t>& buffer, const Program& p, const Schedule& s, Isa isa)
    : CodeGenerator(buffer.size(), buffer.data()), p_(p), s_(s), zmm_(isa == Isa::avx512) {
  setDefaultJmpNEAR(true);
  pool_room_ = s.constants.size() + kOwnConstants;
  for (int k = 0; k < 4; ++k) dq(~0ull);
  L(mask_end_);
  for (int k = 0; k < 4; ++k) dq(0);
  L(pool_start_);
  for (std::size_t k = 0; k < pool_room_ * static_cast<std::size_t>(vector_bytes()) / 8; ++k) dq(0);
  entry_ = getSize();
  const std::size_t n = p.code.size();
  owner_.assign(static_cast<std::size_t>(register_count()), kFree);
  pinned_.assign(n, -1);
  home_.assign(n, -1);
  now_.assign(n * kMaxCopies, {});
  varies_.assign(s.varies.begin(), s.varies.end());
  lazy_.assign(n, false);
}

Machine::Xmm Machine::vec(Type t, int reg) const {
  const bool half = half_width(t);
  if (zmm_) return Xmm(half ? Operand::YMM : Operand::ZMM, reg);
  return Xmm(half ? Operand::XMM : Operand::YMM, reg);
}

void Machine::upper128(int to, int from) {
  if (zmm_)
    vextractf32x4(xmm(to), Xbyak::Ymm(from), 1);
  else
    vextractf128(xmm(to), Xbyak::Ymm(from), 1);
}

void Machine::upper256(int to, int from) { vextractf64x4(Xbyak::Ymm(to), Xbyak::Zmm(from), 1); }

// Registers -------------------------------------------------------------------------------------

void Machine::begin_sequence() {
  std::fill(owner_.begin(), owner_.end(), kFree);
  for (Now& now : now_) {
    if (now.slot >= 0) free_slots_.push_back(now.slot);
    now = {};
  }
  locked_ = 0;
}

bool Machine::has_memory(int key) const {
  const std::uint16_t v = value_of(key);
  return is_constant(v) || home_[v] >= 0 || now_[static_cast<std::size_t>(key)].slot >= 0;
}

Address Machine::memory_of(std::uint16_t v) {
  if (is_constant(v)) {
    const Instr& i = instr(v);
    if (i.type == Type::mask) return pool(i.bits ? ~0ull : 0, true);
    return pool(i.bits, is_wide(i.type));
  }
  return slot(home_[v] >= 0 ? home_[v] : now(v).slot);
}

int Machine::take() {
  int victim = -1;
  std::uint32_t latest = 0;
  for (int r = 0; r < register_count(); ++r) {
    if ((reserved_ | locked_) >> r & 1) continue;
    const int owner = owner_[static_cast<std::size_t>(r)];
    if (owner == kFree) return r;
    if (owner == kScratch) continue;
    const std::uint32_t next = now_[static_cast<std::size_t>(owner)].next;
    if (victim < 0 || next > latest) victim = r, latest = next;
  }
  if (victim < 0) throw OutOfRegisters();
  spill(victim);
  return victim;
}

void Machine::spill(int r) {
  const int key = owner_[static_cast<std::size_t>(r)];
  Now& now = now_[static_cast<std::size_t>(key)];
  if (!has_memory(key)) {
    if (free_slots_.empty()) free_slots_.push_back(new_slot(vector_bytes()));
    now.slot = free_slots_.back();
    free_slots_.pop_back();
    vmovups(slot(now.slot), vec(instr(value_of(key)).type, r));
  }
  now.reg = -1;
  owner_[static_cast<std::size_t>(r)] = kFree;
}

int Machine::temp() {
  const int r = take();
  owner_[static_cast<std::size_t>(r)] = kScratch;
  return r;
}

void Machine::hold(std::uint16_t v, int r) {
  owner_[static_cast<std::size_t>(r)] = key(v);
  now(v).reg = r;
  locked_ |= 1u << r;
}

void Machine::drop(std::uint16_t v) {
  const int r = now(v).reg;
  owner_[static_cast<std::size_t>(r)] = kFree;
  locked_ &= ~(1u << r);
  now(v).reg = -1;
}

bool Machine::in_register(std::uint16_t v) const { return pinned_[v] >= 0 || now(v).reg >= 0; }

Machine::Xmm Machine::reg(std::uint16_t v) {
  const Type t = instr(v).type;
  if (pinned_[v] >= 0) return vec(t, pinned_[v]);
  if (now(v).reg < 0) {
    const int r = take();
    hold(v, r);
    if (lazy_[v])
      load_element(vec(t, r), instr(v).a, p_.inputs[instr(v).a].dtype);
    else
      vmovups(vec(t, r), memory_of(v));
  }
  locked_ |= 1u << now(v).reg;
  return vec(t, now(v).reg);
}

Machine::Source Machine::any(std::uint16_t v) {
  if (in_register(v) || (lazy_[v] && at_.masked))
    return {false, reg(v), Address(0, false, RegExp())};
  if (!lazy_[v]) return {true, Xmm(0), memory_of(v)};
  const int bytes = is_wide(instr(v).type) ? 8 : 4;
  return {true, Xmm(0), ptr[element(instr(v).a, bytes, at_.copy * lanes())]};
}

bool Machine::dies(std::uint16_t v) const {
  return pinned_[v] < 0 && now(v).reg >= 0 && now(v).next == kNever;
}

void Machine::release() {
  for (int k = 0; k < step_->reads; ++k)
    if (dies(step_->read[k])) drop(step_->read[k]);
}

Machine::Xmm Machine::define() {
  const std::uint16_t v = step_->value;
  if (pinned_[v] < 0) hold(v, take());
  return vec(instr(v).type, pinned_[v] >= 0 ? pinned_[v] : now(v).reg);
}

bool Machine::reuse(std::uint16_t operand) {
  if (!dies(operand) || pinned_[step_->value] >= 0) return false;
  const int r = now(operand).reg;
  release();
  hold(step_->value, r);
  return true;
}

void Machine::end_step() {
  release();
  for (int& owner : owner_)
    if (owner == kScratch) owner = kFree;
  const std::uint16_t v = step_->value;
  if (step_->kind == Step::compute) {
    if (home_[v] >= 0 && pinned_[v] < 0) vmovups(slot(home_[v]), vec(instr(v).type, now(v).reg));
    if (dies(v)) drop(v);
  }
  locked_ = 0;
}

void Machine::step(const Step& s, const Place& at) {
  step_ = &s;
  at_ = at;
  copy_base_ = at.copy * static_cast<int>(p_.code.size());
  for (int k = 0; k < s.reads; ++k) {
    Now& operand = now(s.read[k]);
    operand.next = s.next[k];
    if (operand.reg >= 0) locked_ |= 1u << operand.reg;
  }
  const Type t = instr(s.value).type;
  switch (s.kind) {
    case Step::compute:
      now(s.value).next = s.next_of_result;
      compute();
      break;
    case Step::store: {
      const DType dtype = p_.outputs[s.index].dtype;
      store_vector(pack(reg(s.value), dtype), output_port(s.index),
                   static_cast<int>(size_of(dtype)));
      break;
    }
    case Step::store_row: {
      const DType dtype = p_.outputs[s.index].dtype;
      store_first(pack(reg(s.value), dtype), output_port(s.index),
                  static_cast<int>(size_of(dtype)));
      break;
    }
    case Step::save:
      store_vector(reg(s.value), scratch_port(s.index), is_wide(t) ? 8 : 4);
      break;
    case Step::accumulate:
      accumulate(accumulators[s.index]);
      break;
  }
  end_step();
}

void Machine::set_row_value(std::uint16_t v, int reg) {
  const Type t = instr(v).type;
  if (pinned_[v] >= 0)
    vmovaps(vec(t, pinned_[v]), vec(t, reg));
  else if (home_[v] >= 0)
    vmovups(slot(home_[v]), vec(t, reg));
}

// Memory ----------------------------------------------------------------------------------------

int Machine::new_slot(int bytes) {
  const int offset = frame_;
  frame_ += bytes;
  return offset;
}

Address Machine::pool(std::uint64_t bits, bool wide) {
  if (!wide) bits = (bits & 0xffffffff) | bits << 32;
  const auto n =
      static_cast<std::size_t>(std::find(pool_.begin(), pool_.end(), bits) - pool_.begin());
  const std::size_t bytes = static_cast<std::size_t>(vector_bytes());
  if (n == pool_.size()) {
    GRADUS_ASSERT(n < pool_room_);
    pool_.push_back(bits);
    for (std::size_t k = 0; k < bytes; k += 8) rewrite(kPoolOffset + n * bytes + k, bits, 8);
  }
  return ptr[rip + pool_start_ + static_cast<int>(n * bytes)];
}

RegExp Machine::element(int port, int element_bytes, int offset_elements) {
  return row_element(port) + index * element_bytes + offset_elements * element_bytes;
}

RegExp Machine::row_element(int port) {
  const PortPlace& place = ports[static_cast<std::size_t>(port)];
  if (place.reg >= 0) return RegExp(Xbyak::Reg64(place.reg));
  mov(address, slot(place.slot));
  return RegExp(address);
}

void Machine::begin_mask() {
  if (zmm_) {
    mov(mask_pointer.cvt32(), -1);
    bzhi(mask_pointer.cvt32(), mask_pointer.cvt32(), remaining.cvt32());
    kmovd(tail(), mask_pointer.cvt32());
    return;
  }
  lea(mask_pointer, ptr[rip + mask_end_]);
  mov(address, remaining);
  shl(address, s_.wide ? 3 : 2);
  sub(mask_pointer, address);
}

void Machine::load_mask(const Xmm& to, int element_bytes) {
  if (s_.wide && element_bytes == 4)
    vmovups(to, ptr[mask_pointer + remaining * 4]);
  else
    vmovups(to, ptr[mask_pointer]);
}

}  // namespace gradus::expr
