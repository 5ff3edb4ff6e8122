// Trains a classifier of handwritten digits, checks its gradient against finite differences, and
// says what an op, a taped op and a training step cost on this machine.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "gradus/gradus.h"

namespace gd = gradus;
namespace keras = gradus::keras;

namespace {

struct Digits {
  gd::Tensor images, labels;  // [n, 64] in 0..1, [n]
};

struct DataSet {
  Digits train, held_out;
};

// Every fifth digit is held out.
DataSet load_digits(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw gd::NotFoundError("cannot read " + path);
  std::vector<float> pixels[2];
  std::vector<int> labels[2];
  std::string line;
  for (int n = 0; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.size() != 66) throw gd::DataLossError(path + ": a line is not a label and 64 pixels");
    const int part = n++ % 5 == 4 ? 1 : 0;
    labels[part].push_back(line[0] - '0');
    for (char c : line.substr(2)) {
      pixels[part].push_back(static_cast<float>(c <= '9' ? c - '0' : c - 'A' + 10) / 16.0f);
    }
  }
  const auto digits = [&](int part) {
    const auto n = static_cast<std::int64_t>(labels[part].size());
    return Digits{gd::Tensor::from(pixels[part], {n, 64}), gd::Tensor::from(labels[part], {n})};
  };
  return {digits(0), digits(1)};
}

struct Classifier {
  keras::Dense hidden{64, 128, "relu"}, out{128, 10};
  gd::Tensor operator()(const gd::Tensor& x) const { return out(hidden(x)); }
  std::vector<gd::Variable> variables() const { return keras::variables(hidden, out); }
};

double accuracy(const Classifier& model, const Digits& digits) {
  const gd::Tensor predicted = gd::argmax(model(digits.images), -1);
  const gd::Tensor right = gd::equal(gd::cast(predicted, gd::int32), digits.labels);
  return gd::reduce_mean(gd::cast(right, gd::float32)).item<double>();
}

void show_progress(int epoch, int epochs, double loss, double held_out) {
  constexpr int kWidth = 30;
  const int done = epoch * kWidth / epochs;
  std::printf("%sepoch %2d/%d [%s%s] loss %.4f, held-out accuracy %.1f %%%s", isatty(1) ? "\r" : "",
              epoch, epochs, std::string(static_cast<std::size_t>(done), '=').c_str(),
              std::string(static_cast<std::size_t>(kWidth - done), '.').c_str(), loss,
              100 * held_out, isatty(1) && epoch < epochs ? "" : "\n");
  std::fflush(stdout);
}

void train(Classifier& model, const DataSet& data) {
  constexpr int kEpochs = 30;
  constexpr std::int64_t kBatch = 32;
  keras::Adam adam({.learning_rate = 2e-3});
  const std::int64_t n = data.train.labels.num_elements();
  std::vector<std::int64_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    const gd::Tensor order = gd::random::shuffle(gd::Tensor::from(all));
    double total = 0;
    for (std::int64_t first = 0; first + kBatch <= n; first += kBatch) {
      const gd::Tensor rows = gd::slice(order, {first}, {kBatch});
      const gd::Tensor x = gd::gather(data.train.images, rows),
                       y = gd::gather(data.train.labels, rows);
      gd::GradientTape tape;
      const gd::Tensor loss = keras::sparse_categorical_crossentropy(y, model(x));
      adam.minimize(tape, loss, model.variables());
      total += loss.item<double>();
    }
    show_progress(epoch, kEpochs, total / static_cast<double>(n / kBatch),
                  accuracy(model, data.held_out));
  }
}

// Compares derivatives of the loss, 50 in each matrix or vector of weights, with differences.
bool gradient_is_right(const Classifier& model, const Digits& digits) {
  const gd::Tensor x = gd::cast(digits.images, gd::float64);
  std::vector<gd::Tensor> weights;
  for (const gd::Variable& v : model.variables())
    weights.push_back(gd::cast(v.value(), gd::float64));
  const auto loss_at = [&](const std::vector<gd::Tensor>& w) {
    const gd::Tensor h = gd::nn::relu(gd::matmul(x, w[0]) + w[1]);
    return keras::sparse_categorical_crossentropy(digits.labels, gd::matmul(h, w[2]) + w[3]);
  };
  const gd::GradientCheck check = gd::check_gradient(loss_at, weights, {.per_tensor = 50});
  std::printf("%s", to_string(check).c_str());
  return check.right;
}

// The best of many repetitions, in nanoseconds.
template <class F>
double cost(int repetitions, F f) {
  double best = 1e18;
  for (int round = 0; round < 20; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repetitions; ++i) f();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / repetitions);
  }
  return best;
}

void show_costs(Classifier& model, const Digits& digits) {
  const gd::Tensor a = {1.0f}, b = {2.0f};
  std::printf("an op on one element        %8.0f ns\n", cost(1000, [&] { gd::Tensor c = a + b; }));
  const double taped = cost(10, [&] {
    gd::GradientTape tape;
    tape.watch(a);
    gd::Tensor x = a;
    for (int i = 0; i < 100; ++i) x = x + b;
    gd::Tensor g = tape.gradient(x, a);
  });
  std::printf("a taped op and its gradient %8.0f ns\n", taped / 100);
  keras::Adam adam;
  const gd::Tensor x = gd::slice(digits.images, {0, 0}, {32, 64}),
                   y = gd::slice(digits.labels, {0}, {32});
  const double step = cost(20, [&] {
    gd::GradientTape tape;
    adam.minimize(tape, keras::sparse_categorical_crossentropy(y, model(x)), model.variables());
  });
  std::printf("a training step of 32       %8.1f us\n", step / 1000);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    gd::random::set_seed(1);
    const DataSet data = load_digits(argc > 1 ? argv[1] : GRADUS_EXAMPLE_DATA "/digits.txt");
    std::printf("%lld digits to learn from, %lld held out\n",
                static_cast<long long>(data.train.labels.num_elements()),
                static_cast<long long>(data.held_out.labels.num_elements()));
    Classifier model;
    train(model, data);
    const double reached = accuracy(model, data.held_out);
    std::printf("accuracy on held-out digits: %.2f %%\n", 100 * reached);
    const bool right = gradient_is_right(model, data.held_out);
    show_costs(model, data.train);
    return reached > 0.96 && right ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "digits: %s\n", e.what());
    return 1;
  }
}
