#include "compile/absorb.h"

#include "compile/graph_copy.h"
#include "ops/matmul_attrs.h"
#include "ops/moves.h"
#include "ops/permuted_matmul.h"
#include "ops/records.h"

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
      if (order && is_writable(*order) && is_product(v) && uses_[v] == 1 &&
          is_thin(depth(*maker(v))))
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

  // Of batches: one product with all rows is better off with a copy.
  bool is_product(const Node& n) const {
    if (n.op != &matmul_op) return false;
    for (Value operand : g_.operands(n))
      if (g_.info(operand).aval.shape.rank() < 3) return false;
    const DType dtype = g_.info(n.first_out).aval.dtype;
    return dtype == float32 || dtype == float64;
  }
  bool is_product(Value v) const {
    const Node* n = maker(v);
    return n && is_product(*n);
  }

  // The order of the axes if the node, or v, is a transpose, else null.
  const Ints* order_of(const Node& n) const {
    if (n.op != &transpose_op) return nullptr;
    return &static_cast<const PermutationAttrs*>(g_.attrs(n))->permutation;
  }
  const Ints* order_of(Value v) const {
    const Node* n = maker(v);
    return n ? order_of(*n) : nullptr;
  }

  // A copy is worth avoiding if the product does little with each element.
  static bool is_thin(std::int64_t products_per_element) {
    return !is_symbol(products_per_element) && products_per_element <= 32;
  }
  std::int64_t depth(const Node& product) const {
    const auto& p = *static_cast<const MatmulAttrs*>(g_.attrs(product));
    const Shape& a = g_.info(g_.operands(product)[0]).aval.shape;
    return a[a.rank() - (p.transpose_a ? 2 : 1)];
  }

  // Whether a product is to read an operand from before its transpose.
  bool can_read(const Node& product, int operand) const {
    const Value v = g_.operands(product)[static_cast<std::size_t>(operand)];
    const Ints* order = order_of(v);
    const Shape& out = g_.info(product.first_out).aval.shape;
    return order && is_readable(*order) && !is_taken(*maker(v)) &&
           is_thin(out[out.rank() - (operand == 0 ? 1 : 2)]);
  }

  // Whether a transpose is done by the product before it.
  bool is_taken(const Node& n) const {
    const Value v = g_.operands(n)[0];
    return is_product(v) && taker_[index_of(v)] == &n;
  }

  void emit(GraphCopy& copy, const Node& n, const Node* taker) {
    const auto& p = *static_cast<const MatmulAttrs*>(g_.attrs(n));
    PermutedMatmulAttrs attrs{{}, {}, {}, p.transpose_a, p.transpose_b};
    const auto in_place = [&](Value v) {
      Ints order;
      for (int i = 0; i < g_.info(v).aval.shape.rank(); ++i) order.push_back(i);
      return order;
    };
    SmallVector<Value, 2> in;
    bool is_plain = !taker;
    const auto add = [&](int operand, Ints& order) {
      const Value v = g_.operands(n)[static_cast<std::size_t>(operand)];
      const bool moved = can_read(n, operand);
      is_plain &= !moved;
      order = moved ? *order_of(v) : in_place(v);
      in.push_back(copy[moved ? g_.operands(*maker(v))[0] : v]);
    };
    add(0, attrs.order_a);
    add(1, attrs.order_b);
    if (is_plain) return copy.copy(n);
    attrs.order_out = taker ? *order_of(*taker) : in_place(n.first_out);
    copy.replace(n, permuted_matmul_op, &attrs, in);
    if (taker) copy.map(taker->first_out, copy[n.first_out]);
  }

  const Graph& g_;
  std::vector<std::uint32_t> uses_;  // by value; in the end without those that products absorb
  std::vector<const Node*> taker_;   // by node: the transpose that a product does
};

}  // namespace

std::shared_ptr<Graph> absorb(const Graph& graph) { return Absorber(graph).run(); }

}  // namespace gradus
