#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

#include "autodiff/tape.h"
#include "base/check.h"
#include "gradus/explain.h"
#include "graph/places.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using Id = Recording::Id;

double elements(const Shape& shape) {
  double n = 1;
  for (const Size size : shape)
    n *= size.is_known() ? static_cast<double>(std::max<std::int64_t>(size, 1)) : 1;
  return n;
}

double flops_of(const Recording& recording, const Recording::Node& n, std::span<const Aval> avals) {
  if (n.op->info.is_view) return 0;
  SmallVector<View, 4> views;
  double most = 0;
  for (const Aval& a : avals) {
    views.push_back({nullptr, &a.shape, a.dtype});
    most = std::max(most, elements(a.shape));
  }
  return n.op->info.flops ? n.op->info.flops({*n.op, recording.attrs(n), views}) : most;
}

// The nodes between sources and target, as the tape of this bit sees them.
std::vector<bool> nodes_between(const Recording& r, Recording::Followers bit,
                                std::span<const Id> sources, Id target) {
  std::vector<bool> reached(r.value_count(), false), needed(reached), between(r.node_count());
  for (Id id : sources) reached[id] = true;
  if (target != Recording::kNone) needed[target] = true;
  for (std::size_t k = 0; k < r.node_count(); ++k) {
    const Recording::Node& n = r.node(k);
    if (!n.op || n.cut || !(r.followers(n.first_out) & bit)) continue;
    for (Id in : r.edges(n)) between[k] = between[k] || (in != Recording::kNone && reached[in]);
    for (std::uint32_t i = 0; between[k] && i < n.out_count; ++i) reached[n.first_out + i] = true;
  }
  for (std::size_t k = r.node_count(); k-- > 0;) {
    const Recording::Node& n = r.node(k);
    if (!between[k]) continue;
    bool used = false;
    for (std::uint32_t i = 0; i < n.out_count; ++i) used = used || needed[n.first_out + i];
    between[k] = used;
    if (!used) continue;
    for (Id in : r.edges(n))
      if (in != Recording::kNone) needed[in] = true;
  }
  return between;
}

TapeReport make_report(const GradientTape::State& tape, const std::vector<bool>* between) {
  TapeReport report;
  report.used = tape.used || !tape.recording;
  if (report.used) return report;
  const Recording& r = *tape.recording;
  report.own_bytes = r.own_bytes();
  std::map<std::string, TapeReport::OpLine> lines;
  std::set<const void*> seen;
  SmallVector<Tensor, 8> in;
  SmallVector<Tensor, 4> out;
  SmallVector<Aval, 4> avals;
  for (std::size_t k = 0; k < r.node_count(); ++k) {
    const Recording::Node& n = r.node(k);
    if (!n.op) continue;
    if (n.cut) {
      const bool is_own = std::ranges::any_of(r.edges(n), [&](Id id) {
        return id != Recording::kNone && (r.followers(id) & tape.bit);
      });
      if (is_own) report.cut.push_back(op_at(*n.op, n.where));
      continue;
    }
    if (!(r.followers(n.first_out) & tape.bit)) continue;
    r.load(n, in, out, avals);
    std::size_t bytes = 0;
    const auto count = [&](const Tensor& t) {
      if (t.defined() && is_concrete(t) && seen.insert(t.impl()->data).second)
        bytes += t.num_bytes();
    };
    std::for_each(in.begin(), in.end(), count);
    std::for_each(out.begin(), out.end(), count);
    TapeReport::OpLine& line = lines[n.op->name()];
    line.op = n.op->name();
    ++line.count;
    line.bytes += bytes;
    line.flops += flops_of(r, n, avals);
    ++report.ops;
    report.saved_bytes += bytes;
    if (between && !(*between)[k]) {
      report.unused.push_back(op_at(*n.op, n.where));
      report.unused_bytes += bytes;
    }
  }
  for (auto& [name, line] : lines) report.by_op.push_back(std::move(line));
  std::ranges::stable_sort(report.by_op, [](const auto& a, const auto& b) {
    return std::pair(a.bytes, a.flops) > std::pair(b.bytes, b.flops);
  });
  return report;
}

std::string amount(double x, const char* unit) {
  const char* prefixes[] = {"", "k", "M", "G", "T"};
  std::size_t p = 0;
  while (x >= 1000 && p < 4) x /= 1000, ++p;
  std::ostringstream text;
  text.precision(3);
  text << x << ' ' << prefixes[p] << unit;
  return text.str();
}

std::string list(const std::vector<std::string>& places) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, places.size()); ++i)
    text += (i ? ", " : "") + places[i];
  if (places.size() > kShown) text += ", and " + std::to_string(places.size() - kShown) + " more";
  return text;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string ops(std::size_t n) { return std::to_string(n) + (n == 1 ? " op" : " ops"); }

}  // namespace

TapeReport GradientTape::report() const { return make_report(*state_, nullptr); }

TapeReport GradientTape::report(const Tensor& target, const std::vector<Source>& sources) const {
  if (!state_->recording) return make_report(*state_, nullptr);
  if (!target.defined()) {
    fail<InvalidArgumentError>("[GradientTape.report] the target is an undefined tensor");
  }
  std::vector<Id> ids;
  for (const Source& s : sources)
    for (Id id : reads_of(*state_, s)) ids.push_back(id);
  const auto between =
      nodes_between(*state_->recording, state_->bit, ids, state_->recording->find(target));
  return make_report(*state_, &between);
}

std::string to_string(const TapeReport& report) {
  if (report.used) return "tape: already used, it holds nothing any more\n";
  std::ostringstream text;
  text << "tape: " << ops(report.ops) << " recorded; it holds "
       << amount(static_cast<double>(report.saved_bytes), "B") << " of saved tensors and "
       << amount(static_cast<double>(report.own_bytes), "B") << " of its own\n";
  std::size_t width = 2;
  for (const auto& line : report.by_op) width = std::max(width, line.op.size());
  if (!report.by_op.empty())
    text << "  " << padded("op", width) << "  " << padded("count", 8) << padded("saved", 10)
         << "forward\n";
  for (const auto& line : report.by_op) {
    text << "  " << padded(line.op, width) << "  " << padded(std::to_string(line.count), 8)
         << padded(amount(static_cast<double>(line.bytes), "B"), 10) << amount(line.flops, "flop")
         << "\n";
  }
  if (!report.cut.empty())
    text << "no derivative passes " << ops(report.cut.size()) << ": " << list(report.cut) << "\n";
  if (!report.unused.empty()) {
    text << ops(report.unused.size()) << " ("
         << amount(static_cast<double>(report.unused_bytes), "B")
         << " saved) not between sources and target: " << list(report.unused) << "\n";
  }
  return text.str();
}

std::ostream& operator<<(std::ostream& out, const TapeReport& report) {
  return out << to_string(report);
}

}  // namespace gradus
