#include "compile/sum_products.h"

#include "compile/graph_copy.h"
#include "gradus/indexing.h"
#include "gradus/ops.h"
#include "ops/matmul_attrs.h"
#include "ops/moves.h"
#include "ops/records.h"

namespace gradus {
namespace {

using Value = Graph::Value;
using Node = Graph::Node;

// Rows [begin, end) of a larger array's axis 0.
struct Part {
  Value whole;
  std::int64_t begin, end;
};

class ProductSums {
 public:
  explicit ProductSums(const Graph& g)
      : g_(g), uses_(g.value_count(), 0), inner_(g.nodes().size()) {
    for (const Node& n : g.nodes())
      for (Value v : g.operands(n)) ++uses_[v];
    for (Value v : g.outputs()) ++uses_[v];
  }

  std::shared_ptr<Graph> run() {
    for (const Node& n : g_.nodes())
      if (is_sum(&n))
        for (Value v : g_.operands(n))
          if (is_sum(maker(v)) && uses_[v] == 1) inner_[index_of(v)] = true;
    std::vector<Sum> sums(g_.nodes().size());  // by the node of the last add
    std::vector<bool> is_part(g_.nodes().size(), false);
    for (std::size_t k = 0; k < g_.nodes().size(); ++k) {
      if (!is_sum(&g_.nodes()[k]) || inner_[k]) continue;
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
  std::int64_t rows(Value v) const { return shape(v)[0]; }

  bool is_sum(const Node* n) const {
    if (!n || n->op != &add_op) return false;
    const Value v = n->first_out;
    const DType dtype = g_.info(v).aval.dtype;
    return (dtype == float32 || dtype == float64) && shape(g_.operands(*n)[0]) == shape(v) &&
           shape(g_.operands(*n)[1]) == shape(v) && !shape(v).is_symbolic();
  }

  // a^T b of two matrices, for one reader.
  bool is_product(Value v) const {
    const Node* n = maker(v);
    if (!n || n->op != &matmul_op || uses_[v] != 1) return false;
    const auto& p = *static_cast<const MatmulAttrs*>(g_.attrs(*n));
    const Value a = g_.operands(*n)[0], b = g_.operands(*n)[1];
    return p.transpose_a && !p.transpose_b && shape(a).rank() == 2 && shape(b).rank() == 2 &&
           !shape(a).is_symbolic() && !shape(b).is_symbolic();
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
      if (is_sum(maker(v)) && inner_[index_of(v)]) {
        sum.inner.push_back(v);
        open.push_back(g_.operands(*maker(v))[1]);
        open.push_back(g_.operands(*maker(v))[0]);
      } else {
        (is_product(v) ? sum.products : sum.others).push_back(v);
      }
    }
    return sum;
  }

  Value operand(Value product, std::size_t i) const { return g_.operands(*maker(product))[i]; }

  // Where a value is whole rows of another one, as a slice and then views of it.
  Part part_of(Value v) const {
    const std::int64_t own = rows(v);
    Value from = v;
    while (maker(from) && maker(from)->op->info.is_view) from = g_.operands(*maker(from))[0];
    const Node* n = maker(from);
    if (!n || n->op != &slice_op) return {v, 0, own};
    const auto& p = *static_cast<const SliceAttrs*>(g_.attrs(*n));
    const Value whole = g_.operands(*n)[0];
    for (int i = 1; i < p.size.rank(); ++i)
      if (p.size[i] != shape(whole)[i]) return {v, 0, own};
    if (shape(whole).is_symbolic() || shape(whole).rank() == 0) return {v, 0, own};
    return {whole, p.begin[0], p.begin[0] + p.size[0]};
  }

  // Whether the i-th operands of all products follow each other in one array.
  bool follow_each_other(const std::vector<Value>& products, std::size_t i) const {
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
    for (std::size_t i = 0; i < 2; ++i) {
      if (follow_each_other(products, i)) continue;
      for (Value v : products) copied += shape(operand(v, i)).num_elements();
    }
    return copied <
           static_cast<std::int64_t>(products.size() - 1) * shape(products[0]).num_elements();
  }

  // The i-th operands of the products, one under the other.
  Tensor joined(GraphCopy& copy, const std::vector<Value>& products, std::size_t i) {
    const auto tensor = [&](Value v) { return copy.to().tensor(copy[v]); };
    if (follow_each_other(products, i)) {
      const Part first = part_of(operand(products.front(), i));
      const Part last = part_of(operand(products.back(), i));
      Shape begin, size = shape(first.whole);
      for (int axis = 0; axis < size.rank(); ++axis) begin.push_back(0);
      begin[0] = first.begin;
      size[0] = last.end - first.begin;
      const Tensor whole = tensor(first.whole);
      const Tensor block = size == whole.shape() ? whole : slice(whole, begin, size);
      return reshape(block, {-1, shape(operand(products[0], i))[1]});
    }
    std::vector<Tensor> parts;
    for (Value v : products) parts.push_back(tensor(operand(v, i)));
    return concat(parts, 0);
  }

  void emit(GraphCopy& copy, const Node& n, const Sum& sum) {
    const AttributeTo line(n.where);
    Tensor total =
        matmul(joined(copy, sum.products, 0), joined(copy, sum.products, 1), {.transpose_a = true});
    for (Value v : sum.others) total = add(total, copy.to().tensor(copy[v]));
    copy.map(n.first_out, copy.to().value(total));
  }

  const Graph& g_;
  std::vector<std::uint32_t> uses_;  // by value
  std::vector<bool> inner_;          // by node: a sum that only another sum reads
};

}  // namespace

std::shared_ptr<Graph> sum_products(const Graph& graph) { return ProductSums(graph).run(); }

}  // namespace gradus
