#include "gradus/host_call.h"

#include <gtest/gtest.h>

#include "gradus/gradus.h"
#include "gradus/tracing.h"

namespace gradus {
namespace {

float item(const Tensor& t) { return t.item<float>(); }

// Notes the values that it sees.
HostFunction noting(std::vector<float>& seen) {
  return {.name = "note", .run = [&seen](const std::vector<Tensor>& in) {
            for (const Tensor& t : in) seen.push_back(t.item<float>());
            return std::vector<Tensor>();
          }};
}

HostFunction cubing(int& calls) {
  return {.name = "cube",
          .run =
              [&calls](const std::vector<Tensor>& in) {
                ++calls;
                return std::vector<Tensor>{in[0] * in[0] * in[0]};
              },
          .pull =
              [](const std::vector<Tensor>& in, const std::vector<Tensor>& cts) {
                return std::vector<Tensor>{3 * in[0] * in[0] * cts[0]};
              }};
}

TEST(HostCall, RunsAtOnceWhenEager) {
  std::vector<float> seen;
  host_call(noting(seen), {Tensor(2.f)}, {});
  EXPECT_EQ(seen, std::vector<float>{2.f});
}

TEST(HostCall, RunsAtEachRunInTheOrderOfTheCalls) {
  std::vector<float> seen;
  const auto f = function([&](const Tensor& x) {
    const Tensor late = exp(x) - exp(x) + 7;  // computed before it is seen
    host_call(noting(seen), {x}, {});
    host_call(noting(seen), {late}, {});
    host_call(noting(seen), {Tensor(5.f)}, {});
    return while_loop([&](const Tensor& i) { return i < x; },
                      [&](const Tensor& i) {
                        cond(
                            i > 0, [&] { host_call(noting(seen), {i}, {}); },
                            [&] { host_call(noting(seen), {-i - 1}, {}); });
                        return i + 1;
                      },
                      Tensor(0.f));
  });
  EXPECT_EQ(item(f(Tensor(3.f))), 3);
  EXPECT_EQ(seen, (std::vector<float>{3, 7, 5, -1, 1, 2}));
  seen.clear();
  f(Tensor(0.f));
  EXPECT_EQ(seen, (std::vector<float>{0, 7, 5}));
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(HostCall, HasAGradient) {
  int calls = 0;
  const auto df = function([&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = host_call(cubing(calls), {x}, {{float32, {}, 0}})[0];
    return tape.gradient(y * x, x).tensor();
  });
  EXPECT_FLOAT_EQ(item(df(Tensor(2.f))), 32);
  EXPECT_EQ(calls, 1);
  const auto f = function([&](const Tensor& x) {
    return host_call(cubing(calls), {x}, {{float32, {}, 0}})[0];
  });
  GradientTape tape;
  const Tensor x(2.f);
  tape.watch(x);
  EXPECT_FLOAT_EQ(item(tape.gradient(f(x), x).tensor()), 12);
}

TEST(HostCall, IsNotRepeatedByTheGradientOfABranch) {
  std::vector<float> seen;
  const auto df = function([&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = cond(
        x > 0,
        [&] {
          host_call(noting(seen), {x}, {});
          return x * x;
        },
        [&] { return x; });
    return tape.gradient(y, x).tensor();
  });
  EXPECT_EQ(item(df(Tensor(3.f))), 6);
  EXPECT_EQ(seen, std::vector<float>{3.f});
}

TEST(HostCall, ForeignCodeMayReadVariables) {
  const Variable v(Tensor(1.f));
  const auto f = function([&](const Tensor& x) {
    const HostFunction reads{
        .name = "reads",
        .run =
            [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] + v.value()}; },
        .pull = {},
        .is_foreign = true};
    v.assign_add(host_call(reads, {x}, {{float32, {}, 0}})[0]);
    return v.value();
  });
  EXPECT_EQ(item(f(Tensor(2.f))), 4);
  EXPECT_EQ(item(f(Tensor(2.f))), 10);
}

TEST(HostCall, SaysWhatItGot) {
  const HostFunction wrong{.name = "wrong", .run = [](const std::vector<Tensor>&) {
                             return std::vector<Tensor>{Tensor({1.f, 2.f})};
                           }};
  const auto f = function([&](const Tensor& x) {
    return host_call(wrong, {x}, {{float32, {}, 0}})[0] + 1;
  });
  try {
    f(Tensor(1.f));
    FAIL();
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("[wrong] result 0 is float32 of shape (2,)"),
              std::string::npos)
        << e.what();
  }
}

TEST(HostCall, AnErrorLeavesVariablesAndNamesTheLine) {
  const Variable v(Tensor(1.f));
  const auto f = function([&](const Tensor& x) {
    host_call({.name = "check",
               .run =
                   [](const std::vector<Tensor>& in) {
                     if (in[0].item<float>() < 0) throw InvalidArgumentError("negative");
                     return std::vector<Tensor>();
                   }},
              {x}, {});
    v.assign_add(x);
    return v.value();
  });
  EXPECT_THROW(f(Tensor(-1.f)), InvalidArgumentError);
  EXPECT_TRUE(take_failed_line().has_value());
  EXPECT_EQ(item(v.value()), 1);
  EXPECT_EQ(item(f(Tensor(2.f))), 3);
  EXPECT_FALSE(take_failed_line().has_value());
}

}  // namespace
}  // namespace gradus
