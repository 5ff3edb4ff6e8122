#include "graph/picture.h"

#include <sstream>

#include "graph/places.h"

namespace gradus {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

std::string to_dot(const Graph& graph, const std::string& title) {
  std::ostringstream dot;
  dot << "digraph \"" << escaped(title) << "\" {\n"
      << "  label=\"" << escaped(title) << "\"; labelloc=t; fontname=Helvetica;\n"
      << "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e8f0fe\", "
         "fontname=Helvetica, fontsize=10];\n"
      << "  edge [fontname=Helvetica, fontsize=8, color=\"#5f6368\"];\n";
  for (Graph::Value v = 0; v < graph.value_count(); ++v) {
    const bool constant = graph.info(v).constant.defined();
    if (!constant && graph.info(v).node >= 0) continue;
    dot << "  v" << v << " [label=\"" << (constant ? "constant" : "input") << "\\n"
        << escaped(graph.describe(v)) << "\", shape=ellipse, fillcolor=\""
        << (constant ? "#f1f3f4" : "#e6f4ea") << "\"];\n";
  }
  const auto source = [&](Graph::Value v) {
    const std::int32_t node = graph.info(v).node;
    return node >= 0 ? "n" + std::to_string(node) : "v" + std::to_string(v);
  };
  for (std::size_t k = 0; k < graph.nodes().size(); ++k) {
    const Graph::Node& n = graph.nodes()[k];
    const AttrType& attrs = n.op->attrs();
    dot << "  n" << k << " [label=\"" << escaped(n.op->name());
    if (attrs.bytes > 0) dot << "\\n" << escaped(attrs.print(graph.attrs(n), &graph.symbols()));
    dot << "\\n" << escaped(place(n.where)) << "\"];\n";
    for (const Graph::Value v : graph.operands(n)) {
      dot << "  " << source(v) << " -> n" << k << " [label=\"" << escaped(graph.describe(v))
          << "\"];\n";
    }
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    dot << "  out" << i << " [label=\"result " << i
        << "\", shape=ellipse, fillcolor=\"#fce8e6\"];\n"
        << "  " << source(graph.outputs()[i]) << " -> out" << i << " [label=\""
        << escaped(graph.describe(graph.outputs()[i])) << "\"];\n";
  }
  dot << "}\n";
  return dot.str();
}

}  // namespace gradus
