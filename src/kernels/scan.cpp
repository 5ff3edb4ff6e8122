#include "kernels/scan.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/isa.h"
#include "kernels/ranges.h"
#include "kernels/scan_loops.h"
#include "kernels/scratch.h"

namespace gradus::kernels {
namespace {

// A row of at least two pieces is scanned piece by piece, each from the sum of the earlier ones.
constexpr std::int64_t kPiece = std::int64_t{1} << 16;

const ScanLoops& loops() {
  static const ScanLoops& picked = pick(baseline::scan_loops, avx2::scan_loops, avx512::scan_loops);
  return picked;
}

// Inclusive scan of a long row of floating type t.
void sum_long_row(DType t, const char* in, std::int64_t n, bool reverse, char* out) {
  const auto size = static_cast<std::int64_t>(size_of(t));
  const int type = static_cast<int>(t);
  const std::int64_t pieces = (n + kPiece - 1) / kPiece;
  const auto length = [&](std::int64_t p) { return std::min(kPiece, n - p * kPiece); };
  Scratch memory(static_cast<std::size_t>(pieces) * sizeof(Carry));
  auto* carry = memory.as<Carry>();
  parallel_ranges(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p)
      carry[p] = loops().total[type](in + p * kPiece * size, length(p));
  });
  Carry before;
  for (std::int64_t k = 0; k < pieces; ++k) {
    Carry& piece = carry[reverse ? pieces - 1 - k : k];
    const double sum = before.high + piece.high, shifted = sum - before.high;
    const double lost = (before.high - (sum - shifted)) + (piece.high - shifted);
    const double low = before.low + piece.low + (std::isfinite(lost) ? lost : 0.0);
    piece = before;
    before = {sum, low};
  }
  parallel_ranges(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p)
      loops().row[ScanLoops::kSum][type](in + p * kPiece * size, length(p), reverse, &carry[p],
                                         out + p * kPiece * size);
  });
}

// Inclusive scan of n rows of [outer, stride between slabs]; `out` is shifted by the caller for
// exclusive scans.
void scan_inclusive(ScanLoops::Op op, DType t, const char* in, std::int64_t outer,
                    std::int64_t slab, std::int64_t n, std::int64_t inner, bool reverse,
                    char* out) {
  const auto size = static_cast<std::int64_t>(size_of(t));
  const int type = static_cast<int>(t);
  if (inner == 1 && op == ScanLoops::kSum && is_floating(t) && n >= 2 * kPiece) {
    for (std::int64_t o = 0; o < outer; ++o)
      sum_long_row(t, in + o * slab * size, n, reverse, out + o * slab * size);
    return;
  }
  constexpr std::int64_t kBlock = 2048;
  const std::int64_t blocks = (inner + kBlock - 1) / kBlock;
  parallel_ranges(outer * blocks, grain_of(n * std::min(inner, kBlock) * size),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t task = begin; task < end; ++task) {
                      const std::int64_t column = task % blocks * kBlock;
                      std::int64_t at = task / blocks * slab + column;
                      if (inner == 1) {
                        loops().row[op][type](in + at * size, n, reverse, nullptr, out + at * size);
                        continue;
                      }
                      if (reverse) at += (n - 1) * inner;
                      loops().columns[op][type](in + at * size, n, reverse ? -inner : inner,
                                                std::min(kBlock, inner - column), out + at * size);
                    }
                  });
}

// log(exp(x_0) + ... + exp(x_i)) as the largest exponent so far and the sum relative to it.
template <class T>
void scan_logsumexp(const T* in, std::int64_t outer, std::int64_t n, std::int64_t inner,
                    bool exclusive, bool reverse, T* out) {
  using Real = std::conditional_t<sizeof(T) == 2, float, T>;
  parallel_ranges(outer * inner, grain_of(16 * n), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t lane = begin; lane < end; ++lane) {
      std::int64_t at = lane / inner * n * inner + lane % inner + (reverse ? (n - 1) * inner : 0);
      const std::int64_t step = reverse ? -inner : inner;
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t i = 0; i < n; ++i, at += step) {
        const double before = sum == 0 ? largest : largest + std::log(sum);
        const auto x = static_cast<double>(static_cast<Real>(in[at]));
        if (x == largest) {
          sum += 1;
        } else if (x > largest) {
          sum = sum * std::exp(largest - x) + 1;
          largest = x;
        } else if (x < largest) {
          sum += std::exp(x - largest);
        } else {  // one of them is NaN
          largest += x;
          sum = 1;
        }
        const double value = exclusive ? before : largest + std::log(sum);
        out[at] = T(static_cast<Real>(value));
      }
    }
  });
}

void fill_first(Scan op, DType t, std::int64_t count, char* out) {
  visit_dtype(t, [&]<class T>(T) {
    const T first = op == Scan::prod ? T(1.0f) : T(0.0f);
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(out + i * static_cast<std::int64_t>(sizeof(T)), &first, sizeof(T));
  });
}

}  // namespace

bool scans(Scan op, DType t) { return op == Scan::logsumexp ? is_floating(t) : !is_bool(t); }

void scan(Scan op, DType t, const void* in, std::int64_t outer, std::int64_t n, std::int64_t inner,
          bool exclusive, bool reverse, void* out) {
  if (outer * n * inner == 0) return;
  if (op == Scan::logsumexp) {
    visit_dtype(t, [&]<class T>(T) {
      if constexpr (is_floating(dtype_v<T>))
        scan_logsumexp(static_cast<const T*>(in), outer, n, inner, exclusive, reverse,
                       static_cast<T*>(out));
    });
    return;
  }
  const char* from = static_cast<const char*>(in);
  char* to = static_cast<char*>(out);
  const auto row = inner * static_cast<std::int64_t>(size_of(t));
  std::int64_t length = n;
  if (exclusive) {
    // An inclusive scan of all but the last, one place further on.
    for (std::int64_t o = 0; o < outer; ++o)
      fill_first(op, t, inner, to + (o * n + (reverse ? n - 1 : 0)) * row);
    if (--length == 0) return;
    if (reverse)
      from += row;
    else
      to += row;
  }
  constexpr DType kUnsigned[] = {uint8, uint8, uint16, uint32, uint64};
  const bool sum = op == Scan::sum;
  if (sum && is_complex(t)) {
    inner *= 2;
    t = t == complex64 ? float32 : float64;
  } else if (t <= int64) {
    t = kUnsigned[static_cast<int>(t)];
  }
  scan_inclusive(sum ? ScanLoops::kSum : ScanLoops::kProd, t, from, outer, n * inner, length, inner,
                 reverse, to);
}

}  // namespace gradus::kernels
