// Reads and writes of a variable whose order no dependency decides, and values that are still used
// when the variable has another.
#include <algorithm>
#include <map>
#include <sstream>

#include "session/session_plan.h"

namespace gradus {
namespace {

class Races {
 public:
  Races(const GraphProgram::State& program, const Schedule& schedule)
      : g_(*program.graph), schedule_(schedule), inputs_(g_.nodes().size()) {
    const Alias alias(g_, schedule);
    std::vector<bool> is_fed(g_.value_count(), false);
    for (Graph::Value v : schedule.fed) is_fed[v] = true;
    for (std::uint32_t n : schedule.nodes) {
      inputs_[n] = program.after(n);
      for (Graph::Value v : g_.operands(g_.nodes()[n]))
        if (!is_fed[v] && g_.info(v).node >= 0)
          inputs_[n].push_back(static_cast<std::uint32_t>(g_.info(v).node));
      const Graph::Node& node = g_.nodes()[n];
      if (node.op == &read_variable_op && !alias[node.first_out])
        uses_[variable_of(n)].reads.push_back(n);
      if (node.op == &write_variable_op) uses_[variable_of(n)].writes.push_back(n);
      if (node.op->info.is_view) continue;
      for (Graph::Value v : g_.operands(node)) {  // of such a variable, those who use it read it
        auto* reads = alias[v] ? &uses_[alias[v]].reads : nullptr;
        if (reads && (reads->empty() || reads->back() != n)) reads->push_back(n);
      }
    }
  }

  std::string describe() {
    std::ostringstream text;
    for (const auto& [variable, uses] : uses_) {
      for (std::size_t w = 0; w < uses.writes.size(); ++w) {
        const std::uint32_t write = uses.writes[w];
        const std::vector<bool> before = those_before(write), after = those_after(write);
        for (std::uint32_t read : uses.reads) {
          if (read == write) continue;
          if (!before[read] && !after[read]) {
            text << "race: '" << variable->name << "' is read" << line(read) << " and written"
                 << line(write) << ", and nothing says in which order; here the "
                 << (runs_before(read, write) ? "read" : "write") << " comes first\n";
          } else if (before[read]) {
            describe_late(text, *variable, read, write, before);
          }
        }
        for (std::size_t v = w + 1; v < uses.writes.size(); ++v) {
          const std::uint32_t other = uses.writes[v];
          if (before[other] || after[other]) continue;
          text << "race: '" << variable->name << "' is written" << line(write) << " and"
               << line(other) << ", and nothing says in which order; here the "
               << (runs_before(write, other) ? "first" : "second") << " one comes first\n";
        }
      }
    }
    return text.str();
  }

 private:
  struct Uses {
    std::vector<std::uint32_t> reads, writes;
  };

  const VariableState* variable_of(std::uint32_t n) const {
    return variable_use(g_.attrs(g_.nodes()[n])).variable.get();
  }

  std::vector<bool> those_before(std::uint32_t node) const {
    std::vector<bool> found(g_.nodes().size(), false);
    std::vector<std::uint32_t> open = {node};
    while (!open.empty()) {
      const std::uint32_t n = open.back();
      open.pop_back();
      for (std::uint32_t in : inputs_[n]) {
        if (found[in]) continue;
        found[in] = true;
        open.push_back(in);
      }
    }
    return found;
  }

  std::vector<bool> those_after(std::uint32_t node) const {
    std::vector<bool> found(g_.nodes().size(), false);
    for (std::uint32_t n : schedule_.nodes)
      for (std::uint32_t in : inputs_[n]) found[n] = found[n] || in == node || found[in];
    return found;
  }

  bool runs_before(std::uint32_t a, std::uint32_t b) const {
    return std::ranges::find(schedule_.nodes, a) < std::ranges::find(schedule_.nodes, b);
  }

  // The first op that uses what was read and need not run before the write: a gradient, say.
  void describe_late(std::ostringstream& text, const VariableState& variable, std::uint32_t read,
                     std::uint32_t write, const std::vector<bool>& before) const {
    for (std::uint32_t n : schedule_.nodes) {
      if (n == write || before[n] || !std::ranges::count(inputs_[n], read)) continue;
      text << "late use: '" << variable.name << "' is read" << line(read) << ", written"
           << line(write) << ", and " << g_.nodes()[n].op->name() << line(n)
           << " still uses what was read before\n";
      return;
    }
  }

  std::string line(std::uint32_t n) const {
    const std::source_location& where = g_.nodes()[n].where;
    if (where.line() == 0) return "";
    return std::string(" at ") + where.file_name() + ":" + std::to_string(where.line());
  }

  const Graph& g_;
  const Schedule& schedule_;
  std::vector<std::vector<std::uint32_t>> inputs_;  // by node
  std::map<const VariableState*, Uses> uses_;
};

}  // namespace

std::string describe_races(const GraphProgram::State& program, const Schedule& schedule) {
  return Races(program, schedule).describe();
}

}  // namespace gradus
