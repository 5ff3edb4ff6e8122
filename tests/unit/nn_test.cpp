// Fused gradients against central differences, along random directions in float64. (The registry
// tests watch everything and so take the way through single ops.)
#include "gradus/nn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

void expect_right_gradient(const Function& f, const std::vector<Tensor>& at) {
  std::vector<Gradient> gradients;
  {
    GradientTape tape;
    for (const Tensor& x : at) tape.watch(x);
    gradients = tape.gradient(f(at), at);
  }
  random::set_seed(5);
  double slope = 0;
  std::vector<Tensor> directions;
  for (std::size_t i = 0; i < at.size(); ++i) {
    directions.push_back(random::normal(at[i].shape(), {.dtype = float64}));
    slope += reduce_sum(gradients[i].tensor() * directions[i]).item<double>();
  }
  const auto moved = [&](double h) {
    std::vector<Tensor> x;
    for (std::size_t i = 0; i < at.size(); ++i) x.push_back(at[i] + h * directions[i]);
    return f(x).item<double>();
  };
  const double h = 1e-6, numeric = (moved(h) - moved(-h)) / (2 * h);
  EXPECT_NEAR(slope, numeric, 1e-7 * (1 + std::abs(numeric)));
}

Tensor normal(const Shape& shape) {
  return random::normal(shape, {.stddev = 0.7, .dtype = float64});
}

TEST(Nn, LayerNormalizationGradient) {
  random::set_seed(1);
  for (const Shape& shape : {Shape{3, 5}, Shape{41, 17}, Shape{2, 3, 8}, Shape{1, 1}}) {
    const Tensor w = normal(shape);
    expect_right_gradient(
        [&](const std::vector<Tensor>& x) {
          return reduce_sum(nn::layer_normalization(x[0], x[1], x[2], 0.05) * w);
        },
        {normal(shape), normal({shape.back()}), normal({shape.back()})});
  }
}

TEST(Nn, LstmGradientFromSequenceAndStates) {
  random::set_seed(2);
  const Tensor w = normal({3, 4, 5}), wh = normal({3, 5}), wc = normal({3, 5});
  const std::vector<Tensor> at = {normal({3, 4, 2}), normal({2, 20}), normal({5, 20}),
                                  normal({20}),      normal({3, 5}),  normal({3, 5})};
  expect_right_gradient(
      [&](const std::vector<Tensor>& x) {
        const nn::LstmResult y = nn::lstm(x[0], x[1], x[2], x[3], x[4], x[5]);
        return reduce_sum(y.sequence * w) + reduce_sum(y.h * wh) + reduce_sum(y.c * wc);
      },
      at);
  expect_right_gradient(
      [&](const std::vector<Tensor>& x) {
        return reduce_sum(nn::lstm(x[0], x[1], x[2], x[3], x[4], x[5]).c * wc);
      },
      at);
}

TEST(Nn, MaskedRecurrencesPassStatesAndGradientsOn) {
  random::set_seed(4);
  const Tensor mask = random::uniform({3, 4}) < 0.6;
  const Tensor w = normal({3, 4, 5}), wh = normal({3, 5}), wc = normal({3, 5});
  expect_right_gradient(
      [&](const std::vector<Tensor>& x) {
        const nn::LstmResult y = nn::lstm(x[0], x[1], x[2], x[3], x[4], x[5], mask);
        return reduce_sum(y.sequence * w) + reduce_sum(y.h * wh) + reduce_sum(y.c * wc);
      },
      {normal({3, 4, 2}), normal({2, 20}), normal({5, 20}), normal({20}), normal({3, 5}),
       normal({3, 5})});
  for (const Tensor& m : {Tensor(), mask}) {
    expect_right_gradient(
        [&](const std::vector<Tensor>& x) {
          const nn::GruResult y = nn::gru(x[0], x[1], x[2], x[3], x[4], m);
          return reduce_sum(y.sequence * w) + reduce_sum(y.h * wh);
        },
        {normal({3, 4, 2}), normal({2, 15}), normal({5, 15}), normal({2, 15}), normal({3, 5})});
  }
  // An example whose mask is false throughout ends as it began.
  const Tensor h0 = normal({1, 5}), x = normal({1, 4, 2});
  const Tensor never = random::uniform({1, 4}) < 0.0;
  const Tensor h = nn::gru(x, normal({2, 15}), normal({5, 15}), normal({2, 15}), h0, never).h;
  EXPECT_EQ(reduce_sum(abs(h - h0)).item<double>(), 0.0);
  EXPECT_THROW(nn::gru(x, normal({2, 15}), normal({5, 15}), normal({2, 15}), h0, normal({1, 4})),
               InvalidArgumentError);
}

TEST(Nn, LayersOfSequencesLearn) {
  random::set_seed(6);
  const keras::GRU gru(4, 8, {.return_sequences = true});
  const keras::MultiHeadAttention attention(8, 2, 4);
  const keras::LayerNormalization norm(8);
  const keras::Conv1D conv(4, 4, 2, {.padding = "causal"}, "relu");
  const keras::Dense out(8, 1);
  const keras::Dropout dropout(0.1);
  const Tensor x = random::normal({16, 6, 4}), y = reduce_sum(x, {1, 2}) * 0.1;
  keras::Adam adam({.learning_rate = 0.01});
  double first = 0, last = 0;
  for (int i = 0; i < 60; ++i) {
    GradientTape tape;
    const Tensor h = gru(conv(x));
    const Tensor z = norm(h + dropout(attention(h, h), true));
    const Tensor loss = reduce_mean(square(reshape(out(reduce_mean(z, {1})), {16}) - y));
    adam.minimize(tape, loss, keras::variables(gru, attention, norm, conv, out));
    last = loss.item<float>();
    if (i == 0) first = last;
  }
  EXPECT_LT(last, 0.3 * first);
}

TEST(Nn, CrossEntropiesAgreeAndAreSafe) {
  const Tensor logits = {{1000.0, 0.0, -1000.0}, {1.0, 2.0, 3.0}}, labels = {0, 2};
  const Tensor sparse = nn::sparse_softmax_cross_entropy_with_logits(labels, logits);
  const Tensor dense =
      nn::softmax_cross_entropy_with_logits(Tensor{{1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}}, logits);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(sparse.data<double>()[i], dense.data<double>()[i], 1e-15);
  EXPECT_EQ(sparse.data<double>()[0], 0);
  EXPECT_NEAR(sparse.data<double>()[1], std::log(1 + std::exp(-1.0) + std::exp(-2.0)), 1e-15);
}

// The same training, whatever the number of threads: the same bits.
TEST(Nn, TrainingHasTheSameBitsAtAnyNumberOfThreads) {
  const auto train = [](int threads) {
    set_thread_count(threads);
    random::set_seed(7);
    const keras::Dense hidden(64, 96, "tanh"), out(96, 10);
    const auto variables = keras::variables(hidden, out);
    keras::Adam adam;
    const Tensor x = random::normal({512, 64}),
                 y = random::uniform({512}, {.maxval = 10, .dtype = int32});
    for (int step = 0; step < 5; ++step) {
      GradientTape tape;
      adam.minimize(tape, keras::sparse_categorical_crossentropy(y, out(hidden(x))), variables);
    }
    return hidden.kernel.value().to_vector<float>();
  };
  const int before = thread_count();
  const auto one = train(1), two = train(2), four = train(4);
  set_thread_count(before);
  EXPECT_EQ(one, two);
  EXPECT_EQ(one, four);
}

}  // namespace
}  // namespace gradus
