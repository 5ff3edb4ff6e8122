#include "gradus/updates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gradus/gradus.h"

namespace gradus {
namespace {

// Rows 1, 3, 1 of a [4, 3] table: row 1 is named twice.
Gradient repeated_rows() {
  return Gradient(Tensor{1, 3, 1}, Tensor{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}, {10.0, 20.0, 30.0}},
                  {4, 3});
}

template <class Update>
void expect_rows_equal_dense(const Update& update) {
  const Tensor start =
      reshape(Tensor{0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0}, {4, 3});
  const Variable a(start), b(start), state_a(fill({4, 3}, Tensor(0.1))),
      state_b(fill({4, 3}, Tensor(0.1)));
  for (int step = 0; step < 3; ++step) {
    update(a, state_a, repeated_rows());
    update(b, state_b, Gradient(repeated_rows().tensor()));
  }
  EXPECT_EQ(a.value().to_vector<double>(), b.value().to_vector<double>());
  EXPECT_EQ(state_a.value().to_vector<double>(), state_b.value().to_vector<double>());
}

TEST(Updates, RepeatedRowsGiveTheDenseUpdate) {
  expect_rows_equal_dense(
      [](const Variable& v, const Variable&, const Gradient& g) { sgd_update(v, g, 0.5); });
  expect_rows_equal_dense([](const Variable& v, const Variable& s, const Gradient& g) {
    adagrad_update(v, s, g, 0.5);
  });
}

// Enough rows for several pieces, one of them named 600 times; 17 columns, ids of all digits.
TEST(Updates, ManyRowsHaveTheSameBitsAtAnyNumberOfThreads) {
  constexpr std::int64_t kRows = 200'000, kIds = 3000, kWidth = 17;
  std::vector<std::int64_t> ids(kIds);
  for (std::int64_t i = 0; i < kIds; ++i) ids[i] = i % 5 == 0 ? 77'777 : i * 7919 % kRows;
  random::set_seed(5);
  const Tensor values = random::uniform({kIds, kWidth}, {.minval = -1});
  const auto updated = [&](int threads) {
    set_thread_count(threads);
    const Variable table(zeros({kRows, kWidth})), state(fill({kRows, kWidth}, 0.1f));
    const Gradient rows(Tensor::from(ids), values, {kRows, kWidth});
    adagrad_update(table, state, rows, 0.5);
    return gather(table, Tensor::from(ids)).to_vector<float>();
  };
  const int before = thread_count();
  const auto alone = updated(1);
  for (const int threads : {2, 5}) EXPECT_EQ(updated(threads), alone);
  set_thread_count(before);

  const Variable dense(zeros({kRows, kWidth})), state(fill({kRows, kWidth}, 0.1f));
  const Gradient rows(Tensor::from(ids), values, {kRows, kWidth});
  adagrad_update(dense, state, Gradient(rows.tensor()), 0.5);
  EXPECT_EQ(gather(dense, Tensor::from(ids)).to_vector<float>(), alone);
}

TEST(Updates, AdamIsKerass) {
  const Variable p(Tensor{1.0}), m(Tensor{0.0}), v(Tensor{0.0});
  adam_update(p, m, v, Gradient(Tensor{2.0}), 1, {.learning_rate = 0.1});
  const double alpha = 0.1 * std::sqrt(1 - 0.999) / (1 - 0.9);
  EXPECT_NEAR(p.value().item<double>(), 1 - 0.2 * alpha / (std::sqrt(0.004) + 1e-7), 1e-15);
  EXPECT_NEAR(m.value().item<double>(), 0.2, 1e-15);
}

TEST(Updates, ValuesThatOthersHoldAreNotChanged) {
  const Variable p(Tensor{1.0f, 2.0f});
  const Tensor before = p.value();
  sgd_update(p, Gradient(Tensor{1.0f, 1.0f}), 1);
  EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(p.value().to_vector<float>(), (std::vector<float>{0, 1}));
}

TEST(Updates, WrongGradientsAreRefused) {
  const Variable p(Tensor{1.0f, 2.0f});
  EXPECT_THROW(sgd_update(p, Gradient(), 1), InvalidArgumentError);
  EXPECT_THROW(sgd_update(p, Gradient(Tensor{1.0f}), 1), InvalidArgumentError);
  EXPECT_THROW(sgd_update(p, Gradient(Tensor{1.0, 2.0}), 1), InvalidArgumentError);
  const Gradient g(Tensor{1.0f, 1.0f});
  EXPECT_THROW(momentum_update(p, p, g, 1, 0.9), InvalidArgumentError);  // no state of its own
  EXPECT_THROW(adam_update(p, p, p, g, 1), InvalidArgumentError);
  EXPECT_THROW(Update(UpdateRule::adam, {.learning_rate = 0.1}), InvalidArgumentError);
  const Update adagrad(UpdateRule::adagrad, {.learning_rate = 0.1, .settings = {1e-7}});
  EXPECT_THROW(adagrad(p, {}, g), InvalidArgumentError);
  EXPECT_THROW(adagrad(p, {Variable(Tensor{0.0, 0.0})}, g), InvalidArgumentError);
}

// Empty variables, one element, more than a chunk, and odd sizes: as one element at a time.
TEST(Updates, AnyNumberOfElements) {
  for (std::int64_t size : {0, 1, 7, 16385, 40001}) {
    const Tensor start = cast(range(Tensor(0), Tensor(static_cast<int>(size)), Tensor(1)), float32);
    const Variable p(start), m(zeros({size})), v(zeros({size}));
    adam_update(p, m, v, Gradient(ones({size})), 1, {.learning_rate = 0.5});
    const std::vector<float> got = p.value().to_vector<float>();
    for (std::int64_t i : {std::int64_t{0}, size / 2, size - 1}) {
      if (i < 0 || i >= size) continue;
      EXPECT_NEAR(got[static_cast<std::size_t>(i)], static_cast<float>(i) - 0.5f, 1e-5);
    }
  }
}

TEST(Updates, RulesHaveNames) {
  EXPECT_EQ(update_rule("rmsprop_centered_momentum"), UpdateRule::rmsprop_centered_momentum);
  EXPECT_EQ(update_rule("ftrl"), UpdateRule::ftrl);
  EXPECT_FALSE(update_rule("none of them"));
  EXPECT_EQ(state_count(UpdateRule::amsgrad), 3);
  EXPECT_EQ(state_dtype(bfloat16), float32);
  EXPECT_EQ(state_dtype(float64), float64);
}

}  // namespace
}  // namespace gradus
