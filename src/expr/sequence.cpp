#include "expr/sequence.h"

namespace gradus::expr {
namespace {

// Registers that a step needs beside its operands and its result.
int scratch_need(const Program& p, const Schedule& s, const Step& step, bool masked) {
  const Instr& i = p.code[step.value];
  const int tail = masked ? 1 : 0;
  switch (step.kind) {
    case Step::store:
    case Step::store_row:
      switch (p.outputs[step.index].dtype) {
        case DType::bfloat16:
          return 4 + tail;
        case DType::int8:
        case DType::int16:
        case DType::uint8:
        case DType::uint16:
          return 2 + tail;
        case DType::bool_:
        case DType::float16:
        case DType::uint32:
          return 1 + tail;
        default:
          return tail + (p.outputs[step.index].adds ? 1 : 0);
      }
    case Step::save:
      return tail;
    case Step::accumulate:
      return 3 + 2 * tail;
    default:
      break;
  }
  switch (i.code) {
    case Code::min:
    case Code::max:
      return p.code[i.a].code == Code::constant ? 0 : 1;
    case Code::mul:
      return is_int(i.type) && is_wide(i.type) ? 2 : 0;
    case Code::narrow:
      return 2;
    case Code::assist:
      return 1;
    case Code::input:
      return i.type == Type::mask ? 1 : 0;
    case Code::select:
    case Code::keep:
    case Code::drop:
      return s.wide && !is_wide(i.type) ? 1 : 0;
    default:
      return 0;
  }
}

// Whether the result can take the register of an operand that dies: one machine instruction does
// it.
bool overwrites(const Program& p, const Instr& i) {
  switch (i.code) {
    case Code::min:
    case Code::max:
      return p.code[i.a].code == Code::constant;
    case Code::mul:
      return !is_int(i.type) || !is_wide(i.type);
    case Code::select:
    case Code::narrow:
    case Code::convert:
    case Code::assist:
      return false;
    default:
      return true;
  }
}

class Sequencer {
 public:
  Sequencer(const Program& p, const Schedule& s) : p_(p), s_(s) {}

  Sequences run() {
    find_lazy_inputs();
    for (std::size_t k = 0; k < s_.passes.size(); ++k) {
      all_.row.push_back(row_sequence(s_.passes[k]));
      all_.element.push_back(element_sequence(k));
    }
    return std::move(all_);
  }

 private:
  // Full-size inputs that are read once or twice become memory operands of the instructions that
  // read them: loading again is cheaper than a register that is held meanwhile.
  void find_lazy_inputs() {
    std::vector<int> reads(p_.code.size());
    for (const Instr& i : p_.code)
      for (int k = 0; k < operand_count(i); ++k) ++reads[operand(i, k)];
    for (const Output& o : p_.outputs) reads[o.value] += 3;
    all_.lazy.resize(p_.code.size());
    for (std::size_t v = 0; v < p_.code.size(); ++v) {
      const Instr& i = p_.code[v];
      if (i.code != Code::input || reads[v] == 0 || reads[v] > 2 || !s_.varies[v]) continue;
      const std::size_t bytes = size_of(p_.inputs[i.a].dtype);
      all_.lazy[v] = bytes == (is_wide(i.type) ? 8u : 4u) && i.type != Type::mask;
    }
  }

  void add(Sequence& sequence, Step step, bool read_back = false) const {
    const Instr& i = p_.code[step.value];
    if (step.kind != Step::compute) {
      step.read[step.reads++] = step.value;
    } else if (i.code != Code::input && !read_back) {
      const bool shift = i.code == Code::shl || i.code == Code::shr || i.code == Code::sar;
      for (int k = 0; k < operand_count(i); ++k) {
        const std::uint16_t v = operand(i, k);
        if (shift && k == 1 && p_.code[v].code == Code::constant) continue;  // is an immediate
        step.read[step.reads++] = v;
      }
    }
    sequence.steps.push_back(step);
  }

  Sequence row_sequence(const Pass& pass) const {
    Sequence sequence;
    for (const std::uint16_t v : pass.row)
      if (!is_reduction(p_.code[v].code)) add(sequence, {.kind = Step::compute, .value = v});
    for (const std::uint16_t k : pass.row_outputs)
      add(sequence, {.kind = Step::store_row, .value = p_.outputs[k].value, .index = k});
    finish(sequence);
    return sequence;
  }

  Sequence element_sequence(std::size_t index) const {
    const Pass& pass = s_.passes[index];
    Sequence sequence;
    const auto store = [&](std::uint16_t k) {
      add(sequence, {.kind = Step::store, .value = p_.outputs[k].value, .index = k});
    };
    for (const std::uint16_t v : pass.element) {
      if (!all_.lazy[v]) add(sequence, {.kind = Step::compute, .value = v}, s_.read_back(v, index));
      if (std::find(pass.saves.begin(), pass.saves.end(), v) != pass.saves.end())
        add(sequence,
            {.kind = Step::save, .value = v, .index = static_cast<std::uint16_t>(s_.scratch[v])});
      accumulate(sequence, pass, v);
      for (const std::uint16_t k : pass.outputs)
        if (p_.outputs[k].value == v) store(k);
    }
    std::vector<std::uint16_t> uniform;
    for (const std::uint16_t r : pass.reductions)
      if (!s_.varies[p_.code[r].a]) uniform.push_back(p_.code[r].a);
    std::sort(uniform.begin(), uniform.end());
    uniform.erase(std::unique(uniform.begin(), uniform.end()), uniform.end());
    for (const std::uint16_t v : uniform) accumulate(sequence, pass, v);
    for (const std::uint16_t k : pass.outputs)
      if (!s_.varies[p_.outputs[k].value]) store(k);
    finish(sequence);
    return sequence;
  }

  void accumulate(Sequence& sequence, const Pass& pass, std::uint16_t v) const {
    for (std::size_t r = 0; r < pass.reductions.size(); ++r)
      if (p_.code[pass.reductions[r]].a == v)
        add(sequence,
            {.kind = Step::accumulate, .value = v, .index = static_cast<std::uint16_t>(r)});
  }

  // Fills in the next uses and the needs.
  void finish(Sequence& sequence) const {
    std::vector<std::uint32_t> next(p_.code.size(), kNever);
    for (std::size_t n = sequence.steps.size(); n-- > 0;) {
      Step& step = sequence.steps[n];
      if (step.kind == Step::compute) step.next_of_result = next[step.value];
      for (int k = 0; k < step.reads; ++k) step.next[k] = next[step.read[k]];
      for (int k = 0; k < step.reads; ++k) {
        std::uint32_t& use = next[step.read[k]];
        if (use == kNever && !s_.varies[step.read[k]]) ++sequence.shared;
        use = static_cast<std::uint32_t>(n);
      }
    }
    std::vector<bool> live(p_.code.size());
    int count = 0;
    for (const Step& step : sequence.steps) {
      int loaded = 0, freed = 0;
      for (int k = 0; k < step.reads; ++k) {
        const std::uint16_t v = step.read[k];
        loaded += all_.lazy[v];
        if (live[v] && step.next[k] == kNever) live[v] = false, ++freed;
      }
      int now = count + std::max(0, loaded - 1);
      if (step.kind == Step::compute && (freed == 0 || !overwrites(p_, p_.code[step.value]))) ++now;
      count -= freed;
      if (step.kind == Step::compute && step.next_of_result != kNever)
        live[step.value] = true, ++count;
      sequence.live = std::max({sequence.live, now, count});
      sequence.scratch = std::max(sequence.scratch, scratch_need(p_, s_, step, false));
      sequence.masked_scratch = std::max(sequence.masked_scratch, scratch_need(p_, s_, step, true));
    }
  }

  const Program& p_;
  const Schedule& s_;
  Sequences all_;
};

}  // namespace

Sequences make_sequences(const Program& p, const Schedule& s) { return Sequencer(p, s).run(); }

}  // namespace gradus::expr
