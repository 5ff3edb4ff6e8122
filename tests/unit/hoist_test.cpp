// What is the same at every turn of a loop runs once, before it.
#include "compile/passes/hoist.h"

#include <gtest/gtest.h>

#include "compile/passes/clean.h"
#include "gradus/gradus.h"
#include "graph/evaluate.h"
#include "graph_text_util.h"

namespace gradus {
namespace {

std::shared_ptr<Graph> hoisted(const std::shared_ptr<Graph>& g) { return hoist(g); }

// A loop over h with the captures a and b; `body` makes %9 of %0 = h, %1 = a, %2 = b.
std::string counted(const std::string& body, const std::string& count) {
  return R"(%0 = input : float32 (3,)
            %1 = input : float32 (3,)
            %2 = input : float32 (3,)
            %3 = input : float32 (s0,)
            %4 = counted_loop(%0, %1, %2, loop=do {
              %0 = input : float32 (3,)
              %1 = input : float32 (3,)
              %2 = input : float32 (3,)
              )" +
         body + R"(
              return %9
            } carries 1 rows 0 makes 0, count=)" +
         count + R"() : float32 (3,)
            return %4)";
}

TEST(HoistPass, InvariantsOfACountedLoopMoveOut) {
  expect_pass(hoisted,
              counted(R"(%4 = multiply(%1, %2) : float32 (3,)
                         %5 = exp(%4) : float32 (3,)
                         %6 = add(%0, %5) : float32 (3,)
                         %9 = tanh(%6) : float32 (3,))",
                      "5"),
              R"(%0 = input : float32 (3,)
                 %1 = input : float32 (3,)
                 %2 = input : float32 (3,)
                 %3 = input : float32 (s0,)
                 %4 = multiply(%1, %2) : float32 (3,)
                 %5 = exp(%4) : float32 (3,)
                 %6 = counted_loop(%0, %1, %2, %5, loop=do {
                   %0 = input : float32 (3,)
                   %1 = input : float32 (3,)
                   %2 = input : float32 (3,)
                   %3 = input : float32 (3,)
                   %4 = add(%0, %3) : float32 (3,)
                   %5 = tanh(%4) : float32 (3,)
                   return %5
                 } carries 1 rows 0 makes 0, count=5) : float32 (3,)
                 return %6)");
}

TEST(HoistPass, WhatAFusedLoopMakesOnTheWayStays) {
  const std::string text = counted(R"(%4 = reduce_sum(%1, axes=(0,), keepdims=False) : float32 ()
                                      %5 = broadcast_to(%4, shape=(3,)) : float32 (3,)
                                      %6 = reshape(%2, shape=(3,)) : float32 (3,)
                                      %7 = add(%0, %5) : float32 (3,)
                                      %9 = add(%7, %6) : float32 (3,))",
                                   "5");
  const std::string after = to_text(*hoist(from_text(text)));
  const std::size_t loop = after.find("counted_loop");
  EXPECT_LT(after.find("reduce_sum"), loop) << after;
  EXPECT_GT(after.find("broadcast_to"), loop) << after;
  EXPECT_GT(after.find("reshape"), loop) << after;
}

TEST(HoistPass, WhatMayFailMovesOnlyOutOfALoopThatSurelyRuns) {
  const std::string body = R"(%3 = constant(0, 7, 1) : int32 (3,)
                              %4 = gather(%1, %3, axis=0, batch_dims=0) : float32 (3,)
                              %9 = add(%0, %4) : float32 (3,))";
  const auto moves = [&](const std::string& count) {
    const std::string after = to_text(*hoist(from_text(counted(body, count))));
    return after.find("gather") < after.find("counted_loop");
  };
  EXPECT_TRUE(moves("1"));
  EXPECT_FALSE(moves("0"));
  EXPECT_FALSE(moves("s0"));
}

TEST(HoistPass, NothingToMoveIsTheSameGraph) {
  const auto graph = from_text(counted("%9 = multiply(%0, %1) : float32 (3,)", "5"));
  EXPECT_EQ(hoist(graph), graph);
}

TEST(HoistPass, TheTestOfAWhileGivesItsShareToo) {
  const std::string text = R"(
    %0 = constant(0) : int64 ()
    %1 = input : float32 (3,)
    %2 = input : float32 (3,)
    %3, %4 = while(%0, %1, %2, loop=while {
      %0 = input : int64 ()
      %1 = input : float32 (3,)
      %2 = input : float32 (3,)
      %3 = exp(%2) : float32 (3,)
      %4 = reduce_sum(%3, axes=(0,), keepdims=False) : float32 ()
      %5 = reduce_sum(%1, axes=(0,), keepdims=False) : float32 ()
      %6 = less(%5, %4) : bool ()
      return %6
    } do {
      %0 = input : int64 ()
      %1 = input : float32 (3,)
      %2 = input : float32 (3,)
      %3 = constant(1) : int64 ()
      %4 = add(%0, %3) : int64 ()
      %5 = square(%2) : float32 (3,)
      %6 = add(%1, %5) : float32 (3,)
      return %4, %6
    } at most -1) : int64 (), float32 (3,)
    return %3, %4)";
  const auto graph = from_text(text), after = hoist(graph);
  ASSERT_EQ(after->nodes().size(), 4u) << to_text(*after);
  EXPECT_EQ(after->nodes()[3].in_count, 5u);
  const std::vector<Tensor> x{Tensor({0.1f, 0.2f, 0.3f}), Tensor({1.0f, -1.0f, 0.5f})};
  const auto a = evaluate(*graph, x), b = evaluate(*after, x);
  EXPECT_EQ(to_string(a[0]), to_string(b[0]));
  EXPECT_EQ(to_string(a[1]), to_string(b[1]));
}

// As users write it: inner loops, sizes that are symbols, no turns at all, derivatives.
Tensor nested(const Tensor& x, const Tensor& w, const Tensor& turns) {
  const auto outer = [&](const std::vector<Tensor>& v) {
    const Tensor inner = while_loop(
        [&](const std::vector<Tensor>& u) { return u[0] < 3; },
        [&](const std::vector<Tensor>& u) {
          return std::vector<Tensor>{
              u[0] + 1, tanh(matmul(u[1], transpose(w)) + exp(reduce_sum(w, {0})) * 0.01)};
        },
        std::vector<Tensor>{zeros({}, int32), v[1]})[1];
    return std::vector<Tensor>{v[0] + 1, inner + sin(w)};
  };
  return while_loop([&](const std::vector<Tensor>& v) { return v[0] < turns; }, outer,
                    std::vector<Tensor>{zeros({}, int32), x})[1];
}

TEST(Hoist, NestedLoopsAgreeAtAnyNumberOfTurnsAndSize) {
  const auto plain = function(nested, {.skip_passes = {"hoist"}}), moved = function(nested);
  for (const std::int64_t n : {4, 6}) {
    for (const int turns : {0, 1, 3}) {
      const Tensor x = random::stateless_normal({n, n}, Tensor({1, 2}), {.dtype = float64});
      const Tensor w = random::stateless_normal({n, n}, Tensor({3, 4}), {.dtype = float64});
      EXPECT_EQ(to_string(moved(x, w, Tensor(turns))), to_string(plain(x, w, Tensor(turns))));
      EXPECT_LT(
          reduce_max(abs(moved(x, w, Tensor(turns)) - nested(x, w, Tensor(turns)))).item<double>(),
          1e-12);
    }
  }
  const std::string text = moved.text();  // through both loops
  EXPECT_LT(text.find("transpose"), text.find("while")) << text;
}

TEST(Hoist, GradientsOfLoopsAgree) {
  const auto gradients = [](const Tensor& x, const Tensor& w) {
    GradientTape tape;
    tape.watch(x);
    tape.watch(w);
    const Tensor y = while_loop(
        [](const std::vector<Tensor>& v) { return v[0] < 7; },
        [&](const std::vector<Tensor>& v) {
          return std::vector<Tensor>{v[0] + 1, tanh(matmul(v[1], exp(transpose(w)) * 0.1))};
        },
        std::vector<Tensor>{zeros({}, int32), x})[1];
    const auto [dx, dw] = tape.gradient(reduce_sum(square(y)), x, w);
    return std::pair(dx.tensor(), dw.tensor());
  };
  const Tensor x = random::stateless_normal({3, 3}, Tensor({1, 2}), {.dtype = float64});
  const Tensor w = random::stateless_normal({3, 3}, Tensor({3, 4}), {.dtype = float64});
  const auto plain = function(gradients, {.skip_passes = {"hoist"}}), moved = function(gradients);
  const auto [a, b] = plain(x, w);
  const auto [p, q] = moved(x, w);
  const auto [e, f] = gradients(x, w);
  EXPECT_LT(reduce_max(abs(p - a)).item<double>(), 1e-13);
  EXPECT_LT(reduce_max(abs(q - b)).item<double>(), 1e-13);
  EXPECT_LT(reduce_max(abs(p - e)).item<double>(), 1e-12);
  EXPECT_LT(reduce_max(abs(q - f)).item<double>(), 1e-12);
}

TEST(Hoist, ErrorsOfALoopThatNeverRunsStayAway) {
  const auto f = function([](const Tensor& x, const Tensor& at, const Tensor& n) {
    return while_loop([&](const std::vector<Tensor>& v) { return v[0] < n; },
                      [&](const std::vector<Tensor>& v) {
                        return std::vector<Tensor>{v[0] + 1, v[1] + gather(x, at)};
                      },
                      std::vector<Tensor>{zeros({}, int32), x})[1];
  });
  const Tensor x = {1.0f, 2.0f}, wrong = {5, 9};
  EXPECT_EQ(to_string(f(x, wrong, Tensor(0))), "[1. 2.]");
  EXPECT_THROW(f(x, wrong, Tensor(1)), InvalidArgumentError);
}

TEST(Hoist, RowsAndEffectsStay) {
  const auto f = function([](const Tensor& x, const Tensor& w) {
    return scan(
        [&](const Tensor& h, const Tensor& row) {
          return std::pair(tanh(h + row * exp(w)), h + random::normal({3}) * 0.0f);
        },
        zeros({3}), x);
  });
  const Tensor x = random::stateless_normal({5, 3}, Tensor({1, 2})), w = {0.1f, 0.2f, 0.3f};
  const auto [h, all] = f(x, w);
  Tensor expected = zeros({3});
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(to_string(gather(all, Tensor(i))), to_string(expected)) << i;
    expected = tanh(expected + gather(x, Tensor(i)) * exp(w));
  }
  EXPECT_LT(reduce_max(abs(h - expected)).item<float>(), 1e-6f);
}

}  // namespace
}  // namespace gradus
