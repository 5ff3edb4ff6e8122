#include "graph/bind.h"

#include <algorithm>

#include "base/check.h"
#include "graph/context.h"
#include "graph/dispatch.h"

namespace gradus {

namespace {

bool bind_one(const Graph& graph, Sizes& sizes, const Shape& expected, const Shape& given) {
  if (expected.rank() != given.rank()) return false;
  for (int a = 0; a < given.rank(); ++a) {
    const std::int64_t symbol = graph.symbols().input_of(expected[a]);
    if (symbol < 0) {
      if (expected[a].is_known() && given[a].is_known() && expected[a] != given[a]) return false;
      continue;
    }
    Size& size = sizes[static_cast<std::size_t>(symbol)];
    const bool is_bound = !is_same(size, kUnbound);
    if (is_bound && !sizes_agree(size, given[a])) return false;
    if (!is_bound || !size.is_known()) size = given[a];
  }
  return true;
}

}  // namespace

std::optional<Sizes> bind_sizes(const Graph& graph, std::span<const Aval> inputs) {
  Sizes sizes(graph.symbols().input_count(), kUnbound);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!bind_one(graph, sizes, graph.info(graph.inputs()[i]).aval.shape, inputs[i].shape))
      return {};
  return sizes;
}

std::optional<Sizes> bind_sizes(const Graph& graph, std::span<const Tensor> inputs) {
  Sizes sizes(graph.symbols().input_count(), kUnbound);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!bind_one(graph, sizes, graph.info(graph.inputs()[i]).aval.shape, inputs[i].shape()))
      return {};
  return sizes;
}

Shape bind_shape(const Symbols& symbols, const Sizes& sizes, const Shape& shape) {
  Shape bound = shape;
  for (int a = 0; a < bound.rank(); ++a) bound[a] = symbols.evaluate(bound[a], sizes);
  return bound;
}

void bind_attrs(const Symbols& symbols, const Sizes& sizes, const AttrType& type,
                std::byte* attrs) {
  for (const AttrField& field : type.fields) {
    std::byte* at = attrs + field.offset;
    if (field.kind == AttrKind::ints) {
      Ints& list = *reinterpret_cast<Ints*>(at);
      for (int i = 0; i < list.rank(); ++i) list[i] = symbols.evaluate(list[i], sizes);
    } else if (field.kind == AttrKind::size) {
      Size& size = *reinterpret_cast<Size*>(at);
      size = symbols.evaluate(size, sizes);
    }
  }
}

bool names_sizes(const AttrType& type, const void* attrs) {
  for (const AttrField& f : type.fields) {
    const std::byte* at = static_cast<const std::byte*>(attrs) + f.offset;
    if (f.kind == AttrKind::ints && !reinterpret_cast<const Ints*>(at)->is_known()) return true;
    if (f.kind == AttrKind::size && !reinterpret_cast<const Size*>(at)->is_known()) return true;
  }
  return false;
}

namespace {

// How many of its last axes an op does not broadcast; -1: it does not broadcast at all.
int axes_not_broadcast(const OpInfo& info, Kind kind) {
  if (kind == Kind::elementwise || (info.expression && !info.row_axes)) return 0;
  return info.product ? 2 : -1;
}

bool is_guarded_one(const Graph& graph, Size size) {
  return std::ranges::any_of(graph.symbols().guards(), [&](const Guard& g) {
    return g.question == Guard::Question::equal && g.answer &&
           ((is_same(g.a, size) && is_same(g.b, 1)) || (is_same(g.b, size) && is_same(g.a, 1)));
  });
}

// An axis that the trace did not know to be 1 was not one to broadcast, and derivatives do not sum
// over it. If it turns out to be 1 beside other sizes, the program is another.
bool broadcasts_as_traced(const Graph& graph, const Graph::Node& n, std::span<const Shape> in,
                          const Shape& out) {
  const int last = axes_not_broadcast(n.op->info, n.op->kind);
  if (last < 0) return true;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Shape& traced = graph.info(graph.operands(n)[i]).aval.shape;
    const int shift = out.rank() - in[i].rank();
    for (int a = 0; a < in[i].rank() - last; ++a)
      if (!is_same(traced[a], 1) && in[i][a] != out[a + shift] && !is_guarded_one(graph, traced[a]))
        return false;
  }
  return true;
}

bool is_bound(const Shape& shape) {
  return std::ranges::none_of(shape, [](Size s) { return is_same(s, kUnbound); });
}

bool is_bound(const AttrType& type, const std::byte* attrs) {
  return std::ranges::all_of(type.fields, [&](const AttrField& f) {
    if (f.kind == AttrKind::ints) return is_bound(*reinterpret_cast<const Ints*>(attrs + f.offset));
    return f.kind != AttrKind::size ||
           !is_same(*reinterpret_cast<const Size*>(attrs + f.offset), kUnbound);
  });
}

// Runs every shape rule with these sizes. What an op refuses is thrown; false says that some shape
// is not what the trace took it for (a size of 1 that broadcasts).
bool shapes_hold(const Graph& graph, const Sizes& sizes) {
  alignas(16) std::byte attrs[512];
  for (const Graph::Node& n : graph.nodes()) {
    GRADUS_ASSERT(n.op->attrs().bytes <= sizeof attrs);
    std::copy_n(static_cast<const std::byte*>(graph.attrs(n)), n.op->attrs().bytes, attrs);
    bind_attrs(graph.symbols(), sizes, n.op->attrs(), attrs);
    SmallVector<Shape, 4> shapes;
    SmallVector<View, 4> views;
    shapes.reserve(n.in_count);
    for (Graph::Value v : graph.operands(n)) {
      const Aval& aval = graph.info(v).aval;
      shapes.push_back(bind_shape(graph.symbols(), sizes, aval.shape));
      views.push_back({nullptr, &shapes.back(), aval.dtype});
    }
    if (!is_bound(n.op->attrs(), attrs) ||
        !std::ranges::all_of(shapes, [](const Shape& s) { return is_bound(s); }))
      continue;
    Avals out;
    const AttributeTo line(n.where);
    infer_outputs({*n.op, attrs, views}, out);
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      if (!out[i].shape.is_known()) return false;
      const Shape& expected = graph.info(n.first_out + i).aval.shape;
      if (!(bind_shape(graph.symbols(), sizes, expected) == out[i].shape)) return false;
    }
    if (n.out_count == 1 && !broadcasts_as_traced(graph, n, shapes, out[0].shape)) return false;
  }
  return true;
}

}  // namespace

void bind_found(const Graph& graph, Graph::Value v, const Shape& shape, Sizes& sizes,
                std::vector<BrokenGuard::Found>& found) {
  const Shape& expected = graph.info(v).aval.shape;
  for (int a = 0; a < shape.rank(); ++a) {
    const std::int64_t i = Symbols::input_of(expected[a]);
    if (i < 0) continue;
    sizes[static_cast<std::size_t>(i)] = shape[a];
    if (shape[a].is_known())
      found.push_back({static_cast<std::size_t>(i), shape[a], &graph.symbols()});
  }
}

void check_guards(const Graph& graph, const Sizes& sizes) {
  if (const auto broken = graph.symbols().broken_guard(sizes))
    fail<BrokenGuard>("the program serves sizes with ", graph.symbols().print(*broken));
}

void check_sizes(const Graph& graph, const Sizes& sizes) {
  check_guards(graph, sizes);
  if (!shapes_hold(graph, sizes))
    fail<BrokenGuard>("a size is 1 and broadcasts, which was not so when the function was traced");
}

bool serves(const Graph& graph, const Sizes& sizes) {
  if (!graph.symbols().guards_hold(sizes)) return false;
  try {
    return shapes_hold(graph, sizes);
  } catch (const InvalidArgumentError&) {  // x[1:] of no rows, say
    return false;
  }
}

}  // namespace gradus
