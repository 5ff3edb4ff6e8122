// Sizes that change from call to call: a program is used only where its guards hold, and ordinary
// functions have one program for all sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <random>

#include "base/check.h"
#include "gradus/gradus.h"
#include "gradus/graph_program.h"
#include "graph/evaluate.h"
#include "graph/symbols.h"

namespace gradus {
namespace {

TEST(Sizes, ConditionsOnSizesAreSeenWhateverTheValuesAre) {
  const auto f = function([](const Tensor& x) { return x.shape()[0] > 5 ? x * 2 : x * 3; });
  f(zeros({3}));
  f(zeros({4}));
  f(zeros({6}));  // zeros do not tell 2 x from 3 x
  EXPECT_EQ(to_string(f(ones({6}))), "[2. 2. 2. 2. 2. 2.]");
  EXPECT_EQ(to_string(f(ones({3}))), "[3. 3. 3.]");
  EXPECT_EQ(to_string(f(ones({7}))), "[2. 2. 2. 2. 2. 2. 2.]");
}

TEST(Sizes, SmallDifferencesAreDifferences) {
  const auto f = function([](const Tensor& x) {
    const Tensor sum = reduce_sum(x);
    return x.shape()[0] > 40 ? sum * 1.0005f : sum;
  });
  for (const int n : {8, 16, 24}) EXPECT_EQ(f(ones({n})).item<float>(), static_cast<float>(n));
  EXPECT_EQ(f(ones({50})).item<float>(), 50 * 1.0005f);
  EXPECT_EQ(f.trace_count(), 3) << f.explain();
  EXPECT_NE(f.explain().find("only where s0 <= 40 at "), std::string::npos) << f.explain();
  EXPECT_NE(f.explain().find("only where s0 > 40 at "), std::string::npos) << f.explain();
}

TEST(Sizes, NumbersThatFollowFromSizesAreRight) {
  const auto sized =
      function([](const Tensor& x) { return std::pair(x * 2, static_cast<double>(x.shape()[0])); });
  const auto halved = function([](const Tensor& x) {
    return reduce_sum(reshape(x, {x.shape()[0] / 2, 2}), {0});
  });
  const auto unrolled = function([](const Tensor& x) {
    Tensor sum(0.0f);
    for (std::int64_t i = 0; i < x.shape()[0] - 1; ++i) sum = sum + gather(x, Tensor(i));
    return sum;
  });
  const auto scaled =
      function([](const Tensor& x) { return x / std::sqrt(static_cast<double>(x.shape()[0])); });
  for (const int n : {4, 6, 8, 10, 6}) {
    EXPECT_EQ(sized(ones({n})).second, n);
    EXPECT_EQ(to_string(halved(ones({n}))),
              to_string(Tensor({static_cast<float>(n) / 2, static_cast<float>(n) / 2})));
    EXPECT_EQ(unrolled(ones({n})).item<float>(), static_cast<float>(n - 1));
    EXPECT_EQ(to_string(scaled(ones({n}))), to_string(ones({n}) / std::sqrt(n)));
  }
}

TEST(Sizes, ChoicesInsideOfBranchesLoopsAndRulesAreSeen) {
  const auto factor = [](const Tensor& x) { return x.shape()[0] > 5 ? 2.0f : 3.0f; };
  const auto expect = [&](auto f) {
    const auto compiled = function(f);
    for (const int n : {3, 4, 6, 7}) compiled(zeros({n}));
    for (const int n : {3, 4, 6, 7})
      EXPECT_EQ(to_string(compiled(ones({n}))), to_string(f(ones({n})))) << n;
  };
  expect([=](const Tensor& x) {
    return cond(
        reduce_sum(x) >= 0, [&] { return x * factor(x); }, [&] { return x; });
  });
  expect([=](const Tensor& x) {
    return std::get<1>(while_loop(
        [](const Tensor& i, const Tensor&) { return i < 3; },
        [&](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, y * factor(x)); },
        std::tuple(reduce_sum(cast(x, int32)) * 0, x)));
  });
  expect([=](const Tensor& x) {
    return scan([&](const Tensor& c,
                    const Tensor& row) { return std::pair(c + row * factor(x), c); },
                Tensor(1.0f), x)
        .second;
  });
  expect([=](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const auto rule = custom_gradient([&](const Tensor& v) {
      return std::pair(v * v, [=](const Tensor& dy) { return dy * factor(v); });
    });
    const Tensor y = rule(x);
    return Tensor(tape.gradient(y, x));
  });
}

TEST(Sizes, WhatIsWatchedIsFollowedToUnknownSizes) {
  const auto slope = [](const Tensor& x) {
    const Tensor w = {2.0f, 3.0f};
    GradientTape tape;
    tape.watch(w);
    const Tensor y = broadcast_to(w, {x.shape()[0], 2}) * x;
    return Tensor(tape.gradient(y, w));
  };
  const auto compiled = function(slope);
  for (const int n : {4, 6, 1, 0, 3})
    EXPECT_EQ(to_string(compiled(ones({n, 2}))), to_string(slope(ones({n, 2})))) << n;
  EXPECT_EQ(compiled.trace_count(), 2) << compiled.explain();
}

// A random function of a vector that looks at its size in every way that C++ has.
Tensor by_its_size(const Tensor& given, std::uint32_t seed) {
  std::mt19937 draw(seed);
  Tensor x = given;
  for (int step = 0; step < 6; ++step) {
    const Size n = x.shape()[0];
    const int a = 1 + static_cast<int>(draw() % 7), b = static_cast<int>(draw() % 7);
    const float scale = 1 + static_cast<float>(draw() % 8) / 8;
    switch (draw() % 10) {
      case 0:
        x = n > a ? x * scale : x + scale;
        break;
      case 1:
        x = n % a == b ? x - scale : tanh(x);
        break;
      case 2:
        x = x * scale / n;  // stays a size
        break;
      case 3:
        x = x + std::sqrt(static_cast<double>(n));
        break;
      case 4:
        x = concat({x, ones({n / a})}, 0);
        break;
      case 5:
        x = n / a != b ? x + reduce_sum(x) : x;
        break;
      case 6:
        for (std::int64_t i = 0; i < n && i < b; ++i) x = x + scale;
        break;
      case 7:
        x = n >= a ? slice(x, {0}, {n - a + 1}) : x;
        break;
      case 8:
        x = reshape(broadcast_to(x, {a, n}), {a * n});
        x = slice(x, {0}, {n});
        break;
      default:
        x = cond(
            reduce_sum(x) > 0.0f, [&] { return n == a ? x : x * scale; },
            [&] { return n < b ? x - 1 : x; });
    }
  }
  return x;
}

TEST(Sizes, RandomChoicesNeverGiveAWrongProgram) {
  int traces = 0, calls = 0;
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    const auto f = function([&](const Tensor& x) { return by_its_size(x, seed); });
    const auto slope = function([&](const Tensor& x) {
      return grad([&](const Tensor& v) { return reduce_sum(square(by_its_size(v, seed))); })(x);
    });
    std::mt19937 draw(seed + 1000);
    for (int call = 0; call < 8; ++call, ++calls) {
      const auto n = static_cast<std::int64_t>(draw() % 15);
      const Tensor x = cast(range(n), float32) * 0.25f - 1;
      const Tensor want = by_its_size(x, seed), got = f(x);
      ASSERT_EQ(to_string(got.shape()), to_string(want.shape())) << seed << ": " << f.explain();
      for (std::int64_t i = 0; i < want.num_elements(); ++i)
        ASSERT_NEAR(got.data<float>()[i], want.data<float>()[i],
                    1e-4 * (1 + std::abs(want.data<float>()[i])))
            << seed << " of size " << n << ": " << f.explain();
      const Tensor d =
          grad([&](const Tensor& v) { return reduce_sum(square(by_its_size(v, seed))); })(x);
      const Tensor compiled = slope(x);
      for (std::int64_t i = 0; i < d.num_elements(); ++i)
        ASSERT_NEAR(compiled.data<float>()[i], d.data<float>()[i],
                    1e-3 * (1 + std::abs(d.data<float>()[i])))
            << seed << " of size " << n << ": " << slope.explain();
    }
    traces += f.trace_count();
  }
  EXPECT_LT(traces, calls);  // some calls were served by the program of another size
}

// Two traces, one with symbols, for calls with several sizes; each result as the plain function's.
template <class F>
void expect_one_program(F f, const std::vector<Tensor>& all, const char* what) {
  const auto compiled = function(f, {.name = what});
  for (const std::int64_t n : {6, 4, 5, 9, 12}) {
    const auto first = [&](const Tensor& t) {
      return gather(t, range(n));  // the first examples
    };
    random::set_seed(5);
    const Tensor got = all.size() == 1 ? compiled(first(all[0]), first(all[0]))
                                       : compiled(first(all[0]), first(all[1]));
    EXPECT_TRUE(got.defined());
  }
  EXPECT_EQ(compiled.trace_count(), 2) << compiled.explain();
}

template <class... L>
void expect_step_is_one_program(const Tensor& x, const char* what, const L&... layers) {
  keras::Adam adam;
  const auto model = [&](Tensor y) {
    const auto apply = [&](const auto& layer) {
      using Layer = std::decay_t<decltype(layer)>;
      if constexpr (std::is_invocable_v<const Layer&, const Tensor&, bool> &&
                    !std::is_invocable_v<const Layer&, const Tensor&, const Tensor&>)
        y = layer(y, true);
      else
        y = layer(y);
    };
    (apply(layers), ...);
    return y;
  };
  expect_one_program(
      [&](const Tensor& in, const Tensor&) {
        GradientTape tape;
        const Tensor loss = reduce_mean(square(model(in)));
        adam.minimize(tape, loss, keras::variables(layers...));
        return loss;
      },
      {x}, what);
}

TEST(Sizes, TrainingStepsAreOneProgram) {
  using namespace keras;
  random::set_seed(1);
  const Tensor rows = random::normal({12, 4}), sequence = random::normal({12, 5, 4}),
               image = random::normal({12, 6, 6, 2}), words = range(12);
  expect_step_is_one_program(rows, "MLP", Dense(4, 8, "tanh"), Dense(8, 8, "relu"), Dense(8, 3));
  expect_step_is_one_program(rows, "softmax", Dense(4, 8, "gelu"), Softmax());
  expect_step_is_one_program(rows, "layer norm", Dense(4, 8), LayerNormalization(8), Dense(8, 1));
  expect_step_is_one_program(rows, "batch norm", Dense(4, 8), BatchNormalization(8), Dense(8, 1));
  expect_step_is_one_program(rows, "dropout", Dense(4, 8), Dropout(0.5, 3), Dense(8, 1));
  expect_step_is_one_program(image, "conv net", Conv2D(2, 4, 3, {}, "relu"), MaxPooling2D(),
                             Flatten(), Dense(16, 2));
  expect_step_is_one_program(image, "same and average",
                             Conv2D(2, 4, 3, {.padding = "same"}, "relu"), AveragePooling2D(),
                             GlobalMaxPooling2D());
  expect_step_is_one_program(sequence, "LSTM", LSTM(4, 3), Dense(3, 1));
  expect_step_is_one_program(sequence, "GRU", GRU(4, 3, {.return_sequences = true}));
  expect_step_is_one_program(sequence, "SimpleRNN", SimpleRNN(4, 3));
  expect_step_is_one_program(sequence, "Bidirectional", Bidirectional<LSTM>(4, 3));
  expect_step_is_one_program(words, "Embedding", Embedding(12, 3), Dense(3, 1));
  const MultiHeadAttention attention(4, 2, 3);
  expect_step_is_one_program(sequence, "attention",
                             Lambda([&](const Tensor& x) { return attention(x, x); }), Dense(4, 1));
}

TEST(Sizes, OrdinaryFunctionsAreOneProgram) {
  random::set_seed(1);
  const Tensor rows = random::normal({12, 4}), labels = floormod(range(12), 4);
  const auto one = [&](auto f, const char* what) { expect_one_program(f, {rows, labels}, what); };
  one([](const Tensor& x, const Tensor& y) { return keras::sparse_categorical_crossentropy(y, x); },
      "cross entropy");
  one([](const Tensor& x, const Tensor& y) { return reduce_sum(x * one_hot(y, 4)); }, "one_hot");
  one([](const Tensor& x, const Tensor&) { return concat({x, x * 2}, 0); }, "concat");
  one([](const Tensor& x, const Tensor&) { return x - reduce_mean(x, {0}); }, "mean");
  one([](const Tensor& x, const Tensor&) { return x / x.shape()[0]; }, "divided by the size");
  one([](const Tensor& x, const Tensor&) { return matmul(x, x, {.transpose_b = true}); }, "gram");
  one([](const Tensor& x, const Tensor&) { return reverse(x, {0}) + zeros_like(x); }, "reverse");
  one([](const Tensor& x, const Tensor&) { return x + random::normal(x.shape()); }, "noise");
  one(
      [](const Tensor& x, const Tensor&) {
        return x + random::uniform(x.shape(), {.seed = 4}) +
               random::uniform(x.shape(), {.seed = 4});
      },
      "seeded noise");
  one([](const Tensor& x, const Tensor&) { return sort(x, 0) + cumsum(x, 0); }, "sort");
  one([](const Tensor& x, const Tensor&) { return reshape(x, {-1}); }, "flatten");
  one(
      [](const Tensor& x, const Tensor&) {
        return reshape(x, {x.shape()[0], 2, 2}) + eye(2);
      },
      "reshape by size");
  one(
      [](const Tensor& x, const Tensor&) {
        return hvp([](const Tensor& v) { return reduce_mean(sin(v) * v); }, x, x * 0.5);
      },
      "hvp");
  one(
      [](const Tensor& x, const Tensor&) {
        return vmap([](const Tensor& row) { return reduce_sum(row * row) + row; })(x);
      },
      "vmap");
  one(
      [](const Tensor& x, const Tensor&) {
        return cond(
            reduce_sum(x) > 0, [&] { return x - reduce_mean(x); },
            [&] { return x * x.shape()[0]; });
      },
      "cond");
  one(
      [](const Tensor& x, const Tensor&) {
        GradientTape tape;
        tape.watch(x);
        const Tensor y = std::get<1>(while_loop(
            [](const Tensor& i, const Tensor& s) {
              return logical_and(i < 5, reduce_mean(s) < 100.0f);
            },
            [&](const Tensor& i, const Tensor& s) { return std::tuple(i + 1, tanh(s * x) + x); },
            std::tuple(zeros({}, int32), x)));
        const Tensor loss = reduce_mean(y);
        return Tensor(tape.gradient(loss, x));
      },
      "gradient of while");
  one(
      [](const Tensor& x, const Tensor&) {
        GradientTape tape;
        tape.watch(x);
        const auto [last, all] =
            scan([](const Tensor& c, const Tensor& row) { return std::pair(tanh(c * row), c); },
                 ones({4}), x);
        const Tensor loss = reduce_mean(last) + reduce_mean(all);
        return Tensor(tape.gradient(loss, x));
      },
      "gradient of scan");
  one(
      [](const Tensor& x, const Tensor&) {
        GradientTape tape;
        tape.watch(x);
        const auto rule = custom_gradient([](const Tensor& v) {
          return std::pair(reduce_mean(v * v), [=](const Tensor& dy) { return dy * v; });
        });
        const Tensor y = rule(x);
        return Tensor(tape.gradient(y, x));
      },
      "custom gradient");
  one(
      [](const Tensor& x, const Tensor&) {
        GradientTape tape;
        tape.watch(x);
        const auto again = recompute_grad([](const Tensor& v) { return reduce_mean(tanh(v) * v); });
        const Tensor y = again(x);
        return Tensor(tape.gradient(y, x));
      },
      "recompute_grad");
}

// Sizes that no call has given yet (a signature that says "any"): what an op needs them to be is
// taken for granted, but never against an answer that the program already relies on.
TEST(Sizes, AnswersAboutSizesThatNobodyGaveStay) {
  using detail::FunctionCore;
  using In = std::vector<Tensor>;
  const std::vector<FunctionCore::Expected> any(3, {float32, Shape{-1}});
  const auto size = [](const Tensor& t) { return t.shape()[0]; };
  const auto prepared = [&](const std::function<Tensor(const In&)>& f) {
    auto core = std::make_unique<FunctionCore>(FunctionOptions{});
    core->prepare(
        any, [=](const In& in) { return FunctionCore::Made{{f(in)}}; }, true);
    return core;
  };
  const auto call = [](FunctionCore& core, const In& in,
                       const std::function<Tensor(const In&)>& f) {
    return to_string(
        core.call(in, [=](const In& v) { return FunctionCore::Made{{f(v)}}; }).tensors[0]);
  };

  // An op first, then questions: they are answered as the op needs it.
  const auto op_first = [&](const In& in) {
    const Tensor sum = in[0] + in[1] + in[2];
    const bool same = size(in[0]) == size(in[1]) && size(in[1]) == size(in[0]) &&
                      size(in[2]) == size(in[0]) && !(size(in[0]) < size(in[2]));
    return same ? sum : sum * 100;
  };
  const auto a = prepared(op_first);
  EXPECT_EQ(call(*a, {ones({2}), ones({2}), ones({2})}, op_first), "[3. 3.]");
  EXPECT_EQ(a->trace_count(), 1);
  const LoadedFunction loaded(a->saved());
  EXPECT_EQ(to_string(loaded({ones({2}), ones({2}), ones({2})})[0]), "[3. 3.]");
  EXPECT_THROW(loaded({ones({2}), ones({3}), ones({2})}), InvalidArgumentError);

  // A question first: sizes that differ stay different, so the program does not serve equal ones.
  const auto question_first = [&](const In& in) {
    return size(in[0]) == size(in[1]) ? in[0] * 2 : in[0] * 3;
  };
  const auto b = prepared(question_first);
  EXPECT_EQ(call(*b, {ones({2}), ones({3}), ones({2})}, question_first), "[3. 3.]");
  EXPECT_EQ(b->trace_count(), 1);
  EXPECT_THROW(LoadedFunction(b->saved())({ones({2}), ones({2}), ones({2})}), InvalidArgumentError);
  EXPECT_EQ(call(*b, {ones({2}), ones({2}), ones({2})}, question_first), "[2. 2.]");
  EXPECT_EQ(b->trace_count(), 2);

  // And an op that needs what was denied says so when it is traced.
  const auto denied = [&](const In& in) {
    const float factor = size(in[0]) == size(in[1]) ? 2.0f : 3.0f;
    return (in[1] + in[0]) * factor;
  };
  EXPECT_THROW(prepared(denied), InvalidArgumentError);
  const auto less = [&](const In& in) {
    const float factor = size(in[0]) < size(in[1]) ? 2.0f : 3.0f;
    return (in[1] + in[0]) * factor;
  };
  EXPECT_THROW(prepared(less), InvalidArgumentError);
}

TEST(Sizes, WhatCanNeverBeEqualDoesNotAgree) {
  Symbols symbols;
  const Size n = symbols.fresh(), m = symbols.fresh(), k = symbols.fresh(7);
  EXPECT_FALSE(symbols.agree(symbols.add(n, 1), 0));
  EXPECT_FALSE(symbols.agree(symbols.add(n, 1), n));
  EXPECT_FALSE(symbols.agree(symbols.multiply(n, -1), 5));
  EXPECT_FALSE(symbols.agree(k, 8));
  EXPECT_TRUE(symbols.agree(n, k));  // from now on n is 7 as well
  EXPECT_TRUE(symbols.is_equal(n, 7));
  EXPECT_FALSE(symbols.agree(n, 8));
  EXPECT_TRUE(symbols.agree(symbols.multiply(m, 2), symbols.add(m, 3)));  // only a call can tell
  EXPECT_TRUE(symbols.is_equal(symbols.add(m, 3), symbols.multiply(m, 2)));
  EXPECT_TRUE(symbols.guards_hold({7, 3, 7}));
  EXPECT_FALSE(symbols.guards_hold({7, 4, 7}));
  EXPECT_FALSE(symbols.guards_hold({6, 3, 7}));
}

// Passes look at the sizes of finished graphs, which are not those of a program that the thread
// builds by hand beside them.
TEST(Sizes, PassesAskNoTableOfAnotherGraph) {
  const GraphProgram other;
  other.make_default();
  Symbols symbols;
  const Size n = symbols.fresh(), m = symbols.fresh();
  EXPECT_THROW((void)(n == m), InternalError);
  const OutsideTraces finished;
  EXPECT_FALSE(n == m);
  EXPECT_TRUE(n == n);
}

// Compiled as eager, whatever was called before: at sizes where slices end early or are empty.
void expect_as_eager(const std::function<Tensor(const Tensor&)>& f, const std::string& what) {
  SCOPED_TRACE(what);
  for (const std::vector<int>& calls : {std::vector{5, 6, 2, 1, 0, 3, 7}, {7, 2, 5, 0, 1, 3}}) {
    const auto compiled = function(f);
    for (const int n : calls) {
      const Tensor x = cast(range(1, n + 1, 1), float32);
      EXPECT_EQ(to_string(compiled(x)), to_string(f(x))) << n << "\n" << compiled.explain();
    }
  }
}

TEST(Sizes, SlicesEndWhereTheTensorDoes) {
  const auto part = [](const Tensor& x, const Slice& s) { return index(x, {Index(s)}) * 1.0f; };
  const std::vector<std::optional<Size>> ends = {{}, -4, -3, -1, 0, 1, 3, 6};
  for (const auto& begin : ends)
    for (const auto& end : ends)
      for (const int step : {1, 2, -1, -3})
        expect_as_eager(
            [&](const Tensor& x) {
              return part(x, {begin, end, step});
            },
            "step " + std::to_string(step));
  for (const int less : {1, 3, 6})
    expect_as_eager(
        [&](const Tensor& x) {
          return part(x, {.end = x.shape()[0] - less}) *
                 part(x, {.begin = less - x.shape()[0]}).shape()[0];
        },
        "by arithmetic");
}

TEST(Sizes, EveryBranchAndTestOfALoopIsLookedAt) {
  const auto start = [](const Tensor& x) { return reduce_sum(index(x, {Slice{.end = 3}})); };
  const auto rest = [](const Tensor& x) { return reduce_sum(index(x, {Slice{.begin = 4}})); };
  const Tensor none(0.0f);
  expect_as_eager(
      [&](const Tensor& x) {
        return cond(
            reduce_sum(x) > -1, [&] { return start(x); }, [&] { return none; });
      },
      "then");
  expect_as_eager(
      [&](const Tensor& x) {
        return cond(
            reduce_sum(x) < -1, [&] { return none; }, [&] { return rest(x) + start(x); });
      },
      "else");
  expect_as_eager(
      [&](const Tensor& x) {
        const auto turns = while_loop(
            [&](const Tensor& i, const Tensor& s) { return logical_and(i < 3, start(x) + s < 9); },
            [&](const Tensor& i, const Tensor& s) { return std::tuple(i + 1, s + 1); },
            std::tuple(Tensor(0), none));
        return std::get<1>(turns);
      },
      "a test");
}

TEST(Sizes, OverflowAndDivisionByZeroAreErrors) {
  const auto large = function([](const Tensor& x) {
    const Size n = x.shape()[0] * (std::int64_t{1} << 40) * (std::int64_t{1} << 40);
    return n == 0 ? x * 0 : x * 2;
  });
  large(zeros({0}));
  EXPECT_THROW(large(ones({3})), ResourceExhaustedError);
  const auto quotient = function([](const Tensor& x) {
    const Size n = x.shape()[0];
    return x * static_cast<double>(std::int64_t{3 * n / n});
  });
  for (const int n : {2, 3, 4}) EXPECT_EQ(quotient(ones({n})).num_elements(), n);
  EXPECT_THROW(quotient(zeros({0})), InvalidArgumentError);
}

TEST(Sizes, OneOddCallDoesNotEndSharedPrograms) {
  const auto f = function([](const Tensor& x) {
    if (x.shape()[0] == 0) fail<InvalidArgumentError>("no rows");
    return x * 2;
  });
  f(ones({5}));
  EXPECT_THROW(f(ones({0})), InvalidArgumentError);
  for (int n = 6; n < 12; ++n) f(ones({n}));
  EXPECT_LE(f.trace_count(), 3) << f.explain();
}

}  // namespace
}  // namespace gradus
