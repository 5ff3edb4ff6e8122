#include "expr/kernel.h"

#include <cstdlib>
#include <cstring>

#include "expr/emitter.h"
#include "expr/interpreter.h"
#include "expr/schedule.h"

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
  const Program lowered = lower(p);
  const Schedule schedule = make_schedule(lowered);
  auto shared = std::make_shared<Kernel::Parts>();
  Kernel::Parts& parts = *shared;
  parts.inputs = lowered.inputs;
  parts.outputs = lowered.outputs;
  parts.scratch_rows = schedule.scratch_rows;
  parts.last_read.resize(lowered.inputs.size());
  parts.written.resize(lowered.outputs.size());
  for (std::size_t k = 0; k < schedule.passes.size(); ++k) {
    const Pass& pass = schedule.passes[k];
    const auto number = static_cast<std::uint16_t>(k);
    for (const std::uint16_t v : pass.element)
      if (lowered.code[v].code == Code::input && !schedule.read_back(v, k))
        parts.last_read[lowered.code[v].a] = number;
    for (const std::uint16_t o : pass.outputs) parts.written[o] = number;
    for (const std::uint16_t o : pass.row_outputs) parts.written[o] = number;
  }
  parts.one_pass = schedule.passes.size() == 1 && schedule.passes[0].reductions.empty();
  if (isa != Isa::interpreter && supported(isa)) {
    if (Emitted emitted = emit(lowered, schedule, isa); emitted.entry != nullptr) {
      parts.entry = emitted.entry;
      parts.state = std::move(emitted.memory);
      parts.code_bytes = emitted.bytes;
      parts.isa = isa;
      return Kernel(std::move(shared));
    }
  }
  parts.entry = run_interpreted;
  parts.state = interpret(lowered);
  return Kernel(std::move(shared));
}

}  // namespace gradus::expr
