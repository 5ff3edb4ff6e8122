// Random small loops inside traced functions: reverse mode, forward mode and differences agree, and
// so do second derivatives in three ways, in bounded memory too. Counts are known, or known to the
// program only; there are loops in loops, branches, carries that do not matter, captured tensors
// and variables.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "gradus/control.h"
#include "gradus/function.h"
#include "gradus/functional.h"
#include "gradus/gradient.h"
#include "gradus/loop_memory.h"
#include "gradus/ops.h"
#include "gradus/variable.h"

namespace gradus {
namespace {

constexpr std::int64_t kWidth = 3;

// A body as a list of ops over what there is: the carries, x, a variable, the number of the turn
// and earlier results. All stay near [-1, 1] and are smooth.
class RandomBody {
 public:
  RandomBody(std::mt19937& random, int carries, bool may_nest) : carries_(carries) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int terms = 2 + below(4);
    for (int i = 0; i < terms; ++i) {
      const int known = carries + kGiven + i;
      terms_.push_back({below(kKinds), below(known), below(known)});
      if (terms_.back().kind != kInner) continue;
      if (may_nest) {
        inner_.push_back(std::make_shared<RandomBody>(random, 1, false));
        terms_.back().inner = static_cast<int>(inner_.size()) - 1;
      } else {
        terms_.back().kind = kSine;
      }
    }
    for (int i = 0; i < carries; ++i) results_.push_back(below(carries + kGiven + terms));
  }

  std::vector<Tensor> operator()(const Tensor& turn, const std::vector<Tensor>& carries,
                                 const Tensor& x, const Variable& w, const Tensor& count) const {
    std::vector<Tensor> pool = carries;
    pool.push_back(x);
    pool.push_back(w.value());
    pool.push_back(0.1 * cast(turn, float64) + zeros({kWidth}, float64));
    for (const Term& t : terms_) {
      const Tensor &a = pool[static_cast<std::size_t>(t.a)],
                   &b = pool[static_cast<std::size_t>(t.b)];
      switch (t.kind) {
        case kSine:
          pool.push_back(sin(a + 0.3 * b));
          break;
        case kProduct:
          pool.push_back(0.8 * a * tanh(b));
          break;
        case kMatrix:
          pool.push_back(tanh(reshape(
              matmul(0.3 * expand_dims(a, 0) + expand_dims(b, 1), expand_dims(b, 1)), {kWidth})));
          break;
        case kTable:
          pool.push_back(tanh(a + gather(b, floormod(turn, 3))));
          break;
        case kBranch:
          pool.push_back(cond(
              equal(floormod(turn, 2), 0), [&] { return tanh(a); }, [&] { return 0.5 * b; }));
          break;
        case kUnused:
          pool.push_back(where(a > 2.0, b * b, tanh(a)));
          break;
        case kInner:
          pool.push_back(inner_[static_cast<std::size_t>(t.inner)]->repeat(
              x, w, t.a % 2 == 0 ? floormod(count, 3) : Tensor(2), {tanh(a)})[0]);
          break;
      }
    }
    std::vector<Tensor> out;
    for (int r : results_) out.push_back(pool[static_cast<std::size_t>(r)]);
    return out;
  }

  // The body `count` times, which may be a number or a tensor that only the program knows.
  std::vector<Tensor> repeat(const Tensor& x, const Variable& w, const Tensor& count,
                             std::vector<Tensor> carries) const {
    carries.insert(carries.begin(), Tensor(0));
    const auto out = while_loop(
        [&](const std::vector<Tensor>& v) { return v[0] < count; },
        [&](const std::vector<Tensor>& v) {
          std::vector<Tensor> next = (*this)(v[0], {v.begin() + 1, v.end()}, x, w, count);
          next.insert(next.begin(), v[0] + 1);
          return next;
        },
        carries);
    return {out.begin() + 1, out.end()};
  }

  int carries() const { return carries_; }

 private:
  enum Kind { kSine, kProduct, kMatrix, kTable, kBranch, kUnused, kInner, kKinds };
  static constexpr int kGiven = 3;
  struct Term {
    int kind, a, b, inner = -1;
  };
  int carries_;
  std::vector<Term> terms_;
  std::vector<int> results_;
  std::vector<std::shared_ptr<RandomBody>> inner_;
};

void expect_near(const char* what, const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  for (std::int64_t i = 0; i < a.num_elements(); ++i) {
    const double p = a.data<double>()[i], q = b.data<double>()[i];
    EXPECT_NEAR(p, q, tolerance * (1 + std::abs(q))) << what << ", element " << i;
  }
}

class RandomLoops : public testing::TestWithParam<int> {};

TEST_P(RandomLoops, DerivativesAgree) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const RandomBody body(random, 1 + GetParam() % 3, true);
  const bool known = random() % 2 == 0;
  const int n = static_cast<int>(random() % 5);
  const auto number = [&] { return static_cast<double>(random() % 1000) * 0.001 - 0.5; };
  const auto vector = [&] { return Tensor({number(), number(), number()}); };
  const Tensor x = vector(), v = vector(), weights = vector();
  Variable w(vector());

  const auto f = [&](const Tensor& t, const Tensor& run_time_count) {
    const Tensor count = known ? Tensor(n) : run_time_count;
    std::vector<Tensor> start;
    for (int i = 0; i < body.carries(); ++i) start.push_back(sin(t * (0.5 + i)));
    // The last carry is not looked at unless it is the only one: it may be unconnected.
    const std::vector<Tensor> out = body.repeat(t, w, count, start);
    Tensor sum = reduce_sum(out[0] * weights * (1.0 + 0.1 * t));
    for (std::size_t i = 1; i + 1 < out.size(); ++i) sum = sum + reduce_sum(out[i] * out[0]);
    return sum;
  };
  const auto of = [&](const Tensor& count) {
    return [&f, count](const Tensor& t) { return f(t, count); };
  };
  const auto gradient =
      function([&](const Tensor& t, const Tensor& count) { return grad(of(count))(t); });
  const auto tangent =
      function([&](const Tensor& t, const Tensor& count) { return jvp(of(count), t, v).second; });
  const auto value = function(f);
  const Tensor count(n);

  const Tensor g = gradient(x, count);
  expect_near("compiled and at once", g, grad(of(count))(x), 1e-9);
  expect_near("forward mode", tangent(x, count), reduce_sum(g * v), 1e-9);
  const double h = 1e-5;
  expect_near("differences", (value(x + h * v, count) - value(x - h * v, count)) / (2 * h),
              reduce_sum(g * v), 1e-6);
  // A variable that is read inside.
  const auto by_variable = function([&](const Tensor& t, const Tensor& c) {
    GradientTape tape;
    const Tensor y = f(t, c);
    const Gradient found = tape.gradient(y, w);
    return found.is_none() ? zeros({kWidth}, float64) : found.tensor();
  });
  const Tensor dw = by_variable(x, count), before = w.value();
  w.assign(before + h * v);
  const Tensor above = value(x, count);
  w.assign(before - h * v);
  const Tensor below = value(x, count);
  w.assign(before);
  expect_near("by the variable", (above - below) / (2 * h), reduce_sum(dw * v), 1e-6);

  // Second derivatives: forward over reverse, reverse over forward, reverse over reverse.
  const Tensor difference = (gradient(x + h * v, count) - gradient(x - h * v, count)) / (2 * h);
  expect_near("forward over reverse", function([&](const Tensor& t, const Tensor& c) {
                return hvp(of(c), t, v);
              })(x, count),
              difference, 1e-5);
  expect_near("reverse over forward", function([&](const Tensor& t, const Tensor& c) {
                return grad([&](const Tensor& u) { return jvp(of(c), u, v).second; })(t);
              })(x, count),
              difference, 1e-5);
  expect_near("reverse over reverse", function([&](const Tensor& t, const Tensor& c) {
                return grad([&](const Tensor& u) { return reduce_sum(grad(of(c))(u) * v); })(t);
              })(x, count),
              difference, 1e-5);

  const LoopMemoryLimit limit(1);
  const Tensor bounded =
      function([&](const Tensor& t, const Tensor& c) { return grad(of(c))(t); })(x, count);
  EXPECT_EQ(std::memcmp(bounded.raw_data(), g.raw_data(), g.num_bytes()), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLoops, testing::Range(0, 24));

}  // namespace
}  // namespace gradus
