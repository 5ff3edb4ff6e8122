// What the nodes of control flow hold, in the text form of graphs: "{" the lines of a region "}".
#include "control/region_text.h"
#include "base/check.h"
#include "control/branch.h"
#include "control/loop.h"
#include "control/sized_flow.h"

namespace gradus {
namespace {

std::string print(const Region& region) { return "{\n" + to_text(region.graph()) + "}"; }

std::shared_ptr<Region> read_region(TextReader& reader, const Graph& around) {
  const auto graph = Graph::make_like(around);
  graph->make_region();
  reader.expect("{");
  reader.graph(*graph);
  reader.expect("}");
  return std::make_shared<Region>(graph);
}

bool same_kind(const Aval& a, const Aval& b) {
  return a.dtype == b.dtype && is_same(a.shape, b.shape);
}

// Regions that run on the same operands.
void check_inputs(TextReader& reader, const Region& a, const Region& b) {
  bool same = a.input_count() == b.input_count();
  for (std::size_t i = 0; same && i < a.input_count(); ++i)
    same = same_kind(a.input(i), b.input(i));
  if (!same) reader.refuse("regions of one node take different inputs");
}

// What a turn of a loop gives is what the next one takes.
void check_carries(TextReader& reader, const Region& body, std::size_t carries) {
  bool same = body.input_count() >= carries && body.output_count() >= carries;
  for (std::size_t i = 0; same && i < carries; ++i) same = same_kind(body.input(i), body.output(i));
  if (!same) reader.refuse("a carry changes its dtype or shape");
}

std::size_t read_count(TextReader& reader) {
  const std::int64_t n = reader.integer();
  if (n < 0 || n > 1 << 20)
    reader.refuse("got " + std::to_string(n) + " where a count is expected");
  return static_cast<std::size_t>(n);
}

// How many bytes a loop's derivative may keep.
std::string print_limit(const CountedLoop& loop) {
  return loop.memory_limit > 0 ? " limit " + std::to_string(loop.memory_limit) : "";
}
void read_limit(TextReader& reader, CountedLoop& loop) {
  loop.memory_limit = reader.accept("limit") ? std::max<std::int64_t>(0, reader.integer()) : 0;
}

}  // namespace

std::vector<std::size_t> read_indices(TextReader& reader, std::size_t limit) {
  std::vector<std::size_t> indices;
  reader.expect("(");
  while (!reader.accept(")")) {
    if (!indices.empty()) reader.expect(",");
    const std::int64_t i = reader.integer();
    if (i < 0 || i >= static_cast<std::int64_t>(limit))
      reader.refuse("got " + std::to_string(i) + " where there are " + std::to_string(limit));
    indices.push_back(static_cast<std::size_t>(i));
  }
  return indices;
}

std::vector<bool> read_flags(TextReader& reader, std::size_t count) {
  std::vector<bool> flags;
  for (std::size_t i : read_indices(reader, 2)) flags.push_back(i == 1);
  if (flags.size() != count)
    reader.refuse("got " + std::to_string(flags.size()) + " flags; expected " +
                  std::to_string(count));
  return flags;
}

std::string Branches::describe() const {
  std::string text = "[";
  for (const auto& region : regions_) text += (text.size() > 1 ? ", " : "") + print(*region);
  return text + "]";
}

std::vector<HasGraphs::Inner> Branches::inner_graphs() const {
  std::vector<Inner> inner;
  for (const auto& region : regions_) inner.push_back(region->inner());
  return inner;
}

std::shared_ptr<Held> read_branches(TextReader& reader, Graph& around) {
  std::vector<std::shared_ptr<Region>> regions;
  reader.expect("[");
  do {
    regions.push_back(read_region(reader, around));
  } while (reader.accept(","));
  reader.expect("]");
  for (const auto& region : regions) {
    check_inputs(reader, *regions[0], *region);
    bool same = region->output_count() == regions[0]->output_count();
    for (std::size_t i = 0; same && i < region->output_count(); ++i)
      same = same_kind(region->output(i), regions[0]->output(i));
    if (!same) reader.refuse("the branches give different results");
  }
  return std::make_shared<Branches>(std::move(regions));
}

std::string WhileLoop::describe() const {
  return "while " + print(*test) + " do " + print(*body) + besides();
}
std::string WhileLoop::besides() const {
  return " at most " + std::to_string(maximum_iterations) + print_limit(*counted);
}

std::shared_ptr<Held> read_while(TextReader& reader, Graph& around) {
  const auto loop = std::make_shared<WhileLoop>();
  reader.expect("while");
  loop->test = read_region(reader, around);
  reader.expect("do");
  loop->body = read_region(reader, around);
  reader.expect("at most");
  loop->maximum_iterations = reader.integer();
  check_inputs(reader, *loop->test, *loop->body);
  check_carries(reader, *loop->body, loop->body->output_count());
  if (loop->test->output_count() != 1 || !same_kind(loop->test->output(0), {bool_, {}}))
    reader.refuse("the test of a loop gives one bool");
  if (loop->body->output_count() == 0 || !same_kind(loop->body->output(0), {int64, {}}))
    reader.refuse("the first carry of a loop counts its turns: an int64");
  loop->counted = std::make_shared<CountedLoop>();
  loop->counted->body = loop->body;
  loop->counted->carries = loop->body->output_count();
  read_limit(reader, *loop->counted);
  return loop;
}

std::string CountedLoop::describe() const { return "do " + print(*body) + besides(); }
std::string CountedLoop::besides() const {
  std::string text = " carries " + std::to_string(carries) + " rows " + std::to_string(xs) +
                     " makes " + std::to_string(ys);
  for (const Shift& s : shifts)
    text += " shift " + std::to_string(s.first) + " by " + std::to_string(s.by);
  return text + (backwards ? " backwards" : "") + print_limit(*this);
}

std::shared_ptr<Held> read_counted(TextReader& reader, Graph& around) {
  const auto loop = std::make_shared<CountedLoop>();
  reader.expect("do");
  loop->body = read_region(reader, around);
  reader.expect("carries");
  loop->carries = read_count(reader);
  reader.expect("rows");
  loop->xs = read_count(reader);
  reader.expect("makes");
  loop->ys = read_count(reader);
  while (reader.accept("shift")) {
    const std::int64_t first = reader.integer();
    reader.expect("by");
    const std::int64_t by = reader.integer();
    if (first < -1 || first > 1 << 20 || by < -1 || by > 1) reader.refuse("no such shift");
    loop->shifts.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(by)});
  }
  loop->backwards = reader.accept("backwards");
  read_limit(reader, *loop);
  if (loop->body->input_count() < loop->carries + loop->xs ||
      loop->body->output_count() != loop->carries + loop->ys || loop->shifts.size() != loop->xs)
    reader.refuse("the body does not have these carries and rows");
  check_carries(reader, *loop->body, loop->carries);
  return loop;
}

std::string SizedFlow::describe() const {
  if (of) return (kind == Kind::jvp ? "jvp [" : "vjp [") + of->describe() + "]" + besides();
  std::string text = kind == Kind::loop ? "loop [" : "branch [";
  for (std::size_t i = 0; i < regions.size(); ++i) text += (i > 0 ? ", " : "") + print(*regions[i]);
  return text + "]" + besides();
}

std::string SizedFlow::besides() const {
  if (of) return " given " + in_brackets(given) + " which " + in_brackets(which);
  std::string text;
  if (kind == Kind::loop) text += " at most " + std::to_string(maximum_iterations);
  for (const std::vector<bool>& axes : varies) text += " varies " + in_brackets(axes);
  return text;
}

namespace {

// Branches of the same kinds of results, or the test and the body of a loop.
void check_flow(TextReader& reader, const SizedFlow& flow) {
  const Region& last = *flow.regions.back();
  if (flow.kind == SizedFlow::Kind::loop) {
    const Region& test = *flow.regions[0];
    if (flow.regions.size() != 2 || test.output_count() != 1 ||
        !same_kind(test.output(0), {bool_, {}}) || last.input_count() < last.output_count())
      reader.refuse("a loop has a test, which gives one bool, and a body");
  }
  if (flow.varies.size() != last.output_count()) reader.refuse("each result has its axes");
  for (const auto& region : flow.regions) {
    bool same = region->input_count() == last.input_count();
    for (std::size_t i = 0; same && i < last.input_count(); ++i)
      same = region->input(i).dtype == last.input(i).dtype &&
             region->input(i).shape.rank() == last.input(i).shape.rank();
    if (!same) reader.refuse("regions of one node take different inputs");
  }
  for (std::size_t i = 0; i < flow.varies.size(); ++i) {
    const Aval& like = flow.kind == SizedFlow::Kind::loop ? last.input(i) : last.output(i);
    for (const auto& region : flow.regions) {
      if (flow.kind == SizedFlow::Kind::loop && region == flow.regions[0]) continue;
      if (region->output_count() != flow.varies.size() || region->output(i).dtype != like.dtype ||
          region->output(i).shape.rank() != like.shape.rank())
        reader.refuse("results of different dtypes or ranks");
    }
    if (flow.varies[i].size() != static_cast<std::size_t>(like.shape.rank()))
      reader.refuse("each result has its axes");
  }
}

std::shared_ptr<SizedFlow> read_flow(TextReader& reader, Graph& around, int depth) {
  constexpr int kDeepest = 50;  // a text ends here
  if (depth == kDeepest) reader.refuse("too many derivatives of derivatives");
  const auto flow = std::make_shared<SizedFlow>();
  const bool is_jvp = reader.accept("jvp");
  if (is_jvp || reader.accept("vjp")) {
    flow->kind = is_jvp ? SizedFlow::Kind::jvp : SizedFlow::Kind::vjp;
    reader.expect("[");
    flow->of = read_flow(reader, around, depth + 1);
    reader.expect("]");
    reader.expect("given");
    flow->given = read_flags(reader, is_jvp ? flow->of->operand_count() : flow->of->result_count());
    reader.expect("which");
    flow->which = read_indices(reader, flow->of->operand_count());
    return flow;
  }
  flow->kind = reader.accept("loop") ? SizedFlow::Kind::loop : SizedFlow::Kind::branch;
  if (flow->kind == SizedFlow::Kind::branch) reader.expect("branch");
  reader.expect("[");
  do {
    flow->regions.push_back(read_region(reader, around));
  } while (reader.accept(","));
  reader.expect("]");
  if (flow->kind == SizedFlow::Kind::loop) {
    reader.expect("at most");
    flow->maximum_iterations = reader.integer();
  }
  while (reader.accept("varies")) {
    flow->varies.emplace_back();
    for (std::size_t i : read_indices(reader, 2)) flow->varies.back().push_back(i == 1);
  }
  check_flow(reader, *flow);
  return flow;
}

}  // namespace

std::shared_ptr<Held> read_sized_flow(TextReader& reader, Graph& around) {
  return read_flow(reader, around, 0);
}

}  // namespace gradus
