// Programs built by hand and run in sessions.
#include "gradus/graph_program.h"

#include <gtest/gtest.h>

#include "gradus/gradus.h"

namespace gradus {
namespace {

float item(const Tensor& t) { return t.item<float>(); }

template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.message();
  }
  return "no error of this class";
}

TEST(GraphProgram, ARunComputesWhatIsFetchedFromWhatIsFed) {
  const GraphProgram p;
  const Tensor x = p.placeholder(float32, {-1, 2}, "x"), y = p.placeholder(float32, {}, "y");
  const Tensor sum = reduce_sum(x * x), both = sum + y;
  Session s(p);
  const Tensor two = Tensor({{1.f, 2.f}}), four = Tensor({{1.f, 2.f}, {3.f, 4.f}});
  EXPECT_EQ(item(s.run({sum}, {{x, two}})[0]), 5);  // y is not needed
  EXPECT_EQ(item(s.run({sum}, {{x, four}})[0]), 30);
  EXPECT_EQ(item(s.run({both}, {{x, four}, {y, 1.f}})[0]), 31);
  EXPECT_EQ(item(s.run({both}, {{sum, 7.f}, {y, 1.f}})[0]), 8);  // any tensor can be fed
  EXPECT_EQ(message_of<InvalidArgumentError>([&] {
              s.run({both}, {{x, two}});
            }),
            "You must feed a value for placeholder tensor 'y' with dtype float and shape []");
  EXPECT_EQ(message_of<InvalidArgumentError>([&] { s.run({sum}); }),
            "You must feed a value for placeholder tensor 'x' with dtype float and shape [?,2]");
  EXPECT_THROW(s.run({sum}, {{x, Tensor({1.f, 2.f, 3.f})}}), InvalidArgumentError);
  EXPECT_THROW(s.run({sum}, {{x, Tensor({{1, 2}})}}), InvalidArgumentError);  // int32
}

TEST(GraphProgram, FeedingOneOfTwoEqualNodesLeavesTheOther) {
  const GraphProgram p;
  const Tensor x = p.placeholder(float32), a = x + 1, b = x + 1, sum = a * 10 + b;
  Session s(p);
  EXPECT_EQ(item(s.run({sum}, {{x, 1.f}, {a, 5.f}})[0]), 52);
}

TEST(GraphProgram, ASizeOfAPlaceholderNeedsIt) {
  const GraphProgram p;
  const Tensor x = p.placeholder(float32, {-1}, "x");
  const GraphProgram::Scope scope(p);
  const Tensor n = cast(size(x), float32) * 2;
  Session s(p);
  EXPECT_EQ(item(s.run({n}, {{x, Tensor({1.f, 2.f, 3.f})}})[0]), 6);
  EXPECT_THROW(s.run({n}), InvalidArgumentError);
}

TEST(GraphProgram, VariablesHaveAValueInEachSession) {
  const GraphProgram p;
  const Variable w = p.variable(Tensor({1.f, 2.f}), {.name = "w"});
  const Tensor doubled = w * 2;
  const Operation more = p.operation([&] { w.assign_add(Tensor({1.f, 1.f})); });
  Session a(p), b(p);
  EXPECT_EQ(message_of<FailedPreconditionError>([&] { a.run({doubled}); }),
            "Attempting to use uninitialized value w");
  a.run(p.initializer());
  a.run(more);
  a.run(more);
  EXPECT_EQ(a.run({doubled})[0].to_vector<float>(), (std::vector<float>{6, 8}));
  EXPECT_FALSE(b.is_initialized(w));
  b.run(p.initializer(w));
  EXPECT_EQ(b.value(w).to_vector<float>(), (std::vector<float>{1, 2}));
  b.set_value(w, Tensor({5.f, 6.f}));
  EXPECT_EQ(b.run({doubled})[0].to_vector<float>(), (std::vector<float>{10, 12}));
}

TEST(GraphProgram, AFailedRunChangesNothing) {
  const GraphProgram p;
  const Variable w = p.variable(Tensor({1.f, 2.f, 3.f}), {.name = "w"});
  const Tensor i = p.placeholder(int32);
  const Tensor row = gather(w, i);
  const Operation more = p.operation([&] { w.assign_add(Tensor({1.f, 1.f, 1.f}) * row); });
  Session s(p);
  s.run(p.initializer());
  EXPECT_THROW(s.run(more, {{i, 7}}), InvalidArgumentError);
  EXPECT_EQ(s.value(w).to_vector<float>(), (std::vector<float>{1, 2, 3}));
  s.run(more, {{i, 1}});
  EXPECT_EQ(s.value(w).to_vector<float>(), (std::vector<float>{3, 4, 5}));
}

TEST(GraphProgram, ReadsComeBeforeWritesUnlessTheyDependOnThem) {
  const GraphProgram p;
  const Variable w = p.variable(Tensor(1.f), {.name = "w"});
  const Operation add = p.operation([&] { w.assign_add(1); });
  const Tensor free = w * 10;  // made after the write, but nothing puts it there
  std::optional<Tensor> after;
  {
    const GraphProgram::After scope(p, {add});
    after = w * 10;
  }
  Session s(p);
  s.run(p.initializer());
  const auto out = s.run({free, *after}, {}, {add});
  EXPECT_EQ(item(out[0]), 10);
  EXPECT_EQ(item(out[1]), 20);
  const std::string text = s.explain({.fetches = {free, *after}, .operations = {add}});
  EXPECT_NE(text.find("race: 'w' is read at "), std::string::npos) << text;
  EXPECT_NE(text.find("here the read comes first"), std::string::npos) << text;
  EXPECT_EQ(text.find("race", text.find("race") + 1), std::string::npos) << text;
}

TEST(GraphProgram, WritesComeInTheOrderInWhichTheyWereMade) {
  const GraphProgram p;
  const Variable w = p.variable(Tensor(2.f), {.name = "w"});
  const Operation add = p.operation([&] { w.assign_add(3); });
  const Operation set = p.assign(w, w * 10);
  Session s(p);
  s.run(p.initializer());
  s.run({}, {}, {set, add});
  EXPECT_EQ(item(s.value(w)), 20);  // w * 10 was read before both
  const std::string text = s.explain({.fetches = {}, .operations = {set, add}});
  EXPECT_NE(text.find("is written"), std::string::npos) << text;
}

// Two additions are both there, whichever comes first.
TEST(GraphProgram, UpdatesAreNotLost) {
  const GraphProgram p;
  const Variable w = p.variable(zeros({3}), {.name = "w"});
  const Operation a = p.operation([&] { w.assign_add(Tensor({1.f, 1.f, 1.f})); });
  const Operation b = p.operation([&] { w.assign_add(Tensor({10.f, 10.f, 10.f})); });
  const Operation c = p.operation([&] { w.scatter_add(Tensor({2, 2}), Tensor({100.f, 100.f})); });
  Session s(p);
  s.run(p.initializer());
  s.run({}, {}, {c, b, a});
  EXPECT_EQ(s.value(w).to_vector<float>(), (std::vector<float>{11, 11, 211}));
}

TEST(GraphProgram, AGradientUsesWhatItsOpsRead) {
  const GraphProgram p;
  const Variable w = p.variable(Tensor(3.f), {.name = "w"});
  const Tensor y = w * w;
  std::optional<Operation> write;
  {
    const GraphProgram::After forward(p, {y});
    write = p.assign(w, 100);
  }
  std::optional<Tensor> dw;
  {
    const GraphProgram::After written(p, {*write});
    dw = gradients(y, w).tensor();
  }
  Session s(p);
  s.run(p.initializer());
  const auto out = s.run({*dw, y});
  EXPECT_EQ(item(out[0]), 6);
  EXPECT_EQ(item(out[1]), 9);
  EXPECT_EQ(item(s.value(w)), 100);
  const std::string text = s.explain({.fetches = {*dw, y}});
  EXPECT_NE(text.find("late use: 'w' is read at "), std::string::npos) << text;
}

// y = x^3 at 2, the update to 3 after y, its gradient after the update.
struct GradientAfterAnUpdate {
  explicit GradientAfterAnUpdate(VariableKind kind) {
    const Variable x = p.variable(2.f, {.name = "x"}, kind);
    const Tensor read = reshape(x.value(), {1});
    y = pow(x, 3.f);
    const Operation update = [&] {
      const GraphProgram::After after(p, {y, read});
      return p.assign(x, 3.f);
    }();
    const GraphProgram::After after(p, {update});
    dx = gradients(y, x).tensor();
    seen = read * 10.f;
  }
  GraphProgram p;
  Tensor y, dx, seen;
};

TEST(GraphProgram, VariablesOfTheReferenceKindAreLookedAtWhereTheyAreUsed) {
  for (const auto kind : {VariableKind::value, VariableKind::resource, VariableKind::reference}) {
    const GradientAfterAnUpdate program(kind);
    Session s(program.p);
    s.run(program.p.initializer());
    const std::vector<Tensor> found = s.run({program.y, program.dx, program.seen});
    const bool is_reference = kind == VariableKind::reference;
    EXPECT_EQ(item(found[0]), 8);
    EXPECT_EQ(item(found[1]), is_reference ? 27 : 12);
    EXPECT_EQ(item(reshape(found[2], {})), is_reference ? 30 : 20);
    EXPECT_EQ(s.explain({.fetches = {program.dx}}).find("race"), std::string::npos);
  }
}

TEST(GraphProgram, WhatAnAssignmentGivesIsAValueOrTheVariable) {
  for (const auto kind : {VariableKind::value, VariableKind::resource, VariableKind::reference}) {
    const GraphProgram p;
    const Variable x = p.variable(1.f, {}, kind);
    p.assign(x, 2.f);
    const Tensor first = p.tensor(p.node(p.node_count() - 1).results[0]);
    const Operation second = [&] {
      const GraphProgram::After after(p, {Operation(first)});
      return p.assign(x, 5.f);
    }();
    const GraphProgram::After after(p, {second});
    const Tensor seen = first * 10.f;
    Session s(p);
    s.run(p.initializer());
    EXPECT_EQ(item(s.run({seen})[0]), kind == VariableKind::value ? 20 : 50);
  }
}

TEST(GraphProgram, Gradients) {
  const GraphProgram p;
  const Tensor x = p.placeholder(float32), z = p.placeholder(float32);
  const Variable w = p.variable(Tensor(2.f));
  const Tensor a = x * w, b = a * a + w;
  Session s(p);
  s.run(p.initializer());
  const auto at = [&](const Tensor& t) { return item(s.run({t}, {{x, 3.f}})[0]); };
  EXPECT_EQ(at(gradients(b, x)), 24);               // 2 x w^2
  EXPECT_EQ(at(gradients(b, w)), 37);               // all reads: 2 x^2 w + 1
  EXPECT_EQ(at(gradients(b, a)), 12);               // an intermediate tensor
  EXPECT_EQ(at(gradients(gradients(b, x), x)), 8);  // again
  EXPECT_EQ(at(gradients({b, a}, {x})[0]), 26);     // several are summed
  EXPECT_TRUE(gradients(b, z).is_none());
  EXPECT_EQ(at(gradients({b}, {z}, {.unconnected = Unconnected::zero})[0]), 0);
  EXPECT_EQ(at(gradients({b}, {x}, {.grad_ys = {p.constant(Tensor(10.f))}})[0]), 240);
  EXPECT_TRUE(gradients({b}, {x}, {.stop_gradients = {a}})[0].is_none());
  EXPECT_EQ(at(gradients({b}, {w}, {.stop_gradients = {a}})[0]), 1);
  EXPECT_EQ(at(gradients({b}, {a, x}, {.stop_gradients = {a}})[0]), 12);
  EXPECT_EQ(at(gradients({b}, {x, a})[0]), 24);  // also through the other source
  EXPECT_EQ(at(gradients(x * 1, x)), 1);
  EXPECT_EQ(at(gradients(x, x)), 1);
}

TEST(GraphProgram, JacobiansAndHessians) {
  const GraphProgram p;
  const Tensor x = p.placeholder(float32, {2});
  const Tensor dx = gradients(reduce_sum(x * x * x), x), h = graph_jacobian(dx, x);
  Session s(p);
  EXPECT_EQ(s.run({h}, {{x, Tensor({1.f, 2.f})}})[0].to_vector<float>(),
            (std::vector<float>{6, 0, 0, 12}));
}

TEST(GraphProgram, AnOperationIsInTheOrderOfTheProgram) {
  const GraphProgram p;
  const Variable n = p.variable(Tensor(0.f), {.name = "n"}), m = p.variable(Tensor(0.f));
  const Operation step = p.operation([&] {
    n.assign_add(1);
    m.assign(n * 10);
    n.assign(n + m);
  });
  Session s(p);
  s.run(p.initializer());
  s.run(step);
  EXPECT_EQ(item(s.value(m)), 10);
  EXPECT_EQ(item(s.value(n)), 11);
  EXPECT_EQ(s.explain({.fetches = {}, .operations = {step}}).find("race"), std::string::npos);
}

TEST(GraphProgram, LayersAndOptimizersTrain) {
  const GraphProgram p;
  const Tensor x = p.placeholder(float32, {-1, 1}), y = p.placeholder(float32, {-1, 1});
  const Variable w = p.variable(Tensor({{0.f}})), b = p.variable(Tensor({0.f}));
  const Tensor loss = reduce_mean(square(matmul(x, w) + b - y));
  const std::vector<Gradient> d = gradients({loss}, {w, b});
  const Operation step = p.operation([&] {
    w.assign_sub(0.1 * d[0].tensor());
    b.assign_sub(0.1 * d[1].tensor());
  });
  Session s(p);
  s.run(p.initializer());
  const Session::Feeds feeds = {{x, Tensor({{0.f}, {1.f}, {2.f}, {3.f}})},
                                {y, Tensor({{1.f}, {3.f}, {5.f}, {7.f}})}};
  for (int i = 0; i < 300; ++i) s.run({loss}, feeds, {step});
  EXPECT_NEAR(s.value(w).item<float>(), 2, 1e-3);
  EXPECT_NEAR(s.value(b).item<float>(), 1, 1e-3);
}

TEST(GraphProgram, BranchesReadAndWriteVariables) {
  const GraphProgram p;
  const Tensor x = p.placeholder(float32);
  const Variable w = p.variable(Tensor(2.f));
  const Operation step = p.operation([&] {
    cond(
        x > 0, [&] { w.assign(w * x); }, [&] { w.assign_add(100); });
  });
  const Tensor y = cond(
      x > 0, [&] { return x * w; }, [&] { return -w.value(); });
  Session s(p);
  s.run(p.initializer());
  s.run(step, {{x, 3.f}});
  EXPECT_EQ(item(s.value(w)), 6);
  s.run(step, {{x, -3.f}});
  EXPECT_EQ(item(s.value(w)), 106);
  EXPECT_EQ(item(s.run({gradients(y, w)}, {{x, 3.f}})[0]), 3);
  EXPECT_EQ(item(s.run({gradients(y, w)}, {{x, -3.f}})[0]), -1);
}

TEST(GraphProgram, RandomNumbersAreTensorFlowsAndNewInEachRun) {
  const GraphProgram p;
  const GraphProgram::Scope scope(p);
  const Tensor normal = random::normal({2}, {.seed = 1});
  Session s(p), other(p);
  const auto first = s.run({normal})[0].to_vector<float>();
  const auto second = s.run({normal})[0].to_vector<float>();
  EXPECT_FLOAT_EQ(first[0], -0.8113182f);  // tf.random_normal([2], seed=1), run twice
  EXPECT_FLOAT_EQ(first[1], 1.4845988f);
  EXPECT_FLOAT_EQ(second[0], 1.3587774f);
  EXPECT_FLOAT_EQ(second[1], 0.5417413f);
  EXPECT_EQ(other.run({normal})[0].to_vector<float>(), first);
}

TEST(GraphProgram, GradientsOfRandomNodesUseTheSameNumbers) {
  const GraphProgram p;
  const Tensor x = p.placeholder(float32, {64});
  const GraphProgram::Scope scope(p);
  const Tensor y = nn::dropout(x, 0.5), dx = gradients(reduce_sum(y), x);
  Session s(p);
  const auto out = s.run({y, dx}, {{x, ones({64})}});
  EXPECT_EQ(out[0].to_vector<float>(), out[1].to_vector<float>());
}

TEST(GraphProgram, TensorsOfOtherProgramsAreRefused) {
  const GraphProgram p, q;
  const Tensor x = p.placeholder(float32), y = q.placeholder(float32);
  Session s(p);
  EXPECT_THROW(s.run({y}, {{y, 1.f}}), InvalidArgumentError);
  EXPECT_THROW(s.run({x}, {{y, 1.f}}), InvalidArgumentError);
  EXPECT_THROW(s.run({Tensor(1.f)}), InvalidArgumentError);
  EXPECT_THROW(gradients(x, y), InvalidArgumentError);
  EXPECT_THROW(gradients(Tensor(1.f), x), InvalidArgumentError);
  EXPECT_THROW((void)Operation(Tensor(1.f)), InvalidArgumentError);
}

}  // namespace
}  // namespace gradus
