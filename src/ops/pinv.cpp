// The pseudo-inverse. Its derivative is made of itself, so it needs no singular vectors: where
// these are not determined, because values are equal or zero, the pseudo-inverse still is.
#include <limits>
#include <vector>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/linalg.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "kernels/svd.h"
#include "ops/checks.h"
#include "ops/numeric_records.h"

namespace gradus {
namespace {

Shape batch_shape(const Shape& matrices) {
  return Shape(std::span(matrices.begin(), matrices.end() - 2));
}

void infer_pinv(const Call& c, Avals& out) {
  Shape s = c.shape(0);
  const int rank = s.rank();
  if (rank < 2) fail<InvalidArgumentError>("[pinv] got shape ", s, "; expected matrices");
  check_same_dtype(c);
  check_operand_shape(c, 1, batch_shape(s));
  std::swap(s[rank - 2], s[rank - 1]);
  out.push_back({c.in[0].dtype, s});
}

template <class T>
void pseudo_inverses(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  const std::int64_t m = shape[shape.rank() - 2], n = shape.back(), k = std::min(m, n);
  const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  std::vector<double> a(size(m * n)), s(size(k)), u(size(m * k)), v(size(n * k));
  const T* in = c.in[0].as<T>();
  T* out = c.out[0].as<T>();
  const std::int64_t batch = c.in[1].count();
  for (std::int64_t b = 0; b < batch; ++b, in += m * n, out += m * n) {
    std::copy_n(in, m * n, a.begin());
    kernels::svd(float64, a.data(), 1, m, n, s.data(), u.data(), v.data());
    const double limit = k > 0 ? c.in[1].as<T>()[b] * s[0] : 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < m; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          if (s[size(l)] <= limit) break;  // they descend
          sum += v[size(i * k + l)] * u[size(j * k + l)] / s[size(l)];
        }
        out[i * m + j] = static_cast<T>(sum);
      }
    }
  }
}

}  // namespace

const Op pinv_op = general(
    {.name = "pinv",
     .doc = "The pseudo-inverse; singular values up to a share of the largest count as zero.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .inputs = 2,
     .differentiable = 1,
     .infer = infer_pinv,
     .kernel =
         [](const KernelCall& c) {
           c.in[0].dtype == float32 ? pseudo_inverses<float>(c) : pseudo_inverses<double>(c);
         },
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{3, 1};
         },
     .samples =
         [] {
           const SampleArg one{{}, 1e-6, 1e-5}, two{{2}, 1e-6, 1e-5};
           return std::vector<Sample>{{{{{4, 3}}, one}, nullptr},
                                      {{{{3, 3}}, one}, nullptr},
                                      {{{{2, 2, 4}}, two}, nullptr},
                                      {{{{3, 0}}, one}, nullptr}};
         },
     .like = "numpy.linalg.pinv"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      // Of a fixed rank: -P dA P, and what turns rows and columns out of the spaces they span.
      const Tensor &a = s.in[0], &p = s.out[0], turned = linalg::matrix_transpose(t[0]);
      const Tensor right = matmul(matmul(p, p, {.transpose_b = true}), turned);
      const Tensor left = matmul(turned, matmul(p, p, {.transpose_a = true}));
      out[0] = right - matmul(matmul(right, a), p) + left - matmul(p, matmul(a, left)) -
               matmul(matmul(p, t[0]), p);
    });

namespace linalg {

Tensor pinv(In a, In rcond) {
  if (a->rank() < 2)
    fail<InvalidArgumentError>("[pinv] got shape ", a->shape(), "; expected matrices");
  return pinv_op(a, broadcast_to(rcond, batch_shape(a->shape())));
}
Tensor pinv(In a) {
  const Shape& s = a->shape();
  if (s.rank() < 2) fail<InvalidArgumentError>("[pinv] got shape ", s, "; expected matrices");
  if (!(s[s.rank() - 2]).is_known() || !s.back().is_known()) {
    fail<UnimplementedError>("[pinv] got shape ", s,
                             "; the sizes of the matrices must be known, or give rcond");
  }
  const auto size = static_cast<double>(std::max(s[s.rank() - 2], s.back()));
  const double epsilon = a->dtype() == float32 ? std::numeric_limits<float>::epsilon()
                                               : std::numeric_limits<double>::epsilon();
  return pinv(a, cast(10 * size * epsilon, a->dtype()));
}

}  // namespace linalg
}  // namespace gradus
