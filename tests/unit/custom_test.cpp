#include "gradus/custom.h"

#include <gtest/gtest.h>

#include "gradus/gradus.h"
#include "gradus/memory.h"
#include "graph/evaluate.h"

namespace gradus {
namespace {

using Values = std::vector<double>;

Values values(const Tensor& t) { return t.to_vector<double>(); }

void expect_values(const Tensor& t, const Values& expected) {
  const Values got = values(t);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
}

// x^2 with the derivative 10 x instead of 2 x, so that one sees whose rule was used. The gradient
// function reads a value that was made inside the function.
const auto kSquare = custom_gradient([](const Tensor& x) {
  const Tensor ten_x = x * 10.0;
  return std::pair(x * x, [ten_x](const Tensor& dy) { return dy * ten_x; });
});

// The same by a rule for forward mode.
const auto kSquareJvp = custom_jvp([](const Tensor& x) { return x * x; },
                                   [](const Tensor& x, const Tensor& v) { return v * x * 10.0; });

TEST(CustomGradient, IsUsedInReverseAndForwardMode) {
  const Tensor x = {1.0, 2.0}, v = {1.0, -1.0};
  EXPECT_EQ(values(kSquare(x)), (Values{1, 4}));
  EXPECT_EQ(values(grad([](const Tensor& a) { return reduce_sum(kSquare(a)); })(x)),
            (Values{10, 20}));
  EXPECT_EQ(values(jvp(kSquare, x, v).second), (Values{10, -20}));
  EXPECT_EQ(values(jacobian(kSquare, x)), (Values{10, 0, 0, 20}));
}

TEST(CustomGradient, HigherOrdersDifferentiateTheRule) {
  const auto sum = [](const Tensor& a) { return reduce_sum(kSquare(a)); };
  const Tensor x = {1.0, 2.0};
  for (const JacobianMode mode : {JacobianMode::forward, JacobianMode::reverse}) {
    expect_values(hessian(sum, x, {.mode = mode}), {10, 0, 0, 10});
  }
  const auto derivative = [](auto f) {
    return [f](const Tensor& a) { return jvp(f, a, Tensor{1.0, 1.0}).second; };
  };
  expect_values(derivative(derivative(kSquare))(x), {10, 10});
  expect_values(derivative(derivative(derivative(kSquare)))(x), {0, 0});
}

TEST(CustomGradient, SeveralArgumentsAndNone) {
  const auto f = custom_gradient([](const Tensor& x, const Tensor& y, const Tensor& rows) {
    return std::pair(gather(x, rows) * y,
                     [](const Tensor& dy) { return std::tuple(Tensor(), dy * 3.0, Tensor()); });
  });
  const Tensor x = {1.0, 2.0, 3.0}, y = {4.0, 5.0};
  GradientTape tape;
  tape.watch(x);
  tape.watch(y);
  const Tensor z = f(x, y, Tensor{2, 0});
  EXPECT_EQ(values(z), (Values{12, 5}));
  const auto [dx, dy] = tape.gradient(z, x, y);
  EXPECT_TRUE(dx.is_none());
  EXPECT_EQ(values(dy), (Values{3, 3}));
}

TEST(CustomGradient, StructuresAndRowsPassThrough) {
  using Parameters = std::map<std::string, Tensor>;
  const auto f = custom_gradient([](const Parameters& p) {
    const Tensor table = p.at("table");
    return std::pair(std::pair(reduce_sum(table), p.at("w") * 2.0),
                     [](const std::pair<Tensor, Tensor>& d) {
                       return std::vector<Gradient>{
                           Gradient(Tensor{1}, expand_dims(d.second, 0), {3, 2}), d.second * 7.0};
                     });
  });
  const Parameters p = {{"table", ones({3, 2}, float64)}, {"w", Tensor{1.0, 2.0}}};
  GradientTape tape;
  tape.watch(p.at("table"));
  tape.watch(p.at("w"));
  const auto [sum, twice] = f(p);
  EXPECT_EQ(sum.item<double>(), 6);
  const auto g = tape.gradient(twice, p);
  EXPECT_TRUE(g.at("table").is_rows());
  EXPECT_EQ(values(g.at("table").values()), (Values{1, 1}));
  EXPECT_EQ(values(g.at("w")), (Values{7, 7}));
}

TEST(CustomGradient, WithVariables) {
  const Variable w(Tensor{2.0, 3.0}, {.name = "w"});
  const auto f = custom_gradient([&](const Tensor& x) {
    return std::pair(x * w, [x](const Tensor& dy, const std::vector<Variable>& variables) {
      EXPECT_EQ(variables.size(), 1u);
      return std::pair(dy * 100.0, std::vector<Tensor>{dy * x});
    });
  });
  const Tensor x = {5.0, 7.0};
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  const auto [dx, dw] = tape.gradient(y, x, w);
  EXPECT_EQ(values(dx), (Values{100, 100}));
  EXPECT_EQ(values(dw), (Values{5, 7}));
}

TEST(CustomGradient, InsideAndOutsideVmap) {
  const Tensor xs = {{1.0, 2.0}, {3.0, 4.0}};
  const auto sum = [](const Tensor& a) { return reduce_sum(kSquare(a)); };
  EXPECT_EQ(values(vmap(grad(sum))(xs)), (Values{10, 20, 30, 40}));
  const auto total = [&](const Tensor& a) { return reduce_sum(vmap(kSquare)(a)); };
  EXPECT_EQ(values(grad(total)(xs)), (Values{10, 20, 30, 40}));
  EXPECT_EQ(values(jvp(vmap(kSquare), xs, ones({2, 2}, float64)).second), (Values{10, 20, 30, 40}));
  // Two levels, and a tape that watches from outside both.
  const auto twice = [&](const Tensor& a) {
    return reduce_sum(vmap([](const Tensor& row) { return vmap(kSquare)(row); })(a));
  };
  EXPECT_EQ(values(grad(twice)(xs)), (Values{10, 20, 30, 40}));
  // The second derivative of what is mapped, by tapes on both sides.
  const auto slopes = [&](const Tensor& a) { return reduce_sum(vmap(grad(sum))(a)); };
  EXPECT_EQ(values(grad(slopes)(xs)), (Values{10, 10, 10, 10}));
}

TEST(CustomGradient, SharedArgumentsOfAVmapGetTheSum) {
  const auto product = custom_gradient([](const Tensor& x, const Tensor& y) {
    return std::pair(x * y, [x, y](const Tensor& d) { return std::pair(d * y, d * x); });
  });
  const Tensor xs = {1.0, 2.0, 3.0}, y(10.0);
  const auto total = [&](const Tensor& b) {
    return reduce_sum(vmap(product, 0, std::nullopt)(xs, b));
  };
  EXPECT_EQ(grad(total)(y).item<double>(), 6);
}

TEST(CustomGradient, AResultThatTheUserKeepsIsNotTracked) {
  const Tensor constant(3.0), x(2.0);
  const auto f = custom_gradient([&](const Tensor&) {
    return std::pair(constant, [](const Tensor& dy) { return dy * 5.0; });
  });
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = f(x);
  EXPECT_EQ(tape.gradient(y, x).tensor().item<double>(), 5);
  EXPECT_TRUE(tape.gradient(constant, x).is_none());
}

TEST(CustomGradient, Errors) {
  const auto message = [](auto f) {
    try {
      f();
    } catch (const InvalidArgumentError& e) {
      return std::string(e.message());
    }
    return std::string("no error");
  };
  const auto two = custom_gradient([](const Tensor& x) {
    return std::pair(x * x, [](const Tensor& dy) { return std::pair(dy, dy); });
  });
  EXPECT_EQ(message([&] { grad(two)(Tensor(1.0)); }),
            "[custom_gradient] the gradient function returned 2 gradients for 1 arguments and 0 "
            "variables; it must return one for each, in order");
  const auto wrong = custom_gradient([](const Tensor& x) {
    return std::pair(x * x, [](const Tensor& dy) { return expand_dims(dy, 0); });
  });
  EXPECT_EQ(message([&] { grad(wrong)(Tensor(1.0)); }),
            "[custom_gradient] gradient 0 has shape (1,) and dtype float64; what it belongs to has "
            "shape () and dtype float64");
  const Variable w(Tensor(1.0), {.name = "w"});
  const auto reads = custom_gradient(
      [&](const Tensor& x) { return std::pair(x * w, [](const Tensor& dy) { return dy; }); });
  EXPECT_EQ(message([&] { reads(Tensor(1.0)); }),
            "[custom_gradient] the function read the variable 'w', but its gradient function does "
            "not take variables; give it a second argument, a std::vector<Variable>, and return a "
            "pair: gradients of the arguments and of the variables");
}

TEST(CustomJvp, IsUsedInBothModesAndAllOrders) {
  const Tensor x = {1.0, 2.0}, v = {1.0, -1.0};
  EXPECT_EQ(values(kSquareJvp(x)), (Values{1, 4}));
  EXPECT_EQ(values(jvp(kSquareJvp, x, v).second), (Values{10, -20}));
  const auto sum = [](const Tensor& a) { return reduce_sum(kSquareJvp(a)); };
  EXPECT_EQ(values(grad(sum)(x)), (Values{10, 20}));
  for (const JacobianMode mode : {JacobianMode::forward, JacobianMode::reverse}) {
    expect_values(hessian(sum, x, {.mode = mode}), {10, 0, 0, 10});
  }
  const Tensor xs = {{1.0, 2.0}, {3.0, 4.0}};
  EXPECT_EQ(values(vmap(grad(sum))(xs)), (Values{10, 20, 30, 40}));
  EXPECT_EQ(values(grad([&](const Tensor& a) { return reduce_sum(vmap(kSquareJvp)(a)); })(xs)),
            (Values{10, 20, 30, 40}));
}

TEST(CustomJvp, SeveralArguments) {
  const auto f = custom_jvp(
      [](const Tensor& x, const Tensor& y) { return x * y; },
      [](const Tensor&, const Tensor& y, const Tensor& u, const Tensor&) { return u * y; });
  const Tensor x(3.0), y(5.0);
  const auto [dx, dy] = grad<0, 1>(f)(x, y);
  EXPECT_EQ(dx.item<double>(), 5);
  EXPECT_EQ(dy.item<double>(), 0);
}

TEST(CustomJvp, MayOnlyUseItsArguments) {
  const Tensor w(2.0);
  const Variable b(Tensor(1.0), {.name = "b"});
  const auto uses_tensor = custom_jvp([&](const Tensor& x) { return x * w; },
                                      [](const Tensor&, const Tensor& v) { return v; });
  const auto uses_variable = custom_jvp([&](const Tensor& x) { return x * b; },
                                        [](const Tensor&, const Tensor& v) { return v; });
  EXPECT_EQ(uses_tensor(Tensor(3.0)).item<double>(), 6);  // nobody follows w
  GradientTape tape;
  tape.watch(w);
  const auto message = [](auto f) {
    try {
      f();
    } catch (const InvalidArgumentError& e) {
      return std::string(e.message());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message([&] { uses_tensor(Tensor(3.0)); }),
            "[custom_jvp] the function uses a watched tensor of shape () that is not among its "
            "arguments, and its rule could give no derivative for it; make it an argument, or use "
            "stop_gradient");
  EXPECT_EQ(message([&] { uses_variable(Tensor(3.0)); }),
            "[custom_jvp] the function uses the variable 'b' that is not among its arguments, and "
            "its rule could give no derivative for it; make it an argument, or use stop_gradient");
}

TEST(RecomputeGrad, RunsAgainAndGivesTheSame) {
  int runs = 0;
  const auto f = [&](const Tensor& x) {
    ++runs;
    return reduce_sum(sqrt(x * x + 1.0) * x);
  };
  const auto g = recompute_grad(f);
  const Tensor x = {1.0, 2.0}, v = {0.5, -1.0};
  EXPECT_EQ(values(grad(g)(x)), values(grad(f)(x)));
  EXPECT_EQ(runs, 3);
  expect_values(hvp(g, x, v), values(hvp(f, x, v)));
  expect_values(jvp(g, x, v).second, values(jvp(f, x, v).second));
  for (const JacobianMode mode : {JacobianMode::forward, JacobianMode::reverse}) {
    expect_values(hessian(g, x, {.mode = mode}), values(hessian(f, x)));
  }
}

TEST(RecomputeGrad, VariablesAndSurroundingsGetGradientsAtTheOldValues) {
  const Variable w(Tensor{2.0, 3.0});
  const Tensor scale = {10.0, 100.0}, x = {1.0, 2.0};
  const auto f = recompute_grad([&](const Tensor& a) { return a * w * w * scale; });
  GradientTape tape;
  tape.watch(scale);
  tape.watch(x);
  const Tensor y = f(x);
  w.assign(Tensor{-1.0, -1.0});
  const auto [dw, dscale, dx] = tape.gradient(y, w, scale, x);
  EXPECT_EQ(values(dw), (Values{40, 1200}));
  EXPECT_EQ(values(dscale), (Values{4, 18}));
  EXPECT_EQ(values(dx), (Values{40, 900}));
}

// While a function was traced, only arguments of the trace made the call one that is
// differentiated.
TEST(RecomputeGrad, OfConstantsFollowsWhatItUses) {
  const Variable w(Tensor(2.0));
  const Tensor two(2.0);
  const auto f = [&](const Tensor& x) {
    const Tensor u = sin(x);
    return recompute_grad([&](const Tensor& a) { return tanh(a) * u * u * w; })(two);
  };
  const Tensor x(0.5);
  const auto both = [&](const Tensor& at) {
    GradientTape tape;
    tape.watch(at);
    const auto [dx, dw] = tape.gradient(f(at), at, w);
    return std::pair(dx.tensor(), dw.tensor());
  };
  const double t = std::tanh(2.0), s = std::sin(0.5), c = std::cos(0.5);
  const auto [dx, dw] = function(both)(x);
  EXPECT_NEAR(dx.item<double>(), 4 * t * s * c, 1e-15);
  EXPECT_NEAR(dw.item<double>(), t * s * s, 1e-15);
  EXPECT_NEAR(
      function([&](const Tensor& at) { return jvp(f, at, Tensor(1.0)).second; })(x).item<double>(),
      4 * t * s * c, 1e-15);
  EXPECT_NEAR(function(grad(grad(f)))(x).item<double>(), 4 * t * (c * c - s * s), 1e-15);
}

TEST(RecomputeGrad, AnArgumentMayAlsoBeUsedFromOutside) {
  const Tensor x(3.0);
  const auto f = [](const Tensor& a) {
    return recompute_grad([a](const Tensor& b) { return a * a * b; })(a);
  };
  EXPECT_EQ(grad(f)(x).item<double>(), 27);
  EXPECT_EQ(grad(grad(f))(x).item<double>(), 18);
  EXPECT_EQ(jvp(f, x, Tensor(1.0)).second.item<double>(), 27);
  const Tensor xs = {1.0, 2.0};
  EXPECT_EQ(values(vmap(grad(f))(xs)), (Values{3, 12}));
}

TEST(RecomputeGrad, Nests) {
  const Variable w(Tensor(3.0));
  const auto inner = recompute_grad([&](const Tensor& x) { return x * x * w; });
  const auto outer = recompute_grad([&](const Tensor& x) { return inner(x) * inner(x + 1.0); });
  const auto plain = [&](const Tensor& x) { return x * x * w * ((x + 1.0) * (x + 1.0) * w); };
  const Tensor x(2.0);
  for (const auto& order : {1, 2, 3}) {
    const auto differentiate = [&](auto f) {
      return order == 1 ? grad(f)(x) : order == 2 ? grad(grad(f))(x) : grad(grad(grad(f)))(x);
    };
    EXPECT_DOUBLE_EQ(differentiate(outer).item<double>(), differentiate(plain).item<double>());
  }
  GradientTape t1, t2;
  const Tensor y1 = outer(x), y2 = plain(x);
  EXPECT_DOUBLE_EQ(t1.gradient(y1, w).tensor().item<double>(),
                   t2.gradient(y2, w).tensor().item<double>());
}

TEST(RecomputeGrad, InsideAndOutsideVmap) {
  const Tensor w = {1.0, 2.0}, xs = {{1.0, 2.0}, {3.0, 4.0}};
  const auto plain = [&](const Tensor& x) { return reduce_sum(x * x * w); };
  const auto f = recompute_grad(plain);
  EXPECT_EQ(values(vmap(grad(f))(xs)), values(vmap(grad(plain))(xs)));
  GradientTape tape;
  tape.watch(w);
  tape.watch(xs);
  const Tensor y = vmap(f)(xs);
  const auto [dw, dx] = tape.gradient(y, w, xs);
  EXPECT_EQ(values(dw), (Values{10, 20}));
  EXPECT_EQ(values(dx), (Values{2, 8, 6, 16}));
}

TEST(RecomputeGrad, KeepsNothingInside) {
  const auto deep = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 20; ++i) y = sqrt(y * y + 1.0);
    return y;
  };
  const Tensor x = ones({1 << 16}, float64);
  const auto held = [&](auto f) {
    GradientTape tape;
    tape.watch(x);
    const std::size_t before = memory_stats().live;
    const Tensor y = f(x);
    const std::size_t after = memory_stats().live;
    tape.gradient(y, x);
    return (after - before) / x.num_bytes();
  };
  EXPECT_GE(held(deep), 20u);
  EXPECT_LE(held(recompute_grad(deep)), 2u);
}

TEST(RecomputeGrad, RandomNumbersAreTheSame) {
  random::set_seed(7);
  const auto f = [](const Tensor& x) {
    return reduce_sum(nn::dropout(x, 0.5) * nn::dropout(x * x, 0.3));
  };
  const auto nested = recompute_grad([&](const Tensor& x) { return recompute_grad(f)(x); });
  const Tensor x = ones({64}, float64);
  for (int round = 0; round < 2; ++round) {  // the second round draws other numbers than the first
    random::set_seed(round);
    const Tensor expected = grad(f)(x), next = random::uniform({4});
    for (const auto& g : {std::function<Tensor(const Tensor&)>(recompute_grad(f)),
                          std::function<Tensor(const Tensor&)>(nested)}) {
      random::set_seed(round);
      EXPECT_EQ(values(grad(g)(x)), values(expected));
      EXPECT_EQ(random::uniform({4}).to_vector<float>(), next.to_vector<float>());
    }
  }
}

// d sum(x m) / dx is m, the numbers that were drawn: their sum is the value at x = 1.
void expect_the_same_draw(const std::function<Tensor()>& draw) {
  const Tensor x = ones({64}, float64);
  const auto sum = [&](const Tensor& a) { return reduce_sum(a * draw()); };
  const auto both = [&](const Tensor& a) {
    GradientTape tape;
    tape.watch(a);
    const Tensor y = recompute_grad(sum)(a);
    return std::pair(y, tape.gradient(y, a).tensor());
  };
  const auto compiled = function(both);
  double last = 0;  // each round draws other numbers
  for (int round = 0; round < 2; ++round) {
    const auto [eager, eager_slopes] = both(x);
    EXPECT_NEAR(reduce_sum(eager_slopes).item<double>(), eager.item<double>(), 1e-9);
    const auto [value, slopes] = compiled(x);
    EXPECT_NEAR(reduce_sum(slopes).item<double>(), value.item<double>(), 1e-9);
    EXPECT_NE(value.item<double>(), last);
    last = value.item<double>();
  }
  GradientTape tape;  // around a function that is compiled
  tape.watch(x);
  const auto inside = function([&](const Tensor& a) { return recompute_grad(sum)(a); });
  const Tensor y = inside(x);
  EXPECT_NEAR(reduce_sum(tape.gradient(y, x).tensor()).item<double>(), y.item<double>(), 1e-9);
  const auto called = function([&](const Tensor& a) { return sum(a); });
  GradientTape outer;  // and around one that is called by what runs again
  outer.watch(x);
  const Tensor z = recompute_grad([&](const Tensor& a) { return called(a); })(x);
  EXPECT_NEAR(reduce_sum(outer.gradient(z, x).tensor()).item<double>(), z.item<double>(), 1e-9);
}

TEST(RecomputeGrad, DrawsTheSameNumbersEverywhere) {
  expect_the_same_draw([] { return random::uniform({64}, {.dtype = float64}); });
  expect_the_same_draw([] { return random::uniform({64}, {.dtype = float64, .seed = 3}); });
  expect_the_same_draw([] { return nn::dropout(random::normal({64}, {.dtype = float64}), 0.5); });
  expect_the_same_draw(
      [] { return cast(random::shuffle(range(64)), float64) * range(64.0, Tensor(128.0)); });
  expect_the_same_draw([] {
    const auto f = recompute_grad(
        [](const Tensor& a) { return a * random::uniform({64}, {.dtype = float64}); });
    return f(ones({64}, float64));
  });
}

TEST(RecomputeGrad, NumbersOfALoopCannotBeDrawnAgain) {
  const auto f = recompute_grad([](const Tensor& x) {
    using Vars = std::tuple<Tensor, Tensor>;
    const auto body = [](const Tensor& i, const Tensor& y) {
      return Vars(i + 1, y * random::uniform({}, {.dtype = float64}));
    };
    const auto test = [](const Tensor& i, const Tensor&) { return i < 3; };
    return std::get<1>(while_loop(test, body, Vars(cast(x, int32) * 0, x)));
  });
  const Tensor x(2.0);
  GradientTape tape;  // eager loops are run again with the same numbers
  tape.watch(x);
  const Tensor y = f(x);
  EXPECT_NEAR(tape.gradient(y, x).tensor().item<double>(), y.item<double>() / 2, 1e-12);
  const auto value = function([&](const Tensor& a) { return f(a); });
  EXPECT_GT(value(x).item<double>(), 0);
  EXPECT_THROW(function([&](const Tensor& a) { return grad(f)(a); })(x), UnimplementedError);
}

// y = x w (w + 1), w = w + 1: what is read before and after the write, once.
TEST(RecomputeGrad, WritesHappenOnce) {
  const Variable w(Tensor(2.0)), steps(Tensor(std::int64_t{0}));
  const auto f = [&](const Tensor& x) {
    const Tensor before = x * w;
    w.assign_add(1.0);
    steps.assign_add(1);
    return before * w * cast(steps, float64);
  };
  for (const bool compiled : {false, true}) {
    for (const bool recomputed : {false, true}) {
      w.assign(2.0);
      steps.assign(0);
      const auto both = [&](const Tensor& x) {
        GradientTape tape;
        tape.watch(x);
        const Tensor y = recomputed ? recompute_grad(f)(x) : f(x);
        const auto [dx, dw] = tape.gradient(y, x, w);
        return stack({y, dx.tensor(), dw.tensor()});
      };
      const Tensor x(5.0);
      expect_values(compiled ? function(both)(x) : both(x), {30, 6, 25});
      expect_values(w.value(), {3});
      EXPECT_EQ(steps.value().item<std::int64_t>(), 1);
    }
  }
}

TEST(RecomputeGrad, WritesHappenOnceInEveryMode) {
  const Variable w(Tensor(2.0));
  const auto f = [&](const Tensor& x) {
    const Tensor before = x * x * w;
    w.assign(w * 3.0);
    return before * w;
  };
  const auto g = recompute_grad([&](const Tensor& x) { return recompute_grad(f)(x); });
  const Tensor x(5.0);
  const auto again = [&](const auto& result) {
    w.assign(2.0);
    const double found = result().template item<double>();
    EXPECT_EQ(w.value().item<double>(), 6);
    return found;
  };
  EXPECT_EQ(again([&] { return g(x); }), 300);
  EXPECT_EQ(again([&] { return grad(g)(x); }), 120);
  EXPECT_EQ(again([&] { return jvp(g, x, Tensor(1.0)).second; }), 120);
  EXPECT_EQ(again([&] { return grad(grad(g))(x); }), 24);
  EXPECT_EQ(again([&] { return hvp(g, x, Tensor(1.0)); }), 24);
  const auto inner = function([&](const Tensor& a) { return f(a); });  // writes of programs too
  EXPECT_EQ(
      again([&] { return grad(recompute_grad([&](const Tensor& a) { return inner(a); }))(x); }),
      120);
}

TEST(RecomputeGrad, AWatchedVariableThatIsNotTrainable) {
  const Variable w(Tensor(3.0), {.trainable = false});
  const auto f = recompute_grad([&](const Tensor& x) { return x * w * w; });
  GradientTape tape;
  tape.watch(w);
  EXPECT_EQ(tape.gradient(f(Tensor(2.0)), w).tensor().item<double>(), 12);
}

// A function of one tensor as a graph, with known or unknown sizes.
std::shared_ptr<Graph> graph_of(const std::function<Tensor(const Tensor&)>& f, const Tensor& like,
                                bool symbolic) {
  const auto graph = Graph::make();
  Aval aval{like.dtype(), like.shape()};
  if (symbolic) aval.shape[0] = graph->symbols().fresh();
  return trace([&](std::span<const Tensor> x) { return Tensors{f(x[0])}; }, {&aval, 1}, graph);
}
auto as_function(const std::shared_ptr<Graph>& graph) {
  return [graph](const Tensor& x) { return evaluate(*graph, {&x, 1})[0]; };
}

TEST(CustomInGraphs, TheRuleSurvivesTracing) {
  const Tensor x = {1.0, 2.0}, v = {1.0, -1.0};
  const std::function<Tensor(const Tensor&)> functions[] = {
      kSquare, kSquareJvp, [](const Tensor& a) { return vmap(kSquare)(a); },
      [](const Tensor& a) { return vmap(kSquareJvp)(a); }};
  for (const auto& f : functions) {
    for (const bool symbolic : {false, true}) {
      const auto graph = graph_of([&](const Tensor& a) { return f(a) * 1.0; }, x, symbolic);
      EXPECT_NE(graph->print().find("custom_function"), std::string::npos) << graph->print();
      const auto g = as_function(graph);
      EXPECT_EQ(values(g(x)), (Values{1, 4}));
      const auto sum = [&](const Tensor& a) { return reduce_sum(g(a)); };
      expect_values(grad(sum)(x), {10, 20});
      expect_values(jvp(g, x, v).second, {10, -20});
      expect_values(hessian(sum, x), {10, 0, 0, 10});
      expect_values(hvp(sum, x, v), {10, -10});
    }
  }
}

TEST(CustomInGraphs, DerivativesInsideATrace) {
  const Tensor x = {1.0, 2.0};
  const auto sum = [](const Tensor& a) { return reduce_sum(kSquare(a)); };
  const auto sum_jvp = [](const Tensor& a) { return reduce_sum(kSquareJvp(a)); };
  expect_values(as_function(graph_of(grad(sum), x, true))(x), {10, 20});
  expect_values(as_function(graph_of(grad(sum_jvp), x, true))(x), {10, 20});
  const auto slope = [&](const Tensor& a) { return reduce_sum(grad(sum)(a)); };
  expect_values(as_function(graph_of(grad(slope), x, false))(x), {10, 10});
}

TEST(CustomInGraphs, SurroundingsAndVariables) {
  const Tensor x = {1.0, 2.0};
  const Variable w(Tensor(3.0));
  // recompute_grad: what it uses from outside has gradients, in and after the trace.
  const auto f = [](const Tensor& a) {
    const Tensor twice = a * 2.0;
    return recompute_grad([&](const Tensor& b) { return b * twice; })(a);  // 2 a^2
  };
  const auto g = as_function(graph_of(f, x, true));
  const auto sum = [&](const Tensor& a) { return reduce_sum(g(a)); };
  expect_values(g(x), {2, 8});
  expect_values(grad(sum)(x), {4, 8});
  // custom_gradient: the gradient of a variable, by a tape inside the trace.
  const auto scaled = custom_gradient([&](const Tensor& a) {
    return std::pair(a * w, [a](const Tensor& dy, const std::vector<Variable>&) {
      return std::pair(dy * 100.0, std::vector<Tensor>{reduce_sum(dy * a) * 7.0});
    });
  });
  const auto of_variable = [&](const Tensor& a) {
    GradientTape tape;
    return tape.gradient(reduce_sum(scaled(a)), w).tensor();
  };
  expect_values(as_function(graph_of(of_variable, x, true))(x), {21});
}

TEST(CustomInGraphs, CustomJvpMayOnlyUseItsArguments) {
  const auto f = [](const Tensor& a) {
    return custom_jvp([&](const Tensor& b) { return a * b; },
                      [](const Tensor&, const Tensor& v) { return v; })(a * 2.0);
  };
  EXPECT_THROW(graph_of(f, Tensor{1.0}, false), InvalidArgumentError);
}

TEST(CustomJvp, TangentsHaveTheDTypesOfTheirResults) {
  const auto f =
      custom_jvp([](const Tensor& x) { return x * x; },
                 [](const Tensor& x, const Tensor& t) { return cast(2.0f * x * t, float64); });
  const Tensor x{1.0f, 2.0f};
  const auto what = [&](const auto& call) -> std::string {
    try {
      call();
    } catch (const InvalidArgumentError& e) {
      return e.message();
    }
    return {};
  };
  const std::string expected = "[custom_jvp] tangent 0 has dtype float64; its result has float32";
  EXPECT_EQ(what([&] { jvp(f, x, x); }), expected);
  EXPECT_EQ(what([&] { grad([&](const Tensor& t) { return reduce_sum(f(t)); })(x); }), expected);
}

// What a function takes from its surroundings inside of a vmap is an example, not the whole batch.
TEST(RecomputeGrad, InVmapUnderATape) {
  const Tensor xs = reshape(cast(iota(6), float64), {2, 3}) * 0.3 + 0.1;
  const Tensor shared{0.5, 1.5, -1.0};
  const auto gradient = [&](bool again) {
    GradientTape tape;
    tape.watch(xs);
    tape.watch(shared);
    const Tensor y = vmap([&](const Tensor& x) {
      const Tensor square = x * x;
      const auto f = [x, square, &shared](const Tensor& t) {
        return reduce_sum(sin(t) * square * shared) + reduce_sum(x * t);
      };
      return again ? recompute_grad(f)(x) : f(x);
    })(xs);
    const auto [by_xs, by_shared] = tape.gradient(y, xs, shared);
    return concat({reshape(by_xs.tensor(), {6}), by_shared.tensor()}, 0);
  };
  const Tensor expected = gradient(false), found = gradient(true);
  for (int i = 0; i < 9; ++i)
    EXPECT_NEAR(found.data<double>()[i], expected.data<double>()[i], 1e-12) << i;
}

TEST(RecomputeGrad, InNestedVmapsUnderATape) {
  const Tensor xs = reshape(cast(iota(12), float64), {2, 3, 2}) * 0.2 + 0.1;
  const auto gradient = [&](bool again) {
    GradientTape tape;
    tape.watch(xs);
    const Tensor y = vmap([&](const Tensor& rows) {
      const Tensor total = reduce_sum(rows, {0});
      return vmap([&](const Tensor& row) {
        const Tensor square = row * row;
        const auto f = [square, total](const Tensor& t) {
          return reduce_sum(sin(t) * square * total);
        };
        return again ? recompute_grad(f)(row) : f(row);
      })(rows);
    })(xs);
    return reshape(tape.gradient(y, xs).tensor(), {12});
  };
  const Tensor expected = gradient(false), found = gradient(true);
  for (int i = 0; i < 12; ++i)
    EXPECT_NEAR(found.data<double>()[i], expected.data<double>()[i], 1e-12) << i;
}

}  // namespace
}  // namespace gradus
