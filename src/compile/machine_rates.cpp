#include "compile/machine_rates.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/gemm.h"

namespace gradus {
namespace {

template <class F>
double best_seconds(int tries, const F& f) {
  double best = 1e9;
  for (int i = 0; i < tries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

}  // namespace

const MachineRates& machine_rates() {
  static const MachineRates rates = [] {
    constexpr std::int64_t n = 144;  // three matrices that fit into any second-level cache
    std::vector<float> a(n * n, 1.0f), b(n * n, 1.0f), c(n * n);
    const double product = best_seconds(8, [&] {
      kernels::gemm({.m = n,
                     .n = n,
                     .k = n,
                     .a = a.data(),
                     .lda = n,
                     .b = b.data(),
                     .ldb = n,
                     .c = c.data(),
                     .ldc = n});
    });
    // More than the caches hold, in pieces so short that some are not interrupted on a busy
    // machine.
    constexpr std::ptrdiff_t piece = 1 << 20, pieces = 24;
    std::vector<char> from(pieces * piece, 1), to(from.size());
    std::ptrdiff_t next = 0;
    const double copy = best_seconds(4 * pieces, [&] {
      const auto begin = from.begin() + next;
      std::copy(begin, begin + piece, to.begin() + next);
      next = (next + piece) % (pieces * piece);
    });
    return MachineRates{2.0 * n * n * n / product, 2.0 * piece / copy};
  }();
  return rates;
}

}  // namespace gradus
