#include "compile/passes/sum_products.h"

#include <unordered_map>

#include "compile/graph_copy.h"
#include "compile/node_call.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "graph/elementwise.h"
#include "graph/product.h"

namespace gradus {
namespace {

using Value = Graph::Value;
using Node = Graph::Node;

// Elements [begin, end) of a larger array.
struct Part {
  Value whole;
  std::int64_t begin, end;
};

class ProductSums {
 public:
  explicit ProductSums(const Graph& g)
      : g_(g), uses_(g.value_count(), 0), is_sum_(g.nodes().size()), inner_(g.nodes().size()) {
    for (const Node& n : g.nodes())
      for (Value v : g.operands(n)) ++uses_[v];
    for (Value v : g.outputs()) ++uses_[v];
    std::unordered_map<const Op*, bool> adds;
    for (std::size_t k = 0; k < g.nodes().size(); ++k) {
      const Node& n = g.nodes()[k];
      const auto [known, is_new] = adds.try_emplace(n.op, false);
      if (is_new) known->second = computes(*n.op, [](Expr x, Expr y) { return x + y; });
      is_sum_[k] = known->second && adds_equals(n);
    }
  }

  std::shared_ptr<Graph> run() {
    for (std::size_t k = 0; k < g_.nodes().size(); ++k)
      if (is_sum_[k])
        for (Value v : g_.operands(g_.nodes()[k]))
          if (is_sum(v) && uses_[v] == 1) inner_[index_of(v)] = true;
    std::vector<Sum> sums(g_.nodes().size());  // by the node of the last add
    std::vector<bool> is_part(g_.nodes().size(), false);
    for (std::size_t k = 0; k < g_.nodes().size(); ++k) {
      if (!is_sum_[k] || inner_[k]) continue;
      Sum sum = terms_of(g_.nodes()[k]);
      if (!is_worth_it(sum.products)) continue;
      for (Value v : sum.products) is_part[index_of(v)] = true;
      for (Value v : sum.inner) is_part[index_of(v)] = true;
      sums[k] = std::move(sum);
    }

    GraphCopy copy(g_);
    for (std::size_t k = 0; k < g_.nodes().size(); ++k) {
      if (is_part[k]) continue;
      if (sums[k].products.empty()) {
        copy.copy(g_.nodes()[k]);
      } else {
        emit(copy, g_.nodes()[k], sums[k]);
      }
    }
    return copy.finish();
  }

 private:
  std::size_t index_of(Value v) const { return static_cast<std::size_t>(g_.info(v).node); }
  const Node* maker(Value v) const {
    return g_.info(v).node < 0 ? nullptr : &g_.nodes()[index_of(v)];
  }
  const Shape& shape(Value v) const { return g_.info(v).aval.shape; }
  bool is_sum(Value v) const { return maker(v) && is_sum_[index_of(v)]; }
  bool adds_equals(const Node& n) const {
    const Aval& sum = g_.info(n.first_out).aval;
    return (sum.dtype == float32 || sum.dtype == float64) && sum.shape.is_known() &&
           is_same(shape(g_.operands(n)[0]), sum.shape) &&
           is_same(shape(g_.operands(n)[1]), sum.shape);
  }

  // Of two matrices, for one reader.
  bool is_product(Value v) const {
    const Node* n = maker(v);
    if (!n || !n->op->info.product || uses_[v] != 1) return false;
    const Value a = g_.operands(*n)[0], b = g_.operands(*n)[1];
    return shape(a).rank() == 2 && shape(b).rank() == 2 && shape(a).is_known() &&
           shape(b).is_known();
  }
  bool is_alike(Value a, Value b) const {
    const Node &x = *maker(a), &y = *maker(b);
    return x.op == y.op && x.op->attrs().equal(g_.attrs(x), g_.attrs(y));
  }
  // Along which axis the i-th operands of products like this one are joined.
  int axis(Value product, int i) const {
    return maker(product)->op->info.product->axes(NodeCall(g_, *maker(product)), i).summed;
  }

  // What is added up, from the left to the right.
  struct Sum {
    std::vector<Value> products, others, inner;
  };
  Sum terms_of(const Node& last) const {
    Sum sum;
    std::vector<Value> open{g_.operands(last)[1], g_.operands(last)[0]};
    while (!open.empty()) {
      const Value v = open.back();
      open.pop_back();
      if (is_sum(v) && inner_[index_of(v)]) {
        sum.inner.push_back(v);
        open.push_back(g_.operands(*maker(v))[1]);
        open.push_back(g_.operands(*maker(v))[0]);
      } else {
        const bool joins =
            is_product(v) && (sum.products.empty() || is_alike(v, sum.products.front()));
        (joins ? sum.products : sum.others).push_back(v);
      }
    }
    return sum;
  }

  Value operand(Value product, int i) const {
    return g_.operands(*maker(product))[static_cast<std::size_t>(i)];
  }

  // Where a value's elements are a piece of another one, seen through views; else it is its own.
  Part part_of(Value v) const {
    const std::int64_t count = shape(v).num_elements();
    Value from = v;
    while (maker(from) && maker(from)->op->info.is_view) from = g_.operands(*maker(from))[0];
    const Node* n = maker(from);
    if (!n || !n->op->info.piece) return {v, 0, count};
    const auto output = static_cast<int>(from - n->first_out);
    const std::int64_t begin = n->op->info.piece(NodeCall(g_, *n), output);
    return begin < 0 ? Part{v, 0, count} : Part{g_.operands(*n)[0], begin, begin + count};
  }

  // Whether the i-th operands of all products follow each other in one array.
  bool follow_each_other(const std::vector<Value>& products, int i) const {
    if (axis(products[0], i) != 0) return false;
    for (std::size_t k = 1; k < products.size(); ++k) {
      const Part before = part_of(operand(products[k - 1], i)),
                 now = part_of(operand(products[k], i));
      if (now.whole != before.whole || now.begin != before.end) return false;
    }
    return true;
  }

  // Elements to be copied against elements of sums that are not written.
  bool is_worth_it(const std::vector<Value>& products) const {
    if (products.size() < 2) return false;
    std::int64_t copied = 0;
    for (int i = 0; i < 2; ++i) {
      if (follow_each_other(products, i)) continue;
      for (Value v : products) copied += shape(operand(v, i)).num_elements();
    }
    return copied <
           static_cast<std::int64_t>(products.size() - 1) * shape(products[0]).num_elements();
  }

  // The i-th operands of the products as one.
  Tensor joined(GraphCopy& copy, const std::vector<Value>& products, int i) {
    const auto tensor = [&](Value v) { return copy.to().tensor(copy[v]); };
    if (follow_each_other(products, i)) {
      const Part first = part_of(operand(products.front(), i));
      const Part last = part_of(operand(products.back(), i));
      Tensor piece = tensor(first.whole);
      if (last.end - first.begin != shape(first.whole).num_elements())
        piece = slice(reshape(piece, {-1}), {first.begin}, {last.end - first.begin});
      return reshape(piece, {-1, shape(operand(products[0], i))[1]});
    }
    std::vector<Tensor> parts;
    for (Value v : products) parts.push_back(tensor(operand(v, i)));
    return concat(parts, axis(products[0], i));
  }

  void emit(GraphCopy& copy, const Node& n, const Sum& sum) {
    const AttributeTo line(n.where);
    const Node& product = *maker(sum.products.front());
    const Tensor in[] = {joined(copy, sum.products, 0), joined(copy, sum.products, 1)};
    Tensor total = product.op->run_one(in, g_.attrs(product));
    for (Value v : sum.others) total = (*n.op)(total, copy.to().tensor(copy[v]));
    copy.map(n.first_out, copy.to().value(total));
  }

  const Graph& g_;
  std::vector<std::uint32_t> uses_;  // by value
  std::vector<bool> is_sum_;         // by node: a sum of two arrays of its shape
  std::vector<bool> inner_;          // by node: a sum that only another sum reads
};

}  // namespace

std::shared_ptr<Graph> sum_products(const Graph& graph) { return ProductSums(graph).run(); }

}  // namespace gradus
