// Building programs: value numbering, folding, and the order of the finished code.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "expr/expr.h"
#include "expr/fn.h"
#include "expr/rewrite.h"
#include "expr/tile_ops.h"

namespace gradus::expr {
namespace {

std::size_t hash_instr(const Instr& i) {
  std::uint64_t h = static_cast<std::uint64_t>(i.code) << 56 |
                    static_cast<std::uint64_t>(i.type) << 48 | std::uint64_t{i.a} << 32 |
                    std::uint64_t{i.b} << 16 | i.c;
  h = (h ^ i.bits) * 0x9e3779b97f4a7c15ull;
  h = (h ^ (h >> 32) ^ reinterpret_cast<std::uintptr_t>(i.fn)) * 0xd6e8feb86659fd93ull;
  return h ^ (h >> 32);
}

bool is_stored_as_computed(DType t) {
  return t == int32 || t == int64 || t == uint64 || t == float32 || t == float64;
}

bool foldable(Code c) {
  return c != Code::input && c != Code::constant && c != Code::call && !is_reduction(c);
}

}  // namespace

std::uint64_t bits_of(Type type, double value) {
  std::uint64_t lanes[kTileStep] = {};
  double from[kTileStep];
  std::fill(from, from + kTileStep, value);
  if (type == Type::f64) return std::bit_cast<std::uint64_t>(value);
  tile_fn({Code::convert, type}, Type::f64)(lanes, from, nullptr, nullptr, kTileStep);
  const std::uint64_t mask = type == Type::mask ? 0xff : is_wide(type) ? ~0ull : 0xffffffffull;
  return lanes[0] & mask;
}

Type Expr::type() const { return builder_->instr(id_).type; }

Builder::Builder() : table_(128) { code_.reserve(64); }

Expr Builder::input(DType dtype, bool varies_along_row) {
  const auto port = static_cast<std::uint16_t>(inputs_.size());
  inputs_.push_back({dtype, varies_along_row});
  return {this, insert({Code::input, type_of(dtype), port})};
}

void Builder::output(Expr value, DType dtype, bool per_row) {
  GRADUS_ASSERT(&value.builder() == this);
  if (outputs_.size() == kMaxOutputs)
    fail<InvalidArgumentError>("[expr] got more than ", kMaxOutputs,
                               " outputs; split the expression into two programs");
  if (value.type() != type_of(dtype))
    fail<InvalidArgumentError>("[expr] got an output of type ", name_of(value.type()),
                               " for dtype ", gradus::name_of(dtype), "; convert it to ",
                               name_of(type_of(dtype)), " first");
  if (per_row && varies(value.id()))
    fail<InvalidArgumentError>(
        "[expr] got a per-row output that varies along the row; reduce it first, e.g. by row_sum");
  outputs_.push_back({value.id(), dtype, per_row});
}

void Builder::output_added(Expr value, DType dtype) {
  if (!is_stored_as_computed(dtype))
    fail<InvalidArgumentError>("[expr] got an added output of dtype ", gradus::name_of(dtype),
                               "; sums are kept in the type they are computed in, int32, int64, "
                               "uint64, float32 or float64");
  output(value, dtype);
  outputs_.back().adds = true;
}

Expr Builder::constant(Type type, double value) {
  return constant_bits(type, bits_of(type, value));
}

Expr Builder::constant_bits(Type type, std::uint64_t bits) {
  return {this, insert({.code = Code::constant, .type = type, .bits = bits})};
}

Expr Builder::emit(Instr instr) {
  if (fold(instr)) return {this, insert(instr)};
  if (const Expr same = simplify(*this, instr); same.valid()) return same;
  if (lowering_)
    if (const Expr lowered = legalise(*this, instr); lowered.valid()) return lowered;
  return {this, insert(instr)};
}

std::uint16_t Builder::insert(const Instr& instr) {
  const std::size_t wrap = table_.size() - 1;
  std::size_t slot = hash_instr(instr) & wrap;
  for (; table_[slot] != 0; slot = (slot + 1) & wrap)
    if (code_[table_[slot] - 1] == instr) return static_cast<std::uint16_t>(table_[slot] - 1);
  if (code_.size() == 0xffff)
    fail<InvalidArgumentError>("[expr] got more than 65535 values; split the expression");
  bool varies = instr.code == Code::input && inputs_[instr.a].varies_along_row;
  if (!is_reduction(instr.code))
    for (int k = 0; k < operand_count(instr); ++k) varies = varies || varies_[operand(instr, k)];
  code_.push_back(instr);
  varies_.push_back(varies);
  table_[slot] = static_cast<std::uint32_t>(code_.size());
  if (code_.size() * 2 > table_.size()) {
    table_.assign(table_.size() * 2, 0);
    for (std::size_t id = 0; id < code_.size(); ++id) {
      std::size_t at = hash_instr(code_[id]) & (table_.size() - 1);
      while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
      table_[at] = static_cast<std::uint32_t>(id + 1);
    }
  }
  return static_cast<std::uint16_t>(code_.size() - 1);
}

bool Builder::fold(Instr& instr) const {
  if (!foldable(instr.code)) return false;
  const int count = operand_count(instr);
  for (int k = 0; k < count; ++k)
    if (code_[operand(instr, k)].code != Code::constant) return false;
  std::uint64_t lanes[4][kTileStep] = {};
  for (int k = 0; k < count; ++k) lanes[k][0] = code_[operand(instr, k)].bits;
  tile_fn(instr, code_[instr.a].type)(lanes[3], lanes[0], lanes[1], lanes[2], kTileStep);
  const std::uint64_t used = instr.type == Type::mask ? 0xff
                             : is_wide(instr.type)    ? ~0ull
                                                      : 0xffffffffull;
  instr = {.code = Code::constant, .type = instr.type, .bits = lanes[3][0] & used};
  return true;
}

std::vector<Expr> Builder::append(const Program& p, std::span<const Expr> inputs) {
  GRADUS_ASSERT(inputs.size() == p.inputs.size());
  std::vector<std::uint16_t> now(p.code.size());
  for (std::size_t v = 0; v < p.code.size(); ++v) {
    Instr i = p.code[v];
    if (i.code == Code::input) {
      GRADUS_ASSERT(inputs[i.a].valid() && inputs[i.a].type() == i.type);
      now[v] = inputs[i.a].id();
      continue;
    }
    const int count = operand_count(i);
    if (count > 0) i.a = now[i.a];
    if (count > 1) i.b = now[i.b];
    if (count > 2) i.c = now[i.c];
    now[v] = emit(i).id();
  }
  std::vector<Expr> outputs;
  for (const Output& o : p.outputs) outputs.push_back(narrow({this, now[o.value]}, o.dtype));
  return outputs;
}

// The order is a depth first walk from the outputs that visits the operand needing more registers
// first (Sethi and Ullman's rule, a heuristic where values are shared).
Program Builder::finish() const {
  std::vector<std::uint8_t> need(code_.size());
  for (std::size_t v = 0; v < code_.size(); ++v) {
    const Instr& i = code_[v];
    const int count = operand_count(i);
    std::uint8_t n[3] = {};
    if (i.code == Code::constant) continue;
    for (int k = 0; k < count; ++k) n[k] = need[operand(i, k)];
    std::sort(n, n + 3, std::greater<>());
    need[v] = std::max<std::uint8_t>(1, n[0]);
    for (int k = 1; k < count; ++k)
      if (n[k] > 0) need[v] = std::max<std::uint8_t>(need[v], std::min(n[k] + k, 250));
  }

  Program p;
  p.inputs = inputs_;
  constexpr std::uint32_t kUnseen = ~0u, kOpen = ~0u - 1;
  std::vector<std::uint32_t> place(code_.size(), kUnseen);
  std::vector<std::uint16_t> stack;
  for (const Output& output : outputs_) {
    stack.push_back(output.value);
    while (!stack.empty()) {
      const std::uint16_t v = stack.back();
      Instr i = code_[v];
      const int count = operand_count(i);
      if (place[v] == kUnseen) {
        place[v] = kOpen;
        std::uint16_t order[3];  // the last one pushed is visited first
        for (int k = 0; k < count; ++k) order[k] = operand(i, count - 1 - k);
        std::stable_sort(order, order + count, [&](auto x, auto y) { return need[x] < need[y]; });
        for (int k = 0; k < count; ++k)
          if (place[order[k]] == kUnseen) stack.push_back(order[k]);
        continue;
      }
      stack.pop_back();
      if (place[v] != kOpen) continue;
      place[v] = static_cast<std::uint32_t>(p.code.size());
      if (count > 0) i.a = static_cast<std::uint16_t>(place[i.a]);
      if (count > 1) i.b = static_cast<std::uint16_t>(place[i.b]);
      if (count > 2) i.c = static_cast<std::uint16_t>(place[i.c]);
      p.code.push_back(i);
    }
    p.outputs.push_back({static_cast<std::uint16_t>(place[output.value]), output.dtype,
                         output.per_row, output.adds});
  }
  return p;
}

Program lower(const Program& p) {
  Builder b;
  b.lowering_ = true;
  std::vector<Expr> inputs;
  for (const Port& port : p.inputs) inputs.push_back(b.input(port.dtype, port.varies_along_row));
  std::vector<std::uint16_t> now(p.code.size());
  for (std::size_t v = 0; v < p.code.size(); ++v) {
    Instr i = p.code[v];
    const int count = operand_count(i);
    if (count > 0) i.a = now[i.a];
    if (count > 1) i.b = now[i.b];
    if (count > 2) i.c = now[i.c];
    if (i.code == Code::input)
      now[v] = inputs[i.a].id();
    else
      now[v] = b.emit(i).id();
  }
  for (const Output& o : p.outputs) {
    const Expr value(&b, now[o.value]);
    o.adds ? b.output_added(value, o.dtype) : b.output(value, o.dtype, o.per_row);
  }
  return b.finish();
}

}  // namespace gradus::expr
