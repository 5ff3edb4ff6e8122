#include "gradus/functional.h"

#include <gtest/gtest.h>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using Values = std::vector<double>;

Values values(const Tensor& t) { return t.to_vector<double>(); }

const auto kCubes = [](const Tensor& x) { return reduce_sum(x * x * x); };

TEST(Grad, OfTheFirstArgument) {
  const auto f = [](const Tensor& x, const Tensor& y) { return reduce_sum(x * x * y); };
  const Tensor x = {1.0, 2.0}, y = {3.0, 4.0};
  EXPECT_EQ(values(grad(f)(x, y)), (Values{6, 16}));
  EXPECT_EQ(values(grad<1>(f)(x, y)), (Values{1, 4}));
  const auto [dx, dy] = grad<0, 1>(f)(x, y);
  EXPECT_EQ(values(dx), (Values{6, 16}));
  EXPECT_EQ(values(dy), (Values{1, 4}));
}

TEST(Grad, TheSameTensorAsTwoArguments) {
  const auto f = [](const Tensor& x, const Tensor& y) { return reduce_sum(x * x * y); };
  const Tensor x = {2.0};
  const auto [dx, dy] = grad<0, 1>(f)(x, x);
  EXPECT_EQ(values(dx), (Values{8}));
  EXPECT_EQ(values(dy), (Values{4}));
}

TEST(Grad, OfAStructure) {
  using Parameters = std::map<std::string, Tensor>;
  const Parameters p = {{"w", Tensor{1.0, 2.0}}, {"b", Tensor(0.5)}, {"unused", Tensor(1.0)}};
  const auto loss = [](const Parameters& q, const Tensor& x) {
    return square(reduce_sum(q.at("w") * x) + q.at("b"));
  };
  const auto [value, g] = value_and_grad(loss)(p, Tensor{3.0, 4.0});
  EXPECT_EQ(value.item<double>(), 132.25);
  EXPECT_EQ(values(g.at("w")), (Values{69, 92}));
  EXPECT_EQ(values(g.at("b")), (Values{23}));
  EXPECT_EQ(values(g.at("unused")), (Values{0}));
}

TEST(Grad, WhatElseTheFunctionReturnsComesBack) {
  const auto f = [](const Tensor& x) { return std::pair(reduce_sum(x * x), x + 1.0); };
  const auto [value, g] = value_and_grad(f)(Tensor{1.0, 2.0});
  EXPECT_EQ(value.first.item<double>(), 5);
  EXPECT_EQ(values(value.second), (Values{2, 3}));
  EXPECT_EQ(values(g), (Values{2, 4}));
}

TEST(Grad, OfGradOfGrad) {
  const auto f = [](const Tensor& x) { return x * x * x * x; };
  EXPECT_EQ(grad(grad(grad(f)))(Tensor(2.0)).item<double>(), 48);
  EXPECT_EQ(grad(grad(grad(grad(grad(f)))))(Tensor(2.0)).item<double>(), 0);
}

TEST(Grad, StopGradient) {
  const auto f = [](const Tensor& x) { return x * stop_gradient(x * x); };
  EXPECT_EQ(grad(f)(Tensor(3.0)).item<double>(), 9);
  EXPECT_EQ(jvp(f, Tensor(3.0), Tensor(1.0)).second.item<double>(), 9);
  EXPECT_EQ(grad(grad(f))(Tensor(3.0)).item<double>(), 0);
}

TEST(Jvp, ValueAndDirectionalDerivative) {
  const Tensor x = {1.0, 2.0}, v = {1.0, -1.0};
  const auto [y, dy] = jvp([](const Tensor& a) { return a * a; }, x, v);
  EXPECT_EQ(values(y), (Values{1, 4}));
  EXPECT_EQ(values(dy), (Values{2, -4}));
}

TEST(Jvp, SeveralArgumentsOneOfThemHeldFixed) {
  const auto f = [](const Tensor& x, const Tensor& y) { return std::pair(x * y, x + y); };
  const auto [y, dy] = jvp(f, {Tensor(3.0), Tensor(5.0)}, {Tensor(), Tensor(2.0)});
  EXPECT_EQ(y.first.item<double>(), 15);
  EXPECT_EQ(dy.first.item<double>(), 6);
  EXPECT_EQ(dy.second.item<double>(), 2);
}

TEST(Jvp, OfSomethingIndependentIsZero) {
  const auto [y, dy] = jvp(
      [](const Tensor&) {
        return Tensor{1.0, 2.0};
      },
      Tensor(3.0), Tensor(1.0));
  EXPECT_EQ(values(dy), (Values{0, 0}));
}

// d^n/dx^n of sqrt, whose rule reads its result: every level must see the tangents of the outer
// ones.
TEST(Jvp, NestsToThirdOrder) {
  const auto derivative = [](auto f) {
    return [f](const Tensor& x) { return jvp(f, x, ones({}, float64)).second; };
  };
  const auto f = [](const Tensor& x) { return sqrt(x); };
  const Tensor x(4.0);
  EXPECT_DOUBLE_EQ(derivative(f)(x).item<double>(), 0.25);
  EXPECT_DOUBLE_EQ(derivative(derivative(f))(x).item<double>(), -1.0 / 32);
  EXPECT_DOUBLE_EQ(derivative(derivative(derivative(f)))(x).item<double>(), 3.0 / 256);
  // And mixed with reverse mode at every place.
  EXPECT_DOUBLE_EQ(grad(derivative(derivative(f)))(x).item<double>(), 3.0 / 256);
  EXPECT_DOUBLE_EQ(derivative(grad(derivative(f)))(x).item<double>(), 3.0 / 256);
  EXPECT_DOUBLE_EQ(derivative(derivative(grad(f)))(x).item<double>(), 3.0 / 256);
  EXPECT_DOUBLE_EQ(grad(grad(derivative(f)))(x).item<double>(), 3.0 / 256);
  EXPECT_DOUBLE_EQ(grad(derivative(grad(f)))(x).item<double>(), 3.0 / 256);
  EXPECT_DOUBLE_EQ(derivative(grad(grad(f)))(x).item<double>(), 3.0 / 256);
}

TEST(Vjp, ThePullbackMayBeCalledOften) {
  const auto f = [](const Tensor& x, const Tensor& y) { return x * y; };
  const auto [z, pull] = vjp(f, std::tuple(Tensor{1.0, 2.0}, Tensor{3.0, 4.0}));
  EXPECT_EQ(values(z), (Values{3, 8}));
  for (const double scale : {1.0, 10.0}) {
    const auto [dx, dy] = pull(Tensor{scale, 0.0});
    EXPECT_EQ(values(dx), (Values{3 * scale, 0}));
    EXPECT_EQ(values(dy), (Values{1 * scale, 0}));
  }
}

TEST(Vjp, ThePullbackIsDifferentiable) {
  // <w, J v> as a function of x, through the pullback: d/dx (w * 2x) = 2 w.
  const Tensor w = {1.0, 10.0};
  const auto f = [&](const Tensor& x) {
    return reduce_sum(vjp([](const Tensor& a) { return a * a; }, x).second(w));
  };
  EXPECT_EQ(values(grad(f)(Tensor{3.0, 4.0})), (Values{2, 20}));
}

TEST(Linearize, MapsDirectionsWithoutRunningTheFunctionAgain) {
  int calls = 0;
  const auto f = [&](const Tensor& x) {
    ++calls;
    return sqrt(x * x + 3.0) * reduce_sum(x);
  };
  const Tensor x = {1.0, 2.0};
  const auto [y, map] = linearize(f, x);
  for (const Tensor& v : {Tensor{1.0, 0.0}, Tensor{0.5, -2.0}}) {
    const Tensor expected = jvp(f, x, v).second, got = map(v);
    for (int i = 0; i < 2; ++i)
      EXPECT_NEAR(values(got)[static_cast<std::size_t>(i)],
                  values(expected)[static_cast<std::size_t>(i)], 1e-14);
  }
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(values(map(Tensor())), (Values{0, 0}));
}

TEST(Linearize, ReusesDeadTangents) {
  // One value used several times, on ways that do and do not lead to the result.
  const auto f = [](const Tensor& x) {
    const Tensor a = x * x, unused = a * a;
    const Tensor b = a + x, c = b * a;
    return c + reduce_sum(a) + stop_gradient(unused);
  };
  const Tensor x = {1.0, 2.0, -1.0}, v = {0.5, 1.0, 2.0};
  EXPECT_EQ(values(linearize(f, x).second(v)), values(jvp(f, x, v).second));
}

TEST(Hvp, IsForwardOverReverse) {
  const Tensor x = {1.0, 2.0}, v = {1.0, -1.0};
  EXPECT_EQ(values(hvp(kCubes, x, v)), (Values{6, -12}));
  const auto f = [](const Tensor& a, const Tensor& b) { return reduce_sum(a * a * b); };
  const auto h = hvp(f, {Tensor(2.0), Tensor(5.0)}, {Tensor(1.0), Tensor(10.0)});
  EXPECT_EQ(h[0].item<double>(), 10 * 1 + 4 * 10);
  EXPECT_EQ(h[1].item<double>(), 4 * 1);
}

TEST(GaussNewton, DropsTheCurvatureOfTheModel) {
  // model(x) = x^2, loss(z) = sum z^2: J = 2x, H = 2, so G = 8 x^2 while the Hessian is 12 x^2.
  const auto model = [](const Tensor& x) { return x * x; };
  const auto loss = [](const Tensor& z) { return reduce_sum(z * z); };
  const Tensor x = {1.0, 3.0}, v = {1.0, 0.5};
  EXPECT_EQ(values(gauss_newton_vector_product(model, loss, x, v)), (Values{8, 36}));
  EXPECT_EQ(values(hvp([&](const Tensor& a) { return loss(model(a)); }, x, v)), (Values{12, 54}));
}

TEST(FunctionJacobian, BothModesAndChunksAgree) {
  const Tensor w = {{1.0, -2.0}, {0.5, 3.0}, {-1.0, 1.0}};
  const auto f = [&](const Tensor& x) {
    return transpose(sqrt(square(matmul(x, w)) + 1.0)) * reduce_sum(x);
  };
  const Tensor x = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
  const Values expected = values(jacobian(f, x, {.mode = JacobianMode::reverse}));
  for (const std::int64_t chunk : {0, 1, 4}) {
    for (const JacobianMode mode :
         {JacobianMode::automatic, JacobianMode::forward, JacobianMode::reverse}) {
      const Jacobian j = jacobian(f, x, {.mode = mode, .chunk = chunk});
      EXPECT_EQ(j.tensor().shape(), Shape({2, 2, 2, 3}));
      const Values got = values(j);
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12);
    }
  }
}

TEST(FunctionJacobian, ChoosesByShape) {
  const auto widen = [](const Tensor& x) { return broadcast_to(x * x, {50}) * 2.0; };
  const auto narrow = [](const Tensor& x) { return reduce_sum(x * x); };
  EXPECT_EQ(jacobian(widen, ones({1}, float64)).report().mode, JacobianMode::forward);
  EXPECT_EQ(jacobian(narrow, ones({50}, float64)).report().mode, JacobianMode::reverse);
  const auto r =
      jacobian(narrow, ones({50}, float64), {.mode = JacobianMode::forward, .chunk = 20}).report();
  EXPECT_EQ(r.mode, JacobianMode::forward);
  EXPECT_EQ(r.reason, "asked for");
  EXPECT_EQ(r.inputs, 50);
  EXPECT_EQ(r.outputs, 1);
  EXPECT_EQ(r.passes, 3);
  EXPECT_EQ(r.chunk, 20);
}

TEST(FunctionJacobian, ReportReads) {
  const auto narrow = [](const Tensor& x) { return reduce_sum(x * x); };
  EXPECT_EQ(to_string(jacobian(narrow, ones({50}, float64)).report()),
            "reverse mode: 50 directions forward would cost about 2.45e+05, 1 rows back about "
            "7.35e+03 (in flops; a byte counts as 4)\n"
            "1 x 50 derivatives in 1 pass of up to 1, about 150 flops and 1.8e+03 bytes\n");
}

TEST(FunctionJacobian, SeveralArgumentsAndIntegers) {
  const auto f = [](const Tensor& x, const Tensor& rows, const Tensor& y) {
    return gather(x, rows) * y;
  };
  const Jacobian j = jacobian(f, {Tensor{1.0, 2.0, 3.0}, Tensor{2, 0}, Tensor{5.0, 7.0}});
  EXPECT_EQ(values(j.blocks()[0]), (Values{0, 0, 5, 7, 0, 0}));
  EXPECT_FALSE(j.blocks()[1].defined());
  EXPECT_EQ(values(j.blocks()[2]), (Values{3, 0, 0, 1}));
  EXPECT_THROW(j.tensor(), InvalidArgumentError);
}

TEST(Hessian, OfScalarsVectorsAndSeveralArguments) {
  const auto f = [](const Tensor& x) { return reduce_sum(x * x * x) + square(reduce_sum(x)); };
  const Tensor x = {1.0, 2.0};
  for (const JacobianMode mode :
       {JacobianMode::automatic, JacobianMode::forward, JacobianMode::reverse}) {
    EXPECT_EQ(values(hessian(f, x, {.mode = mode})), (Values{8, 2, 2, 14}));
  }
  const auto g = [](const Tensor& a) { return a * a * a; };
  const Tensor h = hessian(g, x);
  EXPECT_EQ(h.shape(), Shape({2, 2, 2}));
  EXPECT_EQ(values(h), (Values{6, 0, 0, 0, 0, 0, 0, 12}));

  const auto two = [](const Tensor& a, const Tensor& b) { return reduce_sum(a * a) * b; };
  const Jacobian blocks = hessian(two, {Tensor{1.0, 3.0}, Tensor(5.0)});
  EXPECT_EQ(values(blocks.blocks()[0]), (Values{10, 0, 0, 10}));
  EXPECT_EQ(values(blocks.blocks()[1]), (Values{2, 6}));
  EXPECT_EQ(values(blocks.blocks()[2]), (Values{2, 6}));
  EXPECT_EQ(values(blocks.blocks()[3]), (Values{0}));
}

TEST(Hessian, OfALinearFunctionIsZero) {
  EXPECT_EQ(values(hessian([](const Tensor& x) { return reduce_sum(x * 2.0); }, Tensor{1.0, 2.0})),
            (Values{0, 0, 0, 0}));
}

TEST(Functional, NestsWithVmapAndTapes) {
  const Tensor xs = {{1.0, 2.0}, {3.0, 4.0}};
  EXPECT_EQ(values(vmap(grad(kCubes))(xs)), (Values{3, 12, 27, 48}));
  const Tensor h = vmap([](const Tensor& x) { return hessian(kCubes, x).tensor(); })(xs);
  EXPECT_EQ(values(h), (Values{6, 0, 0, 12, 18, 0, 0, 24}));
  const auto total = [](const Tensor& a) { return reduce_sum(vmap(grad(kCubes))(a)); };
  EXPECT_EQ(values(grad(total)(xs)), (Values{6, 12, 18, 24}));
  GradientTape tape;
  tape.watch(xs);
  const Tensor j = jacobian([](const Tensor& a) { return reduce_sum(a * a, {1}); }, xs);
  EXPECT_EQ(values(tape.gradient(j, xs)), (Values{2, 2, 2, 2}));
}

TEST(Functional, Errors) {
  const auto message = [](auto f) {
    try {
      f();
    } catch (const InvalidArgumentError& e) {
      return std::string(e.message());
    }
    return std::string("no error");
  };
  const auto twice = [](const Tensor& x) { return x + x; };
  EXPECT_EQ(message([&] {
              grad(twice)(Tensor{1.0, 2.0});
            }),
            "[grad] the function returned shape (2,) and dtype float64; it must return a float "
            "scalar: sum or average, or use jacobian or vjp");
  EXPECT_EQ(message([&] { grad(twice)(Tensor(1)); }),
            "[grad] got int32; only float and complex tensors have gradients, cast it");
  EXPECT_EQ(message([&] {
              jvp(twice, Tensor{1.0, 2.0}, Tensor{1.0});
            }),
            "[jvp] number 0 has shape (1,) and dtype float64; expected shape (2,) and dtype "
            "float64");
  EXPECT_EQ(message([&] {
              vjp(twice, Tensor{1.0, 2.0}).second(Tensor{1.0f, 2.0f});
            }),
            "[vjp] number 0 has shape (2,) and dtype float32; expected shape (2,) and dtype "
            "float64");
  EXPECT_EQ(message([&] {
              jvp(twice, {Tensor(1.0), Tensor(1.0)}, {Tensor(1.0), Tensor(1.0)});
            }),
            "the function takes 1 tensors, got 2");
  EXPECT_EQ(
      message([&] { jacobian([](const Tensor& x) { return std::pair(x, x); }, Tensor(1.0)); }),
      "[jacobian] the function returned 2 tensors; it must return one float or complex "
      "tensor");
}

}  // namespace
}  // namespace gradus
