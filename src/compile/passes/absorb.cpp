#include "compile/passes/absorb.h"

#include "compile/graph_copy.h"
#include "compile/node_call.h"
#include "graph/product.h"

namespace gradus {
namespace {

using Value = Graph::Value;
using Node = Graph::Node;

class Absorber {
 public:
  explicit Absorber(const Graph& g)
      : g_(g), uses_(g.value_count(), 0), taker_(g.nodes().size(), nullptr) {
    for (const Node& n : g.nodes())
      for (Value v : g.operands(n)) ++uses_[v];
    for (Value v : g.outputs()) ++uses_[v];
  }

  std::shared_ptr<Graph> run() {
    for (const Node& n : g_.nodes()) {
      const Ints* order = order_of(n);
      const Value v = order ? g_.operands(n)[0] : 0;
      if (order && is_product(v) && uses_[v] == 1 && can_write(*maker(v), *order))
        taker_[index_of(v)] = &n;
    }
    for (const Node& n : g_.nodes())
      for (int i = 0; i < 2 && is_product(n); ++i)
        uses_[g_.operands(n)[static_cast<std::size_t>(i)]] -= can_read(n, i) ? 1 : 0;

    GraphCopy copy(g_);
    for (std::size_t k = 0; k < g_.nodes().size(); ++k) {
      const Node& n = g_.nodes()[k];
      if (is_product(n)) {
        emit(copy, n, taker_[k]);
      } else if (!order_of(n) || !(is_taken(n) || uses_[n.first_out] == 0)) {
        copy.copy(n);
      }
    }
    return copy.finish();
  }

 private:
  std::size_t index_of(Value v) const { return static_cast<std::size_t>(g_.info(v).node); }
  const Node* maker(Value v) const {
    return g_.info(v).node < 0 ? nullptr : &g_.nodes()[index_of(v)];
  }

  bool is_product(const Node& n) const {
    return n.op->info.product && n.op->info.product->permuted;
  }
  bool is_product(Value v) const {
    const Node* n = maker(v);
    return n && is_product(*n);
  }

  // The order of the axes if the node, or v, is a transpose, else null.
  const Ints* order_of(const Node& n) const {
    return n.op->info.permutation ? &n.op->info.permutation(g_.attrs(n)) : nullptr;
  }
  const Ints* order_of(Value v) const {
    const Node* n = maker(v);
    return n ? order_of(*n) : nullptr;
  }

  // A copy is worth avoiding if the product does little with each element.
  static bool is_thin(Size products_per_element) {
    return products_per_element.is_known() && products_per_element <= 32;
  }

  // Whether a product is to read an operand from before its transpose.
  bool can_read(const Node& product, int operand) const {
    const Value v = g_.operands(product)[static_cast<std::size_t>(operand)];
    const Ints* order = order_of(v);
    if (!order || is_taken(*maker(v))) return false;
    const NodeCall call(g_, product);
    const ProductFacts& facts = *product.op->info.product;
    const int other = 1 - operand;
    return facts.reads(call, operand, *order) &&
           is_thin(call.shape(other)[facts.axes(call, other).kept]);
  }

  // Whether it is to write its result as it lies after this transpose.
  bool can_write(const Node& product, const Ints& order) const {
    const NodeCall call(g_, product);
    const ProductFacts& facts = *product.op->info.product;
    return facts.writes(call, order) && is_thin(call.shape(0)[facts.axes(call, 0).summed]);
  }

  // Whether a transpose is done by the product before it.
  bool is_taken(const Node& n) const {
    const Value v = g_.operands(n)[0];
    return is_product(v) && taker_[index_of(v)] == &n;
  }

  void emit(GraphCopy& copy, const Node& n, const Node* taker) {
    bool is_plain = !taker;
    SmallVector<Tensor, 2> in;
    SmallVector<Ints, 3> orders;
    const auto in_place = [&](Value v) {
      Ints order;
      for (int i = 0; i < g_.info(v).aval.shape.rank(); ++i) order.push_back(i);
      return order;
    };
    for (int i = 0; i < 2; ++i) {
      const Value v = g_.operands(n)[static_cast<std::size_t>(i)];
      const bool moved = can_read(n, i);
      is_plain &= !moved;
      orders.push_back(moved ? *order_of(v) : in_place(v));
      in.push_back(copy.to().tensor(copy[moved ? g_.operands(*maker(v))[0] : v]));
    }
    if (is_plain) return copy.copy(n);
    orders.push_back(taker ? *order_of(*taker) : in_place(n.first_out));
    const AttributeTo line(n.where);
    const Tensor made = n.op->info.product->permuted(g_.attrs(n), in, orders);
    copy.map(n.first_out, copy.to().value(made));
    if (taker) copy.map(taker->first_out, copy[n.first_out]);
  }

  const Graph& g_;
  std::vector<std::uint32_t> uses_;  // by value; in the end without those that products absorb
  std::vector<const Node*> taker_;   // by node: the transpose that a product does
};

}  // namespace

std::shared_ptr<Graph> absorb(const Graph& graph) { return Absorber(graph).run(); }

}  // namespace gradus
