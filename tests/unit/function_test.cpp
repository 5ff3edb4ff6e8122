#include "gradus/function.h"

#include <gtest/gtest.h>

#include <thread>

#include "gradus/gradus.h"

namespace gradus {
namespace {

double item(const Tensor& t) { return t.item<double>(); }

TEST(Function, ComputesWhatTheFunctionComputes) {
  int runs = 0;
  const auto f = function([&](const Tensor& x) {
    ++runs;
    return tanh(x * 2 + 1) + x;
  });
  const Tensor x = {0.5f, -1.f, 2.f};
  const Tensor expected = tanh(x * 2 + 1) + x;
  for (int i = 0; i < 3; ++i) {
    const Tensor y = f(x);
    ASSERT_EQ(y.shape(), x.shape());
    for (int k = 0; k < 3; ++k) EXPECT_FLOAT_EQ(y.data<float>()[k], expected.data<float>()[k]);
  }
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Function, OneMoreTraceServesAllSizes) {
  const auto f = function([](const Tensor& x, const Tensor& w) {
    return reduce_mean(nn::softmax(matmul(x, w)) * x.shape()[0], {1});
  });
  const Tensor w = random::normal({3, 4});
  for (std::int64_t n : {5, 7, 9, 12, 7, 33}) {
    const Tensor x = random::normal({n, 3});
    const Tensor y = f(x, w), expected = reduce_mean(nn::softmax(matmul(x, w)) * n, {1});
    ASSERT_EQ(y.shape(), Shape{n});
    for (int k = 0; k < n; ++k) EXPECT_NEAR(y.data<float>()[k], expected.data<float>()[k], 1e-5);
  }
  EXPECT_EQ(f.trace_count(), 2) << f.explain();
  EXPECT_NE(f.explain().find("argument 0 was float32 (5, 3) and is float32 (7, 3)"),
            std::string::npos)
      << f.explain();
}

TEST(Function, SizesThatBroadcastAreTracedForThemselves) {
  const auto f = function([](const Tensor& x, const Tensor& y) { return x + y; });
  EXPECT_EQ(f(zeros({4}), ones({4})).shape(), Shape{4});
  EXPECT_EQ(f(zeros({5}), ones({5})).shape(), Shape{5});
  EXPECT_EQ(f(zeros({6}), ones({1})).shape(), Shape{6});
  EXPECT_EQ(f(zeros({1}), ones({7})).shape(), Shape{7});
  EXPECT_THROW(f(zeros({6}), ones({7})), InvalidArgumentError);
  EXPECT_EQ(f(zeros({8}), ones({8})).shape(), Shape{8});
}

TEST(Function, NumbersAreInputs) {
  const auto f = function([](const Tensor& x, const Tensor& rate) { return x * rate; });
  for (double rate : {0.5, 0.25, 3.0}) {
    EXPECT_DOUBLE_EQ(item(f(Tensor(2.0), rate)), 2 * rate);
  }
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_EQ(f(Tensor(2.0f), 0.5).dtype(), float32);
}

TEST(Function, UpdatesVariablesInPlace) {
  const Variable v(zeros({1000}));
  const auto step = function([&](const Tensor& x) { v.assign_add(x); });
  step(ones({1000}));
  const void* memory = v.value().raw_data();
  for (int i = 0; i < 4; ++i) step(ones({1000}));
  EXPECT_EQ(v.value().raw_data(), memory);
  EXPECT_EQ(v.value().data<float>()[999], 5);
  const Tensor held = v.value();  // now somebody looks: the old value must stay
  step(ones({1000}));
  EXPECT_EQ(held.data<float>()[0], 5);
  EXPECT_EQ(v.value().data<float>()[0], 6);
}

TEST(Function, ReadsAndWritesKeepTheirOrder) {
  const Variable v(Tensor(1.f));
  const auto f = function([&](const Tensor& x) {
    const Tensor before = v.value() * x;
    v.assign(x);
    const Tensor between = v.value() * 10;
    v.assign_add(1);
    return std::tuple(before, between, v.value());
  });
  auto [a, b, c] = f(Tensor(3.f));
  EXPECT_EQ(item(a), 3);
  EXPECT_EQ(item(b), 30);
  EXPECT_EQ(item(c), 4);
  std::tie(a, b, c) = f(Tensor(5.f));
  EXPECT_EQ(item(a), 20);
  EXPECT_EQ(item(v.value()), 6);
}

TEST(Function, HoldsTapesAndGradients) {
  const Variable w(Tensor({{0.5f, -1.f}, {2.f, 0.25f}}));
  const auto loss_of = [&](const Tensor& x) { return reduce_sum(square(tanh(matmul(x, w)))); };
  const auto f = function([&](const Tensor& x) {
    GradientTape tape;
    const Tensor loss = loss_of(x);
    return std::pair(loss, tape.gradient(loss, w).tensor());
  });
  const Tensor x = {{1.f, 2.f}, {3.f, -1.f}, {0.f, 1.f}};
  const auto [loss, g] = f(x);
  GradientTape tape;
  const Tensor expected = loss_of(x);
  const Tensor expected_g = tape.gradient(expected, w);
  EXPECT_NEAR(item(loss), item(expected), 1e-6);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(g.data<float>()[i], expected_g.data<float>()[i], 1e-5);
}

TEST(Function, GradientsGoThroughIt) {
  const Variable v(Tensor(3.0));
  const auto f = function([&](const Tensor& x) { return v * x * x; });
  const Tensor x(2.0);
  f(x);
  GradientTape outer({.persistent = true});
  outer.watch(x);
  Tensor dx;
  {
    GradientTape inner;
    inner.watch(x);
    const Tensor y = f(x);
    dx = inner.gradient(y, x);
  }
  EXPECT_DOUBLE_EQ(item(dx), 12);
  EXPECT_DOUBLE_EQ(item(outer.gradient(dx, x)), 6);
  EXPECT_DOUBLE_EQ(item(outer.gradient(dx, v)), 4);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Function, CallsFunctions) {
  const auto inner = function([](const Tensor& x) { return x * x; });
  const auto outer = function([&](const Tensor& x) { return inner(x) + inner(x + 1); });
  EXPECT_EQ(item(outer(Tensor(2.f))), 13);
  EXPECT_EQ(inner.trace_count(), 0);
}

TEST(Function, RandomNumbersAreNewAtEachCall) {
  const auto f = function([](const Tensor& x) { return x + random::uniform({}); });
  random::set_seed(1);
  const double a = item(f(Tensor(0.f))), b = item(f(Tensor(0.f)));
  EXPECT_NE(a, b);
  random::set_seed(1);
  EXPECT_EQ(item(f(Tensor(0.f))), a);
}

TEST(Function, ReturnsArgumentsAndConstantsAndNothing) {
  const Tensor constant = {1.f, 2.f};
  const auto f = function([&](const Tensor& x) { return std::tuple(x, constant, x, x * 1); });
  const auto [a, b, c, d] = f(Tensor({3.f, 4.f}));
  EXPECT_EQ(a.data<float>()[1], 4);
  EXPECT_EQ(b.data<float>()[1], 2);
  EXPECT_EQ(c.data<float>()[0], 3);
  EXPECT_EQ(d.data<float>()[0], 3);
}

TEST(Function, AFailureLeavesVariablesAlone) {
  const Variable v(Tensor({1.f, 2.f, 3.f}));
  const auto f = function([&](const Tensor& index) {
    const Tensor picked = gather(v, index);
    v.assign_add(1);
    return picked;
  });
  EXPECT_EQ(item(f(Tensor(1))), 2);
  EXPECT_THROW(f(Tensor(7)), InvalidArgumentError);
  EXPECT_EQ(v.value().data<float>()[0], 2);
  EXPECT_EQ(item(f(Tensor(0))), 2);
}

TEST(Function, UnknownResultsOfGradientsSaySo) {
  const Variable v(Tensor(1.f));
  const auto f = function([&](const Tensor& x) {
    GradientTape tape;
    const Tensor y = x * 2;
    return tape.gradient(y, v);
  });
  EXPECT_THROW(f(Tensor(1.f)), InvalidArgumentError);
}

TEST(Function, ShowsItsProgram) {
  const auto f = function([](const Tensor& x) { return tanh(matmul(x, x) * 2); }, {.name = "f"});
  EXPECT_THROW(f.text(), FailedPreconditionError);
  f(ones({3, 3}));
  EXPECT_EQ(f.text(),
            "%0 = input : float32 (3, 3)\n"
            "%1 = blocked(%0, %0, blocks=[matmul, multiply, tanh]) : float32 (3, 3)\n"
            "return %1\n");
  EXPECT_NE(f.text(false).find("tanh(%3) : float32 (3, 3)"), std::string::npos) << f.text(false);
  const std::string dot = f.dot();
  EXPECT_EQ(dot.find("digraph \"f\""), 0u);
  EXPECT_NE(dot.find("v0 -> n0 [label=\"float32 (3, 3)\"]"), std::string::npos) << dot;
}

TEST(Function, VariablesTextsAndLengthsOfListsAreTracedForThemselves) {
  const auto scaled = function([](const Variable& v, const std::string& how) {
    return how == "double" ? v.value() * 2 : v.value() * 3;
  });
  const Variable a(Tensor(1.f)), b(Tensor(10.f));
  EXPECT_EQ(item(scaled(a, std::string("double"))), 2);
  EXPECT_EQ(item(scaled(b, std::string("double"))), 20);
  EXPECT_EQ(item(scaled(a, std::string("triple"))), 3);
  EXPECT_EQ(scaled.trace_count(), 3);

  using List = std::vector<Tensor>;
  const auto first_of_second = function([](const List&, const List& y) { return y[0] * 1; });
  const Tensor one(1.f), two(2.f), three(3.f);
  EXPECT_EQ(item(first_of_second(List{one}, List{two, three})), 2);
  EXPECT_EQ(item(first_of_second(List{one, two}, List{three})), 3);
}

TEST(Function, ABadCallDoesNotEndSymbols) {
  const Tensor w = ones({3, 2});
  const auto f = function([&](const Tensor& x) { return matmul(x, w); });
  f(ones({4, 3}));
  EXPECT_THROW(f(ones({5, 4})), InvalidArgumentError);
  for (std::int64_t n : {6, 7, 8}) EXPECT_EQ(f(ones({n, 3})).shape(), (Shape{n, 2}));
  EXPECT_EQ(f.trace_count(), 2) << f.explain();
}

TEST(Function, ArithmeticOnUnknownSizesIsNotTakenForAnotherSize) {
  const auto f = function([](const Tensor& x) {
    return zeros({x.shape()[0] - 1}) + reduce_sum(zeros({x.shape()[1]}));
  });
  for (std::int64_t n : {4, 6, 8}) EXPECT_EQ(f(ones({n, n + 3})).shape(), Shape{n - 1});
}

TEST(Function, RowsOfSquaresSurviveASplitOfTheirLoop) {
  const auto body = [](const Tensor& x) {
    std::vector<Tensor> results;
    for (int i = 1; i <= 12; ++i) {
      const Tensor sum = reduce_sum(x * i, {1});
      results.push_back(x * i - expand_dims(sum * 2, 1));
      results.push_back(sum * sum);
    }
    return results;
  };
  const Tensor x = random::normal({5, 5});
  const auto got = function(body)(x), expected = body(x);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    ASSERT_EQ(got[k].shape(), expected[k].shape());
    for (std::int64_t i = 0; i < expected[k].num_elements(); ++i) {
      const float y = expected[k].data<float>()[i];
      EXPECT_NEAR(got[k].data<float>()[i], y, 1e-4f * (1 + std::abs(y))) << k;
    }
  }
}

TEST(Function, AVariableKeepsItsShapeAndIsMadeOutside) {
  const Variable v(zeros({3}));
  const auto grow = function([&](const Tensor& x) { v.assign_add(x); });
  EXPECT_THROW(grow(ones({2, 3})), InvalidArgumentError);
  EXPECT_EQ(v.value().shape(), Shape{3});
  const auto make = function([](const Tensor& x) { return Variable(x * 2).value(); });
  EXPECT_THROW(make(Tensor(1.f)), InvalidArgumentError);
}

TEST(Function, TwoThatReadWhatTheOtherWritesDoNotWaitForEachOther) {
  const Variable a(Tensor(1.0)), b(Tensor(1.0));
  const auto to_a = function([&](const Tensor& x) { a.assign(b * 0 + x); });
  const auto to_b = function([&](const Tensor& x) { b.assign(a * 0 + x); });
  std::thread other([&] {
    for (int i = 0; i < 2000; ++i) to_b(Tensor(2.0));
  });
  for (int i = 0; i < 2000; ++i) to_a(Tensor(2.0));
  other.join();
  EXPECT_EQ(item(a.value()) + item(b.value()), 4);
}

TEST(Function, MayUseAnExampleOfTheVmapAroundIt) {
  const auto f = [](const Tensor& example) {
    return function([&](const Tensor& x) { return x * example; })(Tensor(2.0));
  };
  EXPECT_EQ(vmap(f)(Tensor{1.0, 3.0}).to_vector<double>(), (std::vector<double>{2, 6}));
}

TEST(Function, CodeThatLooksAtSizesIsStillRight) {
  const auto by_loop = [](const Tensor& x) {
    Tensor sum(0.f);
    for (std::int64_t i = 0; i < x.shape()[0]; ++i) sum = sum + reduce_sum(slice(x, {i}, {1}));
    return sum;
  };
  const auto by_condition = [](const Tensor& x) { return x.shape()[0] > 3 ? x * 100 : x; };
  const auto by_arithmetic = [](const Tensor& x) {
    return reduce_sum(x) * (1.0 / static_cast<double>(x.shape()[0])) +
           static_cast<float>(x.num_elements());
  };
  const auto a = function(by_loop);
  const auto b = function(by_condition);
  const auto c = function(by_arithmetic);
  for (std::int64_t n : {2, 3, 5, 2, 7}) {
    const Tensor x = ones({n});
    EXPECT_EQ(item(a(x)), static_cast<double>(n));
    EXPECT_EQ(item(reduce_sum(b(x))), item(reduce_sum(by_condition(x))));
    EXPECT_FLOAT_EQ(static_cast<float>(item(c(x))), 1.f + static_cast<float>(n));
  }
  EXPECT_NE(a.explain().find("only where s0 > 0 at "), std::string::npos) << a.explain();
}

TEST(Function, ManyThreadsCallIt) {
  const Variable total(Tensor(0.0));
  const auto f = function([&](const Tensor& x) {
    total.assign_add(reduce_sum(x));
    return reduce_sum(exp(x * 0) * 2);
  });
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::int64_t n = 10 + (t + i) % 5;
        wrong += item(f(ones({n}, float64))) != 2.0 * static_cast<double>(n);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  double expected = 0;
  for (int t = 0; t < 8; ++t)
    for (int i = 0; i < 50; ++i) expected += 10 + (t + i) % 5;
  EXPECT_EQ(item(total.value()), expected);
}

TEST(Function, EstimatesWithoutRunning) {
  const Variable w(ones({64, 32})), counter(Tensor(0.0f));
  const auto f = function([&](const Tensor& x) {
    counter.assign_add(1.0f);
    return tanh(matmul(x, w) * 2) + 1;
  });
  const Estimate e = f.estimate(ones({16, 64}));
  EXPECT_EQ(item(counter.value()), 0);
  EXPECT_GE(e.flops, 2.0 * 16 * 64 * 32);
  EXPECT_LT(e.flops, 2.2 * 16 * 64 * 32);
  EXPECT_EQ(e.argument_bytes, 16 * 64 * 4);
  EXPECT_EQ(e.variable_bytes, 64 * 32 * 4 + 4);
  EXPECT_EQ(e.result_bytes, 16 * 32 * 4);
  EXPECT_GE(e.temporary_bytes, 0);
  EXPECT_GT(e.seconds, 0);
  EXPECT_NE(to_string(e).find("peak"), std::string::npos);
  f(ones({16, 64}));
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_EQ(item(counter.value()), 1);
}

TEST(Function, ReportsWhatEachPassChanged) {
  const auto f = function([](const Tensor& x) { return reduce_sum(tanh(x * 2 + 1) * exp(x)); });
  EXPECT_THROW(f.report(), FailedPreconditionError);
  f(ones({1000}));
  const std::string report = f.report();
  EXPECT_NE(report.find("fuse"), std::string::npos);
  EXPECT_NE(report.find("MB moved"), std::string::npos) << report;
  double before = 0, after = 0;  // fusing moves fewer bytes
  ASSERT_EQ(std::sscanf(report.c_str() + report.find("fuse"), "fuse %*d -> %*d %lf -> %lf", &before,
                        &after),
            2)
      << report;
  EXPECT_LT(after, before);
}

TEST(Function, HtmlIsOnePageWithEveryOp) {
  const auto f =
      function([](const Tensor& x) { return matmul(x, x) + 1; }, {.name = "a</script>b"});
  f(ones({3, 3}));
  const std::string page = f.html(false);
  EXPECT_NE(page.find("\"name\":\"matmul\""), std::string::npos);
  EXPECT_NE(page.find("float32 (3, 3)"), std::string::npos);
  EXPECT_NE(page.find("function_test.cpp:"), std::string::npos);
  EXPECT_EQ(page.find("a</script>b"), std::string::npos);  // nothing of ours ends the script
  EXPECT_EQ(page.find("://"), std::string::npos);          // and it needs nothing else
}

TEST(Function, SavedFunctionsRunAgainWithTheirVariables) {
  const Variable w(ones({3, 2}), {.name = "w \"x\""}), total(zeros({}), {.name = "total"});
  const auto f = function([&](const Tensor& x, const Tensor& scale) {
    const Tensor y = matmul(x, w) * scale + Tensor({0.1f, -0.5f});
    total.assign_add(reduce_sum(y));
    return std::pair(y, tanh(y));
  });
  for (std::int64_t n : {4, 5}) f(ones({n, 3}), Tensor(2.0f));  // sizes become symbols
  const std::string path = testing::TempDir() + "saved.gradus";
  save_function(path, f.saved());
  const LoadedFunction g = load_function(path);
  ASSERT_EQ(g.variables().size(), 2u);
  const float before = total.value().item<float>();
  for (std::int64_t n : {4, 7, 9}) {
    const Tensor x = random::normal({n, 3});
    const auto [y, t] = f(x, Tensor(0.5f));
    const std::vector<Tensor> out = g({x, Tensor(0.5f)});
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(to_string(out[0]), to_string(y));
    EXPECT_EQ(to_string(out[1]), to_string(t));
  }
  for (const Variable& v : g.variables()) {
    if (v.name() == "total") {
      EXPECT_FLOAT_EQ(v.value().item<float>(), total.value().item<float>());
    } else {
      EXPECT_EQ(v.name(), "w \"x\"");
    }
  }
  EXPECT_NE(total.value().item<float>(), before);
  EXPECT_THROW(g({ones({4, 3})}), InvalidArgumentError);
  EXPECT_THROW(g({ones({4, 2}), Tensor(1.0f)}), InvalidArgumentError);
  EXPECT_THROW(g({cast(ones({4, 3}), float64), Tensor(1.0f)}), InvalidArgumentError);

  GradientTape tape;  // and can be differentiated
  const Tensor x = ones({2, 3});
  tape.watch(x);
  const Tensor y = reduce_sum(g({x, Tensor(3.0f)})[0]);
  EXPECT_EQ(to_string(tape.gradient(y, x)), "[[6. 6. 6.]\n [6. 6. 6.]]");
}

TEST(Function, WhatCannotBeSavedOrLoadedSaysSo) {
  const auto f = function([](const Tensor& x) { return x + 1; });
  f(ones({2}));
  SavedFunction saved = f.saved();
  saved.text.replace(saved.text.find("function 1"), 10, "function 9");
  EXPECT_THROW(LoadedFunction{saved}, UnimplementedError);
  saved = f.saved();
  saved.text.resize(saved.text.size() / 2);
  const std::string path = testing::TempDir() + "damaged.gradus";
  save_function(path, saved);
  EXPECT_THROW(load_function(path), DataLossError);
  save_npz(path, {{"a", ones({2})}});
  EXPECT_THROW(load_function(path), DataLossError);
}

TEST(Function, LoadedFunctionsCanShareVariables) {
  const Variable w(Tensor(2.f), {.name = "w"});
  const auto scaled = function([&](const Tensor& x) { return x * w; });
  const auto step = function([&](const Tensor& by) {
    w.assign_add(by);
    return w.value();
  });
  scaled(Tensor(1.f));
  step(Tensor(0.f));
  ASSERT_EQ(scaled.saved().sources, std::vector<Variable>{w});
  const Variable own(Tensor(10.f));
  const LoadedFunction f(scaled.saved(), {own}), g(step.saved(), {own});
  EXPECT_EQ(item(f({Tensor(3.f)})[0]), 30);
  EXPECT_EQ(item(g({Tensor(1.f)})[0]), 11);
  EXPECT_EQ(item(f({Tensor(3.f)})[0]), 33);
  EXPECT_EQ(item(w), 2);
  EXPECT_THROW(LoadedFunction(scaled.saved(), {own, own}), InvalidArgumentError);
  EXPECT_THROW(LoadedFunction(scaled.saved(), {Variable(zeros({2}))}), InvalidArgumentError);
}

}  // namespace
}  // namespace gradus
