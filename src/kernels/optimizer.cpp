#include "kernels/optimizer.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/isa.h"
#include "kernels/optimizer_loops.h"
#include "kernels/ranges.h"
#include "kernels/scratch.h"

namespace gradus::kernels {
namespace {

const OptimizerLoops& loops() {
  static const OptimizerLoops& picked =
      pick(baseline::optimizer_loops, avx2::optimizer_loops, avx512::optimizer_loops);
  return picked;
}

constexpr std::int64_t kPiece = 16 * 1024;  // elements

int width_of(DType t) { return t == float64 ? 1 : 0; }

// Element i of an array that may be missing.
template <class Void>
Void* at(DType t, Void* array, std::int64_t i) {
  using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
  return array ? static_cast<Byte*>(array) + i * static_cast<std::int64_t>(size_of(t)) : nullptr;
}

// The sum of (x * scale)^2, piece by piece.
void sum_of_squares(DType t, const void* x, std::int64_t n, double scale, double* sum,
                    double* largest) {
  const std::int64_t pieces = (n + kPiece - 1) / kPiece;
  Scratch memory(static_cast<std::size_t>(2 * pieces) * sizeof(double));
  auto *sums = memory.as<double>(), *most = sums + pieces;
  const auto squares = loops().squares[static_cast<int>(t)];
  parallel_ranges(n, kPiece, [&](std::int64_t begin, std::int64_t end) {
    squares(at(t, x, begin), end - begin, scale, sums + begin / kPiece, most + begin / kPiece);
  });
  double unused = 0;
  loops().squares[static_cast<int>(float64)](most, pieces, 1, &unused, largest);
  *sum = 0;
  for (std::int64_t p = 0; p < pieces; ++p) *sum += sums[p];
}

}  // namespace

void sgd(DType t, const SgdStep& step, std::int64_t n, const void* gradient, void* momentum,
         void* variable) {
  parallel_ranges(n, kPiece, [&](std::int64_t begin, std::int64_t end) {
    loops().sgd[width_of(t)](step, end - begin, at(t, gradient, begin), at(t, momentum, begin),
                             at(t, variable, begin));
  });
}

void adam(DType t, const AdamStep& step, std::int64_t n, const void* gradient, void* m, void* v,
          void* largest_v, void* variable) {
  parallel_ranges(n, kPiece, [&](std::int64_t begin, std::int64_t end) {
    loops().adam[width_of(t)](step, end - begin, at(t, gradient, begin), at(t, m, begin),
                              at(t, v, begin), at(t, largest_v, begin), at(t, variable, begin));
  });
}

void adagrad(DType t, const AdagradStep& step, std::int64_t n, const void* gradient,
             void* accumulator, void* variable) {
  parallel_ranges(n, kPiece, [&](std::int64_t begin, std::int64_t end) {
    loops().adagrad[width_of(t)](step, end - begin, at(t, gradient, begin),
                                 at(t, accumulator, begin), at(t, variable, begin));
  });
}

void rmsprop(DType t, const RmspropStep& step, std::int64_t n, const void* gradient, void* velocity,
             void* average, void* momentum, void* variable) {
  parallel_ranges(n, kPiece, [&](std::int64_t begin, std::int64_t end) {
    loops().rmsprop[width_of(t)](step, end - begin, at(t, gradient, begin), at(t, velocity, begin),
                                 at(t, average, begin), at(t, momentum, begin),
                                 at(t, variable, begin));
  });
}

void for_each_row_run(const std::int64_t* rows, std::int64_t count, std::int64_t total_rows,
                      std::int64_t width, bool only_listed,
                      FunctionRef<void(std::int64_t, std::int64_t, std::int64_t)> update) {
  if (width == 0) return;
  // A piece is a range of listed rows with the gaps before them; the last one takes what is left.
  const std::int64_t grain = std::max<std::int64_t>(1, kPiece / width);
  const auto gap = [&](std::int64_t begin, std::int64_t end) {
    if (!only_listed && begin < end) update(begin * width, (end - begin) * width, -1);
  };
  parallel_ranges(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      gap(k == 0 ? 0 : rows[k - 1] + 1, rows[k]);
      update(rows[k] * width, width, k);
    }
  });
  gap(count == 0 ? 0 : rows[count - 1] + 1, total_rows);
}

double euclidean_norm(DType t, const void* x, std::int64_t n) {
  if (is_complex(t)) {
    t = t == complex64 ? float32 : float64;
    n *= 2;
  }
  double sum = 0, largest = 0;
  sum_of_squares(t, x, n, 1, &sum, &largest);
  // Squares of float64 may leave its range although their root does not.
  const bool in_range = sum > 0x1p-960 && std::isfinite(sum);
  if (in_range || largest == 0 || !std::isfinite(largest) || std::isnan(sum)) return std::sqrt(sum);
  const double scale = std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1022, 1022));
  sum_of_squares(t, x, n, scale, &sum, &largest);
  return std::sqrt(sum) / scale;
}

}  // namespace gradus::kernels
