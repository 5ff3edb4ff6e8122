// The peer: libtorch (the C++ library inside the torch wheel), each case in its ordinary fast way.
// Weights are converted from the layouts of inputs.h before the clock starts. Adam is the fused
// kernel (at::_fused_adam_, what torch.optim.Adam(fused=True) calls); sparse Adagrad is
// torch::optim::Adagrad; untaped work runs in InferenceMode.
#include <ATen/Version.h>
#include <torch/torch.h>

#include "../bench.h"
#include "../inputs.h"

namespace {

using bench::Step;
using torch::Tensor;
namespace F = torch::nn::functional;
constexpr double kRate = 1e-3, kEpsilon = 1e-7;

Tensor tensor(const std::vector<float>& v, at::IntArrayRef shape) {
  return torch::tensor(at::ArrayRef<float>(v)).reshape(shape).clone();
}

Tensor tensor(const std::vector<std::int64_t>& v) {
  return torch::tensor(at::ArrayRef<std::int64_t>(v));
}

Tensor leaf(const Tensor& t) { return t.contiguous().clone().requires_grad_(); }

// A dense layer's weight, [in, out] in the inputs, [out, in] for torch.
Tensor dense_weight(std::uint64_t seed, std::int64_t in, std::int64_t out, float spread) {
  return leaf(tensor(bench::values(seed, in * out, spread), {in, out}).t());
}

Tensor vector(std::uint64_t seed, std::int64_t n, float spread) {
  return leaf(tensor(bench::values(seed, n, spread), {n}));
}

std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Tensor>& weights) {
  return torch::autograd::grad({loss}, weights);
}

// torch.optim.Adam(fused=True), without its Python: one step counter for all weights.
struct FusedAdam {
  explicit FusedAdam(const std::vector<Tensor>& weights) : weights(weights) {
    const Tensor count = torch::zeros({});
    for (const Tensor& w : weights) {
      first.push_back(torch::zeros_like(w));
      second.push_back(torch::zeros_like(w));
      counts.push_back(count);
    }
  }
  void apply(const std::vector<Tensor>& gradients) {
    torch::NoGradGuard untaped;
    *counts[0].data_ptr<float>() += 1.0f;
    at::_fused_adam_(weights, gradients, first, second, {}, counts, kRate, 0.9, 0.999, 0.0,
                     kEpsilon, false, false);
  }
  std::vector<Tensor> weights, first, second, counts;
};

Step startup() {
  const Tensor x = torch::tensor(3.0f).requires_grad_();
  return [=](bool want) {
    const Tensor g = gradients(x * x, {x})[0];
    return want ? g.item<double>() : 0.0;
  };
}

Step add1() {
  const Tensor a = torch::ones({1}), b = torch::full({1}, 2.0f);
  return [=](bool want) {
    c10::InferenceMode untaped;
    for (int i = 0; i < 1000; ++i) {
      Tensor y = a + b;
    }
    return want ? (a + b).item<double>() : 0.0;
  };
}

Step chain1000() {
  const Tensor a = torch::tensor(0.999f), b = torch::tensor(0.001f);
  const Tensor x = torch::tensor(0.5f).requires_grad_();
  return [=](bool want) {
    Tensor y = x;
    for (int i = 0; i < 1000; ++i) y = y * a + b;
    const Tensor g = gradients(y, {x})[0];
    return want ? g.item<double>() : 0.0;
  };
}

Step mlp(std::int64_t batch) {
  const std::vector<Tensor> w = {dense_weight(11, 784, 128, 0.08f), vector(12, 128, 0.01f),
                                 dense_weight(13, 128, 10, 0.15f), vector(14, 10, 0.01f)};
  const Tensor x = tensor(bench::values(15, batch * 784, 0.5f, 0.5f), {batch, 784});
  const Tensor y = tensor(bench::integers(16, batch, 10));
  return [=, adam = FusedAdam(w)](bool want) mutable {
    const Tensor hidden = torch::relu(torch::linear(x, w[0], w[1]));
    const Tensor loss = torch::cross_entropy_loss(torch::linear(hidden, w[2], w[3]), y);
    adam.apply(gradients(loss, w));
    return want ? loss.item<double>() : 0.0;
  };
}

Tensor conv_weight(std::uint64_t seed, std::int64_t in, std::int64_t out, float spread) {
  return leaf(
      tensor(bench::values(seed, 9 * in * out, spread), {3, 3, in, out}).permute({3, 2, 0, 1}));
}

// Channels first: 9 % faster here than channels last.
Step convnet() {
  const std::int64_t batch = 32;
  // The dense layer's rows are in the order height, width, channel; torch flattens channel first.
  const Tensor rows = tensor(bench::values(25, 1600 * 128, 0.06f), {5, 5, 64, 128});
  const std::vector<Tensor> w = {conv_weight(21, 1, 32, 0.8f),
                                 vector(22, 32, 0.01f),
                                 conv_weight(23, 32, 64, 0.14f),
                                 vector(24, 64, 0.01f),
                                 leaf(rows.permute({2, 0, 1, 3}).reshape({1600, 128}).t()),
                                 vector(26, 128, 0.01f),
                                 dense_weight(27, 128, 10, 0.15f),
                                 vector(28, 10, 0.01f)};
  const Tensor x = tensor(bench::values(29, batch * 784, 0.5f, 0.5f), {batch, 1, 28, 28});
  const Tensor y = tensor(bench::integers(30, batch, 10));
  return [=, adam = FusedAdam(w)](bool want) mutable {
    Tensor h = torch::max_pool2d(torch::relu(torch::conv2d(x, w[0], w[1])), 2);
    h = torch::max_pool2d(torch::relu(torch::conv2d(h, w[2], w[3])), 2);
    h = torch::relu(torch::linear(h.flatten(1), w[4], w[5]));
    const Tensor loss = torch::cross_entropy_loss(torch::linear(h, w[6], w[7]), y);
    adam.apply(gradients(loss, w));
    return want ? loss.item<double>() : 0.0;
  };
}

Step lstm() {
  const std::vector<Tensor> w = {dense_weight(31, 64, 512, 0.17f),
                                 dense_weight(32, 128, 512, 0.14f), vector(33, 512, 0.17f),
                                 dense_weight(34, 128, 10, 0.17f), vector(35, 10, 0.01f)};
  const Tensor no_bias = torch::zeros({512});
  const std::vector<Tensor> state = {torch::zeros({1, 32, 128}), torch::zeros({1, 32, 128})};
  const Tensor x = tensor(bench::values(36, 32 * 64 * 64, 1.7f), {32, 64, 64});
  const Tensor y = tensor(bench::integers(37, 32, 10));
  return [=](bool want) {
    const Tensor out = std::get<0>(
        torch::lstm(x, state, {w[0], w[1], w[2], no_bias}, /*has_biases=*/true,
                    /*num_layers=*/1, 0.0, /*train=*/true, false, /*batch_first=*/true));
    const Tensor logits = torch::linear(out.select(1, 63), w[3], w[4]);
    const Tensor loss = torch::cross_entropy_loss(logits, y);
    const std::vector<Tensor> g = gradients(loss, w);
    return want ? loss.item<double>() + g[1].norm().item<double>() : 0.0;
  };
}

Tensor table() { return leaf(tensor(bench::values(42, 6400000, 0.09f), {100000, 64})); }

Tensor embedding_loss(const Tensor& table, const Tensor& ids, const Tensor& target) {
  const Tensor rows = torch::embedding(table, ids, -1, false, /*sparse=*/true);
  return torch::square(rows - target).sum() / 1024.0;
}

Step embed_sgd() {
  const Tensor w = table(), ids = tensor(bench::skewed_ids(41, 1024, 100000));
  const Tensor target = tensor(bench::values(43, 1024 * 64, 1.7f), {1024, 64});
  return [=](bool want) {
    const Tensor loss = embedding_loss(w, ids, target);
    const Tensor g = gradients(loss, {w})[0];
    torch::NoGradGuard untaped;
    w.detach().add_(g, -0.1);
    return want ? loss.item<double>() : 0.0;
  };
}

Step embed_adagrad() {
  const Tensor w = table(), ids = tensor(bench::skewed_ids(41, 1024, 100000));
  const Tensor target = tensor(bench::values(43, 1024 * 64, 1.7f), {1024, 64});
  const auto options =
      torch::optim::AdagradOptions(0.1).initial_accumulator_value(0.1).eps(kEpsilon);
  return [=, adagrad = std::make_shared<torch::optim::Adagrad>(std::vector<Tensor>{w}, options)](
             bool want) {
    const Tensor loss = embedding_loss(w, ids, target);
    adagrad->zero_grad();
    loss.backward();
    adagrad->step();
    return want ? loss.item<double>() : 0.0;
  };
}

Step softmax_xent() {
  const Tensor x = leaf(tensor(bench::values(102, 512 * 1000, 3.5f), {512, 1000}));
  const Tensor y = tensor(bench::integers(103, 512, 1000));
  return [=](bool want) {
    const Tensor loss = torch::cross_entropy_loss(x, y);
    const Tensor g = gradients(loss, {x})[0];
    return want ? loss.item<double>() + g.norm().item<double>() : 0.0;
  };
}

Step layernorm() {
  const std::vector<Tensor> w = {leaf(tensor(bench::values(104, 512 * 768, 1.7f), {512, 768})),
                                 leaf(tensor(bench::values(105, 768, 0.2f, 1.0f), {768})),
                                 vector(106, 768, 0.2f)};
  const Tensor weight = tensor(bench::values(107, 512 * 768, 1.0f), {512, 768});
  return [=](bool want) {
    const Tensor loss = (torch::layer_norm(w[0], {768}, w[1], w[2], 1e-5) * weight).sum();
    const std::vector<Tensor> g = gradients(loss, w);
    return want ? g[0].norm().item<double>() + g[1].norm().item<double>() : 0.0;
  };
}

// A transformer block with the norms in front: 4 sequences of 64, width 256, 4 heads.
Step block() {
  const std::int64_t batch = 4, time = 64, width = 256, heads = 4;
  const auto ones = [](std::uint64_t seed, std::int64_t n) {
    return leaf(tensor(bench::values(seed, n, 0.2f, 1.0f), {n}));
  };
  const std::vector<Tensor> w = {ones(51, width),
                                 vector(52, width, 0.2f),
                                 dense_weight(53, width, 3 * width, 0.1f),
                                 vector(54, 3 * width, 0.01f),
                                 dense_weight(55, width, width, 0.1f),
                                 vector(56, width, 0.01f),
                                 ones(57, width),
                                 vector(58, width, 0.2f),
                                 dense_weight(59, width, 4 * width, 0.1f),
                                 vector(60, 4 * width, 0.01f),
                                 dense_weight(61, 4 * width, width, 0.05f),
                                 vector(62, width, 0.01f)};
  const Tensor x = tensor(bench::values(63, batch * time * width, 1.7f), {batch, time, width});
  const Tensor weight = tensor(bench::values(64, batch * time * width, 1.0f), {batch, time, width});
  return [=](bool want) {
    const Tensor qkv = torch::linear(torch::layer_norm(x, {width}, w[0], w[1], 1e-5), w[2], w[3])
                           .reshape({batch, time, 3, heads, width / heads})
                           .permute({2, 0, 3, 1, 4});
    const Tensor mixed = at::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
                             .transpose(1, 2)
                             .reshape({batch, time, width});
    const Tensor h = x + torch::linear(mixed, w[4], w[5]);
    const Tensor inner =
        torch::gelu(torch::linear(torch::layer_norm(h, {width}, w[6], w[7], 1e-5), w[8], w[9]));
    const Tensor loss = ((h + torch::linear(inner, w[10], w[11])) * weight).mean();
    const std::vector<Tensor> g = gradients(loss, w);
    return want ? loss.item<double>() + g[0].norm().item<double>() + g[2].norm().item<double>()
                : 0.0;
  };
}

// The mean of tanh(x * a + b) + x and its gradient to x.
Step tanh_chain(std::int64_t n) {
  const Tensor x = leaf(tensor(bench::values(101, n, 1.7f), {n}));
  const Tensor a = torch::tensor(0.9f), b = torch::tensor(0.1f);
  return [=](bool want) {
    const Tensor loss = (torch::tanh(x * a + b) + x).mean();
    const Tensor g = gradients(loss, {x})[0];
    return want ? loss.item<double>() + g.norm().item<double>() : 0.0;
  };
}

void set_threads(int n) {
  at::set_num_threads(n);
  at::set_num_interop_threads(1);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_cases(argc, argv, "libtorch " TORCH_VERSION ", " + at::get_cpu_capability(),
                          set_threads,
                          {{"startup", 1, startup},
                           {"add1", 1000, add1},
                           {"chain1000", 2000, chain1000},
                           {"mlp_b1", 1, [] { return mlp(1); }},
                           {"mlp_b32", 1, [] { return mlp(32); }},
                           {"mlp_b512", 1, [] { return mlp(512); }},
                           {"convnet", 1, convnet},
                           {"lstm", 1, lstm},
                           {"block", 1, block},
                           {"embed_sgd", 1, embed_sgd},
                           {"embed_adagrad", 1, embed_adagrad},
                           {"softmax_xent", 1, softmax_xent},
                           {"layernorm", 1, layernorm},
                           {"tanh_1e3", 1, [] { return tanh_chain(1000); }},
                           {"tanh_1e5", 1, [] { return tanh_chain(100000); }},
                           {"tanh_1e7", 1, [] { return tanh_chain(10000000); }}});
}
