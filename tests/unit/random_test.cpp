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
