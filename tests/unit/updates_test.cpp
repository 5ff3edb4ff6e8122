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
}

}  // namespace
}  // namespace gradus
