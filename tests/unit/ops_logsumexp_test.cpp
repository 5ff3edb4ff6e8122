#include <limits>

#include "unit/ops_util.h"

namespace gradus {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(LogSumExp, AtAnyScale) {
  EXPECT_TRUE(near(reduce_logsumexp(Tensor{1000.0, 1000.0}), {1000 + std::log(2.0)}));
  EXPECT_TRUE(near(reduce_logsumexp(Tensor{-1000.0, -1001.0}), {-1000 + std::log1p(std::exp(-1))}));
  EXPECT_TRUE(near(reduce_logsumexp(Tensor{-kInf, -kInf}), {-kInf}));
  EXPECT_TRUE(near(reduce_logsumexp(Tensor{kInf, 1.0}), {kInf}));
  EXPECT_TRUE(near(reduce_logsumexp(zeros({2, 0}, float64), {1}), {-kInf, -kInf}));
  EXPECT_TRUE(std::isnan(reduce_logsumexp(Tensor{1.0, std::nan("")}).item<double>()));
  EXPECT_TRUE(near(reduce_logsumexp(cast(Tensor{10.0f, 10.0f}, float16)), {10.6931}, 1e-3));
}

TEST(LogSumExp, MaskedRowsHaveNoGradient) {
  const auto f = [](const std::vector<Tensor>& in) { return reduce_logsumexp(in[0], {1}); };
  const Tensor x = {{-kInf, -kInf}, {0.0, -kInf}, {0.0, 0.0}};
  EXPECT_TRUE(near(gradient_of(f, {x}), {0, 0, 1, 0, 0.5, 0.5}));
  ForwardAccumulator forward(x, ones({3, 2}, float64));
  EXPECT_TRUE(near(forward.jvp(f({x})).tensor(), {0, 1, 1}));
}

TEST(LogSumExp, Derivatives) {
  const Tensor x = random_tensor({2, 3, 4});
  for (const Shape& axes : {Shape{1}, Shape{0, 2}, Shape{2}, Shape{0, 1, 2}}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return reduce_logsumexp(in[0], axes, true);
    };
    check_derivatives(f, {x});
    check_batching(f, {x}, 0);
  }
}

TEST(LogSumExp, Running) {
  const Tensor x = {2.0, 3.0, 4.0};
  EXPECT_TRUE(near(cumulative_logsumexp(x), {2, 3.3132616875, 4.4076059644}));
  EXPECT_TRUE(near(cumulative_logsumexp(x, 0, false, true), {4.4076059644, 4.3132616875, 4}, 1e-9));
  EXPECT_TRUE(near(cumulative_logsumexp(x, 0, true), {-kInf, 2, 3.3132616875}));
  EXPECT_TRUE(near(cumulative_logsumexp(x, 0, true, true), {4.3132616875, 4, -kInf}));
  EXPECT_TRUE(near(cumulative_logsumexp(Tensor{-2000.0, 2000.0, -2000.0}), {-2000, 2000, 2000}));
  const auto f = [](const std::vector<Tensor>& in) { return cumulative_logsumexp(in[0]); };
  EXPECT_TRUE(near(gradient_of(f, {Tensor{-kInf, 0.0, 1.0}}), {0, 1.2689414214, 0.7310585786}));
  EXPECT_TRUE(near(gradient_of(f, {Tensor{-2000.0, 2000.0}}), {1, 1}));
  for (const bool exclusive : {false, true}) {
    for (const bool reverse : {false, true}) {
      const auto g = [&](const std::vector<Tensor>& in) {
        const Tensor y = cumulative_logsumexp(in[0], 1, exclusive, reverse);
        return exclusive ? slice(y, {0, reverse ? 0 : 1}, {2, 3}) : y;
      };
      check_derivatives(g, {random_tensor({2, 4})});
      check_batching(g, {random_tensor({2, 4})}, 0);
    }
  }
}

}  // namespace
}  // namespace gradus
