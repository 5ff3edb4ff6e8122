// Every record, put to every question that a record can be asked. Nobody writes these by hand: an
// op is tested by being defined. Elementwise records are tried on generated shapes, others on the
// samples that their definitions give.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "autodiff/rules.h"
#include "compile/executable.h"
#include "compile/pipeline.h"
#include "gradus/gradus.h"
#include "graph/batch.h"
#include "graph/elementwise.h"
#include "graph/evaluate.h"
#include "graph/op.h"
#include "graph/product.h"
#include "graph/text.h"
#include "ops/registry.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

struct Case {
  const Op* op;
  std::vector<SampleArg> in;
  std::shared_ptr<void> attrs;
};

std::vector<Case> cases_of(const Op& op) {
  std::vector<Case> cases;
  if (op.kind == Kind::elementwise) {
    const std::vector<std::vector<Shape>> shapes = {{{2, 3}, {2, 3}, {2, 3}, {2, 3}},
                                                    {{}, {}, {}, {}},
                                                    {{4, 1}, {3}, {4, 3}, {1}},
                                                    {{17}, {}, {1}, {17}},
                                                    {{0, 2}, {2}, {1, 2}, {}}};
    for (const auto& set : shapes) {
      Case c{&op, {}, nullptr};
      for (int i = 0; i < op.elementwise->arity; ++i) {
        const bool mask = op.elementwise->bool_inputs >> i & 1;
        c.in.push_back({set[static_cast<std::size_t>(i)], op.info.low, op.info.high,
                        mask ? Fill::boolean : Fill::real});
      }
      cases.push_back(c);
    }
  } else if (op.info.samples) {
    for (const Sample& s : op.info.samples()) cases.push_back({&op, s.in, s.attrs});
  }
  return cases;
}

// Numbers inside the range that are well apart from each other where that matters (ties are tested
// by hand), and never integers, so that derivatives of floor and the like are well defined.
Tensor fill_argument(const SampleArg& a, DType dtype, std::mt19937_64& rng) {
  const auto n = static_cast<std::size_t>(a.shape.num_elements());
  if (a.fill == Fill::integer) {
    std::vector<int> v(n);
    for (int& x : v) {
      x = static_cast<int>(a.low) +
          static_cast<int>(rng() % static_cast<std::uint64_t>(std::max(1.0, a.high - a.low)));
    }
    return Tensor::from(v, a.shape);
  }
  if (a.fill == Fill::boolean) {
    std::vector<double> v(n);
    for (double& x : v) x = static_cast<double>(rng() & 1);
    return cast(Tensor::from(v, a.shape), bool_);
  }
  std::vector<double> v(n);
  if (a.fill == Fill::distinct) {
    for (std::size_t i = 0; i < n; ++i) {
      v[i] = a.low + (a.high - a.low) * (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    }
    std::shuffle(v.begin(), v.end(), rng);
  } else {
    std::uniform_real_distribution<double> uniform(a.low, a.high);
    for (double& x : v) x = std::round(uniform(rng) * 1024) / 1024 + 0x1p-12;
  }
  Tensor t = Tensor::from(v, a.shape);
  if (a.fill == Fill::positive_definite) {
    const std::int64_t m = a.shape.back();
    std::vector<double> eye(static_cast<std::size_t>(m * m), 0);
    for (std::int64_t i = 0; i < m; ++i)
      eye[static_cast<std::size_t>(i * m + i)] = 2.0 * static_cast<double>(m);
    t = matmul(t, t, {.transpose_b = true}) + Tensor::from(eye, {m, m});
  } else if (a.fill == Fill::triangular) {
    const std::int64_t m = a.shape.back();
    std::vector<double> mask(static_cast<std::size_t>(m * m), 0), eye(mask);
    for (std::int64_t i = 0; i < m; ++i) {
      eye[static_cast<std::size_t>(i * m + i)] = 3;
      for (std::int64_t j = 0; j <= i; ++j) mask[static_cast<std::size_t>(i * m + j)] = 1;
    }
    t = t * Tensor::from(mask, {m, m}) + Tensor::from(eye, {m, m});
  }
  return dtype == float64 ? t : cast(t, dtype);
}

std::vector<Tensor> arguments(const Case& c, DType dtype, std::uint64_t seed = 1) {
  std::mt19937_64 rng(seed);
  std::vector<Tensor> in;
  for (const SampleArg& a : c.in) in.push_back(fill_argument(a, dtype, rng));
  return in;
}

Tensors run(const Case& c, std::span<const Tensor> in) { return c.op->run(in, c.attrs.get()); }

bool is_active(const Case& c, std::size_t i) {
  return c.op->is_differentiable_in(static_cast<int>(i)) &&
         (c.in[i].fill != Fill::integer && c.in[i].fill != Fill::boolean);
}

double dot(const Tensor& a, const Tensor& b) {
  const Tensor x = cast(a, float64), y = cast(b, float64);
  double sum = 0;
  for (std::int64_t i = 0; i < x.num_elements(); ++i)
    sum += x.data<double>()[i] * y.data<double>()[i];
  return sum;
}

Tensor random_like(const Tensor& t, std::mt19937_64& rng) {
  return fill_argument({t.shape(), -1, 1, Fill::real}, t.dtype(), rng);
}

// A direction to move an argument in: symmetric matrices stay symmetric.
Tensor direction(const SampleArg& a, const Tensor& t, std::mt19937_64& rng) {
  const Tensor v = random_like(t, rng);
  return a.fill == Fill::positive_definite ? v + linalg::matrix_transpose(v) : v;
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  if (is_complex(a.dtype())) {
    for (std::int64_t i = 0; i < a.num_elements(); ++i) {
      ASSERT_NEAR(0,
                  std::abs(a.data<std::complex<double>>()[i] - b.data<std::complex<double>>()[i]),
                  tolerance)
          << what;
    }
    return;
  }
  const Tensor x = cast(a, float64), y = cast(b, float64);
  for (std::int64_t i = 0; i < x.num_elements(); ++i) {
    const double p = x.data<double>()[i], q = y.data<double>()[i];
    if (std::isnan(p) && std::isnan(q)) continue;
    if (p == q) continue;
    ASSERT_NEAR(p, q, tolerance * (1 + std::abs(p) + std::abs(q))) << what << " at element " << i;
  }
}

class Registry : public testing::TestWithParam<const Op*> {
 protected:
  const Op& op() const { return *GetParam(); }
  bool differentiable() const {
    return op().kind != Kind::not_differentiable &&
           !(op().kind == Kind::elementwise && op().elementwise->makes_bool) &&
           (op().info.dtypes & one_dtype(float64));
  }
  DType widest() const {
    for (DType t : {float64, complex128, int64})
      if (op().info.dtypes & one_dtype(t)) return t;
    return bool_;
  }
  std::string describe(const Case& c) const {
    std::string text = op().name();
    for (const SampleArg& a : c.in) text += " " + to_string(a.shape);
    return text;
  }
};

TEST_P(Registry, IsDocumented) {
  EXPECT_GT(std::strlen(op().info.doc), 4u);
  EXPECT_TRUE(op().kind == Kind::elementwise || op().info.samples) << "no samples to test it on";
}

TEST_P(Registry, EveryDtypeAgreesWithTheWidest) {
  for (const Case& c : cases_of(op())) {
    for (DType t : {float16, bfloat16, float32}) {
      if (!(op().info.dtypes & one_dtype(t)) || !(op().info.dtypes & one_dtype(float64))) continue;
      const std::vector<Tensor> narrow = arguments(c, t);
      std::vector<Tensor> wide;
      for (const Tensor& x : narrow) wide.push_back(x.dtype() == t ? cast(x, float64) : x);
      const Tensors a = run(c, narrow), b = run(c, wide);
      const double tolerance = t == float32 ? 2e-5 : t == float16 ? 2e-2 : 1.5e-1;
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (is_floating(a[i].dtype())) {
          expect_near(a[i], b[i], tolerance, describe(c) + " as " + name_of(t));
        }
      }
    }
  }
}

TEST_P(Registry, ForwardAndReverseAreTransposes) {
  if (!differentiable()) return;
  for (const Case& c : cases_of(op())) {
    const std::vector<Tensor> in = arguments(c, float64);
    std::mt19937_64 rng(7);
    GradientTape tape({.persistent = true});
    std::vector<std::pair<Source, Tensor>> directions;
    std::vector<Source> sources;
    std::vector<Tensor> tangents;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!is_active(c, i)) continue;
      tape.watch(in[i]);
      tangents.push_back(direction(c.in[i], in[i], rng));
      directions.emplace_back(in[i], tangents.back());
      sources.push_back(in[i]);
    }
    if (sources.empty()) continue;
    const ForwardAccumulator acc(directions);
    const Tensors out = run(c, in);
    std::vector<Tensor> targets, weights;
    double forward = 0;
    for (const Tensor& y : out) {
      if (!is_floating(y.dtype())) continue;
      targets.push_back(y);
      weights.push_back(random_like(y, rng));
      const Gradient dy = acc.jvp(y);
      if (!dy.is_none()) {
        ASSERT_EQ(dy.values().shape(), y.shape()) << describe(c);
        forward += dot(dy, weights.back());
      }
    }
    const auto grads = tape.gradient(targets, sources, {.output_gradients = weights});
    double reverse = 0;
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (grads[i].is_none()) continue;
      ASSERT_EQ(grads[i].dense_shape(), sources[i].shape()) << describe(c);
      reverse += dot(grads[i], tangents[i]);
    }
    EXPECT_NEAR(forward, reverse, 1e-9 * (1 + std::abs(forward))) << describe(c);

    // Central differences along the same direction.
    const auto shifted = [&](double h) {
      std::vector<Tensor> moved = in;
      for (std::size_t i = 0, k = 0; i < in.size(); ++i)
        if (is_active(c, i)) moved[i] = in[i] + h * tangents[k++];
      double sum = 0;
      std::size_t k = 0;
      for (const Tensor& y : run(c, moved))
        if (is_floating(y.dtype())) sum += dot(y, weights[k++]);
      return sum;
    };
    const double h = 1e-5, numeric = (shifted(h) - shifted(-h)) / (2 * h);
    EXPECT_NEAR(forward, numeric, 2e-5 * (1 + std::abs(numeric))) << describe(c);
  }
}

// The Hessian of <w, f> along u: reverse over reverse against forward over reverse and differences.
TEST_P(Registry, SecondOrder) {
  if (!differentiable()) return;
  for (const Case& c : cases_of(op())) {
    const std::vector<Tensor> in = arguments(c, float64);
    std::mt19937_64 rng(11);
    std::vector<Source> sources;
    std::vector<Tensor> directions;
    std::vector<std::pair<Source, Tensor>> pairs;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!is_active(c, i)) continue;
      sources.push_back(in[i]);
      directions.push_back(direction(c.in[i], in[i], rng));
      pairs.emplace_back(in[i], directions.back());
    }
    if (sources.empty()) continue;
    std::vector<Tensor> weights;
    for (const Tensor& y : run(c, in))
      if (is_floating(y.dtype())) weights.push_back(random_like(y, rng));

    const auto gradients = [&](const std::vector<Tensor>& at, const std::vector<Source>& wrt) {
      GradientTape inner;
      for (const Source& s : wrt) inner.watch(s.tensor());
      std::vector<Tensor> targets;
      for (const Tensor& y : run(c, at))
        if (is_floating(y.dtype())) targets.push_back(y);
      return inner.gradient(targets, wrt,
                            {.output_gradients = weights, .unconnected = Unconnected::zero});
    };
    GradientTape outer;
    for (const Source& s : sources) outer.watch(s.tensor());
    const ForwardAccumulator acc(pairs);
    const auto g = gradients(in, sources);
    std::vector<Tensor> firsts;
    double forward = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      firsts.push_back(g[i]);
      const Gradient t = acc.jvp(firsts.back());
      if (!t.is_none()) forward += dot(t, directions[i]);
    }
    double reverse = 0;
    const auto h = outer.gradient(firsts, sources, {.output_gradients = directions});
    for (std::size_t i = 0; i < h.size(); ++i)
      if (!h[i].is_none()) reverse += dot(h[i], directions[i]);
    EXPECT_NEAR(forward, reverse, 1e-8 * (1 + std::abs(forward))) << describe(c);

    const auto slope = [&](double step) {
      std::vector<Tensor> moved = in;
      std::vector<Source> wrt;
      for (std::size_t i = 0, k = 0; i < in.size(); ++i) {
        if (!is_active(c, i)) continue;
        moved[i] = in[i] + step * directions[k++];
        wrt.push_back(moved[i]);
      }
      const auto g2 = gradients(moved, wrt);
      double sum = 0;
      for (std::size_t i = 0; i < g2.size(); ++i) sum += dot(g2[i], directions[i]);
      return sum;
    };
    const double e = 1e-5, numeric = (slope(e) - slope(-e)) / (2 * e);
    EXPECT_NEAR(forward, numeric, 1e-4 * (1 + std::abs(numeric))) << describe(c);
  }
}

TEST_P(Registry, BatchedIsALoop) {
  if (op().info.stateful) return;
  const DType dtype = widest();
  for (const Case& c : cases_of(op())) {
    const std::int64_t size = 3;
    for (std::uint32_t batched = 1; batched < (1u << std::min<std::size_t>(c.in.size(), 3));
         ++batched) {
      std::vector<std::vector<Tensor>> examples;
      for (std::int64_t b = 0; b < size; ++b)
        examples.push_back(arguments(c, dtype, 100 + static_cast<std::uint64_t>(b)));
      std::vector<Tensor> in = examples[0];
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (!(batched >> i & 1)) {
          for (auto& e : examples) e[i] = in[i];
          continue;
        }
        std::vector<Tensor> parts;
        for (auto& e : examples) parts.push_back(expand_dims(e[i], 0));
        in[i] = make_batched(concat(parts, 0), 1);
      }
      const Tensors out = run(c, in);
      for (std::int64_t b = 0; b < size; ++b) {
        const Tensors expected = run(c, examples[static_cast<std::size_t>(b)]);
        for (std::size_t i = 0; i < out.size(); ++i) {
          const Tensor whole = unbatch(out[i], 1, size);
          Shape begin, extent = whole.shape();
          for (int a = 0; a < whole.rank(); ++a) begin.push_back(0);
          begin[0] = b;
          extent[0] = 1;
          expect_near(reshape(slice(whole, begin, extent), expected[i].shape()), expected[i], 1e-10,
                      describe(c) + " batched " + std::to_string(batched));
        }
      }
    }
  }
}

TEST_P(Registry, TracedAndCompiledIsEagerAlsoWithSymbolicSizes) {
  if (op().info.stateful) return;
  const DType dtype = widest();
  for (const Case& c : cases_of(op())) {
    if (c.in.empty()) continue;
    const std::vector<Tensor> in = arguments(c, dtype);
    const Tensors eager = run(c, in);
    for (const bool symbolic : {false, true}) {
      auto graph = Graph::make();
      std::vector<Aval> avals;
      for (const Tensor& t : in) avals.push_back({t.dtype(), t.shape()});
      if (symbolic && in[0].rank() > 0) {
        const std::int64_t size = in[0].shape()[0], symbol = graph->symbols().fresh();
        if (size <= 1) continue;  // 0 and 1 stay known
        for (Aval& a : avals)
          if (a.shape.rank() == in[0].rank() && a.shape[0] == size) a.shape[0] = symbol;
      }
      graph = trace([&](std::span<const Tensor> x) { return run(c, x); }, avals, graph);
      const auto traced = evaluate(*graph, in);
      std::vector<Tensor> constants;
      const std::string text = to_text(*graph, &constants);
      ASSERT_EQ(to_text(*from_text(text, constants)), to_text(*graph)) << describe(c);
      std::vector<Tensor> given = in, compiled(eager.size());
      Executable(optimise(graph)).run(given, compiled);
      for (std::size_t i = 0; i < compiled.size(); ++i) {
        ASSERT_EQ(compiled[i].dtype(), eager[i].dtype()) << describe(c);
        expect_near(compiled[i], eager[i], 1e-12, describe(c) + " compiled");
      }
      ASSERT_EQ(traced.size(), eager.size());
      for (std::size_t i = 0; i < traced.size(); ++i) {
        ASSERT_EQ(traced[i].shape(), eager[i].shape()) << describe(c);
        ASSERT_EQ(traced[i].dtype(), eager[i].dtype()) << describe(c);
        EXPECT_EQ(0, std::memcmp(traced[i].raw_data(), eager[i].raw_data(), eager[i].num_bytes()))
            << describe(c) << (symbolic ? " symbolic" : "");
      }
    }
  }
}

// transpose(x, order), element by element.
Tensor permuted(const Tensor& x, const Ints& order) {
  Shape shape;
  for (std::int64_t axis : order) shape.push_back(x.shape()[static_cast<int>(axis)]);
  std::vector<double> values;
  const Tensor from = cast(x, float64);
  for (std::int64_t i = 0; i < shape.num_elements(); ++i) {
    std::int64_t rest = i, at[kMaxRank];
    for (int a = shape.rank() - 1; a >= 0; rest /= shape[a--]) at[order[a]] = rest % shape[a];
    std::int64_t flat = 0;
    for (int a = 0; a < shape.rank(); ++a) flat = flat * x.shape()[a] + at[a];
    values.push_back(from.data<double>()[flat]);
  }
  return cast(Tensor::from(values, shape), x.dtype());
}

std::vector<Ints> orders_of(int rank) {
  Ints order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  std::vector<std::int64_t> axes(order.begin(), order.end());
  std::vector<Ints> all;
  do {
    all.emplace_back(std::span<const std::int64_t>(axes));
  } while (std::next_permutation(axes.begin(), axes.end()));
  return all;
}

void expect_product(const ProductFacts& facts, const Op& op, const void* attrs, const Call& call,
                    std::span<const Tensor> in, std::span<const Tensor> other,
                    const std::string& what) {
  const auto f = [&](const Tensor& a, const Tensor& b) {
    const Tensor operands[] = {a, b};
    return op.run_one(operands, attrs);
  };
  const Tensor product = f(in[0], in[1]);
  const auto a = facts.axes(call, 0), b = facts.axes(call, 1);
  expect_near(f(concat({in[0], other[0]}, a.summed), concat({in[1], other[1]}, b.summed)),
              product + f(other[0], other[1]), 1e-12, what + " joined along the summed axes");
  expect_near(f(in[0], concat({in[1], other[1]}, b.kept)),
              concat({product, f(in[0], other[1])}, -1), 1e-12,
              what + " joined along the kept axis");
  expect_near(f(concat({in[0], other[0]}, a.kept), in[1]),
              concat({product, f(other[0], in[1])}, -2), 1e-12,
              what + " joined along the kept axis");
  if (!facts.permuted) return;
  const auto inverse = [](const Ints& order) {
    Ints result = order;
    for (int i = 0; i < order.rank(); ++i) result[static_cast<int>(order[i])] = i;
    return result;
  };
  for (const Ints& left : orders_of(in[0].rank())) {
    for (const Ints& right : orders_of(in[1].rank())) {
      for (const Ints& result : orders_of(product.rank())) {
        if (!facts.reads(call, 0, left) || !facts.reads(call, 1, right) ||
            !facts.writes(call, result))
          continue;
        const Tensors stored{permuted(in[0], inverse(left)), permuted(in[1], inverse(right))};
        const std::vector<Ints> orders{left, right, result};
        expect_near(facts.permuted(attrs, stored, orders), permuted(product, result), 1e-12,
                    what + " permuted");
      }
    }
  }
}

TEST_P(Registry, WhatItTellsACompilerIsTrue) {
  const OpInfo& info = op().info;
  for (const Case& c : cases_of(op())) {
    const std::vector<Tensor> in = arguments(c, widest());
    const void* attrs = c.attrs.get();
    std::vector<View> views;
    for (const Tensor& t : in) views.push_back({nullptr, &t.shape(), t.dtype()});
    const Call call{op(), attrs, views};
    if (info.is_view)
      expect_near(run(c, in)[0], reshape(in[0], run(c, in)[0].shape()), 0, describe(c) + " view");
    if (info.permutation)
      expect_near(run(c, in)[0], permuted(in[0], info.permutation(attrs)), 0, describe(c));
    if (info.piece) {
      const Tensors out = run(c, in);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::int64_t begin = info.piece(call, static_cast<int>(i));
        if (begin < 0) continue;
        const Tensor part = slice(reshape(in[0], {-1}), {begin}, {out[i].num_elements()});
        expect_near(out[i], reshape(part, out[i].shape()), 0, describe(c) + " piece");
      }
    }
    if (info.product)
      expect_product(*info.product, op(), attrs, call, in, arguments(c, widest(), 2), describe(c));
  }
  if (!info.on_sizes) return;
  for (const std::int64_t x : {0, 7, 12})
    for (const std::int64_t y : {1, 3, 12})
      EXPECT_EQ(info.on_sizes(x, y), op()(Tensor(x), Tensor(y)).item<std::int64_t>());
}

INSTANTIATE_TEST_SUITE_P(AllOps, Registry, testing::ValuesIn(all_ops()),
                         [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace gradus
