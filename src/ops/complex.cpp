// Ops on complex numbers that are not holomorphic, and so are not elementwise records. Cotangents
// of complex numbers are d/d(real part) + i d/d(imaginary part), as TensorFlow's.
#include <complex>
#include <numbers>

#include "gradus/elementwise.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/dispatch.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

template <class T>
void conjugate(const KernelCall& c) {
  const auto* in = c.in[0].as<std::complex<T>>();
  auto* out = c.out[0].as<std::complex<T>>();
  for (std::int64_t i = 0, n = c.out[0].count(); i < n; ++i) out[i] = std::conj(in[i]);
}

template <class T>
void join_parts(const KernelCall& c) {
  const T *re = c.in[0].as<T>(), *im = c.in[1].as<T>();
  auto* out = c.out[0].as<std::complex<T>>();
  for (std::int64_t i = 0, n = c.out[0].count(); i < n; ++i) out[i] = {re[i], im[i]};
}

// The real (0) or imaginary (1) parts.
template <int part, class T>
void take_part(const KernelCall& c) {
  const T* in = c.in[0].as<T>();  // the parts take turns
  T* out = c.out[0].as<T>();
  for (std::int64_t i = 0, n = c.out[0].count(); i < n; ++i) out[i] = in[2 * i + part];
}

template <int part>
OpInfo part_info(const char* name, const char* doc, const char* like) {
  return {.name = name,
          .doc = doc,
          .dtypes = kComplex,
          .infer =
              [](const Call& c, Avals& out) {
                out.push_back({c.in[0].dtype == complex64 ? float32 : float64, c.shape(0)});
              },
          .kernel =
              [](const KernelCall& c) {
                c.in[0].dtype == complex64 ? take_part<part, float>(c) : take_part<part, double>(c);
              },
          .batch = batch_leading,
          .samples =
              [] {
                return std::vector<Sample>{{{{{2, 3}}}, nullptr}, {{{{}}}, nullptr}};
              },
          .like = like};
}

Tensor zeros_as(const Tensor& x) { return broadcast_to(cast(0.0, x.dtype()), x.shape()); }

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

const Op complex_op = linear(
    {.name = "complex",
     .doc = "The complex numbers with given real and imaginary parts.",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .inputs = 2,
     .infer =
         [](const Call& c, Avals& out) {
           check_same_dtype(c);
           check_operand_shape(c, 1, c.shape(0));
           out.push_back({c.in[0].dtype == float32 ? complex64 : complex128, c.shape(0)});
         },
     .kernel =
         [](const KernelCall& c) {
           c.in[0].dtype == float32 ? join_parts<float>(c) : join_parts<double>(c);
         },
     .batch = batch_leading,
     .samples =
         [] {
           return std::vector<Sample>{{{{{2, 3}}, {{2, 3}}}, nullptr}, {{{{}}, {{}}}, nullptr}};
         },
     .like = "tensorflow.complex"},
    [](const Site&, int input, const Tensor& ct) -> Cotangent {
      return input == 0 ? real(ct) : imag(ct);
    });

const Op real_op = linear(
    part_info<0>("real", "The real part.", "numpy.real"),
    [](const Site&, int, const Tensor& ct) -> Cotangent { return complex(ct, zeros_as(ct)); });
const Op imag_op = linear(
    part_info<1>("imag", "The imaginary part.", "numpy.imag"),
    [](const Site&, int, const Tensor& ct) -> Cotangent { return complex(zeros_as(ct), ct); });

Tensor conj(In x) { return is_complex(x->dtype()) ? conj_op(x) : x.tensor(); }

Tensor complex(In real, In imag) {
  if (is_same(real->shape(), imag->shape())) return complex_op(real, imag);
  const Shape shape = broadcast_shapes("complex", real->shape(), imag->shape());
  return complex_op(broadcast_to(real, shape), broadcast_to(imag, shape));
}
Tensor real(In x) { return is_complex(x->dtype()) ? real_op(x) : x.tensor(); }
Tensor imag(In x) { return is_complex(x->dtype()) ? imag_op(x) : zeros_as(x); }

Tensor abs(In x) { return is_complex(x->dtype()) ? hypot_op(real_op(x), imag_op(x)) : abs_op(x); }

Tensor angle(In x) {
  if (is_complex(x->dtype())) return atan2(imag_op(x), real_op(x));
  return std::numbers::pi * cast(less(x, 0), x->dtype());
}

}  // namespace gradus
