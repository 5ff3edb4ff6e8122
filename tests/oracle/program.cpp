#include "oracle/program.h"

namespace oracle {
namespace {

// Two ops that are always there, to make operands of the right shape and range.

// The elements over and over, until they fill the dims, each time a bit larger (so that few of them
// are equal).
OpDef fit_op() {
  const auto factor = [](Size i, Size elements) {
    return 1 + 0.125 * static_cast<double>(i / elements);
  };
  return {"fit", [](Maker&, Node&) { return false; },
          [factor](const Node& n, const Tensors& in) {
            const Size size = count(n.ints), elements = in[0].num_elements();
            Dims places;
            std::vector<double> factors;
            for (Size i = 0; i < size; ++i) {
              places.push_back(i % elements);
              factors.push_back(factor(i, elements));
            }
            const gd::Tensor repeated =
                gd::gather(gd::reshape(in[0], {-1}), indices({size}, places));
            return gd::reshape(repeated * gd::cast(gd::Tensor::from(factors), in[0].dtype()),
                               to_shape(n.ints));
          },
          with_one_kind([factor](const Node& n, const auto& in) {
            std::remove_cvref_t<decltype(in[0])> out(n.ints);
            using S = std::remove_cvref_t<decltype(out.data[0])>;
            for (Size i = 0; i < out.size(); ++i)
              out[i] = in[0][i % in[0].size()] * S(factor(i, in[0].size()));
            return out;
          })};
}

OpDef into_op() {
  return {"into", [](Maker&, Node&) { return false; },
          [](const Node& n, const Tensors& in) {
            return n.reals[0] + (n.reals[1] - n.reals[0]) * gd::sigmoid(in[0]);
          },
          with_reals([](const Node& n, const auto& in) {
            return map(in[0], [&](const Nil& x) {
              return Nil(n.reals[0]) + Nil(n.reals[1] - n.reals[0]) * sigmoid(x);
            });
          })};
}

bool is_within(const Value& v, double low, double high) {
  const Reals& a = std::get<Reals>(v);
  return std::all_of(a.data.begin(), a.data.end(),
                     [&](const Nil& x) { return x.base() > low && x.base() < high; });
}

template <class T>
std::string list(const std::vector<T>& numbers) {
  std::string text;
  for (const T& n : numbers) {
    std::string one = std::to_string(n);
    text += (text.empty() ? "" : ", ") + one;
  }
  return "{" + text + "}";
}

}  // namespace

const Table& all_ops() {
  static const Table table = [] {
    Table t = {fit_op(), into_op()};
    add_elementwise(t);
    add_shaping(t);
    add_indexing(t);
    add_reductions(t);
    add_linalg(t);
    add_nn(t);
    add_control(t);
    return t;
  }();
  return table;
}

const OpDef& op_named(const std::string& name) {
  for (const OpDef& op : all_ops())
    if (op.name == name) return op;
  throw std::logic_error("no op " + name);
}

template <class V>
static V run_nodes(const Program& program, std::vector<V> values) {
  for (const Node& n : program.nodes) {
    std::vector<V> in;
    for (int i : n.in) in.push_back(values[static_cast<std::size_t>(i)]);
    if constexpr (std::is_same_v<V, Value>) {
      values.push_back(n.op->oracle(n, in));
      require(is_sane(values.back()), "numbers that are too large");
    } else {
      values.push_back(n.op->engine(n, in));
    }
  }
  return values.back();
}

gd::Tensor Program::run(const Tensors& x) const { return run_nodes(*this, x); }
Value Program::run(const Values& x) const { return run_nodes(*this, x); }

std::string Program::text() const {
  std::string text;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    text += "  v" + std::to_string(i) + " = input" + list(inputs[i]) +
            (complex_inputs[i] ? " complex" : "") + "\n";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    text += "  v" + std::to_string(inputs.size() + i) + " = " + n.op->name + "(";
    for (std::size_t k = 0; k < n.in.size(); ++k)
      text += (k ? ", v" : "v") + std::to_string(n.in[k]);
    text += ")";
    if (!n.ints.empty()) text += " " + list(n.ints);
    if (!n.reals.empty()) text += " " + list(n.reals);
    text += "\n";
  }
  return text;
}

void Program::drop_unused() {
  const std::size_t first = inputs.size();
  std::vector<bool> used(first + nodes.size());
  used.back() = true;
  for (std::size_t i = nodes.size(); i-- > 0;)
    if (used[first + i])
      for (int in : nodes[i].in) used[static_cast<std::size_t>(in)] = true;
  std::vector<int> number(used.size());
  std::vector<Node> kept;
  for (std::size_t i = 0; i < first; ++i) number[i] = static_cast<int>(i);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!used[first + i]) continue;
    number[first + i] = static_cast<int>(first + kept.size());
    kept.push_back(nodes[i]);
    for (int& in : kept.back().in) in = number[static_cast<std::size_t>(in)];
  }
  nodes = std::move(kept);
}

Maker::Maker(std::uint64_t seed, Program& program, Values at)
    : random_(seed), program_(program), values_(std::move(at)) {}

Dims Maker::shape(std::size_t max_rank, Size max_size) {
  Dims dims(below(max_rank + 1));
  for (Size& d : dims) d = between(1, max_size);
  return dims;
}

// Mostly late values, so that programs are deep.
int Maker::any(const std::function<bool(const Value&)>& condition) {
  std::vector<int> fitting;
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (condition(values_[i])) fitting.push_back(static_cast<int>(i));
  if (fitting.empty()) throw Rejected("no operand");
  return fitting[std::max(below(fitting.size()), below(fitting.size()))];
}

int Maker::within(int v, double low, double high) {
  if (is_within(value(v), low, high)) return v;
  return append({&op_named("into"), {v}, {}, {low, high}});
}

int Maker::fitted(int v, const Dims& wanted) {
  if (dims(v) == wanted) return v;
  if (count(dims(v)) == 0) throw Rejected("nothing to repeat");
  return append({&op_named("fit"), {v}, wanted});
}

int Maker::append(const Node& node) {
  Values in;
  for (int i : node.in) in.push_back(value(i));
  Value result = node.op->oracle(node, in);
  require(is_sane(result), "numbers that are too large");
  program_.nodes.push_back(node);
  values_.push_back(std::move(result));
  return static_cast<int>(values_.size()) - 1;
}

bool Maker::try_op(const OpDef& op) {
  const std::size_t nodes = program_.nodes.size(), values = values_.size();
  try {
    Node node{&op};
    if (op.make(*this, node)) {
      append(node);
      return true;
    }
  } catch (const Rejected&) {
  }
  program_.nodes.resize(nodes);
  values_.resize(values);
  return false;
}

bool is_sane(const Value& v) {
  return std::visit(
      [](const auto& a) {
        return std::all_of(a.data.begin(), a.data.end(),
                           [](const auto& x) { return oracle::is_sane(x, kLimit); });
      },
      v);
}

gd::Shape to_shape(const Dims& dims) { return gd::Shape(std::span<const std::int64_t>(dims)); }

gd::Tensor indices(const Dims& dims, const Dims& numbers) {
  return gd::Tensor::from(numbers, to_shape(dims));
}

gd::Tensor pick(const Tensors& results, Size which) {
  if (which >= 0) return results[index(which)];
  Tensors parts;
  for (const gd::Tensor& r : results) parts.push_back(gd::reshape(r, {-1}));
  return gd::concat(parts, 0);
}

}  // namespace oracle
