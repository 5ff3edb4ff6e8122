// Laws that derivatives obey whatever the function: no second computation is needed to see that one
// of them is broken. Random programs (oracle/program.h), and models of batches of rows.
#include <gtest/gtest.h>

#include "oracle/runs.h"

namespace oracle {
namespace {

using gd::Tensor;

void expect_near(const Tensor& a, const Tensor& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  const Tensor x = gd::cast(a, gd::complex128), y = gd::cast(b, gd::complex128);
  for (Size i = 0; i < x.num_elements(); ++i) {
    const std::complex<double> p = x.data<std::complex<double>>()[i],
                               q = y.data<std::complex<double>>()[i];
    ASSERT_LE(std::abs(p - q), tolerance * (1 + std::abs(p) + std::abs(q)))
        << what << " at element " << i << ": " << p << " and " << q;
  }
}
void expect_near(const Tensors& a, const Tensors& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) expect_near(a[i], b[i], tolerance, what);
}

// Numbers without a pattern, the same every time.
Tensor numbers(const gd::Shape& shape, double phase, gd::DType dtype = gd::float64) {
  std::vector<double> all;
  for (Size i = 0; i < shape.num_elements(); ++i)
    all.push_back(std::sin(phase + 12.9898 * static_cast<double>(i)));
  return gd::cast(Tensor::from(all, shape), dtype);
}
Tensor weighted_sum(const Tensor& y) { return gd::reduce_sum(y * numbers(y.shape(), 0.3)); }
Tensors numbers_like(const Tensors& x, double phase) {
  Tensors all;
  for (const Tensor& t : x) all.push_back(numbers(t.shape(), phase++));
  return all;
}
double dot(const Tensors& a, const Tensors& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += gd::reduce_sum(a[i] * b[i]).item<double>();
  return sum;
}

// A random real program, as a function.
struct Sample {
  Case c;
  Tensors at;
  Fn f;
  Tensor operator()(const Tensors& x) const { return f(x); }
  std::string text() const { return c.text(); }
};
template <class Check>
void for_each_sample(std::uint64_t first, std::uint64_t count, const CaseOptions& options,
                     Check check) {
  int tried = 0, checked = 0;
  for_each_seed(first, count, [&](std::uint64_t seed) {
    ++tried;
    const std::optional<Case> found = random_case(seed, options);
    if (!found) return true;
    Sample s{*found, {}, {}};
    for (std::size_t i = 0; i < s.c.at.size(); ++i) {
      std::vector<double> values;
      for (const auto& z : s.c.at[i]) values.push_back(z.real());
      s.at.push_back(Tensor::from(values, to_shape(s.c.program.inputs[i])));
    }
    try {
      s.f = engine_function(s.c.program, s.c.word, s.at);  // calls compiled functions
      if (gd::is_complex(s(s.at).dtype())) return true;
      check(s, "seed " + std::to_string(seed) + "\n" + s.text());
      ++checked;
    } catch (const gd::Error& error) {
      if (!is_documented_limit(error.what())) ADD_FAILURE() << error.what() << "\n" << s.text();
    }
    return !testing::Test::HasFailure();
  });
  report_count(checked, tried);
  // Laws of nothing would show nothing.
  EXPECT_GE(2 * checked, testing::Test::HasFailure() ? 0 : tried);
}
// Programs, and derivatives of programs.
CaseOptions plain(int lines = 5) {
  return {.order = 0, .modes = "frjlgvhm", .compiled = false, .lines = lines};
}

TEST(Metamorphic, TheGradientOfASumIsTheSumOfGradients) {
  for_each_sample(1, 150, plain(), [](const Sample& s, const std::string& what) {
    const auto f = [&](const Tensors& x) { return weighted_sum(s(x)); };
    const auto g = [&](const Tensors& x) { return weighted_sum(gd::sin(x[0])) * f(x); };
    const auto sum = gd::grad([&](const Tensors& x) { return f(x) + 4.0 * g(x); })(s.at);
    const auto df = gd::grad(f)(s.at), dg = gd::grad(g)(s.at);
    Tensors parts;
    for (std::size_t i = 0; i < df.size(); ++i) parts.push_back(df[i] + 4.0 * dg[i]);
    expect_near(sum, parts, 1e-11, what);
  });
}

TEST(Metamorphic, IdentitiesOnTheWayChangeNothing) {
  for_each_sample(1001, 150, plain(), [](const Sample& s, const std::string& what) {
    const auto f = [&](const Tensors& x) { return weighted_sum(s(x)); };
    const auto around = [&](const Tensors& x) {
      Tensors changed;
      for (const Tensor& t : x) {
        const Tensor flat = gd::reshape(gd::identity(t), {-1});
        changed.push_back(gd::transpose(
            gd::transpose(gd::reverse(gd::reverse(gd::reshape(flat, t.shape()), {}), {}))));
      }
      return weighted_sum(gd::reshape(gd::reshape(s(changed), {1, -1}), s(x).shape()));
    };
    expect_near(gd::grad(around)(s.at), gd::grad(f)(s.at), 1e-12, what);
    const Tensors v = numbers_like(s.at, 1);
    expect_near(gd::hvp(around, s.at, v), gd::hvp(f, s.at, v), 1e-10, what);
  });
}

TEST(Metamorphic, ScalingScales) {
  for_each_sample(2001, 100, plain(), [](const Sample& s, const std::string& what) {
    const auto f = [&](const Tensors& x) { return weighted_sum(s(x)); };
    Tensors scaled;
    for (const Tensor& g : gd::grad(f)(s.at)) scaled.push_back(-8.0 * g);
    expect_near(gd::grad([&](const Tensors& x) { return -8.0 * f(x); })(s.at), scaled, 1e-12, what);
    // f(x / 4) at 4 x.
    Tensors larger, quarter;
    for (const Tensor& t : s.at) larger.push_back(4.0 * t);
    for (const Tensor& g : gd::grad(f)(s.at)) quarter.push_back(0.25 * g);
    const auto of_larger = [&](const Tensors& x) {
      Tensors small;
      for (const Tensor& t : x) small.push_back(0.25 * t);
      return f(small);
    };
    expect_near(gd::grad(of_larger)(larger), quarter, 1e-12, what);
  });
}

// One tensor as two arguments: its gradient is the sum of both.
TEST(Metamorphic, DuplicatedInputsAddUp) {
  for_each_sample(3001, 150, plain(), [](const Sample& s, const std::string& what) {
    const Tensor &x = s.at[0], twin = x + 0.0;
    const auto f = [&](const Tensor& a, const Tensor& b) {
      Tensors first = s.at, second = s.at;
      first[0] = a;
      second[0] = b;
      return weighted_sum(s(first) * gd::sin(s(second)));
    };
    const auto [da, db] = gd::grad<0, 1>(f)(x, twin);
    expect_near(gd::grad([&](const Tensor& a) { return f(a, a); })(x), da + db, 1e-11, what);
    const auto [same_a, same_b] = gd::grad<0, 1>(f)(x, x);  // one tensor, two arguments
    expect_near(same_a, da, 1e-11, what);
    expect_near(same_b, db, 1e-11, what);
    // As one variable that is read twice, asked for twice.
    const gd::Variable w(x);
    gd::GradientTape tape;
    const Tensor y = f(w, w);
    for (const gd::Gradient& g : tape.gradient({y}, {w, w}, {.unconnected = gd::Unconnected::zero}))
      expect_near(g.tensor(), da + db, 1e-11, what);
    const auto compiled =
        gd::function([&](const Tensor& a, const Tensor& b) { return gd::grad<0, 1>(f)(a, b); });
    expect_near(std::get<0>(compiled(x, x)), da, 1e-11, what);
    expect_near(std::get<1>(compiled(x, x)), db, 1e-11, what);
  });
}

// <w, J v> = <J^T w, v>, of programs and of their derivatives.
TEST(Metamorphic, ForwardAndReverseAreTransposesAtEveryOrder) {
  for (int order = 0; order <= 3; ++order) {
    CaseOptions options = plain(4);
    options.order = order;
    options.compiled = true;
    for_each_sample(4001 + static_cast<std::uint64_t>(order) * 1000, 70, options,
                    [](const Sample& s, const std::string& what) {
                      const Tensors v = numbers_like(s.at, 2);
                      const auto [y, push] = gd::linearize(s.f, s.at);
                      const auto [z, pull] = gd::vjp(s.f, s.at);
                      const Tensor w = numbers(y.shape(), 0.7);
                      const double forward = dot({gd::jvp(s.f, s.at, v).second}, {w});
                      const double scale = 1e-9 * (1 + std::abs(forward));
                      EXPECT_NEAR(forward, dot(pull(w), v), scale) << what;
                      EXPECT_NEAR(forward, dot({push(v)}, {w}), scale) << what;
                    });
  }
}

TEST(Metamorphic, VmapOfAGradientIsALoopOfGradients) {
  for_each_sample(8001, 120, plain(4), [](const Sample& s, const std::string& what) {
    const auto gradient = gd::grad([&](const Tensors& x) { return weighted_sum(s(x)); });
    Tensors stacks(s.at.size());
    std::vector<Tensors> examples;
    for (const double scale : {1.0, 1 + 0x1p-9, 1 - 0x1p-8}) {
      Tensors example;
      for (const Tensor& t : s.at) example.push_back(t * scale);
      examples.push_back(example);
    }
    for (std::size_t i = 0; i < stacks.size(); ++i)
      stacks[i] = gd::stack({examples[0][i], examples[1][i], examples[2][i]});
    const Tensors mapped = gd::vmap(gradient)(stacks);
    for (std::size_t b = 0; b < 3; ++b) {
      const Tensors one = gradient(examples[b]);
      for (std::size_t i = 0; i < one.size(); ++i)
        expect_near(gd::unstack(mapped[i])[b], one[i], 1e-11, what);
    }
  });
}

// Eager, compiled, and saved, loaded and run.
TEST(Metamorphic, EagerCompiledAndLoadedAgree) {
  CaseOptions options = plain(4);
  for (options.order = 0; options.order <= 2; ++options.order) {
    for_each_sample(9001 + static_cast<std::uint64_t>(options.order) * 1000, 60, options,
                    [](const Sample& s, const std::string& what) {
                      const Tensor eager = s(s.at);
                      const auto compiled = gd::function(s.f);
                      expect_near(compiled(s.at), eager, 1e-11, what);
                      // These hold C++ code, which cannot be saved.
                      const std::string text = s.c.program.text();
                      if (text.find("custom_") != std::string::npos) return;
                      if (text.find("recompute_grad") != std::string::npos) return;
                      const gd::LoadedFunction loaded(compiled.saved());
                      expect_near(loaded(s.at)[0], eager, 1e-11, what);
                    });
  }
}

// float32 arguments, cast to float64 inside, have the gradient of the wide function, as float32.
TEST(Metamorphic, CastingOnTheWayKeepsTheGradient) {
  for_each_sample(12001, 100, plain(), [](const Sample& s, const std::string& what) {
    const auto f = [&](const Tensors& x) { return weighted_sum(s(x)); };
    Tensors narrow, wide = gd::grad(f)(s.at);
    for (const Tensor& t : s.at) narrow.push_back(gd::cast(t, gd::float32));
    const auto of_narrow = [&](const Tensors& x) {
      Tensors cast;
      for (const Tensor& t : x) cast.push_back(gd::cast(t, gd::float64));
      return f(cast);
    };
    const Tensors g = gd::grad(of_narrow)(narrow);
    for (std::size_t i = 0; i < g.size(); ++i) {
      EXPECT_EQ(g[i].dtype(), gd::float32) << what;
      expect_near(gd::cast(g[i], gd::float64), wide[i], 1e-6, what);
    }
  });
}

// Models of rows: each row of the result depends on its row of x alone, and on weights.
struct Model {
  const char* name;
  gd::Shape row;  // of x
  std::vector<gd::Shape> weights;
  Tensor (*f)(const Tensor& x, const Tensors& w);  // [rows, ...]
};
const std::vector<Model>& models() {
  static const std::vector<Model> all = {
      {"dense",
       {3},
       {{3, 2}, {2}},
       [](const Tensor& x, const Tensors& w) { return gd::tanh(gd::matmul(x, w[0]) + w[1]); }},
      {"two_layers",
       {3},
       {{3, 4}, {4, 2}},
       [](const Tensor& x, const Tensors& w) {
         return gd::matmul(gd::nn::gelu(gd::matmul(x, w[0])), w[1]);
       }},
      {"layer_normalization",
       {4},
       {{4}, {4}},
       [](const Tensor& x, const Tensors& w) {
         return gd::nn::layer_normalization(x, w[0], w[1]);
       }},
      {"softmax",
       {4},
       {{4}},
       [](const Tensor& x, const Tensors& w) { return gd::nn::softmax(x * w[0]); }},
      {"cross_entropy",
       {4},
       {{4}},
       [](const Tensor& x, const Tensors& w) {
         return gd::nn::softmax_cross_entropy_with_logits(gd::square(x), x * w[0]);
       }},
      {"lstm",
       {3, 2},
       {{2, 8}, {2, 8}, {8}},
       [](const Tensor& x, const Tensors& w) {
         const Tensor zero = gd::zeros({x.shape()[0], 2}, gd::float64);
         return gd::nn::lstm(x, w[0], w[1], w[2], zero, zero).sequence;
       }},
      {"gru",
       {3, 2},
       {{2, 6}, {2, 6}, {2, 6}},
       [](const Tensor& x, const Tensors& w) {
         return gd::nn::gru(x, w[0], w[1], w[2], gd::zeros({x.shape()[0], 2}, gd::float64))
             .sequence;
       }},
      {"conv2d",
       {4, 4, 2},
       {{3, 3, 2, 2}},
       [](const Tensor& x, const Tensors& w) {
         return gd::nn::avg_pool2d(gd::sin(gd::nn::conv2d(x, w[0], {.padding = "SAME"})));
       }},
      {"max_pool",
       {4, 4, 1},
       {{1}},
       [](const Tensor& x, const Tensors& w) { return gd::nn::max_pool2d(x * w[0]); }},
      {"attention",
       {3, 2},
       {{2, 2}, {2, 2}},
       [](const Tensor& x, const Tensors& w) {
         const Tensor scores = gd::einsum("bij,bkj->bik", {gd::matmul(x, w[0]), x});
         return gd::matmul(gd::nn::softmax(scores), gd::matmul(x, w[1]));
       }},
      {"cumsum",
       {4},
       {{4}},
       [](const Tensor& x, const Tensors& w) {
         return gd::cumsum(x * w[0], 1) * gd::cumprod(x, 1);
       }},
      {"solve",
       {2, 2},
       {{2, 1}},
       [](const Tensor& x, const Tensors& w) {
         const Tensor a = x + 3.0 * gd::eye(2, -1, {}, gd::float64);
         return gd::linalg::solve(a, gd::broadcast_to(w[0], {x.shape()[0], 2, 1}));
       }},
      {"logsumexp",
       {4},
       {{4}},
       [](const Tensor& x, const Tensors& w) { return gd::reduce_logsumexp(x * w[0], {1}); }},
  };
  return all;
}

class Rows : public testing::TestWithParam<Model> {
 protected:
  Rows() {
    double phase = 5;
    for (const gd::Shape& s : GetParam().weights) weights.push_back(numbers(s, phase++));
  }
  Tensor batch(Size rows) const {
    gd::Shape shape = GetParam().row;
    shape.insert(0, rows);
    return numbers(shape, 1.5);
  }
  // The sum over rows, each with its own weights for what comes out.
  Tensors gradients(const Tensor& x) const {
    Tensors at = weights;
    at.insert(at.begin(), x);
    return gd::grad([](const Tensors& all) {
      const Tensor y = GetParam().f(all[0], Tensors(all.begin() + 1, all.end()));
      gd::Shape row = y.shape();
      row[0] = 1;
      return gd::reduce_sum(gd::sin(y) * numbers(row, 0.4));
    })(at);
  }
  Tensors weights;
};
INSTANTIATE_TEST_SUITE_P(Models, Rows, testing::ValuesIn(models()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(Rows, InAnotherOrderGiveGradientsInThatOrder) {
  const Tensor x = batch(5), order = indices({5}, {3, 0, 4, 1, 2});
  const Tensors here = gradients(x), there = gradients(gd::gather(x, order));
  expect_near(there[0], gd::gather(here[0], order), 1e-12, "x");
  for (std::size_t i = 1; i < here.size(); ++i) expect_near(there[i], here[i], 1e-12, "weights");
}

TEST_P(Rows, SplitIntoBatchesAddUp) {
  const Tensor x = batch(7);
  const Tensors whole = gradients(x);
  const auto parts = gd::split(x, {3, 1, 0, 3});
  Tensors rows, sums;
  for (const Tensor& part : parts) {
    const Tensors g = gradients(part);
    rows.push_back(g[0]);
    for (std::size_t i = 1; i < g.size(); ++i) {
      if (sums.size() < i)
        sums.push_back(g[i]);
      else
        sums[i - 1] = sums[i - 1] + g[i];
    }
  }
  expect_near(gd::concat(rows, 0), whole[0], 1e-12, "x");
  expect_near(sums, Tensors(whole.begin() + 1, whole.end()), 1e-12, "weights");
}

TEST_P(Rows, OfNothingGiveZeros) {
  const Tensors g = gradients(batch(0));
  EXPECT_EQ(g[0].shape(), batch(0).shape());
  for (std::size_t i = 1; i < g.size(); ++i)
    expect_near(g[i], gd::zeros(weights[i - 1].shape(), gd::float64), 0, "weights");
}

TEST_P(Rows, MappedOneByOneAreTheBatch) {
  const Tensor x = batch(3);
  const auto one = [&](const Tensor& row) { return gradients(gd::expand_dims(row, 0))[0]; };
  const Tensor mapped = gd::vmap(one)(x);
  expect_near(gd::squeeze(mapped, {1}), gradients(x)[0], 1e-11, "x");
}

TEST_P(Rows, CompiledIsEager) {
  const auto compiled = gd::function([&](const Tensor& x) { return gradients(x); });
  for (const Size rows : {4, 1, 6, 2})
    expect_near(compiled(batch(rows)), gradients(batch(rows)), 1e-12, "compiled");
}

}  // namespace
}  // namespace oracle
