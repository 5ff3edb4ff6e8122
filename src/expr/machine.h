// The assembler behind emitter.cpp: knows registers, memory and how one instruction of a program
// becomes machine instructions; knows nothing of loops. Private to the emitter (includes Xbyak).
//
// Widths. A vector holds as many elements as fit with the widest type of the program ("lanes"), so
// in a program with 64-bit values the 32-bit ones fill half a register. A mask is a vector of all
// ones or all zeros per lane, as wide as the widest type, on AVX-512 too: there a comparison goes
// through k1 and back to a vector, which costs one instruction and keeps one kind of register.
//
// Places. Constants and values per row live in memory (a constant pool before the code, slots of
// the stack frame) and, as far as there are registers, pinned in a register. Values per element
// live in the remaining registers while they are needed; if those run out, the one needed last is
// spilled.
#pragma once
#include <xbyak/xbyak.h>

#include <deque>
#include <utility>
#include <vector>

#include "expr/assist.h"
#include "expr/kernel.h"
#include "expr/sequence.h"

namespace gradus::expr {

// Thrown when a step needs more registers than were left for values per element.
struct OutOfRegisters {};
// Thrown for what has no machine code; the program is interpreted then.
struct NotCovered {};

inline constexpr int kMaxCopies = 4;  // vectors that one turn of a loop handles

// Where in the row the code that is being emitted works.
struct Place {
  int copy = 0;                 // which of the unrolled copies
  bool masked = false;          // only the first rcx elements exist
  bool again = false;           // the same step follows for another copy
  bool spares_divider = false;  // float32 roots are made by multiplying
};

// Predicates of vcmpps and vcmppd.
enum Predicate : std::uint8_t {
  kEqual = 0,
  kUnordered = 3,
  kNotEqual = 4,
  kLess = 17,
  kLessEqual = 18
};

class Machine : public Xbyak::CodeGenerator {
 public:
  using Xmm = Xbyak::Xmm;
  using Type = expr::Type;  // the base class has one of its own

  Machine(std::vector<std::uint8_t>& buffer, const Program& p, const Schedule& s, Isa isa);

  // Registers ---------------------------------------------------------------------------------
  int lanes() const { return (zmm_ ? 64 : 32) / (s_.wide ? 8 : 4); }
  int register_count() const { return zmm_ ? 32 : 16; }
  int vector_bytes() const { return zmm_ ? 64 : 32; }
  bool avx512() const { return zmm_; }
  bool half_width(Type t) const { return s_.wide && (t == Type::i32 || t == Type::f32); }
  // The register with the width that values of type t have.
  Xmm vec(Type t, int reg) const {
    const bool half = half_width(t);
    if (zmm_) return Xmm(half ? Xbyak::Operand::YMM : Xbyak::Operand::ZMM, reg);
    return Xmm(half ? Xbyak::Operand::XMM : Xbyak::Operand::YMM, reg);
  }
  Xmm full(int reg) const { return vec(Type::mask, reg); }
  static Xmm xmm(int reg) { return Xmm(reg); }
  static Xmm ymm(int reg) { return Xmm(Xbyak::Operand::YMM, reg); }
  void upper128(int to, int from);  // of a ymm register
  void upper256(int to, int from);  // of a zmm register

  // From here on these values are pinned, and other values use the registers below `end` only.
  struct Pin {
    std::uint16_t value;
    int reg;
  };
  void set_pins(const std::vector<Pin>& pins, int end);
  void load_pin(const Pin& pin);  // from where the value lives in memory
  int pinned(std::uint16_t v) const { return pinned_[v]; }
  int temp();  // a register for the current step, or until free_temp
  void free_temp(int reg) { free_ |= 1u << reg, scratch_ &= ~(1u << reg); }
  void begin_sequence();  // no value per element is anywhere

  // Memory ------------------------------------------------------------------------------------
  int new_slot(int bytes);  // of the stack frame; gives its offset
  Xbyak::Address slot(int offset) { return ptr[rsp + offset]; }
  Xbyak::Address pool(std::uint64_t bits, bool wide);  // a vector of one repeated value
  Xbyak::Address constant(std::uint16_t v);            // the same for a constant of the program
  std::size_t entry() const { return entry_; }         // offset of the first instruction
  int frame_bytes() const { return frame_; }
  // A value per row lives at `offset` of the frame, and of the second of two rows a vector later.
  void set_home(std::uint16_t v, int offset) { home_[v] = offset; }
  void set_row(int row) { row_ = row; }

  // Ports: inputs, then outputs, then scratch rows. A port is in a register or in the frame.
  struct PortPlace {
    int reg = -1, slot = -1;
  };
  std::vector<PortPlace> ports;
  int output_port(int k) const { return static_cast<int>(p_.inputs.size()) + k; }
  int scratch_port(int k) const {
    return static_cast<int>(p_.inputs.size() + p_.outputs.size()) + k;
  }
  const Xbyak::Reg64 index = rax, remaining = rcx, rows = rdx, args = rdi;
  const Xbyak::Reg64 address = r10, mask_pointer = r11;

  // Code --------------------------------------------------------------------------------------
  void step(const Step& s, const Place& at);
  void combine(Code reduction, Type t, int to, int a, const Xmm& b);
  void set_row_value(std::uint16_t v, int reg);  // a reduction's result is in all lanes of reg
  void begin_mask();  // masked code follows: only the first `remaining` elements exist
  Xbyak::Opmask tail() const { return Xbyak::Opmask(7); }
  void load_mask(const Xmm& to, int element_bytes);

  // The accumulators of the current pass, by reduction: where that of each copy is.
  struct Accumulator {
    std::uint16_t value;  // the reduce_* instruction
    int reg, slot;        // of copy 0, or -1; the other copies follow
  };
  std::vector<Accumulator> accumulators;

  bool lazy(std::uint16_t v) const { return lazy_[v]; }
  void set_lazy(std::vector<bool> lazy) { lazy_ = std::move(lazy); }
  void set_pass(std::size_t pass) { pass_ = pass; }
  void emit_assistance();           // after the last return: what steps jump to when they need help
  bool can_multiply_roots() const;  // whether spares_divider may be asked for
  void emit_plain_roots();          // likewise after the last return

 private:
  struct Source {
    bool in_memory;
    Xmm reg;
    Xbyak::Address memory;
    const Xbyak::Operand& operand() const {
      return in_memory ? static_cast<const Xbyak::Operand&>(memory) : reg;
    }
  };
  const Instr& instr(std::uint16_t v) const { return p_.code[v]; }
  bool is_constant(std::uint16_t v) const { return instr(v).code == Code::constant; }
  Xbyak::RegExp element(int port, int element_bytes, int offset_elements);
  Xbyak::RegExp row_element(int port);
  Xbyak::Address memory_of(std::uint16_t v);
  Xbyak::Address home(std::uint16_t v) { return slot(home_[v] + row_ * vector_bytes()); }
  bool has_memory(int key) const;

  // Copies of the element code may be interleaved, so that a value per element exists once for each
  // copy; its key tells which.
  struct Now {
    int reg = -1, slot = -1;
    std::uint32_t next = kNever;  // step of the next use
  };
  int key(std::uint16_t v) const { return varies_[v] ? copy_base_ + v : v; }
  std::uint16_t value_of(int key) const {
    return static_cast<std::uint16_t>(key % static_cast<int>(p_.code.size()));
  }
  Now& now(std::uint16_t v) { return now_[static_cast<std::size_t>(key(v))]; }
  const Now& now(std::uint16_t v) const { return now_[static_cast<std::size_t>(key(v))]; }
  int take();
  void spill(int reg);
  void hold(std::uint16_t v, int reg);
  void drop(std::uint16_t v);
  bool in_register(std::uint16_t v) const { return pinned_[v] >= 0 || now(v).reg >= 0; }
  Xmm reg(std::uint16_t v);     // in a register, loading it if need be
  Source any(std::uint16_t v);  // in a register or, if it is not in one, in memory
  bool dies(std::uint16_t v) const {
    const Now& n = now(v);
    return n.next == kNever && n.reg >= 0 && !wanted_again(v);
  }
  // What does not differ between the copies is loaded once for all of them, if there is room.
  bool wanted_again(std::uint16_t v) const { return at_.again && !varies_[v]; }
  bool has_room() const;
  void release();  // operands that are not needed any more give up their registers
  Xmm define();    // the register of the result
  void end_step();

  void compute();
  void arithmetic(const Instr& i);
  void fused(const Instr& i);
  bool reuse(std::uint16_t operand);  // the result may take over the operand's register
  void minmax(const Instr& i);
  void multiply_wide(const Instr& i);
  void compare(const Instr& i);
  void bitwise(const Instr& i);
  void select(const Instr& i);
  void keep(const Instr& i);
  void shift(const Instr& i);
  void rounding(const Instr& i);
  void convert(const Instr& i);
  void bitcast(const Instr& i);
  void narrow(const Instr& i);
  void root_by_multiplying(const Instr& i);
  void assist(const Instr& i);
  void assist_entry();
  Xmm mask_as(std::uint16_t v, Type t);  // a mask with lanes as wide as t's

  void load();
  void load_element(const Xmm& to, int port, DType dtype);
  void extend(const Xmm& to, DType dtype, const Xbyak::Operand& from);
  Xmm pack(const Xmm& from, DType dtype);
  void store_vector(const Xmm& from, int port, int element_bytes);
  void store_some(const Xmm& from, int element_bytes);
  void store_first(const Xmm& from, int port, int element_bytes);
  void round_to_bfloat(const Xmm& to, const Xmm& from);
  void accumulate(const Accumulator& acc);
  Xmm added_to_output(const Xmm& x, const Output& output, int port);
  void add_vectors(Type t, const Xmm& to, const Xmm& a, const Xbyak::Operand& b);

  const Program& p_;
  const Schedule& s_;
  const bool zmm_;
  std::size_t pass_ = 0;
  int row_ = 0;  // of the rows that take turns
  Place at_;
  int copy_base_ = 0;  // of the keys of at_.copy
  const Step* step_ = nullptr;

  // Registers, as bits: those for values per element, and among them those that hold nothing, that
  // are lent out by temp() and that the current step uses.
  std::uint32_t usable_ = 0, free_ = 0, scratch_ = 0, locked_ = 0;
  std::vector<int> owner_;  // by register that is neither free nor lent: the key of its value
  std::vector<int> pinned_, home_;    // by value
  std::vector<std::uint8_t> varies_;  // as in the schedule
  std::vector<Now> now_;              // by key
  std::vector<bool> lazy_;            // by value: an input that is loaded where it is used
  std::vector<int> free_slots_;

  // A place that calls an assistant, out of the way of the loop.
  struct Assistance {
    Xbyak::Label start, back;
    Xmm y, x, second;
    AssistFn fn;
  };
  std::deque<Assistance> assistance_;
  int assist_slot_ = -1;  // of x, second and y, one vector each
  Xbyak::Label assist_entry_;
  // A place that takes roots of vectors that root_by_multiplying does not cover.
  struct PlainRoot {
    Xbyak::Label start, back;
    Xmm root, x;
  };
  std::deque<PlainRoot> plain_roots_;
  int frame_ = 64;  // the first line holds the caller's rsp and the columns left

  // Constants come before the code: the mask table (ones, then zeros), then whole vectors.
  static constexpr int kMaskEnd = 32;
  static constexpr std::size_t kPoolOffset = 64, kOwnConstants = 24;
  std::vector<std::uint64_t> pool_;  // each fills a vector
  std::size_t pool_room_ = 0, entry_ = 0;
  Xbyak::Address pool_entry(int n) const;
  int pool_index(std::uint64_t bits, bool wide);
  std::vector<int> pool_place_;  // by value: of a constant in pool_, or -1
};

}  // namespace gradus::expr
