#include "gradus/losses.h"

#include "keras_util.h"

namespace gradus {
namespace {

namespace each = keras::per_sample;

Tensor predictions() { return abs(ramp({3, 4}, 0.3)) * 0.8 + 0.1; }
Tensor targets() { return abs(ramp({3, 4}, 2)) * 0.8 + 0.1; }
const Tensor kLabels = {1, 3, 0};

template <class F>
void expect_loss(const std::string& name, const F& loss) {
  expect_as_keras("loss/" + name, predictions(),
                  [&](const Tensor& p) { return loss(targets(), p); });
}

TEST(Losses, OfEachSample) {
  expect_loss("mean_squared_error", each::mean_squared_error);
  expect_loss("mean_absolute_error", each::mean_absolute_error);
  expect_loss("mean_absolute_percentage_error", each::mean_absolute_percentage_error);
  expect_loss("mean_squared_logarithmic_error", each::mean_squared_logarithmic_error);
  expect_loss("huber", [](In t, In p) { return each::huber(t, p); });
  expect_loss("log_cosh", each::log_cosh);
  expect_loss("poisson", each::poisson);
  expect_loss("cosine_similarity", [](In t, In p) { return each::cosine_similarity(t, p); });
  expect_loss("hinge", each::hinge);
  expect_loss("squared_hinge", each::squared_hinge);
  expect_loss("categorical_hinge", each::categorical_hinge);
  expect_loss("kl_divergence", each::kl_divergence);
  expect_loss("binary_focal_crossentropy",
              [](In t, In p) { return each::binary_focal_crossentropy(t, p); });
  expect_loss("categorical_focal_crossentropy",
              [](In t, In p) { return each::categorical_focal_crossentropy(t, p); });
  expect_loss("dice", [](In t, In p) { return each::dice(t, p); });
  expect_loss("tversky", [](In t, In p) { return each::tversky(t, p); });
}

TEST(Losses, CrossEntropies) {
  const keras::CrossentropyOptions probabilities{.from_logits = false},
      smooth{.label_smoothing = 0.1};
  expect_loss("binary_crossentropy",
              [&](In t, In p) { return each::binary_crossentropy(t, p, probabilities); });
  expect_loss("categorical_crossentropy",
              [&](In t, In p) { return each::categorical_crossentropy(t, p, probabilities); });
  const Tensor logits = ramp({3, 4});
  expect_as_keras("loss/binary_crossentropy/logits", logits,
                  [&](const Tensor& x) { return each::binary_crossentropy(targets(), x, smooth); });
  expect_as_keras("loss/categorical_crossentropy/logits", logits, [&](const Tensor& x) {
    return each::categorical_crossentropy(one_hot(kLabels, 4), x, smooth);
  });
  expect_as_keras("loss/sparse_categorical_crossentropy", predictions(), [&](const Tensor& p) {
    return each::sparse_categorical_crossentropy(kLabels, p, false);
  });
  expect_as_keras("loss/sparse_categorical_crossentropy/logits", logits, [&](const Tensor& x) {
    return each::sparse_categorical_crossentropy(kLabels, x);
  });
  // Along another axis.
  const auto v = each::categorical_crossentropy(one_hot(kLabels, 4), logits).to_vector<float>();
  expect_near("axis 0",
              each::categorical_crossentropy(transpose(one_hot(kLabels, 4)), transpose(logits),
                                             {.axis = {0}}),
              std::vector<double>(v.begin(), v.end()));
}

TEST(Losses, LogitsAreNeverRoundedToProbabilities) {
  const Tensor wrong = {{100.0f}}, no = {{0.0f}};
  expect_near("binary", each::binary_crossentropy(no, wrong), {100});
  expect_near("focal", each::binary_focal_crossentropy(no, wrong, {.from_logits = true}), {100});
}

TEST(Losses, Further) {
  expect_as_keras("loss/categorical_generalized_cross_entropy", predictions(), [](const Tensor& p) {
    return each::categorical_generalized_cross_entropy(kLabels, p, 0.5);
  });
  EXPECT_THROW(each::categorical_generalized_cross_entropy(kLabels, predictions(), 1),
               InvalidArgumentError);
  expect_as_keras("loss/circle", ramp({4, 3}), [](const Tensor& x) {
    return each::circle(Tensor{0, 1, 0, 1}, nn::l2_normalize(x, {1}));
  });
  expect_as_keras("loss/ctc", ramp({2, 5, 4}), [](const Tensor& x) {
    return each::ctc(Tensor{{1, 2}, {3, 0}}, x, Tensor{2, 1}, Tensor{5, 5});
  });
}

TEST(Losses, TargetsDoNotBroadcastAgainstAColumnOfPredictions) {
  const Tensor t = {1.0f, 2.0f, 3.0f}, column = {{1.0f}, {2.0f}, {5.0f}};
  expect_near("squared", keras::mean_squared_error(t, column), {4.0 / 3});
  expect_near("absolute", keras::mean_absolute_error(column, t), {2.0 / 3});
  expect_near("huber", keras::huber(t, column), {0.5});
  expect_near("a number for all", keras::mean_squared_error(1, column), {17.0 / 3});
  expect_near("a number for one", keras::mean_squared_error(1, 3 * ones({1})), {4});
  const Tensor yes = {1.0f, 0.0f, 1.0f};
  expect_near("binary", keras::binary_crossentropy(yes, column),
              {keras::binary_crossentropy(expand_dims(yes, 1), column).item<double>()});
  expect_near("classes",
              keras::sparse_categorical_crossentropy(expand_dims(kLabels, 1), predictions()),
              {keras::sparse_categorical_crossentropy(kLabels, predictions()).item<double>()});
}

TEST(Losses, CtcNeedsATime) {
  EXPECT_THROW(keras::ctc(ones({2, 2}, int32), ones({2, 0, 3}), ones({2}), ones({2})),
               InvalidArgumentError);
  EXPECT_THROW(keras::ctc(ones({2}, int32), ones({2, 4, 3}), ones({2}), ones({2})),
               InvalidArgumentError);
}

TEST(Losses, TheMeanIsOneNumberAndEpsilonCanBeSet) {
  const Tensor loss = keras::mean_squared_error(targets(), predictions());
  EXPECT_EQ(loss.rank(), 0);
  EXPECT_NEAR(loss.item<float>(),
              reduce_mean(each::mean_squared_error(targets(), predictions())).item<float>(), 1e-7);
  expect_near("hinge of 0 and 1", keras::hinge(Tensor{0, 1}, Tensor{0.5f, 0.5f}), {1});
  const Tensor never = {{0.0f}}, yes = {{1.0f}};
  const auto loss_of_never = [&] {
    return keras::binary_crossentropy(yes, never, {.from_logits = false}).item<float>();
  };
  EXPECT_NEAR(loss_of_never(), -std::log(1e-7), 1e-3);
  keras::set_epsilon(1e-3);
  EXPECT_NEAR(loss_of_never(), -std::log(1e-3), 1e-3);
  keras::set_epsilon(1e-7);
}

// Keras divides by the number of samples, or gives 0 if there are none.
TEST(Losses, OfNoRowsAreZero) {
  using Loss = std::function<Tensor(const Tensor&, const Tensor&)>;
  const std::vector<Loss> losses = {
      [](In t, In p) { return keras::mean_squared_error(t, p); },
      [](In t, In p) { return keras::mean_absolute_error(t, p); },
      [](In t, In p) { return keras::mean_absolute_percentage_error(t, p); },
      [](In t, In p) { return keras::mean_squared_logarithmic_error(t, p); },
      [](In t, In p) { return keras::huber(t, p); },
      [](In t, In p) { return keras::log_cosh(t, p); },
      [](In t, In p) { return keras::poisson(t, p); },
      [](In t, In p) { return keras::cosine_similarity(t, p); },
      [](In t, In p) { return keras::hinge(t, p); },
      [](In t, In p) { return keras::squared_hinge(t, p); },
      [](In t, In p) { return keras::categorical_hinge(t, p); },
      [](In t, In p) { return keras::kl_divergence(t, p); },
      [](In t, In p) { return keras::binary_crossentropy(t, p); },
      [](In t, In p) { return keras::categorical_crossentropy(t, p); },
      [](In t, In p) { return keras::binary_focal_crossentropy(t, p); },
      [](In t, In p) { return keras::categorical_focal_crossentropy(t, p); },
      [](In t, In p) { return keras::sparse_categorical_crossentropy(argmax(t, 1), p); },
      [](In t, In p) { return keras::categorical_generalized_cross_entropy(argmax(t, 1), p); },
      [](In t, In p) { return keras::circle(argmax(t, 1), p); },
  };
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto both = [&](const Tensor& t, const Tensor& w) {
      GradientTape tape;
      tape.watch(w);
      const Tensor loss = losses[i](t, matmul(t, w));
      return std::pair(loss, tape.gradient(loss, w).tensor());
    };
    const auto compiled = function(both);
    const Tensor w = ones({4, 4}, float64) * 0.1;
    for (const std::int64_t rows : {3, 5, 0}) {
      const Tensor t = ones({rows, 4}, float64) * 0.25;
      for (const auto& [loss, slopes] : {both(t, w), compiled(t, w)}) {
        EXPECT_TRUE(std::isfinite(loss.item<double>())) << i << ", rows " << rows;
        if (rows > 0) continue;
        EXPECT_EQ(loss.item<double>(), 0) << i;
        EXPECT_EQ(slopes.to_vector<double>(), std::vector<double>(16, 0.0)) << i;
      }
    }
  }
}

}  // namespace
}  // namespace gradus
