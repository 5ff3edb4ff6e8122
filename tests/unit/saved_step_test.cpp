// Saved training steps: what is loaded, also by a process that never ran the source, trains on with
// the same bits. README's own step, all optimizers, rows of embeddings, random numbers, and
// gradients through branches and loops.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "gradus/gradus.h"

namespace gradus {
namespace {

std::string bits(const Tensor& t) {
  char text[32];
  std::snprintf(text, sizeof text, "%a", t.item<double>());
  return text;
}

Tensor points(int i) {
  random::set_seed(i);
  return random::uniform({i % 3 == 2 ? 8 : 16, 2}, {.minval = -1});
}
Tensor labels(const Tensor& x) { return cast(reduce_sum(x * x, {1}) < 0.5, int32); }

// examples/compiled_step.cpp.
struct Step {
  keras::Dense hidden{2, 32, "tanh"}, out{32, 2};
  keras::Adam adam{{.learning_rate = 0.01}};
  Tensor operator()(const Tensor& x, const Tensor& label) {
    GradientTape tape;
    const Tensor loss = keras::sparse_categorical_crossentropy(label, out(hidden(x)));
    adam.minimize(tape, loss, keras::variables(hidden, out));
    return loss;
  }
};

constexpr int kFirst = 6, kLast = 16;  // steps before saving, and in all

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() / (std::string(name) + std::to_string(getpid())))
      .string();
}

// Runs one case of this binary in a process of its own; what it prints.
std::string run_alone(const std::string& name, const std::string& file) {
  setenv("GRADUS_SAVED", file.c_str(), 1);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  FILE* pipe =
      popen((self + " --gtest_also_run_disabled_tests --gtest_filter=" + name).c_str(), "r");
  std::string text;
  std::array<char, 256> piece;
  while (std::fgets(piece.data(), piece.size(), pipe))
    if (std::string(piece.data()).starts_with("loss ")) text += piece.data();
  EXPECT_EQ(pclose(pipe), 0);
  return text;
}

TEST(SavedStep, DISABLED_TrainsOnHere) {
  const LoadedFunction step = load_function(std::getenv("GRADUS_SAVED"));
  for (int i = kFirst; i < kLast; ++i) {
    const Tensor x = points(i);
    std::printf("loss %s\n", bits(step({x, labels(x)})[0]).c_str());
  }
}

TEST(SavedStep, TrainsOnInAProcessThatNeverSawTheSource) {
  random::set_seed(1);
  Step step;
  const auto compiled = function([&](const Tensor& x, const Tensor& y) { return step(x, y); });
  for (int i = 0; i < kFirst; ++i) compiled(points(i), labels(points(i)));
  const std::string file = temporary("saved_step");
  save_function(file, compiled.saved());
  std::ostringstream expected;
  for (int i = kFirst; i < kLast; ++i)
    expected << "loss " << bits(compiled(points(i), labels(points(i)))) << "\n";
  EXPECT_EQ(run_alone("SavedStep.DISABLED_TrainsOnHere", file), expected.str());

  // And what runs op by op, without any compiled function, is the same up to rounding.
  random::set_seed(1);
  Step eager;
  const LoadedFunction again = load_function(file);
  std::filesystem::remove(file);
  for (int i = 0; i < kFirst; ++i) eager(points(i), labels(points(i)));
  for (int i = kFirst; i < kLast; ++i)
    EXPECT_NEAR(eager(points(i), labels(points(i))).item<double>(),
                again({points(i), labels(points(i))})[0].item<double>(), 2e-6);
}

// Saves after the first call; then both go on.
template <class F>
void expect_goes_on(F f, const std::vector<Tensor>& in, const char* what) {
  const auto compiled = function(f);
  const auto call = [&] {
    random::set_seed(7);
    return in.size() == 1 ? compiled(in[0], in[0]) : compiled(in[0], in[1]);
  };
  call();
  std::optional<LoadedFunction> loaded;
  EXPECT_NO_THROW(loaded.emplace(compiled.saved())) << what;
  if (!loaded) return;
  for (int i = 0; i < 3; ++i) {
    random::set_seed(7);
    const Tensor there = (*loaded)({in[0], in.size() == 1 ? in[0] : in[1]})[0];
    EXPECT_EQ(to_string(call()), to_string(there)) << what << " " << i;
  }
}

template <class O>
void expect_optimizer_goes_on(O optimizer, const char* what) {
  const keras::Embedding table(5, 3);
  const keras::Dense out(3, 1, "sigmoid");
  expect_goes_on(
      [&](const Tensor& x, const Tensor&) {
        GradientTape tape;
        const Tensor loss = reduce_mean(square(out(table(x)) - 0.3));
        optimizer.minimize(tape, loss, keras::variables(table, out));
        return loss;
      },
      {Tensor({0, 3, 3, 1})}, what);
}

TEST(SavedStep, EveryOptimizerGoesOnWithDenseGradientsAndRows) {
  expect_optimizer_goes_on(keras::SGD(0.1), "SGD");
  expect_optimizer_goes_on(keras::SGD(0.1, 0.9, true), "nesterov");
  expect_optimizer_goes_on(keras::Adam({.learning_rate = 0.1}), "Adam");
  expect_optimizer_goes_on(keras::Adam({.learning_rate = 0.1}, {.clipnorm = 0.1}, true), "AMSGrad");
  expect_optimizer_goes_on(keras::AdamW({.learning_rate = 0.1}), "AdamW");
  expect_optimizer_goes_on(keras::RMSprop({.learning_rate = 0.1, .centered = true}), "RMSprop");
  expect_optimizer_goes_on(keras::Adagrad(0.1), "Adagrad");
  expect_optimizer_goes_on(keras::Adadelta(0.1), "Adadelta");
  expect_optimizer_goes_on(keras::Adamax({.learning_rate = 0.1}), "Adamax");
  expect_optimizer_goes_on(keras::Nadam({.learning_rate = 0.1}), "Nadam");
  expect_optimizer_goes_on(keras::Lion(0.1), "Lion");
}

TEST(SavedStep, RandomNumbersAreDrawnAnewAndByTheirOwnStreams) {
  expect_goes_on(
      [](const Tensor& x, const Tensor&) {
        GradientTape tape;
        tape.watch(x);
        const Tensor y = reduce_sum(square(x * random::uniform({3}) + random::normal({3})));
        return Tensor(tape.gradient(y, x));
      },
      {Tensor({1.0f, 2.0f, 3.0f})}, "without seeds");
  // Two ops with one seed have streams of their own, also beside those of the loading process.
  const auto f = function([](const Tensor& x) {
    return stack({x + random::uniform({}, {.seed = 3}), x + random::uniform({}, {.seed = 3})});
  });
  random::set_seed(1);
  const std::string first = to_string(f(Tensor(0.0f)));
  const LoadedFunction a(f.saved()), b(f.saved());
  random::set_seed(1);
  EXPECT_EQ(to_string(a({Tensor(0.0f)})[0]), first);
  EXPECT_EQ(to_string(b({Tensor(0.0f)})[0]), first);
  EXPECT_EQ(to_string(f(Tensor(0.0f))), first);
}

TEST(SavedStep, GradientsThroughBranchesAndLoopsGoOn) {
  const Tensor x = {0.5f, -0.25f, 0.75f};
  const Variable w(Tensor({0.3f, 0.2f, -0.1f}));
  const auto by_tape = [&](auto f) {
    return [f](const Tensor& v, const Tensor& n) {
      GradientTape tape;
      tape.watch(v);
      const Tensor y = f(v, n);
      return Tensor(tape.gradient(y, v));
    };
  };
  const auto branch = [](const Tensor& v, const Tensor&) {
    return cond(
        reduce_sum(v) > 0, [&] { return reduce_sum(tanh(v) * v); },
        [&] { return reduce_sum(exp(v)); });
  };
  const auto loop = [&](const Tensor& v, const Tensor& n) {
    return reduce_sum(std::get<1>(while_loop(
        [&](const Tensor& i, const Tensor&) { return i < n; },
        [&](const Tensor& i, const Tensor& s) { return std::tuple(i + 1, tanh(s * v + w)); },
        std::tuple(zeros({}, int32), v))));
  };
  const auto scanned = [&](const Tensor& v, const Tensor&) {
    const auto [last, rows] = scan(
        [&](const Tensor& c, const Tensor& row) {
          const Tensor next = sin(c * row + w);
          return std::pair(next, reduce_sum(next));
        },
        v, stack({v, v * 2, v * 3}));
    return reduce_sum(last) + reduce_sum(rows * rows);
  };
  const auto limited = [](auto f) {
    return [f](const Tensor& v, const Tensor& n) {
      const LoopMemoryLimit limit(256);
      return f(v, n);
    };
  };
  const std::vector<Tensor> in = {x, Tensor(20)};
  expect_goes_on(by_tape(branch), in, "cond");
  expect_goes_on(by_tape(loop), in, "while");
  expect_goes_on(by_tape(scanned), in, "scan");
  expect_goes_on(limited(by_tape(loop)), in, "while with kept states");
  expect_goes_on(limited(by_tape(scanned)), in, "scan with checkpoints");
  const auto sum_of = [](auto f) {
    return [f](const Tensor& v, const Tensor& n) { return reduce_sum(square(f(v, n))); };
  };
  expect_goes_on(by_tape(sum_of(by_tape(branch))), in, "cond, second order");
  expect_goes_on(by_tape(sum_of(by_tape(loop))), in, "while, second order");
  expect_goes_on(by_tape(sum_of(by_tape(scanned))), in, "scan, second order");
  expect_goes_on(limited(by_tape(sum_of(by_tape(loop)))), in, "while, second order, limited");
  expect_goes_on(limited(by_tape(sum_of(by_tape(scanned)))), in, "scan, second order, limited");
  for (const auto& [f, name] :
       std::vector<std::pair<std::function<Tensor(const Tensor&, const Tensor&)>, const char*>>{
           {branch, "cond"}, {loop, "while"}, {scanned, "scan"}}) {
    expect_goes_on(
        [f = f](const Tensor& v, const Tensor& n) {
          return hvp([&](const Tensor& u) { return f(u, n); }, v, v * 0.5);
        },
        in, name);
  }
}

// Damage is refused or harmless: whatever is accepted can be called.
TEST(SavedStep, DamagedStepsAreRefused) {
  random::set_seed(1);
  Step step;
  const auto compiled = function([&](const Tensor& x, const Tensor& y) { return step(x, y); });
  const Tensor x = points(0), y = labels(x);
  compiled(x, y);
  const SavedFunction saved = compiled.saved();
  int refused = 0;
  for (std::size_t i = 0; i < saved.text.size(); i += 11) {
    SavedFunction damaged = saved;
    damaged.text[i] = damaged.text[i] == '1' ? '9' : '1';
    try {
      LoadedFunction g(damaged);
      g({x, y});
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace gradus
