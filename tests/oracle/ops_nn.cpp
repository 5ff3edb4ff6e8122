// The building blocks of neural networks, as their definitions say.
#include "oracle/matrices.h"
#include "oracle/program.h"

namespace oracle {
namespace {

constexpr Real kGap = 1e-3L;

std::vector<Nil> softmax(const std::vector<Nil>& row) {
  std::vector<Nil> out;
  Nil sum = 0;
  for (const Nil& x : row) {
    out.push_back(exp(x));
    sum += out.back();
  }
  const Nil scale = inverse(sum);
  for (Nil& x : out) x *= scale;
  return out;
}
std::vector<Nil> log_softmax(const std::vector<Nil>& row) {
  std::vector<Nil> out = softmax(row);
  for (Nil& x : out) x = log(x);
  return out;
}

void add_softmaxes(Table& t) {
  // ints: axis
  const auto make = [](Maker& m, Node& n) {
    const int x = m.within(-3, 3);
    n.in = {m.dims(x).empty() ? m.fitted(x, {3}) : x};
    n.ints = {static_cast<Size>(m.below(m.dims(n.in[0]).size()))};
    return true;
  };
  const auto rows = [](std::vector<Nil> (*f)(const std::vector<Nil>&)) {
    return with_reals([f](const Node& n, const auto& in) {
      return along(in[0], n.ints[0], in[0].dims[index(n.ints[0])], f);
    });
  };
  t.push_back({"softmax", make,
               [](const Node& n, const Tensors& in) {
                 return gd::nn::softmax(in[0], static_cast<int>(n.ints[0]));
               },
               rows(softmax)});
  t.push_back({"log_softmax", make,
               [](const Node& n, const Tensors& in) {
                 return gd::nn::log_softmax(in[0], static_cast<int>(n.ints[0]));
               },
               rows(log_softmax)});
  t.push_back({"softmax_cross_entropy_with_logits",
               [](Maker& m, Node& n) {
                 n.in = {m.real_of({2, 3}), m.real_of({2, 3})};
                 return true;
               },
               [](const Node&, const Tensors& in) {
                 return gd::nn::softmax_cross_entropy_with_logits(in[0], in[1]);
               },
               with_reals([](const Node&, const auto& in) {
                 const Reals logs = along(in[1], 1, 3, log_softmax);
                 Reals out({2});
                 for (Size i = 0; i < 6; ++i) out[i / 3] -= in[0][i] * logs[i];
                 return out;
               })});
  // ints: labels
  t.push_back({"sparse_softmax_cross_entropy_with_logits",
               [](Maker& m, Node& n) {
                 n.in = {m.real_of({2, 3})};
                 n.ints = {m.between(0, 2), m.between(0, 2)};
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::nn::sparse_softmax_cross_entropy_with_logits(indices({2}, n.ints),
                                                                         in[0]);
               },
               with_reals([](const Node& n, const auto& in) {
                 const Reals logs = along(in[0], 1, 3, log_softmax);
                 Reals out({2});
                 for (Size i = 0; i < 2; ++i) out[i] = -logs[i * 3 + n.ints[index(i)]];
                 return out;
               })});
}

// Windows over images. `before` is the padding at the top and the left.
struct Window {
  Size size, step, dilation, before, count;
  static Window over(Size image, Size size, Size step, Size dilation, bool same) {
    const Size reach = (size - 1) * dilation + 1;
    if (!same) return {size, step, dilation, 0, (image - reach) / step + 1};
    const Size count = (image + step - 1) / step;
    return {size, step, dilation, std::max<Size>(0, (count - 1) * step + reach - image) / 2, count};
  }
  Size place(Size window, Size i) const { return window * step + i * dilation - before; }
};

// For each result and each place of its window that lies inside: f(y, x, i, k, row, column).
template <class F>
void for_each_place(const Window& rows, const Window& columns, Size height, Size width, F f) {
  for (Size y = 0; y < rows.count; ++y)
    for (Size x = 0; x < columns.count; ++x)
      for (Size i = 0; i < rows.size; ++i)
        for (Size k = 0; k < columns.size; ++k) {
          const Size row = rows.place(y, i), column = columns.place(x, k);
          if (row >= 0 && row < height && column >= 0 && column < width) f(y, x, i, k, row, column);
        }
}

Reals conv2d(const Reals& x, const Reals& filter, const Dims& steps, const Dims& dilations,
             bool same) {
  const Size n = x.dims[0], h = x.dims[1], w = x.dims[2], c = x.dims[3];
  const Size per_group = filter.dims[2], results = filter.dims[3], groups = c / per_group;
  const Window rows = Window::over(h, filter.dims[0], steps[0], dilations[0], same);
  const Window columns = Window::over(w, filter.dims[1], steps[1], dilations[1], same);
  Reals out({n, rows.count, columns.count, results});
  for_each_place(rows, columns, h, w, [&](Size y, Size xx, Size i, Size k, Size row, Size column) {
    for (Size b = 0; b < n; ++b)
      for (Size o = 0; o < results; ++o)
        for (Size p = 0; p < per_group; ++p)
          out.at({b, y, xx, o}) += x.at({b, row, column, o / (results / groups) * per_group + p}) *
                                   filter.at({i, k, p, o});
  });
  return out;
}

gd::nn::ConvOptions options(const Node& n) {
  return {.strides = {n.ints[0], n.ints[0]},
          .padding = n.ints[2] ? "SAME" : "VALID",
          .dilations = {n.ints[1], n.ints[1]}};
}
Dims steps_of(const Node& n) { return {n.ints[0], n.ints[0]}; }
Dims dilations_of(const Node& n) { return {n.ints[1], n.ints[1]}; }

// ints: stride, dilation, same
bool make_conv(Maker& m, Node& n, const Dims& image, const Dims& filter) {
  n.in = {m.real_of(image), m.real_of(filter)};
  n.ints = {m.between(1, 2), 1, m.coin()};
  if (n.ints[0] == 1) n.ints[1] = m.between(1, 2);
  return true;
}

void add_convolutions(Table& t) {
  const auto conv = [&](const char* name, const Dims& image, const Dims& filter) {
    t.push_back(
        {name, [=](Maker& m, Node& n) { return make_conv(m, n, image, filter); },
         [](const Node& n, const Tensors& in) { return gd::nn::conv2d(in[0], in[1], options(n)); },
         with_reals([](const Node& n, const auto& in) {
           return conv2d(in[0], in[1], steps_of(n), dilations_of(n), n.ints[2]);
         })});
  };
  conv("conv2d", {1, 3, 3, 2}, {2, 2, 2, 1});
  conv("conv2d_groups", {1, 3, 3, 2}, {2, 1, 1, 2});
  conv("conv2d_1x1", {2, 2, 1, 2}, {1, 1, 2, 2});
  t.push_back({"depthwise_conv2d",
               [](Maker& m, Node& n) {
                 return make_conv(m, n, {1, 3, 3, 2}, {2, 2, 2, 2});
               },
               [](const Node& n, const Tensors& in) {
                 return gd::nn::depthwise_conv2d(in[0], in[1], options(n));
               },
               with_reals([](const Node& n, const auto& in) {
                 return conv2d(in[0], reshaped(in[1], {2, 2, 1, 4}), steps_of(n), dilations_of(n),
                               n.ints[2]);
               })});
  t.push_back({"separable_conv2d",
               [](Maker& m, Node& n) {
                 make_conv(m, n, {1, 3, 2, 2}, {2, 2, 2, 1});
                 n.in.push_back(m.real_of({1, 1, 2, 2}));
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::nn::separable_conv2d(in[0], in[1], in[2], options(n));
               },
               with_reals([](const Node& n, const auto& in) {
                 const Reals deep = conv2d(in[0], reshaped(in[1], {2, 2, 1, 2}), steps_of(n),
                                           dilations_of(n), n.ints[2]);
                 return conv2d(deep, in[2], {1, 1}, {1, 1}, false);
               })});
  t.push_back({"conv1d",
               [](Maker& m, Node& n) {
                 return make_conv(m, n, {2, 4, 2}, {2, 2, 1});
               },
               [](const Node& n, const Tensors& in) {
                 return gd::nn::conv1d(in[0], in[1], n.ints[0], n.ints[2] ? "SAME" : "VALID",
                                       n.ints[1]);
               },
               with_reals([](const Node& n, const auto& in) {
                 Reals out = conv2d(reshaped(in[0], {2, 1, 4, 2}), reshaped(in[1], {1, 2, 2, 1}),
                                    {1, n.ints[0]}, {1, n.ints[1]}, n.ints[2]);
                 return reshaped(out, {2, out.dims[2], 1});
               })});
  t.push_back(
      {"conv2d_transpose",
       [](Maker& m, Node& n) {
         n.in = {m.real_of({1, 2, 2, 2}), m.real_of({2, 2, 1, 2})};
         n.ints = {2, 1, m.coin()};
         return true;
       },
       [](const Node& n, const Tensors& in) {
         return gd::nn::conv2d_transpose(in[0], in[1], {1, 4, 4, 1}, options(n));
       },
       with_reals([](const Node& n, const auto& in) {
         Reals out({1, 4, 4, 1});
         const Window w = Window::over(4, 2, 2, 1, n.ints[2]);
         for_each_place(w, w, 4, 4, [&](Size y, Size x, Size i, Size k, Size row, Size column) {
           for (Size c = 0; c < 2; ++c)
             out.at({0, row, column, 0}) += in[0].at({0, y, x, c}) * in[1].at({i, k, 0, c});
         });
         return out;
       })});
}

void add_pools(Table& t) {
  // ints: window, step, same
  const auto make = [](Maker& m, Node& n) {
    n.in = {m.real_of({1, 3, 3, 2})};
    n.ints = {2, m.between(1, 2), m.coin()};
    return true;
  };
  const auto pool_options = [](const Node& n) {
    return gd::nn::PoolOptions{.ksize = {n.ints[0], n.ints[0]},
                               .strides = {n.ints[1], n.ints[1]},
                               .padding = n.ints[2] ? "SAME" : "VALID"};
  };
  const auto pool = [](auto f) {
    return with_reals([f](const Node& n, const auto& in) {
      const Window w = Window::over(3, n.ints[0], n.ints[1], 1, n.ints[2]);
      std::vector<std::vector<Nil>> groups(index(w.count * w.count * 2));
      for_each_place(w, w, 3, 3, [&](Size y, Size x, Size, Size, Size row, Size column) {
        for (Size c = 0; c < 2; ++c)
          groups[index((y * w.count + x) * 2 + c)].push_back(in[0].at({0, row, column, c}));
      });
      Reals out({1, w.count, w.count, 2});
      for (Size i = 0; i < out.size(); ++i) out[i] = f(groups[index(i)]);
      return out;
    });
  };
  t.push_back({"max_pool2d", make,
               [pool_options](const Node& n, const Tensors& in) {
                 return gd::nn::max_pool2d(in[0], pool_options(n));
               },
               pool([](const std::vector<Nil>& group) {
                 Nil best = group[0];
                 for (std::size_t i = 1; i < group.size(); ++i) {
                   require(std::abs(group[i].base() - best.base()) > kGap, "a tie");
                   if (group[i].base() > best.base()) best = group[i];
                 }
                 return best;
               })});
  t.push_back({"avg_pool2d", make,
               [pool_options](const Node& n, const Tensors& in) {
                 return gd::nn::avg_pool2d(in[0], pool_options(n));
               },
               pool([](const std::vector<Nil>& group) {
                 return std::accumulate(group.begin(), group.end(), Nil(0)) /
                        Nil(static_cast<Real>(group.size()));
               })});
  // [1, h, w, c] with pixels of blocks of 2 as channels, and back.
  const auto depth = [&](const char* name, const Dims& dims, auto engine, bool to_depth) {
    t.push_back({name,
                 [dims](Maker& m, Node& n) {
                   n.in = {m.real_of(dims)};
                   return true;
                 },
                 [engine](const Node&, const Tensors& in) { return engine(in[0]); },
                 with_reals([to_depth](const Node&, const auto& in) {
                   const Dims& d = in[0].dims;
                   const Dims out = to_depth ? Dims{1, d[1] / 2, d[2] / 2, d[3] * 4}
                                             : Dims{1, d[1] * 2, d[2] * 2, d[3] / 4};
                   return moved(in[0], out, [&](const Dims& at) {
                     if (!to_depth) {
                       const Size part = at[1] % 2 * 2 + at[2] % 2;
                       return flat(d, {0, at[1] / 2, at[2] / 2, part * out[3] + at[3]});
                     }
                     const Size part = at[3] / d[3];
                     return flat(d, {0, at[1] * 2 + part / 2, at[2] * 2 + part % 2, at[3] % d[3]});
                   });
                 })});
  };
  depth(
      "space_to_depth", {1, 2, 4, 1},
      [](const gd::Tensor& x) { return gd::nn::space_to_depth(x, 2); }, true);
  depth(
      "depth_to_space", {1, 1, 2, 4},
      [](const gd::Tensor& x) { return gd::nn::depth_to_space(x, 2); }, false);
}

Nil mean_of(const std::vector<Nil>& g) {
  return std::accumulate(g.begin(), g.end(), Nil(0)) / Nil(static_cast<Real>(g.size()));
}
Nil variance_of(const std::vector<Nil>& g) {
  const Nil mean = mean_of(g);
  Nil sum = 0;
  for (const Nil& x : g) sum += (x - mean) * (x - mean);
  return sum / Nil(static_cast<Real>(g.size()));
}
// (x - mean) / sqrt(variance + epsilon) * scale + offset, all broadcast.
Reals normalised(const Reals& x, const Reals& mean, const Reals& variance, const Reals& offset,
                 const Reals& scale, double epsilon) {
  const auto add = [](const Nil& a, const Nil& b) { return a + b; };
  const auto times = [](const Nil& a, const Nil& b) { return a * b; };
  const Reals slope = map(variance, [&](const Nil& v) { return inverse(sqrt(v + Nil(epsilon))); });
  const Reals centred = map(x, mean, [](const Nil& a, const Nil& b) { return a - b; });
  return map(map(map(centred, slope, times), scale, times), offset, add);
}

void add_normalisations(Table& t) {
  constexpr double kEpsilon = 0.125;
  t.push_back({"layer_normalization",
               [](Maker& m, Node& n) {
                 n.in = {m.real_of({2, 3}), m.real_of({3}), m.real_of({3})};
                 return true;
               },
               [](const Node&, const Tensors& in) {
                 return gd::nn::layer_normalization(in[0], in[1], in[2], kEpsilon);
               },
               with_reals([](const Node&, const auto& in) {
                 return normalised(in[0], reduced(in[0], {1}, true, mean_of),
                                   reduced(in[0], {1}, true, variance_of), in[2], in[1], kEpsilon);
               })});
  const auto given = [&](const char* name, const Dims& rows) {
    t.push_back({name,
                 [rows](Maker& m, Node& n) {
                   n.in = {m.real_of({2, 3}), m.real_of(rows), m.real_of(rows, 0.3, 3),
                           m.real_of({3}), m.real_of({3})};
                   return true;
                 },
                 [](const Node&, const Tensors& in) {
                   return gd::nn::batch_normalization(in[0], in[1], in[2], in[3], in[4], kEpsilon);
                 },
                 with_reals([](const Node&, const auto& in) {
                   return normalised(in[0], in[1], in[2], in[3], in[4], kEpsilon);
                 })});
  };
  given("batch_normalization", {3});
  given("batch_normalization_rows", {2, 1});  // a record of its own
  t.push_back({"row_moments",
               [](Maker& m, Node& n) {
                 n.in = {m.real_of({2, 3}), m.real_of({3}), m.real_of({3})};
                 return true;
               },
               [](const Node&, const Tensors& in) {
                 const auto [mean, variance] = gd::moments(in[0], {1}, true);
                 return gd::nn::batch_normalization(in[0], mean, variance, in[1], in[2], kEpsilon);
               },
               with_reals([](const Node&, const auto& in) {
                 return normalised(in[0], reduced(in[0], {1}, true, mean_of),
                                   reduced(in[0], {1}, true, variance_of), in[1], in[2], kEpsilon);
               })});
  // ints: which result
  t.push_back({"fused_batch_norm",
               [](Maker& m, Node& n) {
                 n.in = {m.real_of({3, 2}), m.real_of({2}), m.real_of({2})};
                 n.ints = {m.between(-1, 2)};
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 const auto [y, mean, variance] =
                     gd::nn::fused_batch_norm(in[0], in[1], in[2], kEpsilon);
                 return pick({y, mean, variance}, n.ints[0]);
               },
               with_reals([](const Node& n, const auto& in) {
                 const Reals mean = reduced(in[0], {0}, false, mean_of);
                 const Reals variance = reduced(in[0], {0}, false, variance_of);
                 return pick(std::vector{normalised(in[0], mean, variance, in[2], in[1], kEpsilon),
                                         mean, variance},
                             n.ints[0]);
               })});
  t.push_back({"l2_loss",
               [](Maker& m, Node& n) {
                 n.in = {m.within(-3, 3)};
                 return true;
               },
               [](const Node&, const Tensors& in) { return gd::nn::l2_loss(in[0]); },
               with_reals([](const Node&, const auto& in) {
                 Nil sum = 0;
                 for (const Nil& x : in[0].data) sum += x * x;
                 return Reals({}, sum * Nil(0.5L));
               })});
  t.push_back(
      {"l2_normalize",
       [](Maker& m, Node& n) {
         n.in = {m.real_of({2, 3})};
         n.ints = {m.between(0, 1)};
         return true;
       },
       [](const Node& n, const Tensors& in) { return gd::nn::l2_normalize(in[0], {n.ints[0]}); },
       with_reals([](const Node& n, const auto& in) {
         return along(in[0], n.ints[0], in[0].dims[index(n.ints[0])], [](auto row) {
           Nil sum = 0;
           for (const Nil& x : row) sum += x * x;
           require(sum.base() > 0.1L, "near zero");
           const Nil scale = inverse(sqrt(sum));
           for (Nil& x : row) x *= scale;
           return row;
         });
       })});
  t.push_back({"bias_add",
               [](Maker& m, Node& n) {
                 n.in = {m.real_of({2, 3}), m.real_of({3})};
                 return true;
               },
               [](const Node&, const Tensors& in) { return gd::nn::bias_add(in[0], in[1]); },
               with_reals([](const Node&, const auto& in) {
                 return map(in[0], in[1], [](const Nil& a, const Nil& b) { return a + b; });
               })});
}

constexpr Size kBatch = 2, kTime = 2, kFeatures = 2, kUnits = 2;

// Row b of x at a time, times a matrix, plus a row of the bias.
std::vector<Nil> affine(const std::vector<Nil>& x, const Reals& matrix, const Nil* bias) {
  std::vector<Nil> out;
  for (Size k = 0; k < matrix.dims[1]; ++k) {
    Nil sum = bias[k];
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * entry(matrix, static_cast<Size>(i), k);
    out.push_back(sum);
  }
  return out;
}
std::vector<Nil> row_of(const Reals& x, Size begin, Size size) {
  return {x.data.begin() + begin, x.data.begin() + begin + size};
}

Reals lstm(const std::vector<Reals>& in, Size which) {
  Reals sequence({kBatch, kTime, kUnits}), last({kBatch, kUnits}), cell({kBatch, kUnits});
  const Reals no_bias({4 * kUnits});
  for (Size b = 0; b < kBatch; ++b) {
    std::vector<Nil> h = row_of(in[4], b * kUnits, kUnits), c = row_of(in[5], b * kUnits, kUnits);
    for (Size time = 0; time < kTime; ++time) {
      const auto x = row_of(in[0], (b * kTime + time) * kFeatures, kFeatures);
      const auto from_x = affine(x, in[1], in[3].data.data());
      const auto from_h = affine(h, in[2], no_bias.data.data());
      const auto gate = [&](Size g, Size u) {
        return from_x[index(g * kUnits + u)] + from_h[index(g * kUnits + u)];
      };
      for (Size u = 0; u < kUnits; ++u) {
        Nil& state = c[index(u)];
        state = sigmoid(gate(1, u)) * state + sigmoid(gate(0, u)) * tanh(gate(2, u));
        h[index(u)] = sigmoid(gate(3, u)) * tanh(state);
        sequence.at({b, time, u}) = h[index(u)];
      }
    }
    for (Size u = 0; u < kUnits; ++u) {
      last.at({b, u}) = h[index(u)];
      cell.at({b, u}) = c[index(u)];
    }
  }
  return pick(std::vector{sequence, last, cell}, which);
}

Reals gru(const std::vector<Reals>& in, Size which) {
  Reals sequence({kBatch, kTime, kUnits}), last({kBatch, kUnits});
  for (Size b = 0; b < kBatch; ++b) {
    std::vector<Nil> h = row_of(in[4], b * kUnits, kUnits);
    for (Size time = 0; time < kTime; ++time) {
      const auto x = affine(row_of(in[0], (b * kTime + time) * kFeatures, kFeatures), in[1],
                            in[3].data.data());
      const auto r = affine(h, in[2], in[3].data.data() + 3 * kUnits);
      for (Size u = 0; u < kUnits; ++u) {
        const auto at = [&](const auto& row, Size g) { return row[index(g * kUnits + u)]; };
        const Nil z = sigmoid(at(x, 0) + at(r, 0)), reset = sigmoid(at(x, 1) + at(r, 1));
        const Nil candidate = tanh(at(x, 2) + reset * at(r, 2));
        h[index(u)] = z * h[index(u)] + (Nil(1) - z) * candidate;
        sequence.at({b, time, u}) = h[index(u)];
      }
    }
    for (Size u = 0; u < kUnits; ++u) last.at({b, u}) = h[index(u)];
  }
  return pick(std::vector{sequence, last}, which);
}

void add_recurrent(Table& t) {
  // ints: which result
  t.push_back({"lstm",
               [](Maker& m, Node& n) {
                 for (const Dims& d : {Dims{kBatch, kTime, kFeatures}, Dims{kFeatures, 4 * kUnits},
                                       Dims{kUnits, 4 * kUnits}, Dims{4 * kUnits},
                                       Dims{kBatch, kUnits}, Dims{kBatch, kUnits}})
                   n.in.push_back(m.real_of(d));
                 n.ints = {m.between(-1, 2)};
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 const auto [sequence, h, c] =
                     gd::nn::lstm(in[0], in[1], in[2], in[3], in[4], in[5]);
                 return pick({sequence, h, c}, n.ints[0]);
               },
               with_reals([](const Node& n, const auto& in) { return lstm(in, n.ints[0]); })});
  t.push_back({"gru",
               [](Maker& m, Node& n) {
                 for (const Dims& d :
                      {Dims{kBatch, kTime, kFeatures}, Dims{kFeatures, 3 * kUnits},
                       Dims{kUnits, 3 * kUnits}, Dims{2, 3 * kUnits}, Dims{kBatch, kUnits}})
                   n.in.push_back(m.real_of(d));
                 n.ints = {m.between(-1, 1)};
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 const auto [sequence, h] = gd::nn::gru(in[0], in[1], in[2], in[3], in[4]);
                 return pick({sequence, h}, n.ints[0]);
               },
               with_reals([](const Node& n, const auto& in) { return gru(in, n.ints[0]); })});
}

}  // namespace

void add_nn(Table& table) {
  add_softmaxes(table);
  add_convolutions(table);
  add_pools(table);
  add_normalisations(table);
  add_recurrent(table);
}

}  // namespace oracle
