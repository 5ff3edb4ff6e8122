#include "graph/expression_pieces.h"

#include <algorithm>

#include "base/check.h"
#include "expr/expr.h"

namespace gradus {
namespace {

using expr::Code;
using expr::Expr;
using expr::Instr;
using Sources = std::vector<int>;  // sorted

class Splitter {
 public:
  Splitter(const expr::Program& whole, std::size_t max_inputs)
      : whole_(whole), max_inputs_(max_inputs), sources_(whole.code.size()) {
    GRADUS_ASSERT(max_inputs >= 3 && whole.outputs.size() == 1);
  }

  std::vector<ExpressionPiece> run() {
    for (std::size_t v = 0; v < whole_.code.size(); ++v) {
      const Instr& i = whole_.code[v];
      if (i.code == Code::input) {
        sources_[v] = {i.a};
        continue;
      }
      while (!gather(v)) cut(largest_operand(i));
    }
    cut(whole_.outputs[0].value);
    return std::move(pieces_);
  }

 private:
  // The sources of a value are those of its operands; false if they are too many.
  bool gather(std::size_t v) {
    Sources all;
    for (int k = 0; k < operand_count(whole_.code[v]); ++k) {
      const Sources& more = sources_[operand(whole_.code[v], k)];
      Sources both;
      std::ranges::set_union(all, more, std::back_inserter(both));
      all = std::move(both);
    }
    sources_[v] = std::move(all);
    return sources_[v].size() <= max_inputs_;
  }

  std::uint16_t largest_operand(const Instr& i) const {
    std::uint16_t largest = operand(i, 0);
    for (int k = 1; k < operand_count(i); ++k)
      if (sources_[operand(i, k)].size() > sources_[largest].size()) largest = operand(i, k);
    return largest;
  }

  void cut(std::uint16_t v) {
    const expr::Type type = whole_.code[v].type;
    GRADUS_ASSERT(expr::is_float(type) || type == expr::Type::mask);
    pieces_.push_back({program_of(v), sources_[v]});
    cut_off_[v] = static_cast<int>(whole_.inputs.size() + pieces_.size()) - 1;
    sources_[v] = {cut_off_[v]};
  }

  // What computes a value from its sources.
  expr::Program program_of(std::uint16_t value) const {
    expr::Builder builder;
    std::vector<Expr> now(value + 1u), inputs;
    for (const int source : sources_[value]) inputs.push_back(builder.input(dtype_of(source)));
    // None where a value was cut off after this one had got its sources: it is computed again.
    const auto input_at = [&](std::uint16_t v) {
      const Instr& i = whole_.code[v];
      const int source = i.code == Code::input ? i.a : cut_off_[v];
      const auto at = std::ranges::lower_bound(sources_[value], source);
      const bool found = at != sources_[value].end() && *at == source;
      return found ? inputs[static_cast<std::size_t>(at - sources_[value].begin())] : Expr();
    };
    std::vector<std::uint16_t> stack{value};
    while (!stack.empty()) {
      const std::uint16_t v = stack.back();
      Instr i = whole_.code[v];
      if (now[v] = input_at(v); !now[v].valid()) {
        bool ready = true;
        for (int k = 0; k < operand_count(i); ++k) {
          if (now[operand(i, k)].valid()) continue;
          stack.push_back(operand(i, k));
          ready = false;
        }
        if (!ready) continue;
        const int count = operand_count(i);
        if (count > 0) i.a = now[i.a].id();
        if (count > 1) i.b = now[i.b].id();
        if (count > 2) i.c = now[i.c].id();
        now[v] = i.code == Code::constant ? builder.constant_bits(i.type, i.bits) : builder.emit(i);
      }
      stack.pop_back();
    }
    builder.output(now[value], expr::dtype_of(whole_.code[value].type));
    return builder.finish();
  }

  DType dtype_of(int source) const {
    const auto s = static_cast<std::size_t>(source);
    return s < whole_.inputs.size() ? whole_.inputs[s].dtype
                                    : pieces_[s - whole_.inputs.size()].program.outputs[0].dtype;
  }

  const expr::Program& whole_;
  std::size_t max_inputs_;
  std::vector<Sources> sources_;                                         // by value
  std::vector<int> cut_off_ = std::vector<int>(whole_.code.size(), -1);  // by value: its source
  std::vector<ExpressionPiece> pieces_;
};

}  // namespace

std::vector<ExpressionPiece> split_expression(const expr::Program& whole, std::size_t max_inputs) {
  return Splitter(whole, max_inputs).run();
}

}  // namespace gradus
