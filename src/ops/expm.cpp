// The exponential of matrices. Its derivative in a direction d is a corner of the exponential of
// [[a, d], [0, a]], so that derivatives of all orders are exponentials again.
#include "kernels/expm.h"
#include "base/check.h"
#include "gradus/linalg.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "ops/numeric_records.h"
#include "ops/records.h"

namespace gradus {
namespace {

Tensor derivative(const Tensor& a, const Tensor& direction) {
  const int rows = a.rank() - 2, columns = rows + 1;
  const Tensor above = concat({a, direction}, columns);
  const Tensor below = concat({zeros_like(a), a}, columns);
  const Tensor whole = expm_op(concat({above, below}, rows));
  return split(split(whole, 2, rows)[0], 2, columns)[1];
}

}  // namespace

const Op expm_op = general(
    {.name = "expm",
     .doc = "The exponential of square matrices.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .infer =
         [](const Call& c, Avals& out) {
           const Shape& s = c.shape(0);
           if (s.rank() < 2 || !sizes_agree(s[s.rank() - 2], s.back())) {
             fail<InvalidArgumentError>("[expm] got shape ", s,
                                        "; square matrices (the last two axes) were expected");
           }
           out.push_back({c.in[0].dtype, s});
         },
     .kernel =
         [](const KernelCall& c) {
           const std::int64_t n = c.shape(0).back();
           kernels::expm(c.in[0].dtype, c.in[0].data, n == 0 ? 0 : c.in[0].count() / (n * n), n,
                         c.out[0].data);
         },
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{1, 0};
         },
     .samples =
         [] {
           return std::vector<Sample>{
               {{{{3, 3}}}, nullptr}, {{{{2, 2, 2}}}, nullptr}, {{{{1, 1}}}, nullptr}};
         },
     .like = "scipy.linalg.expm"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      out[0] = derivative(s.in[0], t[0]);
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      grads[0] = derivative(linalg::matrix_transpose(s.in[0]), cts[0]);
    });

Tensor linalg::expm(In input) { return expm_op(input); }

}  // namespace gradus
