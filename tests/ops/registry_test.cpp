// Every record, put to every question that a record can be asked. Nobody writes these by hand: an
// op is tested by being defined. Elementwise records are tried on generated shapes, others on the
// samples that their definitions give.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "autodiff/rules.h"
#include "compile/executable.h"
#include "compile/passes/pipeline.h"
#include "gradus/gradus.h"
#include "graph/batch.h"
#include "graph/evaluate.h"
#include "graph/op.h"
#include "graph/product.h"
#include "graph/text.h"
#include "ops/record_cases.h"
#include "ops/registry.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

class Registry : public testing::TestWithParam<const Op*> {
 protected:
  const Op& op() const { return *GetParam(); }
  bool differentiable() const {
    return has_derivatives(op()) && (op().info.dtypes & one_dtype(float64));
  }
  DType widest() const {
    for (DType t : {float64, complex128, int64})
      if (op().info.dtypes & one_dtype(t)) return t;
    return bool_;
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
        const std::int64_t size = in[0].shape()[0];
        const Size symbol = graph->symbols().fresh(size);
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
