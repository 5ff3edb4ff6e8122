// Loops and passes of the emitted code; machine.h does single instructions.
//
//   entry:     frame, row pointers of all ports
//   row:       for each pass:   values per row, pinned constants and values, then
//                 block:        at most 4096 columns if the pass has float sums, else all
//                   main loop:  several vectors, their instructions interleaved
//                   rest:       vector by vector
//                   tail:       what is left, masked
//                               fold the sums into their float64 totals
//                               fold the accumulators into the reductions' results
//              advance the row pointers
//
// Folding is a chain of dependent instructions, and so is what values per row are made of. Where a
// row has several passes, two rows take turns, pass by pass, so that one's columns are there to be
// worked on while the other's results are waited for.
//
// A pass with reductions has a copy of its code for each vector of a stripe (schedule.h), each with
// its own accumulator and its own tail, so that a column always meets the same lane.
#include "expr/emitter.h"

#include <xbyak/xbyak_util.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/code_memory.h"
#include "expr/machine.h"

namespace gradus::expr {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;
using Xmm = Machine::Xmm;

// Frame offsets below 64 are fixed.
constexpr int kCallerStack = 0, kColumnsLeft = 8, kScratchStep = 16;
// Steps of element code that is short, that is a chain, and that is long: choose_copies.
constexpr std::size_t kShortBody = 16, kChain = 20, kLongBody = 250;

// Registers for ports; those from the fifth on belong to the caller.
constexpr int kPortRegisters[] = {Xbyak::Operand::RSI, Xbyak::Operand::R8,  Xbyak::Operand::R9,
                                  Xbyak::Operand::RBX, Xbyak::Operand::RBP, Xbyak::Operand::R12,
                                  Xbyak::Operand::R13, Xbyak::Operand::R14, Xbyak::Operand::R15};
constexpr int kPortRegisterCount = 9, kFirstSavedPort = 3;

class Emission {
 public:
  Emission(std::vector<std::uint8_t>& buffer, const Program& p, const Schedule& s, Isa isa,
           int extra)
      : p_(p), s_(s), code_(make_sequences(p, s)), m_(buffer, p, s, isa) {
    place_ports();
    m_.set_lazy(code_.lazy);
    for (std::size_t k = 0; k < s_.passes.size(); ++k) plans_.push_back(plan_pass(k, extra));
    place_row_values();
  }

  std::size_t entry() const { return m_.entry(); }
  int rows_in_turn() const { return s_.passes.size() > 1 ? 2 : 1; }

  // Gives the bytes of constants and code.
  std::size_t run() {
    Label row, exit;
    enter();
    m_.mov(m_.rows, arg(offsetof(LoopArgs, rows)));
    m_.test(m_.rows, m_.rows);
    m_.jle(exit);
    load_ports();
    if (rows_in_turn() == 1) {
      one_row(row);
      m_.dec(m_.rows);
    } else {
      two_rows(row, exit);
      m_.sub(m_.rows, 2);
    }
    m_.jz(exit);
    step_ports();
    m_.jmp(row);
    m_.L(exit);
    leave();
    m_.emit_assistance();
    m_.emit_plain_roots();
    m_.rewrite(frame_patch_, static_cast<std::uint64_t>((m_.frame_bytes() + 63) & ~63), 4);
    m_.ready();
    return m_.getSize();
  }

 private:
  Xbyak::Address arg(std::size_t offset) { return m_.ptr[m_.args + static_cast<int>(offset)]; }

  // Ports ---------------------------------------------------------------------------------------

  // Registers go first to the ports that are used for every column.
  void place_ports() {
    const std::size_t outputs = p_.inputs.size() + p_.outputs.size();
    const std::size_t count = outputs + static_cast<std::size_t>(s_.scratch_rows);
    const auto per_row = [&](std::size_t k) {
      if (k < p_.inputs.size()) return !p_.inputs[k].varies_along_row;
      return k < outputs && p_.outputs[k - p_.inputs.size()].per_row;
    };
    m_.ports.resize(count);
    int used = 0;
    for (const bool rarely : {false, true})
      for (std::size_t k = 0; k < count; ++k) {
        if (per_row(k) != rarely) continue;
        if (used < kPortRegisterCount)
          m_.ports[k].reg = kPortRegisters[used++];
        else
          m_.ports[k].slot = m_.new_slot(8);
      }
    if (count > kPortRegisterCount) m_.new_slot(64 - m_.frame_bytes() % 64);
    saved_ = std::clamp(used, kFirstSavedPort, kPortRegisterCount);
  }

  void enter() {
    for (int k = kFirstSavedPort; k < saved_; ++k) m_.push(Reg64(kPortRegisters[k]));
    m_.mov(m_.r11, m_.rsp);
    m_.sub(m_.rsp, 0x7fffffff);
    frame_patch_ = m_.getSize() - 4;
    m_.and_(m_.rsp, -64);
    m_.mov(m_.slot(kCallerStack), m_.r11);
  }

  void leave() {
    m_.mov(m_.rsp, m_.slot(kCallerStack));
    for (int k = saved_ - 1; k >= kFirstSavedPort; --k) m_.pop(Reg64(kPortRegisters[k]));
    m_.vzeroupper();
    m_.ret();
  }

  void set_port(std::size_t k, const Reg64& from) {
    const Machine::PortPlace& place = m_.ports[k];
    if (place.reg >= 0)
      m_.mov(Reg64(place.reg), from);
    else
      m_.mov(m_.slot(place.slot), from);
  }

  void load_ports() {
    for (std::size_t k = 0; k < m_.ports.size(); ++k) {
      const std::size_t out = k - p_.inputs.size();
      const bool input = k < p_.inputs.size();
      if (!input && out >= p_.outputs.size()) break;
      const std::size_t offset =
          input ? offsetof(LoopArgs, in) + 8 * k : offsetof(LoopArgs, out) + 8 * out;
      const Machine::PortPlace& place = m_.ports[k];
      if (place.reg >= 0) {
        m_.mov(Reg64(place.reg), arg(offset));
      } else {
        m_.mov(m_.r11, arg(offset));
        set_port(k, m_.r11);
      }
    }
    if (s_.scratch_rows == 0) return;
    m_.mov(m_.r10, arg(offsetof(LoopArgs, cols)));
    m_.lea(m_.r10, m_.ptr[m_.r10 * 8 + 63]);
    m_.and_(m_.r10, -64);
    m_.mov(m_.r11, arg(offsetof(LoopArgs, scratch)));
    for (int k = 0; k < s_.scratch_rows; ++k) {
      set_port(static_cast<std::size_t>(m_.scratch_port(k)), m_.r11);
      m_.add(m_.r11, m_.r10);
    }
    m_.sub(m_.r11, arg(offsetof(LoopArgs, scratch)));
    m_.mov(m_.slot(kScratchStep), m_.r11);
  }

  // To the next row, or back to the one before.
  void step_ports(bool back = false) {
    for (std::size_t k = 0; k < p_.inputs.size() + p_.outputs.size(); ++k) {
      const std::size_t out = k - p_.inputs.size();
      const std::size_t offset = k < p_.inputs.size() ? offsetof(LoopArgs, in_row_bytes) + 8 * k
                                                      : offsetof(LoopArgs, out_row_bytes) + 8 * out;
      step_port(k, arg(offset), back);
    }
  }

  // To the scratch rows of the second of two rows, or back.
  void step_scratch(bool back = false) {
    for (int k = 0; k < s_.scratch_rows; ++k)
      step_port(static_cast<std::size_t>(m_.scratch_port(k)), m_.slot(kScratchStep), back);
  }

  void step_port(std::size_t k, const Xbyak::Address& bytes, bool back) {
    const Machine::PortPlace& place = m_.ports[k];
    if (place.reg >= 0) {
      const Reg64 pointer(place.reg);
      back ? m_.sub(pointer, bytes) : m_.add(pointer, bytes);
    } else {
      const Xbyak::Address pointer = m_.slot(place.slot);
      m_.mov(m_.r11, bytes);
      back ? m_.sub(pointer, m_.r11) : m_.add(pointer, m_.r11);
    }
  }

  // Registers -----------------------------------------------------------------------------------

  // How many copies of the element code to interleave. One copy is a chain of dependent
  // instructions, longer than the processor looks ahead, so several keep it busier. That is worth
  // reading constants from memory and even spilling: measured on the functions of math.h, four
  // copies win for chains of 20 to 250 steps, two beyond that; short code wants its registers, and
  // rather two copies with all constants in registers than four without: it loads enough as it is.
  int choose_copies(const Sequence& body, int room) const {
    const std::size_t steps = body.steps.size();
    if (waits_for_divider(body)) return kMaxCopies;
    if (steps > kLongBody || body.live >= room - 2) return steps > kShortBody ? 2 : 1;
    if (steps >= kChain || body.need(4) + body.shared <= room) return 4;
    if (body.need(2) + body.shared <= room) return 2;
    if (steps > kShortBody && body.need(4) <= room) return 4;
    return body.need(2) <= room ? 2 : 1;
  }

  // Whether quotients and roots take longer than everything else. A vector of either keeps the
  // divider busy for 3 to 6 cycles, a cycle does two or three other steps.
  bool waits_for_divider(const Sequence& body) const {
    std::size_t roots = 0, quotients = 0;
    for (const Step& step : body.steps) {
      if (step.kind != Step::compute) continue;
      const Instr& i = p_.code[step.value];
      if (i.type != Type::f32) continue;
      roots += i.code == Code::sqrt;
      quotients += i.code == Code::div;
    }
    return roots > 0 && !s_.wide && 10 * roots + 7 * quotients > body.steps.size() &&
           m_.can_multiply_roots();
  }

  // What the columns of a pass keep in registers, from the highest down: accumulators, then the
  // constants and values per row that the element code reads most.
  struct PassPlan {
    std::vector<Machine::Accumulator> accumulators;
    std::vector<Machine::Pin> pins;
    int copies = 1, end = 0;  // registers from `end` on are taken
  };

  PassPlan plan_pass(std::size_t index, int extra) {
    const Pass& pass = s_.passes[index];
    const Sequence &body = code_.element[index], &row = code_.row[index];
    const int reductions = static_cast<int>(pass.reductions.size());
    PassPlan plan;
    int top = m_.register_count();
    const int least = std::clamp(body.need(1), 8, 10);  // enough for every single step
    const int in_registers = std::min(reductions, std::max(0, top - least) / group());
    top -= in_registers * group();
    for (int r = 0; r < reductions; ++r) {
      Machine::Accumulator acc{pass.reductions[static_cast<std::size_t>(r)], -1, -1};
      if (r < in_registers)
        acc.reg = top + r * group();
      else
        acc.slot = m_.new_slot(group() * m_.vector_bytes());
      plan.accumulators.push_back(acc);
    }
    plan.copies = choose_copies(body, top);
    if (reductions > 0) plan.copies = std::min(plan.copies, group());
    int need = std::max(reductions > 0 ? 5 : 0, body.need(plan.copies));
    if (rows_in_turn() == 1) need = std::max(need, std::min(row.need(1), 8));
    need += extra;

    std::vector<int> reads(p_.code.size());
    for (const Step& step : body.steps)
      for (int k = 0; k < step.reads; ++k) ++reads[step.read[k]];
    std::vector<std::uint16_t> hot;
    for (std::size_t v = 0; v < p_.code.size(); ++v)
      if (!s_.varies[v] && reads[v] > 0) hot.push_back(static_cast<std::uint16_t>(v));
    std::stable_sort(hot.begin(), hot.end(), [&](auto a, auto b) { return reads[a] > reads[b]; });
    if (static_cast<int>(hot.size()) > top - need)
      ++need;  // some will be loaded where they are used
    for (const std::uint16_t v : hot)
      if (top > need) plan.pins.push_back({v, --top});
    plan.end = top;
    return plan;
  }

  // Values per row that are read from memory, or that another pass pins.
  void place_row_values() {
    std::vector<bool> wanted(p_.code.size());
    const auto want = [&](const Sequence& sequence) {
      for (const Step& step : sequence.steps)
        for (int k = 0; k < step.reads; ++k) wanted[step.read[k]] = true;
    };
    for (const Sequence& sequence : code_.element) want(sequence);
    for (const Sequence& sequence : code_.row) want(sequence);
    if (rows_in_turn() == 1)
      for (const Machine::Pin& pin : plans_[0].pins) wanted[pin.value] = false;
    for (std::size_t v = 0; v < p_.code.size(); ++v)
      if (wanted[v] && !s_.varies[v] && p_.code[v].code != Code::constant)
        m_.set_home(static_cast<std::uint16_t>(v), m_.new_slot(rows_in_turn() * m_.vector_bytes()));
  }

  // Passes --------------------------------------------------------------------------------------

  // The last of four copies leaves the divider to the others where that is what they wait for.
  void emit(const Sequence& sequence, const Place& at, int copies = 1) {
    m_.begin_sequence();
    const bool spare = copies == kMaxCopies && waits_for_divider(sequence);
    for (const Step& step : sequence.steps)
      for (int k = 0; k < copies; ++k)
        m_.step(step, {.copy = at.copy + k,
                       .masked = at.masked,
                       .again = k + 1 < copies,
                       .spares_divider = spare && k == copies - 1});
  }

  // The only pass: what it pins stays, and values per row are made where they are pinned.
  void one_row(Label& row) {
    const PassPlan& plan = plans_[0];
    m_.set_pins(plan.pins, plan.end);
    for (const Machine::Pin& pin : plan.pins)
      if (p_.code[pin.value].code == Code::constant) m_.load_pin(pin);
    m_.L(row);
    row_values(0);
    if (s_.passes[0].has_columns()) columns(0);
  }

  void two_rows(Label& row, Label& exit) {
    const std::size_t passes = s_.passes.size();
    const std::size_t last = s_.passes.back().has_columns() ? passes - 1 : passes - 2;
    m_.L(row);
    for (std::size_t k = 0; k <= last; ++k) {
      Label next;
      part_of_row(k);
      m_.cmp(m_.rows, 1);
      m_.je(k == last ? exit : next);
      step_ports();
      step_scratch();
      m_.set_row(1);
      part_of_row(k);
      m_.set_row(0);
      step_scratch(true);
      if (k < last) step_ports(true);
      m_.L(next);
    }
  }

  // The columns of a pass, and then what the next one needs of this row.
  void part_of_row(std::size_t index) {
    const PassPlan& plan = plans_[index];
    const auto make_row_values = [&](std::size_t pass) {
      m_.set_pins({}, m_.register_count());
      row_values(pass);
    };
    if (index == 0) make_row_values(0);
    m_.set_pins(plan.pins, plan.end);
    for (const Machine::Pin& pin : plan.pins) m_.load_pin(pin);
    columns(index);
    if (index + 1 < plans_.size()) make_row_values(index + 1);
  }

  void row_values(std::size_t index) {
    m_.set_pass(index);
    if (!code_.row[index].steps.empty()) emit(code_.row[index], {});
  }

  bool sums_in_double(const Machine::Accumulator& acc) const {
    const Instr& i = p_.code[acc.value];
    return i.code == Code::reduce_sum && is_float(i.type);
  }

  void columns(std::size_t index) {
    m_.set_pass(index);
    m_.accumulators = plans_[index].accumulators;
    const bool reducing = !m_.accumulators.empty();
    const bool blocks = std::any_of(m_.accumulators.begin(), m_.accumulators.end(),
                                    [&](const auto& acc) { return sums_in_double(acc); });
    Label block, done;
    start_accumulators();
    m_.xor_(m_.index.cvt32(), m_.index.cvt32());
    if (blocks) {
      start_totals();
      m_.mov(m_.r11, arg(offsetof(LoopArgs, cols)));
      m_.mov(m_.slot(kColumnsLeft), m_.r11);
      m_.L(block);
      m_.mov(m_.remaining, m_.slot(kColumnsLeft));
      m_.mov(m_.r11d, kSumBlock);
      m_.cmp(m_.remaining, m_.r11);
      m_.cmovg(m_.remaining, m_.r11);
      m_.sub(m_.slot(kColumnsLeft), m_.remaining);
    } else {
      m_.mov(m_.remaining, arg(offsetof(LoopArgs, cols)));
    }
    loop(code_.element[index], plans_[index].copies, reducing ? group() : 1, done);
    m_.L(done);
    if (!reducing) return;
    m_.begin_sequence();
    if (blocks) {
      end_block();
      m_.cmp(m_.qword[m_.rsp + kColumnsLeft], 0);
      m_.jg(block);
    }
    finish_reductions();
  }

  // `turn` vectors belong together: the accumulators of a stripe, or 1. The main loop handles a
  // turn or the interleaved copies at a time; the rest goes vector by vector, and the last one is
  // masked.
  void loop(const Sequence& body, int copies, int turn, Label& done) {
    const int lanes = m_.lanes(), main = std::max(copies, turn);
    Label main_loop, rest, rest_loop;
    std::vector<Label> tails(static_cast<std::size_t>(turn));
    if (copies > 1) {
      m_.sub(m_.remaining, main * lanes);
      m_.jl(rest);
      m_.align(16);
      m_.L(main_loop);
      for (int k = 0; k < main; k += copies) emit(body, {.copy = k}, copies);
      m_.add(m_.index, main * lanes);
      m_.sub(m_.remaining, main * lanes);
      m_.jge(main_loop);
      m_.L(rest);
      m_.add(m_.remaining, main * lanes);
    }
    m_.align(16);
    m_.L(rest_loop);
    for (int k = 0; k < turn; ++k) {
      m_.sub(m_.remaining, lanes);
      m_.jl(tails[static_cast<std::size_t>(k)]);
      if (copies > 1 && turn > 1 && k == turn - 1) break;  // a whole turn is not left
      emit(body, {.copy = k});
    }
    m_.add(m_.index, turn * lanes);
    m_.jmp(rest_loop);
    for (int k = turn - 1; k >= 0; --k) {
      m_.L(tails[static_cast<std::size_t>(k)]);
      m_.add(m_.remaining, lanes);
      m_.jz(done);
      m_.begin_mask();
      emit(body, {.copy = k, .masked = true});
      if (k > 0) m_.jmp(done);
    }
  }

  // Reductions ----------------------------------------------------------------------------------

  int group() const { return m_.avx512() ? 2 : 4; }

  static std::uint64_t identity(const Instr& i) {
    const bool max = i.code == Code::reduce_max, prod = i.code == Code::reduce_prod;
    if (i.code == Code::reduce_sum) return 0;
    switch (i.type) {
      case Type::f32:
        return prod ? 0x3f800000 : max ? 0xff800000 : 0x7f800000;
      case Type::f64:
        return prod ? 0x3ff0000000000000 : max ? 0xfff0000000000000 : 0x7ff0000000000000;
      case Type::i32:
        return prod ? 1 : max ? 0x80000000 : 0x7fffffff;
      default:
        return prod ? 1 : max ? 1ull << 63 : ~0ull >> 1;
    }
  }

  void start_accumulator(const Machine::Accumulator& acc) {
    const Instr& i = p_.code[acc.value];
    const Xbyak::Address value = m_.pool(identity(i), is_wide(i.type));
    const int loaded = acc.reg >= 0 ? acc.reg : m_.temp();
    m_.vmovups(m_.vec(i.type, loaded), value);
    for (int k = 0; k < group(); ++k) {
      if (acc.reg < 0)
        m_.vmovups(m_.slot(acc.slot + k * m_.vector_bytes()), m_.vec(i.type, loaded));
      else if (k > 0)
        m_.vmovaps(m_.vec(i.type, acc.reg + k), m_.vec(i.type, loaded));
    }
  }

  void start_accumulators() {
    for (const Machine::Accumulator& acc : m_.accumulators) {
      m_.begin_sequence();
      start_accumulator(acc);
    }
  }

  // Adds the accumulators up in pairs, then the halves of what is left, until a register of half
  // the size of an AVX2 stripe's quarter remains: 8 or 4 lanes on either instruction set.
  int fold(const Machine::Accumulator& acc) {
    const Instr& i = p_.code[acc.value];
    int r[4];
    for (int k = 0; k < group(); ++k) {
      r[k] = acc.reg >= 0 ? acc.reg + k : m_.temp();
      if (acc.reg < 0) m_.vmovups(m_.vec(i.type, r[k]), m_.slot(acc.slot + k * m_.vector_bytes()));
    }
    const auto add = [&](int a, int b) { m_.combine(i.code, i.type, a, a, m_.vec(i.type, b)); };
    if (m_.avx512()) {
      add(r[0], r[1]);
      const int high = m_.temp();
      if (m_.half_width(i.type)) {
        m_.upper128(high, r[0]);
        m_.combine(i.code, i.type, r[0], r[0], m_.xmm(high));
      } else {
        m_.upper256(high, r[0]);
        m_.combine(i.code, i.type, r[0], r[0], m_.ymm(high));
      }
    } else {
      add(r[0], r[2]);
      add(r[1], r[3]);
      add(r[0], r[1]);
    }
    return r[0];
  }

  // Folds a ymm (or xmm) register to one lane and spreads that to all lanes.
  void fold_lanes(Code code, Type t, int r, bool ymm) {
    const int high = m_.temp();
    if (ymm) {
      m_.upper128(high, r);
      m_.combine(code, t, r, r, m_.xmm(high));
    }
    m_.vpshufd(m_.xmm(high), m_.xmm(r), 0x4e);
    m_.combine(code, t, r, r, m_.xmm(high));
    if (is_wide(t)) return;
    m_.vpshufd(m_.xmm(high), m_.xmm(r), 0xb1);
    m_.combine(code, t, r, r, m_.xmm(high));
  }

  void broadcast(Type t, int r) {
    is_wide(t) ? m_.vpbroadcastq(m_.full(r), m_.xmm(r)) : m_.vpbroadcastd(m_.vec(t, r), m_.xmm(r));
  }

  // The float64 totals of float sums: 8 in the frame, of which 4 are used in wide programs.
  void start_totals() {
    m_.begin_sequence();
    totals_.assign(m_.accumulators.size(), -1);
    const Xmm zero = m_.ymm(m_.temp());
    m_.vxorps(zero, zero, zero);
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      if (!sums_in_double(m_.accumulators[k])) continue;
      totals_[k] = m_.new_slot(64);
      m_.vmovups(m_.slot(totals_[k]), zero);
      if (!s_.wide) m_.vmovups(m_.slot(totals_[k] + 32), zero);
    }
  }

  void end_block() {
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      if (totals_[k] < 0) continue;
      const Machine::Accumulator& acc = m_.accumulators[k];
      m_.begin_sequence();
      const int r = fold(acc);
      const auto add_to_total = [&](const Xmm& x, int offset) {
        m_.vaddpd(x, x, m_.slot(totals_[k] + offset));
        m_.vmovups(m_.slot(totals_[k] + offset), x);
      };
      if (p_.code[acc.value].type == Type::f64) {
        add_to_total(m_.ymm(r), 0);
      } else {
        const Xmm low = m_.ymm(m_.temp());
        m_.vcvtps2pd(low, m_.xmm(r));
        add_to_total(low, 0);
        if (!s_.wide) {
          m_.upper128(r, r);
          m_.vcvtps2pd(m_.ymm(r), m_.xmm(r));
          add_to_total(m_.ymm(r), 32);
        }
      }
      m_.begin_sequence();
      start_accumulator(acc);
    }
  }

  void finish_reductions() {
    for (std::size_t k = 0; k < m_.accumulators.size(); ++k) {
      const Machine::Accumulator& acc = m_.accumulators[k];
      const Instr& i = p_.code[acc.value];
      m_.begin_sequence();
      int r;
      if (sums_in_double(acc)) {
        r = m_.temp();
        m_.vmovups(m_.ymm(r), m_.slot(totals_[k]));
        if (!s_.wide) m_.vaddpd(m_.ymm(r), m_.ymm(r), m_.slot(totals_[k] + 32));
        fold_lanes(Code::reduce_sum, Type::f64, r, true);
        if (i.type == Type::f32) m_.vcvtsd2ss(m_.xmm(r), m_.xmm(r), m_.xmm(r));
      } else {
        r = fold(acc);
        fold_lanes(i.code, i.type, r, !m_.half_width(i.type));
      }
      broadcast(i.type, r);
      m_.set_row_value(acc.value, r);
    }
  }

  const Program& p_;
  const Schedule& s_;
  const Sequences code_;
  Machine m_;
  std::vector<PassPlan> plans_;  // by pass
  std::vector<int> totals_;
  std::size_t frame_patch_ = 0;
  int saved_ = 0;
};

}  // namespace

bool supported(Isa isa) {
  using Cpu = Xbyak::util::Cpu;
  static const Cpu cpu;
  switch (isa) {
    case Isa::interpreter:
      return true;
    case Isa::avx2:
      return cpu.has(Cpu::tAVX2) && cpu.has(Cpu::tFMA) && cpu.has(Cpu::tF16C) &&
             cpu.has(Cpu::tBMI2);
    default:
      return supported(Isa::avx2) && cpu.has(Cpu::tAVX512F) && cpu.has(Cpu::tAVX512BW) &&
             cpu.has(Cpu::tAVX512DQ) && cpu.has(Cpu::tAVX512VL);
  }
}

Emitted emit(const Program& lowered, const Schedule& schedule, Isa isa) {
  constexpr std::size_t kUsualSize = 1 << 16, kLargest = 1 << 26;
  thread_local std::vector<std::uint8_t> usual(kUsualSize);
  std::vector<std::uint8_t> large;
  int extra = 0;
  for (;;) {
    std::vector<std::uint8_t>& buffer = large.empty() ? usual : large;
    try {
      Emission emission(buffer, lowered, schedule, isa, extra);
      const std::size_t size = emission.run();
      Emitted result{.entry = nullptr,
                     .memory = executable_copy(buffer.data(), size),
                     .bytes = size,
                     .rows_in_turn = emission.rows_in_turn()};
      if (result.memory == nullptr) return {};
      const auto* code = static_cast<const std::uint8_t*>(result.memory.get()) + emission.entry();
      std::memcpy(&result.entry, &code, sizeof(code));
      return result;
    } catch (const NotCovered&) {
      return {};
    } catch (const OutOfRegisters&) {
      if (++extra > 8) return {};
    } catch (const Xbyak::Error& error) {
      if (error != Xbyak::ERR_CODE_IS_TOO_BIG || buffer.size() >= kLargest) return {};
      large.resize(buffer.size() * 8);
    }
  }
}

}  // namespace gradus::expr
