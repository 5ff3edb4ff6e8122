#include "expr/schedule.h"

#include <algorithm>

#include "base/check.h"

namespace gradus::expr {
namespace {

// What making a value again would cost, in instructions; a value above kKeepAbove is kept instead.
constexpr int kKeepAbove = 6;

int cost_of(const Instr& i) {
  switch (i.code) {
    case Code::input:
    case Code::constant:
      return 1;
    case Code::div:
    case Code::sqrt:
    case Code::rem:
    case Code::assist:
      return 4;
    default:
      return 1;
  }
}

class Scheduler {
 public:
  explicit Scheduler(const Program& p) : p_(p) {
    const std::size_t n = p.code.size();
    level_.assign(n, 0);
    s_.varies.assign(n, false);
    s_.scratch.assign(n, -1);
  }

  Schedule run() {
    find_levels();
    std::size_t last = 0;
    for (const Output& o : p_.outputs) last = std::max<std::size_t>(last, level_[o.value]);
    s_.passes.resize(last + 1);
    for (std::size_t k = 0; k < p_.outputs.size(); ++k) {
      const Output& o = p_.outputs[k];
      Pass& pass = s_.passes[level_[o.value]];
      (o.per_row ? pass.row_outputs : pass.outputs).push_back(static_cast<std::uint16_t>(k));
    }
    for (std::size_t v = 0; v < p_.code.size(); ++v) {
      const Instr& i = p_.code[v];
      const auto id = static_cast<std::uint16_t>(v);
      if (is_reduction(i.code)) s_.passes[level_[i.a]].reductions.push_back(id);
      if (i.code == Code::constant)
        s_.constants.push_back(id);
      else if (!s_.varies[v])
        s_.passes[level_[v]].row.push_back(id);
    }
    s_.made.assign(p_.code.size(), s_.passes.size());
    for (std::size_t pass = 0; pass < s_.passes.size(); ++pass) collect(pass);
    return std::move(s_);
  }

 private:
  void find_levels() {
    for (std::size_t v = 0; v < p_.code.size(); ++v) {
      const Instr& i = p_.code[v];
      s_.wide = s_.wide || is_wide(i.type);
      if (i.code == Code::input) s_.varies[v] = p_.inputs[i.a].varies_along_row;
      for (int k = 0; k < operand_count(i); ++k) {
        const std::uint16_t u = operand(i, k);
        level_[v] = std::max(level_[v], level_[u]);
        if (s_.varies[u]) s_.varies[v] = true;
      }
      if (is_reduction(i.code)) {
        ++level_[v];
        s_.varies[v] = false;
      }
    }
  }

  // All values per element that a pass needs, in order. Only what an earlier pass makes for its own
  // sake can be kept.
  void collect(std::size_t index) {
    Pass& pass = s_.passes[index];
    std::vector<bool> in(p_.code.size());
    std::vector<std::uint16_t> todo;
    const auto want = [&](std::uint16_t v) {
      if (!s_.varies[v] || in[v]) return;
      in[v] = true;
      todo.push_back(v);
    };
    for (const std::uint16_t k : pass.outputs) want(p_.outputs[k].value);
    for (const std::uint16_t r : pass.reductions) want(p_.code[r].a);
    while (!todo.empty()) {
      const std::uint16_t v = todo.back();
      todo.pop_back();
      pass.element.push_back(v);
      if (s_.made[v] < index && must_keep(v)) {
        if (s_.scratch[v] < 0) {
          s_.scratch[v] = static_cast<std::int16_t>(s_.scratch_rows++);
          s_.passes[s_.made[v]].saves.push_back(v);
        }
        continue;
      }
      s_.made[v] = std::min(s_.made[v], static_cast<std::uint16_t>(index));
      for (int k = 0; k < operand_count(p_.code[v]); ++k) want(operand(p_.code[v], k));
    }
    std::sort(pass.element.begin(), pass.element.end());
  }

  // Counts the values that making v again needs, up to the limit. Masks are always made again: they
  // have no storage of their own, and what they compare is kept if it is dear.
  bool must_keep(std::uint16_t v) const {
    if (p_.code[v].type == Type::mask) return false;
    if (s_.scratch[v] >= 0) return true;
    std::vector<std::uint16_t> seen{v};
    int cost = 0;
    for (std::size_t k = 0; k < seen.size(); ++k) {
      const Instr& i = p_.code[seen[k]];
      cost += cost_of(i);
      if (cost > kKeepAbove) return true;
      if (s_.scratch[seen[k]] >= 0) continue;
      for (int o = 0; o < operand_count(i); ++o) {
        const std::uint16_t u = operand(i, o);
        if (s_.varies[u] && std::find(seen.begin(), seen.end(), u) == seen.end()) seen.push_back(u);
      }
    }
    return false;
  }

  const Program& p_;
  Schedule s_;
  std::vector<std::uint16_t> level_;  // by value: reductions that must be complete before it
};

}  // namespace

Schedule make_schedule(const Program& p) { return Scheduler(p).run(); }

}  // namespace gradus::expr
