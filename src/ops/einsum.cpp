// einsum and tensordot, as transposes, reshapes and matrix products.
//
// Each operand is a tensor and one label per axis. First every operand gets rid of what concerns
// only itself: repeated labels become diagonals, labels that nobody else has are summed. Then two
// operands at a time become one by a batched matrix product: labels of both that are still needed
// are the batch, labels of both that are not are summed, the others are rows and columns.
#include <algorithm>
#include <map>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/linalg.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "graph/attrs.h"
#include "graph/symbols.h"
#include "ops/axes.h"

namespace gradus {
namespace {

using Labels = std::string;

struct Factor {
  Tensor value;
  Labels labels;
};

bool has(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }

[[noreturn]] void bad_equation(const std::string& equation, const std::string& why) {
  fail<InvalidArgumentError>("[einsum] equation '", equation, "': ", why);
}

// Axes under "..." get labels that no user can write, numbered from the last.
char ellipsis_label(int from_end) { return static_cast<char>(1 + from_end); }

// The labels of one operand or of the output, with "..." spelled out for `axes` axes (-1: none
// allowed).
Labels spell_out(const std::string& equation, const std::string& text, int ellipsis_axes) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (text.compare(i, 3, "...") != 0 || text.find('.', i + 3) != std::string::npos)
        bad_equation(equation, "dots must be one '...' per operand");
      for (int k = ellipsis_axes - 1; k >= 0; --k) labels.push_back(ellipsis_label(k));
      i += 2;
    } else if (('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z')) {
      labels.push_back(c);
    } else {
      bad_equation(equation, std::string("'") + c + "' is not a label");
    }
  }
  return labels;
}

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

Equation parse(const std::string& equation, const std::vector<Tensor>& inputs) {
  const std::size_t arrow = equation.find("->");
  std::vector<std::string> parts(1);
  for (char c : equation.substr(0, arrow)) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  if (parts.size() != inputs.size()) {
    bad_equation(equation, "it has " + std::to_string(parts.size()) + " operands, " +
                               std::to_string(inputs.size()) + " tensors were given");
  }
  Equation result;
  int most = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const int named = static_cast<int>(spell_out(equation, parts[i], 0).size());
    const bool dots = parts[i].find('.') != std::string::npos;
    const int under_dots = inputs[i].rank() - named;
    if (dots ? under_dots < 0 : under_dots != 0) {
      bad_equation(equation, "operand " + std::to_string(i) + " has " + std::to_string(named) +
                                 " labels for a tensor of shape " + to_string(inputs[i].shape()));
    }
    if (dots) most = std::max(most, under_dots);
    result.inputs.push_back(spell_out(equation, parts[i], under_dots));
  }
  if (arrow != std::string::npos) {
    result.output = spell_out(equation, equation.substr(arrow + 2), most);
  } else {
    std::map<char, int> count;
    for (const Labels& labels : result.inputs)
      for (char c : labels) ++count[c];
    for (int k = most - 1; k >= 0; --k) result.output.push_back(ellipsis_label(k));
    for (const auto& [label, n] : count)
      if (n == 1 && label >= 'A') result.output.push_back(label);
  }
  for (char c : result.output) {
    const bool known = std::any_of(result.inputs.begin(), result.inputs.end(),
                                   [c](const Labels& labels) { return has(labels, c); });
    if (!known || std::count(result.output.begin(), result.output.end(), c) > 1)
      bad_equation(equation, std::string("output label '") + c +
                                 "' must occur in an operand and once in the output");
  }
  return result;
}

// The size of each label; an axis of size 1 under "..." is repeated.
std::map<char, Size> sizes_of(const std::string& equation, const std::vector<Factor>& operands) {
  std::map<char, Size> sizes;
  for (const Factor& o : operands) {
    for (int i = 0; i < o.value.rank(); ++i) {
      const char label = o.labels[static_cast<std::size_t>(i)];
      const Size n = o.value.shape()[i];
      const auto [known, is_new] = sizes.try_emplace(label, n);
      if (is_new || is_same(known->second, n)) continue;
      if (label < 'A' && (known->second == 1 || n == 1)) {
        if (known->second == 1) known->second = n;
      } else if (sizes_agree(known->second, n)) {
        if (!known->second.is_known()) known->second = n;
      } else {
        bad_equation(equation, std::string("label '") + (label < 'A' ? '.' : label) +
                                   "' has size " + to_string(known->second) + " and size " +
                                   to_string(n));
      }
    }
  }
  return sizes;
}

Tensor permuted(const Tensor& x, const Labels& from, const Labels& to) {
  if (from == to) return x;
  Ints order;
  for (char c : to) order.push_back(static_cast<std::int64_t>(from.find(c)));
  return transpose(x, order);
}

// Labels that occur twice in one operand become one, along the diagonal.
void take_diagonals(Factor& o) {
  for (std::size_t i = 0; i < o.labels.size(); ++i) {
    const std::size_t j = o.labels.find(o.labels[i], i + 1);
    if (j == Labels::npos) continue;
    Ints order;
    Labels rest;
    for (std::size_t k = 0; k < o.labels.size(); ++k) {
      if (k == i || k == j) continue;
      order.push_back(static_cast<std::int64_t>(k));
      rest.push_back(o.labels[k]);
    }
    order.push_back(static_cast<std::int64_t>(i));
    order.push_back(static_cast<std::int64_t>(j));
    o.value = linalg::diag_part(transpose(o.value, order));
    o.labels = rest + o.labels[i];
    i = Labels::npos;  // from the start: the order has changed
  }
}

// Sums the labels of one operand that nobody needs.
void sum_unneeded(Factor& o, const Labels& needed) {
  Ints axes;
  Labels kept;
  for (std::size_t i = 0; i < o.labels.size(); ++i) {
    if (has(needed, o.labels[i])) {
      kept.push_back(o.labels[i]);
    } else {
      axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  if (axes.rank() == 0) return;
  o.value = reduce_sum(o.value, axes);
  o.labels = kept;
}

// An operand as [batch, rows, columns], or with the last two swapped if that needs no copy.
struct Matrix {
  Tensor value;
  bool transposed;
};
Matrix as_matrix(const Factor& o, const Labels& batch, const Labels& rows, const Labels& columns,
                 const Shape& shape) {
  const bool swapped = o.labels == batch + columns + rows && o.labels != batch + rows + columns;
  const Tensor x = swapped ? o.value : permuted(o.value, o.labels, batch + rows + columns);
  return {reshape(x, swapped ? Shape{shape[0], shape[2], shape[1]} : shape), swapped};
}

Factor contract(const Factor& a, const Factor& b, const Labels& needed,
                const std::map<char, Size>& sizes) {
  Labels batch, summed, rows, columns;
  for (char c : a.labels) (!has(b.labels, c) ? rows : has(needed, c) ? batch : summed).push_back(c);
  for (char c : b.labels)
    if (!has(a.labels, c)) columns.push_back(c);
  const auto count = [&](const Labels& labels) {
    Size n = 1;
    for (char c : labels) n = n * sizes.at(c);
    return n;
  };
  const Size p = count(batch), m = count(rows), k = count(summed), n = count(columns);
  Shape shape;
  std::string labels = batch;
  labels += rows;
  labels += columns;
  for (char c : labels) shape.push_back(sizes.at(c));
  const Matrix left = as_matrix(a, batch, rows, summed, {p, m, k});
  const Matrix right = as_matrix(b, batch, summed, columns, {p, k, n});
  Tensor product;
  if (summed.empty()) {  // an outer product needs no sums
    product = reshape(left.value, {p, m, 1}) * reshape(right.value, {p, 1, n});
  } else if (batch.empty()) {
    const auto flat = [](const Matrix& x) {
      return reshape(x.value, {x.value.shape()[1], x.value.shape()[2]});
    };
    product = matmul(flat(left), flat(right), {left.transposed, right.transposed});
  } else {
    product = matmul(left.value, right.value, {left.transposed, right.transposed});
  }
  return {reshape(product, shape), batch + rows + columns};
}

// Which two operands to contract first: the pair with the smallest result, or the first two if
// sizes are not known.
std::pair<std::size_t, std::size_t> cheapest(const std::vector<Factor>& operands,
                                             const std::map<char, Size>& sizes) {
  std::pair<std::size_t, std::size_t> best{0, 1};
  double least = -1;
  for (const auto& [label, n] : sizes)
    if (!n.is_known()) return best;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t j = i + 1; j < operands.size(); ++j) {
      double work = 1;
      Labels seen;
      for (char c : operands[i].labels + operands[j].labels) {
        if (has(seen, c)) continue;
        seen.push_back(c);
        work *= static_cast<double>(std::int64_t{sizes.at(c)});
      }
      if (least >= 0 && work >= least) continue;
      least = work;
      best = {i, j};
    }
  }
  return best;
}

}  // namespace

Tensor einsum(const std::string& equation, const std::vector<Tensor>& inputs) {
  const Equation parsed = parse(equation, inputs);
  std::vector<Factor> operands;
  for (std::size_t i = 0; i < inputs.size(); ++i) operands.push_back({inputs[i], parsed.inputs[i]});
  const auto sizes = sizes_of(equation, operands);
  for (Factor& o : operands) {
    Shape shape;
    for (char c : o.labels) shape.push_back(c < 'A' ? sizes.at(c) : o.value.shape()[shape.rank()]);
    o.value = broadcast_to(o.value, shape);
    take_diagonals(o);
  }
  // Labels that the output or an operand other than i and j still needs.
  const auto needed = [&](std::size_t i, std::size_t j) {
    Labels labels = parsed.output;
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (k != i && k != j) labels += operands[k].labels;
    return labels;
  };
  for (std::size_t i = 0; i < operands.size(); ++i) sum_unneeded(operands[i], needed(i, i));
  while (operands.size() > 1) {
    const auto [i, j] = cheapest(operands, sizes);
    Factor product = contract(operands[i], operands[j], needed(i, j), sizes);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(j));
    operands[i] = std::move(product);
    sum_unneeded(operands[i], needed(i, i));
  }
  return permuted(operands[0].value, operands[0].labels, parsed.output);
}

Tensor tensordot(In a, In b, const Shape& axes_of_a, const Shape& axes_of_b) {
  const int rank_a = a->rank(), rank_b = b->rank();
  bool fits = axes_of_a.rank() == axes_of_b.rank();
  Ints order_a, order_b;
  Shape shape;
  Size m = 1, k = 1, n = 1;
  const auto contains = [](const Shape& axes, int axis, int rank) {
    return std::any_of(axes.begin(), axes.end(),
                       [&](std::int64_t x) { return normal_axis("tensordot", x, rank) == axis; });
  };
  normal_axes("tensordot", axes_of_a, rank_a);  // no axis twice
  normal_axes("tensordot", axes_of_b, rank_b);
  for (int i = 0; i < rank_a; ++i) {
    if (contains(axes_of_a, i, rank_a)) continue;
    order_a.push_back(i);
    shape.push_back(a->shape()[i]);
    m = m * a->shape()[i];
  }
  for (int i = 0; fits && i < axes_of_a.rank(); ++i) {
    const int in_a = normal_axis("tensordot", axes_of_a[i], rank_a);
    const int in_b = normal_axis("tensordot", axes_of_b[i], rank_b);
    order_a.push_back(in_a);
    order_b.push_back(in_b);
    fits = sizes_agree(a->shape()[in_a], b->shape()[in_b]);
    k = k * a->shape()[in_a];
  }
  if (!fits) {
    fail<InvalidArgumentError>("[tensordot] axes ", axes_of_a, " of shape ", a->shape(), " and ",
                               axes_of_b, " of shape ", b->shape(), " do not have the same sizes");
  }
  for (int i = 0; i < rank_b; ++i) {
    if (contains(axes_of_b, i, rank_b)) continue;
    order_b.push_back(i);
    shape.push_back(b->shape()[i]);
    n = n * b->shape()[i];
  }
  const auto in_order = [](const Ints& order) {
    return std::is_sorted(order.begin(), order.end());
  };
  const Tensor left = in_order(order_a) ? a.tensor() : transpose(a, order_a);
  const Tensor right = in_order(order_b) ? b.tensor() : transpose(b, order_b);
  return reshape(matmul(reshape(left, {m, k}), reshape(right, {k, n})), shape);
}

Tensor tensordot(In a, In b, int axes) {
  if (axes < 0 || axes > std::min(a->rank(), b->rank())) {
    fail<InvalidArgumentError>("[tensordot] axes is ", axes, " for shapes ", a->shape(), " and ",
                               b->shape());
  }
  Shape last, first;
  for (int i = 0; i < axes; ++i) {
    last.push_back(a->rank() - axes + i);
    first.push_back(i);
  }
  return tensordot(a, b, last, first);
}

}  // namespace gradus
