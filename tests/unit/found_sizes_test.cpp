// Sizes that the data decide, in compiled functions: each program is called with several sizes, 0
// and 1 among them, and agrees with itself run eagerly, with first and second gradients. One trace
// serves all (docs/design/033).
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using F = std::function<Tensor(const Tensor&)>;

Tensor gradient_of(const F& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  const Tensor y = reduce_sum(f(x) * 1.5f);
  const Gradient g = tape.gradient(y, x);
  return g ? g.tensor() : zeros(x.shape());
}

// Elements that are positive: none, one, some, all.
std::vector<Tensor> examples() {
  return {Tensor({-1.f, -2.f, -0.5f, -3.f, -1.f}), Tensor({-1.f, -2.f, 0.5f, -3.f, -1.f}),
          Tensor({1.f, -2.f, 0.5f, -3.f, 2.f}), Tensor({1.f, 2.f, 0.5f, 3.f, 1.f}),
          Tensor({-1.f, 1.25f, 0.5f, -3.f, -1.f})};
}

void expect_like_eager(const F& f, const std::string& what, int most_traces = 1) {
  const F first = [&](const Tensor& x) { return gradient_of(f, x); };
  const F second = [&](const Tensor& x) { return gradient_of(first, x); };
  for (const auto& [order, g] : {std::pair(0, f), std::pair(1, first), std::pair(2, second)}) {
    SCOPED_TRACE(what + ", order " + std::to_string(order));
    const auto compiled = function([&g = g](const Tensor& x) { return g(x); });
    for (const Tensor& x : examples()) {
      const Tensor got = compiled(x), want = g(x);
      EXPECT_EQ(to_string(got.shape()), to_string(want.shape()));
      const Tensor off = reduce_max(abs(concat({reshape(got - want, {-1}), zeros({1})}, 0)));
      const Tensor most = reduce_max(abs(concat({reshape(want, {-1}), ones({1})}, 0)));
      EXPECT_LE(off.item<float>(), 1e-5f * most.item<float>()) << got << "\n"
                                                               << want << "\nof " << to_string(x);
    }
    EXPECT_LE(compiled.trace_count(), most_traces) << compiled.explain();
  }
}

TEST(FoundSizes, ChosenElements) {
  expect_like_eager([](const Tensor& x) { return boolean_mask(x, x > 0); }, "boolean_mask");
  expect_like_eager([](const Tensor& x) { return boolean_mask(x, x > 0) * 2 + 1; }, "then more");
  expect_like_eager([](const Tensor& x) { return reduce_sum(square(boolean_mask(x, x > 0))); },
                    "a sum of squares");
  expect_like_eager([](const Tensor& x) { return tanh(boolean_mask(x * x * x, x > 0)); },
                    "something before");
  expect_like_eager(
      [](const Tensor& x) { return boolean_mask(x, x > 0) * boolean_mask(exp(x), x > 0); },
      "one mask for two");
  expect_like_eager([](const Tensor& x) { return cast(where(x > 0), float32) * reduce_sum(x * x); },
                    "positions");
  expect_like_eager(
      [](const Tensor& x) {
        const Tensor rows = expand_dims(x, 1) * Tensor({{1.f, 2.f, 3.f}});
        return matmul(boolean_mask(rows, x > 0), ones({3, 2})) * 0.5f;
      },
      "rows, then a product");
  expect_like_eager(
      [](const Tensor& x) {
        const Tensor table = expand_dims(x, 1) * expand_dims(x, 0);
        return boolean_mask(table, table > 0.3f);
      },
      "a mask of two axes");
  expect_like_eager(
      [](const Tensor& x) {
        const Tensor some = boolean_mask(x, x > 0);
        return boolean_mask(some * some, some > 0.75f);
      },
      "twice");
  expect_like_eager([](const Tensor& x) { return nn::softmax(boolean_mask(x, x > 0)); }, "softmax");
  expect_like_eager(
      [](const Tensor& x) {
        return concat({boolean_mask(x, x > 0), boolean_mask(x, x < 0), x}, 0);
      },
      "joined");
  expect_like_eager(
      [](const Tensor& x) {
        const Tensor some = boolean_mask(x, x > 0);
        return expand_dims(some, 1) - expand_dims(some, 0);
      },
      "pairs");
}

TEST(FoundSizes, PositionsOfManyMasks) {
  std::mt19937 random(7);
  for (int length = 0; length < 300; ++length) {
    const int rank = 1 + length % 3, often = length % 5;
    const Shape shape = rank == 1   ? Shape{length}
                        : rank == 2 ? Shape{length / 7, 7}
                                    : Shape{3, length / 9, 2};
    const std::int64_t count = shape.num_elements();
    const std::unique_ptr<bool[]> mask(new bool[static_cast<std::size_t>(count) + 1]);
    std::vector<std::int64_t> want;
    for (std::int64_t i = 0; i < count; ++i) {
      mask[static_cast<std::size_t>(i)] = static_cast<int>(random() % 4) < often;
      if (!mask[static_cast<std::size_t>(i)]) continue;
      std::vector<std::int64_t> place(static_cast<std::size_t>(rank));
      std::int64_t rest = i;
      for (int a = rank - 1; a >= 0; --a) {
        place[static_cast<std::size_t>(a)] = rest % shape[a];
        rest /= shape[a];
      }
      want.insert(want.end(), place.begin(), place.end());
    }
    const Tensor t = Tensor::filled_by(
        bool_, shape, [&](void* to) { std::copy_n(mask.get(), count, static_cast<bool*>(to)); });
    EXPECT_EQ(where(t).to_vector<std::int64_t>(), want) << length;
    // Fewer or more rows than there are.
    for (const std::int64_t rows : {std::int64_t{0}, std::int64_t{3}, count + 9}) {
      std::vector<std::int64_t> cut = want;
      cut.resize(static_cast<std::size_t>(rows * rank));
      EXPECT_EQ(where(t, rows).to_vector<std::int64_t>(), cut) << length << " " << rows;
    }
  }
}

TEST(FoundSizes, DifferentValues) {
  expect_like_eager(
      [](const Tensor& x) {
        const Unique u = unique(floor(x));
        return u.y * cast(u.count, float32) + reduce_sum(cast(u.idx, float32)) * reduce_sum(x * x);
      },
      "unique");
  expect_like_eager([](const Tensor& x) { return square(unique(x).y); }, "of what is followed");
}

TEST(FoundSizes, NumbersAsSizes) {
  const auto count = [](const Tensor& x) { return to_size(count_nonzero(x > 0)); };
  expect_like_eager(
      [&](const Tensor& x) {
        return ones({count(x), 2}) * reduce_sum(x * x);
      },
      "ones");
  expect_like_eager(
      [&](const Tensor& x) { return broadcast_to(reduce_sum(x * x), {count(x)}) * 2; },
      "broadcast");
  expect_like_eager(
      [&](const Tensor& x) { return cast(range(0, count(x), 1), float32) * reduce_sum(tanh(x)); },
      "range");
  expect_like_eager([&](const Tensor& x) { return tile(x, {count(x)}) * x.shape()[0]; }, "tile");
  expect_like_eager(
      [&](const Tensor& x) { return unsorted_segment_sum(x, cast(x > 0, int32), count(x) + 2); },
      "segments");
  expect_like_eager(
      [&](const Tensor& x) { return cast(one_hot(cast(x > 0, int32), count(x)), float32) * 3; },
      "one_hot");
}

// What a branch or a loop gives has the size of the branch that ran, or of the last turn.
TEST(FoundSizes, BranchesOfDifferentSizes) {
  const auto half = [](const Tensor& x) { return slice(x, {0}, {2}); };
  expect_like_eager(
      [&](const Tensor& x) {
        return cond(
            reduce_sum(x) > 0, [&] { return half(x) * 3; }, [&] { return tanh(x); });
      },
      "sizes that are known");
  expect_like_eager(
      [](const Tensor& x) {
        const Tensor y = cond(
            reduce_sum(x) > 0, [&] { return boolean_mask(x * x, x > 0); }, [&] { return x; });
        return reduce_sum(y) * y;
      },
      "one that is found");
  expect_like_eager(
      [&](const Tensor& x) {
        const auto [y, z] = cond(
            reduce_max(x) > 1, [&] { return std::pair(boolean_mask(x, x > 0), half(x)); },
            [&] { return std::pair(x * x, boolean_mask(x, x <= 0)); });
        return concat({y * reduce_sum(z), z}, 0);
      },
      "two results");
  expect_like_eager(
      [&](const Tensor& x) {
        const std::vector<std::function<Tensor()>> branches = {
            [&] { return x; }, [&] { return half(x); }, [&] { return boolean_mask(x * x, x > 0); }};
        return switch_case(count_nonzero(x > 0), branches) * 2;
      },
      "switch_case");
  expect_like_eager(
      [&](const Tensor& x) {
        return cond(
            reduce_sum(x) > 0,
            [&] {
              return cond(
                  reduce_max(x) > 1, [&] { return half(x) * x.shape()[0]; }, [&] { return x * x; });
            },
            [&] { return boolean_mask(x, x > 0); });
      },
      "one inside the other");
}

TEST(FoundSizes, LoopsThatChangeSizes) {
  expect_like_eager(
      [](const Tensor& x) {
        const Tensor n = count_nonzero(x > 0, int32);
        const auto [i, y] =
            while_loop([&](Tensor i, Tensor) { return i < n; },
                       [&](Tensor i, Tensor y) {
                         return std::tuple(i + 1, concat({y, reshape(gather(x, i) * 2, {1})}, 0));
                       },
                       std::tuple(Tensor(0), x * x));
        return y * cast(i, float32);
      },
      "rows that are added");
  expect_like_eager(
      [](const Tensor& x) {
        return while_loop([&](Tensor y) { return reduce_max(y) - reduce_min(y) > 0.1f; },
                          [&](Tensor y) { return boolean_mask(y, y >= reduce_mean(y)) * 0.5f; }, x);
      },
      "elements that are dropped");
  expect_like_eager(
      [](const Tensor& x) {
        const Tensor n = count_nonzero(x > 0, int32);
        const auto [i, y, z] = while_loop(
            [&](Tensor i, Tensor, Tensor) { return i < n; },
            [&](Tensor i, Tensor y, Tensor z) {
              const Tensor v = reshape(gather(x, i), {1});
              return std::tuple(i + 1, concat({y, v}, 0), concat({z, nn::softmax(z + v), v}, 0));
            },
            std::tuple(Tensor(0), zeros({0}), slice(x, {0}, {1})));
        return reduce_sum(y) * z;
      },
      "two that grow");
  expect_like_eager(
      [](const Tensor& x) {
        const auto [i, y] =
            while_loop([&](Tensor i, Tensor) { return i < 5; },
                       [&](Tensor i, Tensor y) {
                         const Tensor v = gather(x, i);
                         return std::tuple(i + 1, cond(
                                                      v > 0,
                                                      [&] {
                                                        return concat({y, reshape(v, {1})}, 0);
                                                      },
                                                      [&] { return y * v; }));
                       },
                       std::tuple(Tensor(0), zeros({0})));
        return y;
      },
      "a branch in a loop");
  expect_like_eager(
      [](const Tensor& x) {
        return while_loop([&](Tensor y) { return reduce_sum(y) < 100; },
                          [&](Tensor y) {
                            return concat({y, y * 2, square(x)}, 0);
                          },
                          x, {.maximum_iterations = 3});
      },
      "at most three turns");
}

TEST(FoundSizes, PositionsThatTheDataDecide) {
  const Tensor x = {1.0, 2.0, 4.0};
  const auto at =
      function([](const Tensor& v, const Tensor& n) { return index(v * v, {to_size(n)}); });
  for (const std::int64_t n : {1, 0, 2}) {
    EXPECT_EQ(at(x, Tensor(n)).item<double>(), x.data<double>()[n] * x.data<double>()[n]) << n;
    const Tensor slope = grad([&](const Tensor& v) { return at(v, Tensor(n)); })(x);
    for (std::int64_t i = 0; i < 3; ++i)
      EXPECT_EQ(slope.data<double>()[i], i == n ? 2 * x.data<double>()[n] : 0) << n;
  }
  EXPECT_EQ(at.trace_count(), 1);
  EXPECT_THROW(at(x, Tensor(3)), InvalidArgumentError);
  EXPECT_EQ(at(x, Tensor(1)).item<double>(), 4);  // and nothing is lost
}

TEST(FoundSizes, FlowsThatAreWrongSaySo) {
  const auto message = [](auto f) -> std::string {
    try {
      function(f)(Tensor{1.f, 2.f});
    } catch (const Error& e) {
      return e.message();
    }
    return "";
  };
  EXPECT_NE(
      message([](const Tensor& x) {
        return while_loop([&](Tensor y) { return reduce_sum(y) < 10; },
                          [&](Tensor y) {
                            return reshape(concat({y, x}, 0), {-1, 1});
                          },
                          x);
      })
          .find("[while_loop] loop variable 0 is float32 (2,) before the body and float32 (4, 1) "
                "after it; dtypes and numbers of axes must stay"),
      std::string::npos);
  EXPECT_NE(message([](const Tensor& x) {
              return cond(
                  reduce_sum(x) > 0,
                  [&] {
                    return reshape(x, {1, 2});
                  },
                  [&] { return x; });
            }).find("dtypes and numbers of axes must agree"),
            std::string::npos);
}

}  // namespace
}  // namespace gradus
