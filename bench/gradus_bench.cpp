// Gradus's side of the comparison. Names, inputs and results are those of peers/torch_bench.cpp.
#include <gradus/gradus.h>
#include <gradus/nn.h>
#include <gradus/threads.h>
#include <gradus/updates.h>

#include <cmath>

#include "bench.h"
#include "inputs.h"
#include "kernels/isa.h"

namespace {

namespace gd = gradus;
using bench::Step;
using gd::Gradient;
using gd::Tensor;
using gd::Variable;
using Variables = std::vector<Variable>;

Tensor tensor(std::uint64_t seed, const gd::Shape& shape, float spread, float middle = 0.0f) {
  const auto n = static_cast<std::size_t>(shape.num_elements());
  return Tensor::from(bench::values(seed, n, spread, middle), shape);
}

Variable variable(std::uint64_t seed, const gd::Shape& shape, float spread, float middle = 0.0f) {
  return Variable(tensor(seed, shape, spread, middle));
}

Tensor classes(std::uint64_t seed, std::size_t n, std::int64_t limit) {
  return Tensor::from(bench::integers(seed, n, limit));
}

double norm(const Tensor& t) { return std::sqrt(gd::reduce_sum(gd::square(t)).item<double>()); }

Tensor dense(const Tensor& x, const Variable& kernel, const Variable& bias) {
  return gd::matmul(x, kernel) + bias;
}

Tensor cross_entropy(const Tensor& labels, const Tensor& logits) {
  return gd::reduce_mean(gd::nn::sparse_softmax_cross_entropy_with_logits(labels, logits));
}

// The body of a step as it is, or compiled.
enum class Mode { eager, compiled };
template <class Body>
auto in_mode(Mode mode, Body body) {
  using Result = decltype(body());
  if (mode == Mode::eager) return std::function<Result()>(std::move(body));
  return std::function<Result()>(gd::function(std::move(body)));
}

class Adam {
 public:
  explicit Adam(const Variables& weights) : weights_(weights) {
    for (const Variable& w : weights) {
      m_.emplace_back(gd::zeros(w.shape()));
      v_.emplace_back(gd::zeros(w.shape()));
    }
  }
  void apply(const std::vector<Gradient>& gradients) const {
    step_.assign_add(1);
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      gd::adam_update(weights_[i], m_[i], v_[i], gradients[i], step_);
    }
  }

 private:
  Variables weights_, m_, v_;
  Variable step_{Tensor(std::int64_t{0})};
};

Step add1() {
  const Tensor a = gd::ones({1}), b = gd::fill({1}, 2.0f);
  return [=](bool want) {
    for (int i = 0; i < 1000; ++i) {
      Tensor y = a + b;
    }
    return want ? (a + b).item<double>() : 0.0;
  };
}

Step chain1000() {
  const Tensor a(0.999f), b(0.001f);
  const Variable x(Tensor(0.5f));
  return [=](bool want) {
    gd::GradientTape tape;
    Tensor y = x;
    for (int i = 0; i < 1000; ++i) y = y * a + b;
    const Tensor g = tape.gradient(y, x);
    return want ? g.item<double>() : 0.0;
  };
}

Step mlp(std::int64_t batch, Mode mode) {
  const Variables w = {variable(11, {784, 128}, 0.08f), variable(12, {128}, 0.01f),
                       variable(13, {128, 10}, 0.15f), variable(14, {10}, 0.01f)};
  const Tensor x = tensor(15, {batch, 784}, 0.5f, 0.5f);
  const Tensor y = classes(16, static_cast<std::size_t>(batch), 10);
  const auto step = in_mode(mode, [=, adam = Adam(w)] {
    gd::GradientTape tape;
    const Tensor hidden = gd::nn::relu(dense(x, w[0], w[1]));
    const Tensor loss = cross_entropy(y, dense(hidden, w[2], w[3]));
    adam.apply(tape.gradient(loss, w));
    return loss;
  });
  return [=](bool want) {
    const Tensor loss = step();
    return want ? loss.item<double>() : 0.0;
  };
}

Step convnet(Mode mode) {
  const std::int64_t batch = 32;
  const Variables w = {variable(21, {3, 3, 1, 32}, 0.8f),   variable(22, {32}, 0.01f),
                       variable(23, {3, 3, 32, 64}, 0.14f), variable(24, {64}, 0.01f),
                       variable(25, {1600, 128}, 0.06f),    variable(26, {128}, 0.01f),
                       variable(27, {128, 10}, 0.15f),      variable(28, {10}, 0.01f)};
  const Tensor x = tensor(29, {batch, 28, 28, 1}, 0.5f, 0.5f);
  const Tensor y = classes(30, batch, 10);
  const auto step = in_mode(mode, [=, adam = Adam(w)] {
    gd::GradientTape tape;
    Tensor h = gd::nn::max_pool2d(gd::nn::relu(gd::nn::conv2d(x, w[0]) + w[1]));
    h = gd::nn::max_pool2d(gd::nn::relu(gd::nn::conv2d(h, w[2]) + w[3]));
    h = gd::nn::relu(dense(gd::reshape(h, {batch, -1}), w[4], w[5]));
    const Tensor loss = cross_entropy(y, dense(h, w[6], w[7]));
    adam.apply(tape.gradient(loss, w));
    return loss;
  });
  return [=](bool want) {
    const Tensor loss = step();
    return want ? loss.item<double>() : 0.0;
  };
}

Step lstm(Mode mode) {
  const Variables w = {variable(31, {64, 512}, 0.17f), variable(32, {128, 512}, 0.14f),
                       variable(33, {512}, 0.17f), variable(34, {128, 10}, 0.17f),
                       variable(35, {10}, 0.01f)};
  const Tensor x = tensor(36, {32, 64, 64}, 1.7f), state = gd::zeros({32, 128});
  const Tensor y = classes(37, 32, 10);
  const auto step = in_mode(mode, [=] {
    gd::GradientTape tape;
    const Tensor last = gd::nn::lstm(x, w[0], w[1], w[2], state, state).h;
    const Tensor loss = cross_entropy(y, dense(last, w[3], w[4]));
    return std::pair(loss, tape.gradient(loss, w));
  });
  return [=](bool want) {
    const auto [loss, g] = step();
    return want ? loss.template item<double>() + norm(g[1]) : 0.0;
  };
}

// A transformer block with the norms in front: 4 sequences of 64, width 256, 4 heads.
Step block(Mode mode) {
  const std::int64_t batch = 4, time = 64, width = 256, heads = 4, head = width / heads;
  const Variables w = {variable(51, {width}, 0.2f, 1.0f),       variable(52, {width}, 0.2f),
                       variable(53, {width, 3 * width}, 0.1f),  variable(54, {3 * width}, 0.01f),
                       variable(55, {width, width}, 0.1f),      variable(56, {width}, 0.01f),
                       variable(57, {width}, 0.2f, 1.0f),       variable(58, {width}, 0.2f),
                       variable(59, {width, 4 * width}, 0.1f),  variable(60, {4 * width}, 0.01f),
                       variable(61, {4 * width, width}, 0.05f), variable(62, {width}, 0.01f)};
  const Tensor x = tensor(63, {batch, time, width}, 1.7f);
  const Tensor weight = tensor(64, {batch, time, width}, 1.0f);
  const auto step = in_mode(mode, [=] {
    gd::GradientTape tape;
    const Tensor normal = gd::nn::layer_normalization(x, w[0], w[1], 1e-5);
    const Tensor qkv = gd::transpose(
        gd::reshape(dense(normal, w[2], w[3]), {batch, time, 3, heads, head}), {2, 0, 3, 1, 4});
    const auto part = [&](std::int64_t i) {
      return gd::reshape(gd::slice(qkv, {i, 0, 0, 0, 0}, {1, -1, -1, -1, -1}),
                         {batch, heads, time, head});
    };
    const Tensor scores = gd::matmul(part(0), part(1), {.transpose_b = true});
    const Tensor mixed = gd::matmul(gd::nn::softmax(scores * (1 / std::sqrt(head))), part(2));
    const Tensor together = gd::reshape(gd::transpose(mixed, {0, 2, 1, 3}), {batch, time, width});
    const Tensor h = x + dense(together, w[4], w[5]);
    const Tensor inner =
        gd::nn::gelu(dense(gd::nn::layer_normalization(h, w[6], w[7], 1e-5), w[8], w[9]));
    const Tensor loss = gd::reduce_mean((h + dense(inner, w[10], w[11])) * weight);
    return std::pair(loss, tape.gradient(loss, w));
  });
  return [=](bool want) {
    const auto [loss, g] = step();
    return want ? loss.template item<double>() + norm(g[0]) + norm(g[2]) : 0.0;
  };
}

// One step on the rows of a table; update(table, gradient) is the optimizer.
template <class Update>
Step embedding(Mode mode, Update update) {
  const Variable table = variable(42, {100000, 64}, 0.09f);
  const Tensor ids = Tensor::from(bench::skewed_ids(41, 1024, 100000));
  const Tensor target = tensor(43, {1024, 64}, 1.7f);
  const auto step = in_mode(mode, [=] {
    gd::GradientTape tape;
    const Tensor loss = gd::reduce_sum(gd::square(gd::gather(table, ids) - target)) / 1024.0;
    update(table, tape.gradient(loss, table));
    return loss;
  });
  return [=](bool want) {
    const Tensor loss = step();
    return want ? loss.item<double>() : 0.0;
  };
}

Step embed_sgd(Mode mode) {
  return embedding(mode,
                   [](const Variable& table, const Gradient& g) { gd::sgd_update(table, g, 0.1); });
}

Step embed_adagrad(Mode mode) {
  const Variable accumulator(gd::fill({100000, 64}, 0.1f));
  return embedding(mode, [=](const Variable& table, const Gradient& g) {
    gd::adagrad_update(table, accumulator, g, 0.1);
  });
}

Step softmax_xent(Mode mode) {
  const Variable x = variable(102, {512, 1000}, 3.5f);
  const Tensor y = classes(103, 512, 1000);
  const auto step = in_mode(mode, [=] {
    gd::GradientTape tape;
    const Tensor loss = cross_entropy(y, x);
    return std::pair(loss, tape.gradient(loss, x).tensor());
  });
  return [=](bool want) {
    const auto [loss, g] = step();
    return want ? loss.template item<double>() + norm(g) : 0.0;
  };
}

Step layernorm(Mode mode) {
  const Variable x = variable(104, {512, 768}, 1.7f);
  const Variable scale = variable(105, {768}, 0.2f, 1.0f), offset = variable(106, {768}, 0.2f);
  const Tensor weight = tensor(107, {512, 768}, 1.0f);
  const auto step = in_mode(mode, [=] {
    gd::GradientTape tape;
    const Tensor y = gd::nn::layer_normalization(x, scale, offset, 1e-5);
    return tape.gradient(gd::reduce_sum(y * weight), Variables{x, scale, offset});
  });
  return [=](bool want) {
    const std::vector<Gradient> g = step();
    return want ? norm(g[0]) + norm(g[1]) : 0.0;
  };
}

Step tanh_chain(std::int64_t n, Mode mode) {
  const Variable x = variable(101, {n}, 1.7f);
  const Tensor a(0.9f), b(0.1f);
  const auto step = in_mode(mode, [=] {
    gd::GradientTape tape;
    const Tensor value = x;
    const Tensor loss = gd::reduce_mean(gd::tanh(value * a + b) + value);
    return std::pair(loss, tape.gradient(loss, x).tensor());
  });
  return [=](bool want) {
    const auto [loss, g] = step();
    return want ? loss.template item<double>() + norm(g) : 0.0;
  };
}

}  // namespace

int main(int argc, char** argv) {
  const std::string title =
      std::string("Gradus " GRADUS_VERSION ", ") + gd::kernels::name_of(gd::kernels::isa());
  struct Workload {
    const char* name;
    std::function<Step(Mode)> make;
  };
  const std::vector<Workload> workloads = {
      {"mlp_b1", [](Mode m) { return mlp(1, m); }},
      {"mlp_b32", [](Mode m) { return mlp(32, m); }},
      {"mlp_b512", [](Mode m) { return mlp(512, m); }},
      {"convnet", convnet},
      {"lstm", lstm},
      {"block", block},
      {"embed_sgd", embed_sgd},
      {"embed_adagrad", embed_adagrad},
      {"softmax_xent", softmax_xent},
      {"layernorm", layernorm},
      {"tanh_1e3", [](Mode m) { return tanh_chain(1000, m); }},
      {"tanh_1e5", [](Mode m) { return tanh_chain(100000, m); }},
      {"tanh_1e7", [](Mode m) { return tanh_chain(10000000, m); }}};
  std::vector<bench::Case> cases = {{"add1", 1000, add1}, {"chain1000", 2000, chain1000}};
  for (const Workload& w : workloads) {
    cases.push_back({w.name, 1, [&w] { return w.make(Mode::eager); }});
    cases.push_back(
        {std::string(w.name) + ".compiled", 1, [&w] { return w.make(Mode::compiled); }});
  }
  return bench::run_cases(argc, argv, title, gd::set_thread_count, cases);
}
