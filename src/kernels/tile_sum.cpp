#include "kernels/tile_sum.h"

#include <algorithm>
#include <vector>

#include "kernels/gemm_tile.h"

namespace gradus::kernels {

using std::int64_t;

// A sum of products with 1, which are exact, in the tile kernel.
void sum_arrays(DType dtype, const void* from, int64_t count, int64_t size, void* to,
                bool accumulate) {
  const float one = 1;
  const double one64 = 1;
  const bool float64 = dtype == DType::float64;
  const int64_t element = float64 ? 8 : 4;
  std::vector<TileOffsets> offsets;
  for (int64_t i = 0; i < count; ++i) offsets.push_back({0, i * size * element});
  TileSpec spec;
  spec.isa = isa();
  spec.float64 = float64;
  spec.accumulate = accumulate;
  TileArgs args{};
  args.a = float64 ? static_cast<const void*>(&one64) : &one;
  args.k = args.tiles = 1;
  args.offsets = offsets.data();
  args.products = count;
  const int64_t step = tile_cols(spec.isa, float64, TileForm::rows, 1);
  for (int64_t i = 0; i < size; i += step) {
    spec.cols = static_cast<std::uint8_t>(std::min(step, size - i));
    args.b = static_cast<const char*>(from) + i * element;
    args.c = static_cast<char*>(to) + i * element;
    tile_kernel(spec)(args);
  }
}

}  // namespace gradus::kernels
