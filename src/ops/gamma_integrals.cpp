// The incomplete gamma and beta functions. Derivatives in a and b are the same op with a higher
// order; in x they are the integrand, which is made of ordinary ops.
#include "ops/gamma_integrals.h"
#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/shaping.h"
#include "gradus/special.h"
#include "graph/batch.h"
#include "graph/dispatch.h"
#include "kernels/gamma_integrals.h"
#include "ops/checks.h"
#include "ops/numeric_records.h"

namespace gradus {
namespace {

constexpr DTypes kWide = one_dtype(float32) | one_dtype(float64);

struct IgammaAttrs {
  std::int64_t order = 0;
  bool upper = false;
  static auto fields() {
    return attr_fields(attr("order", &IgammaAttrs::order), attr("upper", &IgammaAttrs::upper));
  }
};

void infer_like_first(const Call& c, Avals& out) {
  check_same_dtype(c);
  for (int i = 1; i < static_cast<int>(c.in.size()); ++i) check_operand_shape(c, i, c.shape(0));
  out.push_back({c.in[0].dtype, c.shape(0)});
}

struct BetaincAttrs {
  std::int64_t order_a = 0, order_b = 0;
  static auto fields() {
    return attr_fields(attr("order_a", &BetaincAttrs::order_a),
                       attr("order_b", &BetaincAttrs::order_b));
  }
};

// The k-th derivative of digamma.
Tensor polygamma_of(std::int64_t k, const Tensor& x) {
  return k == 0 ? digamma(x) : polygamma(cast(static_cast<double>(k), x.dtype()), x);
}

void add_to(Tensor& sum, const Tensor& term) { sum = sum.defined() ? sum + term : term; }

double choose(std::size_t n, std::size_t k) {
  double product = 1;
  for (std::size_t i = 1; i <= k; ++i)
    product = product * static_cast<double>(n - k + i) / static_cast<double>(i);
  return product;
}

// y log(x) and y log(1 - x). Where y is 0, xlogy has no derivative in y, and these have.
Tensor log_power(const Tensor& y, const Tensor& x) {
  const Tensor inside = x > 0.0;
  return where(inside, y * log(where(inside, x, ones_like(x))), xlogy(y, x));
}
Tensor log_power_beside(const Tensor& y, const Tensor& x) {
  const Tensor inside = x < 1.0;
  return where(inside, y * log1p(-where(inside, x, zeros_like(x))), xlog1py(y, -x));
}

// The next derivative of f, where f' = f h, by Leibniz's rule; 0 where f is, also beside a pole.
Tensor next_derivative(const std::vector<Tensor>& f, const std::vector<Tensor>& h) {
  Tensor sum;
  for (std::size_t k = 0; k < f.size(); ++k) {
    const std::size_t last = f.size() - 1;
    add_to(sum, choose(last, k) * multiply_no_nan(h[last - k], f[k]));
  }
  return sum;
}

// The order-th derivative in a of x^(a-1) e^-x / Gamma(a).
Tensor integrand(const Tensor& a, const Tensor& x, std::int64_t order) {
  std::vector<Tensor> f = {exp(log_power(a - 1.0, x) - x - lgamma(a))}, h;
  for (std::int64_t k = 0; k < order; ++k) {
    h.push_back(k == 0 ? log(x) - digamma(a) : -polygamma_of(k, a));
    f.push_back(next_derivative(f, h));
  }
  return f.back();
}

// The derivative in a and b, as often as the attributes say, of x^(a-1) (1-x)^(b-1) / B(a, b).
Tensor beta_integrand(const Tensor& a, const Tensor& b, const Tensor& x, const BetaincAttrs& p) {
  // d log f / da = log(x) - digamma(a) + digamma(a + b): its i-th derivative in a and j-th in b,
  // with the part that a + b has; and the same for b.
  std::vector<Tensor> of_sum, by_a, by_b;
  for (std::int64_t k = 0; k < p.order_a + p.order_b; ++k) of_sum.push_back(polygamma_of(k, a + b));
  for (std::int64_t k = 0; k < p.order_a; ++k) {
    const Tensor slope = of_sum[static_cast<std::size_t>(k)] - polygamma_of(k, a);
    by_a.push_back(k == 0 ? slope + log(x) : slope);
  }
  for (std::int64_t k = 0; k < p.order_b; ++k) {
    const Tensor slope = of_sum[static_cast<std::size_t>(k)] - polygamma_of(k, b);
    by_b.push_back(k == 0 ? slope + log1p(-x) : slope);
  }
  const Tensor log_beta = lgamma(a) + lgamma(b) - lgamma(a + b);
  std::vector<std::vector<Tensor>> f(1);  // f[i][j]: the i-th derivative in a, the j-th in b
  f[0] = {exp(log_power(a - 1.0, x) + log_power_beside(b - 1.0, x) - log_beta)};
  for (std::int64_t k = 0; k < p.order_b; ++k) f[0].push_back(next_derivative(f[0], by_b));
  for (std::size_t i = 0; i < by_a.size(); ++i) {
    std::vector<Tensor> row;
    for (std::size_t j = 0; j < f[0].size(); ++j) {
      Tensor sum;
      for (std::size_t k = 0; k <= i; ++k) {
        for (std::size_t l = 0; l <= j; ++l) {
          const Tensor& slope = l == 0 ? by_a[k] : of_sum[k + l];
          add_to(sum, choose(i, k) * choose(j, l) * multiply_no_nan(slope, f[i - k][j - l]));
        }
      }
      row.push_back(sum);
    }
    f.push_back(std::move(row));
  }
  return f.back().back();
}

void check_order(const char* op, std::int64_t order) {
  if (order < 0 || order > kernels::kMostDerivatives)
    fail<InvalidArgumentError>("[", op, "] got a derivative of order ", order, "; expected 0 to ",
                               kernels::kMostDerivatives);
}

void infer_igamma(const Call& c, Avals& out) {
  check_order("igamma", c.get<IgammaAttrs>().order);
  infer_like_first(c, out);
}

void infer_betainc(const Call& c, Avals& out) {
  const auto& p = c.get<BetaincAttrs>();
  check_order("betainc", p.order_a);
  check_order("betainc", p.order_b);
  check_order("betainc", p.order_a + p.order_b);
  infer_like_first(c, out);
}

// Tensors of one shape.
std::vector<Tensor> broadcast(const char* what, std::vector<Tensor> in) {
  Shape shape = in[0].shape();
  for (const Tensor& t : in) shape = broadcast_shapes(what, shape, t.shape());
  for (Tensor& t : in) t = broadcast_to(t, shape);
  return in;
}

}  // namespace

const Op igamma_op = general(
    {.name = "igamma",
     .doc = "The incomplete gamma function over Gamma(a), or a derivative of it in a.",
     .dtypes = kWide,
     .attrs = &attr_type<IgammaAttrs>(),
     .inputs = 2,
     .infer = infer_igamma,
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<IgammaAttrs>();
           kernels::igamma(c.in[0].dtype, static_cast<int>(p.order), p.upper, c.in[0].data,
                           c.in[1].data, c.in[0].count(), c.out[0].data);
         },
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{3, 0};
         },
     .samples =
         [] {
           const SampleArg a{{2, 3}, 0.5, 4}, x{{2, 3}, 0.3, 5};
           return std::vector<Sample>{
               sample<IgammaAttrs>({a, x}, {}), sample<IgammaAttrs>({a, x}, {0, true}),
               sample<IgammaAttrs>({a, x}, {1, false}), sample<IgammaAttrs>({{{0}}, {{0}}}, {})};
         },
     .like = "tensorflow.math.igamma"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const auto& p = s.get<IgammaAttrs>();
      if (t[0].defined())
        out[0] = t[0] * igamma_op({s.in[0], s.in[1]}, IgammaAttrs{p.order + 1, p.upper});
      if (t[1].defined()) {
        const Tensor slope = integrand(s.in[0], s.in[1], p.order);
        add_to(out[0], t[1] * (p.upper ? -slope : slope));
      }
    });

const Op betainc_op = general(
    {.name = "betainc",
     .doc = "The incomplete beta function, between 0 and 1, or a derivative of it in a and b.",
     .dtypes = kWide,
     .attrs = &attr_type<BetaincAttrs>(),
     .inputs = 3,
     .infer = infer_betainc,
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<BetaincAttrs>();
           kernels::betainc(c.in[0].dtype, static_cast<int>(p.order_a), static_cast<int>(p.order_b),
                            c.in[0].data, c.in[1].data, c.in[2].data, c.in[0].count(),
                            c.out[0].data);
         },
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{7, 0};
         },
     .samples =
         [] {
           const SampleArg a{{2, 3}, 0.5, 4}, x{{2, 3}, 0.1, 0.9};
           return std::vector<Sample>{sample<BetaincAttrs>({a, a, x}, {}),
                                      sample<BetaincAttrs>({a, a, x}, {1, 1})};
         },
     .like = "tensorflow.math.betainc"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      const auto& p = s.get<BetaincAttrs>();
      const Tensor &a = s.in[0], &b = s.in[1], &x = s.in[2];
      if (t[0].defined())
        out[0] = t[0] * betainc_op({a, b, x}, BetaincAttrs{p.order_a + 1, p.order_b});
      if (t[1].defined())
        add_to(out[0], t[1] * betainc_op({a, b, x}, BetaincAttrs{p.order_a, p.order_b + 1}));
      if (t[2].defined()) add_to(out[0], t[2] * beta_integrand(a, b, x, p));
    });

Tensor igamma(In a, In x) { return igamma_op(broadcast("igamma", {a, x}), IgammaAttrs{0, false}); }
Tensor igammac(In a, In x) { return igamma_op(broadcast("igammac", {a, x}), IgammaAttrs{0, true}); }
Tensor betainc(In a, In b, In x) {
  return betainc_op(broadcast("betainc", {a, b, x}), BetaincAttrs{});
}

Tensor igamma_slope(const Tensor& a, const Tensor& x) {
  return igamma_op({a, x}, IgammaAttrs{1, false});
}

}  // namespace gradus
