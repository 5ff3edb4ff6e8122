// Trains a classifier by a compiled step in which it is measured too: a mean of losses, the
// accuracy and the area under the ROC curve, over all batches of an epoch. The learning rate falls
// along a cosine.
#include <gradus/gradus.h>

#include <cstdio>

namespace gd = gradus;
namespace keras = gradus::keras;

namespace {

// Points in a square, and whether they lie inside of a ring.
std::pair<gd::Tensor, gd::Tensor> points(std::int64_t count) {
  const gd::Tensor x = gd::random::uniform({count, 2}, {.minval = -1});
  const gd::Tensor radius = gd::sqrt(gd::reduce_sum(x * x, {1}, true));
  return {x, gd::cast(gd::abs(radius - 0.7) < 0.2, gd::float32)};
}

}  // namespace

int main() {
  constexpr int kEpochs = 5, kSteps = 200;
  gd::random::set_seed(1);
  const keras::Dense hidden(2, 64, "relu"), deeper(64, 32, "relu"), out(32, 1);
  keras::Adam adam;
  adam.set_schedule(keras::schedules::CosineDecay{0.02, kEpochs * kSteps, 0.05});
  keras::metrics::Mean mean_loss;
  keras::metrics::BinaryAccuracy accuracy;
  keras::metrics::AUC auc({.from_logits = true});

  const auto step = gd::function([&](const gd::Tensor& x, const gd::Tensor& y) {
    gd::GradientTape tape;
    const gd::Tensor logits = out(deeper(hidden(x)));
    const gd::Tensor loss = keras::binary_crossentropy(y, logits);
    adam.minimize(tape, loss, keras::variables(hidden, deeper, out));
    mean_loss.update_state(loss);
    accuracy.update_state(y, gd::sigmoid(logits));
    auc.update_state(y, logits);
    return loss;
  });

  double reached = 0;
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    for (int i = 0; i < kSteps; ++i) {
      const auto [x, y] = points(64);
      step(x, y);
    }
    std::printf("epoch %d  loss %.4f  accuracy %.3f  area %.4f\n", epoch,
                mean_loss.result().item<double>(), accuracy.result().item<double>(),
                auc.result().item<double>());
    reached = auc.result().item<double>();
    mean_loss.reset_state();
    accuracy.reset_state();
    auc.reset_state();
  }
  return reached > 0.98 ? 0 : 1;
}
