// Calls from emitted code to the slow functions of assist.h.
#include "expr/machine.h"

namespace gradus::expr {

void Machine::assist(const Instr& i) {
  const Xmm y = reg(i.a), x = reg(i.b), second = reg(i.c);
  const int t = temp();
  const bool taken_over = reuse(i.a);
  const Xmm d = taken_over ? y : define();
  if (!taken_over) vmovaps(d, y);
  if (assist_slot_ < 0) assist_slot_ = new_slot(3 * vector_bytes());
  Assistance& help = assistance_.emplace_back();
  help.y = d, help.x = x, help.second = second;
  help.fn = assist_fn(static_cast<Assistant>(i.bits), i.type);
  const bool single = i.type == Type::f32;
  if (zmm_) {
    single ? vcmpps(k1, d, d, kUnordered) : vcmppd(k1, d, d, kUnordered);
    kortestw(k1, k1);
  } else {
    const Xmm nan = vec(i.type, t);
    single ? vcmpps(nan, d, d, kUnordered) : vcmppd(nan, d, d, kUnordered);
    vptest(nan, nan);
  }
  jnz(help.start);
  L(help.back);
}

void Machine::emit_assistance() {
  if (assistance_.empty()) return;
  for (Assistance& help : assistance_) {
    L(help.start);
    vmovups(slot(assist_slot_), help.x);
    vmovups(slot(assist_slot_ + vector_bytes()), help.second);
    vmovups(slot(assist_slot_ + 2 * vector_bytes()), help.y);
    mov(address, reinterpret_cast<std::uintptr_t>(help.fn));
    call(assist_entry_);
    vmovups(help.y, slot(assist_slot_ + 2 * vector_bytes()));
    jmp(help.back);
  }
  assist_entry();
}

// Calls the function at `address`, and gives every register that a callee may change its value
// back.
void Machine::assist_entry() {
  const Xbyak::Reg64 general[] = {rax, rcx, rdx, rsi, rdi, r8, r9, r11};
  constexpr int kReturn = 8;  // the return address lies below the frame
  const int general_slot = new_slot(8 * static_cast<int>(std::size(general)) + 8);
  const int mask_slot = general_slot + 8 * static_cast<int>(std::size(general));
  const int vector_slot = new_slot(register_count() * vector_bytes());
  const auto at = [&](int offset) { return slot(kReturn + offset); };
  L(assist_entry_);
  for (std::size_t k = 0; k < std::size(general); ++k)
    mov(at(general_slot + 8 * static_cast<int>(k)), general[k]);
  for (int r = 0; r < register_count(); ++r) vmovups(at(vector_slot + r * vector_bytes()), full(r));
  if (zmm_) kmovq(at(mask_slot), tail());
  lea(rdi, at(assist_slot_));
  lea(rsi, at(assist_slot_ + vector_bytes()));
  lea(rdx, at(assist_slot_ + 2 * vector_bytes()));
  mov(ecx, lanes());
  vzeroupper();
  sub(rsp, 8);
  call(address);
  add(rsp, 8);
  if (zmm_) kmovq(tail(), at(mask_slot));
  for (int r = 0; r < register_count(); ++r) vmovups(full(r), at(vector_slot + r * vector_bytes()));
  for (std::size_t k = 0; k < std::size(general); ++k)
    mov(general[k], at(general_slot + 8 * static_cast<int>(k)));
  ret();
}

}  // namespace gradus::expr
