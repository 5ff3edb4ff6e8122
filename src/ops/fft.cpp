// Fourier transforms. One record, along the last axis; everything else is made of it.
#include "kernels/fft.h"
#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/shaping.h"
#include "gradus/signal.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "ops/moves.h"
#include "ops/numeric_records.h"
#include "ops/records.h"

namespace gradus {
namespace {

struct FftAttrs {
  bool inverse = false;
  static auto fields() { return attr_fields(attr("inverse", &FftAttrs::inverse)); }
};

// Along the last `axes` axes; each takes its turn at the end.
Tensor transform(const char* what, const Tensor& x, int axes, bool inverse) {
  if (axes < 1 || x.rank() < axes) {
    fail<InvalidArgumentError>("[", what, "] got shape ", x.shape(), "; expected at least ", axes,
                               " axes");
  }
  Tensor y = x;
  for (int axis = x.rank() - axes; axis < x.rank(); ++axis) {
    const int last = x.rank() - 1;
    Ints order;
    for (int i = 0; i < x.rank(); ++i) order.push_back(i);
    std::swap(order[axis], order[last]);
    y = axis == last ? fft_op({y}, FftAttrs{inverse})
                     : transpose(fft_op({transpose(y, order)}, FftAttrs{inverse}), order);
  }
  return y;
}

// Divided by the number of elements that were added up.
Tensor mean(const Tensor& x, int axes) {
  Size count = 1;
  for (int i = x.rank() - axes; i < x.rank(); ++i) count = count * x.shape()[i];
  if (!count.is_known()) return divide(x, cast(dynamic_size(count), x.dtype()));
  return x * (1.0 / static_cast<double>(std::max<std::int64_t>(count, 1)));
}

// The first elements along the last axes, with zeros where there are none.
Tensor fitted(const Tensor& x, const Shape& sizes) {
  Shape size = x.shape();
  Ints begin, after;
  bool fills = false;
  for (int i = 0; i < x.rank(); ++i) {
    begin.push_back(0);
    after.push_back(0);
    const int k = i - (x.rank() - sizes.rank());
    if (k < 0 || is_same(size[i], sizes[k])) continue;
    // Where it is not known which is larger there are zeros enough, of which the rest is cut off.
    const bool known = size[i].is_known() && sizes[k].is_known();
    after[i] = known ? std::max<Size>(0, sizes[k] - size[i]) : sizes[k];
    fills |= !is_same(after[i], 0);
    size[i] = sizes[k];
  }
  const Tensor filled = fills ? pad_zeros(x, begin, after) : x;
  return is_same(size, filled.shape()) ? filled : slice(filled, begin, size);
}

Tensor first_columns(const Tensor& x, Size begin, Size count) {
  Shape from, size = x.shape();
  for (int i = 0; i < x.rank(); ++i) from.push_back(0);
  from[x.rank() - 1] = begin;
  size[x.rank() - 1] = count;
  return slice(x, from, size);
}

// How many coefficients there are of so many real numbers.
Size half_of(Size n) { return n / 2 + 1; }

void check_length(const char* what, const Tensor& x, const Shape& length) {
  bool fits = length.rank() > 0 && x.rank() >= length.rank();
  for (const Size n : length) fits &= is_size(n);
  if (!fits) {
    fail<InvalidArgumentError>("[", what, "] got shape ", x.shape(), " and fft_length ", length,
                               "; expected at least that many axes, and sizes");
  }
}

}  // namespace

const Op fft_op =
    linear({.name = "fft",
            .doc = "The Fourier transform along the last axis; inverse but for a factor.",
            .dtypes = kComplex,
            .attrs = &attr_type<FftAttrs>(),
            .infer =
                [](const Call& c, Avals& out) {
                  if (c.shape(0).rank() == 0)
                    fail<InvalidArgumentError>("[fft] got a scalar; expected at least one axis");
                  out.push_back({c.in[0].dtype, c.shape(0)});
                },
            .kernel =
                [](const KernelCall& c) {
                  const std::int64_t n = c.shape(0).back();
                  const auto sign =
                      c.get<FftAttrs>().inverse ? kernels::Sign::positive : kernels::Sign::negative;
                  kernels::fft(c.in[0].dtype, sign, c.in[0].data, n == 0 ? 0 : c.in[0].count() / n,
                               n, c.out[0].data);
                },
            .batch = batch_leading,
            .samples =
                [] {
                  return std::vector<Sample>{
                      sample<FftAttrs>({{{8}}}, {}), sample<FftAttrs>({{{2, 6}}}, {true}),
                      sample<FftAttrs>({{{2, 37}}}, {}), sample<FftAttrs>({{{3, 0}}}, {})};
                },
            .like = "numpy.fft.fft"},
           // The conjugate of a symmetric matrix.
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             return fft_op({ct}, FftAttrs{!s.get<FftAttrs>().inverse});
           });

Tensor signal::fft(In input, int axes) { return transform("fft", input, axes, false); }
Tensor signal::ifft(In input, int axes) { return mean(transform("ifft", input, axes, true), axes); }

Tensor signal::rfft(In input, const Shape& fft_length) {
  check_length("rfft", input, fft_length);
  const Tensor x = fitted(input, fft_length);
  const Tensor all = fft(complex(x, cast(0.0, x.dtype())), fft_length.rank());
  return first_columns(all, 0, half_of(fft_length.back()));
}

Shape signal::irfft_length(In input, int axes) {
  Shape length;
  for (int i = input->rank() - axes; i < input->rank(); ++i) length.push_back(input->shape()[i]);
  if (length.back() != 0) length[axes - 1] = 2 * (length.back() - 1);
  return length;
}

Tensor signal::irfft(In input, const Shape& fft_length) {
  check_length("irfft", input, fft_length);
  const int axes = fft_length.rank();
  const Size n = fft_length.back();
  Shape half = fft_length;
  half[axes - 1] = n == 0 ? Size(0) : half_of(n);
  Tensor x = fitted(input, half);
  // All axes but the last; then the rows are those of real numbers, and complete themselves.
  Ints order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  if (axes > 1) {
    order.erase(x.rank() - 1);
    order.insert(0, x.rank() - 1);
    Ints back;
    for (int i = 1; i < x.rank(); ++i) back.push_back(i);
    back.push_back(0);
    x = transpose(ifft(transpose(x, order), axes - 1), back);
  }
  const Size mirrored = n == 0 ? Size(0) : (n - 1) / 2;
  const Tensor rest = conj(reverse(first_columns(x, 1, mirrored), {-1}));
  return real(ifft(mirrored != 0 ? concat({x, rest}, -1) : x));
}

}  // namespace gradus
