#include "kernels/gemm_tile.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/check.h"
#include "kernels/gemm_emit.h"

namespace gradus::kernels {
namespace {

// The definition of a tile kernel; also what runs where no code can be emitted.
template <class T>
void portable_tile(const TileArgs* args, const TileSpec* spec) {
  const auto at = [](const void* base, std::int64_t bytes) {
    return reinterpret_cast<const T*>(static_cast<const char*>(base) + bytes);
  };
  constexpr std::int64_t element = sizeof(T);
  const bool columns = spec->form == TileForm::columns, dot = spec->form == TileForm::dot;
  const std::int64_t a_row = columns ? element : args->a_stride;
  const std::int64_t a_k = columns ? args->a_stride : element;
  const std::int64_t b_k = dot ? element : args->b_stride;
  const std::int64_t b_col = dot ? args->b_stride : element;
  for (std::int64_t row = 0; row < args->tiles * spec->rows; ++row) {
    const std::int64_t tile = row / spec->rows, r = row % spec->rows;
    for (int j = 0; j < spec->cols; ++j) {
      T sum = 0;
      for (std::int64_t i = 0; i < args->products; ++i) {
        const TileOffsets& product = args->offsets[i];
        const std::int64_t a = product.a + tile * args->a_step + r * a_row;
        const std::int64_t b = product.b + j * b_col;
        for (std::int64_t k = 0; k < args->k; ++k)
          sum += *at(args->a, a + k * a_k) * *at(args->b, b + k * b_k);
      }
      T& c = *const_cast<T*>(at(args->c, row * args->c_stride + j * element));
      if (spec->accumulate) sum += c;
      if (spec->bias) sum += *at(args->bias, j * element);
      if (spec->relu) sum = sum < 0 ? 0 : sum;
      if (spec->gate && !(*at(args->gate, row * args->gate_stride + j * element) > 0)) sum = 0;
      c = sum;
    }
  }
  if (!spec->copy_b) return;
  const std::int64_t vectors = vectors_for(spec->cols, spec->isa, spec->float64);
  const std::int64_t row = vectors * lanes(spec->isa, spec->float64);
  T* to = static_cast<T*>(args->b_copy);
  for (std::int64_t i = 0; i < args->products; ++i)
    for (std::int64_t k = 0; k < args->k; ++k, to += row)
      std::copy_n(at(args->b, args->offsets[i].b + k * b_k), spec->cols, to);
}

// All kernels there are, and in front of them a table that is read without a lock. There are no
// more specs than tile sizes times flags, so nothing is ever thrown away.
class TileCache {
 public:
  const TileKernel& find(const TileSpec& spec) {
    const std::uint32_t key = spec.key();
    auto& recent = recent_[(key * 2654435761u) >> (32 - kRecentBits)];
    const TileKernel* kernel = recent.load(std::memory_order_acquire);
    if (!kernel || kernel->key() != key) {
      kernel = &find_or_make(spec);
      recent.store(kernel, std::memory_order_release);
    }
    return *kernel;
  }

 private:
  static constexpr int kRecentBits = 11;
  std::atomic<const TileKernel*> recent_[1 << kRecentBits] = {};
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::unique_ptr<TileKernel>> all_;

  const TileKernel& find_or_make(const TileSpec& spec) {
    const std::lock_guard lock(mutex_);
    auto& kernel = all_[spec.key()];
    if (!kernel) {
      auto function = spec.isa == Isa::baseline ? nullptr : emit_tile(spec);
      if (!function) function = spec.float64 ? portable_tile<double> : portable_tile<float>;
      kernel = std::make_unique<TileKernel>(function, spec);
    }
    return *kernel;
  }
};

}  // namespace

const TileKernel& tile_kernel(const TileSpec& spec) {
  static TileCache& cache = *new TileCache;  // outlives every thread
  return cache.find(spec);
}

}  // namespace gradus::kernels
