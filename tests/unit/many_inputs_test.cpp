// Calls with more than 32 inputs: sets of inputs are bits, and the last bit stands for all the
// rest.
#include <gtest/gtest.h>

#include <functional>

#include "gradus/gradus.h"
#include "graph/batch.h"

namespace gradus {
namespace {

constexpr std::size_t kCount = 40;
using Many = std::vector<Tensor>;
using OfMany = std::function<Tensor(const Many&)>;

// Each third tensor is of integers, which have no gradient.
Many many() {
  Many x;
  for (std::size_t k = 0; k < kCount; ++k) {
    const auto value = 1 + static_cast<int>(k % 5);
    x.push_back(k % 3 == 0 ? Tensor(value) : Tensor(static_cast<double>(value)));
  }
  return x;
}

// The sum of (k + 1) x_k^3, by one op that takes them all.
Tensor total(const Many& x) {
  Many parts;
  for (std::size_t k = 0; k < kCount; ++k) {
    const Tensor part = cast(x[k], float64);
    parts.push_back(reshape((static_cast<double>(k) + 1.0) * (part * part * part), {1}));
  }
  return reduce_sum(concat(parts, 0));
}

void expect_derivatives(const OfMany& f, const char* what) {
  const Many x = many();
  for (const std::size_t k : {1u, 29u, 31u, 32u, 35u, 38u}) {
    const double at = x[k].item<double>(), factor = static_cast<double>(k) + 1;
    GradientTape outer;
    outer.watch(x[k]);
    const ForwardAccumulator forward({{x[k], Tensor(1.0)}});
    GradientTape inner({.persistent = true});
    inner.watch(x[k]);
    const Tensor y = f(x);
    const auto g = inner.gradient(y, x[k]);
    EXPECT_EQ(g.tensor().item<double>(), 3 * factor * at * at) << what << ' ' << k;
    EXPECT_EQ(forward.jvp(y).tensor().item<double>(), 3 * factor * at * at) << what << ' ' << k;
    EXPECT_EQ(forward.jvp(g.tensor()).tensor().item<double>(), 6 * factor * at) << what << ' ' << k;
    EXPECT_EQ(outer.gradient(g.tensor(), x[k]).tensor().item<double>(), 6 * factor * at)
        << what << ' ' << k;
    EXPECT_TRUE(inner.gradient(y, x[k == 35 ? 37 : 35]).is_none()) << what << ' ' << k;
  }
}

TEST(ManyInputs, OfOneOp) { expect_derivatives(total, "concat"); }

TEST(ManyInputs, OfAFunction) {
  const auto compiled = function(total);
  expect_derivatives([&](const Many& x) { return compiled(x); }, "function");
}

TEST(ManyInputs, OfAFunctionWithRulesOfItsOwn) {
  const auto again = recompute_grad(total);
  expect_derivatives([&](const Many& x) { return again(x); }, "recompute_grad");
}

TEST(ManyInputs, OfBranchesAndLoops) {
  const auto branches = function([](const Many& x) {
    return cond(
        reduce_sum(x[1]) > 0, [&] { return total(x); }, [&] { return -total(x); });
  });
  expect_derivatives([&](const Many& x) { return branches(x); }, "cond");
  const auto loop = function([](const Many& x) {
    const auto all = while_loop([](const Tensor& i, const Many&) { return i < 3; },
                                [](const Tensor& i, const Many& y) { return std::pair(i + 1, y); },
                                std::pair(Tensor(0), x));
    return total(all.second);
  });
  expect_derivatives([&](const Many& x) { return loop(x); }, "while_loop");
}

TEST(ManyInputs, OfWhichOneIsABatch) {
  const Many x = many();
  for (const std::size_t k : {29u, 31u, 35u, 38u}) {
    Many mapped = x;
    const double at = x[k].item<double>(), factor = static_cast<double>(k) + 1;
    mapped[k] = make_batched(Tensor({at, 2 * at}), 1);
    const Tensor y = unbatch(total(mapped), 1, 2);
    EXPECT_EQ(y.data<double>()[1] - y.data<double>()[0], 7 * factor * at * at * at);
    EXPECT_EQ(y.data<double>()[0], total(x).item<double>());
  }
}

}  // namespace
}  // namespace gradus
