#include "expr/kernel.h"

#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "expr/emitter.h"
#include "expr/interpreter.h"
#include "expr/schedule.h"
#include "expr/sequence.h"

namespace gradus::expr {
namespace {

Isa detect() {
  const char* wish = std::getenv("GRADUS_ISA");
  for (const Isa isa : {Isa::avx512, Isa::avx2}) {
    const bool allowed = wish == nullptr || std::strcmp(wish, name_of(isa)) == 0 ||
                         (isa == Isa::avx2 && std::strcmp(wish, "avx512") == 0);
    if (allowed && supported(isa)) return isa;
  }
  return Isa::interpreter;
}

// Notes when each input is read for the last time and when each output is written.
void find_shares(const Program& p, const Schedule& schedule, Kernel::Parts& parts) {
  const Sequences code = make_sequences(p, schedule);
  parts.last_read.resize(p.inputs.size());
  parts.written.resize(p.outputs.size());
  std::size_t now = 0;
  for (std::size_t pass = 0; pass < schedule.passes.size(); ++pass) {
    for (const Step& step : code.element[pass].steps) {
      ++now;
      const auto reads = [&](std::uint16_t v) {
        if (p.code[v].code == Code::input && !schedule.read_back(v, pass))
          parts.last_read[p.code[v].a] = now;
      };
      if (step.kind == Step::compute) reads(step.value);
      for (int k = 0; k < step.reads; ++k) reads(step.read[k]);
      if (step.kind == Step::store) parts.written[step.index] = now;
    }
    for (const std::uint16_t o : schedule.passes[pass].row_outputs) parts.written[o] = now;
  }
}

}  // namespace

const char* name_of(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return "avx512";
    case Isa::avx2:
      return "avx2";
    default:
      return "interpreter";
  }
}

Isa best_isa() {
  static const Isa best = detect();
  return best;
}

bool Kernel::run_as_one_row(const LoopArgs& args) const {
  if (!parts_->one_pass || args.rows < 1) return false;
  for (std::size_t k = 0; k < parts_->inputs.size(); ++k) {
    const Port& port = parts_->inputs[k];
    const std::int64_t row =
        port.varies_along_row ? args.cols * static_cast<std::int64_t>(size_of(port.dtype)) : 0;
    if (args.in_row_bytes[k] != row) return false;
  }
  for (std::size_t k = 0; k < parts_->outputs.size(); ++k) {
    const Output& o = parts_->outputs[k];
    if (o.per_row ||
        args.out_row_bytes[k] != args.cols * static_cast<std::int64_t>(size_of(o.dtype)))
      return false;
  }
  LoopArgs one = args;
  one.rows = 1;
  one.cols = args.rows * args.cols;
  entry_(&one, state_);
  return true;
}

Kernel compile(const Program& p, Isa isa) {
  if (p.inputs.size() > kMaxInputs)
    fail<InvalidArgumentError>("[expr] got ", p.inputs.size(), " inputs; a kernel has at most ",
                               kMaxInputs, "; split the expression into two programs");
  const Program lowered = lower(p);
  const Schedule schedule = make_schedule(lowered);
  auto shared = std::make_shared<Kernel::Parts>();
  Kernel::Parts& parts = *shared;
  parts.inputs = lowered.inputs;
  parts.outputs = lowered.outputs;
  parts.scratch_rows = schedule.scratch_rows;
  find_shares(lowered, schedule, parts);
  parts.one_pass = schedule.passes.size() == 1 && schedule.passes[0].reductions.empty();
  if (isa != Isa::interpreter && supported(isa)) {
    if (Emitted emitted = emit(lowered, schedule, isa); emitted.entry != nullptr) {
      parts.entry = emitted.entry;
      parts.state = std::move(emitted.memory);
      parts.code_bytes = emitted.bytes;
      parts.scratch_rows *= emitted.rows_in_turn;
      parts.isa = isa;
      return Kernel(std::move(shared));
    }
  }
  parts.entry = run_interpreted;
  parts.state = interpret(lowered);
  return Kernel(std::move(shared));
}

}  // namespace gradus::expr
