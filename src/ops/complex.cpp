// Ops on complex numbers that are not holomorphic, and so are not elementwise records.
#include <complex>

#include "gradus/elementwise.h"
#include "graph/batch.h"
#include "ops/records.h"

namespace gradus {
namespace {

template <class T>
void conjugate(const KernelCall& c) {
  const auto* in = c.in[0].as<std::complex<T>>();
  auto* out = c.out[0].as<std::complex<T>>();
  for (std::int64_t i = 0, n = c.out[0].count(); i < n; ++i) out[i] = std::conj(in[i]);
}

}  // namespace

const Op conj_op =
    linear({.name = "conj",
            .doc = "The complex conjugate.",
            .dtypes = kComplex,
            .kernel =
                [](const KernelCall& c) {
                  c.in[0].dtype == complex64 ? conjugate<float>(c) : conjugate<double>(c);
                },
            .batch = batch_leading,
            .samples =
                [] {
                  return std::vector<Sample>{{{{{2, 3}}}, nullptr}};
                },
            .like = "numpy.conj"},
           [](const Site&, int, const Tensor& ct) -> Cotangent { return conj(ct); });

Tensor conj(In x) { return is_complex(x->dtype()) ? conj_op(x) : x.tensor(); }

}  // namespace gradus
