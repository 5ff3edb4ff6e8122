#include "gradus/tracing.h"

#include <utility>

#include "compile/executable.h"
#include "compile/node_call.h"
#include "gradus/elementwise.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "graph/context.h"
#include "graph/dynamic_size.h"
#include "graph/elementwise.h"
#include "graph/graph.h"
#include "ops/records.h"

namespace gradus {

bool is_tracing() noexcept { return thread_context.graph != nullptr; }

bool is_tracing_region() noexcept {
  return thread_context.graph != nullptr && thread_context.graph->is_region();
}

bool is_example(const Tensor& t) noexcept {
  return t.defined() && t.impl()->kind == ValueKind::batched;
}

bool is_true_for_any(const Tensor& t) {
  Tensor all = t;
  while (is_example(all)) all = all.impl()->extra()->inner;
  return reduce_any(all).item<bool>();
}

bool is_symbolic(const Tensor& t) noexcept {
  return t.defined() && t.impl()->kind == ValueKind::traced;
}

bool has_value(const Tensor& t) noexcept { return t.defined() && is_concrete(t); }

std::string traced_name(const Tensor& t) {
  const TensorExtra& extra = *t.impl()->extra();
  const Graph::ValueInfo& info = extra.graph->info(extra.value);
  if (info.node < 0) return "Placeholder";
  return extra.graph->nodes()[static_cast<std::size_t>(info.node)].op->name();
}

std::optional<std::source_location> take_failed_line() noexcept {
  return std::exchange(failed_line, std::nullopt);
}

PauseTracing::PauseTracing() noexcept
    : graph_(std::exchange(thread_context.graph, nullptr)),
      variables_(std::exchange(thread_context.variables, nullptr)) {}

PauseTracing::~PauseTracing() {
  thread_context.graph = graph_;
  thread_context.variables = variables_;
}

std::optional<Tensor> value_before_call(const Tensor& t) {
  if (!is_symbolic(t)) return t;
  Graph& graph = *t.impl()->extra()->graph;
  // The nodes that the value needs, in their order; none of them may lead to an input.
  std::vector<bool> needed(graph.nodes().size());
  std::vector<Graph::Value> open = {t.impl()->extra()->value};
  while (!open.empty()) {
    const Graph::ValueInfo& info = graph.info(open.back());
    open.pop_back();
    if (info.constant.defined()) continue;
    if (info.node < 0) return {};
    const auto at = static_cast<std::size_t>(info.node);
    if (needed[at]) continue;
    needed[at] = true;
    if (graph.nodes()[at].op == &dynamic_size_op) return {};
    for (Graph::Value v : graph.operands(graph.nodes()[at])) open.push_back(v);
  }
  const PauseTracing pause;
  std::vector<Tensor> values(graph.value_count());
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    const Graph::Node& n = graph.nodes()[i];
    SmallVector<Tensor, 8> in;
    for (Graph::Value v : graph.operands(n))
      in.push_back(graph.info(v).constant.defined() ? graph.info(v).constant : values[v]);
    Tensors out = n.op->run(in, graph.attrs(n));
    for (std::uint32_t k = 0; k < n.out_count; ++k) values[n.first_out + k] = std::move(out[k]);
  }
  return values[t.impl()->extra()->value];
}

namespace {

// A size that is not known fits into an int64 element, so ops that only move elements can be run on
// sizes.
class SizeReader {
 public:
  explicit SizeReader(Graph& graph) : graph_(graph), symbols_(graph.symbols()) {}

  std::optional<Tensor> read(Graph::Value v) const {
    const Graph::ValueInfo& info = graph_.info(v);
    if (info.constant.defined()) {
      if (!is_integer(info.aval.dtype) || !is_concrete(info.constant)) return {};
      return cast(info.constant, int64);
    }
    if (info.node < 0) return {};
    const Graph::Node& n = graph_.nodes()[static_cast<std::size_t>(info.node)];
    if (n.op == &dynamic_size_op) return Tensor(Symbols::in_tensor(size_of_node(graph_.attrs(n))));
    if (!is_integer(info.aval.dtype)) return {};
    const OpInfo& op = n.op->info;
    const bool is_copy = keeps_integers(n);
    if (!is_copy && !op.on_sizes && !only_moves(n)) return {};
    std::vector<Tensor> in;
    for (Graph::Value operand : graph_.operands(n)) {
      const std::optional<Tensor> value = read(operand);
      if (!value) return {};
      in.push_back(*value);
    }
    if (is_copy) return in[0];
    return op.on_sizes ? combine(op.on_sizes, in[0], in[1]) : n.op->run_one(in, graph_.attrs(n));
  }

 private:
  // The same numbers, perhaps with another dtype.
  bool keeps_integers(const Graph::Node& n) const {
    const Aval& out = graph_.info(n.first_out).aval;
    if (n.in_count != 1 || !is_same(graph_.info(graph_.operands(n)[0]).aval.shape, out.shape))
      return false;
    if (n.op->info.is_view) return true;
    if (!n.op->info.expression || n.op->info.row_axes || n.op->kind != Kind::linear) return false;
    expr::Builder builder;
    const Expr x = builder.input(out.dtype);
    const NodeCall call(graph_, n);
    return n.op->info.expression(call, {&x, 1})[0].same_as(x);
  }
  // Linear in all operands and defined for truth values too: elements come as they are.
  static bool only_moves(const Graph::Node& n) {
    if (n.op->kind != Kind::linear || !(n.op->info.dtypes & kBools) || n.op->info.expression)
      return false;
    for (std::uint32_t i = 0; i < n.in_count; ++i)
      if (!n.op->is_differentiable_in(static_cast<int>(i))) return false;
    return n.out_count == 1;
  }

  static std::optional<Tensor> combine(SizesFn f, const Tensor& a, const Tensor& b) {
    const std::int64_t m = a.num_elements(), n = b.num_elements();
    if (m != n && m != 1 && n != 1) return {};
    const Tensor& larger = m >= n ? a : b;
    return Tensor::filled_by(int64, larger.shape(), [&](void* to) {
      for (std::int64_t i = 0; i < larger.num_elements(); ++i) {
        const Size x = Symbols::from_tensor(a.data<std::int64_t>()[m == 1 ? 0 : i]);
        const Size y = Symbols::from_tensor(b.data<std::int64_t>()[n == 1 ? 0 : i]);
        static_cast<std::int64_t*>(to)[i] = Symbols::in_tensor(f(x, y));
      }
    });
  }

  Graph& graph_;
  SymbolScope symbols_;
};

}  // namespace

std::optional<std::vector<Size>> sizes_in(const Tensor& t) {
  if (!is_integer(t.dtype())) return {};
  std::optional<Tensor> read;
  if (is_concrete(t)) {
    read = cast(t, int64);
  } else if (is_symbolic(t)) {
    const PauseTracing pause;
    read = SizeReader(*t.impl()->extra()->graph).read(t.impl()->extra()->value);
  }
  if (!read) return {};
  std::vector<Size> sizes;
  for (const std::int64_t bits : read->to_vector<std::int64_t>())
    sizes.push_back(Symbols::from_tensor(bits));
  return sizes;
}

const void* trace_of_sizes() noexcept { return symbols_of_trace(); }

bool is_known_to_call(Size size) {
  const Symbols* symbols = symbols_of_trace();
  if (!symbols || !symbols->has(size)) return false;
  const std::vector<std::optional<std::int64_t>> hints = symbols->hints();
  for (std::size_t i = 0; i < hints.size(); ++i)
    if (!hints[i] && symbols->depends_on(size, i)) return false;
  return true;
}

namespace {

// A concat along axis 0: the elements of its operands follow each other.
bool joins_rows(const Graph& graph, const Graph::Node& n) {
  const Shape& all = graph.info(n.first_out).aval.shape;
  return std::ranges::all_of(graph.operands(n), [&](Graph::Value v) {
    const Shape& part = graph.info(v).aval.shape;
    for (int a = 1; a < all.rank(); ++a)
      if (!is_same(part[a], all[a])) return false;
    return true;
  });
}

}  // namespace

std::vector<Size> found_sizes(const Tensor& t, const AdjustNumber& adjust) {
  if (auto sizes = sizes_in(t)) return *sizes;
  if (t.rank() == 0) return {to_size(adjust ? adjust(t) : t)};
  std::vector<Size> sizes;
  const auto add = [&](const Tensor& part) {
    for (const Size size : found_sizes(part, adjust)) sizes.push_back(size);
  };
  // Some elements may be sizes already, or -1 as in reshape.
  if (is_symbolic(t)) {
    Graph& graph = *t.impl()->extra()->graph;
    const std::int32_t maker = graph.info(t.impl()->extra()->value).node;
    const Graph::Node* n = maker < 0 ? nullptr : &graph.nodes()[static_cast<std::size_t>(maker)];
    const bool joins = n && n->op == &concat_op && joins_rows(graph, *n);
    const bool views = n && n->op == &reshape_op;  // the elements stay in their order
    if (joins || views) {
      const std::vector<Graph::Value> parts(graph.operands(*n).begin(), graph.operands(*n).end());
      for (const Graph::Value v : parts) add(graph.tensor(v));
      return sizes;
    }
  }
  for (const Tensor& element : unstack(reshape(t, {-1}))) add(element);
  return sizes;
}

}  // namespace gradus
