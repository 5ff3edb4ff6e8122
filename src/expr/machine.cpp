// Registers and memory of the Machine.
#include "expr/machine.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace gradus::expr {

using Xbyak::Address;
using Xbyak::RegExp;

Machine::Machine(std::vector<std::uint8_t>& buffer, const Program& p, const Schedule& s, Isa isa)
    : CodeGenerator(buffer.size(), buffer.data()), p_(p), s_(s), zmm_(isa == Isa::avx512) {
  setDefaultJmpNEAR(true);
  pool_room_ = s.constants.size() + kOwnConstants;
  entry_ = kPoolOffset + pool_room_ * static_cast<std::size_t>(vector_bytes());
  if (entry_ >= buffer.size()) throw Xbyak::Error(Xbyak::ERR_CODE_IS_TOO_BIG);
  std::fill(buffer.begin(), buffer.begin() + kMaskEnd, 0xff);
  std::fill(buffer.begin() + kMaskEnd, buffer.begin() + static_cast<std::ptrdiff_t>(entry_), 0);
  setSize(entry_);
  const std::size_t n = p.code.size();
  owner_.assign(static_cast<std::size_t>(register_count()), 0);
  usable_ = free_ = zmm_ ? ~0u : 0xffffu;
  pool_place_.assign(n, -1);
  pinned_.assign(n, -1);
  home_.assign(n, -1);
  now_.assign(n * kMaxCopies, {});
  varies_.assign(s.varies.begin(), s.varies.end());
  lazy_.assign(n, false);
}

void Machine::upper128(int to, int from) {
  if (zmm_)
    vextractf32x4(xmm(to), Xbyak::Ymm(from), 1);
  else
    vextractf128(xmm(to), Xbyak::Ymm(from), 1);
}

void Machine::upper256(int to, int from) { vextractf64x4(Xbyak::Ymm(to), Xbyak::Zmm(from), 1); }

// Registers -------------------------------------------------------------------------------------

void Machine::set_pins(const std::vector<Pin>& pins, int end) {
  std::fill(pinned_.begin(), pinned_.end(), -1);
  for (const Pin& pin : pins) pinned_[pin.value] = pin.reg;
  usable_ = static_cast<std::uint32_t>((std::uint64_t{1} << end) - 1);
}

void Machine::load_pin(const Pin& pin) {
  if (is_constant(pin.value))
    vmovups(full(pin.reg), constant(pin.value));
  else
    vmovups(vec(instr(pin.value).type, pin.reg), home(pin.value));
}

void Machine::begin_sequence() {
  free_ = ~0u;
  scratch_ = 0;
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
  if (is_constant(v)) return constant(v);
  return home_[v] >= 0 ? home(v) : slot(now(v).slot);
}

int Machine::take() {
  if (const std::uint32_t free = free_ & usable_ & ~locked_) return std::countr_zero(free);
  int victim = -1;
  std::uint32_t latest = 0;
  for (std::uint32_t left = usable_ & ~(locked_ | scratch_); left != 0; left &= left - 1) {
    const int r = std::countr_zero(left);
    const std::uint32_t next =
        now_[static_cast<std::size_t>(owner_[static_cast<std::size_t>(r)])].next;
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
  free_ |= 1u << r;
}

int Machine::temp() {
  const int r = take();
  free_ &= ~(1u << r);
  scratch_ |= 1u << r;
  return r;
}

void Machine::hold(std::uint16_t v, int r) {
  owner_[static_cast<std::size_t>(r)] = key(v);
  now(v).reg = r;
  free_ &= ~(1u << r);
  locked_ |= 1u << r;
}

void Machine::drop(std::uint16_t v) {
  Now& n = now(v);
  free_ |= 1u << n.reg;
  locked_ &= ~(1u << n.reg);
  n.reg = -1;
}

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

bool Machine::has_room() const {
  return std::popcount(free_ & usable_ & ~locked_) > 1;  // one is for the result
}

Machine::Source Machine::any(std::uint16_t v) {
  if (in_register(v) || (lazy_[v] && at_.masked) || (wanted_again(v) && has_room()))
    return {false, reg(v), Address(0, false, RegExp())};
  if (!lazy_[v]) return {true, Xmm(0), memory_of(v)};
  const int bytes = is_wide(instr(v).type) ? 8 : 4;
  return {true, Xmm(0), ptr[element(instr(v).a, bytes, at_.copy * lanes())]};
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
  free_ |= scratch_;
  scratch_ = 0;
  const std::uint16_t v = step_->value;
  if (step_->kind == Step::compute) {
    if (home_[v] >= 0 && pinned_[v] < 0) vmovups(home(v), vec(instr(v).type, now(v).reg));
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
      const Output& output = p_.outputs[s.index];
      const int port = output_port(s.index);
      const Xmm value = pack(reg(s.value), output.dtype);
      store_vector(output.adds ? added_to_output(value, output, port) : value, port,
                   static_cast<int>(size_of(output.dtype)));
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
    vmovups(home(v), vec(t, reg));
}

// Memory ----------------------------------------------------------------------------------------

int Machine::new_slot(int bytes) {
  const int offset = frame_;
  frame_ += bytes;
  return offset;
}

int Machine::pool_index(std::uint64_t bits, bool wide) {
  if (!wide) bits = (bits & 0xffffffff) | bits << 32;
  const auto n =
      static_cast<std::size_t>(std::find(pool_.begin(), pool_.end(), bits) - pool_.begin());
  if (n == pool_.size()) {
    GRADUS_ASSERT(n < pool_room_);
    pool_.push_back(bits);
    const std::size_t bytes = static_cast<std::size_t>(vector_bytes());
    for (std::size_t k = 0; k < bytes; k += 8) rewrite(kPoolOffset + n * bytes + k, bits, 8);
  }
  return static_cast<int>(n);
}

// Relative to the instruction, so that it stays right when the code is moved as a whole.
Address Machine::pool_entry(int n) const {
  return ptr[rip + (getCode() + kPoolOffset + n * vector_bytes())];
}

Address Machine::pool(std::uint64_t bits, bool wide) { return pool_entry(pool_index(bits, wide)); }

Address Machine::constant(std::uint16_t v) {
  const Instr& i = instr(v);
  const bool mask = i.type == Type::mask;
  if (pool_place_[v] < 0)
    pool_place_[v] = pool_index(mask && i.bits ? ~0ull : i.bits, mask || is_wide(i.type));
  return pool_entry(pool_place_[v]);
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
  lea(mask_pointer, ptr[rip + (getCode() + kMaskEnd)]);
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
