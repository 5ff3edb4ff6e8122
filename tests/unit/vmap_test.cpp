#include "gradus/vmap.h"

#include <gtest/gtest.h>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using Values = std::vector<double>;

const Tensor kMatrix = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};

TEST(Vmap, MapsAxisZeroAndStacksResults) {
  const auto f = [](const Tensor& v) {
    EXPECT_EQ(v.shape(), Shape({3}));
    return reduce_sum(v * v);
  };
  const Tensor y = vmap(f)(kMatrix);
  EXPECT_EQ(y.shape(), Shape({2}));
  EXPECT_EQ(y.to_vector<double>(), (Values{14, 77}));
}

TEST(Vmap, OtherAxesAndSharedArguments) {
  const Tensor w = {10.0, 100.0};
  const Tensor y = vmap([](const Tensor& a, const Tensor& column) { return a * column; },
                        std::nullopt, -1)(w, kMatrix);
  EXPECT_EQ(y.shape(), Shape({3, 2}));
  EXPECT_EQ(y.to_vector<double>(), (Values{10, 400, 20, 500, 30, 600}));
}

TEST(Vmap, ResultThatDoesNotDependOnTheExampleIsRepeated) {
  const Tensor y = vmap([](const Tensor&) { return Tensor(7.0); })(kMatrix);
  EXPECT_EQ(y.to_vector<double>(), (Values{7, 7}));
}

TEST(Vmap, StructuresGoInAndOut) {
  using Parameters = std::map<std::string, Tensor>;
  const Parameters p = {{"a", kMatrix}, {"b", Tensor{1.0, 2.0}}};
  const auto [scaled, parts] = vmap([](const Parameters& q, double factor) {
    return std::pair(q.at("a") * q.at("b") * factor, std::vector<Tensor>{q.at("b"), Tensor()});
  })(p, 2.0);
  EXPECT_EQ(scaled.to_vector<double>(), (Values{2, 4, 6, 16, 20, 24}));
  EXPECT_EQ(parts[0].to_vector<double>(), (Values{1, 2}));
  EXPECT_FALSE(parts[1].defined());
}

TEST(Vmap, Nests) {
  // All pairs of rows: an outer product written for two scalars.
  const Tensor a = {1.0, 2.0, 3.0}, b = {10.0, 20.0};
  const auto times = [](const Tensor& x, const Tensor& y) { return x * y; };
  const auto row = [&](const Tensor& x) {
    return vmap([&](const Tensor& y) { return times(x, y); })(b);
  };
  const Tensor y = vmap(row)(a);
  EXPECT_EQ(y.shape(), Shape({3, 2}));
  EXPECT_EQ(y.to_vector<double>(), (Values{10, 20, 20, 40, 30, 60}));
  // Both levels on one tensor, used again at the outer level afterwards.
  const Tensor z = vmap([](const Tensor& v) {
    const Tensor centred = vmap([&](const Tensor& e) { return e - reduce_mean(v); })(v);
    return reduce_sum(centred * centred);
  })(kMatrix);
  EXPECT_EQ(z.to_vector<double>(), (Values{2, 2}));
}

TEST(Vmap, MatrixProductsOfEveryKindOfOperand) {
  const Tensor m = {{1.0, 2.0}, {3.0, 4.0}};
  const Tensor batch = reshape(Tensor{1.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 2.0}, {2, 2, 2});
  const auto product = [](const Tensor& a, const Tensor& b) { return matmul(a, b); };
  EXPECT_EQ(vmap(product, 0, std::nullopt)(batch, m).to_vector<double>(),
            (Values{1, 2, 3, 4, 2, 4, 6, 8}));
  EXPECT_EQ(vmap(product, std::nullopt, 0)(m, batch).to_vector<double>(),
            (Values{1, 2, 3, 4, 2, 4, 6, 8}));
  EXPECT_EQ(vmap(product)(batch, batch).to_vector<double>(), (Values{1, 0, 0, 1, 4, 0, 0, 4}));
}

TEST(Vmap, EmptyAndSingleBatches) {
  const auto f = [](const Tensor& v) { return reduce_sum(v + 1.0); };
  EXPECT_EQ(vmap(f)(zeros({0, 3})).shape(), Shape({0}));
  EXPECT_EQ(vmap(f)(zeros({1, 3})).to_vector<float>(), (std::vector<float>{3}));
}

TEST(Vmap, OfATape) {
  // The gradient of each row's sum of cubes, with a tape that lives inside the mapped function.
  const auto gradient = [](const Tensor& v) {
    GradientTape tape;
    tape.watch(v);
    return tape.gradient(reduce_sum(v * v * v), v);
  };
  const Gradient g = vmap(gradient)(kMatrix);
  EXPECT_EQ(g.tensor().to_vector<double>(), (Values{3, 12, 27, 48, 75, 108}));
}

TEST(Vmap, InsideATape) {
  const Tensor w = {1.0, -1.0, 2.0};
  GradientTape tape;
  tape.watch(kMatrix);
  tape.watch(w);
  const Tensor y = vmap([&](const Tensor& v) { return reduce_sum(v * v * w); })(kMatrix);
  const auto [dx, dw] = tape.gradient(y, kMatrix, w);
  EXPECT_EQ(dx.tensor().to_vector<double>(), (Values{2, -4, 12, 8, -10, 24}));
  EXPECT_EQ(dw.tensor().to_vector<double>(), (Values{17, 29, 45}));
}

TEST(Vmap, TapesInsideAndOutsideGiveSecondDerivatives) {
  GradientTape outer;
  outer.watch(kMatrix);
  const Tensor g = vmap([](const Tensor& v) {
    GradientTape inner;
    inner.watch(v);
    return inner.gradient(reduce_sum(v * v * v), v).tensor();
  })(kMatrix);
  EXPECT_EQ(outer.gradient(g, kMatrix).tensor().to_vector<double>(),
            (Values{6, 12, 18, 24, 30, 36}));
}

TEST(Vmap, ForwardModeInsideAndOutside) {
  const Tensor v = ones({2, 3}, float64);
  const auto cube = [](const Tensor& x) { return x * x * x; };
  {
    const ForwardAccumulator acc(kMatrix, v);
    const Tensor y = vmap(cube)(kMatrix);
    EXPECT_EQ(acc.jvp(y).tensor().to_vector<double>(), (Values{3, 12, 27, 48, 75, 108}));
  }
  const Gradient t = vmap([&](const Tensor& x, const Tensor& u) {
    const ForwardAccumulator acc(x, u);
    return acc.jvp(cube(x));
  })(kMatrix, v);
  EXPECT_EQ(t.tensor().to_vector<double>(), (Values{3, 12, 27, 48, 75, 108}));
}

TEST(Vmap, PerExampleGradientsOfVariablesAndTensors) {
  const Variable w(Tensor{1.0, 2.0, 3.0});
  const Tensor b(0.5), unused = {1.0};
  const Tensor targets = {1.0, 2.0};
  const auto loss = [&](const Tensor& x, const Tensor& y) {
    return square(reduce_sum(x * w) + b - y);
  };
  const auto g = per_example_gradients(loss, {w, b, unused}, kMatrix, targets);
  // Residuals: 13.5 and 30.5; gradients 2 r x and 2 r.
  EXPECT_EQ(g[0].to_vector<double>(), (Values{27, 54, 81, 244, 305, 366}));
  EXPECT_EQ(g[1].to_vector<double>(), (Values{27, 61}));
  EXPECT_EQ(g[2].shape(), Shape({2, 1}));
  EXPECT_EQ(g[2].to_vector<double>(), (Values{0, 0}));
}

TEST(Vmap, AccumulatingKernelsAreNotUsedOnBatchedOrFollowedValues) {
  // The second product's gradient meets a first one that is already there.
  const Tensor w = {{1.0, 2.0}, {3.0, 4.0}}, fixed = {{1.0, 1.0}};
  const Tensor xs = reshape(Tensor{1.0, 2.0, 3.0, 4.0}, {2, 1, 2});
  const auto loss = [&](const Tensor& x) {
    return reduce_sum(matmul(x, w)) + reduce_sum(matmul(fixed, w));
  };
  const auto g = per_example_gradients(loss, {w}, xs);
  EXPECT_EQ(g[0].to_vector<double>(), (Values{2, 2, 3, 3, 4, 4, 5, 5}));

  const Tensor x = {{2.0, 3.0}};
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(w);
  const Tensor y = reduce_sum(matmul(x, w)) + reduce_sum(matmul(fixed, w));
  const Tensor dw = inner.gradient(y, w);
  EXPECT_EQ(outer.gradient(dw, x).tensor().to_vector<double>(), (Values{2, 2}));
}

TEST(Vmap, Errors) {
  const auto sum = [](const Tensor& a, const Tensor& b) { return a + b; };
  const auto message = [](auto f) {
    try {
      f();
    } catch (const InvalidArgumentError& e) {
      return std::string(e.message());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message([&] { vmap(sum)(kMatrix, Tensor{1.0}); }),
            "[vmap] argument 1 of shape (1,) has 1 examples along axis 0, the arguments before it "
            "2; they must agree");
  EXPECT_EQ(message([&] { vmap(sum)(kMatrix, Tensor(1.0)); }),
            "[vmap] argument 1 is a scalar and has no axis to map; give std::nullopt as its "
            "in_axes to share it between the examples");
  EXPECT_EQ(message([&] { vmap(sum, 0)(kMatrix, kMatrix); }),
            "[vmap] got 1 in_axes for 2 arguments; give one per argument, or none to map axis 0 of "
            "all");
  EXPECT_EQ(message([&] { vmap(sum, std::nullopt, std::nullopt)(kMatrix, kMatrix); }),
            "[vmap] no argument is mapped; at least one in_axes must be an axis, not nullopt");
  EXPECT_EQ(message([&] { vmap(sum, 0, 2)(kMatrix, kMatrix); }),
            "[vmap] axis 2 is out of range for a tensor of rank 2; it must be in [-2, 2)");
  EXPECT_NE(message([&] {
              vmap([](const Tensor& v) { return Tensor(v.item<double>()); })(Tensor{1.0});
            }).find("batched tensor"),
            std::string::npos);
  Tensor kept;
  EXPECT_NE(message([&] {
              vmap([&](const Tensor& v) {
                vmap([&](const Tensor& e) { return kept = e; })(v);
                return kept;
              })(kMatrix);
            }).find("has ended"),
            std::string::npos);
}

// An example that has stopped is where its body need not have derivatives, and has none to give.
TEST(Vmap, LoopsOfExamplesThatStopEarlyHaveTheirOwnGradients) {
  const auto f = [](const Tensor& x, const Tensor& y) {
    const auto [h, turns] = while_loop(
        [](Tensor h, Tensor) { return h > 1.5; },
        [&](Tensor h, Tensor k) { return std::tuple(sqrt(h - 1.0) * y / sqrt(y), k + 1); },
        std::tuple(x, Tensor(0)));
    return h * h * x;
  };
  const Tensor xs{10.0, 3.0, 0.5, 40.0}, y(1.1);  // sqrt(0.5 - 1) and its derivative are NaN
  std::vector<Tensor> each;
  Tensor by_y(0.0);
  for (const Tensor& x : unstack(xs, 0)) {
    each.push_back(grad([&](const Tensor& t) { return f(t, y); })(x));
    by_y = by_y + (x.item<double>() > 1.5 ? grad([&](const Tensor& t) { return f(x, t); })(y)
                                          : Tensor(0.0));
  }
  const Tensor expected = stack(each, 0);
  const auto around = [&](const Tensor& t, const Tensor& s) {
    GradientTape tape;
    tape.watch(t);
    tape.watch(s);
    const Tensor sum = reduce_sum(vmap([&](const Tensor& x) { return f(x, s); })(t));
    const auto [by_x, by_s] = tape.gradient(sum, t, s);
    return std::pair(by_x.tensor(), by_s.tensor());
  };
  for (const auto& [by_x, by_s] : {around(xs, y), function(around)(xs, y)}) {
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(by_x.data<double>()[i], expected.data<double>()[i], 1e-12) << i;
    EXPECT_NEAR(by_s.item<double>(), by_y.item<double>(), 1e-12);
  }
}

// Each example runs the branch that it chose and no other: the others' NaN do not reach it.
TEST(Vmap, ExamplesChooseForThemselves) {
  const auto f = [](const Tensor& x, const Tensor& y) {
    return cond(
        x > 0, [&] { return sqrt(x) * y; }, [&] { return x * x * y; });
  };
  const auto g = [](const Tensor& x, const Tensor& y) {
    const std::vector<std::function<Tensor()>> branches = {
        [&] { return sqrt(-x) * y; }, [&] { return log(x) + y; }, [&] { return x * x; }};
    return switch_case(cast(floor(x), int32) + 1, branches);
  };
  const Tensor xs{4.0, -3.0, 0.25, -0.5, 2.5, 9.0}, y(1.5);
  const std::vector<std::function<Tensor(const Tensor&, const Tensor&)>> functions = {f, g};
  for (const auto& h : functions) {
    std::vector<Tensor> values, first, second;
    for (const Tensor& x : unstack(xs, 0)) {
      const auto at = [&](const Tensor& t) { return h(t, y); };
      values.push_back(at(x));
      first.push_back(grad(at)(x));
      second.push_back(grad(grad(at))(x));
    }
    const auto all = [&](const Tensor& t) {
      return vmap([&](const Tensor& x) { return h(x, y); })(t);
    };
    const auto by = [&](const Tensor& t) {
      return grad([&](const Tensor& s) { return reduce_sum(all(s)); })(t);
    };
    const auto again = [&](const Tensor& t) {
      return grad([&](const Tensor& s) { return reduce_sum(by(s)); })(t);
    };
    const auto inside = [&](const Tensor& t) {
      return vmap(grad([&](const Tensor& x) { return h(x, y); }))(t);
    };
    const auto expect = [&](const Tensor& got, const std::vector<Tensor>& want, const char* what) {
      for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(got.data<double>()[i], want[i].item<double>(), 1e-12) << what << " " << i;
    };
    expect(all(xs), values, "values");
    expect(function(all)(xs), values, "compiled values");
    expect(by(xs), first, "gradients");
    expect(function(by)(xs), first, "compiled gradients");
    expect(again(xs), second, "second gradients");
    expect(function(again)(xs), second, "compiled second gradients");
    expect(inside(xs), first, "gradients inside");
    expect(function(inside)(xs), first, "compiled gradients inside");
    // One map inside the other: of all pairs, and of rows.
    const auto pairs = [&](const Tensor& t) {
      return vmap([&](const Tensor& x) {
        return vmap([&](const Tensor& factor) { return h(x, factor) * factor; })(Tensor{1.5, 2.0});
      })(t);
    };
    const auto rows = [&](const Tensor& t) {
      return vmap(vmap([&](const Tensor& x) { return h(x, y); }))(reshape(t, {2, 3}));
    };
    for (const Tensor& got : {rows(xs), function(rows)(xs)})
      expect(reshape(got, {6}), values, "rows of rows");
    for (const Tensor& got : {pairs(xs), function(pairs)(xs)})
      for (std::size_t i = 0; i < 6; ++i)
        for (std::size_t k = 0; k < 2; ++k) {
          const Tensor factor(k == 0 ? 1.5 : 2.0);
          EXPECT_NEAR(got.data<double>()[2 * i + k],
                      (h(unstack(xs, 0)[i], factor) * factor).item<double>(), 1e-12)
              << i << " " << k;
        }
  }
}

}  // namespace
}  // namespace gradus
