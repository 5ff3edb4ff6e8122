// Derivatives of the determinant. D^(m+1) det(a) along h_1, ..., h_m and y is linear in each of
// them and does not depend on their order; as a function of y it is a matrix, and that matrix is
// this op. So its derivative in a is the same op with one more direction, its derivative in h_k the
// op with another h_k, and each is its own transpose: all orders are closed, in both modes.
#include "kernels/cofactors.h"
#include "base/check.h"
#include "gradus/elementwise.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "ops/checks.h"
#include "ops/numeric_records.h"

namespace gradus {
namespace {

// The operands of a call with one of them exchanged or, for the matrix itself, with one more.
Tensors with_direction(const Site& s, std::size_t i, const Tensor& direction) {
  Tensors in(s.in.begin(), s.in.end());
  if (i == 0)
    in.push_back(direction);
  else
    in[i] = direction;
  return in;
}

void infer_cofactors(const Call& c, Avals& out) {
  const Shape& s = c.shape(0);
  if (s.rank() < 2 || !sizes_agree(s[s.rank() - 2], s.back())) {
    fail<InvalidArgumentError>("[cofactors] got shape ", s,
                               "; square matrices (the last two axes) were expected");
  }
  check_same_dtype(c);
  for (int i = 1; i < static_cast<int>(c.in.size()); ++i) check_operand_shape(c, i, s);
  out.push_back({c.in[0].dtype, s});
}

}  // namespace

const Op cofactors_op = general(
    {.name = "cofactors",
     .doc = "The cofactors of square matrices, or derivatives of them along further operands.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .inputs = -1,
     .infer = infer_cofactors,
     .kernel =
         [](const KernelCall& c) {
           const std::int64_t n = c.shape(0).back();
           std::vector<const void*> directions;
           for (const View& v : c.in.subspan(1)) directions.push_back(v.data);
           kernels::cofactors(c.in[0].dtype, c.in[0].data, directions,
                              n == 0 ? 0 : c.in[0].count() / (n * n), n, c.out[0].data);
         },
     .batch = batch_leading,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{~0u, 0};
         },
     .samples =
         [] {
           const SampleArg a{{3, 3}}, two{{2, 2, 2}}, one{{1, 1}}, none{{2, 0, 0}};
           return std::vector<Sample>{
               {{a}, nullptr},        {{a, a}, nullptr}, {{a, a, a}, nullptr},  {{two}, nullptr},
               {{two, two}, nullptr}, {{one}, nullptr},  {{one, one}, nullptr}, {{none}, nullptr}};
         },
     .like = "the transpose of the adjugate"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      for (std::size_t i = 0; i < t.size(); ++i) {
        if (!t[i].defined()) continue;
        const Tensor part = cofactors_op.run_one(with_direction(s, i, t[i]), nullptr);
        out[0] = out[0].defined() ? out[0] + part : part;
      }
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t wanted,
       std::span<Cotangent> grads) {
      for (std::size_t i = 0; i < grads.size(); ++i) {
        if (has_position(wanted, i))
          grads[i] = cofactors_op.run_one(with_direction(s, i, cts[0]), nullptr);
      }
    });

}  // namespace gradus
