// The incomplete gamma and beta functions. Derivatives of igamma in a are the same op with a higher
// order; in x they are the integrand, which is made of ordinary ops.
#include "kernels/gamma_integrals.h"
#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/shaping.h"
#include "gradus/special.h"
#include "graph/batch.h"
#include "graph/dispatch.h"
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

// The order-th derivative in a of x^(a-1) e^-x / Gamma(a), by Leibniz's rule for f' = f h with
// h = log(x) - digamma(a).
Tensor integrand(const Tensor& a, const Tensor& x, std::int64_t order) {
  std::vector<Tensor> f = {exp(xlogy(a - 1.0, x) - x - lgamma(a))}, h;
  for (std::int64_t k = 1; k <= order; ++k) {
    h.push_back(k == 1 ? log(x) - digamma(a)
                       : -polygamma(cast(static_cast<double>(k - 1), a.dtype()), a));
    double choose = 1;
    Tensor sum = f[0] * h[static_cast<std::size_t>(k - 1)];
    for (std::int64_t j = 1; j < k; ++j) {
      choose = choose * static_cast<double>(k - j) / static_cast<double>(j);
      sum =
          sum + choose * (f[static_cast<std::size_t>(j)] * h[static_cast<std::size_t>(k - 1 - j)]);
    }
    f.push_back(sum);
  }
  return f.back();
}

void infer_igamma(const Call& c, Avals& out) {
  const auto order = c.get<IgammaAttrs>().order;
  if (order < 0 || order > kernels::kMostDerivatives)
    fail<InvalidArgumentError>("[igamma] has derivatives in a of order 0 to ",
                               kernels::kMostDerivatives, "; got ", order);
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
      if (t[0].defined()) {
        if (p.order == kernels::kMostDerivatives) {
          fail<UnimplementedError>("[igamma] has derivatives in a up to order ",
                                   kernels::kMostDerivatives);
        }
        out[0] = t[0] * igamma_op({s.in[0], s.in[1]}, IgammaAttrs{p.order + 1, p.upper});
      }
      if (t[1].defined()) {
        const Tensor slope = integrand(s.in[0], s.in[1], p.order);
        const Tensor part = t[1] * (p.upper ? -slope : slope);
        out[0] = out[0].defined() ? out[0] + part : part;
      }
    });

const Op betainc_op =
    general({.name = "betainc",
             .doc = "The incomplete beta function, between 0 and 1; no gradient in a and b.",
             .dtypes = kWide,
             .inputs = 3,
             .differentiable = 4,
             .infer = infer_like_first,
             .kernel =
                 [](const KernelCall& c) {
                   kernels::betainc(c.in[0].dtype, c.in[0].data, c.in[1].data, c.in[2].data,
                                    c.in[0].count(), c.out[0].data);
                 },
             .batch = batch_leading,
             .reads =
                 [](const void*, std::uint32_t) {
                   return Reads{7, 0};
                 },
             .samples =
                 [] {
                   const SampleArg a{{2, 3}, 0.5, 4}, x{{2, 3}, 0.1, 0.9};
                   return std::vector<Sample>{{{a, a, x}, nullptr}};
                 },
             .like = "tensorflow.math.betainc"},
            [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
              const Tensor &a = s.in[0], &b = s.in[1], &x = s.in[2];
              const Tensor log_beta = lgamma(a) + lgamma(b) - lgamma(a + b);
              out[0] = t[2] * exp(xlogy(a - 1.0, x) + xlog1py(b - 1.0, -x) - log_beta);
            });

Tensor igamma(In a, In x) { return igamma_op(broadcast("igamma", {a, x}), IgammaAttrs{0, false}); }
Tensor igammac(In a, In x) { return igamma_op(broadcast("igammac", {a, x}), IgammaAttrs{0, true}); }
Tensor betainc(In a, In b, In x) {
  return betainc_op.run_one(broadcast("betainc", {a, b, x}), nullptr);
}

}  // namespace gradus
