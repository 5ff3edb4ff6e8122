// The expected numbers come from TensorFlow 2.21 with the same seeds.
#include "gradus/random.h"

#include <gtest/gtest.h>

#include "gradus/gradus.h"

namespace gradus {
namespace {

void expect_numbers(const Tensor& t, const std::vector<float>& expected, float tolerance = 0) {
  const auto got = t.to_vector<float>();
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance);
}

TEST(Random, StatefulOpsFollowTheGlobalSeed) {
  random::set_seed(42);
  expect_numbers(random::uniform({3}),
                 {0.6645621061325073f, 0.44100677967071533f, 0.3528825044631958f});
  expect_numbers(random::normal({3}),
                 {0.08422458171844482f, -0.8609037399291992f, 0.37812304496765137f}, 3e-7f);
  expect_numbers(random::uniform({3}, {.seed = 7}),
                 {0.8627676963806152f, 0.6567625999450684f, 0.9905458688735962f});
}

TEST(Random, StatelessOpsAreFunctionsOfTheirSeed) {
  const Tensor seed = {1, 2};
  expect_numbers(random::stateless_uniform({3}, seed),
                 {0.8440604209899902f, 0.19204533100128174f, 0.9962232112884521f});
  expect_numbers(random::stateless_normal({2}, seed), {0.544110119342804f, 0.20738030970096588f},
                 3e-7f);
}

TEST(Random, ParametersThatAreTensorsHaveDerivatives) {
  const Tensor seed = {1, 2}, z = random::stateless_normal({2}, seed);
  const Variable mean(Tensor{1.5f, 2.0f}), stddev(Tensor(3.0f));
  GradientTape tape;
  const Tensor y = random::stateless_normal({2}, seed, {.mean = mean, .stddev = stddev});
  expect_numbers(y, (z * 3.0 + Tensor{1.5f, 2.0f}).to_vector<float>());
  const auto [d_mean, d_stddev] = tape.gradient(reduce_sum(square(y)), mean, stddev);
  expect_numbers(d_mean.tensor(), (2.0 * y).to_vector<float>(), 1e-5f);
  expect_numbers(d_stddev.tensor(), reduce_sum(2.0 * y * z).to_vector<float>(), 1e-5f);

  const auto draw = function([&](const Tensor& low, const Tensor& high) {
    return random::stateless_uniform({2}, seed, {.minval = low, .maxval = high});
  });
  expect_numbers(draw(Tensor(1.5f), Tensor(2.0f)), {1.9220302f, 1.5960226f});
  expect_numbers(
      grad([&](const Tensor& low) { return reduce_sum(draw(low, Tensor(2.0f))); })(Tensor(1.5f)),
      {0.96389425f}, 1e-6f);
  // Integers beyond what a double holds, as TensorFlow draws them.
  const Tensor wide = random::stateless_uniform({1}, seed,
                                                {.minval = (std::int64_t{1} << 53) + 1,
                                                 .maxval = (std::int64_t{1} << 60) + 3,
                                                 .dtype = int64});
  EXPECT_EQ(wide.to_vector<std::int64_t>()[0], 610401513422719521);
  EXPECT_THROW(random::uniform({2}, {.maxval = Tensor(0), .dtype = int32}), InvalidArgumentError);
}

TEST(Random, GammaNumbersKeepTheirPlaces) {
  // What TensorFlow's RandomGammaGrad answers.
  const Tensor alpha = {0.5, 1.5, 10.0}, drawn = {0.3, 2.0, 9.0};
  const auto f = [&](const Tensor& a) {
    return reduce_sum(random::reparameterised_gamma(a, drawn));
  };
  const std::vector<double> slope = grad(f)(alpha).to_vector<double>();
  const double want[] = {1.0098021, 1.2846296, 0.9641832};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(slope[i], want[i], 1e-6);
}

TEST(Random, IntegersAndShuffle) {
  random::set_seed(1);
  const Tensor n = random::uniform({4}, {.minval = 0, .maxval = 10, .dtype = int32});
  EXPECT_EQ(n.to_vector<int>(), (std::vector<int>{2, 9, 7, 1}));
  EXPECT_EQ(random::shuffle(Tensor{0, 1, 2, 3, 4, 5}).to_vector<int>(),
            (std::vector<int>{2, 1, 0, 4, 3, 5}));
}

TEST(Random, DropoutKeepsTheMean) {
  random::set_seed(3);
  const Tensor y = nn::dropout(ones({10000}), 0.25);
  EXPECT_NEAR(reduce_mean(y).item<float>(), 1, 0.03);
  EXPECT_THROW(nn::dropout(y, 1.0), InvalidArgumentError);
}

}  // namespace
}  // namespace gradus
