// A small network of Keras's layers: does an image hold a bar that stands or one that lies?
#include <gradus/gradus.h>

#include <iostream>

namespace gd = gradus;
namespace keras = gd::keras;

// Noise with a bright row (label 0) or column (label 1).
std::pair<gd::Tensor, gd::Tensor> batch(std::int64_t size) {
  const gd::Tensor label = gd::random::uniform({size}, {.maxval = 2, .dtype = gd::int32});
  const gd::Tensor place = gd::random::uniform({size}, {.maxval = 8, .dtype = gd::int32});
  const gd::Tensor row = gd::reshape(gd::one_hot(place, 8), {size, 8, 1});
  const gd::Tensor bar =
      gd::where(gd::reshape(gd::equal(label, 0), {size, 1, 1}), row * gd::ones({1, 8}),
                gd::transpose(row, {0, 2, 1}) * gd::ones({8, 1}));
  const gd::Tensor noise = gd::random::normal({size, 8, 8, 1}, {.stddev = 0.5});
  return {gd::expand_dims(bar, 3) + noise, label};
}

int main() {
  gd::random::set_seed(1);
  const keras::Sequential model(
      keras::Conv2D(1, 8, 3, {.padding = "same"}), keras::BatchNormalization(8), keras::ReLU(),
      keras::MaxPooling2D(), keras::Conv2D(8, 16, 3, {}, "relu"), keras::GlobalAveragePooling2D(),
      keras::Dropout(0.2), keras::Dense(16, 2));
  keras::Adam adam({.learning_rate = 0.01});
  const auto step = gd::function([&](const gd::Tensor& images, const gd::Tensor& labels) {
    gd::GradientTape tape;
    const gd::Tensor loss =
        keras::sparse_categorical_crossentropy(labels, model(images, /*training=*/true));
    adam.minimize(tape, loss, model.variables());
    return loss;
  });
  for (int i = 0; i < 200; ++i) {
    const auto [images, labels] = batch(64);
    step(images, labels);
  }
  const auto [images, labels] = batch(1000);
  const gd::Tensor right = gd::equal(gd::argmax(model(images), 1, gd::int32), labels);
  std::cout << gd::reduce_mean(gd::cast(right, gd::float32)) << " of new images are right\n";
}
